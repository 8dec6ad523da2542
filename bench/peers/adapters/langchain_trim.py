"""`langchain_core.messages.trim_messages`, applied to the whole history before each call."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import trim_messages
from langchain_core.messages.utils import count_tokens_approximately

from bench.peers.adapters.langchain_messages import Growing, weigher
from bench.peers.contract import Given, Message

__all__ = ["SETTINGS"]


class Trim:
    def __init__(self, given: Given, **options: Any) -> None:
        self.options = {"max_tokens": given.budget, "strategy": "last", "include_system": True, **options}
        self.history = Growing()

    def fit(self, messages: list[Message]) -> list[Message]:
        self.history.new(messages)
        return self.history.read(trim_messages(self.history.made, **self.options))


SETTINGS = {
    # How the docs show it for an agent: https://docs.langchain.com (short-term memory, "Trim messages").
    "default": lambda given: Trim(
        given, token_counter=count_tokens_approximately, start_on="human", end_on=("human", "tool")
    ),
    # A window may also start at a turn of the assistant: else a long tool loop leaves the system message alone.
    "fair": lambda given: Trim(given, token_counter=weigher(given.counter), start_on=("human", "ai")),
}
