"""What the next call goes on from beside the history: what was decided and replaced, when, and what was given up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jettison.items import Fidelity
from jettison.ledger import NEVER, Outcome, Stale
from jettison.notes import Note, wanted
from jettison.plan import Plan, View
from jettison.state import State
from jettison.summing import Rolling

__all__ = ["edits", "forgone", "lapsed", "remembered", "still_stale"]

REPLACED = 2
"""Limits of tokens that the replaced forms of items may take in a state. With .25 of the body as budget that is all of
them (at most .9 / 1.0 / .8 / 1.9 limits in 6 recordings each of mcpmark / swe-lm32b / tau-airline / toolathlon), with
.1 the median (1.1 / .8 / .2 / 1.4, at most 5.4). A saved state is 1.2 to 1.75 times as large with them (medians)."""


def remembered(outcome: Outcome, limit: int) -> Plan:
    """The plan, with what it replaced as far as there is room for that. `limit`: input tokens that may be sent."""
    plan = outcome.plan
    again = any(plan.decisions[one.item].earlier is not None for one in outcome.fresh)
    return plan.bounded(REPLACED * limit) if again else plan


def edits(state: State, outcome: Outcome, summary: Rolling, messages: int, same: bool) -> tuple[tuple[int, int], ...]:
    """The calls whose decisions are in force or were, this one with them, each with the messages that it was given.
    `same`: the history is that of the last call, grown."""
    if not outcome.fresh and same:
        return state.edits
    calls = {one.call for decision in outcome.plan.decisions.values() for one in decision.chain()}
    calls.update(one.call for one in (summary, *summary.earlier))
    calls.update(call for _, call in state.lapsed)
    return (*(edit for edit in state.edits if edit[0] in calls), (state.call + 1, messages))


def lapsed(
    state: State, standing: Sequence[Note], call: int, most: int, count: Callable[[str], int]
) -> tuple[tuple[Note, int], ...]:
    """The notes that were taken out so far, newest last, and at which call; up to `most` tokens, as fit into one
    request. `standing`: those of earlier calls that still stand."""
    gone = [(note, call) for note in state.notes if note not in standing]
    if not gone:
        return state.lapsed
    kept = [*state.lapsed, *gone]
    for at in reversed(range(len(kept))):
        most -= count(kept[at][0].text)
        if most < 0:
            return tuple(kept[at + 1 :])
    return tuple(kept)


def forgone(state: State, outcome: Outcome, view: View) -> frozenset[str]:
    """What a note would bring back and was given up, as far as it is still wanted."""
    given_up = state.forgone.union(outcome.given_up)
    return given_up.intersection(wanted(view)) if given_up else given_up


def still_stale(stale: Stale, outcome: Outcome, view: View) -> Stale:
    """Where reasoning goes back though it is void, as the running turn needs it."""
    first, upto = stale
    left = first < upto and any(
        item.bound and first <= item.message < upto and outcome.plan.fidelity(item.id) is Fidelity.FULL
        for item in view.items
    )
    return stale if left else NEVER
