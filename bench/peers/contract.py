"""What an adapter is given and what it gives back. Imported by the child processes: nothing of a peer is here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Adapter", "Counter", "Given", "Message", "Settings", "Table", "arguments", "split_system"]

Message = dict[str, Any]
FRAMING = 4
PIECE = 48_000
"""Characters encoded at a time: the tokenizer refuses more than 1,000,000."""


class Adapter(Protocol):
    """A peer as its users have it, one object a conversation."""

    def fit(self, messages: list[Message]) -> list[Message]:
        """The request to send, given the whole history so far in chat messages. Not to be changed in place.

        An adapter that would ask a model has `spent`: tokens read and written by the model so far.
        """
        ...


class Counter:
    """o200k tokens, as the measure counts them: content text, names and arguments of calls, plus 4 a message.

    `remember`: each text is encoded once and looked up afterwards. Replays do that for every peer alike; the speed run
    times both.
    """

    def __init__(self, *, remember: bool = True) -> None:
        import bpe_openai

        self._encode = bpe_openai.get_encoding("o200k_base").encode_ordinary
        self._known: dict[str, int] | None = {} if remember else None

    def text(self, text: str) -> int:
        """Tokens of a text."""
        if self._known is None:
            return self._count(text)
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._count(text)
        return known

    def message(self, message: Mapping[str, Any]) -> int:
        """Tokens of a chat message."""
        content = message.get("content")
        total = FRAMING + (self.text(content) if isinstance(content, str) else 0)
        if isinstance(content, list):
            total += sum(self.text(part["text"]) for part in content if isinstance(part.get("text"), str))
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            total += self.text(str(function.get("name") or "")) + self.text(str(function.get("arguments") or ""))
        return total

    def messages(self, messages: Iterable[Mapping[str, Any]]) -> int:
        """Tokens of a list of chat messages."""
        return sum(map(self.message, messages))

    def _count(self, text: str) -> int:
        return sum(len(self._encode(text[at : at + PIECE])) for at in range(0, len(text), PIECE))


@dataclass(frozen=True, slots=True)
class Given:
    """What one conversation is fitted with."""

    budget: int
    """Tokens of the request at most, counted by `counter`."""
    counter: Counter
    head: int
    """Messages before the first turn of the assistant: the system prompt and the task."""
    head_tokens: int


Settings = Mapping[str, Callable[[Given], Adapter]]
"""By name: `default` (the peer's documented defaults) and `fair` (the best we know for a hard budget)."""


@dataclass
class Table:
    """Back from a peer's own message type: what reads the same as a message of the history is that message.

    So a conversion that loses nothing costs no prefix, and one that does is only charged for what it lost.
    """

    back: Callable[[Any], Sequence[Message]]
    """The chat messages that one message of the peer stands for."""
    _known: dict[tuple[str | None, str], Message] = field(default_factory=dict)

    def learn(self, message: Message, made: Iterable[Any], name: str | None = None) -> None:
        """`made` are the peer's messages for one chat message; `name` sets it apart from others that read the same."""
        for own in (part for one in made for part in self.back(one)):
            self._known.setdefault((name, _key(own)), message)

    def read(self, made: Iterable[Any], name: Callable[[Any], str | None] = lambda one: None) -> list[Message]:
        """Chat messages of what a peer returned."""
        return [self._known.get((name(one), _key(own)), own) for one in made for own in self.back(one)]


def arguments(call: Message) -> dict[str, Any]:
    """Parsed arguments of a chat call; empty when they are no JSON object, as some recorded agents wrote."""
    try:
        parsed = json.loads(str((call.get("function") or {}).get("arguments")))
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def split_system(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """The leading system messages, for peers that are given them apart, and the rest."""
    count = next((i for i, message in enumerate(messages) if message["role"] != "system"), len(messages))
    return list(messages[:count]), list(messages[count:])


def _key(message: Message) -> str:
    return json.dumps(message, sort_keys=True, ensure_ascii=False, default=str)
