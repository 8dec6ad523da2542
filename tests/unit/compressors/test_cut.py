"""Cuts: what is kept is verbatim, every gap is marked in the source's own unit, and nothing is fused."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.cut import cut, handle_for, is_synthetic, stub
from jettison.flow.segments import segment
from strategies import law

HANDLE = "badugisona"
LINES = "\n".join(f"  {n}: text of line {n}" for n in range(1, 31))
texts = st.text(st.sampled_from("ab 1Ж数.,\n\n👩\u200d\\n"), min_size=1, max_size=900).filter(
    lambda text: not segment(text).structured
)


def body(text):
    """A cut without its first line."""
    return text.split("\n", 1)[1]


def chosen(draw, parts):
    return draw(st.sets(st.integers(0, len(parts.segments) - 1), min_size=1))


def expanded(text):
    """Lines of a cut, each gap mark replaced by as many None as it stands for."""
    out = []
    for line in body(text).split("\n"):
        mark = re.fullmatch(r"…(\d+)", line)
        out += [None] * int(mark[1]) if mark else [line]
    return out


@given(texts)
@law(150)
def test_a_cut_of_everything_is_the_text_under_a_header(text):
    parts = segment(text)
    assert body(cut(parts, range(len(parts.segments)), HANDLE)) == parts.text


@given(st.data(), texts)
@law(200)
def test_each_line_of_a_cut_stands_where_it_stood(data, text):
    """Gap marks count exactly: spelled out, a cut has the lines of its source, each as it was or marked inside."""
    parts = segment(text)
    keep = chosen(data.draw, parts)
    source, left = parts.text.split("\n"), expanded(cut(parts, keep, HANDLE))
    assert len(left) == len(source)
    kept = {parts.segments[index].line for index in keep}
    for number, (before, after) in enumerate(zip(source, left, strict=True)):
        if number not in kept:
            assert after is None
        elif all(index in keep for index, part in enumerate(parts.segments) if part.line == number):
            assert after == before
        else:
            assert "…" in after


@given(st.data(), texts)
@law(200)
def test_kept_segments_are_verbatim_and_in_order(data, text):
    parts = segment(text)
    rest = body(cut(parts, keep := chosen(data.draw, parts), HANDLE))
    at = 0
    for index in sorted(keep):
        at = rest.index(parts.segments[index].text, at) + len(parts.segments[index].text)


def test_gaps_of_lines():
    assert cut(segment(LINES), [0, 4, 5, 20], HANDLE).split("\n") == [
        f"[partial 4/30 lines, …n = n cut, ref {HANDLE}]",
        "  1: text of line 1",
        "…3",
        "  5: text of line 5",
        "  6: text of line 6",
        "…14",
        "  21: text of line 21",
        "…9",
    ]


def test_a_gap_before_the_first_kept_line_is_marked():
    assert body(cut(segment(LINES), [29], HANDLE)) == "…29\n  30: text of line 30"


@given(st.sets(st.integers(0, 29), min_size=1))
@law(100)
def test_a_line_number_is_never_joined_with_the_text_of_another_line(keep):
    for line in body(cut(segment(LINES), keep, HANDLE)).split("\n"):
        assert re.fullmatch(r"…\d+|  (\d+): text of line \1", line)


def test_a_cut_inside_a_line_is_marked_at_both_ends():
    parts = segment("first word, " * 60)
    assert len(parts.segments) > 3
    assert cut(parts, [1], HANDLE) == (
        f"[partial {len(parts.segments[1].text)}/{len(parts.text)} characters, ref {HANDLE}]\n"
        f"… {parts.segments[1].text} …"
    )
    assert body(cut(parts, [0, 2], HANDLE)) == f"{parts.segments[0].text} … {parts.segments[2].text} …"
    assert body(cut(parts, [0, 1], HANDLE)) == f"{parts.segments[0].text}{parts.segments[1].text} …"


def test_records_stand_in_their_place():
    value = {"orders": [{"id": f"ORD-{n}", "total": n, "note": "n"} for n in range(5)], "next": None}
    parts = segment(json.dumps(value))
    assert cut(parts, [0, 1, 6], HANDLE).split("\n") == [
        f"[partial 3/16 fields, ref {HANDLE}]",
        '{"orders":[{"id":"ORD-0","total":0},',
        "…1,",
        '{"id":"ORD-2"},',
        "…2]}",
    ]


def test_fields_keep_their_keys_and_kinds():
    assert body(cut(segment('{"a": 1, "b": "two", "c": [3]}'), [0, 1], HANDLE)) == '{"a":1,"b":"two"}'
    assert body(cut(segment('{"a": [1, null, "x", 4.50], "b": {}}'), [1, 2, 4], HANDLE)) == (
        '{"a":[…1,null,"x",…1],"b":{}}'
    )


def test_lines_of_a_long_leaf_stand_under_its_key_with_gaps():
    parts = segment(json.dumps({"file": {"body": "one\ntwo\nthree\nfour"}}))
    assert body(cut(parts, [0, 1, 3], HANDLE)) == '{"file":{"body":"one\ntwo\n…\nfour"}}'


def test_json_inside_a_string_is_opened():
    parts = segment(json.dumps({"answer": json.dumps({"id": "ORD-1", "note": "a long text, long enough to be read"})}))
    assert body(cut(parts, [0], HANDLE)) == '{"answer":{"id":"ORD-1"}}'


@given(st.data())
@law(100)
def test_a_leaf_is_never_given_to_another_record(data):
    value = [{"id": f"ORD-{n}", "sku": f"SKU-{n}", "qty": n} for n in range(8)]
    parts = segment(json.dumps(value))
    at = 0
    for line in body(cut(parts, chosen(data.draw, parts), HANDLE)).strip("[]").split(",\n"):
        if gap := re.fullmatch(r"…(\d)", line):
            at += int(gap[1])
        else:
            assert set(re.findall(r"\d", line)) == {str(at)}
            at += 1
    assert at == len(value)


@given(st.text(max_size=50), st.sampled_from([10, 12, 20]))
@law(100)
def test_handles_are_letters_of_the_given_length_and_of_the_content(text, letters):
    handle = handle_for(text, letters)
    assert re.fullmatch(r"[a-z]+", handle)
    assert len(handle) == letters
    assert handle == handle_for(text, letters) != handle_for(text + "x", letters)
    assert handle_for(text, 20).startswith(handle)


def test_a_handle_of_a_lone_surrogate_does_not_raise():
    assert handle_for("\ud800")


@given(st.data(), texts)
@law(100)
def test_own_marks_are_recognised(data, text):
    parts = segment(text)
    handle = handle_for(text)
    assert is_synthetic(cut(parts, chosen(data.draw, parts), handle))
    assert is_synthetic(stub(len(text), handle))
    assert is_synthetic(cut(segment('{"a": 1}'), [0], handle))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[partial]",
        "[cut 12 tokens] of wood",
        "[cut 12 tokens, ref X1]",
        "[partial 3/9 rows, ref badugisona]",
        "see [cut 12 tokens, ref badugisona]",
        "[1, 2, 3]",
    ],
)
def test_other_texts_are_not_taken_for_ours(text):
    assert not is_synthetic(text)
