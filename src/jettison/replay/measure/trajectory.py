"""A recorded run as chat messages: head and body, and what a message weighs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

__all__ = [
    "FRAMING",
    "PRIMING",
    "Message",
    "Native",
    "Trajectory",
    "calls_of",
    "count",
    "forget",
    "parts",
    "text_of",
    "tokens",
]

Message = dict[str, Any]

FRAMING = 4
PRIMING = 3
WEIGHT = "_tokens"
"""Key of a message for tokens that are not text: media, sealed reasoning. Only `native` writes it."""
# The tokenizer refuses more than 1,000,000 characters.
_PIECE = 48_000
_counts: dict[str, int] = {}


@dataclass(frozen=True)
class Native:
    """The same run as its provider's wire has it; a session under test is given this, not the chat form."""

    wire: str
    messages: list[Message]
    system: Any
    points: dict[int, int]
    """By the index of an assistant turn in the chat form: how many native messages there are before it."""
    origins: tuple[int, ...]
    """For each chat message the index of the native one it was made of; -1 for the system field."""


@dataclass(frozen=True)
class Trajectory:
    """One recorded run. `head` is the number of messages before the first assistant turn."""

    id: str
    set: str
    task: str
    messages: list[Message]
    native: Native | None = None
    tools: Any = None
    model: str | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def head(self) -> int:
        roles = [message["role"] for message in self.messages]
        return roles.index("assistant") if "assistant" in roles else len(roles)

    @property
    def turns(self) -> list[int]:
        """Index of every assistant turn: a request is made before each."""
        return [t for t, message in enumerate(self.messages) if message["role"] == "assistant"]

    def budget(self, fraction: float) -> int:
        """`B = tokens(head) + f·tokens(body) + 3`."""
        head = sum(map(tokens, self.messages[: self.head]))
        body = sum(map(tokens, self.messages[self.head :]))
        return int(head + fraction * body + PRIMING)


@lru_cache(maxsize=1)
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding("o200k_base")


def count(text: str) -> int:
    """o200k tokens of a text, cached."""
    if not text:
        return 0
    known = _counts.get(text)
    if known is None:
        encode = _encoding().encode_ordinary
        known = sum(len(encode(text[at : at + _PIECE])) for at in range(0, len(text), _PIECE))
        _counts[text] = known
    return known


def forget() -> None:
    """Drop the cached counts (between trajectories, to bound memory)."""
    _counts.clear()


def parts(message: Message) -> Iterator[str]:
    """The texts of a message's content: a string, a list of parts, or nothing."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str):
                yield text


def text_of(message: Message) -> str:
    """The whole content text of a message."""
    content = message.get("content")
    return content if isinstance(content, str) else "\n".join(parts(message))


def calls_of(message: Message) -> Sequence[Message]:
    """The tool calls of a message: `[{"id", "function": {"name", "arguments"}}, …]`."""
    return message.get("tool_calls") or ()


def tokens(message: Message) -> int:
    """Content text and each call's name and arguments, plus 4 for the message."""
    total = FRAMING + sum(map(count, parts(message)))
    for call in calls_of(message):
        function = call.get("function") or {}
        total += count(str(function.get("name") or "")) + count(str(function.get("arguments") or ""))
    return total + int(message.get(WEIGHT, 0))
