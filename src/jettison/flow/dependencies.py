"""Value flow: which item produced a value, which later call used it, and how likely it is to be used again."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from jettison.flow.needs import kind, kinds_of
from jettison.flow.segments import Segmented, segment
from jettison.flow.sources import Source, Vocabulary
from jettison.flow.values import argument_values, segment_values, shape, shape_worth, text_values
from jettison.flow.weights import WORTH
from jettison.items import Item, Kind, Unit
from jettison.plan import Edge

__all__ = ["NAMES", "Flow", "is_keyish", "topic_of"]

_INDEX = re.compile(r"\[\d+\]")
KEYISH = re.compile(
    r"(?:^|[_.\-])(?:id|ids|name|path|file|url|uri|key|code|number|no|title|sha|ref|email|slug|ticket|token)s?$|Id$|Name$|Path$|Url$",
)
_TEXTUAL = (Kind.RESULT, Kind.USER, Kind.DOCUMENT)
NAMES = frozenset({"email", "hex", "letters_digits", "snake_number"})
"""Shapes of values that name one thing."""

SEARCHED = 200_000
"""Characters of earlier texts in which an argument is searched, newest first. Bounds the work of one argument."""


@lru_cache(maxsize=16_384)
def _plain_path(record: str) -> str:
    return _INDEX.sub("", record)


@lru_cache(maxsize=4_096)
def is_keyish(key: str) -> bool:
    """Whether a key reads like a name or identifier."""
    return KEYISH.search(key) is not None


_WORD = re.compile(r"[^\W_]{4,}")


def topic_of(goals: Iterable[str]) -> frozenset[str]:
    """The words of the goals that `Flow.topic` is made of."""
    return frozenset(word for goal in goals for word in _WORD.findall(goal.lower()))


@dataclass(slots=True)
class _Track:
    count: int = 0
    last: int = -1


@dataclass
class Flow:
    """Statistics over the units seen so far; `learn` is O(size of the unit)."""

    sources: dict[str, Source] = field(default_factory=dict)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    uses: dict[str, _Track] = field(default_factory=dict)
    mentions: dict[str, _Track] = field(default_factory=dict)
    named: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Identifiers in what the assistant said, by item."""
    stated: set[str] = field(default_factory=set)
    """Values that stand in a user message."""
    told: set[str] = field(default_factory=set)
    """Values of the instructions among the messages."""
    system: set[str] = field(default_factory=set)
    """Values of the system field as it is now; it may change with every call."""
    topic: frozenset[str] = frozenset()
    """Words of the goal; set by `about`."""
    declared: frozenset[str] = frozenset()
    """Kinds of arguments that the tools at hand declare; set by `about`."""
    edges: list[Edge] = field(default_factory=list)
    produced: dict[str, int] = field(default_factory=dict)
    """Edges by the item that produced the value."""
    arguments: set[str] = field(default_factory=set)
    """Argument names seen in calls and in the tool schemas."""
    seen: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    learnt: dict[int, tuple[str, ...]] = field(default_factory=dict)
    clips: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By call: its arguments clipped and its tokens then, read once; empty where there is nothing to clip."""
    log: list[tuple[int, tuple[str, ...]]] = field(default_factory=list, compare=False)
    """What was taken in, in order: number of the unit, ids of the items that were new. With the items it makes the
    same statistics again (`replayed`)."""
    _due: list[tuple[Item, int]] = field(default_factory=list)
    """Of a replay: items, with the position of their unit, that are taken in before the next thing is learnt."""
    _ordinals: dict[int, int] = field(default_factory=dict)
    _same: dict[str, str] = field(default_factory=dict)
    """Each key once: a list of a thousand records names its leaves alike."""
    _asked: set[str] = field(default_factory=set)
    """Kinds of arguments given in calls so far."""
    _needed: frozenset[str] = frozenset()

    @property
    def head(self) -> set[str]:
        """Values of all instructions: always there, so never worth keeping elsewhere."""
        return self.told | self.system

    def about(self, topic: frozenset[str], arguments: Iterable[str] = ()) -> None:
        """Set the words of the goal, and the names of arguments that the tools at hand declare."""
        if topic != self.topic:
            self.topic = topic
            self.vocabulary.unsaid()
        self.declared = frozenset(map(kind, arguments))
        self._needed = self.declared | self._asked

    def needs(self, source: Source, index: int) -> bool:
        """Whether a leaf is of a kind that calls take: declared by a tool, or given in a call so far."""
        part = source.parts.segments[index]
        return not self._needed.isdisjoint(kinds_of(part.record, part.key))

    @classmethod
    def replayed(cls, log: Iterable[tuple[int, tuple[str, ...]]], items: Iterable[Item]) -> Flow:
        """The flow with this log; the work is done when it is first needed. `items` holds those of the log, or more."""
        flow, known = cls(), {item.id: item for item in items}
        for index, fresh in log:
            ordinal = flow._ordinals.setdefault(index, len(flow._ordinals))
            flow.learnt[index] = (*flow.learnt.get(index, ()), *fresh)
            flow.log.append((index, tuple(fresh)))
            flow._due += [(known[name], ordinal) for name in fresh]
        return flow

    def rewind(self, length: int, items: Iterable[Item]) -> None:
        """Forget all but the first `length` entries of the log."""
        vars(self).update(vars(Flow.replayed(self.log[:length], items)))

    def learn(self, units: Iterable[Unit]) -> None:
        """Take in units that were not seen yet, or that have grown since."""
        due, self._due = self._due, []
        for item, ordinal in due:
            self._take(item, ordinal)
        for unit in units:
            ids = tuple(item.id for item in unit.items)
            known = self.learnt.get(unit.index)
            if known == ids:
                continue
            if unit.index < 0:
                self._instruct(unit, ids)
                continue
            fresh = set(ids).difference(known or ())
            ordinal = self._ordinals.setdefault(unit.index, len(self._ordinals))
            self.learnt[unit.index] = ids
            self.log.append((unit.index, tuple(item.id for item in unit.items if item.id in fresh)))
            for item in unit.items:
                if item.id in fresh:
                    self._take(item, ordinal)

    def _instruct(self, unit: Unit, ids: tuple[str, ...]) -> None:
        """Take in the system field, in the place of an earlier one."""
        if unit.index not in self.learnt:
            self._ordinals[unit.index] = len(self._ordinals)
            self.log.append((unit.index, ()))
        self.learnt[unit.index] = ids
        self.system = {value for item in unit.items for value in text_values(item.text)}

    def _take(self, item: Item, ordinal: int) -> None:
        if item.kind is Kind.CALL:
            self._consume(item, ordinal)
        elif item.kind is Kind.ASSISTANT:
            values = set(text_values(item.text))
            for value in values:
                self._note(self.mentions, value, ordinal)
            if names := tuple(sorted(value for value in values if shape(value) in NAMES)):
                self.named[item.id] = names
        elif item.kind is Kind.INSTRUCTION:
            self.told.update(text_values(item.text))
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
        found = list(map(segment_values, parts.segments))
        values = list(map(self.vocabulary.numbered, found))
        keys = self._bound(item, parts)
        source = self.sources[item.id] = Source(item, parts, values, ordinal, keys)
        self.vocabulary.hold(source, chain.from_iterable(values))
        if item.kind is Kind.USER:
            self.stated.update(*found)
        bind, texts = self.vocabulary.bind, self.vocabulary.texts
        for key, numbers in zip(keys, values, strict=bool(keys)):
            for number in numbers if key else ():
                if bind(number, key):
                    self.seen[key] = self.seen.get(key, 0) + 1
                    if texts[number] in self.uses:
                        self.used[key] = self.used.get(key, 0) + 1

    def _bound(self, item: Item, parts: Segmented) -> list[str]:
        """What each leaf is bound to; the leaves of a list have one text between them."""
        if not parts.structured:
            return []
        same = self._same
        names = [f"{item.name}|{_plain_path(part.record)}|{part.key}" if part.key else "" for part in parts.segments]
        return [same.setdefault(name, name) for name in names]

    def _consume(self, call: Item, ordinal: int) -> None:
        for name, value in argument_values(call.text):
            self.arguments.add(name.lower())
            self._asked.add(kind(name))
            first = value not in self.uses
            holder = self.vocabulary.holder(value) or self._find(value)
            self._note(self.uses, value, ordinal)
            if holder is not None:
                producer = holder.item.id
                self.edges.append(Edge(value, producer, call.id, name))
                self.produced[producer] = self.produced.get(producer, 0) + 1
            if first:
                for key in self.vocabulary.bound_to(value):
                    self.used[key] = self.used.get(key, 0) + 1

    def _find(self, value: str) -> Source | None:
        """A used argument that no pattern found: search it in earlier texts, newest first; it becomes a value there.

        10–25 % of far uses are sub-paths or phrases (algorithm.md).
        """
        if len(value) < 5 or value in self.told or value.isalnum():
            return None  # a plain token would have been found as one
        room = SEARCHED
        for source in reversed(self.sources.values()):
            text = source.parts.text
            room -= len(text)
            if room < 0:
                return None
            if value in text.lower():
                for index, part in enumerate(source.parts.segments):
                    if value in part.text.lower():
                        numbers = self.vocabulary.numbered([value])
                        source.values[index] += numbers
                        self.vocabulary.hold(source, numbers)
                        return source
        return None

    def odds(self, value: str, now: int) -> float:
        """Log-odds that a later call needs the value, by shape, use and mention (algorithm.md)."""
        number = self.vocabulary.numbers.get(value)
        said = math.nan if number is None else self.vocabulary.worth[number]
        z = WORTH.bias + (self.base(value) if math.isnan(said) else said)
        use = self.uses.get(value)
        if use is not None:
            z += WORTH.used + WORTH.used_recent * math.exp(-(now - use.last) / WORTH.fade)
        mention = self.mentions.get(value)
        if mention is not None:
            z += WORTH.mentioned + WORTH.mentioned_recent * math.exp(-(now - mention.last) / WORTH.fade)
        newest = self.newest(value)
        if newest is not None:
            z += WORTH.newest_recent * math.exp(-(now - newest) / WORTH.fade)
        return z + WORTH.stated if value in self.stated else z

    def base(self, value: str) -> float:
        """What the value itself says: its shape, and how near it is to the topic."""
        worth = shape_worth(value)
        if self.topic and len(value) > 5 and (near := self.affinity(value)):
            worth += WORTH.topic * near
        return worth

    def ahead(self, numbers: Iterable[int]) -> None:
        """Work out now what the values themselves say, which is two thirds of the time of their odds. It stays known
        for a topic."""
        worth, texts = self.vocabulary.worth, self.vocabulary.texts
        for number in numbers:
            if math.isnan(worth[number]):
                worth[number] = self.base(texts[number])

    def improbable(self, numbers: Collection[int], now: int) -> list[float]:
        """By number e^−odds of these values; 0 of all others."""
        self.ahead(numbers)
        worth, holders = self.vocabulary.worth, self.vocabulary.holders
        fresh = [WORTH.newest_recent * math.exp(-(now - ordinal) / WORTH.fade) for ordinal in range(now + 1)]
        out = [0.0] * len(worth)
        for number in numbers:
            out[number] = math.exp(-(WORTH.bias + worth[number] + fresh[holders[number].ordinal]))
        for number in self._marked().intersection(numbers):
            out[number] = math.exp(-self.odds(self.vocabulary.texts[number], now))
        return out

    def _marked(self) -> set[int]:
        """Numbers of values that more is known of than what they are and when they were last shown."""
        return set(self.vocabulary.known(chain(self.uses, self.mentions, self.stated)))

    def newest(self, value: str) -> int | None:
        """Position of the unit that last showed a value."""
        holder = self.vocabulary.holder(value)
        return None if holder is None else holder.ordinal

    def affinity(self, value: str) -> float:
        """Share of the words of a compound value that the goal speaks of."""
        words = _WORD.findall(value)
        return sum(map(self.topic.__contains__, words)) / len(words) if words else 0.0

    def key_odds(self, source: Source, index: int) -> float:
        """What the key of a leaf adds: how many of its values were ever used, and how it reads. The same for all
        leaves that are bound alike (`Source.keys`)."""
        name = source.keys[index] if source.keys else ""
        if not name:
            return 0.0
        rate = 5 * self.used.get(name, 0) / (1 + self.seen.get(name, 0))
        odds = WORTH.key_rate * min(1.0, rate)
        if WORTH.key_name and is_keyish(source.parts.segments[index].key):
            odds += WORTH.key_name
        return odds + WORTH.key_needed if self.needs(source, index) else odds
