"""Agent Framework messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

A message of role `tool` may hold the results of several calls, each of which is a dict of its own. A message all of
whose dicts are unchanged comes back as the same object; on a copy of a changed one everything but the text stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from jettison.integrations.calls import BLANK, CallIds
from jettison.integrations.common import missing, shown
from jettison.plan import Fitted

try:
    from agent_framework import Content, Message
except ImportError as error:
    raise missing("agent-framework-core", "agent-framework") from error

__all__ = ["Placed", "from_fitted", "to_tools", "to_wire"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Dicts, and the message and the content in it (-1: all of it) that each came from."""

    messages: list[dict[str, Any]]
    places: list[tuple[int, int]]


def to_wire(messages: Sequence[Any], instructions: str | None = None) -> Placed:
    """The messages for weighing and deciding; `instructions` stand before them, at message -1. Never sent as such.

    Content parts carry their place in the message as `id`, calls theirs as `index`, so that they can be put back.
    """
    out, ids = Placed([], []), CallIds()
    if instructions:
        out.messages.append({"role": "system", "content": instructions})
        out.places.append((-1, -1))
    for at, message in enumerate(messages):
        results = [place for place, content in enumerate(message.contents) if content.type == "function_result"]
        for place in results:
            out.messages.append(_result(message.contents[place], ids))
            out.places.append((at, place))
        if not results:
            out.messages.append(_message(message, ids))
            out.places.append((at, -1))
    return out


def to_tools(tools: Any) -> list[dict[str, Any]]:
    """Tools as Chat Completions declares them; a provider's own as they are."""
    listed = tools if isinstance(tools, list | tuple) else [tools] if tools is not None else []
    out: list[dict[str, Any]] = []
    for tool in listed:
        if hasattr(tool, "to_json_schema_spec"):
            out.append(tool.to_json_schema_spec())
        else:
            out.append(dict(tool) if isinstance(tool, Mapping) else {"type": str(getattr(tool, "name", tool))})
    return out


def _message(message: Any, ids: CallIds) -> dict[str, Any]:
    content, calls, thoughts = [], [], []
    made = [(one.call_id, one.name) for one in message.contents if _local_call(one)]
    given = iter(ids.calls(made) if message.role == "assistant" else ())
    for place, one in enumerate(message.contents):
        if _local_call(one) and message.role == "assistant":
            body = {"name": one.name, "arguments": _text(one.arguments)}
            calls.append({"id": next(given), "type": "function", "function": body, "index": place})
        elif one.type == "text_reasoning":
            thoughts.append({"type": "thinking", "thinking": one.text or "", "signature": one.protected_data or ""})
        else:
            content.append({**_part(one), "id": str(place)})
    out: dict[str, Any] = {"role": message.role, "content": content or (None if calls else BLANK)}
    if message.author_name:
        out["name"] = message.author_name
    if calls:
        out["tool_calls"] = calls
    if thoughts:
        out["reasoning_details"] = thoughts
    return out


def _local_call(content: Any) -> bool:
    """Whether it is a call that a result in the history answers; the provider's own have theirs beside them."""
    return content.type == "function_call" and not content.hosted and not content.informational_only


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def _result(content: Any, ids: CallIds) -> dict[str, Any]:
    parts = [{**_part(item), "id": str(place)} for place, item in enumerate(content.items or ())]
    said = parts or _text_of(content.result) or BLANK
    return {"role": "tool", "tool_call_id": ids.answer(content.call_id), "content": said}


def _text_of(result: Any) -> str:
    return result if isinstance(result, str) else "" if result is None else json.dumps(result, default=str)


def _part(content: Any) -> dict[str, Any]:
    """A content as a Chat Completions part: text, what has a weight of its own, or as it is."""
    if content.type == "text":
        return {"type": "text", "text": content.text or BLANK}
    if content.type in ("data", "uri"):
        kind = str(content.media_type or "").partition("/")[0]
        if kind == "image":
            return {"type": "image_url", "image_url": {"url": content.uri}}
        return {"type": "file", "file": {"file_data": content.uri}}
    return {"type": content.type, "value": shown(content.to_dict())}


