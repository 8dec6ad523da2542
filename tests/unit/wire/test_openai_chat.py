from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jettison.errors import InvalidInput
from jettison.items import Fidelity, Kind, units_of
from jettison.wire.base import Message
from jettison.wire.openai_chat import OpenAIChat
from unit.wire.contract import WireContract, flat

WIRE = OpenAIChat()
CASES = Path(__file__).parents[2] / "cases" / "data"
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Go."}
END = {"role": "assistant", "content": "Done."}


def call(call_id: str, name: str = "run", arguments: str = "{}") -> Message:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def turn(*calls: Message, content: Any = None, **fields: Any) -> Message:
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **fields}


def tool(call_id: str, content: Any = "ok") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def rules(messages: list[Any], *kinds: str) -> list[tuple[str, str]]:
    return [(p.position, p.kind) for p in WIRE.check(messages) if not kinds or p.kind in kinds]


def case_files(form: str) -> list[Any]:
    found = [(path, json.loads(path.read_text())) for path in sorted(CASES.glob("*.json"))]
    return [pytest.param(case, id=path.stem[:40]) for path, case in found if case["format"] == form]


PLAIN = [SYSTEM, USER, END, {"role": "user", "content": "And?"}, {"role": "assistant", "content": "Yes."}, USER]
AGENT = [
    {"role": "developer", "content": [{"type": "text", "text": "Never push."}, {"type": "text", "text": "Be kind."}]},
    {"role": "user", "content": "Read both.", "name": "ann"},
    turn(call("a", arguments='{"p": 1}'), call("b"), reasoning_content="Two at once.", content="Reading."),
    tool("b", "B"),
    {**tool("a", [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]), "name": "run"},
    turn(call("a"), reasoning="Once more.", reasoning_details=[{"type": "x", "signature": "s"}]),
    tool("a", "again"),
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
        "refusal": None,
    },
    USER,
    turn({"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}, content=""),
    tool("c", "1"),
    {"role": "assistant", "content": None, "refusal": "I will not."},
    USER,
]
MEDIA = [
    USER,
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Look:"},
            {"type": "image_url", "image_url": {"url": PIXEL, "detail": "high"}},
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png?sig=1"}},
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
            {"type": "file", "file": {"filename": "rules.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
            {"type": "hologram", "depth": 3},
        ],
    },
    turn(call("shot")),
    tool("shot", [{"type": "text", "text": "screen"}, {"type": "image_url", "image_url": {"url": PIXEL}}]),
    END,
    USER,
]
LEGACY = [
    USER,
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    {"role": "function", "name": "f", "content": "1"},
    END,
    {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
    USER,
]


class TestOpenAIChat(WireContract):
    wire = WIRE
    histories = [PLAIN, AGENT, MEDIA, LEGACY]  # noqa: RUF012


def test_kinds_names_units_and_steps() -> None:
    items = flat(WIRE.parse(AGENT)[0])
    assert [item.kind.value for item in items if item.message == 2] == ["reasoning", "assistant", "call", "call"]
    assert [unit.index for unit in units_of(items)] == list(range(9))
    assert [(item.name, item.call_id, item.text) for item in items if item.kind is Kind.RESULT] == [
        ("run", "b", "B"),
        ("run", "a", "one\ntwo"),
        ("run", "a", "again"),
        ("sql", "c", "1"),
    ]
    assert [item.step for item in items if not item.part] == [0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert all(not unit.unanswered() for unit in units_of(items))
    assert [item.fixed for item in items if item.message == 2] == [4, 0, 0, 0]
    assert next(item for item in items if item.message == 1).extra == '{"name": "ann"}'
    assert [item.bound for item in items if item.kind is Kind.REASONING] == [False, False, True]


def test_an_unanswered_call_shows_in_its_unit() -> None:
    items = flat(WIRE.parse([USER, turn(call("x"), call("y")), tool("x")])[0])
    assert [item.call_id for item in units_of(items)[-1].unanswered()] == ["y"]


def test_a_message_without_anything_is_opaque() -> None:
    for message in ({"role": "user", "content": ""}, {"role": "assistant"}, {"role": "what"}, 3):
        items = flat(WIRE.parse([message])[0])  # type: ignore[list-item]
        assert [(item.kind, item.editable) for item in items] == [(Kind.OPAQUE, False)]


def test_base64_is_not_counted_as_text() -> None:
    items = flat(WIRE.parse(MEDIA)[0])
    assert all("base64" not in item.text + item.extra for item in items)
    notes = [item.note for item in items if item.kind is Kind.MEDIA]
    assert notes == ["image/png 1x1", "https://x.test/a.png", "audio/wav", "rules.pdf", "image/png 1x1"]


def test_dropped_parts_leave_the_rest() -> None:
    items = flat(WIRE.parse(AGENT)[0])
    kept = [item for item in items if item.call_id != "b" and item.kind is not Kind.REASONING]
    rendered = WIRE.render(kept, AGENT)
    first = rendered.messages[2]
    assert [entry["id"] for entry in first["tool_calls"]] == ["a"]
    assert "reasoning_content" not in first
    assert rendered.sources == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert WIRE.check(rendered.messages) == []


def test_a_turn_left_with_reasoning_only_goes() -> None:
    items = flat(WIRE.parse(AGENT)[0])
    rendered = WIRE.render([i for i in items if i.unit != 2 or i.kind is Kind.REASONING], AGENT)
    assert 2 not in rendered.sources


def test_text_of_a_turn_with_calls_becomes_null() -> None:
    history = [USER, turn(call("x"), content="Hm."), tool("x")]
    items = flat(WIRE.parse(history)[0])
    rendered = WIRE.render([i for i in items if i.kind is not Kind.ASSISTANT], history)
    assert rendered.messages[1] == turn(call("x"))


def test_an_answer_left_empty_gets_a_listed_placeholder() -> None:
    history = [USER, turn(call("x")), tool("x", [{"type": "image_url", "image_url": {"url": PIXEL}}])]
    items = flat(WIRE.parse(history)[0])
    rendered = WIRE.render([i for i in items if i.kind is not Kind.MEDIA], history)
    assert rendered.messages[2]["content"] == "[content removed]"
    assert [(entry.message, entry.why) for entry in rendered.inserted] == [(2, "placeholder")]
    assert WIRE.check(rendered.messages) == []


def test_replaced_results_keep_their_outer_shape() -> None:
    items = flat(WIRE.parse(AGENT)[0])
    cut = [replace(i, text="short", fidelity=Fidelity.STUB) if i.kind is Kind.RESULT else i for i in items]
    rendered = WIRE.render(cut, AGENT)
    assert rendered.messages[3]["content"] == "short"
    assert rendered.messages[4]["content"] == [{"type": "text", "text": "short"}]
    assert {entry.why for entry in rendered.inserted} == {"stub"}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, turn(call("x"))], [("messages[1].tool_calls[0]", "pending")]),
        ([USER, turn(call("x"), call("y")), tool("x")], [("messages[1].tool_calls[1]", "pending")]),
        ([USER, turn(call("x")), USER], [("messages[1].tool_calls[0]", "structure")]),
        ([USER, tool("x")], [("messages[1]", "structure")]),
        ([USER, turn(call("x")), tool("x"), tool("x")], [("messages[3]", "structure")]),
        ([USER, turn(call("x"), call("x")), tool("x")], [("messages[1].tool_calls[1]", "structure")]),
        ([USER, turn(call("x", arguments="{")), tool("x")], [("messages[1].tool_calls[0]", "compatibility")]),
        ([USER, turn(call("x", arguments="")), tool("x")], [("messages[1].tool_calls[0]", "compatibility")]),
        ([USER, turn(call("x")), tool("x", "")], [("messages[2].content", "compatibility")]),
        ([USER, {"role": "assistant", "content": ""}], [("messages[1]", "structure")]),
        ([USER, {"role": "assistant", "reasoning_content": "hm"}], [("messages[1]", "structure")]),
        ([{"role": "user", "content": []}], [("messages[0].content", "structure")]),
        ([{"role": "user", "content": [{"type": "text", "text": ""}]}], [("messages[0].content[0]", "structure")]),
        (["hi"], [("messages[0]", "structure")]),
        ([{"content": "hi"}], [("messages[0]", "structure")]),
        ([{"role": "robot", "content": "hi"}], [("messages[0]", "structure")]),
        ([USER, turn(call("x")), tool("x"), turn(call("x")), tool("x")], []),
    ],
)
def test_check_names_what_is_broken(messages: list[Any], expected: list[tuple[str, str]]) -> None:
    assert rules(messages) == expected


