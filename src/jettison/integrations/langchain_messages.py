"""LangChain messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

A message that was not changed comes back as the same object, so whatever a provider or the user put on it (ids,
metadata, signatures, artifacts) survives. On a changed one everything but content and calls stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jettison.integrations.common import missing
from jettison.plan import Fitted

try:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ImportError as error:
    raise missing("langchain-core", "langchain") from error

__all__ = ["from_fitted", "sent_tools", "to_tools", "to_wire"]

_ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool", "function": "function"}
_CALLS = frozenset({"tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta"})
"""Content blocks that say again what `tool_calls` says."""
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_FIELDS = frozenset({"tool_calls", "function_call", "reasoning_content"})
"""Of `additional_kwargs`: said again by `tool_calls`, or read on its own."""


def _same(value: Any) -> Any:
    return value


def to_wire(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Each message as one Chat Completions dict, for weighing and deciding; never sent as such.

    Content parts carry their place in the message as `id`, so that a changed one can be put back.
    """
    return [_wire(message) for message in messages]


def _wire(message: Any) -> dict[str, Any]:
    kind = message.type.removesuffix("MessageChunk").lower()
    role = _ROLES.get(kind) or str(getattr(message, "role", kind))
    out: dict[str, Any] = {"role": role, "content": _content(message.content)}
    if role == "tool":
        out["tool_call_id"] = message.tool_call_id
    if message.name:
        out["name"] = message.name
    if isinstance(message, AIMessage):
        _add_assistant(out, message)
    return out


def _add_assistant(out: dict[str, Any], message: AIMessage) -> None:
    thoughts = [block for block in _blocks(message.content) if _sort(block) in _THOUGHTS]
    if thoughts:
        out["reasoning_details"] = thoughts
    said = message.additional_kwargs.get("reasoning_content")
    if isinstance(said, str) and said:
        out["reasoning_content"] = said
    if message.tool_calls:
        out["tool_calls"] = [
            {
                "id": call["id"] or "",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)},
                "index": place,
            }
            for place, call in enumerate(message.tool_calls)
        ]
        if out["content"] in ("", []):
            out["content"] = None
    if message.invalid_tool_calls:  # several providers are sent them back
        out["invalid_tool_calls"] = [dict(call) for call in message.invalid_tool_calls]
    rest = {key: value for key, value in message.additional_kwargs.items() if key not in _FIELDS}
    if rest:
        out["additional_kwargs"] = rest


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []


def _sort(block: Any) -> str:
    return str(block.get("type", "")) if isinstance(block, Mapping) else "text"


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    parts = []
    for place, block in enumerate(content):
        sort = _sort(block)
        if sort in _CALLS or sort in _THOUGHTS:
            continue
        parts.append({**_part(block, sort), "id": str(place)})
    return parts


def _part(block: Any, sort: str) -> dict[str, Any]:
    """A content block as a Chat Completions part: text, what has a weight of its own, or as it is."""
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if sort == "text":
        return {"type": "text", "text": block.get("text", "")}
    source = block.get("source") if isinstance(block.get("source"), Mapping) else block
    data = source.get("base64") or source.get("data")
    mime = block.get("mime_type") or source.get("media_type") or sort
    if sort == "image":
        url = f"data:{mime};base64,{data}" if data else source.get("url") or block.get("file_id") or ""
        return {"type": "image_url", "image_url": {"url": url}}
    if sort == "audio" and data:
        return {"type": "input_audio", "input_audio": {"data": data, "format": str(mime).rpartition("/")[2]}}
    if sort in ("file", "document") and data:
        return {"type": "file", "file": {"file_data": f"data:{mime};base64,{data}"}}
    return dict(block)


def to_tools(tools: Sequence[Any]) -> list[dict[str, Any]]:
    """The tools of a request as Chat Completions declares them; a provider's own tools as they are."""
    return [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in tools]


def sent_tools(fitted: Any, tools: Sequence[Any]) -> list[Any]:
    """The tools to send: themselves, or as a dict where a secret was taken out of one."""
    if fitted is None or len(fitted) != len(tools):
        return list(tools)
    return [tool if new == old else new for new, old, tool in zip(fitted, to_tools(tools), tools, strict=True)]


def from_fitted(
    fitted: Fitted, wire: Sequence[dict[str, Any]], messages: Sequence[Any], cleaned: Callable[[Any], Any] = _same
) -> list[Any]:
    """The LangChain messages that the fitted ones stand for. `wire`: what `to_wire` made of `messages`; `cleaned`: of
    the session, for what says again what was changed."""
    out: list[Any] = []
    for at, message in zip(fitted.sources, fitted.messages, strict=True):
        if at < 0:
            out.append(HumanMessage(message["content"], additional_kwargs={}))
        elif message is wire[at] or message == wire[at]:
            out.append(messages[at])
        else:
            out.append(_changed(messages[at], message, cleaned))
    return out


def _changed(message: BaseMessage, fitted: Mapping[str, Any], cleaned: Callable[[Any], Any]) -> BaseMessage:
    update: dict[str, Any] = {"content": cleaned(_restored(message, fitted))}
    if isinstance(message, ToolMessage):
        update["artifact"] = message.artifact
    if isinstance(message, AIMessage):
        kept = {call["index"] for call in fitted.get("tool_calls") or ()}
        update["tool_calls"] = [
            {**call, "args": _arguments(call["args"], place, fitted)}
            for place, call in enumerate(message.tool_calls)
            if place in kept
        ]
        update["invalid_tool_calls"] = cleaned(message.invalid_tool_calls)
        extra = dict(message.additional_kwargs)
        if "reasoning_content" not in fitted:
            extra.pop("reasoning_content", None)
        if len(kept) < len(message.tool_calls):
            extra.pop("tool_calls", None)  # the provider's own form of them; rebuilt from `tool_calls`
        update["additional_kwargs"] = cleaned(extra)
    return message.model_copy(update=update)


def _arguments(args: Any, place: int, fitted: Mapping[str, Any]) -> Any:
    """Arguments as they are fitted: they are objects here, and Jettison edits text that parses."""
    text = next(call["function"]["arguments"] for call in fitted["tool_calls"] if call["index"] == place)
    return args if text == json.dumps(args, ensure_ascii=False) else json.loads(text)


def _restored(message: BaseMessage, fitted: Mapping[str, Any]) -> Any:
    """The content with what is kept of it, in the shape it had."""
    content = fitted.get("content")
    if not isinstance(message.content, list):
        return "" if content is None else content
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    changed = {part["id"]: part for part in parts if "id" in part}
    calls = {call["id"] for call in fitted.get("tool_calls") or ()}
    out: list[Any] = [part for part in parts if "id" not in part]
    for place, block in enumerate(message.content):
        sort, part = _sort(block), changed.get(str(place))
        if sort in _THOUGHTS:
            keep = "reasoning_details" in fitted
        elif sort in _CALLS:
            ident = block.get("call_id") or block.get("id")
            keep = sort == "input_json_delta" or ident in calls
        else:
            keep = part is not None
        if keep:
            out.append(_with(block, sort, part))
    return out


def _with(block: Any, sort: str, part: Mapping[str, Any] | None) -> Any:
    if part is None or sort != "text" or part["text"] == _part(block, sort)["text"]:
        return block
    return part["text"] if isinstance(block, str) else {**block, "text": part["text"]}
