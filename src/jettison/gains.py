"""What it brings to keep a segment: values that nothing kept holds, κ·Score, and what values cannot see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from jettison.flow.dependencies import Flow
from jettison.flow.named import named
from jettison.flow.prose import is_data
from jettison.flow.sources import Source
from jettison.flow.weights import WORTH
from jettison.items import Item, Kind
from jettison.plan import Locks, Plan, Score, View
from jettison.ranking import WHOLE, Candidate, Part

__all__ = ["KAPPA", "NAMED", "ROOMY", "Gains"]

KAPPA = 0.03
"""Weight of Score beside the worth of values (a value that was just used is worth about 0.5, a new id 0.02)."""
PROSE = 0.03
"""Worth of a token of prose that the task surely needs (relevance 1), with embeddings or a judge; it falls with the
square of the relevance. A value that was just used is worth about as much a token (0.5 in a line of 25)."""

SAID, SAID_SHARE = 0.005, 0.15
"""Worth of a token of what the user said, pasted data left out, newest first up to .15 of the room: a correction or a
lifted ban has no values, and went before lines of a log. With .005 as with .03 all of ten pairs of order and correction
stay at 70, 50 and 35 % of their size; with .1 of the room six do. On tau-airline, whose calls need values in 500 tokens
of room, strict support / completeness of all pressured calls change by −.7 / −.6 at 25 % (−3.0 / −1.5 with `economy`),
without the share by −1.6 / −1.7; the other sets, on a quarter of their runs, by nothing at 25 and 10 %."""
ALARM = 0.5
"""Worth of one of the few errors among routine rows: that of a value that was just used. By what its type says of it
alone (a share of κ) an error without rare ids went with the rows around it."""

NAMED, MOST_NAMED, LARGEST_NAMED, ROOMY = 0.07, 3, 12, 800
"""Worth of a leaf, or line, that stands in one record with an identifier that the task names, whatever values it has.
The identifier alone is worth no more than any other: it is what is said of it that counts. Shared where up to 3 records
of a text have it; more of them, or a record of more than 12 leaves, say too little. Only from 800 tokens of room on:
below, tau-airline loses 7 points of support at 10 %. Strict support / completeness of all pressured calls at 25 %
change by +.2 / +.2, 0 / 0, −.6 / −.6, −.1 / −.2 (mcpmark / swe-lm32b / tau-airline / toolathlon), cost by .002 at most.
With .1 tau-airline loses another point; with .05 the status of an order that the user names goes (test_rank.py)."""
BESIDE = 0.5
"""Share of a heavy segment's weight that its neighbours have: the rows around an error."""


