"""Chat messages built from other shapes: the few forms that every reader needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["Message", "answer", "assistant", "call", "said", "tool"]

Message = dict[str, Any]


def said(role: str, text: str) -> Message:
    return {"role": role, "content": text}


def call(call_id: str, name: str, arguments: Any) -> Message:
    """A tool call; arguments that are not text yet become JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False, default=str)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def assistant(text: str, calls: Sequence[Message] = ()) -> Message:
    message: Message = {"role": "assistant", "content": text or (None if calls else "")}
    if calls:
        message["tool_calls"] = list(calls)
    return message


def tool(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def answer(wire: str, response: Any) -> list[Message]:
    """The messages by which a provider's response continues the history it answers; none when it holds none."""
    if isinstance(response, dict) and isinstance(response.get("body"), dict):
        response = response["body"]
    if not isinstance(response, dict):
        return []
    if wire == "openai-chat":
        choices = response.get("choices")
        message = choices[0].get("message") if choices and isinstance(choices[0], dict) else response
        known = ("role", "content", "tool_calls", "function_call")
        if not isinstance(message, dict) or not (message.get("content") or message.get("tool_calls")):
            return []
        return [{"role": "assistant", **{key: message[key] for key in known if message.get(key) is not None}}]
    if wire == "anthropic":
        content = response.get("content")
        return [{"role": "assistant", "content": content}] if content else []
    if wire == "openai-responses":
        output = response.get("output")
        return [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    candidates = response.get("candidates")
    content = candidates[0].get("content") if candidates and isinstance(candidates[0], dict) else None
    return [content] if isinstance(content, dict) else []
