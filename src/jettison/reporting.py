"""The rows of a report, built when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from jettison.flow.dependencies import Flow
from jettison.plan import Locks, Plan, Row, Score, View

__all__ = ["rows_of"]

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