class Gains:
    """What segments of the candidates of one ranking bring.

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
        candidates: Collection[int],
    ) -> None:
        self.view, self.flow, self.scores, self.plan = view, flow, scores, plan
        self.covered: set[int] = set()
        self.told: set[str] = set()
        """Identifiers of what the assistant said that were given away."""
        asked = set(flow.vocabulary.known(named(view)))
        self.improbable, self.chance = self.worths(candidates, asked)
        self.bonus: dict[str, float] = {}
        room = _room(view, locks)
        self.said = frozenset(_said(view, SAID_SHARE * room))
        self.named = asked if room >= ROOMY else set()

    def worths(self, candidates: Collection[int], asked: Collection[int]) -> tuple[list[float], list[float]]:
        """`improbable` and `chance`: of what may be kept, but for what the instructions and what stays hold. `asked`:
        what the task names is not held by the words that name it, it is looked for behind them."""
        flow = self.flow
        near = _held((one for one in flow.sources.values() if one.item.unit in candidates), self.plan)
        self.covered = _covered(flow, self.plan, candidates).union(flow.vocabulary.known(flow.head)).difference(asked)
        near -= self.covered
        improbable = flow.improbable(near, len(flow.learnt))
        chance = [0.0] * len(improbable)
        for value in near:
            chance[value] = 1 / (1 + improbable[value])
        return improbable, chance

    def of(self, part: Part, mark: int) -> list[float]:
        """By segment, what it brings besides its values: its share of κ·Score, what it says as prose, that it is an
        alarm, that it is about what the task names. `mark`: tokens that a segment is charged for the mark of a gap."""
        item, score, outline = part.item.id, self.scores[part.item.id], part.outline
        gains = _shares(part, KAPPA * score.total)
        if score.prose:
            gains = [gain + self.prose(item, at, part.sizes[at] + mark) for at, gain in enumerate(gains)]
        if item in self.said:
            said = (not is_data(one.text) for one in part.source.parts.segments)
            gains = [gain + SAID * (size + mark) * one for gain, size, one in zip(gains, part.sizes, said, strict=True)]
        for index in outline.alarms if outline is not None else ():
            gains[index] += ALARM
        for index, worth in self.beside(part.source) if self.named else ():
            gains[index] += worth
        return gains

    def beside(self, source: Source) -> Iterator[tuple[int, float]]:
        """The segments of records, or lines, in which an identifier stands that the task names; with their worth."""
        segments, named = source.parts.segments, self.named
        records = {segments[at].line for at, values in enumerate(source.values) if not named.isdisjoint(values)}
        if not 0 < len(records) <= MOST_NAMED:
            return
        sizes = Counter(part.line for part in segments)
        for index, part in enumerate(segments):
            if part.line in records and sizes[part.line] <= LARGEST_NAMED:
                yield index, NAMED / len(records)

    def opening(self, candidate: Candidate) -> tuple[float, list[tuple[int, float]]]:
        """What opening a unit brings, values aside, and the values: of calls and of all that is too small to cut."""
        rest = {part.item.id for part in candidate.parts} | {item.id for item in candidate.texts}
        held: list[tuple[int, float]] = []
        gain = KAPPA * candidate.score
        for item in candidate.unit.items:
            if item.id in rest:
                continue
            source = self.flow.sources.get(item.id)
            if source is not None:
                held += self.held(source, _kept(source, self.plan))
            gain += self.prose(item.id, WHOLE, self.now(item))
        return gain, held

    def whole(self, item: Item) -> tuple[float, list[tuple[int, float]]]:
        """What an item brings as a whole, values aside, and its values."""
        source = self.flow.sources.get(item.id)
        held = self.held(source, _kept(source, self.plan)) if source is not None else []
        tokens = self.now(item)
        said = SAID * tokens if item.id in self.said else self.names(item)
        return KAPPA * self.scores[item.id].total + self.prose(item.id, WHOLE, tokens) + said, held

    def names(self, item: Item) -> float:
        """Worth of the identifiers in what the assistant said that stand in no text that is left."""
        worth = 0.0
        for value in self.flow.named.get(item.id, ()):
            number = self.flow.vocabulary.numbers.get(value)
            if value not in self.told and (number is None or not (number in self.covered or self.improbable[number])):
                self.told.add(value)
                odds = WORTH.only_told + self.flow.odds(value, len(self.flow.learnt))
                worth += 1 / (1 + math.exp(-odds))
        return worth

    def now(self, item: Item) -> int:
        """Tokens of an item as an earlier call left it, at least 1."""
        decision = self.plan.decisions.get(item.id)
        return max(1, self.view.cost(item) if decision is None else decision.after)

    def prose(self, item: str, index: int, tokens: int) -> float:
        """What the task needs of a segment as prose, by embeddings or a judge; 0 by rules."""
        near = self.scores[item].prose
        if not near:
            return 0.0
        return PROSE * (max(near.values()) if index == WHOLE else near.get(index, 0.0)) ** 2 * tokens

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
        known, first = self.bonus, dict[str, int]()
        for index, name in enumerate(source.keys):
            if name not in first:
                first[name] = index
                if name not in known:
                    known[name] = math.exp(-self.flow.key_odds(source, index))
        if all(known[name] == 1.0 for name in first):
            return []
        return [known[name] for name in source.keys]


def _said(view: View, left: float) -> Iterator[str]:
    """The newest items with words of the user, up to so many tokens; pasted data is left out."""
    for unit in reversed(view.units if view.spoken is None else view.spoken):
        for item in reversed(unit.items):
            if item.kind is Kind.USER and not is_data(item.text) and view.cost(item) <= left:
                left -= view.cost(item)
                yield item.id


def _covered(flow: Flow, plan: Plan, candidates: Collection[int]) -> set[int]:
    """Values held by what stays."""
    return _held((one for one in flow.sources.values() if one.item.unit not in candidates), plan)


def _held(sources: Iterable[Source], plan: Plan) -> set[int]:
    """Values in what the plan leaves of some texts."""
    held: set[int] = set()
    for source in sources:
        held.update(*map(source.values.__getitem__, _kept(source, plan)))
    return held


def _kept(source: Source, plan: Plan) -> Collection[int]:
    """Segments that the plan leaves of a text."""
    decision = plan.decisions.get(source.item.id)
    return range(len(source.values)) if decision is None else decision.segments


def _room(view: View, locks: Locks) -> int:
    """Tokens beside what every request takes and what must stay whole."""
    held = locks.whole | locks.present
    return view.limit - view.fixed - sum(view.cost(item) for item in view.items if item.id in held)


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
