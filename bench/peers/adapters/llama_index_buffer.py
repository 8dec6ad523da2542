"""`llama_index.core.memory.ChatMemoryBuffer`: one buffer a conversation, messages put as they come."""

from __future__ import annotations

import copy
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer

from bench.peers.contract import Given, Message, Table, split_system

__all__ = ["SETTINGS"]


class Buffer:
    def __init__(self, given: Given, fair: bool) -> None:
        self.given, self.fair = given, fair
        self.table = Table(_back)
        self.seen = 0
        self.system: list[Message] = []
        self.memory: Any = None

    def fit(self, messages: list[Message]) -> list[Message]:
        if self.memory is None:
            # An agent's system prompt is not put into its memory.
            self.system, _ = split_system(messages)
            self.seen = len(self.system)
            counter, limit = self.given.counter, self.given.budget
            options: dict[str, Any] = {"tokenizer_fn": _tokens(counter)} if self.fair else {}
            limit -= counter.messages(self.system) if self.fair else 0
            self.memory = ChatMemoryBuffer.from_defaults(token_limit=max(1, limit), **options)
        for message in messages[self.seen :]:
            made = _made(message, self.seen)
            self.table.learn(message, [made], made.additional_kwargs["at"])
            self.memory.put(made)
            self.seen += 1
        return self.system + self.table.read(self.memory.get(), lambda one: one.additional_kwargs.get("at"))


def _tokens(counter: Any) -> Any:
    """Its counter wants a list of tokens; only the length is looked at."""
    return lambda text: range(counter.text(text))


def _made(message: Message, at: int) -> ChatMessage:
    more = {key: copy.deepcopy(value) for key, value in message.items() if key not in ("role", "content")}
    return ChatMessage(role=message["role"], content=message.get("content") or "", additional_kwargs={**more, "at": at})


def _back(one: ChatMessage) -> list[Message]:
    more = {key: value for key, value in one.additional_kwargs.items() if key != "at"}
    return [{"role": one.role.value, "content": one.content, **more}]


SETTINGS = {
    "default": lambda given: Buffer(given, fair=False),  # its default counter is a tokenizer that it ships
    "fair": lambda given: Buffer(given, fair=True),
}
