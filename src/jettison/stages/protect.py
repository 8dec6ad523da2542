"""Protect: what stays whatever its score, why, and until when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jettison.items import Item, Kind, Unit
from jettison.plan import Locks, Protection, View
from jettison.protocols import Protector
from jettison.task import Operation, Span, Task

__all__ = ["protect"]

GOAL_WHOLE = 0.25
"""A goal is kept whole while it takes at most this share of the limit, else its prose. In the recorded sets the
first user message is under a quarter of the smallest budget tried (10 % of the body) in 9 of 10 runs."""


def protect(view: View, task: Task, *, tight: int = 0, protectors: Sequence[Protector] = ()) -> Locks:
    """All hard protections of this call.

    `tight`, for when they do not fit: 1, of goals only the prose; 2, also of the latest unit's results only what fits.
    """
    locks = [
        *_instructions(view),
        *_latest(view, tight > 1),
        *_unanswered(view),
        *_goals(view, tight > 0),
        *_constraints(view),
        *_operations(view),
        *_pins(view, task),
    ]
    for protector in protectors:
        locks += protector(view)
    return Locks(tuple(dict.fromkeys(locks)))


def _instructions(view: View) -> Iterator[Protection]:
    for item in view.items:
        if item.kind is Kind.INSTRUCTION:
            yield Protection(item.id, "instruction", "never: instructions bind every call")


def _latest(view: View, tight: bool) -> Iterator[Protection]:
    if not view.units:
        return
    for item in view.units[-1].items:
        level = "present" if tight and item.kind in (Kind.RESULT, Kind.DOCUMENT) and item.editable else "verbatim"
        yield Protection(item.id, "latest unit", "a newer unit arrives", level=level)
    turn = _last_user(view.units)
    if turn is not None:
        for item in turn.items:
            if item.kind in (Kind.USER, Kind.MEDIA, Kind.DOCUMENT):
                yield Protection(item.id, "latest user turn", "the user says something newer")


def _last_user(units: Sequence[Unit]) -> Unit | None:
    return next((unit for unit in reversed(units) if Kind.USER in unit.kinds), None)


def _unanswered(view: View) -> Iterator[Protection]:
    for unit in view.units:
        for call in unit.unanswered():
            for item in unit.items:
                yield Protection(item.id, f"call {call.call_id} is not answered yet", "its answer arrives")


def _goals(view: View, tight: bool) -> Iterator[Protection]:
    items = {item.id: item for item in view.items}
    spans: dict[str, list[Span]] = {}
    for span in view.task.goals:
        spans.setdefault(span.item, []).append(span)
    for name, parts in spans.items():
        if not tight and view.cost(items[name]) <= GOAL_WHOLE * view.limit:
            yield Protection(name, "goal", "the goal changes")
        else:
            yield from (_span(span, "goal", "the goal changes") for span in parts)


def _span(span: Span, reason: str, until: str) -> Protection:
    return Protection(span.item, reason, until, span.text, start=span.start, end=span.end)


def _constraints(view: View) -> Iterator[Protection]:
    for constraint in view.task.constraints:
        span = constraint.span or _find(constraint.text, view.items)
        if span is not None:
            yield _span(span, f"constraint ({constraint.role})", "released by the caller")


def _operations(view: View) -> Iterator[Protection]:
    for op in view.task.open_operations:
        until = f"operation {op.id} ({op.name}) is done"
        if op.call is not None:
            yield Protection(op.call, f"open operation {op.name}", until)
        if op.span is not None:
            yield _span(op.span, f"open operation {op.name}", until)
        yield from _needs(op, until, view.items)


def _needs(op: Operation, until: str, items: Sequence[Item]) -> Iterator[Protection]:
    for need in op.needs:
        span = _find(need, items)
        if span is not None:
            holder = next(item for item in items if item.id == span.item)
            if holder.kind is Kind.REASONING:  # reasoning cannot stand alone in its message
                yield from (
                    Protection(item.id, f"needed by {op.name}", until) for item in items if item.unit == holder.unit
                )
            yield _span(span, f"needed by {op.name}", until)
            continue
        carrier = next((item for item in reversed(items) if need in item.extra), None)
        if carrier is not None:
            yield Protection(carrier.id, f"needed by {op.name}", until)


def _pins(view: View, task: Task) -> Iterator[Protection]:
    ids = {item.id for item in view.items}
    for pin in sorted(task.pins):
        if pin in ids:
            yield Protection(pin, "pinned", "unpinned by the caller")
        else:
            span = _find(pin, view.items)
            if span is not None:
                yield _span(span, "pinned", "unpinned by the caller")


def _find(text: str, items: Iterable[Item]) -> Span | None:
    """The newest place where a text stands: in results and user text, else in calls, else in reasoning."""
    fallback = thought = None
    for item in reversed(tuple(items)):
        at = item.text.find(text)
        if at >= 0:
            span = Span(item.id, at, at + len(text), text)
            if item.kind in (Kind.RESULT, Kind.USER, Kind.INSTRUCTION, Kind.DOCUMENT):
                return span
            if item.kind is Kind.REASONING:
                thought = thought or span
            else:
                fallback = fallback or span
    return fallback or thought
