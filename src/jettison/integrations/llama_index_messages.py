"""LlamaIndex messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

A message that was not changed comes back as the same object. On a changed one everything but text and calls stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jettison.integrations.calls import BLANK, CallIds
from jettison.integrations.common import missing, shown
from jettison.plan import Fitted

try:
    from llama_index.core.base.llms.types import (
        ChatMessage,
        DocumentBlock,
        ImageBlock,
        TextBlock,
        ThinkingBlock,
        ToolCallBlock,
    )
except ImportError as error:
    raise missing("llama-index-core", "llama-index") from error

__all__ = ["from_fitted", "to_wire"]

_ROLES = {"chatbot": "assistant", "model": "assistant", "function": "tool"}
_CALLS, _ANSWERS = "tool_calls", "tool_call_id"


def to_wire(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Each message as one Chat Completions dict, for weighing and deciding; never sent as such.

    Content parts carry their place in the message as `id`, calls theirs as `index`, so that they can be put back.
    """
    ids = CallIds()
    return [_wire(message, ids) for message in messages]


def _wire(message: Any, ids: CallIds) -> dict[str, Any]:
    role = _ROLES.get(message.role.value, message.role.value)
    content, thoughts = [], []
    for place, block in enumerate(message.blocks):
        if isinstance(block, ThinkingBlock):
            thoughts.append(shown(block.model_dump(exclude_none=True)))
        elif not isinstance(block, ToolCallBlock):
            content.append({**_part(block), "id": str(place)})
    calls = _calls(message, ids) if role == "assistant" else []
    out: dict[str, Any] = {"role": role, "content": content or (None if calls else BLANK)}
    if calls:
        out["tool_calls"] = calls
    if thoughts:
        out["reasoning_details"] = thoughts
    given = message.additional_kwargs
    if role == "tool":
        out["tool_call_id"] = ids.answer(given.get(_ANSWERS), str(given.get("name") or ""))
    rest = {key: value for key, value in given.items() if key not in (_CALLS, _ANSWERS)}
    return {**out, "additional_kwargs": shown(rest)} if rest else out


def _part(block: Any) -> dict[str, Any]:
    """A block as a Chat Completions part: text, what has a weight of its own, or as it is."""
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text or BLANK}
    if isinstance(block, ImageBlock):  # its bytes are base64
        inside = isinstance(block.image, bytes)
        url = f"data:{block.image_mimetype};base64,{block.image.decode()}" if inside else block.url or block.path or ""
        return {"type": "image_url", "image_url": {"url": str(url)}}
    if isinstance(block, DocumentBlock) and isinstance(block.data, bytes):
        data = f"data:{block.document_mimetype};base64,{block.data.decode()}"
        return {"type": "file", "file": {"file_data": data, "filename": block.title}}
    return {"type": block.block_type, "value": shown(block.model_dump(exclude_none=True))}


def _calls(message: Any, ids: CallIds) -> list[dict[str, Any]]:
    """The calls: of blocks, or of classes that keep them as the provider gave them."""
    blocks = [
        (place, block.tool_call_id, block.tool_name, block.tool_kwargs)
        for place, block in enumerate(message.blocks)
        if isinstance(block, ToolCallBlock)
    ]
    found = blocks or _kept(message)
    named = ids.calls([(ident, name) for _, ident, name, _ in found])
    return [
        {"id": ident, "type": "function", "function": {"name": name, "arguments": _text(arguments)}, "index": place}
        for ident, (place, _, name, arguments) in zip(named, found, strict=True)
    ]


def _kept(message: Any) -> list[tuple[int, Any, Any, Any]]:
    listed = (_given(call) for call in message.additional_kwargs.get(_CALLS) or ())
    return [
        (place, call.get("id"), call["function"]["name"], call["function"]["arguments"])
        for place, call in enumerate(listed)
        if isinstance(call.get("function"), Mapping)
    ]


def _given(call: Any) -> Mapping[str, Any]:
    """A call as a provider's class keeps it: an object of its SDK, or a dict."""
    given = call.model_dump() if hasattr(call, "model_dump") else call
    return given if isinstance(given, Mapping) else {}


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def from_fitted(fitted: Fitted, wire: Sequence[dict[str, Any]], messages: Sequence[Any]) -> list[Any]:
    """The messages that the fitted ones stand for. `wire`: what `to_wire` made of `messages`."""
    out: list[Any] = []
    for at, message in zip(fitted.sources, fitted.messages, strict=True):
        if at < 0:
            out.append(ChatMessage(role=message["role"], content=message["content"]))
        elif message == wire[at]:
            out.append(messages[at])
        else:
            out.append(_changed(messages[at], message, wire[at]))
    return out


def _changed(message: Any, fitted: Mapping[str, Any], before: Mapping[str, Any]) -> Any:
    content = fitted.get("content") or []
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    known = {part["id"]: part for part in parts if "id" in part}
    calls = {call["index"]: call["function"]["arguments"] for call in fitted.get("tool_calls") or ()}
    blocks: list[Any] = [TextBlock(text=part["text"]) for part in parts if "id" not in part]
    own = False
    for place, block in enumerate(message.blocks):
        if isinstance(block, ThinkingBlock):
            keep = "reasoning_details" in fitted
        elif isinstance(block, ToolCallBlock):
            keep, own = place in calls, True
            block = _with_arguments(block, calls.get(place))
        else:
            part = known.get(str(place))
            keep = part is not None
            if part is not None and part["type"] == "text":
                block = _with_text(block, part["text"])
        if keep:
            blocks.append(block)
    extra = dict(message.additional_kwargs)
    if _CALLS in extra and fitted.get("tool_calls") != before.get("tool_calls"):
        kept = [_with_call(call, calls[place]) for place, call in enumerate(extra.pop(_CALLS)) if place in calls]
        if kept and not own:  # else they are said by the blocks
            extra[_CALLS] = kept
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": extra})


def _with_text(block: Any, text: str) -> Any:
    if not isinstance(block, TextBlock):
        return TextBlock(text=text)
    return block if (block.text or BLANK) == text else block.model_copy(update={"text": text})


def _with_arguments(block: Any, text: str | None) -> Any:
    if text is None or text == _text(block.tool_kwargs):
        return block
    return block.model_copy(update={"tool_kwargs": text if isinstance(block.tool_kwargs, str) else json.loads(text)})


def _with_call(call: Any, text: str) -> Any:
    """A call as a provider's class keeps it, with other arguments."""
    if isinstance(call, Mapping):
        return {**call, "function": {**call["function"], "arguments": text}}
    return call.model_copy(update={"function": call.function.model_copy(update={"arguments": text})})
