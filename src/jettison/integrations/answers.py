"""Calls in a provider's answer with the values of their placeholders, where nothing but the caller runs the tools.

`filled` does a whole answer, `Events` one that comes as server-sent events, in whatever pieces. A call that may not
have a secret keeps its placeholder; `Conversation.refusals` says why, and `refusals.told` says it to the agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jettison.errors import SecretGone, SecretRefused
from jettison.integrations.common import Conversation
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Rehydrator

__all__ = ["Events", "Refill", "fill", "filled"]

Json = dict[str, Any]
_CALLS = frozenset({"function_call", "custom_tool_call", "tool_use"})
"""Types of items and blocks that are calls of the caller's own tools."""


def key_of(tool: str, arguments: Any, call_id: Any) -> str:
    """What a refusal is known by: the call's id, where it has one."""
    return str(call_id) if call_id else digest([tool, arguments])


def fill(session: Conversation, tool: str, arguments: Any, call_id: Any) -> Any:
    """The arguments with real values, or as they are when the call may not have one: then the session knows why."""
    try:
        return session.filled(tool, arguments)
    except (SecretRefused, SecretGone) as refused:
        session.refusals[key_of(tool, arguments, call_id)] = str(refused)
        return arguments


def filled(session: Conversation, answer: Any) -> bool:
    """Fill the calls in an answer (of any wire, parsed from JSON) in place; whether any changed."""
    changed = False
    for call in list(_calls(answer)):
        body = next((call[name] for name in ("function", "custom") if isinstance(call.get(name), dict)), call)
        for field in ("arguments", "input", "args"):
            if field in body and isinstance(body.get("name"), str):
                new = fill(session, body["name"], body[field], call.get("call_id") or call.get("id"))
                changed |= new != body[field]
                body[field] = new
    return changed


def _calls(answer: Any) -> Iterator[Json]:
    if isinstance(answer, list):  # Gemini's stream without server-sent events
        for one in answer:
            yield from _calls(one)
        return
    if not isinstance(answer, dict):
        return
    for choice in answer.get("choices") or ():
        message = choice.get("message") or {}
        yield from message.get("tool_calls") or ()
        if isinstance(message.get("function_call"), dict):
            yield message["function_call"]
    blocks = [answer.get("item"), *(answer.get("output") or ()), *_listed(answer.get("content"))]
    yield from (block for block in blocks if isinstance(block, dict) and block.get("type") in _CALLS)
    if isinstance(answer.get("response"), dict):
        yield from _calls(answer["response"])
    for candidate in answer.get("candidates") or ():
        for part in (candidate.get("content") or {}).get("parts") or ():
            if isinstance(part.get("functionCall"), dict):
                yield part["functionCall"]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class Events:
    """The events of one streamed answer. `feed` gives what goes on in the place of each, `close` what is left."""

    def __init__(self, session: Conversation) -> None:
        self._session = session
        self._open: dict[Any, _Streamed] = {}

    def feed(self, event: Json) -> list[Json]:
        kind = event.get("type")
        if event.get("choices"):
            return self._chat(event)
        if kind == "content_block_start":
            block = event["content_block"]
            if block.get("type") == "tool_use":
                self._begin(event["index"], block["name"], block.get("id"))
        elif kind == "content_block_delta" and event["delta"].get("type") == "input_json_delta":
            return self._delta(event["index"], event, ("delta", "partial_json"))
        elif kind == "content_block_stop":
            return [*self._end(event["index"]), event]
        elif kind == "response.output_item.added" and event["item"].get("type") in _CALLS:
            item = event["item"]
            json_text = item["type"] == "function_call"
            self._begin(event["output_index"], item["name"], item.get("call_id"), json_text)
        elif kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            return self._delta(event["output_index"], event, ("delta",))
        elif kind in ("response.function_call_arguments.done", "response.custom_tool_call_input.done"):
            return self._whole(event)
        filled(self._session, event)
        return [event]

    def close(self) -> list[Json]:
        """What is held back when the stream ends."""
        return [event for key in list(self._open) for event in self._end(key)]

    def _begin(self, key: Any, tool: str, call_id: Any, json_text: bool = True) -> None:
        self._open[key] = _Streamed(self._session, tool, call_id, json_text)

    def _delta(self, key: Any, event: Json, path: tuple[str, ...]) -> list[Json]:
        call = self._open.get(key)
        return [event] if call is None else call.take(event, path)

    def _end(self, key: Any) -> list[Json]:
        call = self._open.pop(key, None)
        return [] if call is None else call.end()

    def _whole(self, event: Json) -> list[Json]:
        """The event that says all arguments again."""
        call = self._open.get(event["output_index"])
        if call is None:
            return [event]
        field = "arguments" if "arguments" in event else "input"
        rest = self._end(event["output_index"])
        return [*rest, {**event, field: fill(self._session, call.tool, event[field], call.call_id)}]

    def _chat(self, event: Json) -> list[Json]:
        before: list[Json] = []
        for choice in event["choices"]:
            delta = choice.get("delta") or {}
            for piece in delta.get("tool_calls") or ():
                before += self._piece(event, choice["index"], piece)
            if choice.get("finish_reason"):
                keys = [key for key in self._open if key[0] == choice["index"]]
                before += [rest for key in keys for rest in self._end(key)]
        return [*before, event]

    def _piece(self, event: Json, at: int, piece: Json) -> list[Json]:
        """One call's part of a chunk, in place. Another call that was open before it has ended."""
        key, function = (at, piece.get("index", 0)), piece.get("function") or {}
        others = [other for other in self._open if other[0] == at and other != key]
        before = [rest for other in others for rest in self._end(other)]
        if key not in self._open and function.get("name"):
            self._begin(key, function["name"], piece.get("id"))
        text, call = function.get("arguments"), self._open.get(key)
        if text and call is not None:
            one = {"index": piece.get("index", 0), "function": {"arguments": ""}}
            choice = {"index": at, "delta": {"tool_calls": [one]}, "finish_reason": None}
            shell = {**{name: value for name, value in event.items() if name != "usage"}, "choices": [choice]}
            function["arguments"] = call.text(
                text, shell, ("choices", 0, "delta", "tool_calls", 0, "function", "arguments")
            )
        return before


