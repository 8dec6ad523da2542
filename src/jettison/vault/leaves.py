"""The texts of a message on any wire, and where each came from: which tool, and what hosts its call named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jettison.vault.grants import hosts_of

__all__ = ["NOWHERE", "Calls", "Origin", "json_strings", "private", "rewritten"]

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text came from: a tool (None: a person, or instructions), and the hosts that its call named."""

    tool: str | None = None
    hosts: frozenset[str] = frozenset()


NOWHERE = Origin()
Mend = Callable[[str, str, Origin], str]
"""(text, the key it stands under, where it came from) -> the text as it may be kept."""

# Names, ids, types and what is signed or encrypted: no text, and a change would break the message.
_STRUCTURE = frozenset(
    [
        "id",
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "type",
        "role",
        "signature",
        "encrypted_content",
        "thoughtSignature",
        "thought_signature",
        "media_type",
        "mime_type",
        "mimeType",
        "file_id",
        "cache_control",
        "status",
        "object",
        "model",
        "index",
        "phase",
        "previous_response_id",
        "item_id",
        "approval_request_id",
        "server_label",
    ]
)
_MEDIA = ("media_type", "mime_type", "mimeType", "format")
LONG_KEY = 16
"""Letters from which a key of data is looked at as a text: no shorter secret is told without a name beside it."""
REMOVED = "[reasoning removed: it held a secret]"


class Calls:
    """Calls seen so far, to tell where a result comes from."""

    def __init__(self) -> None:
        self._by_id: dict[str, Origin] = {}
        self._by_name: dict[str, Origin] = {}

    def note(self, name: Any, call_id: Any, arguments: Any) -> Origin:
        """A call: its origin is the tool that it goes to."""
        origin = Origin(str(name), hosts_of(arguments))
        if isinstance(call_id, str):
            self._by_id[call_id] = origin
        self._by_name[str(name)] = origin
        return origin

    def of(self, call_id: Any, name: Any = None) -> Origin:
        """The origin of a result."""
        known = self._by_id.get(call_id) if isinstance(call_id, str) else None
        if known is None and isinstance(name, str):
            known = self._by_name.get(name, Origin(name))
        return known or NOWHERE


def rewritten(message: Any, mend: Mend, calls: Calls) -> Any:
    """The message with every text mended; the same object when none changed."""
    return _walk(message, mend, calls, NOWHERE, "", False)


def private(value: Any) -> Any:
    """A copy of what was mended: `rewritten` makes anew only what it changes, the rest is the caller's own."""
    if isinstance(value, dict):
        return {key: private(inner) for key, inner in value.items()}
    return [private(inner) for inner in value] if isinstance(value, list) else value


def _walk(value: Any, mend: Mend, calls: Calls, origin: Origin, key: str, free: bool) -> Any:
    """`free`: inside arguments, where a key called `id` or `type` is like any other."""
    if isinstance(value, str):
        if (key in _STRUCTURE and not free) or _is_media(value):
            return value
        return mend(value, key, origin)
    if isinstance(value, list):
        items = [_walk(inner, mend, calls, origin, key, free) for inner in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    origin = origin if free else _origin(value, calls, origin)
    if not free and "signature" in value and isinstance(value.get("thinking"), str):
        text = value["thinking"]
        return value if mend(text, key, origin) == text else {"type": "text", "text": REMOVED}
    named = value.get("name") if free else None
    out, changed = {}, False
    for name, inner in value.items():
        if name == "data" and not free and any(mark in value for mark in _MEDIA):
            out[name] = inner
            continue
        # {"name": "API_TOKEN", "value": …}
        under = str(named) if name == "value" and isinstance(named, str) else str(name)
        inside = free or (name in ("input", "args", "response") and isinstance(inner, dict))
        new = _walk(inner, mend, calls, origin, under, inside)
        if free and isinstance(name, str) and len(name) >= LONG_KEY:
            name = mend(name, "", origin)  # a key in data may be a secret itself
        changed |= new is not inner or name not in value
        out[name] = new
    return out if changed else value


def _origin(node: Message, calls: Calls, origin: Origin) -> Origin:
    """Where the texts of this node come from, on any of the wires."""
    function, kind = node.get("function"), node.get("type")
    if isinstance(function, dict) and "name" in function:
        return calls.note(function["name"], node.get("id"), _parsed(function.get("arguments")))
    custom = node.get("custom")
    if isinstance(custom, dict) and "name" in custom:
        return calls.note(custom["name"], node.get("id"), custom.get("input"))
    if node.get("role") in ("tool", "function"):
        return calls.of(node.get("tool_call_id"), node.get("name"))
    if isinstance(kind, str):
        if kind.endswith("_call_output"):
            return calls.of(node.get("call_id"))
        if kind.endswith("_call") and "name" in node:
            return calls.note(node["name"], node.get("call_id"), _parsed(node.get("arguments", node.get("input"))))
        if kind.endswith("tool_use"):
            return calls.note(node.get("name"), node.get("id"), node.get("input"))
        if kind.endswith("tool_result"):
            return calls.of(node.get("tool_use_id"))
    for name in ("functionCall", "function_call"):
        call = node.get(name)
        if isinstance(call, dict) and "name" in call:
            return calls.note(call["name"], call.get("id"), call.get("args", _parsed(call.get("arguments"))))
    for name in ("functionResponse", "function_response"):
        answer = node.get(name)
        if isinstance(answer, dict):
            return calls.of(answer.get("id"), answer.get("name"))
    return origin


def _parsed(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _is_media(text: str) -> bool:
    return text.startswith("data:") and ";base64," in text[:200]


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_COLON = re.compile(r"\s*:")


def json_strings(text: str, mend: Callable[[str, str], str]) -> str:
    """JSON text with each string value mended by `mend(value, the key it stands under)`; all else byte for byte."""
    out, at, key = [], 0, ""
    for found in _STRING.finditer(text):
        literal = found.group()
        try:
            value = json.loads(literal, strict=False)
        except ValueError:
            continue
        if _COLON.match(text, found.end()):
            key, new = value, mend(value, "") if len(value) >= LONG_KEY else value
            if new != value:
                out += [text[at : found.start()], json.dumps(new, ensure_ascii=literal.isascii())]
                at = found.end()
            continue
        new = mend(value, key)
        if new != value:
            out += [text[at : found.start()], json.dumps(new, ensure_ascii=literal.isascii())]
            at = found.end()
    return text if not out else "".join([*out, text[at:]])
