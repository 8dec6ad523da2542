"""Codex CLI rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

A line is `{"timestamp", "type", "payload"}` with the types `session_meta`, `turn_context`, `response_item`,
`compacted` and `event_msg`; the first versions wrote the response items bare. Items are those of the Responses API.
A `compacted` line replaces what stood before it: by its `replacement_history`, else by its message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jettison.replay.formats.base import Row, Rows, Skipped
from jettison.replay.readers import Recorded

__all__ = ["claims", "histories"]

_LINES = ("session_meta", "turn_context", "response_item", "compacted", "event_msg")
_ITEMS = (
    *("message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"),
    *("local_shell_call", "local_shell_call_output", "web_search_call"),
)


def claims(row: Row) -> bool:
    bare = "timestamp" in row and "id" in row and ("instructions" in row or "git" in row)
    return (row.get("type") in _LINES and isinstance(row.get("payload"), dict)) or bare


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """The session as its next request would hold it."""
    items: list[Row] = []
    system: str | None = None
    model: str | None = None
    session, notes = "", []
    for _, row in rows:
        kind, payload = row.get("type"), row.get("payload")
        if not isinstance(payload, dict):
            kind, payload = ("response_item", row) if kind in _ITEMS else ("session_meta", row)
        if kind == "session_meta":
            session, system = str(payload.get("id") or session), _instructions(payload) or system
        elif kind == "turn_context":
            model = str(payload.get("model") or "") or model
        elif kind == "compacted":
            items = _compacted(payload)
            notes = ["the session was compacted: the history begins at what replaced it"]
        elif kind == "response_item" and payload.get("type") in _ITEMS:
            items.append(_item(payload))
    if not items:
        yield Skipped(name, "a Codex rollout without response items")
        return
    yield Recorded("openai-responses", items, system, model=model, name=name, id=session, notes=tuple(notes))


def _instructions(payload: Row) -> str | None:
    base: Any = payload.get("base_instructions") or payload.get("instructions")
    text = base.get("text") if isinstance(base, dict) else base
    return text if isinstance(text, str) and text else None


def _compacted(payload: Row) -> list[Row]:
    kept = payload.get("replacement_history")
    if isinstance(kept, list) and kept:
        return [_item(item) for item in kept if isinstance(item, dict)]
    text = str(payload.get("message") or "")
    return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}] if text else []


def _item(payload: Row) -> Row:
    """An item without the fields that only the log has."""
    return {key: value for key, value in payload.items() if value is not None and key not in ("timestamp", "metadata")}
