"""Rank: the order in which units, and inside them segments, are kept.

Gain of a segment = Σ worth of its values that nothing kept already holds + κ·Score; best gain per token first.
A static order (each value belongs to its densest holder) does as well as a lazy heap: +0.03 [−0.8, +1.0]
points of support at half the time (algorithm.md, "Speed").
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, repeat

from jettison.compressors.arguments import clip
from jettison.compressors.kinds import outline_of
from jettison.compressors.outline import Outline
from jettison.flow.borders import says_as
from jettison.flow.dependencies import Flow
from jettison.flow.sources import Source
from jettison.gains import Gains
from jettison.items import Fidelity, Item, Kind, Unit, reworded
from jettison.plan import Locks, Plan, Score, View
from jettison.ranking import HEADER, WHOLE, Candidate, Order, Part, Pick, Ranking
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
    forced, rest = _Picks(gains), _Picks(gains)
    for candidate in reversed(candidates.values()):
        _enter(candidate, gains, locks, forced, rest)
    best = forced.densities(), rest.densities()  # with all values, before the first is given away
    first = list(forced.ordered(best[0]))
    return Ranking(candidates, first, Order(rest.ordered(best[1])), min(rest.tokens, default=0))


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
    wanted = [says_as(item.text, lock.text) for lock in locks.spans.get(item.id, ())]
    return all(any(says(part.text) for part in parts.segments) for says in wanted)


def _forced(source: Source, locks: Locks, item: Item) -> frozenset[int]:
    """The segments that hold a protected span."""
    spans = locks.spans.get(item.id, ())
    if not spans:
        return frozenset()
    parts, found = source.parts, set[int]()
    segments = parts.segments
    if not parts.structured and parts.text == item.text:
        starts = [part.start for part in segments]
        for lock in spans:
            at = max(0, bisect_right(starts, lock.start) - 1)
            while at < len(segments) and starts[at] < lock.end:
                if segments[at].end > lock.start:
                    found.add(at)
                at += 1
        return frozenset(found)
    for text in dict.fromkeys(lock.text for lock in spans):
        says = says_as(source.item.text, text)
        first = next((index for index, part in enumerate(segments) if says(part.text)), None)
        if first is not None:
            found.add(first)
    return frozenset(found)


def _enter(candidate: Candidate, gains: Gains, locks: Locks, forced: _Picks, rest: _Picks) -> None:
    """Add what may be kept of a unit: its opening, then its items."""
    unit = candidate.unit.index
    opening = gains.opening(candidate)
    (forced if candidate.must else rest).add(unit, "", max(1, candidate.overhead), *opening)
    parts = {part.item.id: part for part in candidate.parts}
    texts = {item.id: item for item in candidate.texts}
    for name in sorted([*parts, *texts]):
        if name in parts:
            _enter_part(parts[name], unit, gains, forced, rest)
        else:
            (forced if locks.on(name) else rest).add(unit, name, gains.now(texts[name]), *gains.whole(texts[name]))


def _enter_part(part: Part, unit: int, gains: Gains, forced: _Picks, rest: _Picks) -> None:
    """Add what may be kept of a text."""
    source, mark = part.source, 0 if part.source.parts.structured else GAP
    bring, keys = gains.of(part, mark), gains.keys(source)
    kept = sorted(part.allowed)
    held = [at for at in kept if at in part.forced] if part.forced else []
    free = [at for at in kept if at not in part.forced] if part.forced else kept
    for into, some in ((forced, held), (rest, free)):
        into.extend(
            unit,
            part.item.id,
            some,
            [part.sizes[at] + mark for at in some],
            [bring[at] for at in some],
            [source.values[at] for at in some],
            [keys[at] for at in some] if keys else [1.0] * len(some),
        )


class _Picks:
    """What may be kept, in columns: an object for each of ten thousand segments would take longer than ordering them.

    Of equals the one that was entered first comes first: the newest unit, in it the opening, then by item and segment.
    """

    def __init__(self, gains: Gains) -> None:
        self.gains = gains
        self.units: list[int] = []
        self.items: list[str] = []
        self.segments: list[int] = []
        self.tokens: list[int] = []
        self.bring: list[float] = []
        """What each brings besides values."""
        self.values: list[Sequence[int]] = []
        """Numbers of the values that each holds."""
        self.keys: list[float | Sequence[float]] = []
        """What the key of its leaf does to their odds, as a factor of e^−odds; of whole items one for each value."""

    def add(self, unit: int, item: str, tokens: int, bring: float, held: Sequence[tuple[int, float]]) -> None:
        """Add a whole item, or the opening of a unit. `held`: values, each with what its key does."""
        self.extend(unit, item, [WHOLE], [tokens], [bring], [[value for value, _ in held]], [[key for _, key in held]])

    def extend(
        self,
        unit: int,
        item: str,
        segments: Sequence[int],
        tokens: Sequence[int],
        bring: Sequence[float],
        values: Sequence[Sequence[int]],
        keys: Sequence[float | Sequence[float]],
    ) -> None:
        """Add segments of one item."""
        self.units += [unit] * len(segments)
        self.items += [item] * len(segments)
        self.segments += segments
        self.tokens += tokens
        self.bring += bring
        self.values += values
        self.keys += keys

    def ordered(self, first: Sequence[float]) -> Iterator[Pick]:
        """The picks, best gain per token first, where each value belongs to its densest holder.

        `first`: minus the gain per token of each with all its values. In this order the values are given away. What a
        pick loses by that sets it back, never forward, so it comes when all that stands before it has been looked at.
        """
        units, items, segments, tokens, values = self.units, self.items, self.segments, self.tokens, self.values
        bring, keys, chance, improbable = self.bring, self.keys, self.gains.chance, self.gains.improbable
        back: list[tuple[float, int]] = []
        for at in sorted(range(len(first)), key=first.__getitem__):
            entry = first[at], at
            while back and back[0] < entry:
                order, late = heappop(back)
                yield _pick(Pick, (order, units[late], items[late], segments[late], tokens[late]))
            gain, key = bring[at], keys[at]
            if key == 1.0:
                for value in values[at]:
                    if one := chance[value]:
                        chance[value] = 0.0
                        gain += one
            else:
                for value, factor in zip(values[at], repeat(key) if isinstance(key, float) else key, strict=False):
                    if chance[value]:
                        chance[value] = 0.0
                        gain += 1 / (1 + improbable[value] * factor)
            order = -gain / tokens[at]
            if order == entry[0]:
                yield _pick(Pick, (order, units[at], items[at], segments[at], tokens[at]))
            else:
                heappush(back, (order, at))
        for order, late in sorted(back):
            yield _pick(Pick, (order, units[late], items[late], segments[late], tokens[late]))

    def densities(self) -> list[float]:
        """Minus the gain per token of each, with all its values."""
        chance, improbable, out = self.gains.chance, self.gains.improbable, []
        for gain, held, key, tokens in zip(self.bring, self.values, self.keys, self.tokens, strict=True):
            if key == 1.0:
                for value in held:
                    gain += chance[value]
            else:
                for value, factor in zip(held, repeat(key) if isinstance(key, float) else key, strict=False):
                    if chance[value]:
                        gain += 1 / (1 + improbable[value] * factor)
            out.append(-gain / tokens)
        return out


_pick = tuple.__new__
"""A third of the time of a named tuple's own constructor."""
