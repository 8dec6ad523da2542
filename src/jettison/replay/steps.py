"""Replaying a history as its agent lived it: one fit before each call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jettison.errors import InvalidInput
from jettison.history import advice
from jettison.plan import Report
from jettison.replay.readers import Recorded
from jettison.session import Session
from jettison.wire import wire_named

__all__ = ["call_points", "fit_at", "replay"]


def call_points(recorded: Recorded, *, repair: bool = False) -> list[int]:
    """How many messages there were at each call: before each assistant turn, and at the end.

    Raises InvalidInput when the history breaks its wire's rules (with `repair`: even when repaired).
    """
    wire = wire_named(recorded.wire)
    checked = wire.repair(recorded.messages).messages if repair else recorded.messages
    problems = wire.check(checked, system=recorded.system)
    broken = [problem for problem in problems if problem.kind == "structure"]
    if broken:
        raise InvalidInput(broken, advice(wire, checked))
    points = []
    steps = 0
    for index, cursor in enumerate(wire.parse(recorded.messages)[1]):
        if cursor.step > steps and index:
            points.append(index)
        steps = cursor.step
    return [*points, len(recorded.messages)]


def fit_at(recorded: Recorded, session: Session, point: int, **options: bool) -> tuple[Any, Report]:
    """Fit the first `point` messages: (the fitted body or message list, its report). `options` go to the session."""
    messages = recorded.messages[:point]
    if recorded.body is not None:
        body = session.fit_request({**recorded.body, session.wire.field: messages}, **options)
        return dict(body), body.report
    fitted = session.fit(messages, system=recorded.system, tools=recorded.tools, **options)
    return fitted.messages, fitted.report


def replay(
    recorded: Recorded, session: Session, *, repair: bool = False, observe: bool = False
) -> Iterator[tuple[Any, Report]]:
    """`fit_at` each of the calls, in one session."""
    for point in call_points(recorded, repair=repair):
        yield fit_at(recorded, session, point, repair=repair, observe=observe)
