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
from jettison.wire.openai_responses import OpenAIResponses
from unit.wire.contract import WireContract, flat

WIRE = OpenAIResponses()
CASES = Path(__file__).parents[2] / "cases" / "data"
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
USER = {"role": "user", "content": "Go."}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}


def think(name: str = "rs_1") -> Message:
    return {"type": "reasoning", "id": name, "summary": [], "encrypted_content": "gAAA"}


def call(call_id: str, name: str = "run", arguments: str = "{}") -> Message:
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": arguments}


def out(call_id: str, output: Any = "ok") -> Message:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def ask(name: str) -> Message:
    return {"type": "mcp_approval_request", "id": name, "name": "pay", "arguments": "{}", "server_label": "bank"}


def allow(name: str) -> Message:
    return {"type": "mcp_approval_response", "approval_request_id": name, "approve": True}


def rules(messages: list[Any], *kinds: str) -> list[tuple[str, str]]:
    return [(p.position, p.kind) for p in WIRE.check(messages) if not kinds or p.kind in kinds]


def shape(messages: list[Message]) -> list[int]:
    return [group[0].unit for group in WIRE.parse(messages)[0]]


def steps(messages: list[Message]) -> list[int]:
    return [group[0].step for group in WIRE.parse(messages)[0]]


AGENT = [
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Read only."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Read two."}]},
    {**think("rs_0"), "summary": [{"type": "summary_text", "text": "Both at once."}]},
    call("a", arguments='{"p": 1}'),
    call("b"),
    out("b", "B"),
    out("a", [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]),
    think("rs_1"),
    SAID,
    USER,
    {"role": "assistant", "content": "Plain."},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}], "phase": "final"},
    USER,
    call("a"),
    out("a", [{"type": "input_image", "image_url": PIXEL}, {"type": "input_text", "text": "seen"}]),
    call("c"),
    out("c", "fine"),
    USER,
]
TOOLS = [
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "Look:"},
            {"type": "input_image", "image_url": PIXEL, "detail": "low"},
            {"type": "input_file", "filename": "rules.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        ],
    },
    {"type": "mcp_list_tools", "id": "l", "server_label": "bank", "tools": [{"name": "pay"}]},
    ask("ap_1"),
    USER,
    think("rs_4"),
    {"type": "custom_tool_call", "id": "ct", "call_id": "k", "name": "sql", "input": "select 1"},
    {"type": "custom_tool_call_output", "call_id": "k", "output": "1"},
    allow("ap_1"),
    {"type": "mcp_call", "id": "m", "name": "pay", "arguments": "{}", "output": "paid", "server_label": "bank"},
    {"type": "mcp_call", "id": "m2", "name": "pay", "arguments": "{}", "output": None, "error": "down"},
    USER,
    {"type": "computer_call", "id": "cc", "call_id": "s", "action": {"type": "screenshot"}, "status": "completed"},
    {"type": "computer_call_output", "call_id": "s", "output": {"type": "computer_screenshot", "image_url": PIXEL}},
    {"type": "local_shell_call", "id": "ls", "call_id": "h", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "local_shell_call_output", "id": "h", "output": "a b"},
    USER,
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "image_generation_call", "id": "g", "result": PIXEL.partition(",")[2], "revised_prompt": "a dot"},
    {"type": "code_interpreter_call", "id": "i", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
    SAID,
    {"type": "compaction", "id": "cmp", "encrypted_content": "gAAA"},
    USER,
    {"type": "hologram", "depth": 3},
    USER,
]


class TestOpenAIResponses(WireContract):
    wire = WIRE
    histories = [AGENT, TOOLS]  # noqa: RUF012


def test_units_of_an_agent() -> None:
    assert shape(AGENT) == [0, 1, 2, 2, 2, 2, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 8, 9]
    assert steps(AGENT) == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5]


@pytest.mark.parametrize(
    ("messages", "units"),
    [
        ([USER, think(), SAID, think(), call("a"), out("a"), SAID], [0, 1, 1, 2, 2, 2, 2]),
        ([USER, think(), call("a"), think(), call("b"), out("a"), out("b"), think(), SAID], [0, *[1] * 6, 2, 2]),
        ([USER, think(), think(), SAID], [0, 1, 1, 1]),
        ([USER, call("a"), out("a"), call("b"), out("b"), SAID], [0, 1, 1, 2, 2, 3]),
        ([USER, call("a"), USER, SAID, USER, out("a"), SAID], [0, 1, 2, 3, 4, 1, 5]),
        ([USER, ask("p"), USER, SAID, allow("p"), SAID], [0, 1, 2, 3, 1, 4]),
        ([SAID, USER, {"type": "compaction"}, SAID], [0, 1, 2, 3]),
    ],
)
def test_units(messages: list[Message], units: list[int]) -> None:
    assert shape(messages) == units
    if out("a") not in messages[-2:]:
        assert sorted(steps(messages)) == steps(messages)


