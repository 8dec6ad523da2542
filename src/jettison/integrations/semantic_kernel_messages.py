"""Semantic Kernel messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

One message may hold the results of several calls, so every dict has a place: the message, and the item in it (-1: the
message is one dict). A message all of whose dicts are unchanged comes back as the same object.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from jettison.integrations.common import missing
from jettison.plan import Fitted

try:
    from semantic_kernel.contents import (
        AudioContent,
        AuthorRole,
        ChatMessageContent,
        FunctionCallContent,
        FunctionResultContent,
        ImageContent,
        TextContent,
    )
    from semantic_kernel.contents.binary_content import BinaryContent
    from semantic_kernel.contents.reasoning_content import ReasoningContent
except ImportError as error:
    raise missing("semantic-kernel", "semantic-kernel") from error

__all__ = ["Placed", "from_fitted", "to_wire"]

_ROLES = {"developer": "system"}


@dataclass(frozen=True, slots=True)
class Placed:
    """Dicts, and where each came from."""

    messages: list[dict[str, Any]]
    places: list[tuple[int, int]]


def to_wire(messages: Sequence[Any]) -> Placed:
    """The messages for weighing and deciding; never sent as such."""
    out = Placed([], [])
    for at, message in enumerate(messages):
        role = _ROLES.get(message.role.value, message.role.value)
        if role == "tool":
            for place, item in enumerate(message.items):
                if isinstance(item, FunctionResultContent):
                    _add(out, (at, place), _result(item))
        elif role == "assistant":
            _add(out, (at, -1), _assistant(message, at))
        else:
            named = {"name": message.name} if message.name and role == "user" else {}
            _add(out, (at, -1), {"role": role, "content": _content(message.items) or " ", **named})
    return out


def from_fitted(fitted: Fitted, wire: Placed, messages: Sequence[Any]) -> list[Any]:
    """The messages that the fitted dicts stand for. `wire`: what `to_wire` made of `messages`."""
    whole = Counter(at for at, _ in wire.places)
    out: list[Any] = []
    pairs = zip(fitted.sources, fitted.messages, strict=True)
    for at, group in groupby(pairs, lambda pair: wire.places[pair[0]][0] if pair[0] >= 0 else -1):
        given = list(group)
        if at < 0:
            out += [ChatMessageContent(role=AuthorRole.USER, content=message["content"]) for _, message in given]
        elif len(given) == whole[at] and all(message == wire.messages[source] for source, message in given):
            out.append(messages[at])
        elif given[0][1]["role"] == "tool":
            kept = [(messages[at].items[wire.places[source][1]], message["content"]) for source, message in given]
            items = [item.model_copy(update={"result": text}) for item, text in kept]
            out.append(messages[at].model_copy(update={"items": items}))
        else:
            items = _kept(messages[at].items, given[0][1])
            out.append(messages[at].model_copy(update={"items": items}))
    return out


def _add(out: Placed, place: tuple[int, int], message: dict[str, Any]) -> None:
    out.messages.append(message)
    out.places.append(place)


def _result(item: Any) -> dict[str, Any]:
    ident = item.call_id or item.id or ""
    return {"role": "tool", "tool_call_id": ident, "name": _name(item), "content": str(item.result) or " "}


def _name(item: Any) -> str:
    if item.name:
        return str(item.name)
    return f"{item.plugin_name}-{item.function_name}" if item.plugin_name else str(item.function_name)


def _assistant(message: Any, at: int) -> dict[str, Any]:
    calls, thoughts = [], []
    for place, item in enumerate(message.items):
        if isinstance(item, FunctionCallContent):
            body = {"name": _name(item), "arguments": _arguments(item)}
            ident = item.call_id or item.id or f"c{at}.{place}"
            calls.append({"id": ident, "type": "function", "function": body, "index": place})
        elif isinstance(item, ReasoningContent):
            thoughts.append({"type": "reasoning", "text": item.text or ""})
    content = _content(message.items)
    out: dict[str, Any] = {"role": "assistant", "content": content or (None if calls else " ")}
    if calls:
        out["tool_calls"] = calls
    if thoughts:
        out["reasoning_details"] = thoughts
    return out


def _arguments(item: Any) -> str:
    if isinstance(item.arguments, Mapping):
        return json.dumps(dict(item.arguments), ensure_ascii=False, default=str)
    return item.arguments or "{}"


def _content(items: Sequence[Any]) -> Any:
    """The text alone where there is one; else parts that know their place."""
    parts = [
        {**_part(item), "id": str(place)}
        for place, item in enumerate(items)
        if not isinstance(item, FunctionCallContent | ReasoningContent)
        and not (isinstance(item, TextContent) and not item.text)
    ]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return parts[0]["text"]
    return parts


def _part(item: Any) -> dict[str, Any]:
    if isinstance(item, TextContent):
        return {"type": "text", "text": item.text}
    if isinstance(item, ImageContent):
        return {"type": "image_url", "image_url": {"url": item.data_uri or str(item.uri or "")}}
    if isinstance(item, AudioContent) and item.data_string:
        kind = (item.mime_type or "audio/wav").rpartition("/")[2]
        return {"type": "input_audio", "input_audio": {"data": item.data_string, "format": kind}}
    if isinstance(item, BinaryContent) and item.data_uri:
        return {"type": "file", "file": {"file_data": item.data_uri}}
    return {"type": item.content_type.value if hasattr(item.content_type, "value") else item.content_type,
            "value": item.model_dump_json(exclude={"inner_content", "metadata"})}  # fmt: skip


def _kept(items: Sequence[Any], fitted: Mapping[str, Any]) -> list[Any]:
    """The items that are left, texts and arguments as they are now."""
    content = fitted.get("content")
    calls = {call["index"]: call["function"]["arguments"] for call in fitted.get("tool_calls") or ()}
    parts = {part["id"]: part for part in content if "id" in part} if isinstance(content, list) else {}
    single = content if isinstance(content, str) else None
    out: list[Any] = []
    for place, item in enumerate(items):
        if isinstance(item, FunctionCallContent):
            if place in calls:
                out.append(item if calls[place] == _arguments(item) else _called(item, calls[place]))
        elif isinstance(item, ReasoningContent):
            if "reasoning_details" in fitted:
                out.append(item)
        elif single is not None and isinstance(item, TextContent):
            out.append(item if item.text == single else item.model_copy(update={"text": single}))
            single = None
        elif (part := parts.get(str(place))) is not None:
            same = part["type"] != "text" or part["text"] == item.text
            out.append(item if same else item.model_copy(update={"text": part["text"]}))
    if single and single.strip():  # there was no text of its own
        out.insert(0, TextContent(text=single))
    return out


def _called(item: Any, arguments: str) -> Any:
    given = json.loads(arguments) if isinstance(item.arguments, Mapping) else arguments
    return item.model_copy(update={"arguments": given})
