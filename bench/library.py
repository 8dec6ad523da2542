"""The library under test, as a user would call it: one session a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.traces import Message
from bench.units import Raised

__all__ = ["Library"]


class Library:
    """A `jettison.Session` that lives as long as the trajectory."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def start(self, head: Sequence[Message]) -> None:
        self.session: Any = None

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        from jettison import JettisonError

        if self.session is None:
            self.session = self._session(budget)
        try:
            return list(self.session.fit(messages).messages)
        except JettisonError as error:
            raise Raised(type(error).__name__, str(error), self._best_effort(messages, budget)) from error

    def _session(self, budget: int, **more: Any) -> Any:
        from jettison import Budget, Policy, Session

        # Marks belong to the profile unless a run sets them.
        return Session(Policy(budget=Budget(budget), **self.settings, **more), wire="openai-chat")

    def _best_effort(self, messages: list[Message], budget: int) -> list[Message] | None:
        """What could have been kept: tells a justified alarm from a false one."""
        from jettison import JettisonError

        try:
            return list(self._session(budget, on_unsafe="degrade").fit(messages).messages)
        except JettisonError:
            return None
