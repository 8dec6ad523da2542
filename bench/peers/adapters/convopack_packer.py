"""`convopack.Packer` with `Recency`, over the whole history before each call."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from convopack import Packer, Recency, ToolResultBlock, ToolUseBlock
from convopack.providers.openai import from_openai, to_openai

from bench.peers.contract import FRAMING, Counter, Given, Message, Table

__all__ = ["SETTINGS"]


class O200k:
    """Its tokenizer protocol."""

    name = "o200k"

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def count(self, text: str) -> int:
        return self.counter.text(text)

    def count_message(self, message: Any) -> int:
        total = FRAMING
        for block in message.content:
            if isinstance(block, ToolUseBlock):
                total += self.count(block.name) + self.count(json.dumps(block.input, ensure_ascii=False))
            elif isinstance(block, ToolResultBlock):
                total += self.count(str(block.content))
            else:
                total += self.count(block.text)
        return total

    def count_messages(self, messages: Iterable[Any]) -> int:
        return sum(map(self.count_message, messages))


class Pack:
    def __init__(self, given: Given, **options: Any) -> None:
        self.packer = Packer(budget=given.budget, strategy=Recency(), **options)
        self.table = Table(lambda one: to_openai([one]))
        self.made: list[Any] = []

    def fit(self, messages: list[Message]) -> list[Message]:
        for message in messages[len(self.made) :]:
            made = from_openai([message])
            self.table.learn(message, made, f"m{len(self.made)}")
            made[0].metadata["at"] = f"m{len(self.made)}"
            self.made += made
        return self.table.read(self.packer.pack(self.made).kept, lambda one: one.metadata.get("at"))


SETTINGS = {
    "default": lambda given: Pack(given),  # four characters a token; the system prompt is pinned
    "fair": lambda given: Pack(given, tokenizer=O200k(given.counter), pin=("system", "first_user")),
}
