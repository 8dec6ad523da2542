"""Gemini: the contract, then what only this wire has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.items import Fidelity, Kind, units_of
from jettison.wire.gemini import Gemini
from jettison.wire.turns import INTERRUPTED, PLACEHOLDER
from unit.wire.contract import WireContract, flat

WIRE = Gemini()
CASES = Path(__file__).parents[2] / "cases" / "data"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA="
SIGNED = {"thoughtSignature": "sig=="}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"text": value, **more}


def parts(*given: Any) -> list[Any]:
    return [text(one) if isinstance(one, str) else one for one in given]


def user(*given: Any) -> dict[str, Any]:
    return {"role": "user", "parts": parts(*given)}


def model(*given: Any) -> dict[str, Any]:
    return {"role": "model", "parts": parts(*given)}


def call(name: str, call_id: str | None = None, **args: Any) -> dict[str, Any]:
    return {"functionCall": {**({"id": call_id} if call_id else {}), "name": name, "args": args}}


def reply(name: str, value: Any = "ok", call_id: str | None = None, **more: Any) -> dict[str, Any]:
    response = value if isinstance(value, dict) else {"output": value}
    return {"functionResponse": {**({"id": call_id} if call_id else {}), "name": name, "response": response, **more}}


DEAD = {"error": INTERRUPTED}
IMAGE = {"inlineData": {"mimeType": "image/png", "data": PNG}}
FILE = {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x.test/rulebook.pdf"}}
CODE = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
RAN = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}

PLAIN = [user("Goal."), model("Yes."), user("More."), model("Done."), user("Next.")]
TOOLS = [
    user("Goal.", IMAGE, FILE),
    model(text("hm", thought=True), {**call("read", path="a"), **SIGNED}, call("read", path="é")),
    user(reply("read", "A"), reply("read", {"rows": [1]}, parts=[IMAGE])),
    model(CODE, RAN, text("Both.", **SIGNED)),
    user("Then?"),
    model("So.", call("list", "i1"), call("run", "i2")),
    user(reply("run", {"error": "no"}, "i2"), reply("list", {"result": "x"}, "i1"), "and hurry"),
    model(text("hm", thought=True, **SIGNED), "Done."),
    user("Thanks."),
]
SNAKE = [
    user("Goal.", {"inline_data": {"mime_type": "image/png", "data": PNG}}),
    model({"function_call": {"name": "run", "args": None}, "thought_signature": "s"}),
    {"role": "function", "parts": [{"function_response": {"name": "run", "response": {"result": "ok"}}}]},
    model("Yes."),
    {"parts": [{"text": "Next."}], "odd": 1},
]


def rules(history: list[Any], kind: str = "structure", **more: Any) -> list[str]:
    return [problem.position for problem in WIRE.check(history, **more) if problem.kind == kind]


def kept(history: list[Any], *contents: int) -> list[Any]:
    return WIRE.render([i for i in flat(WIRE.parse(history)[0]) if i.message in contents], history).messages


def edit(history: list[Any], kind: Kind, value: str, fidelity: Fidelity = Fidelity.COMPRESSED) -> Any:
    items = [
        replace(item, text=value, fidelity=fidelity) if item.kind is kind else item
        for item in flat(WIRE.parse(history)[0])
    ]
    return WIRE.render(items, history)


class TestContract(WireContract):
    wire = WIRE
    histories: ClassVar = [PLAIN, TOOLS, SNAKE]


def test_items_of_each_part() -> None:
    items = flat(WIRE.parse(TOOLS)[0])
    assert [(i.message, i.kind.value, i.unit, i.step, i.call_id) for i in items] == [
        (0, "user", 0, 0, None),
        (0, "media", 0, 0, None),
        (0, "media", 0, 0, None),
        (1, "reasoning", 1, 1, None),
        (1, "call", 1, 1, "#0"),
        (1, "call", 1, 1, "#1"),
        (2, "result", 1, 1, "#0"),
        (2, "result", 1, 1, "#1"),
        (2, "media", 1, 1, None),
        (3, "opaque", 2, 2, None),
        (3, "opaque", 2, 2, None),
        (3, "assistant", 2, 2, None),
        (4, "user", 3, 2, None),
        (5, "assistant", 4, 3, None),
        (5, "call", 4, 3, "i1"),
        (5, "call", 4, 3, "i2"),
        (6, "result", 4, 3, "i2"),
        (6, "result", 4, 3, "i1"),
        (6, "user", 5, 3, None),
        (7, "reasoning", 6, 4, None),
        (7, "assistant", 6, 4, None),
        (8, "user", 7, 4, None),
    ]
    assert [items[at].text for at in (4, 6, 7, 16, 17)] == ['{"path": "a"}', "A", '{"rows": [1]}', "no", "x"]
    assert [items[at].editable for at in (4, 5, 11, 13)] == [False, True, False, True]
    assert (items[16].is_error, items[17].is_error) == (True, False)
    assert [items[at].bound for at in (3, 19)] == [False, True]
    assert [(items[at].note, items[at].fixed) for at in (1, 2)] == [
        ("image/png 640x480", 4 * 258),
        ("rulebook.pdf", 2580),
    ]


def test_signatures_are_not_counted() -> None:
    items = flat(WIRE.parse(TOOLS)[0])
    assert not any("sig==" in item.text + item.extra for item in items)


def test_snake_case() -> None:
    items = flat(WIRE.parse(SNAKE)[0])
    kinds = [i.kind for i in items]
    assert kinds == [Kind.USER, Kind.MEDIA, Kind.CALL, Kind.RESULT, Kind.ASSISTANT, Kind.USER]
    assert (items[2].text, items[2].editable, items[3].text, items[3].call_id) == ("{}", False, "ok", "#0")
    assert edit(SNAKE, Kind.RESULT, "[cut]").messages[2]["parts"] == [
        {"function_response": {"name": "run", "response": {"result": "[cut]"}}}
    ]
    assert edit(SNAKE, Kind.CALL, '{"x": 1}').messages[1]["parts"] == [
        {"function_call": {"name": "run", "args": {"x": 1}}, "thought_signature": "s"}
    ]


def test_system_items() -> None:
    for system in ("Be brief.", {"parts": [{"text": "Be brief."}]}, ["Be brief."], {"text": "Be brief."}):
        (item,) = WIRE.parse_system(system)
        assert (item.kind, item.text, item.message, item.unit) == (Kind.INSTRUCTION, "Be brief.", -1, -1)
    assert WIRE.parse_system(None) == ()


def test_dropping_merges_users_and_separates_models() -> None:
    assert kept(PLAIN, 0, 2, 4) == [user("Goal.", "More.", "Next.")]
    assert kept(PLAIN, 0, 1, 3, 4) == [PLAIN[0], PLAIN[1], user(PLACEHOLDER), *PLAIN[3:]]
    assert kept(PLAIN, 1, 2) == [user(PLACEHOLDER), *PLAIN[1:3]]


def test_a_content_of_thought_alone_is_dropped() -> None:
    items = [i for i in flat(WIRE.parse(TOOLS)[0]) if i.kind is not Kind.ASSISTANT]
    assert WIRE.render(items, TOOLS).messages[6:] == [user(*TOOLS[6]["parts"], "Thanks.")]


def test_results_keep_their_key() -> None:
    out = edit(TOOLS, Kind.RESULT, "[cut]")
    responses = [part["functionResponse"]["response"] for at in (2, 6) for part in out.messages[at]["parts"][:2]]
    assert responses == [{"output": "[cut]"}, {"output": "[cut]"}, {"error": "[cut]"}, {"result": "[cut]"}]
    assert out.messages[2]["parts"][1]["functionResponse"]["parts"] == [IMAGE]


def test_media_becomes_text() -> None:
    out = edit(TOOLS, Kind.MEDIA, "[image]", Fidelity.STUB)
    assert out.messages[0] == user("Goal.", "[image]", "[image]")
    nested = out.messages[2]["parts"][1]["functionResponse"]
    assert nested == {"name": "read", "response": {"rows": [1], "omitted": "[image]"}}
    assert [i.why for i in out.inserted] == ["stub"] * 3


@pytest.mark.parametrize("value", ["", " \n"])
def test_blank_replacements_leave_no_blank_part(value: str) -> None:
    assert edit(PLAIN, Kind.ASSISTANT, value).messages == [user("Goal.", "More.", "Next.")]


@pytest.mark.parametrize(
    ("history", "positions"),
    [
        ([user("a"), model(call("x")), user("b")], ["contents[1].parts[0]"]),
        ([user("a"), model(call("x")), model("b")], ["contents[1].parts[0]"]),
        ([user("a"), model(call("x"), call("y")), user(reply("y"), "b")], ["contents[1].parts[0]"]),
        ([user("a"), model(call("x")), user(reply("x"), reply("x"))], ["contents[2].parts[1]"]),
        (
            [user("a"), model(call("x", "i")), user(reply("x", "ok", "i"), reply("x", "ok", "i"))],
            ["contents[2].parts[1]"],
        ),
        ([user("a"), model(call("x", "i")), user(reply("x", "ok", "j"))], ["contents[2].parts[0]"]),
        ([user("a"), model("b"), user(reply("x"))], ["contents[2].parts[0]"]),
        ([user("a"), model("b"), model(call("x")), user(reply("x"))], ["contents[2].parts[0]"]),
        ([user("a"), model(call("x", "i"), call("x", "i")), user(reply("x"), reply("x"))], ["contents[1].parts[1]"]),
        ([model("a"), user("b")], ["contents[0]"]),
        ([user("a"), model(""), user("b")], ["contents[1].parts[0]"]),
        ([user("a"), {"role": "user", "parts": []}], ["contents[1]"]),
        (
            [user("a"), 7, {"role": "tool", "parts": [text("b")]}, {"role": "user"}],
            [f"contents[{i}]" for i in (1, 2, 3)],
        ),
        ([user("a", 7, call("x"))], ["contents[0].parts[1]", "contents[0].parts[2]"]),
    ],
)
def test_broken_rules(history: list[Any], positions: list[str]) -> None:
    assert rules(history) == positions


def test_softer_rules() -> None:
    assert rules([user("a"), model(call("x"))], "pending") == ["contents[1].parts[0]"]
    half = [user("a"), model(call("x"), call("y")), user(reply("x"))]
    assert rules(half, "pending") == ["contents[1].parts[1]"]
    assert rules(half) == []
    assert WIRE.repair(half).messages == half
    assert rules([user("a"), model(" ")], "compatibility") == ["contents[1].parts[0]"]
    assert WIRE.check([user("a"), model("b", text("", **SIGNED))]) == []
    assert WIRE.check([user("a"), model(""), user("b")], start=2) == []


@pytest.mark.parametrize(
    ("history", "mended"),
    [
        (
            [user("a"), model(call("x"), call("y", "i")), user("b", reply("x"))],
            [user("a"), model(call("x"), call("y", "i")), user(reply("x"), reply("y", DEAD, "i"), "b")],
        ),
        (
            [user("a"), model(call("x")), model("b"), user("c")],
            [user("a"), model(call("x")), user(reply("x", DEAD)), model("b"), user("c")],
        ),
        (
            [user("a"), model(call("x", "i")), user("b"), model("c"), user(reply("x", "41", "i"), "d")],
            [user("a"), model(call("x", "i")), user(reply("x", "41", "i"), "b"), model("c"), user("d")],
        ),
        (
            [user("a"), model(call("x", "i")), user(reply("x", "fine", "i"), reply("x", {"error": "e"}, "i"))],
            [user("a"), model(call("x", "i")), user(reply("x", "fine", "i"))],
        ),
        ([user("a"), model(call("x")), user(reply("x"), reply("x"))], [user("a"), model(call("x")), user(reply("x"))]),
        ([user(reply("x")), model("b"), user("c")], [user(PLACEHOLDER), model("b"), user("c")]),
        ([user("a"), model(""), user("b", " ")], [user("a", "b")]),
        ([user("a"), model(call("x"))], [user("a"), model(call("x"))]),
        (
            [user("a"), model(call("x"), call("x")), user(reply("x", "1")), user(reply("x", "2"), "b")],
            [user("a"), model(call("x"), call("x")), user(reply("x", "1"), reply("x", "2")), user("b")],
        ),
        (
            [user("a"), model("b", call("x"), call("y")), user(reply("y")), user(reply("x"))],
            [user("a"), model("b", call("x"), call("y")), user(reply("y"), reply("x"))],
        ),
        ([model("hello"), user("a")], [user(PLACEHOLDER), model("hello"), user("a")]),
        (
            [user("a"), model("b"), model(""), model(call("x")), user(reply("x"))],
            [user("a"), model("b", call("x")), user(reply("x"))],
        ),
        (
            [user("a"), model("b"), model(call("x")), model(call("y")), user(reply("y"), reply("x"))],
            [user("a"), model("b", call("x"), call("y")), user(reply("y"), reply("x"))],
        ),
        (
            [user("a"), model(call("x")), model(call("y")), user(reply("y"))],
            [user("a"), model(call("x")), user(reply("x", DEAD)), model(call("y")), user(reply("y"))],
        ),
    ],
)
def test_repair(history: list[Any], mended: list[Any]) -> None:
    repaired = WIRE.repair(history)
    assert repaired.messages == mended
    assert bool(repaired.notes) == (history != mended)
    assert rules(repaired.messages) == []


def test_each_thing_that_is_repaired_is_noted_once() -> None:
    assert WIRE.repair([user("a"), {"role": "model", "parts": []}, user("b")]).notes == [
        "contents[1]: empty content dropped"
    ]


def test_bodies() -> None:
    body = {"systemInstruction": {"parts": [{"text": "s"}]}, "contents": PLAIN, "tools": [{}], "generationConfig": {}}
    assert WIRE.split_body(body) == (PLAIN, body["systemInstruction"], [{}])
    joined = WIRE.join_body(body, PLAIN[2:], {"parts": []})
    assert joined == {**body, "contents": PLAIN[2:], "systemInstruction": {"parts": []}}
    assert list(joined) == list(body)
    sdk = {"model": "m", "contents": "Hi.", "config": {"system_instruction": "s", "tools": [{}], "temperature": 0}}
    messages, system, tools = WIRE.split_body(sdk)
    assert (messages, system, tools) == ([user("Hi.")], "s", [{}])
    assert WIRE.join_body(sdk, messages, system) == sdk
    changed = WIRE.join_body(sdk, [user("Ho.")], "t")
    assert changed == {**sdk, "contents": [user("Ho.")], "config": {**sdk["config"], "system_instruction": "t"}}
    assert WIRE.join_body({"contents": []}, [], "t") == {"contents": [], "systemInstruction": "t"}
    assert WIRE.join_body({"contents": [], "config": {}}, [], "t")["config"] == {"system_instruction": "t"}


@pytest.mark.parametrize("path", sorted(CASES.glob("g*.json")), ids=lambda path: path.stem)
def test_cases(path: Path) -> None:
    history = json.loads(path.read_text())["contents"]
    assert WIRE.check(history) == []
    units = units_of(flat(WIRE.parse(history)[0]))
    for gone in range(1, len(units) - 1):
        items = sorted((i for u in units if u.index != gone for i in u.items), key=lambda i: (i.message, i.part))
        assert WIRE.check(WIRE.render(items, history).messages) == []


LEAF = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", " ", "x", "y", "user", "model"])
KEYS = st.sampled_from(
    [
        "role",
        "parts",
        "text",
        "functionCall",
        "function_response",
        "inlineData",
        "id",
        "name",
        "args",
        "response",
        "thought",
    ]
)
JUNK = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=9
)
NAME = st.sampled_from(["x", "y"])
ID = st.sampled_from([None, "i", "j"])
SOUND = (
    st.builds(call, NAME, ID) | st.builds(reply, NAME, st.sampled_from(["ok", "aborted"]), ID) | st.builds(text, NAME)
)
CONTENT = JUNK | st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "model", "function", "x"]), "parts": JUNK | st.lists(SOUND | JUNK, max_size=4)}
)


@given(st.lists(CONTENT.filter(lambda one: one is not None), max_size=6), JUNK)
def test_nothing_raises_on_garbage(history: list[Any], system: Any) -> None:
    WIRE.check(history, system=system)
    WIRE.repair(history)
    WIRE.parse_system(system)
    groups = WIRE.parse(history)[0]
    assert all(groups)
    items = flat(groups)
    rendered = WIRE.render(items, history)
    assert all(new is old for new, old in zip(rendered.messages, history, strict=True))
    WIRE.render([replace(item, text="{}", fidelity=Fidelity.STUB) for item in items], history)


TURNS = st.builds(
    lambda role, given: {"role": role, "parts": given},
    st.sampled_from(["user", "model"]),
    st.lists(
        st.builds(call, NAME, ID) | st.builds(reply, NAME, st.just("ok"), ID) | st.builds(text, st.just("t")),
        max_size=4,
    ),
)


@given(st.lists(TURNS, max_size=8))
def test_repair_mends_what_it_promises(history: list[Any]) -> None:
    """What repair does not do: ids used twice, and parts in the wrong role."""
    repaired = WIRE.repair(history).messages
    left = {p.rule for p in WIRE.check(repaired) if p.kind == "structure"}
    assert left <= {"call ids are unique in a turn", "a functionCall is in a model content"}
    assert WIRE.repair(repaired).messages == repaired
