"""Values: what can be an argument of a later call, how it is compared, and what it looks like."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.flow.segments import Segment
from jettison.flow.values import (
    LONGEST,
    MOST,
    argument_values,
    canonical,
    segment_values,
    shape,
    shape_worth,
    text_values,
)
from jettison.flow.weights import SHAPES
from strategies import law

WORDS = st.text(st.sampled_from("aB1 Жd数_-./@:#\"'`«»(){},\n"), max_size=150)


@pytest.mark.parametrize(
    ("value", "looks"),
    [
        ("marina@example.com", "email"),
        ("2026-11-30", "date"),
        ("30.11.2026", "date"),
        ("src/ledger/drain.py", "path"),
        ("3f9c2e1a-77d4-4c0b-9a55-0d1f6f2f9b31", "hex"),
        ("deadbeefdeadbeef", "hex"),
        ("sara doe", "phrase"),
        ("user_77", "snake_number"),
        ("batch_size", "snake"),
        ("ord-9913", "letters_digits"),
        ("заказ-17", "letters_digits"),
        ("748ms", "number"),
        ("12.5kb", "number"),
        ("300s", "number"),
        ("48ms7", "letters_digits"),
        ("1200x800", "letters_digits"),
        ("ledger.drain", "dotted"),
        ("re-run", "dotted"),
        ("20931", "number"),
        ("marina", "word"),
        ("账单服务", "word"),
    ],
)
def test_shapes(value, looks):
    assert shape(value) == looks
    assert shape_worth(value) == SHAPES[looks]


@given(WORDS)
@law(200)
def test_every_value_has_a_shape_with_a_weight(text):
    assert shape(canonical(text)) in SHAPES


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('  "ORD-9913",', "ord-9913"),
        ("Sara\t\n Doe", "sara doe"),
        ("(src/a.py)", "src/a.py"),
        ("«Заказ»", "заказ"),
        ("...", ""),
        ("-5", "-5"),
    ],
)
def test_canonical(text, value):
    assert canonical(text) == value


@given(WORDS)
@law(200)
def test_canonical_is_its_own_canonical_form(text):
    once = canonical(text)
    assert once == once.lower()
    assert "  " not in once
    assert canonical(once) == once


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("the refund of ORD-9913 to marina@example.com today", {"ord-9913", "marina@example.com"}),
        ("open src/ledger/drain.py:17", {"src/ledger/drain.py:17"}),
        ("take 20931 and 99", {"20931"}),
        ("say `go on now` twice", {"go on now"}),
        ("plain words only here", set()),
        ("Верни заказ ORD-9913 за «синий шатёр»", {"ord-9913", "синий шатёр", "верни"}),
        ("订单 ORD-9913", {"ord-9913"}),
        ("call getOrder", {"getorder"}),
    ],
)
def test_values_of_running_text(text, values):
    assert set(text_values(text)) == values


@pytest.mark.parametrize("whole", ["sara_doe_77", "Blue tent", "синий шатёр", "账单服务"])
def test_a_short_leaf_is_a_value_as_a_whole(whole):
    assert segment_values(Segment(whole, "order", "name"))[0] == whole.lower()


@pytest.mark.parametrize("text", ["true", "null", "none", "abc", "", "   "])
def test_what_says_nothing_is_no_value(text):
    assert segment_values(Segment(text, "", "key")) == ()


def test_what_follows_a_key_is_a_value():
    assert "blue tent" in segment_values(Segment("- Product: Blue tent"))
    assert "синий шатёр" in segment_values(Segment("Товар: синий шатёр"))


@given(WORDS.map(lambda text: text * 4), st.sampled_from(["", "key"]))
@law(200)
def test_values_of_a_segment_are_few_distinct_and_canonical(text, key):
    values = segment_values(Segment(text, "", key))
    assert len(values) <= MOST + 2, "the whole and what follows the key, then tokens up to MOST"
    assert len(set(values)) == len(values)
    assert "" not in values
    assert all(value == value.lower() for value in values)


def test_a_segment_of_many_tokens_gives_the_first_ones():
    values = segment_values(Segment(" ".join(f"id-{n:04}" for n in range(90))))
    assert len(values) == MOST
    assert values[0] == "id-0000"


def names_and_values(arguments):
    return argument_values(json.dumps(arguments, ensure_ascii=False))


def test_leaves_of_arguments_are_values_with_the_name_of_their_argument():
    assert names_and_values({"order": {"id": "ORD-9913"}, "tags": ["blue tent"]}) == [
        ("id", "ord-9913"),
        ("tags", "blue tent"),
    ]


def test_a_longer_leaf_gives_its_tokens_too():
    found = names_and_values({"cmd": "cat src/ledger/drain.py | grep ORD-9913"})
    assert {("cmd", "src/ledger/drain.py"), ("cmd", "ord-9913")} <= set(found)


def test_a_leaf_above_the_longest_value_gives_only_its_tokens():
    text = "please look at ORD-9913 " + "and then go on with it " * 5
    assert [value for _, value in names_and_values({"note": text})] == ["ord-9913"]
    assert len(text) > LONGEST


@pytest.mark.parametrize(
    ("given_", "found"), [(1000, ["1000"]), (-20931, ["-20931"]), (999, []), (True, []), (None, []), ("abc", [])]
)
def test_small_numbers_and_constants_say_nothing(given_, found):
    assert [value for _, value in names_and_values({"n": given_})] == found


@pytest.mark.parametrize("arguments", ["", "  ", "{}", "[]", "null", "17"])
def test_arguments_without_a_value(arguments):
    assert argument_values(arguments) == []


def test_arguments_that_are_no_json_are_read_as_text():
    assert ("", "src/ledger/drain.py") in argument_values("cat src/ledger/drain.py")
    assert ("", "ord-9913") in argument_values('{"order": "ORD-9913", "amo')


@pytest.mark.parametrize("word", ["Москва", "账单服务", "정산배치"])
def test_arguments_in_other_scripts(word):
    assert names_and_values({"city": word}) == [("city", word.lower())]


@pytest.mark.parametrize("depth", [59, 200, 3_000])
def test_deep_arguments_do_not_raise(depth):
    argument_values('{"a":' * depth + '"ORD-9913"' + "}" * depth)
