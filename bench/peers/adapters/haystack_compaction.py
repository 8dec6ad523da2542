"""`haystack` `CompactionHook` with `SlidingWindowCompactor`: it rewrites the agent's state, which stays so."""

from __future__ import annotations

import json
from typing import Any

from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks.compaction import CompactionHook, SlidingWindowCompactor

from bench.peers.contract import FRAMING, Counter, Given, Message, Table, arguments

__all__ = ["SETTINGS"]


class O200k:
    """Its counter protocol."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def count(self, messages: list[ChatMessage], tools: Any = None) -> int:
        return sum(map(self._one, messages))

    def _one(self, one: ChatMessage) -> int:
        total = FRAMING + self.counter.text(one.text or "")
        for call in one.tool_calls:
            total += self.counter.text(call.tool_name)
            total += self.counter.text(json.dumps(call.arguments, ensure_ascii=False))
        return total + sum(self.counter.text(str(result.result)) for result in one.tool_call_results)


class Compaction:
    def __init__(self, given: Given, **options: Any) -> None:
        self.hook = CompactionHook(SlidingWindowCompactor(), context_window=given.budget, **options)
        self.table = Table(_back)
        self.state = State(schema={"messages": {"type": list[ChatMessage]}}, data={"messages": []})
        self.calls: dict[str, ToolCall] = {}
        self.seen = 0

    def fit(self, messages: list[Message]) -> list[Message]:
        made = [self._made(message, at) for at, message in enumerate(messages[self.seen :], self.seen)]
        self.seen = len(messages)
        self.state.set("messages", made)
        self.hook.run(self.state)
        return self.table.read(self.state.data["messages"], lambda one: one.meta.get("at"))

    def _made(self, message: Message, at: int) -> ChatMessage:
        text, meta = message.get("content") or "", {"at": f"m{at}"}
        if message["role"] == "tool":
            one = ChatMessage.from_tool(text, self.calls[message["tool_call_id"]], meta=meta)
        elif message["role"] == "assistant":
            calls = [ToolCall(c["function"]["name"], arguments(c), c["id"]) for c in message.get("tool_calls") or ()]
            self.calls |= {str(call.id): call for call in calls}
            one = ChatMessage.from_assistant(text, meta=meta, tool_calls=calls)
        elif message["role"] == "system":
            one = ChatMessage.from_system(text, meta=meta)
        else:
            one = ChatMessage.from_user(text, meta=meta)
        self.table.learn(message, [one], meta["at"])
        return one


def _back(one: ChatMessage) -> list[Message]:
    if one.tool_call_results:
        return [
            {"role": "tool", "tool_call_id": result.origin.id, "content": result.result}
            for result in one.tool_call_results
        ]
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.tool_name, "arguments": json.dumps(c.arguments)}}
        for c in one.tool_calls
    ]
    back: Message = {"role": one.role.value, "content": one.text or ""}
    return [{**back, "tool_calls": calls} if calls else back]


SETTINGS = {
    "default": lambda given: Compaction(given),  # starts at 0.7 of the window, down to 0.4; four characters a token
    "fair": lambda given: Compaction(given, compact_at=1.0, compact_to=0.7, token_counter=O200k(given.counter)),
}
