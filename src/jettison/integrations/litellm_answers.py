"""LiteLLM's answers, objects of its own, with the values of their placeholders."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from jettison.integrations.answers import Events, fill
from jettison.integrations.common import Conversation, missing

try:
    from litellm.types.utils import ModelResponseStream
except ImportError as error:
    raise missing("litellm", "litellm") from error

__all__ = ["FilledStream", "fill_objects", "joined"]


class FilledStream:
    """A stream of LiteLLM's with filled calls; all else of it is its own."""

    def __init__(self, session: Conversation, stream: Any) -> None:
        self._events, self._stream = Events(session), stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        for chunk in self._stream:
            yield joined(self._events, chunk)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._stream:
            yield joined(self._events, chunk)


def joined(events: Events, chunk: Any) -> Any:
    """A chunk with its calls filled, and with what was held back of earlier ones before them."""
    given = events.feed(chunk.model_dump())
    if given == [chunk.model_dump()]:
        return chunk
    *held, last = given
    for one in held:
        for choice in one["choices"]:
            target = next(own for own in last["choices"] if own["index"] == choice["index"])
            pieces = choice["delta"]["tool_calls"]
            target["delta"]["tool_calls"] = [*pieces, *(target["delta"].get("tool_calls") or ())]
    return ModelResponseStream(**last)


def fill_objects(session: Conversation, response: Any) -> None:
    """Fill the calls of a whole answer in place: a chat completion, a response, or an Anthropic message."""
    for choice in _read(response, "choices") or ():
        for call in _read(_read(choice, "message"), "tool_calls") or ():
            _fill(session, _read(call, "function"), "arguments", _read(call, "id"))
    for item in _read(response, "output") or ():
        if _read(item, "type") == "function_call":
            _fill(session, item, "arguments", _read(item, "call_id"))
    content = _read(response, "content")
    for block in content if isinstance(content, list) else ():
        if _read(block, "type") == "tool_use":
            _fill(session, block, "input", _read(block, "id"))


def _fill(session: Conversation, call: Any, field: str, call_id: Any) -> None:
    new = fill(session, _read(call, "name"), _read(call, field), call_id)
    if isinstance(call, dict):
        call[field] = new
    else:
        setattr(call, field, new)


def _read(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
