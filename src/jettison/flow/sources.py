"""Texts that can be cut, and the values in them: each value has a number, and what is known of it stands under that.

Ranking looks at every value of every segment. By number that is a step into a list, where it was a search in eight
tables of texts: an epoch of 11,800 segments and 20,700 values ranks in half the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from jettison.flow.segments import Segmented
from jettison.items import Item

__all__ = ["Source", "Vocabulary"]

FEW = 8
"""Keys of one value that are kept as a tuple, which values of the same keys share: nearly all have one key, and a set
for each would be a third of what a session keeps."""


@dataclass(slots=True)
class Source:
    """One text that can be cut: its segments and the values in each."""

    item: Item
    parts: Segmented
    values: list[tuple[int, ...]]
    """By segment: numbers of the values in it (`Vocabulary`)."""
    ordinal: int
    """Position of its unit among the units learnt."""
    keys: Sequence[str] = ()
    """What each leaf is bound to: tool, record path without indices, key. Of text: nothing at all."""

    outline: Any = False
    """What its content type says of it, as `rank` found it; False before it was looked at."""
    sizes: list[int] = field(default_factory=list)
    """Tokens of each segment with its key, estimated when first needed."""
    _texts: dict[str, int] = field(default_factory=dict)

    def measure(self, tokens: int) -> list[int]:
        """Tokens of each segment, with its key and a line break, by its share of the text's `tokens`.

        What is written is counted exactly later. Counting each segment here takes five times as long and changes
        strict support at 25 % by −.6 / +.4 / −1.0 / +.9 (tau-airline / swe-lm32b / mcpmark / toolathlon).
        """
        if not self.sizes:
            rate = tokens / max(1, len(self.item.text))
            self.sizes = [
                1 + max(1, round(rate * (len(part.text) + len(part.key) + 2 if part.key else len(part.text))))
                for part in self.parts.segments
            ]
        return self.sizes

    def repeats(self, index: int) -> int:
        """How often the text of a segment stands in the item."""
        if not self._texts:
            for part in self.parts.segments:
                self._texts[part.text] = self._texts.get(part.text, 0) + 1
        return self._texts[self.parts.segments[index].text]


class _Numbers(dict[str, int]):
    """By value its number. A value that is not there yet gets the next one."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __missing__(self, value: str) -> int:
        self[value] = number = len(self.texts)
        self.texts.append(value)
        return number


@dataclass(slots=True)
class Vocabulary:
    """All values of the texts that can be cut, numbered as they came, and what is known of each."""

    numbers: _Numbers = field(default_factory=_Numbers)
    """By value: its number. To ask for one that may not be there: `get`."""
    holders: list[Source] = field(default_factory=list)
    """By number: the newest text that holds it."""
    keys: list[tuple[str, ...] | set[str]] = field(default_factory=list)
    """By number: what it was bound to."""
    worth: list[float] = field(default_factory=list, compare=False)
    """By number: log-odds that the value itself brings; not a number before they are worked out (`Flow.ahead`)."""
    _groups: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """Each group of keys once: the values of a list of a thousand records are bound alike."""

    @property
    def texts(self) -> Sequence[str]:
        """By number: the value."""
        return self.numbers.texts

    def numbered(self, values: Iterable[str]) -> tuple[int, ...]:
        """The numbers of some values. New ones get theirs, and need a holder next (`hold`)."""
        return tuple(map(self.numbers.__getitem__, values))

    def hold(self, source: Source, numbers: Iterable[int]) -> None:
        """A text holds these values, and is the newest to do so."""
        new = len(self.numbers) - len(self.holders)
        self.holders += [source] * new
        self.keys += [()] * new
        self.worth += [nan] * new
        for number in numbers:
            self.holders[number] = source

    def holder(self, value: str) -> Source | None:
        """The newest text that holds a value."""
        number = self.numbers.get(value)
        return None if number is None else self.holders[number]

    def known(self, values: Iterable[str]) -> Iterator[int]:
        """The numbers of those values that stand in a text."""
        return (number for number in map(self.numbers.get, values) if number is not None)

    def bound_to(self, value: str) -> Iterable[str]:
        """The keys of the leaves that a value stood in."""
        number = self.numbers.get(value)
        return () if number is None else self.keys[number]

    def bind(self, number: int, key: str) -> bool:
        """Bind a value to the key of a leaf; False where it is so already."""
        known = self.keys[number]
        if key in known:
            return False
        if isinstance(known, set):
            known.add(key)
        elif len(known) < FEW:
            more = (*known, key)
            self.keys[number] = self._groups.setdefault(more, more)
        else:
            self.keys[number] = {*known, key}
        return True

    def unsaid(self) -> None:
        """Forget what the values themselves bring: the topic has changed."""
        self.worth = [nan] * len(self.worth)
