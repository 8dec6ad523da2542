"""`furl_ctx`, over the whole history before each call: `compress` has no budget, `compress_to` has one."""

from __future__ import annotations

import copy

from furl_ctx import CompressConfig, compress
from furl_ctx.compress_to import compress_to

from bench.peers.contract import Message

__all__ = ["SETTINGS"]

MODEL = "gpt-4o"


class Compress:
    def __init__(self, budget: int | None) -> None:
        self.budget = budget

    def fit(self, messages: list[Message]) -> list[Message]:
        given = copy.deepcopy(messages)
        if self.budget is None:
            return list(compress(given, model=MODEL).messages)
        # By default it compresses the system prompt too; here, as for all others, the head is sent as it is.
        config = CompressConfig(compress_system_messages=False)
        return list(compress_to(given, self.budget, model=MODEL, config=config).messages)


SETTINGS = {
    "default": lambda given: Compress(None),
    "fair": lambda given: Compress(given.budget),
}