def test_results_know_their_calls() -> None:
    items = flat(WIRE.parse(TOOLS)[0])
    named = [(item.name, item.call_id, item.text) for item in items if item.kind is Kind.RESULT]
    assert named == [
        ("sql", "k", "1"),
        ("pay", "ap_1", ""),
        ("pay", "m", "paid"),
        ("pay", "m2", "down"),
        ("computer", "s", ""),
        ("local_shell", "h", "a b"),
    ]
    assert [item.is_error for item in items if item.call_id == "m2"] == [False, True]
    assert all(not unit.unanswered() for unit in units_of(items))


def test_reasoning_is_bound_and_weighed() -> None:
    item = next(item for item in flat(WIRE.parse(AGENT)[0]) if item.kind is Kind.REASONING)
    assert (item.text, item.extra, item.bound, item.editable) == ("Both at once.", "gAAA", True, False)


def test_media_weighs_by_rule() -> None:
    items = flat(WIRE.parse(TOOLS)[0])
    assert all("base64" not in item.text + item.extra and "iVBOR" not in item.text + item.extra for item in items)
    assert [item.note for item in items if item.note] == [
        "image/png 1x1",
        "rules.pdf",
        "image/png 1x1",
        "image 1x1",
        "compaction",
    ]
    assert next(item for item in items if item.note).fixed == 85


def test_reasoning_goes_with_the_item_it_led_to() -> None:
    history = [USER, think(), SAID, USER]
    items = flat(WIRE.parse(history)[0])
    rendered = WIRE.render([item for item in items if item.message != 2], history)
    assert rendered.sources == [0, 3]


def test_replaced_results_keep_their_outer_shape() -> None:
    items = flat(WIRE.parse(AGENT)[0])
    cut = [replace(i, text="short", fidelity=Fidelity.STUB) if i.kind is Kind.RESULT else i for i in items]
    rendered = WIRE.render(cut, AGENT)
    assert rendered.messages[5]["output"] == "short"
    assert rendered.messages[6]["output"] == [{"type": "input_text", "text": "short"}]
    assert rendered.messages[14]["output"] == [AGENT[14]["output"][0], {"type": "input_text", "text": "short"}]
    assert rendered.messages[14]["type"] == "function_call_output"


def test_a_call_of_a_failed_server_tool_can_be_cut() -> None:
    items = flat(WIRE.parse(TOOLS)[0])
    cut = [
        replace(i, text='{"n": 1}', fidelity=Fidelity.STUB) if i.call_id == "m2" and i.editable else i for i in items
    ]
    assert WIRE.render(cut, TOOLS).messages[9] == {**TOOLS[9], "arguments": '{"n": 1}'}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, call("x")], [("input[1]", "pending")]),
        ([USER, call("x"), USER, SAID], [("input[1]", "pending")]),
        ([USER, call("x"), USER, out("x"), SAID], []),
        ([USER, out("x")], [("input[1]", "structure")]),
        ([USER, out("x"), call("x")], [("input[1]", "structure"), ("input[2]", "pending")]),
        ([USER, call("x"), out("x"), out("x")], [("input[3]", "structure")]),
        ([USER, call("x"), call("x"), out("x")], [("input[2]", "structure")]),
        ([USER, call("x"), out("x"), call("x"), out("x")], []),
        (
            [USER, call("x"), {**out("x"), "type": "custom_tool_call_output"}],
            [("input[1]", "pending"), ("input[2]", "structure")],
        ),
        ([USER, call("x", arguments="{"), out("x")], [("input[1]", "compatibility")]),
        ([USER, call("x"), out("x", "")], [("input[2].output", "compatibility")]),
        ([USER, call("x"), out("x", None)], [("input[2].output", "structure")]),
        ([USER, {"type": "reasoning", "id": "r"}, SAID], [("input[1]", "structure")]),
        ([USER, think(), USER], [("input[1]", "structure")]),
        ([USER, think()], [("input[1]", "structure")]),
        ([{"type": "item_reference", "id": "m"}], [("input[0]", "structure")]),
        ([{"type": "item_reference", "id": "m"}, out("x")], [("input[0]", "structure")]),
        ([ask("p"), USER], []),
        ([ask("p"), USER, allow("p"), allow("p")], [("input[3]", "structure")]),
        ([allow("p")], [("input[0]", "structure")]),
        ([{"role": "user", "content": ""}], [("input[0].content", "structure")]),
        (["hi", {"content": "x"}, {"role": "tool", "content": "x"}], [(f"input[{n}]", "structure") for n in range(3)]),
    ],
)
def test_check_names_what_is_broken(messages: list[Any], expected: list[tuple[str, str]]) -> None:
    assert rules(messages) == expected


