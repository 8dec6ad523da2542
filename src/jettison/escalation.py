"""What gives way when it does not fit after an epoch: step by step, each only as far as needed, then an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jettison.errors import BudgetUnreachable
from jettison.items import Fidelity, Kind, Unit
from jettison.plan import Escalation, Locks, Protection

if TYPE_CHECKING:
    from jettison.epoch import Run

__all__ = ["escalate"]

NAMED = 0.2
"""Share of the smallest request from which what is no item is named in the error: as the last of the five biggest
items, where they are all there is."""


def escalate(run: Run) -> None:
    """Over the limit after an epoch: retrieved documents, then everything evictable, then goals as prose and
    results cut to fit. Each step once, each recorded with its gain: there is no loop to guard."""
    far = {unit.index for unit in run.far}
    everything = [unit for unit in run.view.units if unit.index >= 0 and unit.index not in far]
    retrieved = [unit for unit in everything if Kind.DOCUMENT in unit.kinds]
    if retrieved:
        run.locks = run.protected(documents=True)
        if _tried(run, "retrieved documents reduced", retrieved, _but_documents(run, retrieved)):
            return
    latest = {unit.index for unit in run.view.latest}
    older = [unit for unit in everything if unit.index not in latest]
    if _tried(run, "everything evictable reduced again", older, run.locks):
        return
    for tight, step in ((1, "goals kept as prose"), (2, "results of the latest unit cut")):
        run.locks = run.protected(tight=tight)
        if _tried(run, step, everything, run.locks):
            return
    if run.policy.on_unsafe == "degrade":
        before = run.total()
        _degrade(run, everything)
        run.steps.append(Escalation("protections given up", before, run.total()))
    if run.total() > run.view.limit:
        raise _unreachable(run)


def _tried(run: Run, step: str, units: Sequence[Unit], locks: Locks) -> bool:
    """Reduce the units as far as it takes, and note it. Returns whether the request fits then."""
    before = run.total()
    run.reduce(units, run.view.limit - (before - run.size(units)), locks)
    run.steps.append(Escalation(step, before, run.total()))
    return run.total() <= run.view.limit


def _but_documents(run: Run, units: Sequence[Unit]) -> Locks:
    """The locks, with all that is not a retrieved document held as it is."""
    held = [
        Protection(item.id, "not retrieved", "documents were reduced")
        for unit in units
        for item in unit.items
        if item.kind is not Kind.DOCUMENT
    ]
    return Locks((*run.locks.protections, *held))


def _degrade(run: Run, units: Sequence[Unit]) -> None:
    """Give up protections, least binding first, until it fits."""
    order = ("pinned", "goal", "needed by", "open operation", "constraint", "latest unit", "latest user turn")
    given_up: list[Protection] = []
    last = {item.id for unit in (*run.view.units[-1:], *run.view.turn[-1:]) for item in unit.items}
    for reason in order:
        lost = [lock for lock in run.locks.protections if lock.reason.startswith(reason)]
        if not lost:
            continue
        held = [lock for lock in run.locks.protections if lock not in lost]
        if reason.startswith("latest"):
            held += [replace(lock, level="present") for lock in lost if lock.item in last]
        run.locks = Locks(tuple(held))
        given_up += lost
        run.reduce(units, run.view.limit - (run.total() - run.size(units)), run.locks)
        if run.total() <= run.view.limit:
            break
    kept = [lock for lock in given_up if _stands(run, lock)]
    gone = [lock for lock in given_up if lock not in kept]
    weaker = {replace(lock, level="present") for lock in kept}
    run.locks = Locks((*(lock for lock in run.locks.protections if lock not in weaker), *kept))
    run.given_up += [lock.text for lock in gone if lock.text]
    run.degraded += [f"{lock.reason}: {lock.item} {lock.text[:60]}".rstrip() for lock in gone]


def _stands(run: Run, lock: Protection) -> bool:
    """Whether what a lock keeps is still there, though nothing held it any more."""
    decision = run.plan.decisions.get(lock.item)
    if decision is None or decision.fidelity is Fidelity.FULL:
        return True
    if decision.fidelity is Fidelity.GONE:
        return False
    return lock.text in decision.text if lock.text else lock.level == "present"


def _unreachable(run: Run) -> BudgetUnreachable:
    """The error, with the numbers of the smallest context that was found."""
    budget = run.policy.size
    needed = run.total()
    kept = sorted(
        ((run.now(item), item) for item in run.view.items if run.plan.fidelity(item.id) > Fidelity.GONE),
        key=lambda entry: -entry[0],
    )
    biggest = [
        (item.id, item.kind.value, tokens, ", ".join(_reasons(run, item.id)[:3]) or "kept") for tokens, item in kept[:5]
    ]
    error = BudgetUnreachable(
        needed,
        run.view.limit,
        smallest=needed + budget.window - budget.limit,
        biggest=biggest,
        hints=_hints(run, needed),
    )
    error.outcome = run.outcome("major", run.tail(0))
    return error


def _reasons(run: Run, item: str) -> list[str]:
    """Why an item is held, each reason once."""
    return list(dict.fromkeys(lock.reason for lock in run.locks.on(item)))


def _beside(run: Run, least: float) -> Iterator[str]:
    """What takes more than so many tokens and is no item."""
    view = run.view
    if view.tool_tokens > least:
        yield f"fewer or shorter tool schemas (they take {view.tool_tokens:,} tokens)"
    if view.schema > least:
        yield f"a smaller response schema (it takes {view.schema:,} tokens)"
    if view.prior > least:
        yield f"a shorter history on the server (prior_tokens says that it takes {view.prior:,} tokens)"


def _hints(run: Run, needed: int) -> list[str]:
    budget = run.policy.size
    hints = []
    if any(lock.reason.startswith("signed reasoning") for lock in run.locks.protections):
        hints.append(
            "name the model, or allow the provider to drop reasoning that an edit voids (its drop setting, and "
            "Policy(reasoning_drop=True)): the running turn is held because of its signed reasoning"
        )
    if budget.reserve_output + budget.reserve_tools >= needed - run.view.limit:
        hints.append("smaller reserves for the reply and for tools")
    hints += _beside(run, NAMED * needed)
    if any(lock.reason.startswith("constraint") for lock in run.locks.protections):
        hints.append("session.task.release(text) for constraints that no longer bind")
    instructions = sum(run.now(item) for item in run.view.items if item.kind is Kind.INSTRUCTION)
    if run.policy.on_unsafe != "degrade" and run.view.fixed + instructions <= run.view.limit:  # these it never gives up
        hints.append("on_unsafe='degrade' for a best effort that names each loss")
    return hints
