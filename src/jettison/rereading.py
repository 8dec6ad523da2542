"""Results that the agent asked for again: what was recalled from the archive, and what a call read anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from jettison.flow.values import argument_values
from jettison.items import Item, Kind, Unit
from jettison.plan import Plan

__all__ = ["asked_again"]


def asked_again(
    units: Sequence[Unit], newest: Unit | None, plan: Plan, recalled: Callable[[str], str | None]
) -> frozenset[str]:
    """Ids of the `newest` unit's results that are to be seen whole: cut again, they would only be read again.

    `recalled`: the handle of a text that comes from the archive; it counts where this plan has cut that text. A result
    is a re-read when its call repeats one whose result was cut, or names the same paths and ids (algorithm.md, "Re-read
    guard"; where one shared path or id is enough, strict support at 25 % falls by 1.3 points on toolathlon and cost
    rises by .03 on mcpmark).
    """
    if newest is None or not plan.decisions:
        return frozenset()
    calls = {item.call_id: item for item in newest.of(Kind.CALL)}
    handles = {decision.handle for decision in plan.decisions.values() if decision.handle}
    found, cut = set(), None
    for item in newest.of(Kind.RESULT):
        if recalled(item.text) in handles:
            found.add(item.id)
            continue
        call = calls.get(item.call_id)
        if call is None:
            continue
        cut = cut or {}
        if call.name not in cut:
            cut[call.name] = list(_cut_calls((one for one in units if one is not newest), plan, call.name))
        named = _named(call)
        if any(call.text == earlier.text or (named and named == _named(earlier)) for earlier in cut[call.name]):
            found.add(item.id)
    return frozenset(found)


def _cut_calls(units: Iterable[Unit], plan: Plan, name: str | None) -> Iterator[Item]:
    """Calls of a tool whose results were cut."""
    for unit in units:
        calls = [item for item in unit.of(Kind.CALL) if item.name == name]
        if calls:
            reduced = {item.call_id for item in unit.of(Kind.RESULT) if item.id in plan.decisions}
            yield from (call for call in calls if call.call_id in reduced)


def _named(call: Item) -> frozenset[str]:
    """Paths and ids in a call's arguments: values with a digit, a slash or a dot."""
    values = {value for _, value in argument_values(call.text)}
    return frozenset(value for value in values if any(mark.isdigit() or mark in "/." for mark in value))
