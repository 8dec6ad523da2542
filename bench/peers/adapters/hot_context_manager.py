"""`hot_context`: one manager a conversation, asked before each call with the last user message.

It has an estimator of its own (three characters a token) and takes no counter. `default` is its OpenAI adapter, which
gives each of several calls of a turn a message of its own; `fair` its core with the messages as it wants them.
"""

from __future__ import annotations

from typing import Any

from hot_context import HotContextManager, ScoringWeights
from hot_context.adapters.openai import OpenAIHotContext

from bench.peers.adapters.converse import Conversation
from bench.peers.contract import Given, Message, split_system

__all__ = ["SETTINGS"]


def _last(messages: list[Message], role: str) -> str:
    return next((m.get("content") or "" for m in reversed(messages) if m["role"] == role), "")


class Adapted:
    def __init__(self, given: Given) -> None:
        self.context = OpenAIHotContext(token_budget=given.budget)
        self.seen = 0

    def fit(self, messages: list[Message]) -> list[Message]:
        new, self.seen = messages[self.seen :], len(messages)
        if new and new[0]["role"] == "assistant":
            self.context.on_response(new[0].get("content") or "")
        self.context.add_messages([{**m, "content": m.get("content") or ""} for m in new])
        context: list[Message] = self.context.get_context(_last(messages, "user"))
        return split_system(messages)[0] + context


class Core:
    def __init__(self, given: Given) -> None:
        self.given = given
        self.conversation = Conversation()
        self.manager: Any = None

    def fit(self, messages: list[Message]) -> list[Message]:
        new = messages[self.conversation.seen :]
        made = self.conversation.new(messages)
        if self.manager is None:
            room = self.given.budget - self.given.counter.messages(self.conversation.system)
            self.manager = HotContextManager(token_budget=max(1, room), weights=ScoringWeights.tool_agent())
        elif new and new[0]["role"] == "assistant":
            self.manager.on_response(new[0].get("content") or "")
        self.manager.add_messages(made)
        self.manager.on_query(_last(messages, "user"))
        return self.conversation.read(self.manager.get_context_messages())


SETTINGS = {"default": Adapted, "fair": Core}
