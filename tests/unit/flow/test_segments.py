"""Segments: what a text is cut into, where each piece stands, and where a line may not be cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.cut import cut
from jettison.flow.segments import LONG_LINE, as_lines, grapheme_cut, segment
from strategies import law

ROUGH = st.text(st.sampled_from("ab Ж数.,;|!?\n\n\r\té\u0301\u200d👩👍🏽🇦🇹️\\n{}[]\"':0"), max_size=700)


def triples(text):
    """(record, key, text) of the leaves of a JSON text."""
    parts = segment(text)
    assert parts.structured
    return [(part.record, part.key, part.text) for part in parts.segments]


@given(st.one_of(st.text(max_size=600), ROUGH, ROUGH.map(lambda text: text.replace("\n", " ") * 3)))
@law(300)
def test_the_segments_of_a_text_cover_it_in_order(text):
    parts = segment(text)
    if parts.structured:
        assert all(part.start == -1 for part in parts.segments)
        return
    at, line = 0, 0
    for part in parts.segments:
        if part.line != line:
            assert parts.text[at] == "\n"
            at, line = at + 1, line + 1
        assert (part.start, part.line) == (at, line)
        assert parts.text[part.start : part.end] == part.text
        assert len(part.text) <= LONG_LINE
        at = part.end
    assert at == len(parts.text)


@given(st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=40)), st.lists, max_leaves=8))
@law(100)
def test_any_json_can_be_segmented(value):
    parts = segment(json.dumps(value))
    assert parts.segments
    assert all(isinstance(part.text, str) for part in parts.segments)


def test_a_line_of_240_characters_is_one_segment_and_one_of_241_is_not():
    assert len(segment("x " * 120).segments) == 1
    assert len(segment("x " * 120 + "x").segments) == 2


def test_a_long_line_is_cut_after_separators():
    pieces = segment("one sentence. " * 60).segments
    assert len(pieces) > 4
    assert all(piece.text.endswith((". ", " ")) for piece in pieces[:-1])
    assert all(piece.line == 0 for piece in pieces)


def test_a_leaf_has_its_record_and_key():
    assert triples(
        '{"order": {"id": "ORD-1", "lines": [{"sku": "A", "n": 2}, {"sku": "B"}]}, "tags": ["x", true]}'
    ) == [
        ("order", "id", "ORD-1"),
        ("order.lines[0]", "sku", "A"),
        ("order.lines[0]", "n", "2"),
        ("order.lines[1]", "sku", "B"),
        ("tags", "[0]", "x"),
        ("tags", "[1]", "true"),
    ]


def test_records_are_numbered_in_order():
    parts = segment('[{"a": 1, "b": 2}, {"a": 3}]').segments
    assert [part.line for part in parts] == [0, 0, 1]


def test_empty_lists_and_objects_inside_are_leaves():
    assert triples('{"a": [], "b": {}, "c": null}') == [("", "a", "[]"), ("", "b", "{}"), ("", "c", "null")]


@pytest.mark.parametrize("text", ["", " ", "{}", "[]", "null", "17", '"word"', "{not json", "[1, 2"])
def test_what_is_no_json_with_leaves_is_text(text):
    parts = segment(text)
    assert (parts.structured, parts.text) == (False, text)


def test_json_in_a_string_is_opened():
    inner = json.dumps([{"id": "INV-1", "memo": "a memo long enough to be worth it"}])
    assert ("rows[0]", "id", "INV-1") in triples(json.dumps({"rows": inner}))


def test_a_leaf_of_several_lines_becomes_lines_under_its_path():
    assert triples('{"file": {"body": "one\\n\\ntwo"}}') == [("file.body", "", "one"), ("file.body", "", "two")]


def test_a_long_leaf_becomes_pieces_that_rejoin():
    body = "word and word, " * 40
    found = triples(json.dumps({"body": body}))
    assert {(record, key) for record, key, _ in found} == {("body", "")}
    assert "".join(text for _, _, text in found) == body


@pytest.mark.parametrize("wrap", [lambda inner: inner, lambda inner: [inner]])
def test_an_mcp_text_wrapper_is_opened(wrap):
    parts = segment(json.dumps(wrap({"type": "text", "text": "first\nsecond"})))
    assert [part.text for part in parts.segments] == ["first", "second"]
    assert not parts.structured


def test_json_inside_an_mcp_wrapper_is_read_as_json():
    assert triples(json.dumps({"type": "text", "text": '{"id": "ORD-1"}'})) == [("", "id", "ORD-1")]


def test_a_list_of_two_wrappers_is_read_as_a_list():
    text = json.dumps([{"type": "text", "text": "first"}, {"type": "text", "text": "second"}])
    assert [leaf for leaf in triples(text) if leaf[1] == "text"] == [
        ("[0]", "text", "first"),
        ("[1]", "text", "second"),
    ]


def test_literal_line_breaks_are_unescaped():
    assert [part.text for part in segment(r"one\ntwo\nthree\nfour").segments] == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    "text",
    [
        r"a regular expression with \n and one more \n in it",  # fewer than three
        "\\n \\n \\n\n\n\n\n",  # more real breaks than escaped ones
        r"C:\\new C:\\now C:\\not",  # the backslash itself is escaped
    ],
)
def test_what_only_looks_escaped_stays(text):
    assert segment(text).text == text


@pytest.mark.parametrize("depth", [61, 70, 400, 990, 1_000, 5_000])
@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a":', "}")])
def test_any_depth_of_nesting_is_read(depth, left, right):
    assert segment(left * depth + "1" + right * depth).segments


def test_no_depth_falls_between_what_is_parsed_and_what_is_read():
    """The parser and the writer of `json` give up at depths that differ by one."""
    assert all(segment("[" * depth + "1" + "]" * depth).segments for depth in range(850, 1_000))


@pytest.mark.parametrize("text", ["a", "👩‍👧", "数", "🇦🇹", "e\u0301", "a b ", "\\n", "\n", "a\r\n"])
def test_the_number_of_segments_grows_with_the_text(text):
    """No more pieces than lines and shares of half a piece, whatever the text."""
    huge = text * (200_000 // len(text))
    parts = segment(huge)
    lines = parts.text.count("\n") + 1
    assert len(parts.segments) <= lines + len(huge) // 80
    assert "".join(part.text for part in parts.segments) == parts.text.replace("\n", "")


CLUSTERS = ["👩‍👩‍👧‍👦", "🇦🇹", "e\u0301\u0323", "☂️", "👍🏽", "\r\n", "1️⃣", "नि", "🏴\U000e0067\U000e0062\U000e007f"]


@given(st.lists(st.sampled_from([*CLUSTERS, "a", "数"]), max_size=30), st.integers(-2, 200))
@law(300)
def test_a_cut_never_falls_inside_a_cluster(clusters, at):
    text, borders = "", {0}
    for cluster in clusters:
        text += cluster
        borders.add(len(text))
    place = grapheme_cut(text, at)
    assert place in borders
    assert 0 <= place <= max(0, at)


@pytest.mark.parametrize("cluster", [cluster for cluster in CLUSTERS if "\n" not in cluster])
@pytest.mark.parametrize("shift", [0, 1, 2, 3])
def test_a_long_line_of_clusters_is_cut_between_them(cluster, shift):
    text = "a" * shift + cluster * 200
    borders = {*range(shift), *range(shift, len(text) + 1, len(cluster))}
    assert {part.start for part in segment(text).segments} <= borders


def test_a_cut_walks_back_a_bounded_way():
    text = "e" + "\u0301" * 1_000
    assert grapheme_cut(text, 500) == 436


def test_a_long_key_above_many_records_is_not_repeated_in_each():
    text = json.dumps({"k" * 50_000: [{"a": n} for n in range(5_000)]})
    parts = segment(text)
    assert len({part.record for part in parts.segments}) == 5_000
    assert sum(len(part.record) for part in parts.segments) < 10 * len(text)


def test_lines_of_a_text_as_it_is_even_where_it_is_json():
    text = json.dumps({"a": [1, 2], "b": "x\ny"}, indent=1)
    parts = as_lines(text)
    assert not parts.structured
    assert [part.text for part in parts.segments] == text.split("\n")
    assert all(text[part.start : part.end] == part.text for part in parts.segments)


@pytest.mark.parametrize(
    "text", ["a\n\n\n\n\n\n\n\nb", "\n" * 40, "a\n\n\n\n\n\n", "\n\n\n\n\n\na\nb\n\n\n\n\n\n\nc\n"]
)
def test_a_run_of_empty_lines_is_three_and_counts_as_all_of_them(text):
    parts = segment(text)
    for part in parts.segments:
        assert text[part.start : part.end] == part.text
        assert text[: part.start].count("\n") == part.line
    said = [line for line in text.split("\n") if line]
    assert [part.text for part in parts.segments if part.text] == said
    assert parts.segments[-1].line == text.count("\n")
    assert len(parts.segments) <= len(said) + 3 * (len(said) + 1) + 2


def test_the_gap_of_a_run_of_empty_lines_is_its_whole_size():
    parts = segment("a" + "\n" * 100 + "b")
    ends = {0, len(parts.segments) - 1}
    assert cut(parts, ends, "").split("\n")[1:] == ["a", "…99", "b"]
