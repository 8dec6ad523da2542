"""`agent_framework` compaction strategies, on one list of messages whose annotations stay."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_framework import Content, ContextWindowCompactionStrategy, TruncationStrategy, apply_compaction
from agent_framework import Message as Own

from bench.peers.contract import Counter, Given, Message, Table

__all__ = ["SETTINGS"]


class O200k:
    """Its tokenizer protocol. It is asked for messages serialised with their metadata, so it counts above ours."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def count_tokens(self, text: str) -> int:
        return self.counter.text(text)


class Compaction:
    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy
        self.table = Table(_back)
        self.state: list[Own] = []
        self.seen = 0
        self.loop = asyncio.new_event_loop()

    def fit(self, messages: list[Message]) -> list[Message]:
        for at, message in enumerate(messages[self.seen :], self.seen):
            one = _made(message, f"m{at}")
            self.table.learn(message, [one], one.message_id)
            self.state.append(one)
        self.seen = len(messages)
        run = apply_compaction(self.state, strategy=self.strategy, tokenizer=self.strategy.tokenizer)
        return self.table.read(self.loop.run_until_complete(run), lambda one: one.message_id)


def _made(message: Message, name: str) -> Own:
    text = message.get("content") or ""
    if message["role"] == "tool":
        contents = [Content.from_function_result(message["tool_call_id"], result=text)]
    else:
        contents = [Content.from_text(text)] if text or not message.get("tool_calls") else []
        for call in message.get("tool_calls") or ():
            function = call["function"]
            contents.append(Content.from_function_call(call["id"], function["name"], arguments=function["arguments"]))
    return Own(message["role"], contents, message_id=name)


def _back(one: Own) -> list[Message]:
    results = [c for c in one.contents if c.type == "function_result"]
    if results:
        return [{"role": "tool", "tool_call_id": c.call_id, "content": str(c.result)} for c in results]
    calls = [
        {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in one.contents
        if c.type == "function_call"
    ]
    back: Message = {"role": str(one.role), "content": one.text}
    return [{**back, "tool_calls": calls} if calls else back]


def _default(given: Given) -> Compaction:
    # Old results become summaries at half of the window, messages go at 0.8 of it; four characters a token.
    return Compaction(ContextWindowCompactionStrategy(max_context_window_tokens=given.budget, max_output_tokens=0))


def _fair(given: Given) -> Compaction:
    # Whole groups, no summaries of results: it kept more than the strategy above with our counter.
    strategy = TruncationStrategy(
        max_n=given.budget,
        compact_to=int(0.7 * given.budget),
        tokenizer=O200k(given.counter),
        preserve_first_user_group=True,
    )
    return Compaction(strategy)


SETTINGS = {"default": _default, "fair": _fair}
