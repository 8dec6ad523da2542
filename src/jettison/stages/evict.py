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
    waiting: dict[int, _Bundle] = {}
    heap: list[tuple[float, int]] = []
    for pick in ranking.picks:
        while heap and not pick.forced and heap[0][0] <= pick.order:
            out.open(waiting, heappop(heap))
        if pick.forced or pick.unit in out.cost:
            out.take(pick)
            continue
        bundle = waiting.setdefault(pick.unit, _Bundle(OPENING * ranking.candidates[pick.unit].overhead))
        bundle.add(pick)
        heappush(heap, (bundle.order, pick.unit))
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

    def add(self, pick: Pick) -> None:
        self.gain -= pick.order * pick.tokens
        self.tokens += pick.tokens if pick.item else 0
        self.picks.append(pick)

    @property
    def order(self) -> float:
        """Minus the gain per token of all of it."""
        return -self.gain / max(1.0, self.tokens)


class _Filling:
    """One pass of filling: what was taken, what it costs."""

    def __init__(self, ranking: Ranking, room: int) -> None:
        self.ranking = ranking
        self.room = room
        self.spent = 0
        self.free = room - sum(entry.overhead for entry in ranking.candidates.values() if entry.must)
        self.cost: dict[int, int] = {}
        """Tokens spent by unit, of the units that are open."""
        self.selection = Selection()
        self.parts: dict[str, Part] = {
            part.item.id: part for candidate in ranking.candidates.values() for part in candidate.parts
        }
        self.have: set[tuple[str, int]] = set()
        self.records: set[tuple[str, str]] = set()

    def open(self, waiting: dict[int, _Bundle], entry: tuple[float, int]) -> None:
        """Take the picks that wait for a unit, unless more of them joined since the entry was made."""
        order, unit = entry
        bundle = waiting.get(unit)
        if bundle is None or bundle.order != order:
            return
        del waiting[unit]
        for pick in bundle.picks:
            self.take(pick)

    def take(self, pick: Pick) -> None:
        if pick.item and (pick.item, pick.segment) in self.have:
            return
        candidate = self.ranking.candidates[pick.unit]
        opening = 0 if pick.unit in self.cost else candidate.overhead
        if not pick.item:
            if pick.unit in self.cost:
                return
            cost = opening
        elif not pick.forced and self.spent + pick.tokens + opening > self.room:
            return
        else:
            pick = self._with_labels(pick)
            cost = pick.tokens + opening + self._companions(pick)
        if not pick.forced and self.spent + cost > self.room:
            return
        self.spent += cost
        self.cost[pick.unit] = self.cost.get(pick.unit, 0) + cost
        self.selection.taken.append(pick)
        self._note(pick)

    def _with_labels(self, pick: Pick) -> Pick:
        part = self.parts.get(pick.item)
        if part is None or pick.segment == WHOLE:
            return pick
        return pick._replace(labels=part.labels(pick.segment, pair=self.free >= PAIRS))

    def _companions(self, pick: Pick) -> int:
        """Tokens of the labels that come with a segment, and of its record's path."""
        part = self.parts.get(pick.item)
        if part is None or pick.segment == WHOLE:
            return 0
        tokens = 0
        for label in pick.labels:
            if (pick.item, label) not in self.have:
                tokens += part.tokens(label)
        record = part.source.parts.segments[pick.segment].record
        if record and (pick.item, record) not in self.records:
            tokens += 2 + len(record) // PATH_CHARACTERS
        return tokens

    def _note(self, pick: Pick) -> None:
        self.have.add((pick.item, pick.segment))
        part = self.parts.get(pick.item)
        if part is None or pick.segment == WHOLE:
            return
        self.have.update([(pick.item, label) for label in pick.labels])
        self.records.add((pick.item, part.source.parts.segments[pick.segment].record))

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
