"""Which wire format a history is written in, told from its own marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["WIRES", "guess_wire", "marked_wire"]

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini")

_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_RESPONSES_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file", "summary_text"})
_CHAT_BLOCKS = frozenset({"image_url", "input_audio", "file"})
_CHAT_KEYS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content")


def guess_wire(messages: Sequence[Mapping[str, Any]], body: Mapping[str, Any] | None = None) -> str:
    """The wire of a message list, and of the request body it came in, if any.

    Marks that only one format has decide; a list of bare text messages, which several share, is `openai-chat`
    unless the body says otherwise. A model's name alone decides nothing: any model is served on any wire.
    """
    body = body or {}
    if "contents" in body:
        return "gemini"
    if "input" in body and "messages" not in body:
        return "openai-responses"
    return marked_wire(messages) or _body_mark(body, messages) or "openai-chat"


def marked_wire(messages: Sequence[Any]) -> str | None:
    """The wire that alone has what the first telling message holds; None where none tells."""
    marks = (mark for message in messages if isinstance(message, Mapping) and (mark := _message_mark(message)))
    return next(marks, None)


def _message_mark(message: Mapping[str, Any]) -> str | None:
    if isinstance(message.get("parts"), list):
        return "gemini"
    if message.get("role") in ("tool", "function") or any(message.get(key) for key in _CHAT_KEYS):
        return "openai-chat"
    content = message.get("content")
    if isinstance(content, list):
        marks = (mark for block in content if isinstance(block, Mapping) and (mark := _block_mark(block)))
        mark = next(marks, None)
        if mark:
            return mark
    typed = isinstance(message.get("type"), str)
    return "openai-responses" if typed and "role" not in message else None


def _block_mark(block: Mapping[str, Any]) -> str | None:
    kind = str(block.get("type"))
    if kind in _ANTHROPIC_BLOCKS or kind.endswith("_tool_result") or isinstance(block.get("source"), Mapping):
        return "anthropic"
    if kind in _RESPONSES_BLOCKS:
        return "openai-responses"
    return "openai-chat" if kind in _CHAT_BLOCKS else None


def _body_mark(body: Mapping[str, Any], messages: Iterable[Mapping[str, Any]]) -> str | None:
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, Mapping):
            if "input_schema" in tool:
                return "anthropic"
            if "function" in tool:
                return "openai-chat"
            if "functionDeclarations" in tool or "function_declarations" in tool:
                return "gemini"
            if tool.get("type") == "function":
                return "openai-responses"
    if body.get("system") is not None or "anthropic_version" in body:
        return "anthropic"
    if body.get("instructions") is not None:
        return "openai-responses"
    in_messages = any(message.get("role") in ("system", "developer") for message in messages)
    bare_claude = str(body.get("model", "")).startswith("claude-") and "max_tokens" in body
    return "anthropic" if bare_claude and not in_messages else None
