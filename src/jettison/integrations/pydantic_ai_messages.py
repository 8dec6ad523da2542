"""Pydantic AI messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

One Pydantic AI request is several messages (a tool's answer each), so every dict has a place: the message, and the
part of it (-1: a response, which is one dict). A message all of whose dicts are unchanged comes back as the same
object.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jettison.integrations.common import missing
from jettison.plan import Fitted

try:
    from pydantic_ai import messages as kinds
    from pydantic_core import to_jsonable_python
except ImportError as error:
    raise missing("pydantic-ai 2", "pydantic-ai") from error

__all__ = ["Placed", "from_fitted", "to_tools", "to_wire", "without_secrets"]

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Placed:
    """Dicts, and where each came from."""

    messages: list[dict[str, Any]]
    places: list[Place]


def to_wire(messages: Sequence[Any], instructions: str | None = None) -> Placed:
    """The messages for weighing and deciding; `instructions` stand before them, at message -1."""
    out = Placed([], [])
    if instructions:
        _add(out, (-1, -1), {"role": "system", "content": instructions})
    for at, message in enumerate(messages):
        if isinstance(message, kinds.ModelResponse):
            _add(out, (at, -1), _response(message))
            continue
        parts = list(enumerate(message.parts))
        # Answers stand right behind their calls, whatever else the request has.
        for place, part in sorted(parts, key=lambda pair: not _answers(pair[1])):
            _add(out, (at, place), _request(part))
    return out


def _add(out: Placed, place: Place, message: dict[str, Any]) -> None:
    out.messages.append(message)
    out.places.append(place)


def _answers(part: Any) -> bool:
    if isinstance(part, kinds.ToolReturnPart):
        return True
    return part.part_kind == "retry-prompt" and part.tool_name is not None


def _request(part: Any) -> dict[str, Any]:
    if isinstance(part, kinds.ToolReturnPart):
        text = part.model_response_str()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "name": part.tool_name, "content": text or " "}
    if part.part_kind == "retry-prompt" and part.tool_name is not None:
        return {"role": "tool", "tool_call_id": part.tool_call_id, "name": part.tool_name, "content": _said(part)}
    if isinstance(part, kinds.UserPromptPart):
        return {"role": "user", "content": _content(part.content)}
    if part.part_kind in ("retry-prompt", "retry-feedback"):
        return {"role": "user", "content": _said(part)}
    if isinstance(part, kinds.SystemPromptPart):
        return {"role": "system", "content": part.content}
    # What the framework records for itself (instruction and tool changes): it stays, as instructions do.
    return {"role": "system", "content": json.dumps(to_jsonable_python(part), ensure_ascii=False)}


def _said(part: Any) -> str:
    said: str = part.model_response()
    return said


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [{**_user_part(item), "id": str(place)} for place, item in enumerate(content)]


def _user_part(item: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if isinstance(item, kinds.TextContent):
        return {"type": "text", "text": item.content}
    if isinstance(item, kinds.BinaryContent):
        return _binary(item)
    if isinstance(item, kinds.ImageUrl):
        return {"type": "image_url", "image_url": {"url": item.url}}
    return {"type": item.kind, "value": to_jsonable_python(item)}


def _binary(item: Any) -> dict[str, Any]:
    data = base64.b64encode(item.data).decode()
    if item.is_image:
        return {"type": "image_url", "image_url": {"url": f"data:{item.media_type};base64,{data}"}}
    if item.is_audio:
        return {"type": "input_audio", "input_audio": {"data": data, "format": item.media_type.rpartition("/")[2]}}
    return {"type": "file", "file": {"file_data": f"data:{item.media_type};base64,{data}"}}


def _response(message: Any) -> dict[str, Any]:
    """A response as one assistant message; each part is known by its place."""
    out: dict[str, Any] = {"role": "assistant"}
    content: list[dict[str, Any]] = []
    calls, thoughts = [], []
    for place, part in enumerate(message.parts):
        if isinstance(part, kinds.TextPart):
            if part.content:
                content.append({"type": "text", "text": part.content, "id": str(place)})
        elif isinstance(part, kinds.ToolCallPart):
            body = {"name": part.tool_name, "arguments": part.args_as_json_str()}
            calls.append({"id": part.tool_call_id, "type": "function", "function": body, "index": place})
        elif isinstance(part, kinds.ThinkingPart):
            thoughts.append({"type": "thinking", "thinking": part.content, "signature": part.signature or ""})
        else:
            content.append({"type": part.part_kind, "value": to_jsonable_python(part), "id": str(place)})
    out["content"] = content or (None if calls else [{"type": "text", "text": " "}])
    if thoughts:
        out["reasoning_details"] = thoughts
    if calls:
        out["tool_calls"] = calls
    return out


def to_tools(parameters: Any) -> list[dict[str, Any]]:
    """The tools of a request, output tools too, as Chat Completions declares them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description or "", "parameters": schema},
        }
        for tool in (*parameters.function_tools, *parameters.output_tools)
        if (schema := tool.parameters_json_schema) is not None
    ]