def test_check_from_a_border_reports_only_what_follows() -> None:
    history = [{"role": "user", "content": ""}, USER, turn(call("x"))]
    assert [p.position for p in WIRE.check(history, start=1)] == ["messages[2].tool_calls[0]"]


def test_repair_answers_dead_calls_and_leaves_the_trailing_turn() -> None:
    history = [USER, turn(call("x"), call("y")), tool("x"), USER, turn(call("z"))]
    repaired = WIRE.repair(history)
    assert repaired.messages == [*history[:3], tool("y", "no result: interrupted"), *history[3:]]
    assert [note.partition(":")[0] for note in repaired.notes] == ["messages[1]"]
    assert rules(repaired.messages) == [("messages[5].tool_calls[0]", "pending")]
    assert flat(WIRE.parse(repaired.messages)[0])[4].synthetic


def test_repair_keeps_one_of_duplicates() -> None:
    last = WIRE.repair([USER, turn(call("x")), tool("x", "1"), tool("x", "2"), tool("x", "error: aborted"), USER])
    assert [m["content"] for m in last.messages] == ["Go.", None, "2", "Go."]
    twice = [
        USER,
        turn(call("x", arguments="1"), call("x", arguments="2")),
        tool("x", "Aborted"),
        tool("x", "fine"),
        USER,
    ]
    repaired = WIRE.repair(twice).messages
    assert repaired == [USER, turn(call("x", arguments="2")), tool("x", "fine"), USER]


