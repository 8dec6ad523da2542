"""Detection: on the labelled set, spans to the letter, look-alikes, growth, and arbitrary text."""

import re
from itertools import pairwise

import pytest
from bench.secrets import MADE, made
from bench.vault import LATER, missed, score
from bench.vault_set import cases
from hypothesis import given
from hypothesis import strategies as st

from jettison.errors import ConfigError
from jettison.vault import PLACEHOLDER, Detector
from jettison.vault.naming import kind_of_name
from jettison.vault.placeholders import open_end, placeholder
from strategies import law

OWN = Detector(())


def test_the_set_is_as_large_as_it_says():
    secrets = [case for case in cases() if case.secret is not None]
    assert len(secrets) >= 60
    assert len({case.kind for case in secrets}) >= 40
    assert len(cases()) - len(secrets) >= 60


@pytest.mark.parametrize("part", ["tune", "holdout", *LATER])
@pytest.mark.parametrize("find", [OWN.find, Detector().find], ids=["own", "with kingfisher"])
def test_recall_and_false_alarms_hold(part, find):
    recall, exact, alarms = score(find, part)
    wrong = "\n".join(missed(find, part))
    assert recall >= 0.95, wrong
    assert alarms <= 0.02, wrong
    assert exact >= 0.95, wrong


@pytest.mark.parametrize("kind", [kind for kind in MADE if kind not in ("otp", "pin", "heroku")])
def test_every_shape_is_found_to_the_letter_under_a_name(kind):
    value = made(kind, "letter")
    text = f'before\n"client_secret": "{value}"\nafter' if "\n" not in value else f"before\n{value}\nafter"
    assert [text[start:end] for start, end, _ in OWN.find(text)] == [value]


def test_offsets_count_characters_not_bytes():
    value = made("github", "emoji")
    text = f"🚀 токен İ {value} конец"
    assert [text[s:e] for s, e, _ in Detector().find(text)] == [value]


def test_placeholders_are_no_secrets():
    text = 'password: {{secret:password:1}}, "token": "{{secret:github-token:12}}", Bearer {{secret:jwt:1}}'
    assert OWN.find(text) == []


def test_own_patterns_name_the_secret_group():
    find = Detector((), {"badge": r"badge no\. (\d{4})", "room": r"room (?P<secret>\w{5}) of (\w+)"}).find
    text = "badge no. 4711 for room A1B2C of tower"
    assert [(text[s:e], kind) for s, e, kind in find(text)] == [("4711", "badge"), ("A1B2C", "room")]


@pytest.mark.parametrize("bad", [{"No": "x"}, {"a" * 41: "x"}, {"ok": "("}])
def test_a_pattern_that_cannot_be_is_refused(bad):
    with pytest.raises(ConfigError):
        Detector((), bad)


def test_an_unknown_rule_set_is_refused():
    with pytest.raises(ConfigError, match="kingfisher"):
        Detector(("nonesuch",))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DB_PASSWORD", "password"),
        ("x-api-key", "api-key"),
        ("clientSecret", "secret"),
        ("accessToken", "token"),
        ("пароль", "password"),
        ("max_tokens", None),
        ("nextPageToken", None),
        ("primary_key", None),
        ("keyboard", None),
        ("compass", None),
    ],
)
def test_names(name, kind):
    assert kind_of_name(name) == kind


@given(st.text(max_size=400))
@law(150)
def test_any_text_gives_spans_in_order_without_overlap(text):
    spans = OWN.find(text)
    assert all(0 <= s < e <= len(text) for s, e, _ in spans)
    assert all(one.end <= two.start for one, two in pairwise(spans))


_PIECES = (
    st.sampled_from(
        ["password", "пароль", "=", ":", '"', "\\", "://", "@", "token", "eyJ", ".", "cookie:", "{{secret:", "a1:1}}"]
    )
    | st.sampled_from(
        [
            "ghp_",
            "Bearer ",
            "İ",
            " is ",
            "<",
            ">",
            "code",
            "482913",
            "; a=",
            "-----BEGIN PRIVATE KEY-----",
            "\n",
            "A1" * 30,
        ]
    )
    | st.sampled_from(
        [
            "login",
            "creds",
            " / ",
            "|",
            ",",
            "kind: Secret",
            "\ndata:\n ",
            "mysql -p",
            "curl -u a:",
            "VALUES (",
            "'",
            "(",
            ")",
        ]
    )
    | st.sampled_from(
        [
            "seed phrase ",
            "abc ",
            "recovery codes ",
            "a1b2-c3d4",
            "hunter22",
            "xK9!vT2m",
            "код ",
            "токен ",
            "под ",
            "jwt.sign(",
        ]
    )
)


@given(st.lists(_PIECES, max_size=60).map("".join))
@law(300)
def test_text_made_of_triggers_is_survived(text):
    spans = OWN.find(text)
    marks = [mark.span() for mark in PLACEHOLDER.finditer(text)]
    assert not [1 for s, e, _ in spans for start, end in marks if s < end and start < e]
    assert all(one.end <= two.start for one, two in pairwise(spans))


@given(st.from_regex(r"[a-z0-9]{1,10}(?:-[a-z0-9]{1,8}){0,2}", fullmatch=True), st.integers(1, 9_999_999), st.text())
@law()
def test_a_placeholder_reads_back_wherever_it_stands(kind, number, around):
    name = placeholder(kind, number)
    found = [mark.group() for mark in PLACEHOLDER.finditer(around.replace("{", "") + name + around.replace("}", ""))]
    assert found == [name]


@given(st.from_regex(r"[a-z0-9]{1,10}", fullmatch=True), st.integers(1, 9_999_999), st.text(max_size=20))
@law()
def test_a_beginning_is_held_back_at_any_cut(kind, number, before):
    name = placeholder(kind, number)
    before = before.rstrip("{")
    for cut in range(1, len(name)):
        assert open_end(before + name[:cut]) <= len(before), name[:cut]


def test_no_value_is_written_down_in_the_set():
    from pathlib import Path

    import bench.secrets
    import bench.vault_set

    for module in (bench.secrets, bench.vault_set):
        source = Path(module.__file__).read_text("utf-8")
        assert not re.findall(r"(?:ghp_|AKIA|xoxb-|sk_live_)[A-Za-z0-9]{16}", source)


@given(st.lists(_PIECES, max_size=40).map("".join), st.sampled_from(sorted(MADE)), st.text(max_size=30))
@law(100)
def test_a_shape_of_its_own_is_found_wherever_it_stands(around, kind, more):
    """In any surroundings a provider's token is inside a span: nothing before it hides it."""
    value = made("github", kind)
    text = f"{around}\n{value}\n{more}"
    assert any(start <= len(around) + 1 and len(around) + 1 + len(value) <= end for start, end, _ in OWN.find(text))


@given(
    st.lists(st.sampled_from(["pass", "secret", "key", "токен", "под ", "x", " ", "й", "-u", "passin"]), max_size=30)
)
@law(100)
def test_every_word_is_found_where_it_stands(pieces):
    from jettison.vault.cues import Finder
    from jettison.vault.spans import folded

    words = ("pass", "secret", "key", "токен", "под ", "-u", "-passin")
    text = "".join(pieces)
    found = {(at, word.decode("cp1251")) for at, word in Finder(words).find(folded(text), text.isascii())}
    for word in words:
        at = text.find(word)
        while at >= 0:
            assert any(start <= at < start + len(one) for start, one in found), (word, text)
            at = text.find(word, at + 1)