def without_secrets(cleaned: Callable[[Any], Any], messages: Sequence[Any], parameters: Any) -> dict[str, Any]:
    """What a request says beside the fitted messages, without known secrets: instructions and tools."""
    parts = parameters.instruction_parts
    tools = {name: [_tool(tool, cleaned) for tool in getattr(parameters, name)] for name in _TOOLS}
    clean = [replace(part, content=cleaned(part.content)) for part in parts] if parts else parts
    return {
        "messages": [_instructed(message, cleaned) for message in messages],
        "model_request_parameters": replace(parameters, instruction_parts=clean, **tools),
    }


_TOOLS = ("function_tools", "output_tools")


def _tool(tool: Any, cleaned: Callable[[Any], Any]) -> Any:
    said, schema = cleaned(tool.description), cleaned(tool.parameters_json_schema)
    if said is tool.description and schema is tool.parameters_json_schema:
        return tool
    return replace(tool, description=said, parameters_json_schema=schema)


def _instructed(message: Any, cleaned: Callable[[Any], Any]) -> Any:
    told = getattr(message, "instructions", None)
    clean = cleaned(told)
    return message if clean is told else replace(message, instructions=clean)


def from_fitted(fitted: Fitted, wire: Placed, messages: Sequence[Any]) -> list[Any]:
    """The messages that the fitted dicts stand for, instructions left out. `wire`: what `to_wire` made of them."""
    whole: dict[int, int] = {}
    for at, _ in wire.places:
        whole[at] = whole.get(at, 0) + 1
    out: list[Any] = []
    group: list[tuple[int, dict[str, Any], bool]] = []
    last = -1

    def close() -> None:
        if group and last >= 0:
            same = len(group) == whole[last] and all(unchanged for _, _, unchanged in group)
            out.append(messages[last] if same else _changed(messages[last], group))
        group.clear()

    for source, message in zip(fitted.sources, fitted.messages, strict=True):
        at, part = wire.places[source] if source >= 0 else (-2, -1)
        if at != last:
            close()
            last = at
        if at == -2:
            out.append(kinds.ModelRequest(parts=[kinds.UserPromptPart(content=message["content"])]))
            continue
        group.append((part, message, message == wire.messages[source]))
    close()
    return out


def _changed(message: Any, group: Sequence[tuple[int, dict[str, Any], bool]]) -> Any:
    if isinstance(message, kinds.ModelResponse):
        return replace(message, parts=_kept(message, group[0][1]))
    parts = [
        message.parts[place] if same else _with(message.parts[place], dict_["content"])
        for place, dict_, same in sorted(group, key=lambda entry: entry[0])
    ]
    return replace(message, parts=parts)


def _with(part: Any, content: Any) -> Any:
    """A part of a request with other content."""
    if part.part_kind == "retry-prompt" and part.tool_name is not None:
        return kinds.ToolReturnPart(part.tool_name, content, tool_call_id=part.tool_call_id, timestamp=part.timestamp)
    if not isinstance(part, kinds.UserPromptPart) or isinstance(part.content, str) or isinstance(content, str):
        return replace(part, content=content)
    items: list[Any] = []
    for new in content:
        old = part.content[int(new["id"])] if "id" in new else None
        if old is None or (new["type"] == "text" and _user_part(old).get("text") != new["text"]):
            items.append(new["text"])
        else:
            items.append(old)
    return replace(part, content=items)


def _kept(message: Any, fitted: Mapping[str, Any]) -> list[Any]:
    """The parts of a response that are left."""
    content = fitted.get("content") or []
    texts = {part["id"]: part for part in content if "id" in part}
    calls = {call["index"]: call["function"]["arguments"] for call in fitted.get("tool_calls") or ()}
    kept: list[Any] = [kinds.TextPart(content=part["text"]) for part in content if "id" not in part]
    for place, part in enumerate(message.parts):
        if isinstance(part, kinds.ThinkingPart):
            keep = "reasoning_details" in fitted
        elif isinstance(part, kinds.ToolCallPart):
            keep = place in calls
            if keep and calls[place] != part.args_as_json_str():
                part = replace(part, args=calls[place])
        else:
            keep = str(place) in texts
            if keep and isinstance(part, kinds.TextPart) and texts[str(place)]["text"] != part.content:
                part = replace(part, content=texts[str(place)]["text"])
        if keep:
            kept.append(part)
    return kept
