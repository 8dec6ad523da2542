"""Counting: exact where it says so, any size and script, factors and their choice."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.checker import _encoder
from jettison import tokens
from jettison.errors import ConfigError
from jettison.items import Item, Kind
from jettison.models import family_of
from jettison.tokens import FACTORS, PIECE, STATED_ERROR, CountCache, Scaled, counter_for, describe, o200k, text_class
from strategies import code_text, law, log_text, rows_text, short_text

BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def whole(text):
    """The tokenizer's own answer, in one piece."""
    return len(_encoder()(text))


@given(st.one_of(short_text, st.text(st.characters(exclude_categories=["Cs"]), max_size=200)))
@law(200)
def test_short_text_is_exact(text):
    assert o200k(text) == whole(text)


@given(
    st.one_of(
        st.builds(log_text, st.integers(0, 99), st.integers(PIECE - 100, 3 * PIECE)),
        st.builds(code_text, st.integers(0, 99), st.integers(PIECE - 100, 3 * PIECE)),
        st.builds(rows_text, st.integers(0, 99), st.integers(PIECE - 100, 2 * PIECE)),
        st.builds(lambda unit, n: unit * (n // len(unit)), short_text, st.integers(PIECE - 100, 2 * PIECE)).filter(
            lambda text: " " in text.strip()
        ),
    )
)
@law(40)
def test_text_with_words_is_exact_at_any_size(text):
    """Pieces are cut between words, where the tokenizer splits too."""
    safe = any(text[at - 1].isalnum() and text[at : at + 1] == " " and text[at + 1].isalpha() for at in range(1, PIECE))
    pieces = len(text) // PIECE
    assert abs(o200k(text) - whole(text)) <= (0 if safe else 2 * pieces)


@pytest.mark.parametrize("unit", ["f();\n", "x1;\n", '{"a":1},\n', "日本。\n", "a/\nb/", "a\nb", "one two ", "да нет "])
def test_a_cut_never_parts_a_token_where_a_place_between_two_exists(unit):
    """Punctuation takes the line break after it into its token: `;\\n` is one."""
    text = unit * (2 * PIECE // len(unit))
    assert o200k(text) == whole(text)


def blob(kind, size):
    rng = random.Random(3)
    return {
        "spaces": lambda: " " * size,
        "letters": lambda: "a" * size,
        "line breaks": lambda: "\n" * size,
        "digits": lambda: "1" * size,
        "emoji": lambda: "👩‍👧" * (size // 3),
        "base64": lambda: "".join(rng.choices(BASE64, k=size)),
        "random": lambda: "".join(chr(rng.randrange(32, 0xD7FF)) for _ in range(size)),
    }[kind]()


KINDS = ("spaces", "letters", "line breaks", "digits", "emoji", "base64", "random")


@pytest.mark.parametrize("kind", KINDS)
def test_two_megabytes_of_anything_are_counted(kind):
    """The tokenizer's API refuses a million characters and 200,000 tokens; pieces never get there."""
    text = blob(kind, 2_000_000)
    tokens = o200k(text)
    assert len(text) / 200 < tokens < 4 * len(text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_blob_cut_anywhere_is_a_token_or_two_a_piece_off(kind):
    text = blob(kind, 80_000)
    assert 0 <= o200k(text) - whole(text) <= 4


@pytest.mark.parametrize("kind", KINDS)
def test_work_grows_with_the_text(kind):
    """Pieces cover the text once and in order, and none is longer than the tokenizer takes: linear by construction."""
    text = blob(kind, 200_000)
    pieces = list(tokens._pieces(text))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= tokens.PIECE
    assert len(pieces) <= len(text) // (tokens.PIECE - 2_000) + 1


def test_nothing_takes_nothing():
    assert o200k("") == 0
    assert Scaled("claude")("") == 0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The batch failed again last night and nobody knows the reason.", "english"),
        ("Найди, почему очередь стоит.", "cyrillic"),
        ("账单服务今天凌晨重启了三次。", "cjk"),
        ("請求バッチは午前二時に失敗しました。", "cjk"),
        ("정산 배치가 새벽 두 시에 실패했습니다.", "cjk"),
        ('{"id": 1, "rows": []}', "json"),
        ("[1, 2, 3]", "json"),
        (code_text(1, 600), "code"),
        ("".join(random.Random(1).choices(BASE64, k=5_000)), "base64"),
        ("", "english"),
    ],
)
def test_text_class(text, kind):
    assert text_class(text) == kind


def test_text_class_looks_at_a_sample_only():
    """What stands between the samples does not count, however long it is."""
    edge = "The batch failed again last night and nobody knows why. " * 40
    assert text_class(edge + "账" * 100_000 + edge[:600] + "账" * 100_000 + edge) == text_class(edge)


@pytest.mark.parametrize("family", sorted(FACTORS))
def test_a_factor_for_every_class_and_a_stated_error(family):
    assert set(FACTORS[family]) == {"english", "code", "json", "cyrillic", "cjk", "base64"}
    assert all(factor >= 1 for factor in FACTORS[family].values())
    assert STATED_ERROR[family]


@given(st.sampled_from(sorted(FACTORS)), short_text)
@law(60)
def test_scaled_rounds_up_the_factor_of_the_class(family, text):
    exact = o200k(text) * FACTORS[family][text_class(text)]
    assert exact <= Scaled(family)(text) < exact + 1


def test_the_counter_given_is_the_counter_used():
    def mine(text: str) -> int:
        return len(text)

    chosen = counter_for(mine, "gpt-4o", "o200k")
    assert chosen("four") == 4
    assert describe(chosen) == describe(mine) == ("mine", "as given by the caller")


@pytest.mark.parametrize(
    ("counter", "model", "default", "family"),
    [
        (None, None, "o200k", "o200k"),
        (None, None, "claude-4.7", "claude-4.7"),
        (None, "gpt-4o-mini", "claude-4.7", "o200k"),
        (None, "gemini-2.5-pro", "o200k", "gemini"),
        (None, "a model nobody knows", "o200k", "o200k"),
        ("claude", "gpt-4o", "o200k", "claude"),
    ],
)
def test_name_then_model_then_the_wire_decides(counter, model, default, family):
    chosen = counter_for(counter, model, default)
    assert describe(chosen) == (family, STATED_ERROR[family])


@pytest.mark.parametrize("counter", ["cl200k", "", 7, 1.5, ["o200k"]])
def test_a_counter_that_is_none_is_a_config_error(counter):
    with pytest.raises(ConfigError):
        counter_for(counter, None, "o200k")


@pytest.mark.parametrize(
    "name", ["gpt-4o", "o3-mini", "claude-sonnet-4-5", "claude-3-5-haiku-20241022", "gemini-2.5-pro"]
)
def test_known_models_have_a_family(name):
    assert family_of(name) in FACTORS


def test_the_cache_counts_each_text_once_and_an_item_in_full():
    asked = []

    def count(text):
        asked.append(text)
        return len(text)

    cache = CountCache(count)
    call = Item("1.0-a", Kind.CALL, "{}", 1, 0, 1, 1, name="run", call_id="c", fixed=4, extra="xyz")
    assert cache.cost(call) == 4 + 2 + 3 + 3
    assert cache.total([call, call]) == 24
    assert sorted(asked) == ["run", "xyz", "{}"]
    result = Item("2.0-a", Kind.RESULT, "", 2, 0, 1, 1, name="run", call_id="c", fixed=4)
    assert cache.cost(result) == 4


def test_a_counter_of_other_whole_numbers_is_read_as_ints():
    class Odd:
        def __init__(self, value):
            self.value = value

        def __index__(self):
            return self.value

    found = counter_for(lambda text: Odd(len(text)), None, "o200k")("abc")
    assert (found, type(found)) == (3, int)


@pytest.mark.parametrize("bad", [0.5, -1, None, "3", float("nan")])
def test_a_counter_that_gives_no_count_is_named_where_it_does(bad):
    def broken(text):
        return bad

    with pytest.raises(ConfigError, match=r"the counter broken gave .* for a text of 3 characters"):
        counter_for(broken, None, "o200k")("abc")
