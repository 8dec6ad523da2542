"""One call: whether an epoch is due, and the steps taken until everything fits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil

from jettison.escalation import escalate
from jettison.flow.dependencies import topic_of
from jettison.flow.needs import declared_arguments
from jettison.flow.standing import COMPACTED
from jettison.items import Kind, Unit, named_items
from jettison.ledger import BEYOND, HORIZON, LONG, Ledger, Outcome, Request
from jettison.plan import Decision, Locks
from jettison.ranking import Ranking
from jettison.stages.compress import compress
from jettison.stages.evict import evict
from jettison.stages.rank import look_ahead, rank

__all__ = ["Outcome", "Request", "Run"]

OVERSIZE, ADMITTED, LEAST = 0.25, 0.17, 60
"""A unit above .25 of the room is oversize and is cut to .17 of it, or 60 tokens. Against .3 and .25 (algorithm.md,
"Admission"), .25 and .2 have at 25 % of the body (mcpmark / swe-lm32b / tau-airline / toolathlon) cost −.013 / −.009 /
−.022 / −.015, completeness −.4 / +.5 / +2.5 / −.4, strict support −1.0 / +.2 / +1.2 / −.3; at 10 % cost −.006 to −.012,
completeness −.2 / +1.3 / −.6 / −1.1; and .17 in place of .2 has cost −.006 / −.001 / −.009 / −.001, completeness −.2 /
−.1 / +.3 / 0, strict support +.1 / −.2 / +.1 / −.1. A result cut below 60 tokens is too small to be cut again where
the next request is tight: 7 more alarms on tau-airline at 10 %."""
FREE = 0.4
"""… or to .4 of what the rest leaves free: the first huge result of a run finds an empty context. Against nothing, at
25 % (mcpmark / swe-lm32b / tau-airline / toolathlon): cost +.012 / +.018 / +.001 / +.011, strict support +1.9 / 0 / +.2
/ 0, completeness +.8 / −1.0 / 0 / 0. With .35: cost −.003 / −.006 / 0 / −.003, completeness 0 / +.2 / 0 / −.2; but of a
log of JSON lines in a budget of 600 tokens the row of the error is cut (test_error_row.py)."""
SMALL = 150
"""Tokens up to which a unit is shown whole even where it is oversize: with 400 tau-airline loses 3 points of support at
25 % and costs .04 more, no change elsewhere."""
TAIL = 0.1
"""Newest units up to this share of the room are never touched (a tail of .4 costs up to 20.6 points)."""
AHEAD = 0.5
"""Share of the limit from which the next epoch is prepared. Below it a session is as far from one as it has come, and
may never need it. An epoch of 1,000 messages takes half the time with it."""
RISE, FULL_FROM, FULL_AT = 0.15, 5, 8
"""A major epoch goes down to .55 of the room, and to .7 where the history is 8 times the room and more (from 5 times on
in between). From .6 up to .7, at 10 % of the body, strict support rises by .7 / .7 / 2.6 / .4 (mcpmark / swe-lm32b /
tau-airline / toolathlon), cost by .007 to .023; at 25 % nothing changes. Up to .8, above the low-water mark: .8 to 4.6,
cost .02 to .05."""
SPARED, GAIN_LEAST = 0.35, 0.1
"""An epoch leaves the oldest units as they are, which stay cached, where that costs the fewest tokens billed anew for
each token freed: of what it would free it leaves at most .35 of the room, and frees .1 at least. Against .05 left for
the oldest units, and minor epochs of their own below (mcpmark / swe-lm32b / tau-airline / toolathlon): cost −.035 /
−.025 / −.058 / −.026 at 25 %, strict support +.1 / −.1 / +1.8 / +.4, completeness +1.0 / +.3 / +2.5 / +2.4; at 10 %
cost −.014 to −.029, support +.6 to +2.1. There are half as many epochs again, most of them short. With .5 left: cost
.008 higher on average. With .2 freed: support −.3 / −.1 / +.2 / −.4, cost the same, 3 % fewer epochs. A price in place
of the quotient (two tokens billed for one freed): cost .005 higher, completeness .6 lower."""
REPLACED = "the provider's compaction stands for it"


class Run(Ledger):
    """One call: whether an epoch is due, and the steps taken until everything holds."""

    def decide(self) -> Outcome:
        budget = self.policy.size
        total, hard = self.total(), self.hard()
        room = max(0, self.view.limit - self.view.fixed - hard)
        evictable = total - self.view.fixed - hard
        due = self.due_by(total, evictable, room)
        space = self.space(hard)
        if not due and not (self.profile.admit_always and self.oversize(space)):
            self.prepare(min(self.view.limit - total, int(budget.high_water * room) - evictable))
            return self.outcome("none", self.request.sealed)
        self.learn()
        if self.admit(space):
            total = self.total()
            if total <= self.view.limit and total - self.view.fixed - hard <= budget.high_water * room:
                return self.outcome("arrival", self.request.sealed)
        elif not due:
            return self.outcome("none", self.request.sealed)
        if self.binding() and self.behind():
            return self.outcome("arrival", self.request.sealed)
        return self.epoch(space, min(budget.low_water, 1.0))

    def space(self, hard: int) -> int:
        """The room with the latest unit in it, also where that alone is over the limit.

        A share of its own size let it have half of the room. Against that: cost at 25 % −.027 / −.018 / −.001 / −.027
        (mcpmark / swe-lm32b / tau-airline / toolathlon), completeness −1.0 / −.1 / 0 / −.4; at 10 % −.028 / −.030 /
        −.006 / −.035, completeness +2.2 / +1.8 / +.5 / 0.
        """
        return max(0, self.view.limit - self.view.fixed - hard + self.size(self.view.latest))

    def due(self) -> bool:
        """Whether scores can matter at this call: an epoch is due, or a new unit may be cut on arrival."""
        hard = self.hard()
        if self.due_by(self.total(), self.total() - self.view.fixed - hard, self.room()):
            return True
        return self.profile.admit_always and self.oversize(self.space(hard))

    def due_by(self, total: int, evictable: int, room: int) -> bool:
        """Whether an epoch is due: over the limit, or over the high-water mark.

        With a model that checks reasoning an edit of what was sent is refused while a turn runs: it waits until the
        turn ends, or nothing else fits. Between turns it is due from the middle of both marks on, so that the next turn
        has room to run: without, 4 of 20 turns of a fifth of the budget each were stuck (test_bound_reasoning.py).
        """
        high = self.policy.size.high_water
        if self.checks():
            if self.binding():
                return total > self.view.limit
            high = (high + self.policy.size.low_water) / 2
        return total > self.view.limit or evictable > high * room

    def prepare(self, distance: int) -> None:
        """Take in a part of what the next epoch will need: as much as the calls until then leave for each, so that it
        does not have to be done all at once. Nothing depends on when it is done. `distance`: tokens until one is due.
        """
        if self.weight < AHEAD * self.view.limit:
            return
        flow, waiting = self.request.flow, []
        for unit in reversed(self.view.units):
            if len(flow.learnt.get(unit.index, ())) == len(unit.items):
                break
            waiting.append(unit)
        calls = distance / max(1.0, self.weight / max(1, self.view.step))
        units = waiting[len(waiting) - ceil(len(waiting) / max(1.0, calls)) :][::-1]
        flow.learn(units)
        self.about()
        for unit in units:
            for item in unit.items:
                look_ahead(flow, item, self.view.cost(item))

    def learn(self) -> None:
        """Take in the units that can matter: all, or of a long history what is protected and the newest."""
        near = self.near
        if near is None:
            most = HORIZON if self.weight > LONG * self.view.limit else LONG + 1
            near = self.horizon(most * self.view.limit, lambda unit: self.size([unit]))
        flow, held, replaced = self.request.flow, self.locks.by_item, self.replaced
        far = [
            unit
            for unit in self.view.units
            if unit.index >= 0
            and (unit.index < replaced or ((unit.index < near or self.past(unit)) and unit.index not in flow.learnt))
            and not any(item.id in held for item in unit.items)
        ]
        beyond = {unit.index for unit in far}
        self.far = far
        near_units = [unit for unit in self.view.units if unit.index not in beyond]
        flow.learn(near_units)
        self.about()
        items = [item for unit in near_units for item in unit.items]
        self.scores = self.policy.evaluate(self.view, flow, items, self.request.semantic)

    @property
    def replaced(self) -> int:
        """The provider has compacted all units before this one, and reads none of them."""
        names = {lock.item for lock in self.locks.protections if lock.reason == COMPACTED}
        return min((item.unit for item in named_items(self.view.items, names)), default=0)

    def past(self, unit: Unit) -> bool:
        """Whether an earlier call dropped all of a unit as beyond its horizon: nothing was learnt of it, nor is now."""
        decisions = self.plan.decisions
        return all((one := decisions.get(item.id)) is not None and one.reason == BEYOND for item in unit.items)

    def about(self) -> None:
        """Tell the statistics what the task is about, and what its tools take."""
        arguments = [name for _, schema in self.view.tools for name in declared_arguments(schema)]
        topic = topic_of(span.text for span in self.view.task.goals)
        self.request.flow.about(topic, [*arguments, *self.view.policies.needed()])

    def oversize(self, space: int) -> bool:
        """Whether the latest unit was never sent, and its results are too large for what there is."""
        unit = self.view.arrived
        if unit is None or unit.index < self.request.sent:
            return False
        return self.results(unit) > max(SMALL, OVERSIZE * space)

    def admit(self, space: int) -> bool:
        """Cut the oversize results of a unit that was never sent. Returns whether anything was cut."""
        unit = self.view.arrived
        if unit is None or not self.oversize(space):
            return False
        again = self.request.again()
        results = self.results(unit, again)
        if results <= max(SMALL, OVERSIZE * space):
            return False
        self.locks = self.eased(unit, again)
        free = self.view.limit - (self.total() - results)
        most = max(LEAST, int(ADMITTED * space), int(FREE * free))
        return self.reduce([unit], most + self.size([unit]) - results, self.locks)

    def behind(self) -> bool:
        """Cut the new results of the latest unit, which stand behind all reasoning, until the request fits. Nothing is
        changed where that is not enough."""
        unit, before = self.view.arrived, (self.plan, self.fresh, self.weight, self.locks)
        if unit is None or unit.index < self.request.sent:
            return False
        self.fresh = dict(self.fresh)
        self.locks = self.eased(unit)
        self.reduce([unit], self.view.limit - (self.total() - self.size([unit])), self.locks)
        if self.total() <= self.view.limit:
            return True
        self.plan, self.fresh, self.weight, self.locks = before
        return False

    def results(self, unit: Unit, but: Collection[str] = ()) -> int:
        """Tokens of a unit's results and documents, some left out."""
        kinds = (Kind.RESULT, Kind.DOCUMENT)
        return sum(self.now(item) for item in unit.items if item.kind in kinds and item.id not in but)

    def eased(self, unit: Unit, but: Collection[str] = ()) -> Locks:
        """Locks with the results of a unit only kept present, not verbatim, some left out."""
        kinds = (Kind.RESULT, Kind.DOCUMENT)
        ids = {item.id for item in unit.items if item.kind in kinds and item.editable and item.id not in but}
        return Locks(
            tuple(
                replace(lock, level="present") if lock.item in ids and lock.reason == "latest unit" else lock
                for lock in self.locks.protections
            )
        )

    def epoch(self, space: int, low: float) -> Outcome:
        tail = self.tail(TAIL * space)
        before = self.total()
        far_items, replaced = [item for unit in self.far for item in unit.items], self.replaced
        self.take(
            [
                self.gone(item, REPLACED if item.unit < replaced else BEYOND)
                for item in far_items
                if self.plan.fidelity(item.id)
            ]
        )
        far = {unit.index for unit in self.far}
        evictable = [
            unit for unit in self.view.units if unit.index < tail and unit.index not in far and not self.frozen(unit)
        ]
        sealed = {item.id for unit in evictable if unit.index < self.request.sealed for item in unit.items}
        early = {item.id for item in far_items if item.unit < self.request.sealed}
        self.to_mark(evictable, min(low, self.later_mark(space) if sealed else self.first_mark))
        if self.total() > self.view.limit:
            escalate(self)
        if self.total() >= before:
            return self.outcome("none", self.request.sealed)
        return self.outcome("minor" if sealed and (sealed | early).isdisjoint(self.fresh) else "major", tail)

    @property
    def first_mark(self) -> float:
        """Low-water mark of the first epoch."""
        return self.profile.first if self.request.sent else self.profile.first_call

    def later_mark(self, space: int) -> float:
        """Low-water mark of a later epoch; higher where the history is many times the room."""
        decisions, cost = self.request.plan.decisions, self.view.cost
        given = self.weight if self.near is not None else 0
        if not given:
            for item in self.view.items:
                one = decisions.get(item.id)
                given += cost(item) if one is None else one.before
        times = given / max(1, space)
        return self.profile.later + RISE * min(1.0, max(0.0, (times - FULL_FROM) / (FULL_AT - FULL_FROM)))

    def tail(self, most: float) -> int:
        """Index of the first unit of the tail: the newest units up to `most` tokens, at least the latest.

        A user's latest turn keeps the answer that it replies to, unless that takes `most` alone.
        """
        units = [unit for unit in self.view.units if unit.index >= 0]
        at, new = len(units) - 1, {unit.index for unit in self.view.latest}
        while at > 0 and units[at - 1].index in new:
            at -= 1
        weight = self.size(units[at:])
        if at > 0 and Kind.USER in units[at].kinds and self.size(units[at - 1 : at]) <= most:
            at -= 1
            weight += self.size(units[at : at + 1])
        while at > 0 and weight + self.size(units[at - 1 : at]) <= most:
            at -= 1
            weight += self.size(units[at : at + 1])
        return units[at].index if units else 0

    def to_mark(self, units: Sequence[Unit], mark: float) -> None:
        hard = self.hard()
        span = max(0, self.view.limit - self.view.fixed - hard)
        target = self.view.fixed + hard + mark * span
        room = max(0, int(target) - (self.total() - self.size(units)))
        decisions = self.chosen(self.ranked(units, self.locks), room)
        if units and units[0].index < self.request.sent:  # else nothing of it is in a cache
            decisions = self.but_spared(units, decisions, span)
        self.take(decisions)

    def but_spared(self, units: Sequence[Unit], decisions: list[Decision], span: int) -> list[Decision]:
        """The decisions without those on the oldest units that are better left as they are.

        What stands before the first change stays cached, what stands behind it is billed anew; and the less an epoch
        frees, the sooner the next one comes. So the best place for the first change is where the tokens behind it, for
        each token freed, are fewest.
        """
        freed: dict[int, int] = {}
        unit_of = {item.id: unit.index for unit in units for item in unit.items}
        for decision in decisions:
            index = unit_of[decision.item]
            freed[index] = freed.get(index, 0) + self.freed(decision)
        after = self.size([unit for unit in self.view.units if units[-1].index < unit.index < self.request.sent])
        left = sum(freed.values())
        billed = self.size(units) - left + after
        best, first, most = billed / max(1, left), units[0].index, left - SPARED * span
        for unit, following in pairwise(units):
            left -= freed.get(unit.index, 0)
            billed -= self.size([unit]) - freed.get(unit.index, 0)
            if left < max(most, GAIN_LEAST * span):
                break
            if billed <= best * left:
                best, first = billed / max(1, left), following.index
        spared = [decision for decision in decisions if unit_of[decision.item] >= first]
        return spared if self.total() + self.change(spared) <= self.view.limit else decisions

    def reduce(self, units: Sequence[Unit], room: int, locks: Locks) -> bool:
        """Reduce units to `room` tokens together, as far as the locks allow."""
        decisions = self.chosen(self.ranked(units, locks), max(0, room))
        self.take(decisions)
        return bool(decisions)

    def ranked(self, units: Sequence[Unit], locks: Locks) -> Ranking:
        frozen = {unit.index for unit in units if self.frozen(unit)}
        return rank(self.view, self.request.flow, self.scores, locks, self.plan, units, frozen=frozen)

    def chosen(self, ranking: Ranking, room: int) -> list[Decision]:
        """Decisions that bring the units of the ranking to `room` tokens, as far as its locks allow."""
        return compress(self.view, ranking, evict(ranking, room), self.plan, room, self.request.call)
