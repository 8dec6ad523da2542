"""`contexttrim.ContextManager`, over the whole history before each call."""

from __future__ import annotations

from typing import Any

from contexttrim import ContextManager
from contexttrim.strategies import ImportanceWeighted

from bench.peers.contract import Given, Message

__all__ = ["SETTINGS"]


class Trim:
    def __init__(self, given: Given, strategy: Any, counter: Any = None) -> None:
        self.manager = ContextManager(given.budget, strategy, counter)

    def fit(self, messages: list[Message]) -> list[Message]:
        self.manager.extend(messages[len(self.manager.messages) :])
        return list(self.manager.fit())


SETTINGS = {
    "default": lambda given: Trim(given, ImportanceWeighted()),  # its quick start; four characters a token
    "fair": lambda given: Trim(given, ImportanceWeighted(), given.counter.message),  # kept more than `SemanticCluster`
}
