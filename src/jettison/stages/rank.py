"""Rank: the order in which units, and inside them segments, are kept.

Gain of a segment = Σ worth of its values that nothing kept already holds + κ·Score; best gain per token first.
A static order (each value belongs to its densest holder) does as well as a lazy heap: +0.03 [−0.8, +1.0]
points of support at half the time (algorithm.md, "Speed").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jettison.flow.dependencies import KEYISH, Flow, Source
from jettison.items import Fidelity, Item, Kind, Unit
from jettison.plan import Locks, Plan, Score, View
from jettison.ranking import HEADER, WHOLE, Candidate, Part, Pick, Ranking

__all__ = ["rank"]

SMALL = 40
"""Tokens up to which an item is kept whole or not at all: the mark of a cut (8–14 tokens) would eat the gain."""
KAPPA = 0.01
"""Weight of Score beside the worth of values (a value that was just used is worth about 0.5, a new id 0.02)."""
_HEADING = re.compile(r"^\s*(?:async\s+def|def|class|func|fn|function|interface|struct|impl|public|private|#{1,4})\s")
NEAR = 12
"""Leaves before and after in which a companion is looked for; records of the recorded sets have 9 on average."""
PAIR_TOKENS = 15
"""A leaf up to this size comes along so that a value is not alone: record binding 78 → 94 (algorithm.md)."""
OVERHEAD = 0.0
"""Share of a unit's overhead that its first segment is charged in the order (algorithm.md)."""
CODE_REACH = 80
"""Lines above a code line in which its heading is looked for (algorithm.md)."""


@dataclass(slots=True)
class _Entry:
    """A possible pick, before it is known which values it brings."""

    candidate: Candidate
    item: str
    index: int
    tokens: int
    base: float
    """κ·Score."""
    worths: list[tuple[str, float]]
    part: Part | None = None
    forced: bool = False

    @property
    def rough(self) -> float:
        """Gain per token if it brought all of its values."""
        return (self.base + sum(worth for _, worth in self.worths)) / self.tokens


def rank(
    view: View,
    flow: Flow,
    scores: Mapping[str, Score],
    locks: Locks,
    plan: Plan,
    units: Sequence[Unit],
    *,
    frozen: Collection[int] = (),
) -> Ranking:
    """Order what is left of `units`; all other units stay as the plan has them, and cover their values."""
    candidates = {unit.index: _candidate(unit, view, flow, scores, locks, plan, frozen) for unit in units}
    look = _Look(view, flow, scores, locks, plan, _covered(flow, plan, candidates))
    entries = [entry for candidate in candidates.values() for entry in look.entries(candidate)]
    return Ranking(candidates, tuple(_ordered(entries)))


def _ordered(entries: list[_Entry]) -> list[Pick]:
    """Give each value to its densest holder, charge the first of a unit a share of its overhead, order again."""
    entries.sort(key=lambda entry: (not entry.forced, -entry.rough, -entry.candidate.unit.index, entry.index))
    taken: set[str] = set()
    opened: set[int] = set()
    picks = []
    for entry in entries:
        unit, gain, charge = entry.candidate.unit.index, entry.base, 0.0
        for value, worth in entry.worths:
            if value not in taken:
                taken.add(value)
                gain += worth
        if entry.item and unit not in opened:
            charge = OVERHEAD * entry.candidate.overhead
        opened.add(unit)
        label = _companion(entry.part, entry.index) if entry.part is not None else WHOLE
        density = gain / (entry.tokens + charge)
        picks.append(Pick(density, unit, entry.item, entry.index, entry.tokens, entry.forced, label))
    picks.sort(key=lambda pick: (not pick.forced, -pick.density, -pick.unit, pick.item, pick.index))
    return picks


def _candidate(
    unit: Unit,
    view: View,
    flow: Flow,
    scores: Mapping[str, Score],
    locks: Locks,
    plan: Plan,
    frozen: Collection[int],
) -> Candidate:
    out = Candidate(unit, 0, 0, frozen=unit.index in frozen)
    for item in unit.items:
        decision = plan.decisions.get(item.id)
        if decision is not None and decision.fidelity is Fidelity.GONE:
            continue
        tokens = decision.after if decision is not None else view.cost(item)
        out.tokens += tokens
        out.score = max(out.score, scores[item.id].total)
        if locks.on(item.id):
            out.must = True
        if item.id in locks.whole or out.frozen:
            out.overhead += tokens
            continue
        part = _part(item, tokens, view, flow, locks, plan)
        if part is not None:
            out.parts.append(part)
            out.overhead += item.fixed + HEADER
        elif _droppable(item, unit, plan):
            out.texts.append(item)
        else:
            out.overhead += tokens
    return out


def _droppable(item: Item, unit: Unit, plan: Plan) -> bool:
    """Whether an item can go alone. Calls, results and reasoning hold their unit together."""
    if item.kind in (Kind.CALL, Kind.RESULT, Kind.REASONING, Kind.OPAQUE):
        return False
    return item.editable or item.kind is Kind.MEDIA


