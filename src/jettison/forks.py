"""A history that was edited, rewound or forked: what of the last call still holds."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace

from jettison.flow.dependencies import Flow
from jettison.history import History, Snapshot
from jettison.items import Fidelity, Kind, Unit
from jettison.ledger import NEVER, NOWHERE, Stale, behind
from jettison.models import binds_reasoning
from jettison.notes import Note
from jettison.plan import Decision, Plan, View
from jettison.policy import Policy
from jettison.prints import Known, fingerprint
from jettison.stages.protect import protect
from jettison.state import Kit, State

__all__ = ["forked", "freed", "outdated"]

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
                decisions[item.id] = _moved(decision, item.id)
    sealed = min([old.sealed, *(item.unit for record in taken.records[taken.common :][:1] for item in record)])
    names = {item.id for item in kept} if old.summary.text else set()
    summary = old.summary.back(lambda one: one.upto < taken.common and one.first in names)
    notes = tuple(note for note in old.notes if note.after < taken.common)
    lapsed = tuple((note, call) for note, call in old.lapsed if note.after < taken.common)
    # What framing, notes and the summary take in this branch is not known before it is rendered.
    fresh = replace(
        old, flow=Flow(), learnt=0, sources=(), merged={}, own=(), held=None, handed=(), plain=False, extra=0
    )
    return replace(fresh, plan=Plan(decisions), sealed=sealed, notes=notes, lapsed=lapsed, summary=summary)


def _moved(decision: Decision, item: str) -> Decision:
    """The decision, and those that it replaced, on an item of that id."""
    earlier = None if decision.earlier is None else _moved(decision.earlier, item)
    return replace(decision, item=item, earlier=earlier)


def outdated(old: State, taken: Snapshot) -> Stale:
    """Where a branch holds reasoning that was thought behind another past: messages of the last call behind one that
    the caller has edited. What the branch thought itself stands behind what it saw."""
    first, upto = old.stale
    stale = (first, min(upto, taken.common)) if first < min(upto, taken.common) else NEVER
    known = {
        _print(old.history, at)
        for at, record in enumerate(old.history.records[taken.common :], taken.common)
        if any(item.kind is Kind.REASONING for item in record)
    }
    if known:
        for at in reversed(range(taken.common, len(taken.records))):
            if any(item.bound for item in taken.records[at]) and _print(taken, at) in known:
                return behind(stale, taken.common, at + 1)
    return stale


def _print(history: History | Snapshot, at: int) -> str:
    """The content of a message as a hash; of one that was loaded there is nothing else."""
    raw = history.messages[at] if at in history.secrets else history.raw[at]
    return raw.known if isinstance(raw, Known) else fingerprint(raw)


@dataclass(frozen=True, slots=True)
class Branch:
    """What holds in a fork."""

    state: State
    notes: tuple[Note, ...] = ()
    """Those in front of reasoning of the running turn: they stay, though what they were for may be done."""


def freed(state: State, view: View, kit: Kit, policy: Policy, taken: Snapshot) -> Branch:
    """After a fork: without the decisions on what is protected now, if the branch never saw them made. In their place
    are those that they replaced, as far as it did see them."""
    locks = protect(view, kit.task, protectors=policy.protectors)
    binds = kit.traits.voids and not policy.reasoning_drop and binds_reasoning(kit.model) is not False
    turn = view.turn[-1].index if view.turn else -1
    # Where the branch ends in what was a finished turn, that runs again. Its thoughts stand behind what stood there
    # when they were thought, without what was decided since.
    thoughts = sorted({item.message for item in view.items if binds and item.bound and item.unit > turn})
    made, places = dict(state.edits), {item.id: item.message for item in view.items}

    def since(call: int, place: int) -> bool:
        """Whether a call came after the first thought behind a message."""
        behind = bisect_left(thoughts, place)
        return behind < len(thoughts) and made.get(call, NOWHERE) > thoughts[behind]

    def holds(name: str, decision: Decision) -> bool:
        if made.get(decision.call, NOWHERE) <= taken.common:
            return True  # it was made in what is the past of this branch, too
        if name in locks.whole or any(lock.text not in decision.text for lock in locks.spans.get(name, ())):
            return False
        return not since(decision.call, places.get(name, NOWHERE))

    kept: dict[str, Decision] = {}
    for name, decision in state.plan.decisions.items():
        found = next((one for one in decision.chain() if holds(name, one)), None)
        if found is not None and not found.forgotten:
            kept[name] = found
    for unit in view.units:
        _join(unit, kept, kit.traits.voids)
    summary = state.summary.back(lambda one: not since(one.call, 0))
    again = [note for note, call in state.lapsed if since(call, note.after + 1)]
    every = sorted(dict.fromkeys((*state.notes, *again)), key=lambda note: note.after)
    # What is kept is sent from this call on: a later branch that begins behind it has seen it.
    edits = tuple((call, min(messages, len(taken.given))) for call, messages in state.edits)
    lapsed = tuple(entry for entry in state.lapsed if entry[0] not in again)
    state = replace(state, plan=Plan(kept), summary=summary, edits=edits, notes=tuple(every), lapsed=lapsed)
    return Branch(state, tuple(note for note in every if note.after < max(thoughts, default=-1)))


def _join(unit: Unit, kept: dict[str, Decision], voids: bool) -> None:
    """Undo the decisions of a fork that tear a unit: what goes with a call, or with the answer that its reasoning led
    to, is there as long as that is. Where an edit voids reasoning, it may be gone alone."""
    parts = [item for item in unit.items if item.kind in _TOGETHER]
    gone = [item for item in parts if item.id in kept and kept[item.id].fidelity is Fidelity.GONE]
    if len(gone) < len(parts):
        for item in gone:
            if item.kind is not Kind.ASSISTANT and not (item.kind is Kind.REASONING and voids):
                earlier = kept.pop(item.id).earlier
                if earlier is not None and not earlier.forgotten:
                    kept[item.id] = earlier
