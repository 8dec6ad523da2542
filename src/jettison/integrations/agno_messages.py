"""Agno messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

A message that was not changed comes back as the same object. On a changed one everything but its text, its calls and
the media that were cut stays.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jettison.integrations.common import missing
from jettison.plan import Fitted

try:
    from agno.models.message import Message
except ImportError as error:
    raise missing("agno", "agno") from error

__all__ = ["from_fitted", "to_wire"]

_ROLES = {"developer": "system", "model": "assistant"}
_MEDIA = ("images", "audio", "videos", "files")
_TEXT = "text"
"""The `id` of the part that is a message's text, where it has media too."""


def to_wire(messages: Sequence[Any], compressed: bool = False) -> list[dict[str, Any]]:
    """Each message as one Chat Completions dict, for weighing and deciding; never sent as such.

    `compressed`: Agno sends a tool result's `compressed_content` where there is one.
    """
    return [_wire(message, compressed) for message in messages]


def from_fitted(fitted: Fitted, wire: Sequence[dict[str, Any]], messages: Sequence[Any]) -> list[Any]:
    """The Agno messages that the fitted ones stand for. `wire`: what `to_wire` made of `messages`."""
    out: list[Any] = []
    for at, message in zip(fitted.sources, fitted.messages, strict=True):
        if at < 0:
            out.append(Message(role="user", content=message["content"]))
        elif message is wire[at] or message == wire[at]:
            out.append(messages[at])
        else:
            out.append(_changed(messages[at], message))
    return out


def _wire(message: Any, compressed: bool) -> dict[str, Any]:
    role = _ROLES.get(message.role, message.role)
    out: dict[str, Any] = {"role": role, "content": _content(message, message.get_content(compressed))}
    if role == "tool":
        out["tool_call_id"] = message.tool_call_id
        out["content"] = out["content"] or " "
        if message.tool_name:
            out["name"] = message.tool_name
    elif message.name:
        out["name"] = message.name
    if role == "assistant":
        if message.tool_calls:
            calls = enumerate(message.tool_calls)
            out["tool_calls"] = [{**call, "index": place} for place, call in calls]
        if message.reasoning_content:
            out["reasoning_content"] = message.reasoning_content
        out["content"] = out["content"] or (None if message.tool_calls else " ")
    return out


def _content(message: Any, content: Any) -> Any:
    if isinstance(content, list):
        parts = [{**_part(part), "id": str(place)} for place, part in enumerate(content)]
    else:
        parts = [{"type": "text", "text": content, "id": _TEXT}] if content else []
    media = [{**_weighed(kind, entry), "id": f"{kind} {place}"} for kind, place, entry in _media(message)]
    return [*parts, *media] if media or isinstance(content, list) else content or ""


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return dict(part) if isinstance(part, Mapping) and part.get("type") else {"type": "other", "value": str(part)}


def _media(message: Any) -> Iterator[tuple[str, int, Any]]:
    for kind in _MEDIA:
        for place, entry in enumerate(getattr(message, kind) or ()):
            yield kind, place, entry


def _weighed(kind: str, entry: Any) -> dict[str, Any]:
    """A picture, recording or file as Chat Completions has it."""
    content = entry.content
    data = base64.b64encode(content).decode() if isinstance(content, bytes) else content
    if kind == "images":
        mime = entry.mime_type or f"image/{entry.format or 'png'}"
        url = f"data:{mime};base64,{data}" if data else entry.url or ""
        return {"type": "image_url", "image_url": {"url": url}}
    if kind == "audio" and data:
        return {"type": "input_audio", "input_audio": {"data": data, "format": entry.format or "wav"}}
    if data:
        return {"type": "file", "file": {"file_data": f"data:{entry.mime_type or kind};base64,{data}"}}
    return {"type": kind, "value": str(entry.url or entry.filepath or "")}


def _changed(message: Any, fitted: Mapping[str, Any]) -> Any:
    content = fitted.get("content")
    update: dict[str, Any] = {"content": content, "compressed_content": None}
    if isinstance(content, list):
        parts = {part.get("id"): part for part in content}
        update["content"] = _text(message, content)
        for kind in _MEDIA:
            given = getattr(message, kind)
            if given:
                kept = [entry for place, entry in enumerate(given) if f"{kind} {place}" in parts]
                update[kind] = kept or None
    elif any(True for _ in _media(message)):
        update |= dict.fromkeys(_MEDIA)
    if message.tool_calls:
        calls = {call["index"]: call["function"]["arguments"] for call in fitted.get("tool_calls") or ()}
        update["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": calls[place]}}
            for place, call in enumerate(message.tool_calls)
            if place in calls
        ] or None
    if message.reasoning_content and "reasoning_content" not in fitted:
        update |= {"reasoning_content": None, "redacted_reasoning_content": None}
    return message.model_copy(update=update)


def _text(message: Any, content: Sequence[Mapping[str, Any]]) -> Any:
    """What is left of the text, in the shape it had."""
    if not isinstance(message.content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    out: list[Any] = []
    for part in content:
        place = part.get("id", "")
        old = message.content[int(place)] if place.isdigit() else None
        if old is not None and {**_part(old), "id": place} == part:
            out.append(old)
        elif part["type"] == "text":
            out.append(part["text"] if isinstance(old, str) else {**(old or {"type": "text"}), "text": part["text"]})
    return out
