"""One call: whether an epoch is due, and the steps taken until everything fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from jettison.errors import BudgetUnreachable, StateBroken
from jettison.flow.dependencies import Flow, topic_of
from jettison.flow.needs import declared_arguments
from jettison.items import Fidelity, Item, Kind, Unit
from jettison.notes import Note, noted
from jettison.plan import Decision, Escalation, Locks, Plan, Protection, Score, Semantic, View, evicted
from jettison.ranking import Ranking
from jettison.stages.compress import compress
from jettison.stages.evict import evict
from jettison.stages.protect import protect, restored
from jettison.stages.rank import rank
from jettison.task import Task

if TYPE_CHECKING:
    from jettison.policy import Policy

__all__ = ["Outcome", "Request", "Run"]

_id = attrgetter("id")

OVERSIZE, ADMITTED, LEAST = 0.25, 0.2, 60
"""A unit above .25 of the room is oversize and is cut to .2 of it, or 60 tokens. Against .3 and .25 (algorithm.md,
"Admission"), at 25 % of the body (mcpmark / swe-lm32b / tau-airline / toolathlon): cost −.013 / −.009 / −.022 / −.015,
completeness −.4 / +.5 / +2.5 / −.4, strict support −1.0 / +.2 / +1.2 / −.3; at 10 % cost −.006 to −.012, completeness
−.2 / +1.3 / −.6 / −1.1. With .2 and .2 the same; with .25 and .15 (half of the runs) tau-airline has 6 points of
completeness less. A result cut below 60 tokens is too small to be cut again where the next request is tight: 7 more
alarms on tau-airline at 10 %."""
SMALL = 150
"""Tokens up to which a unit is shown whole even where it is oversize: with 400 tau-airline loses 3 points of support at
25 % and costs .04 more, no change elsewhere."""
TAIL = 0.1
"""Newest units up to this share of the room are never touched (a tail of .4 costs up to 20.6 points)."""
LONG, HORIZON = 8, 1.5
"""A history of more than `LONG` limits that was never fitted before is cut by segments only in its newest `HORIZON`
limits; the rest goes whole, but for what is protected. In a session old parts were settled when they were new, so
this only concerns a first call. Without it most of the time of a cold fit of 5,000 messages into 32,000 tokens (30
limits) is spent on segments that have no chance."""
BEYOND = f"older than the newest {HORIZON} budgets of a long history"
RISE, FULL_FROM, FULL_AT = 0.1, 5, 8
"""A major epoch goes down to .6 of the room, and to .7 where the history is 8 times the room and more (from 5 times on
in between). At 10 % of the body strict support rises by .7 / .7 / 2.6 / .4 (mcpmark / swe-lm32b / tau-airline /
toolathlon), cost by .007 to .023; at 25 % nothing changes. With .2, above the low-water mark: .8 to 4.6, cost .02 to
.05."""
SPARED, GAIN_LEAST = 0.35, 0.1
"""An epoch leaves the oldest units as they are, which stay cached, where that costs the fewest tokens billed anew for
each token freed: of what it would free it leaves at most .35 of the room, and frees .1 at least. Against .05 left for
the oldest units, and minor epochs of their own below (mcpmark / swe-lm32b / tau-airline / toolathlon): cost −.035 /
−.025 / −.058 / −.026 at 25 %, strict support +.1 / −.1 / +1.8 / +.4, completeness +1.0 / +.3 / +2.5 / +2.4; at 10 %
cost −.014 to −.029, support +.6 to +2.1. There are half as many epochs again, most of them short. With .5 left: cost
.008 higher on average. A price in place of the quotient (two tokens billed for one freed): cost .005 higher,
completeness .6 lower."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call, as the policy sees it."""

    view: View
    task: Task
    flow: Flow
    plan: Plan
    """What was decided before; sticky."""
    sealed: int = 0
    """Units with a lower index were settled by an earlier epoch."""
    sent: int = 0
    """Units with a lower index were in an earlier request."""
    call: int = 1
    voids: bool = False
    """An edit voids the reasoning blocks after it (the wire or the model binds them)."""
    binds: bool | None = None
    """The model checks bound reasoning; None: not known."""
    again: Callable[[], Collection[str]] = tuple
    """Ids of results that the agent asked for again: they are seen whole while they can be."""
    notes: tuple[Note, ...] = ()
    """What stands behind the history because it was evicted and is needed again."""
    semantic: Semantic = field(default_factory=Semantic)
    """What embeddings and a judge say of prose."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided."""

    plan: Plan
    locks: Locks
    tokens: int
    """Of the whole request, by the items."""
    epoch: str = "none"
    sealed: int = 0
    fresh: tuple[Decision, ...] = ()
    """Decisions made at this call."""
    voided: int = 0
    """Reasoning blocks removed because an edit voided them."""
    degraded: tuple[str, ...] = ()
    steps: tuple[Escalation, ...] = ()
    """What was done because it did not fit, in order."""


