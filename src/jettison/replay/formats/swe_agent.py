"""SWE-agent trajectories (`<instance>.traj`): one JSON object with `history`, `trajectory` and `info`.

By https://swe-agent.com/latest/usage/trajectories/: `history` holds the messages with fields of its own (`agent`,
`message_type`, `thought`, `action`, `is_demo`); with function calling they have `tool_calls` and the answers
`tool_call_ids`. Without it the action stands in the text: its words are taken as the arguments of a tool `bash`, its
observation as the result, so that there is something to measure; a note says so. `trajectory[].query` is what the
model was shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jettison.replay.formats.base import Row, Rows, Skipped, text_in
from jettison.replay.formats.chat import Message, assistant, call, said, tool
from jettison.replay.readers import Recorded

__all__ = ["claims", "histories"]


def claims(row: Row) -> bool:
    return isinstance(row.get("trajectory"), list) and ("history" in row or "info" in row)


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a file."""
    for number, row in rows:
        history = row.get("history") or _shown(row["trajectory"])
        messages, spoken = _messages([entry for entry in history if isinstance(entry, dict)])
        if not messages:
            yield Skipped(f"{name} row {number}", "a trajectory without messages")
            continue
        instance = str(row.get("instance_id") or name.removesuffix(".traj"))
        notes = ("actions written in the text are taken as calls of a tool `bash`",) if spoken else ()
        yield Recorded("openai-chat", messages, name=name, id=instance, task=instance, notes=notes)


def _shown(steps: list[Any]) -> list[Row]:
    """The messages of the last step that kept its query, and its response."""
    for step in reversed(steps):
        query = step.get("query") if isinstance(step, dict) else None
        if isinstance(query, list) and query:
            return [*query, {"role": "assistant", "content": step.get("response", ""), "action": step.get("action")}]
    return []


def _messages(history: list[Row]) -> tuple[list[Message], int]:
    """(chat messages, how many actions stood in the text)."""
    messages: list[Message] = []
    spoken = 0
    open_: list[str] = []
    for at, entry in enumerate(history):
        role, text = entry.get("role"), text_in(entry.get("content"))
        if role == "assistant":
            calls = [made for raw in entry.get("tool_calls") or () if (made := _call(raw))]
            following = history[at + 1].get("role") if at + 1 < len(history) else None
            action = str(entry.get("action") or "").strip()
            if not calls and action and following == "user" and not entry.get("is_demo"):
                calls, spoken = [call(f"action-{at}", "bash", {"words": action.split()})], spoken + 1
                text = str(entry.get("thought") or "").strip()
            messages.append(assistant(text, calls))
            open_ = [made["id"] for made in calls]
        elif role == "tool" or (role == "user" and open_ and open_[0].startswith("action-")):
            ids = entry.get("tool_call_ids") or [entry.get("tool_call_id")]
            call_id = str(ids[0]) if ids[0] in open_ else open_[0] if open_ else ""
            messages.append(tool(call_id, text) if call_id else said("user", text))
            open_ = [other for other in open_ if other != call_id]
        else:
            messages.append(said(str(role), text))
    return messages, spoken


def _call(raw: Any) -> Message | None:
    function = raw.get("function") if isinstance(raw, dict) else None
    if not isinstance(function, dict):
        return None
    return call(str(raw.get("id") or ""), str(function.get("name") or ""), function.get("arguments"))