def _part(item: Item, tokens: int, view: View, flow: Flow, locks: Locks, plan: Plan) -> Part | None:
    """The item as something to cut, None where it is kept whole or not at all."""
    source = flow.sources.get(item.id)
    decision = plan.decisions.get(item.id)
    if source is None or not item.editable or item.synthetic or tokens - item.fixed <= SMALL:
        return None
    if decision is not None and decision.fidelity is Fidelity.STUB:
        return None
    if not _coverable(source, locks, item):
        return None
    count = len(source.parts.segments)
    allowed = decision.segments if decision is not None else tuple(range(count))
    if not allowed:
        return None
    density = (view.cost(item) - item.fixed) / max(1, len(item.text))
    return Part(item, source, allowed, _forced(source, locks, item), density)


def _coverable(source: Source, locks: Locks, item: Item) -> bool:
    """Whether every protected span of the item can be given verbatim by its segments; else it stays whole."""
    parts = source.parts
    if not parts.structured and parts.text == item.text:
        return True
    return all(any(lock.text in part.text for part in parts.segments) for lock in locks.spans.get(item.id, ()))


def _forced(source: Source, locks: Locks, item: Item) -> frozenset[int]:
    spans = locks.spans.get(item.id, ())
    if not spans:
        return frozenset()
    parts = source.parts
    plain = not parts.structured and parts.text == item.text
    found = set()
    for lock in spans:
        for index, part in enumerate(parts.segments):
            if plain and part.text and part.start < lock.end and part.end > lock.start:
                found.add(index)
            elif not plain and lock.text in part.text:
                found.add(index)
                break
    return frozenset(found)


def _covered(flow: Flow, plan: Plan, candidates: Collection[int]) -> set[str]:
    """Values held by what stays."""
    covered: set[str] = set()
    for source in flow.sources.values():
        if source.item.unit not in candidates:
            for index in _kept(source, plan):
                covered.update(source.values[index])
    return covered


def _kept(source: Source, plan: Plan) -> Iterable[int]:
    """Segments that the plan leaves of a text."""
    decision = plan.decisions.get(source.item.id)
    return range(len(source.values)) if decision is None else decision.segments


@dataclass(slots=True)
class _Look:
    """Turns a candidate into entries."""

    view: View
    flow: Flow
    scores: Mapping[str, Score]
    locks: Locks
    plan: Plan
    covered: Collection[str]

    def kept(self, source: Source) -> Iterable[int]:
        """Segments that are left of a text."""
        return _kept(source, self.plan)

    def entries(self, candidate: Candidate) -> Iterator[_Entry]:
        yield self.opening(candidate)
        for item in candidate.texts:
            source = self.flow.sources.get(item.id)
            worths = self.worths(source, self.kept(source)) if source is not None else []
            base, forced = KAPPA * self.scores[item.id].total, bool(self.locks.on(item.id))
            yield _Entry(candidate, item.id, WHOLE, max(1, self.view.cost(item)), base, worths, None, forced)
        for part in candidate.parts:
            base = KAPPA * self.scores[part.item.id].total / max(1, len(part.allowed))
            for index in part.allowed:
                worths = self.worths(part.source, (index,))
                forced = index in part.forced
                yield _Entry(candidate, part.item.id, index, part.tokens(index), base, worths, part, forced)

    def opening(self, candidate: Candidate) -> _Entry:
        """The pick that opens a unit: its calls and whatever in it is too small to cut."""
        rest = {part.item.id for part in candidate.parts} | {item.id for item in candidate.texts}
        worths: list[tuple[str, float]] = []
        for item in candidate.unit.items:
            source = self.flow.sources.get(item.id)
            if source is not None and item.id not in rest:
                worths += self.worths(source, self.kept(source))
        tokens, base = max(1, candidate.overhead), KAPPA * candidate.score
        return _Entry(candidate, "", WHOLE, tokens, base, worths, None, candidate.must)

    def worths(self, source: Source, indices: Iterable[int]) -> list[tuple[str, float]]:
        """(value, worth) of uncovered values, each once."""
        now = len(self.flow.learnt)
        values = {value: index for index in indices for value in source.values[index] if value not in self.covered}
        return [(value, self.flow.worth(value, source, index, now)) for value, index in values.items()]


def _companion(part: Part, index: int) -> int:
    """The segment that must come with this one: what names its record, or the heading above a code line."""
    segments, allowed = part.source.parts.segments, part.allowed
    here = segments[index]
    if part.source.parts.structured:
        low = high = index
        while low > 0 and segments[low - 1].record == here.record:
            low -= 1
        while high + 1 < len(segments) and segments[high + 1].record == here.record and high - index < NEAR:
            high += 1
        others = [at for at in range(max(low, index - NEAR), high + 1) if at != index and at in allowed]
        named = [at for at in others if KEYISH.search(segments[at].key)]
        short = [at for at in others if part.tokens(at) <= PAIR_TOKENS]
        return next(iter(named or short), WHOLE)
    if not here.text[:1].isspace():
        return WHOLE
    for at in range(index - 1, max(-1, index - CODE_REACH), -1):
        if _HEADING.match(segments[at].text):
            return at if at in allowed else WHOLE
    return WHOLE
