"""`astromesh_context.ContextEngine`: system prompt pinned, the history as its source, built before each call.

The query is the last user message. Only what it chose from the history is sent, in its order: its own rendering would
append the query, which is in the history already.
"""

from __future__ import annotations

import asyncio
from typing import Any

from astromesh_context import ContextEngine, HistorySource, ScoredKnapsack, StaticSource

from bench.peers.contract import FRAMING, Counter, Given, Message, split_system

__all__ = ["SETTINGS"]


class O200k:
    """Its tokenizer protocol. It is asked for the text of a unit, not for its messages: one framing is added."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def count(self, text: str) -> int:
        return self.counter.text(text) + 2 * FRAMING


class Engine:
    def __init__(self, given: Given, **options: Any) -> None:
        self.given, self.options = given, options

    def fit(self, messages: list[Message]) -> list[Message]:
        system, rest = split_system(messages)
        sources: list[Any] = [StaticSource(m["content"], name=f"system{i}", pinned=True) for i, m in enumerate(system)]
        engine = ContextEngine(
            [*sources, HistorySource(rest)], policy=ScoredKnapsack(), budget=self.given.budget, **self.options
        )
        query = next((m["content"] for m in reversed(messages) if m["role"] == "user"), "")
        window = asyncio.run(engine.build(query))
        return system + [message for item in window.items for message in item.meta.get("messages", ())]


SETTINGS = {
    "default": lambda given: Engine(given),  # four characters a token
    "fair": lambda given: Engine(given, tokenizer=O200k(given.counter)),
}
