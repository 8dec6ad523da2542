"""Evict: fill the room with the best segments, then with whole units, then with stubs; the rest goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

from jettison.ranking import WHOLE, Candidate, Part, Pick, Ranking, Selection

__all__ = ["evict"]


PATH_CHARACTERS = 8
"""Characters of a record's path a token, as it is written in the shape of the whole. With 3 mcpmark has 1.6 points of
support less at 25 %, tau-airline 1.3; with 4 to 10 the sets differ by less than one."""
PAIRS = 1_000
"""Room, tokens, from which a leaf brings a second one of its record: at tau-airline's 25 % (500 tokens) the pairs
take 6 points of support."""
OPENING = 0.2
"""Share of a unit's overhead that its segments must pay for together before it is opened."""


def evict(ranking: Ranking, room: int) -> Selection:
    """Choose what stays of the candidates within `room` tokens, by estimate; `compress` counts and trims.

    Forced picks are always taken. Order of the rest: gain per token, where a unit is opened when its waiting
    segments together are worth their tokens and its overhead; then the newest units are restored in full; then
    calls with stubs, newest first, while there is room.
    """
    out = _Filling(ranking, room)
    for pick in ranking.forced:
        out.take(pick, forced=True)
    out.selection.forced = len(out.selection.taken)
    waiting: dict[int, _Bundle] = {}
    heap: list[tuple[float, int]] = []
    for pick in ranking.rest:
        if out.spent + ranking.least > room:
            heap.clear()  # nothing that waits has room either
            break
        order, unit, _, _, tokens = pick
        while heap and heap[0][0] <= order:
            out.open(waiting, heappop(heap))
        if unit in out.cost:
            if out.spent + tokens <= room:
                out.take(pick)
            continue
        bundle = waiting.get(unit)
        if bundle is None:
            bundle = waiting[unit] = _Bundle(OPENING * ranking.candidates[unit].overhead)
        bundle.add(pick)
        heappush(heap, (bundle.order, unit))
    while heap:
        out.open(waiting, heappop(heap))
    out.restore()
    out.stub()
    return out.selection


@dataclass(slots=True)
class _Bundle:
    """Picks of a unit that is not open yet."""

    tokens: float
    gain: float = 0.0
    picks: list[Pick] = field(default_factory=list)
    order: float = 0.0
    """Minus the gain per token of all of it."""

    def add(self, pick: Pick) -> None:
        order, _, item, _, tokens = pick
        self.gain -= order * tokens
        self.tokens += tokens if item else 0
        self.picks.append(pick)
        self.order = -self.gain / max(1.0, self.tokens)


@dataclass(slots=True)
class _Text:
    """A text of which something was taken, or may be."""

    part: Part
    have: set[int] = field(default_factory=set)
    records: set[str] = field(default_factory=set)

    def companions(self, segment: int, pair: bool) -> tuple[tuple[int, ...], int]:
        """The segments that come with one, and the tokens of those that are new and of the path of its record."""
        part, tokens = self.part, 0
        labels = part.labels(segment, pair=pair)
        for label in labels:
            if label not in self.have:
                tokens += part.sizes[label]
        record = part.source.parts.segments[segment].record
        if record and record not in self.records:
            tokens += 2 + len(record) // PATH_CHARACTERS
        return labels, tokens

    def add(self, segment: int, labels: tuple[int, ...]) -> None:
        self.have.add(segment)
        self.have.update(labels)
        self.records.add(self.part.source.parts.segments[segment].record)


class _Filling:
    """One pass of filling: what was taken, what it costs."""

    def __init__(self, ranking: Ranking, room: int) -> None:
        self.ranking = ranking
        self.room = room
        self.spent = 0
        free = room - sum(entry.overhead for entry in ranking.candidates.values() if entry.must)
        self.pair = free >= PAIRS
        self.cost: dict[int, int] = {}
        """Tokens spent by unit, of the units that are open."""
        self.selection = Selection()
        self.texts: dict[str, _Text] = {
            part.item.id: _Text(part) for candidate in ranking.candidates.values() for part in candidate.parts
        }
        self.whole: set[str] = set()
        """Items that were taken whole."""

    def open(self, waiting: dict[int, _Bundle], entry: tuple[float, int]) -> None:
        """Take the picks that wait for a unit, unless more of them joined since the entry was made."""
        order, unit = entry
        bundle = waiting.get(unit)
        if bundle is None or bundle.order != order:
            return
        del waiting[unit]
        for pick in bundle.picks:
            self.take(pick)

    def take(self, pick: Pick, *, forced: bool = False) -> None:
        """Take a pick, with what comes with it, if it is not held yet and there is room."""
        _, unit, item, segment, tokens = pick
        spent, cost = self.cost.get(unit), tokens if item else 0
        if spent is None:
            spent, cost = 0, cost + self.ranking.candidates[unit].overhead
        elif not item:
            return  # it is open
        text = None if segment == WHOLE else self.texts.get(item)
        if item in self.whole or (text is not None and segment in text.have):
            return
        if not forced and self.spent + cost > self.room:
            return
        labels: tuple[int, ...] = ()
        if text is not None:
            labels, more = text.companions(segment, self.pair)
            if not forced and self.spent + cost + more > self.room:
                if text.part.source.parts.structured:
                    return  # a leaf without what names its record says little
                labels, more = (), 0
            cost += more
            text.add(segment, labels)
        elif item:
            self.whole.add(item)
        self.spent += cost
        self.cost[unit] = spent + cost
        self.selection.taken.append(pick)
        self.selection.labels.append(labels)

    def restore(self) -> None:
        """Whole units, newest first, while they fit."""
        for index, candidate in reversed(list(self.ranking.candidates.items())):
            extra = candidate.tokens - self.cost.get(index, 0)
            if self.spent + max(0, extra) <= self.room:
                self._keep(index, candidate, self.selection.full)

    def stub(self) -> None:
        """Calls with stubs of their results, newest first, while they fit."""
        for index, candidate in reversed(list(self.ranking.candidates.items())):
            if index in self.cost or not candidate.parts or candidate.frozen:
                continue
            if self.spent + candidate.overhead <= self.room:
                self.cost[index] = candidate.overhead
                self.spent += candidate.overhead
                self.selection.stubs.append(index)

    def _keep(self, index: int, candidate: Candidate, where: list[int]) -> None:
        self.spent += max(0, candidate.tokens - self.cost.get(index, 0))
        self.cost[index] = candidate.tokens
        where.append(index)
