"""Strands messages (Bedrock's content blocks) as Anthropic dicts, and the fitted ones back on what they came from.

A message that was not changed comes back as the same object. In a changed one the blocks that were not are the same
objects; of a block whose text was cut only the text is another.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from jettison.integrations.common import shown
from jettison.plan import Fitted

__all__ = ["from_fitted", "to_system", "to_tools", "to_wire"]


def to_wire(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Each message as one Anthropic dict, for weighing and deciding; never sent as such."""
    return [
        {"role": message["role"], "content": [_block(block) for block in message["content"]] or [_said("")]}
        for message in messages
    ]


def to_system(prompt: Any) -> Any:
    """The system prompt: a string, or its text blocks."""
    if not isinstance(prompt, list):
        return prompt
    return [{"type": "text", "text": block["text"]} for block in prompt if "text" in block]


def to_tools(specs: Sequence[Any]) -> list[dict[str, Any]]:
    """Tools as Anthropic declares them."""
    return [
        {
            "name": spec["name"],
            "description": spec["description"],
            "input_schema": spec["inputSchema"].get("json", spec["inputSchema"]),
        }
        for spec in specs
    ]


def _block(block: Any) -> dict[str, Any]:
    if "text" in block:
        return _said(block["text"])
    if "toolUse" in block:
        use = block["toolUse"]
        return {"type": "tool_use", "id": use["toolUseId"], "name": use["name"], "input": use["input"]}
    if "toolResult" in block:
        result = block["toolResult"]
        out = {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": _results(result)}
        return {**out, "is_error": True} if result.get("status") == "error" else out
    if "reasoningContent" in block:
        return _thought(block["reasoningContent"])
    return _media(block)


def _results(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_result(item) for item in result["content"]]


def _result(item: Any) -> dict[str, Any]:
    if "json" in item:
        return {"type": "text", "text": json.dumps(item["json"], ensure_ascii=False, default=str)}
    return _said(item["text"]) if "text" in item else _media(item)


def _said(text: str) -> dict[str, Any]:
    """Text as Anthropic has it; it refuses empty text, which Strands keeps."""
    return {"type": "text", "text": text} if text.strip() else {"type": "blank", "value": text}


def _thought(content: Mapping[str, Any]) -> dict[str, Any]:
    if "reasoningText" in content:
        said = content["reasoningText"]
        return {"type": "thinking", "thinking": said.get("text", ""), "signature": said.get("signature") or ""}
    return {"type": "redacted_thinking", "data": base64.b64encode(content.get("redactedContent", b"")).decode()}


def _media(block: Mapping[str, Any]) -> dict[str, Any]:
    """An image or a document with its bytes, and what else there is (cache points, video, citations) as it is."""
    for kind in ("image", "document"):
        data = block.get(kind, {}).get("source", {}).get("bytes")
        if isinstance(data, bytes):
            form = "application/pdf" if block[kind]["format"] == "pdf" else f"{kind}/{block[kind]['format']}"
            source = {"type": "base64", "media_type": form, "data": base64.b64encode(data).decode()}
            out = {"type": kind, "source": source}
            return {**out, "title": block[kind]["name"]} if block[kind].get("name") else out
    kind = next(iter(block), "empty")
    return {"type": kind, "value": shown(block.get(kind))}


def from_fitted(fitted: Fitted, wire: Sequence[dict[str, Any]], messages: Sequence[Any]) -> list[Any]:
    """The Strands messages that the fitted ones stand for. `wire`: what `to_wire` made of `messages`."""
    out: list[Any] = []
    for place, (at, message) in enumerate(zip(fitted.sources, fitted.messages, strict=True)):
        if at >= 0 and message == wire[at]:
            out.append(messages[at])
            continue
        # Neighbours of one role are joined: then the blocks are of several messages.
        end = next((later for later in fitted.sources[place + 1 :] if later >= 0), len(wire))
        left = [
            (given, block)
            for source in range(max(at, 0), end)
            for given, block in zip(wire[source]["content"], messages[source]["content"], strict=False)
        ]
        said = message["content"]
        blocks = [{"type": "text", "text": said}] if isinstance(said, str) else said
        first = messages[at] if at >= 0 else {"role": message["role"]}
        out.append({**first, "content": [_taken(new, left) for new in blocks if new["type"] != "blank"]})
    return out


def _taken(new: Mapping[str, Any], left: list[tuple[dict[str, Any], Any]]) -> Any:
    """The block that a fitted one is; one whose text was cut as a copy with the other text."""
    for place, (given, _) in enumerate(left):
        if given == new:
            return left.pop(place)[1]
    if new["type"] not in ("tool_use", "tool_result"):
        return {"text": new["text"]}
    name = "id" if new["type"] == "tool_use" else "tool_use_id"
    place = next(at for at, (given, _) in enumerate(left) if given["type"] == new["type"] and given[name] == new[name])
    given, block = left.pop(place)
    if new["type"] == "tool_use":
        return {**block, "toolUse": {**block["toolUse"], "input": new["input"]}}
    result = block["toolResult"]
    content = [{"type": "text", "text": new["content"]}] if isinstance(new["content"], str) else new["content"]
    items = list(zip(given["content"], result["content"], strict=True))
    return {**block, "toolResult": {**result, "content": [_taken(item, items) for item in content]}}
