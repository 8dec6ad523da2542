"""Rank: the order in which units, and inside them segments, are kept.

Gain of a segment = Σ worth of its values that nothing kept already holds + κ·Score; best gain per token first.
A static order (each value belongs to its densest holder) does as well as a lazy heap: +0.03 [−0.8, +1.0]
points of support at half the time (algorithm.md, "Speed").
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from jettison.compressors.arguments import clip
from jettison.compressors.kinds import outline_of
from jettison.compressors.outline import Outline
from jettison.flow.dependencies import Flow
from jettison.flow.sources import Source
from jettison.gains import Gains
from jettison.items import Fidelity, Item, Kind, Unit, reworded
from jettison.plan import Locks, Plan, Score, View
from jettison.ranking import HEADER, WHOLE, Candidate, Part, Pick, Ranking
from jettison.relevance.context import keys_of, numbers_of

__all__ = ["look_ahead", "rank"]

SMALL = 40
"""Tokens up to which an item is kept whole or not at all: the mark of a cut (14–19 tokens) would eat the gain."""
OUTLINED = 300
"""Tokens from which a text is looked at as what it is (log, code, table …); below it is mostly one thing."""
GAP = 2
"""Tokens that a line is charged for the mark of the gap beside it (3 tokens; neighbours share it)."""


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
    gains = Gains(view, flow, scores, locks, plan, candidates)
    picks = _Picks(gains, locks)
    for candidate in candidates.values():
        picks.enter(candidate)
    return Ranking(candidates, _ordered(picks.forced, gains), _ordered(picks.rest, gains))


def _ordered(picks: list[Pick], gains: Gains) -> list[Pick]:
    """Give each value to its densest holder, then order again."""
    picks.sort()
    chance, out = gains.chance, []
    for pick in picks:
        order, newest, item, segment, tokens, gain, values, key = pick
        whole = gain
        if key == 1.0:
            for value in values:
                if one := chance[value]:
                    chance[value] = 0.0
                    whole += one
        else:
            whole = gains.keyed(gain, values, key, give=True)
        if (settled := -whole / tokens) != order:
            pick = _pick(Pick, (settled, newest, item, segment, tokens, gain, values, key))
        out.append(pick)
    out.sort()
    return out


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
        flow.ahead(chain.from_iterable(source.values))
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


class _Picks:
    """Turns candidates into picks."""

    def __init__(self, gains: Gains, locks: Locks) -> None:
        self.gains, self.locks = gains, locks
        self.forced: list[Pick] = []
        self.rest: list[Pick] = []

    def enter(self, candidate: Candidate) -> None:
        """Add what may be kept of a unit."""
        unit, gains = candidate.unit.index, self.gains
        self.add(candidate.must, unit, "", max(1, candidate.overhead), *gains.opening(candidate))
        for item in candidate.texts:
            must = bool(self.locks.on(item.id))
            self.add(must, unit, item.id, max(1, gains.view.cost(item)), *gains.whole(item))
        for part in candidate.parts:
            self.segments(part, unit)

    def segments(self, part: Part, unit: int) -> None:
        """Add what may be kept of a text."""
        item, forced, sizes, source = part.item.id, part.forced, part.sizes, part.source
        mark = 0 if source.parts.structured else GAP
        values, chance = source.values, self.gains.chance
        gains, keys = self.gains.of(part, mark), self.gains.keys(source)
        for index in part.allowed:
            tokens, here = sizes[index] + mark, values[index]
            gain = whole = gains[index]
            key = keys[index] if keys else 1.0
            if key == 1.0:
                for value in here:
                    whole += chance[value]
            else:
                whole = self.gains.keyed(gain, here, key)
            into = self.forced if index in forced else self.rest
            into.append(_pick(Pick, (-whole / tokens, -unit, item, index, tokens, gain, here, key)))

    def add(
        self, must: bool, unit: int, item: str, tokens: int, gain: float, held: Sequence[tuple[int, float]]
    ) -> None:
        """Add a whole item, or the opening of a unit. `held`: values, each with what its key does."""
        values, keys = [value for value, _ in held], [key for _, key in held]
        whole = self.gains.keyed(gain, values, keys)
        (self.forced if must else self.rest).append(
            Pick(-whole / tokens, -unit, item, WHOLE, tokens, gain, values, keys)
        )
