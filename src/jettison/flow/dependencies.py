"""Value flow: which item produced a value, which later call used it, and how likely it is to be used again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from jettison.flow.segments import Segmented, segment
from jettison.flow.values import argument_values, segment_values, shape_worth, text_values
from jettison.flow.weights import WORTH
from jettison.items import Item, Kind, Unit

__all__ = ["KEYISH", "Edge", "Flow", "Source"]

_INDEX = re.compile(r"\[\d+\]")
KEYISH = re.compile(
    r"(?:^|[_.\-])(?:id|ids|name|path|file|url|uri|key|code|number|no|title|sha|ref|email|slug|ticket|token)s?$|Id$|Name$|Path$|Url$",
)
_TEXTUAL = (Kind.RESULT, Kind.USER, Kind.DOCUMENT)


@dataclass(frozen=True, slots=True)
class Edge:
    """A value that one item produced and a later call used."""

    value: str
    producer: str
    consumer: str
    argument: str


@dataclass(slots=True)
class Source:
    """One text that can be cut: its segments and the values in each."""

    item: Item
    parts: Segmented
    values: list[tuple[str, ...]]
    ordinal: int
    """Position of its unit among the units learnt."""

    def keys(self, index: int) -> str:
        """What a leaf is bound to: tool, record path without indices, key."""
        part = self.parts.segments[index]
        return f"{self.item.name}|{_INDEX.sub('', part.record)}|{part.key}" if part.key else ""


@dataclass(slots=True)
class _Track:
    count: int = 0
    last: int = -1


@dataclass
class Flow:
    """Statistics over the units seen so far; `learn` is O(size of the unit)."""

    sources: dict[str, Source] = field(default_factory=dict)
    uses: dict[str, _Track] = field(default_factory=dict)
    mentions: dict[str, _Track] = field(default_factory=dict)
    stated: set[str] = field(default_factory=set)
    """Values that stand in a user message."""
    head: set[str] = field(default_factory=set)
    """Values of the instructions and the pinned goal: always there, so never worth keeping elsewhere."""
    edges: list[Edge] = field(default_factory=list)
    produced: dict[str, int] = field(default_factory=dict)
    """Edges by the item that produced the value."""
    arguments: set[str] = field(default_factory=set)
    """Argument names seen in calls and in the tool schemas."""
    seen: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    learnt: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _holders: dict[str, str] = field(default_factory=dict)
    _keys_of: dict[str, set[str]] = field(default_factory=dict)

    def learn(self, units: Iterable[Unit]) -> None:
        """Take in units that were not seen yet, or that have grown since."""
        for unit in units:
            ids = tuple(item.id for item in unit.items)
            known = self.learnt.get(unit.index)
            if known == ids:
                continue
            fresh = set(ids).difference(known or ())
            ordinal = len(self.learnt) if known is None else list(self.learnt).index(unit.index)
            self.learnt[unit.index] = ids
            for item in unit.items:
                if item.id in fresh:
                    self._take(item, ordinal)

    def _take(self, item: Item, ordinal: int) -> None:
        if item.kind is Kind.CALL:
            self._consume(item, ordinal)
        elif item.kind is Kind.ASSISTANT:
            for value in set(text_values(item.text)):
                self._note(self.mentions, value, ordinal)
        elif item.kind is Kind.INSTRUCTION:
            self.head.update(text_values(item.text))
        elif item.kind in _TEXTUAL and item.text:
            self._produce(item, ordinal)

    @staticmethod
    def _note(table: dict[str, _Track], value: str, ordinal: int) -> None:
        track = table.get(value)
        if track is None:
            track = table[value] = _Track()
        track.count += 1
        track.last = ordinal

    def _produce(self, item: Item, ordinal: int) -> None:
        parts = segment(item.text)
        values = [segment_values(part) for part in parts.segments]
        source = self.sources[item.id] = Source(item, parts, values, ordinal)
        for index, found in enumerate(values):
            key = source.keys(index)
            for value in found:
                self._holders[value] = item.id
                if key:
                    known = self._keys_of.setdefault(value, set())
                    if key not in known:
                        known.add(key)
                        self.seen[key] = self.seen.get(key, 0) + 1
                        if value in self.uses:
                            self.used[key] = self.used.get(key, 0) + 1
            if item.kind is Kind.USER:
                self.stated.update(found)

    def _consume(self, call: Item, ordinal: int) -> None:
        for name, value in argument_values(call.text):
            self.arguments.add(name.lower())
            first = value not in self.uses
            producer = self._holders.get(value) or self._find(value)
            self._note(self.uses, value, ordinal)
            if producer is not None:
                self.edges.append(Edge(value, producer, call.id, name))
                self.produced[producer] = self.produced.get(producer, 0) + 1
            if first:
                for key in self._keys_of.get(value, ()):
                    self.used[key] = self.used.get(key, 0) + 1

    def _find(self, value: str) -> str | None:
        """A used argument that no pattern found: search it in earlier texts, newest first; it becomes a value there.

        10–25 % of far uses are sub-paths or phrases (algorithm.md).
        """
        if len(value) < 5 or value in self.head:
            return None
        for source in reversed(self.sources.values()):
            if value not in source.parts.text.lower():
                continue
            for index, part in enumerate(source.parts.segments):
                if value in part.text.lower():
                    source.values[index] = (*source.values[index], value)
                    self._holders[value] = source.item.id
                    return source.item.id
        return None

    def worth(self, value: str, source: Source, index: int, now: int) -> float:
        """Probability that a later call needs the value: a logistic of shape, use, mention and key (algorithm.md)."""
        if value in self.head:
            return 0.0
        z = WORTH.bias + shape_worth(value)
        use = self.uses.get(value)
        if use is not None:
            z += WORTH.used + WORTH.used_recent * math.exp(-(now - use.last) / WORTH.fade)
        mention = self.mentions.get(value)
        if mention is not None:
            z += WORTH.mentioned + WORTH.mentioned_recent * math.exp(-(now - mention.last) / WORTH.fade)
        key = source.parts.segments[index].key
        if key:
            name = source.keys(index)
            rate = 5 * self.used.get(name, 0) / (1 + self.seen.get(name, 0))
            z += WORTH.key_rate * min(1.0, rate)
            if KEYISH.search(key):
                z += WORTH.key_name
        if value in self.stated:
            z += WORTH.stated
        return 1 / (1 + math.exp(-z))
