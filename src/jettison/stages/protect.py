"""Protect: what stays whatever its score, why, and until when."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from jettison.flow.borders import holds
from jettison.flow.places import place_in
from jettison.items import Item, Kind, Unit, named_items
from jettison.plan import Locks, Plan, Protection, View
from jettison.protocols import ItemProtector, ItemRule, Protector
from jettison.task import Operation, Span, Task

__all__ = ["declared_locks", "held_for", "protect", "restored"]

GOAL_WHOLE = 0.25
"""A goal is kept whole while it takes at most this share of the limit, else its prose. In the recorded sets the
first user message is under a quarter of the smallest budget tried (10 % of the body) in 9 of 10 runs."""
TURN = 0.5
"""Of the messages that a user sent in a row (an image, then the question) the newest are held up to this share of the
limit. By judgement: a thread that many people wrote before the agent was asked is no turn that has to stay whole."""
ORIGINAL_WHOLE = 0.25
"""The original of an "unchanged" result, and a todo list, stay unchanged while they take at most this share of the
limit; a larger one stays present and may be cut."""
EXCHANGED, EXCHANGED_LEAST, EXCHANGED_MOST = 0.02, 60, 0.1
"""Of what gives way (short answers with their questions, how requests ended) the first up to this share of the limit
are held; of small limits up to so many tokens, and at most this share. Chosen on tau-airline, dialogues on small
budgets: strict support / completeness at 25 % change by +.6 / +1.4 (`economy`: +.2 / −1.8), at 10 % by −4.8 / −.6
(intervals there are ±15); with 100 tokens by −.3 / −.4 (−2.3 / −4.3) and −4.4 / +.8. On the other three sets nothing
changes."""


def protect(
    view: View,
    task: Task,
    *,
    tight: int = 0,
    documents: bool = False,
    protectors: Sequence[Protector | ItemProtector | ItemRule] = (),
    cut: Collection[str] = (),
) -> Locks:
    """All hard protections of this call. `cut`: items that an earlier call reduced; of goals only the prose is left.

    `tight`, for when they do not fit: 1, of goals only the prose, of facts only what fits, of messages that the user
    sent in a row only the last one; 2, also of the latest unit's results only what fits. `documents`: of what was
    retrieved for the latest user turn only what fits, the user's own text stays.
    """
    locks = [
        *_instructions(view),
        *_latest(view, tight, documents or tight > 0),
        *_unanswered(view),
        *_goals(view, tight > 0, cut),
        *_constraints(view),
        *_operations(view),
        *_deferred(view),
        *_facts(view, tight > 0),
        *_tools(view, task),
        *_pins(view),
    ]
    for protector in protectors:
        locks += _declared(protector, view)
    return Locks(tuple(dict.fromkeys(locks)))


def _instructions(view: View) -> Iterator[Protection]:
    for unit in view.units if view.spoken is None else view.spoken:
        for item in unit.items if Kind.INSTRUCTION in unit.kinds else ():
            if item.kind is Kind.INSTRUCTION:
                yield Protection(item.id, "instruction", "never: instructions bind every call")


def _latest(view: View, tight: int, documents: bool) -> Iterator[Protection]:
    loose = {Kind.RESULT: tight > 1, Kind.DOCUMENT: documents}

    def level(item: Item) -> str:
        return "present" if loose.get(item.kind, False) and item.editable else "verbatim"

    last = {unit.index for unit in (*view.units[-1:], *view.turn[-1:])}
    for unit in view.latest:
        firm = unit.index in last or Kind.USER not in unit.kinds
        for item in unit.items if firm or not tight else ():
            yield Protection(item.id, "latest unit", "a newer unit arrives", level=level(item), late=not firm)
    for unit in view.turn[-1:] if tight else _newest(view.turn, view):
        for item in unit.items:
            if item.kind in (Kind.USER, Kind.MEDIA, Kind.DOCUMENT):
                until, late = "the user says something newer", unit.index not in last
                yield Protection(item.id, "latest user turn", until, level=level(item), late=late)


def _newest(turn: Sequence[Unit], view: View) -> Iterator[Unit]:
    """The newest messages of a turn, up to `TURN` of the limit; the last one in any case."""
    weight = 0
    for unit in reversed(turn):
        weight += sum(map(view.cost, unit.items))
        if unit is not turn[-1] and weight > TURN * view.limit:
            break
        yield unit


def _unanswered(view: View) -> Iterator[Protection]:
    for unit in view.units if view.waiting is None else view.waiting:
        for call in unit.unanswered():
            for item in unit.items:
                yield Protection(item.id, f"call {call.call_id} is not answered yet", "its answer arrives")


def restored(locks: Locks, plan: Plan) -> Locks:
    """The locks, with goals that were not cut after all as whole items: the report does not waver between the two."""
    kept = [
        Protection(lock.item, lock.reason, lock.until)
        if lock.reason == "goal" and not lock.late and lock.item not in plan.decisions
        else lock
        for lock in locks.protections
    ]
    return locks if kept == list(locks.protections) else Locks(tuple(dict.fromkeys(kept)))


def _goals(view: View, tight: bool, cut: Collection[str]) -> Iterator[Protection]:
    spans: dict[str, list[Span]] = {}
    for span in view.task.goals:
        spans.setdefault(span.item, []).append(span)
    items = _found(spans, view)
    for name, parts in spans.items():
        said = items[name].kind is Kind.USER
        if said and not tight and name not in cut and view.cost(items[name]) <= GOAL_WHOLE * view.limit:
            yield Protection(name, "goal", "the goal changes")
        else:
            yield from (_span(span, "goal", "the goal changes", late=not said) for span in parts)


def _found(names: Collection[str], view: View) -> dict[str, Item]:
    """Items by id, looked for where goals are: among instructions and what the user said."""
    units = view.units if view.spoken is None else view.spoken
    found = {item.id: item for unit in units for item in unit.items if item.id in names}
    if len(found) < len(names):
        found = {item.id: item for item in view.items if item.id in names}
    return found


def _span(span: Span, reason: str, until: str, late: bool = False) -> Protection:
    return Protection(span.item, reason, until, span.text, start=span.start, end=span.end, late=late)


def _constraints(view: View) -> Iterator[Protection]:
    for constraint in view.task.constraints:
        span = constraint.span or _place(constraint.text, view)
        if span is not None:
            yield _span(span, f"constraint ({constraint.role})", "released by the caller")


def declared_locks(view: View) -> Iterator[Protection]:
    """What the caller declared to be kept: constraints in their words, and pins."""
    for lock in (*_constraints(view), *_pins(view)):
        if lock.reason in ("constraint (declared)", "pinned"):
            yield lock


def _operations(view: View) -> Iterator[Protection]:
    for op in view.task.open_operations:
        yield from held_for(op, view)


def held_for(op: Operation, view: View) -> Iterator[Protection]:
    """What is kept for an open operation: the call that began it, where it says so, the values it needs."""
    until = f"operation {op.id} ({op.name}) is done"
    if op.call is not None:
        yield Protection(op.call, f"open operation {op.name}", until)
    if op.span is not None:
        yield _span(op.span, f"open operation {op.name}", until)
    yield from _needs(op, until, view)


def _deferred(view: View) -> Iterator[Protection]:
    """What the operations of other stages need: named, and not held."""
    for op in view.task.deferred_operations:
        until = f"its stage is entered, or the present one is left; then until operation {op.id} is done"
        for need in op.needs:
            span = _place(need, view)
            if span is not None:
                yield replace(_span(span, f"deferred: needed by {op.name}", until), level="deferred")


def _needs(op: Operation, until: str, view: View) -> Iterator[Protection]:
    for need in op.needs:
        span = _place(need, view)
        if span is not None:
            holder = view.by_id[span.item]
            if holder.kind is Kind.REASONING:  # reasoning cannot stand alone in its message
                yield from (
                    Protection(item.id, f"needed by {op.name}", until)
                    for item in view.items
                    if item.unit == holder.unit
                )
            yield _span(span, f"needed by {op.name}", until)
            continue
        carriers = [item for item in reversed(view.items) if need in item.extra]
        carrier = next((item for item in carriers if holds(item.extra, need)), carriers[0] if carriers else None)
        if carrier is not None:
            yield Protection(carrier.id, f"needed by {op.name}", until)


def _facts(view: View, tight: bool) -> Iterator[Protection]:
    """What stands in the history and is not repeated: open todo lists, their guards, revealed tools, originals, what
    the user agreed to."""
    if not view.task.facts:
        return
    items = {item.id: item for item in named_items(view.items, {fact.item for fact in view.task.facts})}
    room = max(EXCHANGED * view.limit, min(EXCHANGED_LEAST, EXCHANGED_MOST * view.limit)) if not tight else 0
    for fact in view.task.facts:
        if fact.gives_way:
            room -= view.count(items[fact.item].text if fact.span is None else fact.span.text)
            if room < 0:
                continue
        if fact.span is not None:
            yield _span(fact.span, fact.reason, fact.until, late=True)
            continue
        large = tight or view.cost(items[fact.item]) > ORIGINAL_WHOLE * view.limit
        level = "present" if large and items[fact.item].editable else "verbatim"
        yield Protection(fact.item, fact.reason, fact.until, level=level, late=True)


def _tools(view: View, task: Task) -> Iterator[Protection]:
    """Results that a tool policy keeps."""
    if not view.policies.keeps:
        return
    latest: set[str] = set()
    for item in reversed(view.items):
        if item.kind is not Kind.RESULT or item.name is None:
            continue
        keep = view.policies.of(item.name).keep
        if keep is None or item.name in task.released or item.id in task.released:
            continue
        if keep == "always":
            why = f"never: its tool policy keeps every result, until task.release({item.name!r})"
            yield Protection(item.id, f"tool policy of {item.name}", why)
        elif item.name not in latest:
            latest.add(item.name)
            yield Protection(item.id, f"tool policy of {item.name}", "superseded by a newer result of the tool")


def _pins(view: View) -> Iterator[Protection]:
    if not view.task.pins:
        return
    ids = {item.id for item in view.items}
    for pin in view.task.pins:
        if pin.what in ids:
            yield Protection(pin.what, "pinned", pin.until, late=True)
        else:
            span = _place(pin.what, view)
            if span is not None:
                yield _span(span, "pinned", pin.until)


def _declared(protector: Protector | ItemProtector | ItemRule, view: View) -> Iterable[Protection]:
    """What one of the caller's protectors keeps."""
    name = str(getattr(protector, "name", None) or getattr(protector, "__name__", type(protector).__name__))
    if isinstance(protector, ItemProtector):
        return _each(((item, protector.protect_item(item, view)) for item in view.items), name)
    rule: Any = protector
    if _takes_item(rule):
        return _each(((item, rule(item)) for item in view.items), name)
    found: Iterable[Protection] = rule(view)
    return found


@lru_cache(maxsize=256)
def _takes_item(protector: Any) -> bool:
    """Whether a function is asked item by item: its one parameter is called `item`."""
    try:
        names = list(inspect.signature(protector).parameters)
    except (TypeError, ValueError):
        return False
    return names == ["item"]


def _each(found: Iterable[tuple[Item, Protection | bool | None]], name: str) -> Iterator[Protection]:
    for item, verdict in found:
        if isinstance(verdict, Protection):
            yield verdict
        elif verdict:
            yield Protection(item.id, f"protector {name}", f"{name} no longer asks for it")


def _place(text: str, view: View) -> Span | None:
    """Where a text stands, from the task state or, for a state made by hand, by looking."""
    place = view.task.places.get(text)
    return place if place is not None or text in view.sought else _find(text, view.items)


def _find(text: str, items: Iterable[Item]) -> Span | None:
    """Where a text stands, by the rules of `PlaceReader`."""
    return place_in(text, reversed(tuple(items)))[1]
