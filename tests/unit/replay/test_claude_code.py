"""Claude Code sessions: the tree of rows becomes the messages that were sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jettison.errors import InvalidInput
from jettison.replay.readers import Recorded, read_bytes

Row = dict[str, Any]


def row(
    uuid: str, parent: str | None, kind: str, content: Any = None, message_id: str | None = None, **more: Any
) -> Row:
    message: Row = {"role": kind, "content": content}
    if message_id:
        message |= {"id": message_id, "model": "claude-opus-4-1", "type": "message", "usage": {"input_tokens": 1}}
    speaks = kind in ("user", "assistant")
    return (
        {"uuid": uuid, "parentUuid": parent, "type": kind, "isSidechain": False, "sessionId": "s"}
        | ({"message": message} if speaks else {})
        | more
    )


def use(name: str) -> Row:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "Read", "input": {"file": name}}


def answer(name: str) -> Row:
    return {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": f"text of {name}"}


def text(value: str) -> Row:
    return {"type": "text", "text": value}


def session(*rows: Row | str) -> Recorded:
    data = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in rows)
    return read_bytes(data.encode(), name="s.jsonl")


HEAD = row("u1", None, "user", "Fix the bug")


def test_rows_of_one_message_are_joined() -> None:
    found = session(
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        {"type": "summary", "summary": "An older title", "leafUuid": "zzz"},
        HEAD,
        row("a1", "u1", "assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}], "m1"),
        row("a2", "a1", "assistant", [text("I look.")], "m1"),
        row("a3", "a2", "assistant", [use("a")], "m1"),
        row("p1", "a3", "progress"),
        row("r1", "a3", "user", [answer("a")], toolUseResult={"stdout": "not sent"}),
        row("a4", "r1", "assistant", [text("Done.")], "m2"),
    )
    assert found.wire == "anthropic"
    assert found.model == "claude-opus-4-1"
    assert found.messages == [
        {"role": "user", "content": "Fix the bug"},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, text("I look."), use("a")],
        },
        {"role": "user", "content": [answer("a")]},
        {"role": "assistant", "content": [text("Done.")]},
    ]
    assert any("system prompt" in note for note in found.notes)


@pytest.mark.parametrize("tail", ["r2", "r1"])
def test_parallel_calls_hang_beside_the_path(tail: str) -> None:
    rows = [
        HEAD,
        row("a1", "u1", "assistant", [use("a")], "m1"),
        row("a2", "a1", "assistant", [use("b")], "m1"),
        row("r1", "a1", "user", [answer("a")]),
        row("r2", "a2", "user", [answer("b")]),
        row("a3", tail, "assistant", [text("Both read.")], "m2"),
    ]
    found = session(*rows)
    assert found.messages[1] == {"role": "assistant", "content": [use("a"), use("b")]}
    assert sorted(block["tool_use_id"] for block in found.messages[2]["content"]) == ["toolu_a", "toolu_b"]
    assert len(found.messages) == 4


def test_results_between_the_calls_of_one_message() -> None:
    found = session(
        HEAD,
        row("a1", "u1", "assistant", [use("a")], "m1"),
        row("r1", "a1", "user", [answer("a")]),
        row("a2", "r1", "assistant", [use("b")], "m1"),
        row("r2", "a2", "user", [answer("b")]),
    )
    assert [message["content"] for message in found.messages[1:]] == [[use("a"), use("b")], [answer("a"), answer("b")]]


def test_results_come_first_in_their_message() -> None:
    found = session(
        HEAD,
        row("a1", "u1", "assistant", [use("a")], "m1"),
        row("u2", "a1", "user", [text("reminder")], isMeta=True),
        row("r1", "u2", "user", [answer("a")]),
        row("u3", "r1", "user", "and now?"),
    )
    assert found.messages[-1]["content"] == [answer("a"), text("reminder"), text("and now?")]


def test_abandoned_branches_and_sidechains_are_left_out() -> None:
    found = session(
        HEAD,
        row("a1", "u1", "assistant", [text("one")], "m1"),
        row("u2", "a1", "user", "abandoned"),
        row("a2", "u2", "assistant", [text("abandoned too")], "m2"),
        row("u3", "a1", "user", "taken"),
        row("s1", None, "user", "sub-agent", isSidechain=True),
        row("e1", "u3", "assistant", [text("API Error: 529")], "m3", isApiErrorMessage=True),
        row("a3", "e1", "assistant", [text("two")], "m4"),
        row("s2", "s1", "assistant", [text("sub-agent says")], "m5", isSidechain=True),
    )
    assert [m["content"] for m in found.messages] == ["Fix the bug", [text("one")], "taken", [text("two")]]


def test_a_file_of_a_sub_agent_is_its_conversation() -> None:
    found = session(
        row("s1", None, "user", "task", isSidechain=True),
        row("s2", "s1", "assistant", [text("done")], "m1", isSidechain=True),
    )
    assert len(found.messages) == 2


def test_compaction_begins_at_the_summary() -> None:
    boundary = row(
        "b", None, "system", subtype="compact_boundary", logicalParentUuid="a1", compactMetadata={"trigger": "auto"}
    )
    found = session(
        HEAD,
        row("a1", "u1", "assistant", [text("old")], "m1"),
        boundary,
        row("u2", "b", "user", "Summary: …", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        row("at", "u2", "attachment", attachment={"type": "file"}),
        row("a2", "at", "assistant", [text("new")], "m2"),
        # a later compaction copies old rows to the end, with their own uuids
        HEAD,
    )
    assert [m["content"] for m in found.messages] == ["Summary: …", [text("new")]]
    assert any("compacted" in note for note in found.notes)
    assert any("1 attachment" in note for note in found.notes)


@pytest.mark.parametrize(
    "meta",
    [
        {"preservedSegment": {"headUuid": "u2", "anchorUuid": "su", "tailUuid": "a2"}},
        {"preservedMessages": {"anchorUuid": "su", "uuids": ["u2", "a2"], "allUuids": ["u2", "a2"]}},
    ],
)
@pytest.mark.parametrize("parent", ["su", "a2"])
def test_messages_kept_by_a_compaction_follow_its_summary(meta: Row, parent: str) -> None:
    found = session(
        HEAD,
        row("a1", "u1", "assistant", [text("old")], "m1"),
        row("u2", "a1", "user", "kept question"),
        row("a2", "u2", "assistant", [text("kept answer")], "m2"),
        row("b", None, "system", subtype="compact_boundary", compactMetadata=meta),
        row("su", "b", "user", "Summary", isCompactSummary=True),
        row("u3", parent, "user", "go on"),
    )
    assert [m["content"] for m in found.messages] == [
        [text("Summary"), text("kept question")],
        [text("kept answer")],
        "go on",
    ]


def test_a_missing_parent_and_a_cycle_end_the_walk() -> None:
    found = session(row("u2", "lost", "user", "hi"), row("a1", "u2", "assistant", [text("yes")], "m1"))
    assert len(found.messages) == 2
    assert "lost is not in the file" in found.notes[0]
    assert session(row("u1", "a1", "user", "hi"), row("a1", "u1", "assistant", [text("yes")], "m1")).messages


def test_rows_without_a_tree_are_read_in_order() -> None:
    """What `claude -p --output-format stream-json` prints."""
    found = session(
        {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Read"]},
        {"type": "user", "message": {"role": "user", "content": "hi"}, "session_id": "s"},
        {"type": "assistant", "message": {"role": "assistant", "id": "m1", "content": [use("a")]}, "session_id": "s"},
        {"type": "user", "message": {"role": "user", "content": "sub"}, "parent_tool_use_id": "toolu_a"},
        {"type": "user", "message": {"role": "user", "content": [answer("a")]}, "session_id": "s"},
        {"type": "result", "result": "…"},
    )
    assert [m["role"] for m in found.messages] == ["user", "assistant", "user"]


def test_a_last_line_still_being_written() -> None:
    found = session(HEAD, '{"type": "assistant", "mess')
    assert len(found.messages) == 1
    assert "line 2 is cut short" in found.notes[0]


def test_text_that_the_api_refuses_is_left_out() -> None:
    found = session(HEAD, row("a1", "u1", "assistant", [text(""), text(" \n"), text("yes")], "m1"))
    assert found.messages[1]["content"] == [text("yes")]
    with pytest.raises(InvalidInput, match="without messages"):
        session(row("u1", None, "user", ""))


def test_a_long_session_is_read_in_linear_time() -> None:
    rows: list[Row] = [HEAD]
    for i in range(4_000):
        rows.append(row(f"a{i}", rows[-1]["uuid"], "assistant", [use(str(i))], f"m{i}"))
        rows.append(row(f"r{i}", f"a{i}", "user", [answer(str(i))]))
    assert len(session(*rows).messages) == 8_001
