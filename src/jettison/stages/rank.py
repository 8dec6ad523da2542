"""Rank: the order in which units, and inside them segments, are kept.

Gain of a segment = Σ worth of its values that nothing kept already holds + κ·Score; best gain per token first.
A static order (each value belongs to its densest holder) does as well as a lazy heap: +0.03 [−0.8, +1.0]
points of support at half the time (algorithm.md, "Speed").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jettison.compressors.arguments import clip
from jettison.compressors.kinds import outline_of
from jettison.compressors.outline import Outline
from jettison.flow.dependencies import Flow, Source
from jettison.items import Fidelity, Item, Kind, Unit, reworded
from jettison.plan import Locks, Plan, Score, View
from jettison.ranking import HEADER, WHOLE, Candidate, Part, Pick, Ranking
from jettison.relevance.context import keys_of, numbers_of

__all__ = ["look_ahead", "rank"]

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


_Held = Sequence[tuple[Sequence[str], float]]
"""Values with what their key adds, as e^−odds."""
_Entry = tuple[float, int, str, int, int, float, _Held]
"""A possible pick, before it is known which values it brings: minus what it would bring alone a token, minus its unit's
number, item, segment, tokens, κ·Score, what it holds. A plain tuple with a number first: it sorts in half the time of
one with names and a flag first."""


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
    for candidate in candidates.values():
        look.enter(candidate)
    forced, rest = _ordered(look.forced, look.decay, rest=False), _ordered(look.rest, look.decay, rest=True)
    return Ranking(candidates, (*forced, *rest))


def _ordered(entries: list[_Entry], decay: dict[str, float], *, rest: bool) -> list[Pick]:
    """Give each value to its densest holder, then order again. `decay`: 0 of values that are given away."""
    entries.sort()
    picks = []
    for _, newest, item, index, tokens, gain, held in entries:
        for values, bonus in held:
            for value in values:
                if e := decay[value]:
                    decay[value] = 0.0
                    gain += 1 / (1 + e * bonus)
        picks.append((-gain / tokens, newest, item, index, tokens))
    picks.sort()
    return [_pick(Pick, (rest, *pick, ())) for pick in picks]


_pick = tuple.__new__
"""A third of the time of a named tuple's own constructor."""


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


def look_ahead(flow: Flow, item: Item, tokens: int) -> None:
    """Do now what ranking will ask of an item. It stays known: of the source, or in the caches by text."""
    source = flow.sources.get(item.id)
    if source is not None and item.editable and not item.synthetic and tokens - item.fixed > SMALL:
        source.measure(tokens - item.fixed)
        _outline(source, tokens)
        flow.ahead(source)
    numbers_of(item.text)
    keys_of(item.text)


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


def _kept(source: Source, plan: Plan) -> Collection[int]:
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
    """e^−odds of each value, its key aside; 0 of one that is covered."""
    bonus: dict[str, float] = field(default_factory=dict)
    """What a key adds, by what leaves are bound to."""
    forced: list[_Entry] = field(default_factory=list)
    rest: list[_Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.decay.update(dict.fromkeys(self.covered, 0.0))
        self.decay.update(dict.fromkeys(self.flow.head, 0.0))

    def enter(self, candidate: Candidate) -> None:
        """Add what may be kept of a unit."""
        unit = candidate.unit.index
        self.opening(candidate)
        for item in candidate.texts:
            source = self.flow.sources.get(item.id)
            held = self.held(source, _kept(source, self.plan)) if source is not None else []
            tokens = max(1, self.view.cost(item))
            base = KAPPA * self.scores[item.id].total + self.prose(item.id, WHOLE, tokens)
            self.add(bool(self.locks.on(item.id)), unit, item.id, WHOLE, tokens, base, held)
        for part in candidate.parts:
            self.segments(part, unit)

    def segments(self, part: Part, unit: int) -> None:
        """Add what may be kept of a text."""
        item, forced, sizes, source = part.item.id, part.forced, part.sizes, part.source
        score = self.scores[item]
        share = _shares(part, KAPPA * score.total)
        mark = 0 if source.parts.structured else GAP
        alarms = part.outline.alarms if part.outline is not None else ()
        values, keys = source.values, source.keys
        for index in part.allowed:
            tokens = sizes[index] + mark
            base = share(index)
            if score.prose:
                base += self.prose(item, index, tokens)
            if index in alarms:
                base += ALARM
            held: _Held = ((values[index], self.key(source, index) if keys else 1.0),) if values[index] else ()
            self.add(index in forced, unit, item, index, tokens, base, held)

    def add(self, must: bool, unit: int, item: str, index: int, tokens: int, base: float, held: _Held) -> None:
        gain, decay = base, self.decay
        for values, bonus in held:
            for value in values:
                e = decay.get(value)
                if e is None:
                    e = decay[value] = math.exp(-self.flow.odds(value, self.now))
                if e:
                    gain += 1 / (1 + e * bonus)
        (self.forced if must else self.rest).append((-gain / tokens, -unit, item, index, tokens, base, held))

    def prose(self, item: str, index: int, tokens: int) -> float:
        """What the task needs of a segment as prose, by embeddings or a judge; 0 by rules."""
        near = self.scores[item].prose
        if not near:
            return 0.0
        return PROSE * (max(near.values()) if index == WHOLE else near.get(index, 0.0)) ** 2 * tokens

    def opening(self, candidate: Candidate) -> None:
        """The pick that opens a unit: its calls and whatever in it is too small to cut."""
        rest = {part.item.id for part in candidate.parts} | {item.id for item in candidate.texts}
        held: list[tuple[Sequence[str], float]] = []
        base = KAPPA * candidate.score
        for item in candidate.unit.items:
            if item.id in rest:
                continue
            source = self.flow.sources.get(item.id)
            if source is not None:
                held += self.held(source, _kept(source, self.plan))
            base += self.prose(item.id, WHOLE, self.view.cost(item))
        self.add(candidate.must, candidate.unit.index, "", WHOLE, max(1, candidate.overhead), base, held)

    def held(self, source: Source, indices: Iterable[int]) -> list[tuple[Sequence[str], float]]:
        """What some segments of a text hold, each value once."""
        found: list[tuple[Sequence[str], float]] = []
        seen: set[str] = set()
        for index in indices:
            new = [value for value in source.values[index] if value not in seen]
            if new:
                seen.update(new)
                found.append((new, self.key(source, index)))
        return found

    def key(self, source: Source, index: int) -> float:
        """What the key of a leaf adds to its values."""
        name = source.keys[index] if source.keys else ""
        if not name:
            return 1.0
        known = self.bonus.get(name)
        if known is None:
            known = self.bonus[name] = math.exp(-self.flow.key_odds(source, index))
        return known


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
