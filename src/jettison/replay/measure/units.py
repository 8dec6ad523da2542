"""The protocol that everything compared here follows, and what baselines on whole units share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from jettison.replay.measure.needs import Need, Texts
from jettison.replay.measure.trajectory import Message, Trajectory, tokens

__all__ = ["BenchPolicy", "Case", "Raised", "WholeUnits", "units_of"]


class Case:
    """One trajectory with its needed values, shared by all policies that replay it."""

    def __init__(self, trajectory: Trajectory, needs: Mapping[int, Sequence[Need]], texts: Texts) -> None:
        self.trajectory, self.needs, self.texts = trajectory, needs, texts


class Raised(Exception):
    """The policy refused: `kind` is the error's name, `best` its best effort if it has one."""

    def __init__(self, kind: str, detail: str, best: list[Message] | None) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail, self.best = kind, detail, best


class BenchPolicy(Protocol):
    """Sees the growing history before every request, as a session does."""

    def start(self, head: Sequence[Message]) -> None:
        """A new trajectory begins; the head is always sent."""
        ...

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        """The request to send instead of `messages`, within `budget` tokens."""
        ...


def units_of(messages: Sequence[Message], start: int) -> list[range]:
    """Message indices of each unit after the head: a user message, assistant text, or a call with its results."""
    borders = [i for i in range(start, len(messages)) if messages[i]["role"] != "tool" or i == start]
    return [range(a, b) for a, b in pairwise([*borders, len(messages)])]


class WholeUnits:
    """Keeps the head and whole units, taken in an order while they fit."""

    stop_at_first = False

    def start(self, head: Sequence[Message]) -> None:
        self.head = len(head)

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        sizes = [tokens(message) for message in messages]
        if sum(sizes) <= budget:
            return messages
        units = units_of(messages, self.head)
        room = budget - sum(sizes[: self.head])
        taken: set[int] = set()
        for i in self.order(messages, units, [sum(sizes[j] for j in unit) for unit in units]):
            size = sum(sizes[j] for j in units[i])
            if size <= room:
                taken.add(i)
                room -= size
            elif self.stop_at_first:
                break
        return messages[: self.head] + [messages[j] for i in sorted(taken) for j in units[i]]

    def order(self, messages: list[Message], units: list[range], sizes: list[int]) -> Sequence[int]:
        """Unit numbers, the one to keep first in front."""
        raise NotImplementedError
