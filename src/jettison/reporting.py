"""What a report says: its rows, built when somebody asks for them, and the verdict on what does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jettison.epoch import Outcome
from jettison.errors import BudgetUnreachable, CannotFit, ContextInsufficient, StateBroken
from jettison.flow.dependencies import Flow
from jettison.plan import CheckResult, Locks, Plan, Report, Row, Score, View
from jettison.task import Task

__all__ = ["failed_checks", "first_change", "judged", "rows_of", "unmet"]

PREVIEW = 80


def rows_of(
    view: View, plan: Plan, locks: Locks, evaluate: Callable[[View, Flow], Mapping[str, Score]]
) -> Iterator[Row]:
    """One row an item, scored as of this call (values learnt later do not count)."""
    flow = Flow()
    flow.learn(view.units)
    scores = evaluate(view, flow)
    for item in view.items:
        decision = plan.decisions.get(item.id)
        before = view.cost(item)
        on = locks.on(item.id)
        reason = decision.reason if decision else ", ".join(dict.fromkeys(lock.reason for lock in on)) or "fits"
        yield Row(
            item=item.id,
            kind=item.kind.value,
            role=item.role,
            name=item.name,
            message=item.message,
            age=view.age(item),
            score=scores[item.id],
            protections=on,
            decision=decision.fidelity.name.lower() if decision else "full",
            reason=reason,
            before=before,
            after=decision.after if decision else before,
            handle=decision.handle if decision else None,
            preview=" ".join((item.text or item.note or item.extra)[: 2 * PREVIEW].split())[:PREVIEW],
        )


def first_change(last: Sequence[Any], now: Sequence[Any]) -> int | None:
    """Index of the first message that is not as it was; None when the old ones are a prefix of the new ones."""
    first = next((at for at, (old, new) in enumerate(zip(last, now, strict=False)) if old != new), None)
    return len(now) if first is None and len(now) < len(last) else first


def failed_checks(error: CannotFit) -> dict[str, CheckResult]:
    """The checks of an attempt that ended in an error: the one that failed, and that the others were not reached."""
    checks = dict.fromkeys(("budget", "integrity", "sufficiency"), CheckResult(False, "not reached", reached=False))
    failed = "budget" if isinstance(error, BudgetUnreachable) else "sufficiency"
    checks[failed] = CheckResult(False, str(error).split("\n")[0], tuple(getattr(error, "missing", ())))
    return checks


def unmet(task: Task, outcome: Outcome, view: View) -> list[str]:
    """Needs of open operations that stand nowhere in the history."""
    held = {lock.text for lock in outcome.locks.protections}
    if outcome.degraded:
        return []
    return [
        f"operation {op.id} ({op.name}) needs {need!r}, which is nowhere in the history"
        for op in task.operations.values()
        if op.open and op.id not in task.deferred
        for need in op.needs
        if need not in held and not any(need in item.extra for item in view.items)
    ]


def judged(report: Report, unmet: Sequence[str], degrade: bool) -> Report:
    """The report where all holds; else raise, or with `degrade` name, what does not. `unmet`: needs of open work."""
    missing = [*report.checks["sufficiency"].missing, *unmet]
    if unmet:
        result = CheckResult(False, f"{len(missing)} needs are not met", tuple(missing))
        report = replace(report, checks={**report.checks, "sufficiency": result})
    if report.ok:
        return report
    if degrade and report.checks["budget"].ok and report.checks["integrity"].ok:
        return replace(report, degraded=(*report.degraded, *missing))
    broken = report.checks["integrity"].missing
    if not report.checks["budget"].ok:
        error: CannotFit = BudgetUnreachable(report.after, report.limit)
    elif broken:
        error = StateBroken(f"the output would break the wire's rules: {broken[0]}", broken)
    elif any(entry in unmet for entry in missing):
        error = ContextInsufficient(f"the context does not hold what is needed: {missing[0]}", missing)
    else:
        error = StateBroken(f"a protected part would be lost: {missing[0]}", missing)
    error.report = report
    raise error
