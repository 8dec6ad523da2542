"""LangChain messages as they are dumped: `messages_to_dict`, `dumpd`/`dumps`, and `model_dump`; alone or in a state.

`messages_to_dict` gives `{"type": "ai", "data": {…}}`, `dumpd` `{"lc": 1, "id": […, "AIMessage"], "kwargs": {…}}`,
`model_dump` the fields themselves. A LangGraph state holds them under `messages`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jettison.replay.formats.base import Row, Rows, Skipped, text_in
from jettison.replay.formats.chat import Message, assistant, call, said, tool
from jettison.replay.readers import Recorded

__all__ = ["claims", "histories"]

_ROLES = {"human": "user", "user": "user", "system": "system", "developer": "developer", "chat": "user"}
_TYPES = (*_ROLES, "ai", "AIMessageChunk", "tool", "function")
_STATES = ("messages", "values", "channel_values", "output", "input")


def claims(row: Row) -> bool:
    return _fields(row) is not None or _state(row) is not None


def _fields(row: Any) -> tuple[str, Row] | None:
    """(type, fields) of a dumped message."""
    if not isinstance(row, dict) or "role" in row:
        return None
    if row.get("lc") and isinstance(row.get("kwargs"), dict):
        name = str((row.get("id") or [""])[-1])
        kind = name.removesuffix("Chunk").removesuffix("Message").lower()
        return (kind, row["kwargs"]) if kind in _TYPES else None
    if row.get("type") not in _TYPES:
        return None
    data = row.get("data", row)
    return (str(row["type"]), data) if isinstance(data, dict) and "content" in data else None


def _state(row: Any, depth: int = 0) -> list[Any] | None:
    """The message list in a state; states can be nested in what a run gave back."""
    if not isinstance(row, dict) or depth > 3:
        return None
    for key in _STATES:
        inner = row.get(key)
        if isinstance(inner, list) and inner and _fields(inner[0]):
            return inner
        found = _state(inner, depth + 1)
        if found:
            return found
    return None


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a state; bare messages are one history together."""
    bare: list[Message] = []
    for number, row in rows:
        where, state = f"{name} row {number}", _state(row)
        one = _fields(row)
        if state is not None:
            messages = [_message(*fields) for entry in state if (fields := _fields(entry))]
            run = str(row.get("thread_id") or row.get("run_id") or row.get("id") or "")
            yield Recorded("openai-chat", messages, name=where, id=run, task=str(row.get("task") or ""))
        elif one is not None:
            bare.append(_message(*one))
        else:
            yield Skipped(where, "neither a dumped message nor a state that holds some")
    if bare:
        yield Recorded("openai-chat", bare, name=name)


def _message(kind: str, data: Row) -> Message:
    content = data.get("content")
    if isinstance(content, list):  # calls stand in `tool_calls` as well
        content = [block for block in content if not (isinstance(block, dict) and block.get("type") == "tool_use")]
    text = text_in(content)
    if kind in ("tool", "function"):
        return tool(str(data.get("tool_call_id") or data.get("name") or ""), text)
    if kind.startswith(("ai", "AI")):
        calls = [c for c in data.get("tool_calls") or () if isinstance(c, dict)]
        raw = (data.get("additional_kwargs") or {}).get("tool_calls") if not calls else None
        made = [call(str(c.get("id")), str(c.get("name")), c.get("args")) for c in calls]
        return assistant(text, made or list(raw or ()))
    return said(_ROLES.get(kind, "user"), text)
