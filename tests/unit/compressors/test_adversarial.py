"""Texts that nobody wrote for us: broken JSON, half characters, scripts that combine, a megabyte in a line.

Whatever comes: it shrinks or comes back, has a valid shape, marks its gaps, breaks no character, and raises nothing.
"""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import Policy, Session
from jettison.compressors.arguments import clip
from jettison.compressors.cut import cut, is_synthetic
from jettison.compressors.extractive import extract
from jettison.compressors.shrink import shrink
from jettison.compressors.summary_text import Part, Source
from jettison.compressors.tabular import compact, restore
from jettison.flow.pages import visible
from jettison.flow.segments import as_lines, segment
from jettison.tokens import o200k
from strategies import law

CLUSTERS = (
    "👩‍👩‍👧‍👦",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "🇦🇹🇯🇵",
    "👍🏽",
    "1\ufe0f\u20e3",
    "e\u0301\u0323",
    "Z̸̢͎̈",
    "क्षि",
    "ก็",
    "שָׁ",
    "عَّ",
    "\r\n",
)
"""Each is one character to a reader; of the flags, each pair."""
PIECES = (
    *CLUSTERS,
    "\u202e",
    "\u200f",
    "\x00",
    "\ufeff",
    "\u2028",
    "\u0130",
    "ß",
    "a",
    " ",
    "\t",
    "\n",
    ". ",
    "слово ",
    "שלום ",
    "词",
    "한국어 ",
    "ORD-17 ",
    "ERROR ",
    "09:00:00 INFO ",
    "<b>",
    "</script>",
    "<!--",
    "&amp;",
    "…12\n",
    "[cut 5 tokens]",
    "def f(",
    '"""',
    "@@ -1 +1 @@\n",
    "a,b,c\n",
    "\\n",
    '"',
    "{",
    "}]",
    "=" * 40,
    "x" * 300,
)
LONE = ("\ud800", "\udfff", "\ude00")
strange = st.lists(st.sampled_from(PIECES), max_size=120).map("".join)
broken = st.lists(st.sampled_from((*PIECES, *LONE)), max_size=120).map("".join)
targets = st.integers(0, 500)
NUMBERS = ("NaN", "-Infinity", "1e999", "-0", "1.0", "9" * 30, "9" * 5_000, "0.1000000000000000055511151231257827")
literal = st.sampled_from((*NUMBERS, "null", "true", '""', '"\\ud800"', '"\\u0000"')) | strange.map(json.dumps)
"""JSON as written: what a parser makes of it is another matter."""
jsons = st.recursive(
    literal,
    lambda inner: (
        st.lists(inner, max_size=10).map(lambda parts: f"[{', '.join(parts)}]")
        # equal keys on purpose
        | st.lists(st.tuples(st.sampled_from(("id", "a", "a\\n", "")), inner), max_size=8).map(
            lambda pairs: "{" + ",\n ".join(f'"{key}": {value}' for key, value in pairs) + "}"
        )
    ),
    max_leaves=40,
)
MARKS = re.compile(r" ?… ?|…\d+")


def borders(text):
    """Offsets inside a character of `CLUSTERS` that stands in the text."""
    inside = set()
    for cluster in CLUSTERS:
        flags = cluster == "🇦🇹🇯🇵"
        for match in re.finditer(re.escape(cluster), text):
            inside.update(at for at in range(match.start() + 1, match.end()) if not flags or (at - match.start()) % 2)
    return inside


@given(broken, targets)
@law(300)
def test_any_text_shrinks_or_comes_back(text, target):
    short = shrink(text, target)
    assert short == text or len(short) < len(text)
    if short != text:
        assert is_synthetic(short)
        assert shrink(short, 10) == short


@given(strange)
@law(300)
def test_no_segment_begins_or_ends_inside_a_character(text):
    inside = borders(text)
    for part in as_lines(text).segments:
        assert part.start not in inside or "\r\n" in text[part.start - 1 : part.start + 1]
        assert part.end not in inside or "\r\n" in text[part.end - 1 : part.end + 1]
        assert text[part.start : part.end] == part.text


@given(strange, st.data())
@law(200)
def test_what_is_left_stands_in_the_source_and_every_gap_is_marked(text, data):
    parts = as_lines(text)
    count = len(parts.segments)
    chosen = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    head, *lines = cut(parts, chosen, "badugisona").split("\n")
    assert is_synthetic(head)
    shown = {parts.segments[index].line for index in chosen}
    source = text.split("\n")
    wanted = [source[number] for number in sorted(shown)]
    gaps = [line for line in lines if re.fullmatch(r"…\d+", line) and line not in source]
    told = len(shown) + sum(int(line[1:]) for line in gaps)
    if not any(re.search(r"…\d", line) for line in source):  # else a line of the source reads like a mark
        assert told == len(source) or len(source) == 1
        for line, whole in zip((line for line in lines if line not in gaps), wanted, strict=True):
            rest = line
            for piece in filter(None, MARKS.split(line)):
                assert piece in whole
                rest = rest.replace(piece, "", 1)
            assert line == whole or "…" in line or not whole
            assert not rest.strip("… ")


@given(jsons, targets)
@law(300)
def test_json_of_any_kind_keeps_its_shape_or_says_that_it_is_partial(text, target):
    short = shrink(text, target)
    assert short == text or len(short) < len(text)
    if short != text and not is_synthetic(short):
        assert type(json.loads(restore(short) if '"columns"' in short else short)) is type(json.loads(text))
    small = compact(text)
    if small is not None:
        assert json.dumps(json.loads(restore(small))) == json.dumps(json.loads(text))


