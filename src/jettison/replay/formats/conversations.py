"""Requests of one conversation, put together: logs hold every request with the whole history before it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jettison.replay.readers import Recorded
from jettison.wire.base import digest

__all__ = ["Conversations", "key_of"]

OPEN, BRANCHES = 256, 16
"""Conversations held at a time, and branches of each (sub-agents share a trace). What is older is handed on: a file
of any length is read in memory of this many histories."""


@dataclass(slots=True)
class _Open:
    recorded: Recorded
    asked: int
    """Messages of the request; what follows is its answer."""


class Conversations:
    """Keeps the longest request of each conversation, with its answer."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, list[_Open]] = OrderedDict()

    def add(self, key: str, recorded: Recorded, answer: Sequence[dict[str, Any]] = ()) -> Iterator[Recorded]:
        """Take one request; gives what has been waiting longest when too many are open."""
        whole = replace(recorded, messages=[*recorded.messages, *answer], body=None)
        new = _Open(whole, len(recorded.messages))
        branches = self._open.setdefault(key, [])
        self._open.move_to_end(key)
        for at, old in enumerate(branches):
            if _continues(old, new):
                branches[at] = new
                break
            if _continues(new, old):
                break
        else:
            branches.append(new)
            if len(branches) > BRANCHES:
                yield branches.pop(0).recorded
        if len(self._open) > OPEN:
            for left in self._open.popitem(last=False)[1]:
                yield left.recorded

    def rest(self) -> Iterator[Recorded]:
        """What is still open, oldest first."""
        while self._open:
            for left in self._open.popitem(last=False)[1]:
                yield left.recorded


def _continues(old: _Open, new: _Open) -> bool:
    """Whether the new request begins with all that the old one asked."""
    asked = old.recorded.messages[: old.asked]
    return new.asked >= old.asked and new.recorded.messages[: old.asked] == asked


def key_of(recorded: Recorded) -> str:
    """A key for logs that do not name the conversation: what stands before the first turn of the assistant."""
    head = []
    for message in recorded.messages:
        if message.get("role") in ("assistant", "model") or message.get("type") in ("function_call", "reasoning"):
            break
        head.append(message)
    return digest([recorded.system, head])
