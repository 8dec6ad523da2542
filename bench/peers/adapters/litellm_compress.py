"""`litellm.compress`: BM25 against the last user message, over the whole history before each call. Its own counter.

It raises on a turn of the assistant whose content is null, as turns with calls may have: it is given an empty text.
"""

from __future__ import annotations

import copy
import os
from typing import Any

from bench.peers.contract import Message, Table

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
from litellm.compression import compress

__all__ = ["SETTINGS"]

MODEL = "gpt-4o"


class Compress:
    def __init__(self, **options: Any) -> None:
        self.options = options
        self.made: list[Message] = []
        self.table = Table(lambda one: [one])

    def fit(self, messages: list[Message]) -> list[Message]:
        for message in messages[len(self.made) :]:
            self.made.append({**message, "content": message.get("content") or ""})
            self.table.learn(message, self.made[-1:])
        return self.table.read(compress(copy.deepcopy(self.made), MODEL, **self.options)["messages"])


SETTINGS = {
    "default": lambda given: Compress(),  # starts at 200,000 tokens
    "fair": lambda given: Compress(compression_trigger=given.budget),  # … and goes down to 0.7 of that, its default
}
