"""Anthropic Messages: the contract, then what only this wire has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import fit
from jettison.items import Fidelity, Item, Kind, units_of
from jettison.wire.anthropic import Anthropic
from jettison.wire.base import Cursor
from jettison.wire.turns import INTERRUPTED, PLACEHOLDER
from unit.wire.contract import WireContract, flat

WIRE = Anthropic()
CASES = Path(__file__).parents[2] / "cases" / "data"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA="
MARK = {"cache_control": {"type": "ephemeral"}}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": blocks[0] if isinstance(blocks[0], str) else list(blocks)}


def agent(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": blocks[0] if isinstance(blocks[0], str) else list(blocks)}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def use(call: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "run", "input": arguments}


def result(call: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def thinking(value: str = "hm") -> dict[str, Any]:
    return {"type": "thinking", "thinking": value, "signature": "sig=="}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
NOTES = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "notes"}, "title": "n.txt"}
PARTS = {"type": "document", "source": {"type": "content", "content": [text("one"), text("two")]}}
PDF = {"type": "document", "source": {"type": "url", "url": "https://x.test/a/rulebook.pdf"}}
FOUND = {"type": "search_result", "source": "s", "title": "t", "content": [text("found")]}
SERVER = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
SERVED = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}

PLAIN = [user("Goal."), agent("Yes."), user(text("More.", **MARK)), agent(text("Done.")), user("Next.")]
TOOLS = [
    user("Goal."),
    agent(thinking(), text("Both."), use("a", x=1), use("b")),
    user(result("a", [text("one"), IMAGE, text("two"), FOUND]), result("b", is_error=True), text("and hurry")),
    agent({"type": "redacted_thinking", "data": "AAAA"}, use("c", q="é")),
    user(result("c", None)),
    agent(thinking(), text("So.", citations=[{"cited_text": "c"}])),
    user("Thanks."),
]
MEDIA = [
    user(IMAGE, PDF, NOTES, PARTS, FOUND, text("What is it?")),
    agent(SERVER, SERVED, text("It is this.")),
    user("Go."),
    agent(text("Off."), use("z")),
    user(result("z", [IMAGE], **MARK)),
]
SIDE_BY_SIDE = [user("a"), user("b"), agent("c"), agent("d"), user("e"), {"role": "system", "content": "f"}, user("g")]


def kept(history: list[Any], *messages: int) -> list[Any]:
    items = [item for item in flat(WIRE.parse(history)[0]) if item.message in messages]
    return WIRE.render(items, history).messages


def rules(history: list[Any], kind: str = "structure", **more: Any) -> list[str]:
    return [problem.position for problem in WIRE.check(history, **more) if problem.kind == kind]


def edit(history: list[Any], kind: Kind, text: str, fidelity: Fidelity = Fidelity.COMPRESSED) -> Any:
    items = [
        replace(item, text=text, fidelity=fidelity) if item.kind is kind else item
        for item in flat(WIRE.parse(history)[0])
    ]
    return WIRE.render(items, history)


class TestContract(WireContract):
    wire = WIRE
    histories: ClassVar = [PLAIN, TOOLS, MEDIA, SIDE_BY_SIDE]


def test_items_of_each_block() -> None:
    items = flat(WIRE.parse(TOOLS)[0])
    assert [(i.message, i.kind.value, i.unit, i.step, i.slot) for i in items] == [
        (0, "user", 0, 0, ()),
        (1, "reasoning", 1, 1, (0,)),
        (1, "assistant", 1, 1, (1,)),
        (1, "call", 1, 1, (2,)),
        (1, "call", 1, 1, (3,)),
        (2, "result", 1, 1, (0,)),
        (2, "media", 1, 1, (0, 1)),
        (2, "document", 1, 1, (0, 3)),
        (2, "result", 1, 1, (1,)),
        (2, "user", 2, 1, (2,)),
        (3, "reasoning", 3, 2, (0,)),
        (3, "call", 3, 2, (1,)),
        (4, "result", 3, 2, (0,)),
        (5, "reasoning", 4, 3, (0,)),
        (5, "assistant", 4, 3, (1,)),
        (6, "user", 5, 3, ()),
    ]
    call, answer, failed = items[3], items[5], items[8]
    assert (call.text, call.name, call.call_id) == ('{"x": 1}', "run", "a")
    assert (answer.text, answer.name, answer.call_id, answer.is_error) == ("one\ntwo", "run", "a", False)
    assert failed.is_error
    assert items[6].note == "image/png 640x480"
    assert items[6].fixed == 410
    assert items[1].bound
    assert items[10].extra == "AAAA"
    assert items[10].bound
    assert items[14].extra == '{"citations": [{"cited_text": "c"}]}'
    assert [i.fixed for i in items if i.part == 0] == [4] * 7


def test_documents_are_text_or_media() -> None:
    items = WIRE.parse(MEDIA)[0][0]
    assert [i.kind for i in items] == [Kind.MEDIA, Kind.MEDIA, *[Kind.DOCUMENT] * 3, Kind.USER]
    assert [i.note for i in items[1:3]] == ["rulebook.pdf", "n.txt"]
    assert [i.text for i in items[2:5]] == ["notes", "one\ntwo", "found"]


def test_system_items() -> None:
    (item,) = WIRE.parse_system("Be brief.")
    assert (item.kind, item.message, item.unit, item.step) == (Kind.INSTRUCTION, -1, -1, 0)
    assert [i.text for i in WIRE.parse_system([text("a"), text("b", **MARK)])] == ["a", "b"]
    assert WIRE.parse_system(None) == ()


def test_a_paused_turn_is_one_unit() -> None:
    history = [user("Go."), agent(SERVER), agent(SERVED, text("Found.")), user("Thanks.")]
    assert WIRE.check(history) == []
    assert [i.unit for i in flat(WIRE.parse(history)[0])] == [0, 1, 1, 1, 2]


def test_a_turn_that_is_paused_is_sent_back_as_it_is() -> None:
    """`pause_turn`: the server goes on with its own call, nobody else answers it."""
    assert WIRE.check([user("Go."), agent(SERVER)]) == []
    assert fit([user("Go."), agent(SERVER)], budget=500, wire="anthropic").report.sendable


def test_code_that_calls_the_clients_tools_is_one_unit_until_its_result() -> None:
    asks, asks_again = ({**use(call), "caller": {"type": "code_execution_20250825", "tool_id": "s1"}} for call in "xy")
    hops = [
        user("Go."),
        agent(text("Both."), SERVER, asks),
        user(result("x")),
        agent(asks_again),
        user(result("y")),
        agent(SERVED, text("Done.")),
        user("Thanks."),
    ]
    groups, cursors = WIRE.parse(hops)
    assert [group[0].unit for group in groups] == [0, 1, 1, 1, 1, 1, 2]
    for cut in range(len(hops)):
        assert WIRE.parse(hops[cut:], cursors[cut - 1] if cut else Cursor())[0] == groups[cut:]
    assert [p.kind for n in range(1, 8) for p in WIRE.check(hops[:n]) if p.kind != "compatibility"] == ["pending"] * 2
    assert rules([*hops[:5], user("Stop."), *hops[5:]]) == ["messages[1].content[1]", "messages[6].content[0]"]


def test_placeholders_are_recognised() -> None:
    items = flat(WIRE.parse([user(PLACEHOLDER), agent(use("a")), user(result("a", INTERRUPTED))])[0])
    assert [i.synthetic for i in items] == [True, False, True]


def test_dropping_merges_users_and_separates_agents() -> None:
    assert kept(PLAIN, 0, 2, 3, 4) == [user(text("Goal."), text("More.", **MARK)), *PLAIN[3:]]
    assert kept(PLAIN, 0, 1, 3, 4) == [PLAIN[0], PLAIN[1], user(PLACEHOLDER), PLAIN[3], PLAIN[4]]
    assert kept(PLAIN, 1, 2) == [user(PLACEHOLDER), PLAIN[1], PLAIN[2]]
    rendered = WIRE.render([i for i in flat(WIRE.parse(PLAIN)[0]) if i.message in (0, 1, 3)], PLAIN)
    assert rendered.sources == [0, 1, -1, 3]
    assert [(i.message, i.text, i.why) for i in rendered.inserted] == [(2, PLACEHOLDER, "placeholder")]


def test_neighbours_of_the_source_stay_apart() -> None:
    assert kept(SIDE_BY_SIDE, 0, 1, 2, 3) == SIDE_BY_SIDE[:4]
    assert kept(SIDE_BY_SIDE, 0, 1, 4) == [SIDE_BY_SIDE[0], user(text("b"), text("e"))]


def test_a_tail_never_touches_the_head() -> None:
    items = [i for i in flat(WIRE.parse(PLAIN)[0]) if i.message in (0, 1, 2, 4)]
    rendered = WIRE.render(items, PLAIN, first=3)
    assert rendered.messages == [agent(PLACEHOLDER), PLAIN[4]]


def test_a_message_never_ends_in_thinking() -> None:
    items = [i for i in flat(WIRE.parse(TOOLS)[0]) if i.kind is not Kind.ASSISTANT]
    assert [len(m["content"]) for m in WIRE.render(items, TOOLS).messages if m["role"] == "assistant"] == [3, 2]


def test_results_keep_their_shape_and_marks() -> None:
    history = [
        user("Go."),
        agent(use("a"), use("b")),
        user(result("a", [text("x", **MARK), text("y")], **MARK), result("b")),
    ]
    blocks = edit(history, Kind.RESULT, "[gone]", Fidelity.STUB).messages[2]["content"]
    assert blocks == [result("a", [text("[gone]", **MARK)], **MARK), result("b", "[gone]")]
    assert [i.why for i in edit(history, Kind.RESULT, "[gone]", Fidelity.STUB).inserted] == ["stub", "stub"]


def test_media_becomes_text_and_keeps_the_mark() -> None:
    history = [user({**IMAGE, **MARK}, text("See."))]
    assert edit(history, Kind.MEDIA, "[image]").messages == [user(text("[image]", **MARK), text("See."))]


@pytest.mark.parametrize("value", ["", " \n"])
def test_blank_replacements_leave_no_blank_block(value: str) -> None:
    assert edit(PLAIN, Kind.ASSISTANT, value).messages == [user(text("Goal."), text("More.", **MARK), text("Next."))]
    blocks = edit(TOOLS, Kind.RESULT, value).messages[2]["content"]
    assert blocks[0]["content"] == [IMAGE, FOUND]
    assert WIRE.check(edit(TOOLS, Kind.RESULT, value).messages) == []


def test_parts_of_a_result_can_go() -> None:
    items = [i for i in flat(WIRE.parse(TOOLS)[0]) if i.kind not in (Kind.MEDIA, Kind.DOCUMENT)]
    assert WIRE.render(items, TOOLS).messages[2]["content"][0] == result("a", [text("one"), text("two")])


def test_arguments_are_objects() -> None:
    assert edit(TOOLS, Kind.CALL, '{"y": 2}').messages[1]["content"][2] == use("a", y=2)
    assert edit(TOOLS, Kind.CALL, "[cut").messages[1]["content"][2]["input"] == {"text": "[cut"}


@pytest.mark.parametrize(
    ("history", "positions"),
    [
        ([user("a"), agent(use("x")), user("b")], ["messages[1].content[0]"]),
        ([user("a"), agent(use("x")), agent("b"), user("c")], ["messages[1].content[0]"]),
        ([user("a"), agent(use("x"), use("y")), user(result("x"), text("b"))], ["messages[1].content[1]"]),
        ([user("a"), agent(use("x")), user(text("b"), result("x"))], ["messages[2].content[1]"]),
        ([user("a"), agent(use("x")), user(result("x"), result("x"))], ["messages[2].content[1]"]),
        ([user("a"), agent("b"), user(result("x"))], ["messages[2].content[0]"]),
        ([user("a"), agent(use("x"), use("x")), user(result("x"))], ["messages[1].content[1]"]),
        ([user("a"), agent(text(" ")), user("b")], ["messages[1].content[0]"]),
        ([user("a"), agent(""), user("b")], ["messages[1].content"]),
        ([user("a"), agent(thinking()), user("b")], ["messages[1]"]),
        ([user("a"), agent({**thinking(), **MARK}, text("b")), user("c")], ["messages[1].content[0]"]),
        ([user("a"), agent(SERVER, text("b")), user("c")], ["messages[1].content[0]"]),
        ([user("a"), agent(SERVED, text("b")), user("c")], ["messages[1].content[0]"]),
        ([user(*[text("a", **MARK)] * 5)], ["messages[0].content[4]"]),
        ([user(result("x", [text("")]))], ["messages[0].content[0]", "messages[0].content[0].content[0]"]),
        ([user("a"), {"role": "tool", "content": "b"}, 7], ["messages[1]", "messages[2]"]),
        ([user("a"), {"role": "user"}], ["messages[1].content"]),
        ([user(use("x"))], ["messages[0].content[0]"]),
    ],
)
def test_broken_rules(history: list[Any], positions: list[str]) -> None:
    assert rules(history) == positions


def test_marks_are_counted_with_the_system() -> None:
    history = [user(text("a", **MARK), text("b", **MARK), text("c", **MARK))]
    assert rules(history, system=[text("s", **MARK)]) == []
    assert rules(history, system=[text("s", **MARK), text("t", **MARK)]) == ["messages[0].content[2]"]


def test_softer_rules() -> None:
    assert rules([agent("a"), user("b")], "compatibility") == ["messages[0]"]
    assert rules([user("a"), agent("b ")], "compatibility") == ["messages[1]", "messages[1]"]
    split = [user("a"), agent(use("x"), use("y")), user(result("x")), user(result("y"))]
    assert rules(split, "compatibility") == ["messages[3].content[0]"]
    assert rules(split) == []
    assert rules([user("a"), agent(use("x"))], "pending") == ["messages[1].content[0]"]
    half = [user("a"), agent(use("x"), use("y")), user(result("x"))]
    assert rules(half, "pending") == ["messages[1].content[1]"]
    assert rules(half) == []
    assert WIRE.repair(half).messages == half
    assert [p.message for p in WIRE.check([user("a"), agent(use("x"))])] == [1]


def test_start_skips_what_was_checked() -> None:
    broken = [user("a"), agent(""), user("b"), agent(use("x")), user(result("x"))]
    assert WIRE.check(broken, start=3) == []
    again = [*TOOLS, agent(use("c")), user(result("c"))]
    assert rules(again, start=7) == ["messages[7].content[0]"]


@pytest.mark.parametrize(
    ("history", "mended"),
    [
        (
            [user("a"), agent(use("x"), use("y")), user(text("b"), result("y"))],
            [
                user("a"),
                agent(use("x"), use("y")),
                user(result("y"), result("x", INTERRUPTED, is_error=True), text("b")),
            ],
        ),
        (
            [user("a"), agent(use("x")), agent("b"), user("c")],
            [user("a"), agent(use("x")), user(result("x", INTERRUPTED, is_error=True)), agent("b"), user("c")],
        ),
        (
            [
                user("a"),
                agent(use("x")),
                user(result("x", "aborted by user"), text("b")),
                agent("c"),
                user(result("x", "41%")),
            ],
            [user("a"), agent(use("x")), user(result("x", "41%"), text("b")), agent("c")],
        ),
        (
            [user("a"), agent(use("x")), user(result("x", "fine"), result("x", "Error: gone"))],
            [user("a"), agent(use("x")), user(result("x", "fine"))],
        ),
        ([user(result("x")), agent("b"), user("c")], [user(PLACEHOLDER), agent("b"), user("c")]),
        (
            [user("a"), agent(text(""), thinking()), user("b"), agent(text("\n"), text("c")), user("d")],
            [user(text("a"), text("b")), agent(text("c")), user("d")],
        ),
        ([user("a"), agent(use("x"))], [user("a"), agent(use("x"))]),
        ([user("a"), agent(thinking()), user("b")], [user(text("a"), text("b"))]),
        ([user("a"), agent(text("k"), SERVER), user("b")], [user("a"), agent(text("k")), user("b")]),
        ([user("a"), agent(SERVED, text("k")), user("b")], [user("a"), agent(text("k")), user("b")]),
        ([user("a"), agent(SERVER)], [user("a"), agent(SERVER)]),
        ([agent("hello"), user("a")], [user(PLACEHOLDER), agent("hello"), user("a")]),
        (
            [user("a"), agent(use("x")), user(result("x", "1")), agent(use("x")), user(result("x", "2"))],
            [user("a"), agent(use("x")), user(result("x", "1")), agent(use("x_2")), user(result("x_2", "2"))],
        ),
        (
            [user("a"), agent(use("x"), use("x")), user(result("x", "1"), result("x", "2"))],
            [user("a"), agent(use("x"), use("x_2")), user(result("x", "1"), result("x_2", "2"))],
        ),
    ],
)
def test_repair(history: list[Any], mended: list[Any]) -> None:
    repaired = WIRE.repair(history)
    assert repaired.messages == mended
    assert bool(repaired.notes) == (history != mended)
    assert rules(repaired.messages) == []


def test_each_thing_that_is_repaired_is_noted_once() -> None:
    assert WIRE.repair([user("a"), agent("b"), {"role": "user", "content": []}]).notes == [
        "messages[2]: empty message dropped"
    ]


def test_bodies() -> None:
    body = {"model": "m", "system": "s", "messages": PLAIN, "tools": [{"name": "run"}], "max_tokens": 5}
    assert WIRE.split_body(body) == (PLAIN, "s", [{"name": "run"}])
    joined = WIRE.join_body(body, PLAIN[2:], "t")
    assert joined == {**body, "system": "t", "messages": PLAIN[2:]}
    assert list(joined) == list(body)
    assert WIRE.join_body({"messages": []}, [], "t") == {"messages": [], "system": "t"}


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_cases(path: Path) -> None:
    case = json.loads(path.read_text())
    if case["format"] != "anthropic":
        return
    history = case["messages"]
    hard = [p for p in WIRE.check(history, system=case.get("system")) if p.kind != "compatibility"]
    assert bool(hard) == (case.get("valid_input") is False)
    repaired = WIRE.repair(history)
    assert rules(repaired.messages) == []
    assert bool(repaired.notes) == bool(hard)
    units = units_of(flat(WIRE.parse(repaired.messages)[0]))
    for gone in range(1, len(units) - 1):
        items = sorted((i for u in units if u.index != gone for i in u.items), key=lambda i: (i.message, i.part))
        out = WIRE.render(items, repaired.messages).messages
        assert rules(out) == rules(out, "pending") == []


LEAF = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", " ", "x", "y", "user", "text"])
KEYS = st.sampled_from(
    ["type", "role", "content", "text", "id", "name", "input", "tool_use_id", "source", "cache_control"]
)
TYPES = ["text", "tool_use", "tool_result", "thinking", "image", "document", "search_result", "server_tool_use", 3]
JUNK = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=8
)
BLOCK = st.builds(
    lambda kind, rest: {**rest, "type": kind}, st.sampled_from(TYPES), st.dictionaries(KEYS, JUNK, max_size=4)
)
ID = st.sampled_from(["x", "y", "z"])
SOUND = (
    st.builds(result, ID, st.sampled_from(["ok", "aborted", INTERRUPTED])) | st.builds(use, ID) | st.builds(text, LEAF)
)
CONTENT = JUNK | st.lists(BLOCK | SOUND | JUNK, max_size=4)
MESSAGE = JUNK | st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "x"]), "content": CONTENT}
)


@given(st.lists(MESSAGE.filter(lambda one: one is not None), max_size=6), JUNK)
def test_nothing_raises_on_garbage(history: list[Any], system: Any) -> None:
    WIRE.check(history, system=system)
    WIRE.repair(history)
    WIRE.parse_system(system)
    groups = WIRE.parse(history)[0]
    assert all(groups)
    items: list[Item] = flat(groups)
    rendered = WIRE.render(items, history)
    assert all(new is old for new, old in zip(rendered.messages, history, strict=True))
    WIRE.render([replace(item, text="{}", fidelity=Fidelity.STUB) for item in items], history)


TURNS = st.builds(
    lambda role, blocks: {"role": role, "content": blocks},
    st.sampled_from(["user", "assistant"]),
    st.lists(
        st.builds(result, ID)
        | st.builds(use, ID)
        | st.builds(text, st.sampled_from(["", "hi"]))
        | st.sampled_from([SERVER, SERVED, thinking()]),
        max_size=4,
    ),
)


@given(st.lists(TURNS, max_size=8))
def test_repair_mends_what_it_promises(history: list[Any]) -> None:
    """What repair does not do: blocks in a message of the wrong role."""
    repaired = WIRE.repair(history).messages
    left = {p.rule for p in WIRE.check(repaired) if p.kind == "structure"}
    assert left <= {"tool_use is in an assistant message", "thinking is in an assistant message"}
    assert WIRE.repair(repaired).messages == repaired
