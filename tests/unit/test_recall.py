"""The recall tool: its declaration on each wire, its answers, and how an answer is recognised."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import ArchiveError, ConfigError, Session, fit
from jettison.archive import MemoryArchive, SQLiteArchive
from jettison.compressors.cut import handle_for
from jettison.history import schemas
from jettison.recall import LIMIT, NAME, is_recalled, recall_answer, recall_tool
from jettison.wire import TRAITS
from strategies import law

LONG = "\n".join(f"{n}: запись о заказе ORD-{n * 37 % 9973}" for n in range(1, 4_001))
MINIFIED = json.dumps([{"id": n, "note": "x" * 40} for n in range(2_000)])


@pytest.fixture
def archive():
    store = MemoryArchive()
    for text in ("the exact\r\ntext \x00\n", LONG, MINIFIED):
        store.put(handle_for(text), text)
    return store


SHORT = handle_for("the exact\r\ntext \x00\n")


# the tool


@pytest.mark.parametrize("wire", TRAITS)
def test_the_tool_is_declared_as_the_wire_wants_it(wire):
    tool = recall_tool(wire)
    assert json.loads(json.dumps(tool)) == tool
    ((name, schema),), _ = schemas([tool], None)
    assert name == NAME
    assert "handle" in schema
    assert {"openai-chat": "function", "openai-responses": "strict", "anthropic": "input_schema"}.get(
        wire, "functionDeclarations"
    ) in tool


def test_the_tool_goes_into_a_request():
    message = [{"role": "user", "content": "Hello."}]
    assert fit(message, budget=2_000, tools=[recall_tool()]).messages == message


def test_an_unknown_wire_is_refused():
    with pytest.raises(ConfigError, match="telex"):
        recall_tool("telex")


# whole texts


@pytest.mark.parametrize(
    "handle", [SHORT, f" {SHORT} ", f"ref {SHORT}", f"[cut 812 tokens, ref {SHORT}]", f'"{SHORT}"', f"`{SHORT}`."]
)
def test_a_text_comes_back_exactly_however_the_model_writes_the_handle(archive, handle):
    assert recall_answer(archive, {"handle": handle}) == "the exact\r\ntext \x00\n"
    assert recall_answer(archive, json.dumps({"handle": handle})) == "the exact\r\ntext \x00\n"


@pytest.mark.parametrize("text", [LONG, MINIFIED, "x" * 100_000, "🙂" * 50_000, ("y" * 30_000 + "\n") * 3], ids=len)
def test_a_long_text_comes_in_pieces_that_make_up_the_whole(archive, text):
    handle = handle_for(text)
    archive.put(handle, text)
    arguments: dict[str, object] = {"handle": handle}
    pieces = []
    while True:
        answer = recall_answer(archive, arguments)
        assert len(answer) <= LIMIT + 200
        head, body = answer.split("\n", 1)
        pieces.append(body)
        if "for more: " not in head:
            break
        unit, _, span = head.rpartition("for more: ")[2].rstrip("]").partition(" ")
        arguments = {"handle": handle, unit: span}
    assert ("\n" if unit == "lines" else "").join(pieces) == text


# parts


@pytest.mark.parametrize(
    "lines", ["120-122", " 120 - 122 ", "120..122", "120–122", [120, 122], "120 to 122", "[120,122]"]
)
def test_lines_of_a_text(archive, lines):
    answer = recall_answer(archive, {"handle": handle_for(LONG), "lines": lines})
    head, *body = answer.split("\n")
    assert head.startswith(f"[recalled lines 120-122 of 4000, ref {handle_for(LONG)}")
    assert body == LONG.split("\n")[119:122]


def test_one_line_the_rest_and_characters(archive):
    def body(**arguments: object) -> str:
        return recall_answer(archive, {"handle": handle_for(LONG), **arguments}).split("\n", 1)[1]

    assert body(lines=17) == LONG.split("\n")[16]
    assert body(lines="3999-") == "\n".join(LONG.split("\n")[3998:])
    assert body(lines="3999-99999") == "\n".join(LONG.split("\n")[3998:])
    assert body(characters="11-20") == LONG[10:20]


def test_a_line_longer_than_an_answer_comes_by_characters(archive):
    text = "short\n" + "x" * 50_000 + "\nend"
    archive.put("longline", text)
    answer = recall_answer(archive, {"handle": "longline", "lines": "2-3"})
    assert answer.startswith("[recalled characters 7-20006 of 50010, ref longline; for more: characters 20007-40006]\n")
    assert answer.split("\n", 1)[1] == "x" * LIMIT


@pytest.mark.parametrize("lines", ["5000-5001", "20-10", "all", "-5", "1-2-3", {"from": 1}, "9" * 30, "0x1"])
def test_a_range_that_cannot_be_is_explained(archive, lines):
    answer = recall_answer(archive, {"handle": handle_for(LONG), "lines": lines})
    assert "has 4000 lines" in answer


def test_the_lines_that_have_a_word(archive):
    answer = recall_answer(archive, {"handle": handle_for(LONG), "query": "ORD-1517"})
    at = next(n for n, line in enumerate(LONG.split("\n"), 1) if line.endswith("ORD-1517"))
    assert f"\n{at}: {LONG.splitlines()[at - 1]}" in answer
    many = recall_answer(archive, {"handle": handle_for(LONG), "query": "заказы"})
    assert "4000 of 4000 lines" in many
    assert len(many) < LIMIT
    assert "No line" in recall_answer(archive, {"handle": handle_for(LONG), "query": "zebra"})
    assert len(recall_answer(archive, {"handle": handle_for(MINIFIED), "query": "1999"})) < 1_000


# search and what the model gets wrong


def test_a_search_lists_handles_with_excerpts(archive):
    answer = recall_answer(archive, {"query": "exact text"})
    assert f"ref {SHORT}: the exact text" in answer
    assert "zebra" in recall_answer(archive, {"query": "zebra"})
    assert len(recall_answer(archive, {"query": "x" * 100_000})) < 1_000


def test_an_unknown_handle_is_explained_and_searched_for(archive):
    answer = recall_answer(archive, {"handle": "nosuchword"})
    assert "nosuchword" in answer
    assert "ref" in answer
    assert SHORT in recall_answer(archive, {"handle": "nosuchword", "query": "exact"})
    assert "a" * 81 not in recall_answer(archive, {"handle": "a" * 100_000})


@pytest.mark.parametrize("arguments", [None, "", "{}", {}, {"handle": ""}, {"handle": None, "query": " "}])
def test_without_arguments_it_says_which_it_needs(archive, arguments):
    assert "`handle`" in recall_answer(archive, arguments)


@pytest.mark.parametrize("arguments", ["{", "[1]", '"text"', "[" * 100_000, 17])
def test_arguments_that_are_no_object_are_explained(archive, arguments):
    assert "JSON object" in recall_answer(archive, arguments)


@given(
    st.dictionaries(
        st.sampled_from(["handle", "query", "lines", "characters"]),
        st.one_of(st.text(max_size=30), st.integers(), st.none(), st.lists(st.integers(), max_size=3), st.just(SHORT)),
    )
)
@law(200)
def test_no_arguments_raise(arguments):
    store = MemoryArchive()
    store.put(SHORT, "the exact\r\ntext \x00\n")
    assert recall_answer(store, arguments)


def test_an_archive_that_cannot_be_read_is_an_error(tmp_path):
    store = SQLiteArchive(tmp_path / "a.db")
    store.close()
    with pytest.raises(ArchiveError, match=r"a\.db"):
        recall_answer(store, {"handle": SHORT})


def test_an_archive_of_ones_own_may_raise_a_lookup_error():
    class Shelf(dict):
        get = dict.__getitem__

        def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
            return list(self.items())[:limit]

    assert "Nothing is kept" in recall_answer(Shelf(), {"handle": "nosuchword"})
    assert recall_answer(Shelf(nosuchword="text"), {"handle": "nosuchword"}) == "text"


def test_a_session_answers_with_what_it_evicted():
    call = {"id": "c", "type": "function", "function": {"name": "logs", "arguments": "{}"}}
    log = "\n".join(f"09:00:{n % 60:02} tick {n * 7919 % 10007}" for n in range(600))
    messages = [
        {"role": "user", "content": "Read the log."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": log},
        {"role": "user", "content": "And?"},
    ]
    session = Session(900)
    handle = next(row.handle for row in session.fit(messages).report.rows if row.handle)
    assert recall_answer(session, {"handle": handle}) == log
    assert handle in recall_answer(session, {"query": "tick"})


# recognised


def test_what_was_recalled_is_recognised_whole_and_in_part(archive):
    for arguments in ({}, {"lines": "5-9"}, {"characters": "5-90"}, {"lines": "3999-4000"}):
        for text in (LONG, MINIFIED, "the exact\r\ntext \x00\n"):
            answer = recall_answer(archive, {"handle": handle_for(text), **arguments})
            if "there is no" not in answer:
                assert is_recalled(answer, archive.get, handle_for) == handle_for(text)


def test_what_only_says_so_is_not(archive):
    handle = handle_for(LONG)
    for text in (
        f"[recalled lines 5-9 of 4000, ref {handle}]\nsomething else",
        f"[recalled lines 5-9 of 4000, ref nosuchword]\n{LONG}",
        f"[recalled lines 9-5 of 4000, ref {handle}]\nx",
        LONG + " ",
        "",
        f"[cut 812 tokens, ref {handle}]",
        "[recalled lines 5-9 of 4000, ref " + "a;" * 100_000,
    ):
        assert is_recalled(text, archive.get, handle_for) is None, text[:80]
