"""This library through the same pipe, for the speed run: both are then measured by the same child."""

from __future__ import annotations

from typing import Any

from bench.peers.contract import Given, Message
from jettison import Budget, Policy, Session

__all__ = ["SETTINGS"]


class Fitted:
    def __init__(self, given: Given, **options: Any) -> None:
        self.session = Session(Policy(budget=Budget(given.budget), counter=given.counter.text, **options))

    def fit(self, messages: list[Message]) -> list[Message]:
        return list(self.session.fit(messages).messages)


SETTINGS = {
    "default": lambda given: Fitted(given),
    "economy": lambda given: Fitted(given, profile="economy"),
}
