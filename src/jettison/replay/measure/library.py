"""The library under test, as a user would call it: one session a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jettison.budget import Budget
from jettison.errors import JettisonError
from jettison.plan import Report
from jettison.policy import Policy
from jettison.replay.measure.trajectory import Message, Trajectory
from jettison.replay.measure.units import Raised

__all__ = ["Library"]


class Library:
    """A `jettison.Session` that lives as long as the trajectory.

    `policy`: its own budget is replaced by that of the replay, the marks stay. `run`: needed where the history is
    not on chat messages or has tool schemas; their tokens come on top of the budget, as no policy can reduce them.
    """

    def __init__(self, policy: Policy | None = None, run: Trajectory | None = None, **settings: Any) -> None:
        self.policy = Policy(**settings) if policy is None else policy
        self.run = run
        self.native = run.native if run else None
        self.wire = self.native.wire if self.native else "openai-chat"
        if run and self.policy.counter is None:
            self.policy = replace(self.policy, counter="o200k")  # what the measure counts with

    def start(self, head: Sequence[Message]) -> None:
        self.session: Any = None
        self.report: Report | None = None
        self._out: list[Message] = []

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        if self.session is None:
            self.session = self._session(self._limit(messages, budget))
        try:
            return self._fitted(self.session, messages)
        except JettisonError as error:
            self.report = error.report if isinstance(error.report, Report) else None
            raise Raised(type(error).__name__, str(error), self._best_effort(messages, budget)) from error

    def broken(self) -> list[str]:
        """Rules of its wire that the last request breaks and the history did not."""
        from jettison.replay.measure.validity import broken_rules
        from jettison.wire import wire_named

        if self.native is None:
            return broken_rules(self._out, self._given)
        wire = wire_named(self.wire)
        known = {problem.rule for problem in wire.check(self._given, system=self.native.system)}
        found = wire.check(self._out, system=self.native.system)
        return [str(problem) for problem in found if problem.rule not in known]

    def _fitted(self, session: Any, messages: list[Message]) -> list[Message]:
        given, options = self._input(messages)
        fitted = session.fit(given, **options)
        self.report, self._out, self._given = fitted.report, list(fitted.messages), given
        if self.native is None:
            return self._out
        from jettison.replay.chat import as_chat

        return as_chat(self.wire, self._out, fitted.system)[0]

    def _input(self, messages: list[Message]) -> tuple[list[Message], dict[str, Any]]:
        options: dict[str, Any] = {"tools": self.run.tools} if self.run and self.run.tools else {}
        if self.native is None:
            return messages, options
        if self.native.system is not None:
            options["system"] = self.native.system
        return self.native.messages[: self.native.points[len(messages)]], options

    def _limit(self, messages: list[Message], budget: int) -> int:
        """The budget, and the tool schemas, which every request carries."""
        if not self.run or not self.run.tools:
            return budget
        given, options = self._input(messages)
        return budget + int(self._session(1 << 40).fit(given, **options, observe=True).report.schemas)

    def _session(self, limit: int, **changes: Any) -> Any:
        from jettison.session import Session

        budget = Budget.of(self.policy.budget)
        limited = Budget(limit, high_water=budget.high_water, low_water=budget.low_water)
        policy = replace(self.policy, budget=limited, **changes)
        return Session(policy, wire=self.wire, model=self.run.model if self.run else None)

    def _best_effort(self, messages: list[Message], budget: int) -> list[Message] | None:
        """What could have been kept: tells a justified alarm from a false one."""
        session = self._session(self._limit(messages, budget), on_unsafe="degrade")
        report, out = self.report, self._out
        try:
            return self._fitted(session, messages)
        except JettisonError:
            return None
        finally:
            self.report, self._out = report, out