def test_repair_drops_orphans_and_empties_and_moves_late_answers() -> None:
    history = [
        tool("lost"),
        {"role": "user", "content": ""},
        turn(call("x")),
        {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "wait"}]},
        tool("x", "late"),
        {"role": "assistant", "content": None},
        END,
    ]
    repaired = WIRE.repair(history)
    assert repaired.messages == [
        turn(call("x")),
        tool("x", "late"),
        {"role": "user", "content": [{"type": "text", "text": "wait"}]},
        END,
    ]
    assert [note.partition(":")[0] for note in repaired.notes] == [f"messages[{n}]" for n in (0, 1, 3, 4, 5)]


def test_body_needs_messages() -> None:
    with pytest.raises(InvalidInput):
        WIRE.split_body({"input": "hi"})


@pytest.mark.parametrize("case", case_files("openai-chat"))
def test_recorded_cases(case: dict[str, Any]) -> None:
    messages = case["messages"]
    groups, _ = WIRE.parse(messages)
    assert [group[0].message for group in groups] == list(range(len(messages)))
    assert all(new is old for new, old in zip(WIRE.render(flat(groups), messages).messages, messages, strict=True))
    assert bool(rules(messages, "structure", "pending")) is not case["valid_input"]
    assert not rules(WIRE.repair(messages).messages, "structure")


WORDS = st.sampled_from(["", "x", "y", "tool", "assistant", "user", "function", "text", "custom", "image_url", "{}"])
KEYS = st.sampled_from(
    [
        "role",
        "content",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "function",
        "custom",
        "id",
        "type",
        "text",
        "arguments",
        "name",
        "refusal",
        "reasoning",
        "image_url",
        "url",
        "input",
        "file",
        "x",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
ROLE = st.sampled_from(["assistant", "tool", "user", "system", "function"])
CALL = st.builds(call, st.sampled_from("xy"), arguments=WORDS) | JSON
TURN = st.builds(turn, CALL, CALL, content=WORDS | JSON) | st.builds(turn, CALL)
LOOSE = st.fixed_dictionaries({"role": ROLE}, optional={"content": JSON, "tool_calls": JSON, "tool_call_id": WORDS})
GARBAGE = st.lists(LOOSE | TURN | st.builds(tool, st.sampled_from("xy"), WORDS | JSON) | JSON, max_size=7)


@settings(max_examples=400, deadline=None)
@given(GARBAGE)
def test_garbage_never_raises(messages: list[Any]) -> None:
    WIRE.check(messages)
    items = flat(WIRE.parse(messages)[0])
    assert WIRE.render(items, messages).messages == [m for m in messages if m is not None]
    stubs = [replace(i, text="[gone]", fidelity=Fidelity.STUB) if i.editable else i for i in items]
    WIRE.render(stubs[::2], messages)
    WIRE.repair(messages)


@st.composite
def almost(draw: st.DrawFn) -> list[Message]:
    """Well-formed messages in any order."""
    one = st.sampled_from([USER, END, {"role": "user", "content": ""}, {"role": "assistant", "content": []}])
    ids = st.sampled_from("xyz")
    calls = st.lists(st.builds(call, ids), min_size=1, max_size=3).map(lambda found: turn(*found))
    answers = st.builds(tool, ids, st.sampled_from(["ok", "error: aborted"]))
    return draw(st.lists(one | calls | answers, max_size=9))


@settings(max_examples=400, deadline=None)
@given(almost())
def test_repair_leaves_no_broken_structure(messages: list[Message]) -> None:
    repaired = WIRE.repair(messages)
    assert rules(repaired.messages, "structure") == []
    again = WIRE.repair(repaired.messages)
    assert (again.messages, again.notes) == (repaired.messages, [])


def test_a_long_history_is_cut_into_as_many_units_as_it_has_turns() -> None:
    """The state that a parse carries on does not grow with the history."""
    records, cursors = WIRE.parse([SYSTEM, *[USER, turn(call("x"), content="Hm."), tool("x"), END] * 2500])
    assert len(records) == len(cursors)
    assert max(len(cursor.calls) for cursor in cursors) <= 2
    assert len({item.unit for record in records for item in record}) >= 5_000
