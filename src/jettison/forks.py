"""A history that was edited, rewound or forked: what of the last call still holds."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from jettison.flow.dependencies import Flow
from jettison.history import Snapshot
from jettison.items import Fidelity, Kind, Unit
from jettison.ledger import NOWHERE
from jettison.models import binds_reasoning
from jettison.plan import Decision, Plan, View
from jettison.policy import Policy
from jettison.stages.protect import protect
from jettison.state import Kit, State
from jettison.summing import NO_SUMMARY

__all__ = ["forked", "freed"]

_TOGETHER = (Kind.CALL, Kind.RESULT, Kind.OPAQUE, Kind.REASONING, Kind.ASSISTANT)


def forked(old: State, taken: Snapshot) -> State:
    """The state for a history that was edited, rewound or forked: decisions go with their content."""
    kept = [item for record in old.history.records[: taken.common] for item in record]
    decisions = {item.id: old.plan.decisions[item.id] for item in kept if item.id in old.plan.decisions}
    loose: dict[tuple[Kind, str], list[Decision | None]] = {}
    for record in old.history.records[taken.common :]:
        for item in record:  # those without a decision too: the third of equal items stays the third
            same = loose.setdefault((item.kind, item.id.partition("-")[2]), [])
            same.append(old.plan.decisions.get(item.id))
    for record in taken.records[taken.common :]:
        for item in record:
            same = loose.get((item.kind, item.id.partition("-")[2]), [])
            decision = same.pop(0) if same else None
            if decision is not None:
                decisions[item.id] = replace(decision, item=item.id)
    sealed = min([old.sealed, *(item.unit for record in taken.records[taken.common :][:1] for item in record)])
    holds = old.summary.upto < taken.common and any(item.id == old.summary.first for item in kept)
    if old.summary.text and not holds:
        old = replace(old, summary=NO_SUMMARY)
    notes = tuple(note for note in old.notes if note.after < taken.common)
    # What framing, notes and the summary take in this branch is not known before it is rendered.
    fresh = replace(old, flow=Flow(), learnt=0, sources=(), merged={}, own=(), held=None, handed=(), plain=False, extra=0)
    return replace(fresh, plan=Plan(decisions), sealed=sealed, notes=notes)


def freed(state: State, view: View, kit: Kit, policy: Policy, common: int) -> State:
    """After a fork: without the decisions on what is protected now, if the branch never saw them made. `common`: how
    many leading messages are those of the last call."""
    locks = protect(view, kit.task, protectors=policy.protectors)
    binds = kit.traits.voids and not policy.reasoning_drop and binds_reasoning(kit.model) is not False
    turn = view.turn[-1].index if view.turn else -1
    thoughts = sorted({item.message for item in view.items if binds and item.bound and item.unit > turn})
    made, places = dict(state.edits), {item.id: item.message for item in view.items}

    def holds(name: str, decision: Decision) -> bool:
        if made.get(decision.call, NOWHERE) <= common:
            return True  # it was made in what is the past of this branch, too
        if name in locks.whole or any(lock.text not in decision.text for lock in locks.spans.get(name, ())):
            return False
        # Where the branch ends in what was a finished turn, that runs again. Its thoughts stand behind what stood
        # there when they were thought, without what was decided since.
        behind = bisect_left(thoughts, places.get(name, NOWHERE))
        return behind == len(thoughts) or made.get(decision.call, NOWHERE) <= thoughts[behind]

    kept = {name: decision for name, decision in state.plan.decisions.items() if holds(name, decision)}
    for unit in view.units:
        _join(unit, kept, kit.traits.voids)
    late = thoughts and any(messages > thoughts[0] for messages in made.values())
    return replace(state, plan=Plan(kept), summary=NO_SUMMARY if late else state.summary)


def _join(unit: Unit, kept: dict[str, Decision], voids: bool) -> None:
    """Undo the decisions of a fork that tear a unit: what goes with a call, or with the answer that its reasoning led
    to, is there as long as that is. Where an edit voids reasoning, it may be gone alone."""
    parts = [item for item in unit.items if item.kind in _TOGETHER]
    gone = [item for item in parts if item.id in kept and kept[item.id].fidelity is Fidelity.GONE]
    if len(gone) < len(parts):
        for item in gone:
            if item.kind is not Kind.ASSISTANT and not (item.kind is Kind.REASONING and voids):
                del kept[item.id]
