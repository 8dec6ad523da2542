"""A rolling summary of the units that epochs dropped whole: what is summarised, and where the summary stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jettison.compressors.summary import summarise
from jettison.compressors.summary_text import Refused, Source, holds, opened, parts_of, render
from jettison.items import Fidelity, Item, Unit, summary_item
from jettison.plan import Locks, Plan, View

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from jettison.compressors.summary import Ask
    from jettison.protocols import Summarizer

__all__ = ["NO_SUMMARY", "Rolling", "inserted", "rolled"]

SHARE, LEAST, MOST = 0.05, 120, 1_000
"""A summary takes at most this share of the limit, but 120 to 1,000 tokens: an epoch leaves three tenths of the room
free, so it fits without another one. A choice, not a measurement."""
WORTHWHILE = 200
"""Tokens of dropped text from which a summary is written: below it would be more than half of what it stands for."""


@dataclass(frozen=True, slots=True)
class Rolling:
    """The summary so far."""

    text: str = ""
    """As it is sent; empty: there is none."""
    first: str = ""
    """Id of the first item that it stands for: it stands in its place."""
    upto: int = -1
    """Index of the last message that it stands for."""
    source: str = ""
    """What the newest summary was made of; to be archived under its handle."""
    handle: str = ""
    notes: tuple[str, ...] = ()
    call: int = 0
    """At which fit of the session it was written."""
    earlier: tuple[Rolling, ...] = ()
    """Those that it replaced, newest first: one of them holds again in a branch that begins before it was written."""

    def written(self, old: Rolling, call: int, most: int, count: Callable[[str], int]) -> Rolling:
        """The summary as this call writes it in place of `old`; at most so many tokens of older ones are kept."""
        kept: list[Rolling] = []
        for one in (replace(old, source="", handle="", notes=(), earlier=()), *old.earlier):
            most -= count(one.text)
            if not one.text or most < 0:
                break
            kept.append(one)
        return replace(self, call=call, earlier=tuple(kept))

    def back(self, holds: Callable[[Rolling], bool]) -> Rolling:
        """This summary, or the newest of the earlier ones that holds; `NO_SUMMARY` where none does."""
        chain = (replace(self, earlier=()), *self.earlier) if self.text else ()
        at = next((at for at, one in enumerate(chain) if holds(one)), None)
        return NO_SUMMARY if at is None else replace(chain[at], earlier=chain[at + 1 :])


NO_SUMMARY = Rolling()


def inserted(items: Sequence[Item], every: Sequence[Item], rolling: Rolling) -> list[Item]:
    """Kept items with the summary where the first item that it stands for has stood (`every`: all items)."""
    first = next((item for item in every if item.id == rolling.first), None) if rolling.text else None
    if first is None:
        return list(items)
    at = next((n for n, item in enumerate(items) if item.message >= first.message), len(items))
    return [*items[:at], summary_item(rolling.text, first), *items[at:]]


def _dropped(unit: Unit, plan: Plan) -> bool:
    return bool(unit.items) and all(plan.fidelity(item.id) is Fidelity.GONE for item in unit.items)


def rolled(
    view: View,
    locks: Locks,
    before: Plan,
    after: Plan,
    old: Rolling,
    summarizer: Summarizer | None,
    last_turn: int | None,
) -> Generator[Ask, Any, Rolling]:
    """The summary with the units that were dropped between two plans; the old one where there is nothing to add.

    `summarizer`: None writes an extractive one. `last_turn`: only units before this one may be summarised (where a
    text may not stand inside a running tool turn); None: any.
    """
    units = [
        unit
        for unit in view.units
        if unit.index >= 0
        and (last_turn is None or unit.index < last_turn)
        and _dropped(unit, after)
        and not _dropped(unit, before)
    ]
    parts = parts_of([item for unit in units for item in unit.items], locks)
    told = opened(old.text) if old.text else None
    if sum(view.count(part.text) for part in parts) < WORTHWHILE:
        return old
    source = Source(
        parts,
        messages=len({item.message for unit in units for item in unit.items}),
        previous=told[0] if told else None,
        open=tuple(need for op in view.task.operations if op.open for need in op.needs),
        done=tuple(need for op in view.task.operations if not op.open for need in op.needs),
        about=" ".join(span.text for span in view.task.goals),
    )
    needs = {need for op in view.task.operations if op.open for need in op.needs}
    keep = tuple(sorted(need for need in needs if "\n" not in need and holds(source.text, need)))
    room = int(min(MOST, max(LEAST, SHARE * view.limit)))
    found = yield from summarise(
        replace(source, must_keep=keep), max_tokens=room, count=view.count, summarizer=summarizer
    )
    if isinstance(found, Refused):
        return replace(old, notes=(f"no summary was written: {found.reason}", *found.notes))
    handle = view.handle(source.text)
    first = units[0].items[0]
    earlier = next((item for item in view.items if item.id == old.first), None)
    if earlier is not None and earlier.message <= first.message:
        first = earlier
    upto = max(old.upto, *(item.message for item in units[-1].items))
    return Rolling(render(found, handle if view.named else ""), first.id, upto, source.text, handle, found.notes)
