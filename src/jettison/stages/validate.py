"""Validate: budget, state integrity and task sufficiency of the finished output. Nothing edits after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jettison.errors import Problem
from jettison.flow.borders import says_as
from jettison.items import Fidelity, Item, named_items
from jettison.plan import CheckResult, Locks, Protection, View
from jettison.protocols import Check

__all__ = ["validate"]


def validate(
    items: Sequence[Item],
    view: View,
    locks: Locks,
    tokens: int,
    problems: Sequence[Problem],
    checks: Sequence[Check] = (),
) -> dict[str, CheckResult]:
    """The three checks, from the items as they will be rendered and the wire's own verdict on the rendered list.

    `tokens`: of the whole request. `problems`: broken rules of the output.
    """
    kept = {item.id: item for item in items}
    cut = {lock.item for lock in locks.protections if lock.text and _is_cut(kept.get(lock.item))}
    sources = {item.id: item.text for item in named_items(view.items, cut)}
    missing = [missed for lock in locks.protections if (missed := _missing(lock, kept, sources))]
    for check in checks:
        missing += check(items, view)
    broken = [str(problem) for problem in problems if problem.kind == "structure"]
    return {
        "budget": CheckResult(tokens <= view.limit, f"{tokens:,} of {view.limit:,} input tokens"),
        "integrity": CheckResult(
            not broken, f"{len(broken)} broken rules" if broken else "every rule of the wire holds", tuple(broken)
        ),
        "sufficiency": CheckResult(
            not missing,
            f"{len(missing)} of {len(locks.protections)} protections are lost"
            if missing
            else f"all {len(locks.protections)} protections are there",
            tuple(missing),
        ),
    }


def _is_cut(item: Item | None) -> bool:
    return item is not None and item.fidelity is not Fidelity.FULL


def _missing(lock: Protection, kept: Mapping[str, Item], sources: Mapping[str, str]) -> str | None:
    """What is lost of a protection, None when it is there. `sources`: of items that were cut, the texts before that."""
    if lock.level in ("lost", "noted", "deferred"):  # it is not in its item: see `Protection.level`
        return None
    item = kept.get(lock.item)
    if item is None:
        return f"{lock.item} ({lock.reason}) is gone" + (f": {lock.text[:80]!r}" if lock.text else "")
    if lock.whole and lock.level == "verbatim" and item.fidelity is not Fidelity.FULL:
        return f"{lock.item} ({lock.reason}) was shortened"
    if lock.text and not says_as(sources.get(lock.item, item.text), lock.text)(item.text):
        return f"{lock.item} ({lock.reason}): {lock.text[:80]!r} is not there word for word"
    return None