def test_references_are_named_as_such() -> None:
    problem = WIRE.check([{"type": "item_reference", "id": "m"}])[0]
    assert problem.rule.startswith("item_reference points at content kept on the server")


def test_answers_to_what_is_on_the_server_stand_together() -> None:
    history = [out("x"), out("y"), USER, call("z"), out("z")]
    assert rules(history[:2]) == [("input[0]", "structure"), ("input[1]", "structure")]
    assert WIRE.check(history, remote=True) == []
    assert WIRE.repair(history, remote=True).messages == history
    assert [group[0].unit for group in WIRE.parse(history)[0]] == [0, 0, 1, 2, 2]


def test_a_call_on_the_server_has_one_output_too() -> None:
    twice = [out("x", "error: aborted"), out("x", "41"), USER]
    assert [p.position for p in WIRE.check(twice, remote=True)] == ["input[1]"]
    assert WIRE.repair(twice, remote=True).messages == twice[1:]


def test_check_from_a_border_knows_the_calls_before_it() -> None:
    history = [{"role": "user", "content": ""}, call("x"), call("y"), USER, out("x")]
    assert [(p.position, p.kind) for p in WIRE.check(history, start=3)] == [("input[2]", "pending")]


def test_repair_adds_the_summary_that_reasoning_must_have() -> None:
    bare = {key: value for key, value in think().items() if key != "summary"}
    assert rules([USER, bare, SAID]) == [("input[1]", "structure")]
    repaired = WIRE.repair([USER, bare, SAID])
    assert repaired.messages == [USER, {**bare, "summary": []}, SAID]
    assert repaired.notes == ["input[1]: an empty summary added"]


def test_repair_answers_dead_calls_and_leaves_the_trailing_ones() -> None:
    history = [USER, think(), call("x"), call("y"), out("x"), USER, call("z")]
    repaired = WIRE.repair(history)
    assert repaired.messages == [*history[:5], out("y", "no result: interrupted"), *history[5:]]
    assert [note.partition(":")[0] for note in repaired.notes] == ["input[3]"]
    assert rules(repaired.messages) == [("input[7]", "pending")]


def test_repair_drops_what_has_no_partner() -> None:
    empty = {"role": "assistant", "content": []}
    repaired = WIRE.repair([out("lost"), USER, think(), empty, USER, think(), SAID, think()])
    assert repaired.messages == [USER, USER, think(), SAID]
    assert [note.partition(":")[0] for note in repaired.notes] == [f"input[{n}]" for n in (0, 2, 3, 7)]


def test_repair_keeps_one_of_duplicates() -> None:
    history = [USER, call("x"), out("x", "1"), out("x", "2"), out("x", "Error: aborted"), USER]
    assert WIRE.repair(history).messages == [USER, call("x"), out("x", "2"), USER]
    twice = [USER, call("x", arguments="1"), call("x", arguments="2"), out("x", "cancelled"), out("x", "fine"), USER]
    assert WIRE.repair(twice).messages == [USER, call("x", arguments="2"), out("x", "fine"), USER]


def test_bodies() -> None:
    body = {"model": "m", "instructions": "Be brief.", "input": "Hi.", "tools": [], "store": False}
    messages, system, tools = WIRE.split_body(body)
    assert (messages, system, tools) == ([{"role": "user", "content": "Hi."}], "Be brief.", [])
    assert WIRE.join_body(body, messages, system) == body
    joined = WIRE.join_body(body, [USER], "Other.")
    assert list(joined) == list(body)
    assert (joined["input"], joined["instructions"]) == ([USER], "Other.")
    with pytest.raises(InvalidInput):
        WIRE.split_body({"messages": []})


def test_instructions_are_an_item() -> None:
    assert WIRE.parse_system(None) == ()
    (item,) = WIRE.parse_system("Be brief.")
    assert (item.kind, item.message, item.unit, item.step) == (Kind.INSTRUCTION, -1, -1, 0)


def case_files(form: str) -> list[Any]:
    found = [(path, json.loads(path.read_text())) for path in sorted(CASES.glob("*.json"))]
    return [pytest.param(case, id=path.stem[:40]) for path, case in found if case["format"] == form]