def from_fitted(fitted: Fitted, wire: Placed, messages: Sequence[Any]) -> list[Any]:
    """The messages that the fitted ones stand for, without the instructions."""
    whole: dict[int, int] = {}
    for at, _ in wire.places:
        whole[at] = whole.get(at, 0) + 1
    out: list[Any] = []
    for at, group in _grouped(fitted, wire):
        if at == -2:
            out.append(Message("user", [group[0][1]["content"]]))
        elif at >= 0:
            same = len(group) == whole[at] and all(kept for _, _, kept in group)
            out.append(messages[at] if same else _changed(messages[at], group))
    return out


Group = list[tuple[int, dict[str, Any], bool]]
"""Of each dict: the content in its message, itself, and whether it is as it was."""


def _grouped(fitted: Fitted, wire: Placed) -> Iterator[tuple[int, Group]]:
    """The fitted dicts by the message they are of; -2 for one that was inserted."""
    last: tuple[int, Group] | None = None
    for source, message in zip(fitted.sources, fitted.messages, strict=True):
        at, place = wire.places[source] if source >= 0 else (-2, -1)
        entry = (place, message, source >= 0 and message == wire.messages[source])
        if last is not None and at == last[0] and at >= 0:
            last[1].append(entry)
            continue
        if last is not None:
            yield last
        last = (at, [entry])
    if last is not None:
        yield last


def _changed(message: Any, group: Group) -> Any:
    new = copy(message)
    new.additional_properties = dict(message.additional_properties)
    if group[0][0] >= 0:
        new.contents = [
            message.contents[place] if same else _answer(message.contents[place], fitted["content"])
            for place, fitted, same in group
        ]
        return new
    ((_, fitted, _),) = group
    given = fitted.get("content") or []
    listed = [{"type": "text", "text": given}] if isinstance(given, str) else given
    known = {part["id"]: part for part in listed if "id" in part}
    calls = {call["index"]: call["function"]["arguments"] for call in fitted.get("tool_calls") or ()}
    new.contents = [Content.from_text(part["text"]) for part in listed if "id" not in part]
    for place, one in enumerate(message.contents):
        if _local_call(one) and message.role == "assistant":
            if place in calls:
                new.contents.append(_called(one, calls[place]))
        elif one.type == "text_reasoning":
            if "reasoning_details" in fitted:
                new.contents.append(one)
        elif str(place) in known:
            new.contents.append(_as(one, known[str(place)]))
    return new


def _as(content: Any, fitted: Mapping[str, Any]) -> Any:
    """A content as it is fitted: itself, or with its text, or what stands in its place."""
    if fitted["type"] != "text" or (content.type == "text" and (content.text or BLANK) == fitted["text"]):
        return content
    if content.type != "text":
        return Content.from_text(fitted["text"])
    new = _copied(content)
    new.text = fitted["text"]
    return new


def _called(content: Any, text: str) -> Any:
    if text == _text(content.arguments):
        return content
    new = _copied(content)
    new.arguments = text if isinstance(content.arguments, str) else json.loads(text)
    return new


def _answer(content: Any, said: Any) -> Any:
    """A result with other content; its text is in two fields, and clients read either."""
    new = _copied(content)
    parts = [{"type": "text", "text": said}] if isinstance(said, str) else said
    items = [
        _as(content.items[int(part["id"])], part) if "id" in part else Content.from_text(part["text"]) for part in parts
    ]
    new.items = items if content.items else None
    new.result = "\n".join(item.text for item in items if item.type == "text")
    return new


def _copied(content: Any) -> Any:
    """A copy without the provider's own form of it, which says the old text."""
    new = copy(content)
    new.raw_representation = None
    return new
