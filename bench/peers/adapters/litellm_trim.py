"""`litellm.trim_messages`: stateless, over the whole history. It takes no counter; its own one knows the model."""

from __future__ import annotations

import os
from typing import Any

from bench.peers.contract import Message

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
from litellm.utils import trim_messages

__all__ = ["SETTINGS"]

MODEL = "gpt-4o"


class Trim:
    def __init__(self, **options: Any) -> None:
        self.options = options

    def fit(self, messages: list[Message]) -> list[Message]:
        trimmed: list[Message] = trim_messages(messages, MODEL, **self.options)
        return trimmed


SETTINGS = {
    "default": lambda given: Trim(),  # 75 % of the model's own window of 128,000
    "fair": lambda given: Trim(max_tokens=given.budget),
}