@pytest.mark.parametrize("case", case_files("openai-responses"))
def test_recorded_cases(case: dict[str, Any]) -> None:
    messages = case["messages"]
    groups, _ = WIRE.parse(messages)
    assert all(new is old for new, old in zip(WIRE.render(flat(groups), messages).messages, messages, strict=True))
    assert bool(rules(messages, "structure", "pending")) is not case["valid_input"]
    for ids in case.get("pair_groups", []):
        found = [n for n, m in enumerate(messages) if m.get("id") in ids or m.get("call_id") in ids]
        assert len({groups[n][0].unit for n in found}) == 1


TYPES = st.sampled_from(
    [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "computer_call_output",
        "local_shell_call_output",
        "mcp_call",
        "mcp_approval_request",
        "mcp_approval_response",
        "item_reference",
        "x",
        "web_search_call",
        "image_generation_call",
        "compaction",
        "input_text",
        "output_text",
        "input_image",
    ]
)
KEYS = st.sampled_from(
    [
        "type",
        "role",
        "content",
        "call_id",
        "id",
        "name",
        "arguments",
        "output",
        "summary",
        "approval_request_id",
        "image_url",
        "text",
        "action",
        "result",
        "input",
        "error",
        "encrypted_content",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | TYPES | st.sampled_from(["", "a", "user", "assistant"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=10,
)
LOOSE = st.builds(lambda sort, rest: {**rest, "type": sort}, TYPES, st.dictionaries(KEYS, JSON, max_size=5))


@settings(max_examples=400, deadline=None)
@given(st.lists(LOOSE | JSON, max_size=7))
def test_garbage_never_raises(messages: list[Any]) -> None:
    WIRE.check(messages)
    items = flat(WIRE.parse(messages)[0])
    assert WIRE.render(items, messages).messages == [m for m in messages if m is not None]
    stubs = [replace(i, text="[gone]", fidelity=Fidelity.STUB) if i.editable else i for i in items]
    WIRE.render(stubs[::2], messages)
    WIRE.repair(messages)


IDS = st.sampled_from("xyz")
BARE = {"type": "reasoning", "id": "r9", "encrypted_content": "gAAA"}
EMPTY = [{"role": "user", "content": ""}, {"role": "assistant", "content": []}]
ONE = st.sampled_from([USER, SAID, think(), BARE, *EMPTY])
ALMOST = ONE | st.builds(call, IDS) | st.builds(out, IDS, st.sampled_from(["ok", "error: aborted"]))
ALMOST |= st.builds(ask, st.just("p")) | st.builds(allow, st.just("p"))


@settings(max_examples=600, deadline=None)
@given(st.lists(ALMOST, max_size=10))
def test_repair_leaves_no_broken_structure(messages: list[Message]) -> None:
    repaired = WIRE.repair(messages)
    assert rules(repaired.messages, "structure") == []
    again = WIRE.repair(repaired.messages)
    assert (again.messages, again.notes) == (repaired.messages, [])
    there = WIRE.repair(messages, remote=True).messages
    assert not [p for p in WIRE.check(there, remote=True) if p.kind == "structure"]


@settings(max_examples=400, deadline=None)
@given(st.lists(ALMOST, max_size=12), st.data())
def test_units_of_a_sound_history_can_go_alone(messages: list[Message], data: st.DataObject) -> None:
    history = WIRE.repair(messages).messages
    items = flat(WIRE.parse(history)[0])
    gone = data.draw(st.sets(st.sampled_from([i.unit for i in items]))) if items else set()
    rendered = WIRE.render([item for item in items if item.unit not in gone], history)
    assert rules(rendered.messages, "structure") == []
    assert rendered.sources == [n for n, unit in enumerate(shape(history)) if unit not in gone]


def test_a_long_history_is_cut_into_as_many_units_as_it_has_turns() -> None:
    """The state that a parse carries on does not grow with the history."""
    records, cursors = WIRE.parse([USER, *[think(), call("x"), out("x"), SAID] * 2500])
    assert len(records) == len(cursors)
    assert max(len(cursor.calls) for cursor in cursors) <= 2
    assert len({item.unit for record in records for item in record}) >= 2_500


def test_payloads_inside_what_we_do_not_read_are_not_text() -> None:
    outputs = [{"type": "image", "url": PIXEL}, {"type": "logs", "logs": "2"}]
    for sort in ("code_interpreter_call", "hologram"):
        (item,) = WIRE.parse([{"type": sort, "outputs": outputs}])[0][0]
        assert "iVBOR" not in item.text + item.extra
        assert item.fixed > 1000
