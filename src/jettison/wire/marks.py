"""Cache marks: the caller's `cache_control` on blocks. They say where the provider may cache, and are no content.

A session compares and works on messages without them, since callers move them at every call, and puts them back last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jettison.wire.base import Message

__all__ = ["MOST", "limited", "marked", "marks_in", "marks_of", "other_forms", "unmarked"]

MOST = 4
"""Marks that a request may have over system, tools and messages: Anthropic, "Prompt caching"."""
_KEY = "cache_control"
_TEXTS = ("text", "input_text")
_NEVER = frozenset({"thinking", "redacted_thinking"})


def unmarked(value: Any) -> Any:
    """A message or block without its marks; the same object where it has none."""
    if not isinstance(value, dict):
        return value
    content = value.get("content")
    inner = [unmarked(block) for block in content] if isinstance(content, list) else None
    if inner is not None and all(new is old for new, old in zip(inner, value["content"], strict=True)):
        inner = None
    if inner is None and _KEY not in value:
        return value
    bare = {key: part for key, part in value.items() if key != _KEY}
    if inner is not None:
        bare["content"] = inner
    return bare


def other_forms(message: Any) -> Iterator[Message]:
    """The message with a text in the place of the one block that it stands for, or the other way round: callers turn
    one into the other to hang a mark on it, and back."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield from ({**message, "content": [{"type": kind, "text": content}]} for kind in _TEXTS)
    elif isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        if block.keys() == {"type", "text"} and block["type"] in _TEXTS:
            yield {**message, "content": block["text"]}


def marks_of(value: Any) -> Iterator[Any]:
    """The marks of a message, a block, or a list of either (system, tools), in order."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from marks_of(one)
    elif isinstance(value, dict):
        if isinstance(value.get("content"), list):
            yield from marks_of(value["content"])
        if value.get(_KEY):
            yield value[_KEY]


def marks_in(value: Any) -> int:
    """How many marks there are."""
    return sum(1 for _ in marks_of(value))


def limited(messages: Sequence[Message], most: int) -> list[Message]:
    """The messages with their newest `most` marks; the same objects where nothing is removed."""
    out: list[Message] = []
    for message in reversed(messages):
        most -= marks_in(message)
        out.append(message if most >= 0 else unmarked(message))
        if most < 0 and out[-1] is not message:
            most += marks_in(message)
    return out[::-1]


def marked(message: Message, mark: Any) -> Message | None:
    """The message with this mark on the last block that may carry one; None where no block may.

    A text in the place of a list of blocks becomes the one block that it stands for.
    """
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return None
    for at in reversed(range(len(content))):
        block = content[at]
        if isinstance(block, dict) and block.get("type") not in _NEVER and not _blank(block):
            return {**message, "content": [*content[:at], {**block, _KEY: mark}, *content[at + 1 :]]}
    return None


def _blank(block: Message) -> bool:
    return block.get("type") == "text" and not str(block.get("text") or "").strip()