class Run:
    """One call: whether an epoch is due, and the steps taken until everything holds."""

    def __init__(self, policy: Policy, request: Request) -> None:
        self.policy, self.request = policy, request
        self.view, self.plan = request.view, request.plan
        self.profile = policy.marks
        self.weights: dict[str, int] = dict(
            zip(map(_id, self.view.items), map(self.view.cost, self.view.items), strict=True)
        )
        self.weights.update((key, one.after) for key, one in self.plan.decisions.items() if key in self.weights)
        self.weight = self.view.fixed + sum(self.weights.values())
        self.fresh: dict[str, Decision] = {}
        self.locks = self.protected()
        self._held: tuple[Locks | None, Sequence[Item]] = None, ()
        self.scores: dict[str, Score] = {}
        self.degraded: list[str] = []
        self.steps: list[Escalation] = []
        self.far: list[Unit] = []

    def protected(self, tight: int = 0, documents: bool = False) -> Locks:
        """The hard protections, with the reasoning that the provider binds to the running turn."""
        protectors, cut = self.policy.protectors, self.request.plan.decisions
        locks = protect(self.view, self.request.task, tight=tight, documents=documents, protectors=protectors, cut=cut)
        if self.policy.reasoning_drop or self.request.binds is False:
            return self.settled(locks)
        bound = [
            Protection(item.id, "signed reasoning of the running turn", "the turn ends")
            for unit in self.view.units
            if self.frozen(unit)
            for item in unit.items
        ]
        return self.settled(Locks((*locks.protections, *bound)))

    def settled(self, locks: Locks) -> Locks:
        """Locks that know what an earlier call did: what was cut then is present, not verbatim, now."""
        kept: list[Protection] = []
        for lock in noted(locks, self.view, self.request.plan, self.request.notes).protections:
            decision = self.request.plan.decisions.get(lock.item)
            if lock.level in ("noted", "deferred"):
                kept.append(lock)
            elif lock.reason == "latest unit" and lock.item in self.fresh:  # admitted in this call, cut to size
                kept.append(replace(lock, level="present"))
            elif lock.late and decision and (not decision.fidelity or lock.text not in (decision.text or lock.text)):
                kept.append(replace(lock, level="lost"))
            elif decision is None or not lock.whole or decision.fidelity is Fidelity.FULL:
                kept.append(lock)
            elif decision.fidelity is not Fidelity.GONE:
                kept.append(replace(lock, level="present"))
            elif not any(item.id == lock.item and item.kind is Kind.REASONING for item in self.view.items):
                kept.append(lock)
        return Locks(tuple(kept))

    # sizes

    def now(self, item: Item) -> int:
        """Tokens of an item as the plan has it."""
        return self.weights[item.id]

    def total(self) -> int:
        return self.weight

    def hard(self) -> int:
        """Tokens of hard protections: whole items, and of spans their share."""
        tokens, whole, spans = 0, self.locks.whole | self.locks.present, self.locks.spans
        for item in self.held():
            if item.id in whole:
                tokens += self.now(item)
            elif item.id in spans:
                size = sum(lock.end - lock.start for lock in spans[item.id])
                tokens += min(self.now(item), item.fixed + 12 + int(self.now(item) * size / max(1, len(item.text))))
        return tokens

    def held(self) -> Sequence[Item]:
        """The items that a lock names."""
        locks, items = self._held
        if locks is not self.locks:
            named = self.locks.by_item
            items = [item for item in self.view.items if item.id in named]
            self._held = self.locks, items
        return items

    # the run

    def decide(self) -> Outcome:
        budget = self.policy.size
        total, hard = self.total(), self.hard()
        room = max(0, self.view.limit - self.view.fixed - hard)
        evictable = total - self.view.fixed - hard
        due = self.due_by(total, evictable, room)
        if not due and not self.profile.admit_always:
            return self.outcome("none", self.request.sealed)
        self.learn()
        # The room with the latest unit in it, also where that alone is over the limit: a share of its own size let it
        # have half of the room. Cost at 25 % −.027 / −.018 / −.001 / −.027 (mcpmark / swe-lm32b / tau-airline /
        # toolathlon), completeness −1.0 / −.1 / 0 / −.4; at 10 % −.028 / −.030 / −.006 / −.035 and
        # +2.2 / +1.8 / +.5 / 0.
        space = max(0, self.view.limit - self.view.fixed - hard + self.size(self.view.units[-1:]))
        if self.admit(space):
            total = self.total()
            if total <= self.view.limit and total - self.view.fixed - hard <= budget.high_water * room:
                return self.outcome("arrival", self.request.sealed)
        elif not due:
            return self.outcome("none", self.request.sealed)
        if self.binding() and self.behind():
            return self.outcome("arrival", self.request.sealed)
        return self.epoch(space, min(budget.low_water, 1.0))

    def room(self) -> int:
        """Tokens that can be evicted or filled: the limit without what is fixed or hard."""
        return max(0, self.view.limit - self.view.fixed - self.hard())

    def due(self) -> bool:
        """Whether scores can matter at this call: an epoch is due, or a new unit may be cut on arrival."""
        evictable = self.total() - self.view.fixed - self.hard()
        if self.due_by(self.total(), evictable, self.room()):
            return True
        last = self.size(self.view.units[-1:])
        return self.profile.admit_always and last > max(SMALL, OVERSIZE * (self.room() + last))

    def learn(self) -> None:
        """Take in the units that can matter: all, or of a long history what is protected and the newest."""
        weight, near = 0, self.view.units[-1].index if self.view.units else 0
        most = (HORIZON if self.weight > LONG * self.view.limit else LONG + 1) * self.view.limit
        for unit in reversed(self.view.units):
            newer, weight = weight, weight + self.size([unit])
            if weight > most and newer >= self.view.limit:
                break  # a huge unit behind little else is cut, not dropped: there is room for what matters in it
            near = unit.index
        flow, held = self.request.flow, self.locks.by_item
        self.far = [
            unit
            for unit in self.view.units
            if 0 <= unit.index < near
            and unit.index not in flow.learnt
            and not any(item.id in held for item in unit.items)
        ]
        far = {unit.index for unit in self.far}
        near_units = [unit for unit in self.view.units if unit.index not in far]
        flow.learn(near_units)
        arguments = [name for _, schema in self.view.tools for name in declared_arguments(schema)]
        flow.about(topic_of(span.text for span in self.view.task.goals), [*arguments, *self.view.policies.needed()])
        items = [item for unit in near_units for item in unit.items]
        self.scores = self.policy.evaluate(self.view, flow, items, self.request.semantic)

    def size(self, units: Sequence[Unit]) -> int:
        return sum(self.now(item) for unit in units for item in unit.items)

    def admit(self, space: int) -> bool:
        """Cut the oversize results of a unit that was never sent. Returns whether anything was cut."""
        unit = self.view.units[-1]
        if unit.index < self.request.sent or self.results(unit) <= max(SMALL, OVERSIZE * space):
            return False
        again = self.request.again()
        results = self.results(unit, again)
        if results <= max(SMALL, OVERSIZE * space):
            return False
        self.locks = self.eased(unit, again)
        return self.reduce([unit], max(LEAST, int(ADMITTED * space)) + self.size([unit]) - results, self.locks)

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

    def checks(self) -> bool:
        """Whether the model refuses reasoning whose prefix has changed."""
        return self.request.voids and bool(self.request.binds) and not self.policy.reasoning_drop

    def binding(self) -> bool:
        """Whether an edit of what was sent would void reasoning of the running turn."""
        if not self.checks():
            return False
        turn = self.turn()
        return any(item.bound and item.unit > turn for item in self.view.items)

    def behind(self) -> bool:
        """Cut the new results of the latest unit, which stand behind all reasoning, until the request fits. Nothing is
        changed where that is not enough."""
        unit, before = self.view.units[-1], (self.plan, self.fresh, self.weights, self.weight, self.locks)
        if unit.index < self.request.sent:
            return False
        self.fresh, self.weights = dict(self.fresh), dict(self.weights)
        self.locks = self.eased(unit)
        self.reduce([unit], self.view.limit - (self.total() - self.size([unit])), self.locks)
        if self.total() <= self.view.limit:
            return True
        self.plan, self.fresh, self.weights, self.weight, self.locks = before
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
        self.take([self.gone(item) for unit in self.far for item in unit.items])
        far = {unit.index for unit in self.far}
        evictable = [
            unit for unit in self.view.units if unit.index < tail and unit.index not in far and not self.frozen(unit)
        ]
        sealed = {item.id for unit in evictable if unit.index < self.request.sealed for item in unit.items}
        mark = self.profile.major + self.rise(space) if sealed else self.profile.minor
        self.to_mark(evictable, min(low, mark))
        if self.total() > self.view.limit:
            self.escalate()
        if self.total() >= before:
            return self.outcome("none", self.request.sealed)
        return self.outcome("minor" if sealed and sealed.isdisjoint(self.fresh) else "major", tail)

    def rise(self, space: int) -> float:
        """How much higher the mark of a major epoch is where the history is many times the room."""
        times = sum(map(self.view.cost, self.view.items)) / max(1, space)
        return RISE * min(1.0, max(0.0, (times - FULL_FROM) / (FULL_AT - FULL_FROM)))

    def gone(self, item: Item) -> Decision:
        """The decision for an item beyond the horizon."""
        handle = self.view.handle(item.text) if item.text else None
        return evicted(item.id, BEYOND, self.weights[item.id], handle, self.request.call)

    def tail(self, most: float) -> int:
        """Index of the first unit of the tail: the newest units up to `most` tokens, at least the latest.

        A user's latest turn keeps the answer that it replies to, unless that takes `most` alone.
        """
        units = [unit for unit in self.view.units if unit.index >= 0]
        at, weight = len(units) - 1, self.size(units[-1:])
        if at > 0 and Kind.USER in units[at].kinds and self.size(units[at - 1 : at]) <= most:
            at -= 1
            weight = self.size(units[at : at + 2])
        while at > 0 and weight + self.size(units[at - 1 : at]) <= most:
            at -= 1
            weight += self.size(units[at : at + 1])
        return units[at].index if units else 0

    def frozen(self, unit: Unit) -> bool:
        """Signed reasoning in the running turn: such a unit is whole or gone, and goes last."""
        if not self.request.voids or self.policy.reasoning_drop or self.request.binds is False:
            return False
        if unit is self.view.units[-1] and unit.index >= self.request.sent:
            return False  # its results come after its reasoning, and nothing was sent yet
        return unit.index > self.turn() and any(item.bound for item in unit.items)

    def turn(self) -> int:
        """Index of the unit with the latest user turn."""
        return max((unit.index for unit in self.view.units if Kind.USER in unit.kinds), default=-1)

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
            freed[index] = freed.get(index, 0) + self.weights[decision.item] - decision.after
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

    def change(self, decisions: Sequence[Decision]) -> int:
        """Tokens that the decisions add, less than 0 where they free some."""
        return sum(decision.after - self.weights[decision.item] for decision in decisions)

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

    def take(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            self.weight += decision.after - self.weights[decision.item]
            self.weights[decision.item] = decision.after
        self.plan = self.plan.merged(decisions)
        self.fresh.update((decision.item, decision) for decision in decisions)

    def escalate(self) -> None:
        """Over the limit after an epoch: retrieved documents, then everything evictable, then goals as prose and
        results cut to fit. Each step once, each recorded with its gain: there is no loop to guard."""
        far = {unit.index for unit in self.far}
        everything = [unit for unit in self.view.units if unit.index >= 0 and unit.index not in far]
        retrieved = [unit for unit in everything if Kind.DOCUMENT in unit.kinds]
        if retrieved:
            self.locks = self.protected(documents=True)
            if self.tried("retrieved documents reduced", retrieved, self.but_documents(retrieved)):
                return
        if self.tried("everything evictable reduced again", everything[:-1], self.locks):
            return
        for tight, step in ((1, "goals kept as prose"), (2, "results of the latest unit cut")):
            self.locks = self.protected(tight=tight)
            if self.tried(step, everything, self.locks):
                return
        if self.policy.on_unsafe == "degrade":
            before = self.total()
            self.degrade(everything)
            self.steps.append(Escalation("protections given up", before, self.total()))
        if self.total() > self.view.limit:
            raise self.unreachable()

    def tried(self, step: str, units: Sequence[Unit], locks: Locks) -> bool:
        """Reduce the units as far as it takes, and note it. Returns whether the request fits then."""
        before = self.total()
        self.reduce(units, self.view.limit - (before - self.size(units)), locks)
        self.steps.append(Escalation(step, before, self.total()))
        return self.total() <= self.view.limit

    def but_documents(self, units: Sequence[Unit]) -> Locks:
        """The locks, with all that is not a retrieved document held as it is."""
        held = [
            Protection(item.id, "not retrieved", "documents were reduced")
            for unit in units
            for item in unit.items
            if item.kind is not Kind.DOCUMENT
        ]
        return Locks((*self.locks.protections, *held))

    def degrade(self, units: Sequence[Unit]) -> None:
        """Give up protections, least binding first, until it fits."""
        order = ("pinned", "goal", "needed by", "open operation", "constraint", "latest unit", "latest user turn")
        for reason in order:
            lost = [lock for lock in self.locks.protections if lock.reason.startswith(reason)]
            if not lost:
                continue
            held = [lock for lock in self.locks.protections if lock not in lost]
            if reason.startswith("latest"):
                held += [replace(lock, level="present") for lock in lost]
            self.locks = Locks(tuple(held))
            self.degraded += [f"{lock.reason}: {lock.item} {lock.text[:60]}".rstrip() for lock in lost]
            self.reduce(units, self.view.limit - (self.total() - self.size(units)), self.locks)
            if self.total() <= self.view.limit:
                return

    def unreachable(self) -> BudgetUnreachable:
        """The error, with the numbers of the smallest context that was found."""
        budget = self.policy.size
        needed = self.total()
        kept = sorted(
            ((self.now(item), item) for item in self.view.items if self.plan.fidelity(item.id) > Fidelity.GONE),
            key=lambda entry: -entry[0],
        )
        biggest = [
            (item.id, item.kind.value, tokens, ", ".join(lock.reason for lock in self.locks.on(item.id)[:3]) or "kept")
            for tokens, item in kept[:5]
        ]
        error = BudgetUnreachable(
            needed,
            self.view.limit,
            smallest=needed + budget.window - budget.limit,
            biggest=biggest,
            hints=self.hints(needed),
        )
        error.outcome = self.outcome("major", self.tail(0))
        return error

    def hints(self, needed: int) -> list[str]:
        budget = self.policy.size
        hints = []
        if any(lock.reason.startswith("signed reasoning") for lock in self.locks.protections):
            hints.append(
                "name the model, or allow the provider to drop reasoning that an edit voids (its drop setting, and "
                "Policy(reasoning_drop=True)): the running turn is held because of its signed reasoning"
            )
        if budget.reserve_output + budget.reserve_tools >= needed - self.view.limit:
            hints.append("smaller reserves for the reply and for tools")
        if self.view.tools and self.view.fixed > 0.2 * needed:
            hints.append(f"fewer or shorter tool schemas (they take {self.view.fixed:,} tokens)")
        if any(lock.reason.startswith("constraint") for lock in self.locks.protections):
            hints.append("session.task.release(text) for constraints that no longer bind")
        if self.policy.on_unsafe != "degrade":
            hints.append("on_unsafe='degrade' for a best effort that names each loss")
        return hints

    def outcome(self, epoch: str, sealed: int) -> Outcome:
        if epoch in ("minor", "major"):
            self.void()
        return Outcome(
            self.plan,
            restored(self.locks, self.plan),
            self.total(),
            epoch if self.fresh else "none",
            sealed,
            tuple(self.fresh.values()),
            self.lost(),
            tuple(self.degraded),
            tuple(self.steps),
        )

    def first_edit(self) -> int:
        """Index of the first message that this call changes."""
        return next((item.message for item in self.view.items if item.id in self.fresh), 1 << 60)

    def void(self) -> None:
        """Drop reasoning that this call's edits voided, outside the running turn; inside it that is an error."""
        if not self.request.voids or self.request.binds is False:
            return
        first, turn = self.first_edit(), self.turn()
        after = [item for item in self.view.items if item.bound and item.message >= first]
        running = [item.id for item in after if item.unit > turn and self.plan.fidelity(item.id) is Fidelity.FULL]
        if running and self.request.binds and not self.policy.reasoning_drop:
            raise StateBroken(
                "an eviction would void signed reasoning of the running turn, which this model refuses: set its drop "
                "setting (thinking.block_binding.prefix_mismatch_behavior) and Policy(reasoning_drop=True)",
                running,
            )
        self.take(
            [
                replace(self.gone(item), reason="an edit before it voids it")
                for item in self.view.items
                if item.bound
                and item.message >= first
                and item.unit <= turn
                and (self.request.binds or item.id not in self.locks.by_item)
                and self.plan.fidelity(item.id) is Fidelity.FULL
            ]
        )

    def lost(self) -> int:
        """Reasoning blocks that this call removes, or leaves behind an edit that voids them at the provider."""
        if not self.fresh:
            return 0
        first = self.first_edit()
        bound = [item for item in self.view.items if item.bound]
        gone = sum(item.id in self.fresh for item in bound)
        if self.request.binds is False or (self.request.voids and not self.policy.reasoning_drop):
            return gone
        return gone + sum(item.message > first and self.plan.fidelity(item.id) is Fidelity.FULL for item in bound)