class _Streamed:
    """The arguments of one call, as they stream in."""

    def __init__(self, session: Conversation, tool: str, call_id: Any, json_text: bool) -> None:
        self.tool, self.call_id = tool, call_id
        self._session, self._given, self._sent = session, "", 0
        self._filling: Rehydrator = session.rehydrator(tool, json=json_text)
        self._shell: Json = {}
        self._path: tuple[Any, ...] = ()

    def text(self, delta: str, shell: Json, path: tuple[Any, ...]) -> str:
        """What of a piece goes on now. `shell`, `path`: the event, and the place in it, that what is left goes into."""
        out = self._filling.feed(delta)
        self._given, self._sent = self._given + delta, self._sent + len(out)
        self._shell, self._path = shell, path
        return out

    def take(self, event: Json, path: tuple[str, ...]) -> list[Json]:
        *way, last = path
        holder = event
        for step in way:
            holder = holder[step]
        holder[last] = self.text(holder[last], event, path)
        return [_with(event, path, holder[last])] if holder[last] else []

    def end(self) -> list[Json]:
        """What was held back; with its placeholders when it may not have the secret."""
        try:
            rest = self._filling.close()
        except (SecretRefused, SecretGone) as refused:
            self._session.refusals[key_of(self.tool, self._given, self.call_id)] = str(refused)
            rest = self._given[self._sent :]
        return [_with(self._shell, self._path, rest)] if rest else []


def _with(value: Any, path: tuple[Any, ...], text: str) -> Any:
    """A copy of nested dicts and lists with another text at a place."""
    if not path:
        return text
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = _with(value[path[0]], path[1:], text)
    return copy


class Refill:
    """The bytes of a response's body, with its calls filled: JSON, whole at the end, or server-sent events."""

    def __init__(self, session: Conversation, content_type: str) -> None:
        self._session, self._buffer = session, bytearray()
        self._events = Events(session) if "event-stream" in content_type else None

    def take(self, chunk: bytes) -> bytes:
        """What can go on now."""
        self._buffer += chunk
        if self._events is None:
            return b""
        *blocks, rest = re.split(rb"(?<=\n\n)|(?<=\r\n\r\n)", bytes(self._buffer))
        self._buffer = bytearray(rest)
        return b"".join(self._block(block) for block in blocks)

    def end(self) -> bytes:
        """The rest."""
        rest, self._buffer = bytes(self._buffer), bytearray()
        if self._events is not None:
            return (self._block(rest) if rest else b"") + b"".join(map(_written, self._events.close()))
        try:
            answer = json.loads(rest)
        except (ValueError, RecursionError):  # cut short, or no JSON: the SDK will say so
            return rest
        return json.dumps(answer, ensure_ascii=False).encode() if filled(self._session, answer) else rest

    def _block(self, block: bytes) -> bytes:
        """One event, and what goes before it."""
        assert self._events is not None
        data = b"".join(line[5:] for line in block.splitlines() if line.startswith(b"data:"))
        if data.strip() == b"[DONE]":
            return b"".join(map(_written, self._events.close())) + block
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            return block
        if not isinstance(event, dict):
            return block
        events = self._events.feed(event)
        return block if events == [json.loads(data)] else b"".join(map(_written, events))


def _written(event: Json) -> bytes:
    """An event as it is sent."""
    name = f"event: {event['type']}\n" if isinstance(event.get("type"), str) else ""
    return f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode("utf-8", "surrogatepass")
