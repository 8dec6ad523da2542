"""Rank: the order in which units, and inside them segments, are kept.

Gain of a segment = Σ worth of its values that nothing kept already holds + κ·Score; best gain per token first.
A static order (each value belongs to its densest holder) does as well as a lazy heap: +0.03 [−0.8, +1.0]
points of support at half the time (algorithm.md, "Speed").
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, repeat

from jettison.compressors.arguments import clip
from jettison.compressors.kinds import outline_of
from jettison.compressors.outline import Outline
from jettison.flow.dependencies import Flow
from jettison.flow.sources import Source
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
    look = _Look(view, flow, scores, locks, plan, candidates)
    for candidate in candidates.values():
        look.enter(candidate)
    return Ranking(candidates, _ordered(look.forced, look), _ordered(look.rest, look))


def _ordered(picks: list[Pick], look: _Look) -> list[Pick]:
    """Give each value to its densest holder, then order again."""
    picks.sort()
    chance, out = look.chance, []
    for pick in picks:
        order, newest, item, segment, tokens, gain, values, key = pick
        whole = gain
        if key == 1.0:
            for value in values:
                if one := chance[value]:
                    chance[value] = 0.0
                    whole += one
        else:
            whole = look.keyed(gain, values, key, give=True)
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


def _kept(source: Source, plan: Plan) -> Collection[int]:
    """Segments that the plan leaves of a text."""
    decision = plan.decisions.get(source.item.id)
    return range(len(source.values)) if decision is None else decision.segments


class _Look:
    """Turns candidates into picks.

    By number of a value: `improbable`, its e^−odds without what its key does; `chance`, its worth without that, 0 where
    it is covered or given away. By the name of a key: `bonus`, what it does to e^−odds.
    """

    def __init__(
        self,
        view: View,
        flow: Flow,
        scores: Mapping[str, Score],
        locks: Locks,
        plan: Plan,
        candidates: Mapping[int, Candidate],
    ) -> None:
        self.view, self.flow, self.scores, self.locks, self.plan = view, flow, scores, locks, plan
        self.improbable, self.chance = self.worths(candidates)
        self.bonus: dict[str, float] = {}
        self.forced: list[Pick] = []
        self.rest: list[Pick] = []

    def worths(self, candidates: Mapping[int, Candidate]) -> tuple[list[float], list[float]]:
        """`improbable` and `chance`: of what may be kept, but for what the instructions and what stays hold."""
        flow = self.flow
        near: set[int] = set()
        covered = set(flow.vocabulary.known(flow.head))
        for source in flow.sources.values():
            into = near if source.item.unit in candidates else covered
            into.update(*map(source.values.__getitem__, _kept(source, self.plan)))
        near -= covered
        improbable = flow.improbable(near, len(flow.learnt))
        chance = [0.0] * len(improbable)
        for value in near:
            chance[value] = 1 / (1 + improbable[value])
        return improbable, chance

    def enter(self, candidate: Candidate) -> None:
        """Add what may be kept of a unit."""
        unit = candidate.unit.index
        self.opening(candidate)
        for item in candidate.texts:
            source = self.flow.sources.get(item.id)
            held = self.held(source, _kept(source, self.plan)) if source is not None else []
            tokens = max(1, self.view.cost(item))
            gain = KAPPA * self.scores[item.id].total + self.prose(item.id, WHOLE, tokens)
            self.add(bool(self.locks.on(item.id)), unit, item.id, tokens, gain, held)
        for part in candidate.parts:
            self.segments(part, unit)

    def segments(self, part: Part, unit: int) -> None:
        """Add what may be kept of a text."""
        item, forced, sizes, source = part.item.id, part.forced, part.sizes, part.source
        mark = 0 if source.parts.structured else GAP
        values, chance = source.values, self.chance
        gains, keys = self.gains(part), self.keys(source)
        for index in part.allowed:
            tokens, here = sizes[index] + mark, values[index]
            gain = whole = gains[index]
            key = keys[index] if keys else 1.0
            if key == 1.0:
                for value in here:
                    whole += chance[value]
            else:
                whole = self.keyed(gain, here, key)
            into = self.forced if index in forced else self.rest
            into.append(_pick(Pick, (-whole / tokens, -unit, item, index, tokens, gain, here, key)))

    def gains(self, part: Part) -> list[float]:
        """By segment, what it brings besides its values: its share of κ·Score, what it says as prose, that it is an
        alarm."""
        item, score, outline = part.item.id, self.scores[part.item.id], part.outline
        gains = _shares(part, KAPPA * score.total)
        if score.prose:
            mark = 0 if part.source.parts.structured else GAP
            gains = [gain + self.prose(item, at, part.sizes[at] + mark) for at, gain in enumerate(gains)]
        for index in outline.alarms if outline is not None else ():
            gains[index] += ALARM
        return gains

    def add(
        self, must: bool, unit: int, item: str, tokens: int, gain: float, held: Sequence[tuple[int, float]]
    ) -> None:
        """Add a whole item, or the opening of a unit. `held`: values, each with what its key does."""
        values, keys = [value for value, _ in held], [key for _, key in held]
        whole = self.keyed(gain, values, keys)
        (self.forced if must else self.rest).append(
            Pick(-whole / tokens, -unit, item, WHOLE, tokens, gain, values, keys)
        )

    def keyed(self, gain: float, values: Sequence[int], key: float | Sequence[float], *, give: bool = False) -> float:
        """The gain with that of the values, which their keys change. `give`: the values are given away."""
        for value, one in zip(values, repeat(key) if isinstance(key, float) else key, strict=False):
            if self.chance[value]:
                gain += 1 / (1 + self.improbable[value] * one)
                if give:
                    self.chance[value] = 0.0
        return gain

    def prose(self, item: str, index: int, tokens: int) -> float:
        """What the task needs of a segment as prose, by embeddings or a judge; 0 by rules."""
        near = self.scores[item].prose
        if not near:
            return 0.0
        return PROSE * (max(near.values()) if index == WHOLE else near.get(index, 0.0)) ** 2 * tokens

    def opening(self, candidate: Candidate) -> None:
        """The pick that opens a unit: its calls and whatever in it is too small to cut."""
        rest = {part.item.id for part in candidate.parts} | {item.id for item in candidate.texts}
        held: list[tuple[int, float]] = []
        gain = KAPPA * candidate.score
        for item in candidate.unit.items:
            if item.id in rest:
                continue
            source = self.flow.sources.get(item.id)
            if source is not None:
                held += self.held(source, _kept(source, self.plan))
            gain += self.prose(item.id, WHOLE, self.view.cost(item))
        self.add(candidate.must, candidate.unit.index, "", max(1, candidate.overhead), gain, held)

    def held(self, source: Source, indices: Iterable[int]) -> list[tuple[int, float]]:
        """What some segments of a text hold, each value once, with what the key of its leaf does."""
        found: dict[int, float] = {}
        keys = self.keys(source)
        for index in indices:
            key = keys[index] if keys else 1.0
            for value in source.values[index]:
                found.setdefault(value, key)
        return list(found.items())

    def keys(self, source: Source) -> list[float]:
        """By leaf what its key does to the values in it; empty where no key of the text does anything."""
        known = self.bonus
        for name in dict.fromkeys(source.keys):
            if name not in known:
                known[name] = math.exp(-self.flow.key_odds(source, source.keys.index(name)))
        if all(known[name] == 1.0 for name in dict.fromkeys(source.keys)):
            return []
        return [known[name] for name in source.keys]


def _shares(part: Part, score: float) -> list[float]:
    """κ·Score of an item, dealt out to its segments by what their content type says of them, else evenly."""
    outline = part.outline
    if outline is None:
        return [score / max(1, len(part.allowed))] * len(part.source.values)
    weight = list(outline.weight)
    for index, heavy in outline.near.items():
        weight[index] = max(weight[index], BESIDE * weight[heavy])
    rate = score / (sum([weight[index] for index in part.allowed]) or 1.0)
    return [rate * one for one in weight]
