"""Haystack messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

A message may hold several tool results, each of which is a dict of its own; `Placed.places` says whose. A message all
of whose dicts are unchanged comes back as the same object; on a changed one everything but the text stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jettison.integrations.calls import BLANK, CallIds
from jettison.integrations.common import missing
from jettison.plan import Fitted

try:
    from haystack.dataclasses import ChatMessage, FileContent, ImageContent, ReasoningContent, TextContent
    from haystack.dataclasses.chat_message import ToolCall, ToolCallResult
    from haystack.tools import flatten_tools_or_toolsets
except ImportError as error:
    raise missing("haystack-ai", "haystack") from error

__all__ = ["Placed", "from_fitted", "to_tools", "to_wire"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Dicts, and the message and the part of it (-1: all of it) that each came from."""

    messages: list[dict[str, Any]]
    places: list[tuple[int, int]]


def to_wire(messages: Sequence[Any]) -> Placed:
    """The messages for weighing and deciding; never sent as such.

    Content parts carry their place in the message as `id`, calls theirs as `index`, so that they can be put back.
    """
    out, ids = Placed([], []), CallIds()
    for at, message in enumerate(messages):
        results = [(place, part) for place, part in enumerate(_parts(message)) if isinstance(part, ToolCallResult)]
        for place, part in results:
            out.messages.append(_result(part, ids))
            out.places.append((at, place))
        if not results:
            out.messages.append(_message(message, ids))
            out.places.append((at, -1))
    return out


def to_tools(tools: Any) -> list[dict[str, Any]]:
    """Tools and toolsets as Chat Completions declares them."""
    return [{"type": "function", "function": dict(tool.tool_spec)} for tool in flatten_tools_or_toolsets(tools)]


def _parts(message: Any) -> Sequence[Any]:
    """Haystack shows the parts by kind only, not in their order."""
    parts: Sequence[Any] = message._content
    return parts


def _message(message: Any, ids: CallIds) -> dict[str, Any]:
    content, calls, thoughts = [], [], []
    given = iter(ids.calls([(call.id, call.tool_name) for call in message.tool_calls]))
    for place, part in enumerate(_parts(message)):
        if isinstance(part, ToolCall):
            body = {"name": part.tool_name, "arguments": json.dumps(part.arguments, ensure_ascii=False)}
            calls.append({"id": next(given), "type": "function", "function": body, "index": place})
        elif isinstance(part, ReasoningContent):
            thoughts.append(part.to_dict())
        else:
            content.append({**_part(part), "id": str(place)})
    out: dict[str, Any] = {"role": message.role.value, "content": content or (None if calls else BLANK)}
    if message.name:
        out["name"] = message.name
    if calls:
        out["tool_calls"] = calls
    if thoughts:
        out["reasoning_details"] = thoughts
    return out


def _result(part: Any, ids: CallIds) -> dict[str, Any]:
    said, name = part.result, part.origin.tool_name
    parts = [] if isinstance(said, str) else [{**_part(one), "id": str(place)} for place, one in enumerate(said)]
    content = said if isinstance(said, str) else parts
    return {"role": "tool", "tool_call_id": ids.answer(part.origin.id, name), "name": name, "content": content or BLANK}


def _part(part: Any) -> dict[str, Any]:
    """A part as Chat Completions has it: text, an image, a file, or as it is."""
    if isinstance(part, TextContent):
        return {"type": "text", "text": part.text or BLANK}
    if isinstance(part, ImageContent):
        return {"type": "image_url", "image_url": {"url": f"data:{part.mime_type};base64,{part.base64_image}"}}
    if isinstance(part, FileContent):
        data = f"data:{part.mime_type};base64,{part.base64_data}"
        return {"type": "file", "file": {"file_data": data, "filename": part.filename}}
    return {"type": type(part).__name__, "value": str(part)}


def from_fitted(fitted: Fitted, wire: Placed, messages: Sequence[Any]) -> list[Any]:
    """The Haystack messages that the fitted ones stand for."""
    out: list[Any] = []
    group: list[tuple[int, dict[str, Any]]] = []
    whole = dict.fromkeys(range(len(messages)), 0)
    for at, _ in wire.places:
        whole[at] += 1

    def close(at: int, same: bool) -> None:
        if group:
            kept = same and len(group) == whole[at]
            out.append(messages[at] if kept else _changed(messages[at], group))
        group.clear()

    last, same = -1, True
    for source, message in zip(fitted.sources, fitted.messages, strict=True):
        at, place = wire.places[source] if source >= 0 else (-1, -1)
        if at != last or at < 0:
            close(last, same)
            last, same = at, True
        if at < 0:
            out.append(ChatMessage.from_user(message["content"]))
            continue
        same = same and message == wire.messages[source]
        group.append((place, message))
    close(last, same)
    return out


def _changed(message: Any, group: Sequence[tuple[int, Mapping[str, Any]]]) -> Any:
    parts = _parts(message)
    if group[0][0] >= 0:
        content = [
            replace(parts[place], result=_said(parts[place].result, fitted["content"])) for place, fitted in group
        ]
        return replace(message, _content=content)
    (_, fitted) = group[0]
    given = fitted.get("content") or []
    listed = [{"type": "text", "text": given}] if isinstance(given, str) else given
    calls = {call["index"]: call["function"]["arguments"] for call in fitted.get("tool_calls") or ()}
    known = {part["id"]: part for part in listed if "id" in part}
    out: list[Any] = [TextContent(part["text"]) for part in listed if "id" not in part]
    for place, part in enumerate(parts):
        if isinstance(part, ToolCall):
            if place in calls:
                same = calls[place] == json.dumps(part.arguments, ensure_ascii=False)
                out.append(part if same else replace(part, arguments=json.loads(calls[place])))
        elif isinstance(part, ReasoningContent):
            if "reasoning_details" in fitted:
                out.append(part)
        elif str(place) in known:
            out.append(_as(part, known[str(place)]))
    return replace(message, _content=out)


def _said(result: Any, content: Any) -> Any:
    """What a tool said, as it is fitted, in the shape it had."""
    if isinstance(result, str):
        return content if isinstance(content, str) else "\n".join(part["text"] for part in content)
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [_as(result[int(part["id"])], part) if "id" in part else TextContent(part["text"]) for part in parts]


def _as(part: Any, fitted: Mapping[str, Any]) -> Any:
    """A part as it is fitted: itself, or its text, or what stands in its place."""
    if fitted["type"] != "text" or (isinstance(part, TextContent) and _part(part)["text"] == fitted["text"]):
        return part
    return TextContent(fitted["text"])
