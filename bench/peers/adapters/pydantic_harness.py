"""`pydantic_ai_harness` compaction: its hook before a model request, whose edits stay in the run's history.

`RelevanceCompaction` is not here: it asks a model to judge every step.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from pydantic_ai_harness import ClearToolResults, SlidingWindowCompaction, TieredCompaction

from bench.peers.contract import Given, Message, Table, arguments

__all__ = ["SETTINGS"]


class Harness:
    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy
        self.table = Table(_back)
        self.state: list[Any] = []
        self.names: dict[str, str] = {}
        self.seen = 0
        self.loop = asyncio.new_event_loop()

    def fit(self, messages: list[Message]) -> list[Message]:
        self._grow(messages[self.seen :])
        self.seen = len(messages)
        model = TestModel()
        run: Any = RunContext(deps=None, model=model, usage=RunUsage(), messages=self.state)
        request = ModelRequestContext(
            model=model,
            messages=list(self.state),
            model_settings=None,
            model_request_parameters=ModelRequestParameters(),
        )
        done = self.loop.run_until_complete(self.strategy.before_model_request(run, request))
        return self.table.read(done.messages)

    def _grow(self, new: list[Message]) -> None:
        """What one step brings, system and user text or the results of a turn, is one request."""
        for message in new:
            one = self._made(message)
            self.table.learn(message, [one])
            if isinstance(one, ModelRequest) and self.state and isinstance(self.state[-1], ModelRequest):
                self.state[-1] = ModelRequest(parts=[*self.state[-1].parts, *one.parts])
            else:
                self.state.append(one)

    def _made(self, message: Message) -> Any:
        text = message.get("content") or ""
        if message["role"] == "assistant":
            calls = [
                ToolCallPart(c["function"]["name"], arguments(c), c["id"]) for c in message.get("tool_calls") or ()
            ]
            self.names |= {call.tool_call_id: call.tool_name for call in calls}
            return ModelResponse(parts=[*([TextPart(text)] if text or not calls else []), *calls])
        if message["role"] == "tool":
            name = self.names.get(message["tool_call_id"], "tool")
            return ModelRequest(parts=[ToolReturnPart(name, text, message["tool_call_id"])])
        return ModelRequest(parts=[SystemPromptPart(text) if message["role"] == "system" else UserPromptPart(text)])


def _back(one: Any) -> list[Message]:
    if isinstance(one, ModelResponse):
        text = "\n".join(part.content for part in one.parts if isinstance(part, TextPart))
        calls = [_call(part) for part in one.parts if isinstance(part, ToolCallPart)]
        back: Message = {"role": "assistant", "content": text}
        return [{**back, "tool_calls": calls} if calls else back]
    return [_part(part) for part in one.parts]


def _part(part: Any) -> Message:
    if isinstance(part, ToolReturnPart):
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": str(part.content)}
    return {"role": "system" if isinstance(part, SystemPromptPart) else "user", "content": str(part.content)}


def _call(part: Any) -> Message:
    return {
        "id": part.tool_call_id,
        "type": "function",
        "function": {"name": part.tool_name, "arguments": json.dumps(part.args, ensure_ascii=False)},
    }


def _fair(given: Given) -> Harness:
    count = given.counter.text
    room = given.budget - given.head_tokens  # the head is put back in front of what it keeps
    # `keep_tokens` is what it keeps at least; the two tiers come nearer to the budget than the window alone.
    tiers = [
        ClearToolResults(max_tokens=1, keep_pairs=3, tokenizer=count),
        SlidingWindowCompaction(max_messages=1, keep_tokens=int(0.7 * room), tokenizer=count),
    ]
    return Harness(TieredCompaction(tiers=tiers, target_tokens=given.head_tokens + int(0.95 * room), tokenizer=count))


SETTINGS = {
    # A trigger has to be given; it keeps 40 messages, four characters a token.
    "default": lambda given: Harness(SlidingWindowCompaction(max_tokens=given.budget)),
    "fair": _fair,
}
