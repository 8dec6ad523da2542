"""What one call has decided so far, what it weighs, and what may not be touched: the books of `epoch.Run`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from jettison.errors import StateBroken
from jettison.flow.dependencies import Flow
from jettison.items import Fidelity, Item, Kind, Unit, named_items
from jettison.notes import Note, noted
from jettison.plan import Decision, Escalation, Locks, Plan, Protection, Score, Semantic, View, evicted
from jettison.stages.protect import protect, restored
from jettison.task import Task

if TYPE_CHECKING:
    from jettison.policy import Policy

__all__ = ["BEYOND", "HORIZON", "LONG", "NEVER", "NOWHERE", "Ledger", "Outcome", "Request", "Stale", "behind"]

NOWHERE = 1 << 60
"""Index of a message that there is not: behind all."""
Stale = tuple[int, int]
"""From which message to before which reasoning was thought behind something that the caller has changed since."""
NEVER: Stale = (NOWHERE, 0)


def behind(stale: Stale, first: int, upto: int) -> Stale:
    """What is stale once the caller has changed what stands before message `first`, with `upto` messages there."""
    return min(stale[0], first), max(stale[1], upto)


LONG, HORIZON = 8, 1.5
"""A history of more than `LONG` limits that was never fitted before is cut by segments only in its newest `HORIZON`
limits; the rest goes whole, but for what is protected. In a session old parts were settled when they were new, so
this only concerns a first call. Without it most of the time of a cold fit of 5,000 messages into 32,000 tokens (30
limits) is spent on segments that have no chance."""
ROUGH = 2
"""Characters a token from which a history may be guessed to be long: English has 4, Russian 3, Chinese 1.4. Below it
every item is counted at once."""
BEYOND = f"older than the newest {HORIZON} budgets of a long history"


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
    weight: int | None = None
    """Tokens of all items as the plan has them, where that is known; None: they are counted."""
    lapsed: int = NOWHERE
    """Index of the first message behind a note that an epoch takes out: what it was for is done."""
    summarised: int = NOWHERE
    """Index of the first message behind a summary that is written anew where an epoch drops more."""
    stale: Stale = NEVER
    """Where reasoning is void because the caller changed what stood before it."""


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
    weight: int = 0
    """Tokens of the items as they are now: without what every request takes."""
    guessed: bool = False
    """Some of what was dropped was never counted (`Run.guessed`)."""
    locked: tuple[Item, ...] | None = None
    """The items that the locks name, where that is known."""
    given_up: tuple[str, ...] = ()
    """Texts that `on_unsafe="degrade"` no longer holds."""


class Ledger:
    """Plan, protections and tokens of one call, as they are now."""

    def __init__(self, policy: Policy, request: Request) -> None:
        self.policy, self.request = policy, request
        self.view, self.plan = request.view, request.plan
        self.profile = policy.marks
        self.fresh: dict[str, Decision] = {}
        self.locks = self.protected()
        self.near: int | None = None
        self.guesses: dict[str, int] = {}
        self.weight = self.view.fixed + self.weighed()
        self._locked: tuple[Locks | None, Sequence[Item]] = None, ()
        self.scores: dict[str, Score] = {}
        self.degraded: list[str] = []
        self.given_up: list[str] = []
        self.steps: list[Escalation] = []
        self.far: list[Unit] = []

    def protected(self, tight: int = 0, documents: bool = False) -> Locks:
        """The hard protections, with the reasoning that the provider binds to the running turn."""
        protectors, cut = self.policy.protectors, self.request.plan.decisions
        locks = protect(self.view, self.request.task, tight=tight, documents=documents, protectors=protectors, cut=cut)
        if self.policy.reasoning_drop or self.request.binds is False or not self.request.voids:
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

    def weighed(self) -> int:
        """Tokens of all items as the plan has them. What an earlier call dropped is not counted again."""
        if self.request.weight is not None:
            return self.request.weight
        items = self.view.items
        first = self.request.sent == 0 and not self.plan.decisions
        if first and sum(len(item.text) for item in items) > ROUGH * LONG * self.view.limit:
            self.guess()
        return sum(map(self.now, items))

    def guess(self) -> None:
        """Of a first call with far more than fits, what lies beyond the horizon and is not protected goes whole: it is
        not counted but guessed, by the tokens a character of what is nearer."""
        cost, held = self.view.cost, self.locks.by_item
        near = self.horizon(HORIZON * self.view.limit, lambda unit: sum(map(cost, unit.items)))
        known: list[Item] = []
        rest: list[Item] = []
        for unit in self.view.units:
            exact = unit.index >= near or unit.index < 0 or any(item.id in held for item in unit.items)
            (known if exact else rest).extend(unit.items)
        weight = sum(map(cost, known))
        rate = weight / max(1, sum(len(item.text) for item in known))
        guesses = {item.id: item.fixed + int(rate * len(item.text)) for item in rest}
        if self.view.fixed + weight + sum(guesses.values()) > LONG * self.view.limit:
            self.near, self.guesses = near, guesses

    def horizon(self, most: float, size: Callable[[Unit], int]) -> int:
        """Index of the oldest unit among the newest `most` tokens. A huge unit behind little else is one of them: it
        is cut, not dropped, as there is room for what matters in it."""
        weight, near = 0, self.view.units[-1].index if self.view.units else 0
        for unit in reversed(self.view.units):
            newer, weight = weight, weight + size(unit)
            if weight > most and newer >= self.view.limit:
                break
            near = unit.index
        return near

    def now(self, item: Item) -> int:
        """Tokens of an item as the plan has it."""
        decision = self.plan.decisions.get(item.id)
        if decision is not None:
            return decision.after
        guess = self.guesses.get(item.id)
        return self.view.cost(item) if guess is None else guess

    def freed(self, decision: Decision) -> int:
        """Tokens that a decision frees beside what was decided before."""
        before = self.plan.decisions.get(decision.item)
        return (decision.before if before is None else before.after) - decision.after

    def total(self) -> int:
        return self.weight

    def hard(self) -> int:
        """Tokens of hard protections: whole items, and of spans their share."""
        tokens, whole, spans = 0, self.locks.whole | self.locks.present, self.locks.spans
        for item in self.locked():
            if item.id in whole:
                tokens += self.now(item)
            elif item.id in spans:
                size = sum(lock.end - lock.start for lock in spans[item.id])
                tokens += min(self.now(item), item.fixed + 12 + int(self.now(item) * size / max(1, len(item.text))))
        return tokens

    def locked(self) -> Sequence[Item]:
        """The items that a lock names."""
        locks, items = self._locked
        if locks is not self.locks:
            items = named_items(self.view.items, self.locks.by_item)
            self._locked = self.locks, items
        return items

    def room(self) -> int:
        """Tokens that can be evicted or filled: the limit without what is fixed or hard."""
        return max(0, self.view.limit - self.view.fixed - self.hard())

    def size(self, units: Sequence[Unit]) -> int:
        return sum(self.now(item) for unit in units for item in unit.items)

    def change(self, decisions: Sequence[Decision]) -> int:
        """Tokens that the decisions add, less than 0 where they free some."""
        return -sum(map(self.freed, decisions))

    def take(self, decisions: Sequence[Decision]) -> None:
        self.weight -= sum(map(self.freed, decisions))
        self.plan = self.plan.merged(decisions)
        self.fresh.update((decision.item, decision) for decision in decisions)

    def gone(self, item: Item, reason: str = BEYOND) -> Decision:
        """The decision for an item of a unit that goes before anything is ranked."""
        handle = self.view.handle(item.text) if item.text else None
        guess = self.guesses.get(item.id)
        before = self.view.cost(item) if guess is None else guess
        return evicted(item.id, reason, before, handle, self.request.call)

    @cached_property
    def turn(self) -> int:
        """Index of the unit with the latest user turn."""
        return self.view.turn[-1].index if self.view.turn else -1

    def frozen(self, unit: Unit) -> bool:
        """Signed reasoning in the running turn: such a unit is whole or gone, and goes last."""
        if not self.request.voids or self.policy.reasoning_drop or self.request.binds is False:
            return False
        if unit is self.view.arrived and unit.index >= self.request.sent:
            return False  # its results come after its reasoning, and nothing was sent yet
        return unit.index > self.turn and any(item.bound for item in unit.items)

    def checks(self) -> bool:
        """Whether the model refuses reasoning whose prefix has changed."""
        return self.request.voids and bool(self.request.binds) and not self.policy.reasoning_drop

    def binding(self) -> bool:
        """Whether an edit of what was sent would void reasoning of the running turn."""
        if not self.checks():
            return False
        turn = self.turn
        return any(item.bound and item.unit > turn for item in self.view.items)

    def outcome(self, epoch: str, sealed: int) -> Outcome:
        if epoch in ("minor", "major"):
            self.void()
        if outdated := self.outdated():  # a plan that is the same object says that nothing was decided
            self.take(outdated)
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
            self.total() - self.view.fixed,
            self.near is not None,
            tuple(self.locked()),
            tuple(self.given_up),
        )

    def first_edit(self) -> int:
        """Index of the first message that this call changes, or behind something of ours that it changes."""
        decided = next((item.message for item in self.view.items if item.id in self.fresh), NOWHERE)
        drops = any(one.fidelity is Fidelity.GONE for one in self.fresh.values())
        return min(decided, self.request.lapsed, self.request.summarised if drops else decided)

    def void(self) -> None:
        """Drop reasoning that this call's edits voided, outside the running turn; inside it that is an error."""
        if not self.request.voids or self.request.binds is False:
            return
        first, turn = self.first_edit(), self.turn
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

    def outdated(self) -> list[Decision]:
        """Drops of reasoning that the caller voided by a change before it, where the model refuses it then. Inside the
        running turn it has to go back, and goes when the turn has ended."""
        first, upto = self.request.stale
        if first >= upto or not self.checks():
            return []
        return [
            replace(self.gone(item), reason="what stood before it was changed by the caller")
            for item in self.view.items
            if item.bound
            and first <= item.message < upto
            and item.unit <= self.turn
            and self.plan.fidelity(item.id) is Fidelity.FULL
        ]

    def lost(self) -> int:
        """Reasoning blocks that this call removes, or leaves behind an edit that voids them at the provider."""
        low, high = self.request.stale if self.request.binds else NEVER
        if not self.fresh and low >= high:
            return 0
        first = self.first_edit()
        bound = [item for item in self.view.items if item.bound]
        gone = sum(item.id in self.fresh for item in bound)
        if self.request.binds is False or (self.request.voids and not self.policy.reasoning_drop):
            return gone
        return gone + sum(
            (item.message > first or low <= item.message < high) and self.plan.fidelity(item.id) is Fidelity.FULL
            for item in bound
        )
