"""Rank: the order in which units, and inside them segments, are kept.

Gain of a segment = Σ worth of its values that nothing kept already holds + κ·Score; best gain per token first.
A static order (each value belongs to its densest holder) does as well as a lazy heap: +0.03 [−0.8, +1.0]
points of support at half the time (algorithm.md, "Speed").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jettison.compressors.arguments import clip
from jettison.compressors.kinds import outline_of
from jettison.compressors.outline import Outline
from jettison.flow.dependencies import Flow, Source
from jettison.items import Fidelity, Item, Kind, Unit, reworded
from jettison.plan import Locks, Plan, Score, View
from jettison.ranking import HEADER, WHOLE, Candidate, Part, Pick, Ranking

__all__ = ["rank"]

SMALL = 40
"""Tokens up to which an item is kept whole or not at all: the mark of a cut (14–19 tokens) would eat the gain."""
KAPPA = 0.03
"""Weight of Score beside the worth of values (a value that was just used is worth about 0.5, a new id 0.02)."""
PROSE = 0.03
"""Worth of a token of prose that the task surely needs (relevance 1), with embeddings or a judge; it falls with the
square of the relevance. A value that was just used is worth about as much a token (0.5 in a line of 25)."""

ALARM = 0.5
"""Worth of one of the few errors among routine rows: that of a value that was just used. By what its type says of it
alone (a share of κ) an error without rare ids went with the rows around it."""

OUTLINED = 300
"""Tokens from which a text is looked at as what it is (log, code, table …); below it is mostly one thing."""
BESIDE = 0.5
"""Share of a heavy segment's weight that its neighbours have: the rows around an error."""
GAP = 2
"""Tokens that a line is charged for the mark of the gap beside it (3 tokens; neighbours share it)."""


class _Entry(NamedTuple):
    """A possible pick, before it is known which values it brings. Sorts by what it would bring alone."""

    rest: bool
    rough: float
    newest: int
    item: str
    segment: int
    tokens: int
    base: float
    """κ·Score."""
    worths: Sequence[tuple[str, float]]


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
    look = _Look(view, flow, scores, locks, plan, _covered(flow, plan, candidates), len(flow.learnt))
    entries = [entry for candidate in candidates.values() for entry in look.entries(candidate)]
    return Ranking(candidates, tuple(_ordered(entries)))


def _ordered(entries: list[_Entry]) -> list[Pick]:
    """Give each value to its densest holder, then order again."""
    entries.sort()
    taken: set[str] = set()
    picks = []
    for rest, _, newest, item, index, tokens, gain, worths in entries:
        for value, worth in worths:
            if value not in taken:
                taken.add(value)
                gain += worth
        picks.append(Pick(rest, -gain / tokens, newest, item, index, tokens))
    picks.sort()
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
        elif clipped := _clipped(item, view, flow, locks, plan):
            out.clips.append((item, *clipped))
            out.overhead += clipped[1]
        else:
            out.overhead += tokens
    return out


def _clipped(item: Item, view: View, flow: Flow, locks: Locks, plan: Plan) -> tuple[str, int] | None:
    """A call's arguments clipped, and its tokens then; None where they stay as they are."""
    if item.kind is not Kind.CALL or not item.editable or item.id in plan.decisions or locks.on(item.id):
        return None
    known = flow.clips.get(item.id)
    if known is None:
        text = clip(item.text, view.mark(item.text)) or ""
        known = flow.clips[item.id] = text, view.cost(reworded(item, text, Fidelity.COMPRESSED)) if text else 0
    return known if known[0] else None


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
    allowed = frozenset(decision.segments) if decision is not None else range(count)
    if not allowed:
        return None
    sizes = source.measure(view.cost(item) - item.fixed)
    outline, held = _outline(source, view.cost(item)), item.id in locks.present
    return Part(item, source, allowed, _forced(source, locks, item), sizes, outline, held)