@given(jsons)
@law(100)
def test_clipped_arguments_are_json_of_the_same_shape(text):
    clipped = clip(text, "badugisona")
    if clipped is None:
        return
    before, after = json.loads(text), json.loads(clipped)

    def alike(one, other):
        if isinstance(one, str):
            return one == other or (isinstance(other, str) and one.startswith(other.split("… [cut ")[0]))
        if isinstance(one, dict):
            return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
        if isinstance(one, list):
            return len(one) == len(other) and all(map(alike, one, other))
        return json.dumps(one) == json.dumps(other)

    assert alike(before, after)
    assert len(clipped) < len(text)


@given(st.lists(strange, min_size=1, max_size=6), st.integers(10, 200))
@law(80)
def test_a_summary_is_made_of_the_source(texts, most):
    source = Source(tuple(Part("user", text) for text in texts), len(texts))
    found = extract(source, most, o200k)
    assert o200k(found) <= most
    given_ = "\n".join(texts)
    for line in found.split("\n"):
        said = line.strip().removeprefix("user: ").strip()
        assert said in ("", "…") or said in given_


@given(broken)
@law(200)
def test_what_a_reader_sees_of_any_page(text):
    page = f"<!doctype html><html><style>{'x' * 900}</style><body>{text}</body></html>"
    seen = visible(page)
    assert seen is None or len(seen) < len(page)
    assert segment(page).segments


def history(text):
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": json.dumps({"page": n})}}
        for n in range(2)
    ]
    return [
        {"role": "user", "content": "Read both."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c0", "content": text},
        {"role": "tool", "tool_call_id": "c1", "content": f"{text}\nthe end"},
        {"role": "assistant", "content": "Read."},
        {"role": "user", "content": "And?"},
    ]


@given(broken.map(lambda text: text * 6) | jsons.map(lambda text: f"[{', '.join([text] * 5)}]"), st.integers(90, 600))
@law(60)
def test_in_a_session_it_fits_and_comes_back(text, budget):
    text = text or "x"
    session = Session(Policy(budget=budget, counter="o200k", recall=True))
    messages = history(text)
    fitted = session.fit(messages)
    assert fitted.report.ok
    assert fitted.report.after <= budget
    json.dumps(fitted.messages, ensure_ascii=False).encode()  # no half characters
    given_ = {item.id: item.text for item in session._state.history.items}
    for row in fitted.report.rows:
        assert row.handle is None or session.recall(row.handle) == given_[row.item]
    again = Session(Policy(budget=budget, counter="o200k", recall=True)).fit(fitted.messages)
    assert again.messages == fitted.messages


MEGABYTES = {
    "one family after another": lambda: CLUSTERS[0] * 90_000,
    "one letter with marks": lambda: "e" + "\u0301" * 600_000,
    "half characters": lambda: "\ud800" * 500_000,
    "NUL": lambda: "\x00" * 1_000_000,
    "Hebrew without a space": lambda: "שלום" * 250_000,
    "CRLF": lambda: "line\r\n" * 160_000,
    "opening brackets": lambda: "[" * 1_000_000,
    "nested to the limit of the parser": lambda: "[" * 900 + "1" + "]" * 900,
    "nested beyond it": lambda: '{"a":' * 150_000 + "1" + "}" * 150_000,
    "nested in strings": lambda: json.dumps([json.dumps([json.dumps(["x" * 50] * 90)] * 90)] * 9),
    "one number": lambda: "[" + "7" * 1_000_000 + "]",
    "one key a million times": lambda: "{" + ",".join(['"a": 1'] * 120_000) + "}",
    "one long string": lambda: json.dumps({"a": "x" * 1_000_000}),
    "an unclosed string": lambda: '{"a": "' + "x" * 1_000_000,
    "quotes": lambda: '"' * 1_000_000,
    "backslashes": lambda: '"' + "\\" * 999_999,
    "markup": lambda: "<html>" + "<a " * 330_000,
    "a table of empty cells": lambda: "|" * 1_000_000,
    "gap marks": lambda: "…1\n" * 330_000,
}


@pytest.mark.parametrize("name", MEGABYTES)
def test_a_megabyte(name):
    text = MEGABYTES[name]()
    short = shrink(text, 5_000)
    assert short == text or len(short) <= 5_500
    for made in (clip(text, ""), visible(text), compact(text)):
        assert made is None or len(made) < len(text)


@pytest.mark.parametrize("name", MEGABYTES)
def test_a_fifth_of_it_in_a_session(name):
    session = Session(Policy(budget=1_000, counter=lambda text: len(text) // 3 + 1))
    messages = history(MEGABYTES[name]()[:200_000])
    fitted = session.fit(messages)
    assert fitted.report.ok
    assert fitted.report.after <= 1_000
    for row in fitted.report.rows:
        if row.handle and row.kind == "result":
            assert len(session.recall(row.handle)) >= len(messages[2]["content"]) - 8


def test_the_characters_of_these_tests_are_what_they_claim():
    for cluster in CLUSTERS:
        assert len(cluster) > 1
        assert cluster == "\r\n" or any(unicodedata.category(char)[0] in "MSC" for char in cluster[1:])
