"""AutoGen messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

One AutoGen message holds the results of all calls of a turn, so every dict has a place: the message, and the result in
it. A message all of whose dicts are unchanged comes back as the same object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from jettison.integrations.common import missing
from jettison.plan import Fitted

try:
    from autogen_core import FunctionCall
    from autogen_core.models import AssistantMessage, FunctionExecutionResultMessage, SystemMessage, UserMessage
except ImportError as error:
    raise missing("autogen-core", "autogen") from error

__all__ = ["Placed", "from_fitted", "to_tools", "to_wire"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Dicts, and for each the index of its message and that of the result in it."""

    messages: list[dict[str, Any]]
    places: list[tuple[int, int]]


def to_wire(messages: Sequence[Any]) -> Placed:
    """The messages for weighing and deciding; never sent as such."""
    out = Placed([], [])
    calls: list[str] = []
    for at, message in enumerate(messages):
        if isinstance(message, FunctionExecutionResultMessage):
            for place, result in enumerate(message.content):
                # Some models give their calls no ids: then the order says which result is whose.
                ident = result.call_id or (calls[place] if place < len(calls) else f"c{at}.{place}")
                wire = {"role": "tool", "tool_call_id": ident, "name": result.name, "content": result.content or " "}
                _add(out, (at, place), wire)
            continue
        if isinstance(message, AssistantMessage):
            wire = _assistant(message, at)
            calls = [call["id"] for call in wire.get("tool_calls", ())]
        elif isinstance(message, SystemMessage):
            wire = {"role": "system", "content": message.content}
        else:
            wire = {"role": "user", "name": message.source, "content": _content(message.content)}
        _add(out, (at, 0), wire)
    return out


def from_fitted(fitted: Fitted, wire: Placed, messages: Sequence[Any]) -> list[Any]:
    """The AutoGen messages that the fitted dicts stand for. `wire`: what `to_wire` made of `messages`."""
    whole = Counter(at for at, _ in wire.places)
    out: list[Any] = []
    pairs = zip(fitted.sources, fitted.messages, strict=True)
    for at, group in groupby(pairs, lambda pair: wire.places[pair[0]][0] if pair[0] >= 0 else -1):
        given = list(group)
        if at < 0:
            out += [UserMessage(content=message["content"], source="jettison") for _, message in given]
        elif len(given) == whole[at] and all(message == wire.messages[source] for source, message in given):
            out.append(messages[at])
        else:
            out.append(_changed(messages[at], [(wire.places[source][1], message) for source, message in given]))
    return out


def to_tools(tools: Sequence[Any]) -> list[dict[str, Any]]:
    """Tools, or their schemas, as Chat Completions declares them."""
    return [{"type": "function", "function": dict(getattr(tool, "schema", tool))} for tool in tools]


def _add(out: Placed, place: tuple[int, int], message: dict[str, Any]) -> None:
    out.messages.append(message)
    out.places.append(place)


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [{**_part(part), "id": str(place)} for place, part in enumerate(content)]


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": part.data_uri}}


def _assistant(message: Any, at: int) -> dict[str, Any]:
    """What was said beside calls is in `thought`; beside an answer that is reasoning, which clients leave out."""
    if isinstance(message.content, str):
        out: dict[str, Any] = {"role": "assistant", "content": message.content or " "}
        if message.thought:
            out["reasoning_content"] = message.thought
        return out
    calls = [
        {
            "id": call.id or f"c{at}.{place}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
            "index": place,
        }
        for place, call in enumerate(message.content)
    ]
    said = message.thought or (None if calls else " ")
    return {"role": "assistant", "content": said, **({"tool_calls": calls} if calls else {})}


def _changed(message: Any, given: Sequence[tuple[int, Mapping[str, Any]]]) -> Any:
    if isinstance(message, FunctionExecutionResultMessage):
        kept = [message.content[place].model_copy(update={"content": wire["content"]}) for place, wire in given]
        return message.model_copy(update={"content": kept})
    wire = given[0][1]
    content = wire.get("content")
    if isinstance(message, AssistantMessage):
        return message.model_copy(update=_said(message, wire, content))
    if isinstance(content, str) or isinstance(message.content, str):
        return message.model_copy(update={"content": content})
    parts = []
    for part in content or ():
        old = message.content[int(part["id"])] if "id" in part else None
        parts.append(part["text"] if part["type"] == "text" else old)
    return message.model_copy(update={"content": parts})


def _said(message: Any, wire: Mapping[str, Any], content: Any) -> dict[str, Any]:
    if isinstance(message.content, str):
        return {"content": content or "", "thought": message.thought if "reasoning_content" in wire else None}
    calls = {call["index"]: call["function"]["arguments"] for call in wire.get("tool_calls") or ()}
    if not calls:
        return {"content": content or "", "thought": None}
    kept = [
        call if call.arguments == calls[place] else FunctionCall(call.id, calls[place], call.name)
        for place, call in enumerate(message.content)
        if place in calls
    ]
    return {"content": kept, "thought": content}
