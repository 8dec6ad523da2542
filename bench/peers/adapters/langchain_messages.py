"""Shared by the LangChain adapters: chat messages as LangChain's, and their o200k weight."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
)

from bench.peers.contract import FRAMING, Counter, Message, Table, arguments

__all__ = ["Growing", "weigher"]


class Growing:
    """The history as LangChain messages, each made once; its ids are the positions."""

    def __init__(self) -> None:
        self.made: list[BaseMessage] = []
        self.table = Table(_back)

    def new(self, messages: list[Message]) -> list[BaseMessage]:
        """Those that were not there at the last call."""
        start = len(self.made)
        fresh = [_made(message, f"m{at}") for at, message in enumerate(messages[start:], start)]
        for message, one in zip(messages[start:], fresh, strict=True):
            self.table.learn(message, [one], one.id)
        self.made += fresh
        return fresh

    def read(self, made: Iterable[BaseMessage]) -> list[Message]:
        """Chat messages again."""
        return self.table.read(made, lambda one: one.id)


def _made(message: Message, name: str) -> BaseMessage:
    text = message.get("content") or ""
    if message["role"] == "tool":
        return ToolMessage(text, tool_call_id=message["tool_call_id"], name=message.get("name"), id=name)
    if message["role"] == "assistant":
        calls = [
            {"name": call["function"]["name"], "args": arguments(call), "id": call["id"]}
            for call in message.get("tool_calls") or ()
        ]
        return AIMessage(text, tool_calls=calls, id=name)
    return (SystemMessage if message["role"] == "system" else HumanMessage)(text, id=name)


def _back(one: BaseMessage) -> list[Message]:
    back: Message = dict(convert_to_openai_messages(one))
    return [back]


def weigher(counter: Counter) -> Any:
    """A `token_counter` for lists of LangChain messages: o200k, as the measure counts."""

    def one(message: BaseMessage) -> int:
        total = FRAMING + counter.text(str(message.content))
        for call in getattr(message, "tool_calls", ()):
            total += counter.text(call["name"]) + counter.text(json.dumps(call["args"], ensure_ascii=False))
        return total

    return lambda messages: sum(map(one, messages))
