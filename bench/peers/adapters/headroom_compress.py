"""`headroom.compress`, over the whole history before each call. It has no budget.

Its model for prose would come from a hub, and is not there: what it compresses is what its rules can.
"""

from __future__ import annotations

import copy
from typing import Any

from headroom import compress

from bench.peers.contract import Message

__all__ = ["SETTINGS"]

MODEL = "gpt-4o"


class Compress:
    def __init__(self, **options: Any) -> None:
        self.options = options

    def fit(self, messages: list[Message]) -> list[Message]:
        return list(compress(copy.deepcopy(messages), model=MODEL, **self.options).messages)


SETTINGS = {
    "default": lambda given: Compress(),
    # The window is the budget, small results are compressed too, and so is the newest message.
    "fair": lambda given: Compress(model_limit=given.budget, protect_recent=0, min_tokens_to_compress=50),
}
