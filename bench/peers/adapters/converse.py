"""Shared by adapters of peers that hold Bedrock Converse messages: results of one turn are one user message."""

from __future__ import annotations

import json
from typing import Any

from bench.peers.contract import Counter, Message, Table, arguments, split_system

__all__ = ["Conversation", "weight"]


class Conversation:
    """Chat messages as Converse messages and back; the system prompt stays apart."""

    def __init__(self) -> None:
        self.table = Table(_back)
        self.system: list[Message] = []
        self.seen = 0

    def new(self, messages: list[Message]) -> list[Message]:
        """Converse messages of what came since the last call."""
        if not self.seen:
            self.system, _ = split_system(messages)
            self.seen = len(self.system)
        made: list[Message] = []
        for message in messages[self.seen :]:
            one = _made(message)
            self.table.learn(message, [one])
            joined = made and message["role"] == "tool" and any("toolResult" in b for b in made[-1]["content"])
            if joined:
                made[-1]["content"] += one["content"]
            else:
                made.append(one)
        self.seen = len(messages)
        return made

    def read(self, made: list[Message]) -> list[Message]:
        """Chat messages, the system prompt in front."""
        return self.system + self.table.read(made)


def weight(counter: Counter, made: list[Message]) -> int:
    """o200k tokens of Converse messages, as the measure counts their chat form."""
    return counter.messages(part for one in made for part in _back(one))


def _made(message: Message) -> Message:
    text = message.get("content") or ""
    if message["role"] == "tool":
        result = {"toolUseId": message["tool_call_id"], "status": "success", "content": [{"text": text}]}
        return {"role": "user", "content": [{"toolResult": result}]}
    calls = [
        {"toolUse": {"toolUseId": call["id"], "name": call["function"]["name"], "input": arguments(call)}}
        for call in message.get("tool_calls") or ()
    ]
    return {"role": message["role"], "content": ([{"text": text}] if text or not calls else []) + calls}


def _back(one: Message) -> list[Message]:
    texts = [block["text"] for block in one["content"] if "text" in block]
    back: list[Message] = []
    for block in one["content"]:
        if "toolResult" in block:
            result = block["toolResult"]
            text = "\n".join(item.get("text", "") for item in result["content"])
            back.append({"role": "tool", "tool_call_id": result["toolUseId"], "content": text})
    calls = [_call(block["toolUse"]) for block in one["content"] if "toolUse" in block]
    if texts or calls or not back:
        message: Message = {"role": one["role"], "content": "\n".join(texts)}
        back.append({**message, "tool_calls": calls} if calls else message)
    return back


def _call(use: Any) -> Message:
    function = {"name": use["name"], "arguments": json.dumps(use["input"], ensure_ascii=False)}
    return {"id": use["toolUseId"], "type": "function", "function": function}