def _outline(source: Source, tokens: int) -> Outline | None:
    """What the content type of a text says, looked at once; None of a short one."""
    if source.outline is False:
        source.outline = outline_of(source.parts) if tokens >= OUTLINED else None
    found: Outline | None = source.outline
    return found


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
            if plain and part.start < lock.end and part.end > lock.start:
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
    covered: set[str]
    now: int
    """Units learnt so far: the clock of uses and mentions."""
    decay: dict[str, float] = field(default_factory=dict)
    """e^−odds of each value, its key aside."""

    def __post_init__(self) -> None:
        self.covered |= self.flow.head

    def kept(self, source: Source) -> Iterable[int]:
        """Segments that are left of a text."""
        return _kept(source, self.plan)

    def entries(self, candidate: Candidate) -> Iterator[_Entry]:
        yield self.opening(candidate)
        newest = -candidate.unit.index
        for item in candidate.texts:
            source = self.flow.sources.get(item.id)
            worths = self.worths(source, self.kept(source)) if source is not None else []
            tokens, rest = max(1, self.view.cost(item)), not self.locks.on(item.id)
            base = KAPPA * self.scores[item.id].total + self.prose(item.id, WHOLE, tokens)
            yield _entry(rest, newest, item.id, WHOLE, tokens, base, worths)
        for part in candidate.parts:
            share = _shares(part, KAPPA * self.scores[part.item.id].total)
            mark = 0 if part.source.parts.structured else GAP
            for index in part.allowed:
                worths = self.worths(part.source, (index,))
                tokens = part.tokens(index) + mark
                gain = share(index) + self.prose(part.item.id, index, tokens)
                if part.outline is not None and index in part.outline.alarms:
                    gain += ALARM
                yield _entry(index not in part.forced, newest, part.item.id, index, tokens, gain, worths)

    def prose(self, item: str, index: int, tokens: int) -> float:
        """What the task needs of a segment as prose, by embeddings or a judge; 0 by rules."""
        near = self.scores[item].prose
        if not near:
            return 0.0
        return PROSE * (max(near.values()) if index == WHOLE else near.get(index, 0.0)) ** 2 * tokens

    def opening(self, candidate: Candidate) -> _Entry:
        """The pick that opens a unit: its calls and whatever in it is too small to cut."""
        rest = {part.item.id for part in candidate.parts} | {item.id for item in candidate.texts}
        worths: list[tuple[str, float]] = []
        base = KAPPA * candidate.score
        for item in candidate.unit.items:
            if item.id in rest:
                continue
            source = self.flow.sources.get(item.id)
            if source is not None:
                worths += self.worths(source, self.kept(source))
            base += self.prose(item.id, WHOLE, self.view.cost(item))
        tokens = max(1, candidate.overhead)
        return _entry(not candidate.must, -candidate.unit.index, "", WHOLE, tokens, base, worths)

    def worths(self, source: Source, indices: Iterable[int]) -> list[tuple[str, float]]:
        """(value, worth) of uncovered values, each once."""
        found: dict[str, float] = {}
        covered, decay = self.covered, self.decay
        for index in indices:
            bonus = 0.0
            for value in source.values[index]:
                if value in covered:
                    continue
                e = decay.get(value)
                if e is None:
                    e = decay[value] = math.exp(-self.flow.odds(value, self.now))
                if not bonus:
                    bonus = math.exp(-self.flow.key_odds(source, index))
                found[value] = 1 / (1 + e * bonus)
        return list(found.items())


def _shares(part: Part, score: float) -> Callable[[int], float]:
    """κ·Score of an item, dealt out to its segments by what their content type says of them, else evenly."""
    outline = part.outline
    if outline is None:
        even = score / max(1, len(part.allowed))
        return lambda index: even
    weight = list(outline.weight)
    for index, heavy in outline.near.items():
        weight[index] = max(weight[index], BESIDE * weight[heavy])
    rate = score / (sum([weight[index] for index in part.allowed]) or 1.0)
    return lambda index: rate * weight[index]


def _entry(
    rest: bool, newest: int, item: str, index: int, tokens: int, base: float, worths: Sequence[tuple[str, float]]
) -> _Entry:
    gain = base
    for _, worth in worths:
        gain += worth
    return _Entry(rest, -gain / tokens, newest, item, index, tokens, base, worths)
