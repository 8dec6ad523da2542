"""What a wire format must offer, and the helpers that all of them share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from zlib import crc32

from jettison.errors import Problem
from jettison.items import Item

__all__ = [
    "Cursor",
    "Inserted",
    "Message",
    "Rendered",
    "Repaired",
    "Wire",
    "digest",
    "encodes",
    "item_id",
    "json_text",
    "plain",
    "sanitise",
]

Message = dict[str, Any]


class Cursor(NamedTuple):
    """Where a parse stopped, so that it can go on with the next message."""

    message: int = 0
    """Index of the next message."""
    unit: int = 0
    """Number of the unit under construction."""
    step: int = 0
    """LLM calls (assistant turns) seen so far."""
    calls: tuple[tuple[str, str], ...] = ()
    """Calls of the current unit: (call id, tool name)."""
    state: str = ""
    """What the last message was, in the wire's own words."""
    server: tuple[str, ...] = ()
    """Calls that the provider has begun to answer itself and will go on with: the unit lasts until then."""


@dataclass(frozen=True, slots=True)
class Inserted:
    """Bytes in the output that were not in the input."""

    message: int
    """Index in the output messages."""
    text: str
    why: str
    """`stub`, `gap`, `placeholder`, `repair`, `note`, `summary` or `secret`
    (the placeholder of one in the vault)."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A finished message list of one wire."""

    messages: list[Message]
    sources: list[int]
    """For each output message the index of the (first) source message, -1 for a placeholder."""
    inserted: list[Inserted] = field(default_factory=list)
    merged: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By output message: further source messages that were joined to it, in order."""


@dataclass(frozen=True, slots=True)
class Repaired:
    messages: list[Message]
    notes: list[str]
    """One line for each thing that was repaired: where and how. Empty: nothing was."""


class Wire(Protocol):
    """A wire format: parse, render, check, repair. Stateless.

    Messages are plain dicts (see `plain`) and are never mutated; a message that was not changed is returned
    as the same object, so it renders byte-equal.
    """

    name: str
    """`openai-chat`, `openai-responses`, `anthropic` or `gemini`."""
    field: str
    """What users call the list: `messages`, `input` or `contents`."""
    base_tokens: int
    """Tokens of a request beside its messages (reply priming)."""
    system_field: str | None
    """Name of the provider's own system field, None where system text is in the messages."""

    def parse(
        self, messages: Sequence[Message], cursor: Cursor = Cursor()
    ) -> tuple[list[tuple[Item, ...]], list[Cursor]]:
        """Items of each given message, and the cursor after each. `messages` go on where `cursor` stopped."""
        ...

    def parse_system(self, system: Any) -> tuple[Item, ...]:
        """Items of the system field: kind INSTRUCTION, message -1, unit -1, step 0."""
        ...

    def render(self, items: Sequence[Item], messages: Sequence[Message], first: int = 0) -> Rendered:
        """Build the output from kept items (in order, system items left out), as `plan.apply` returns them.

        An item with `fidelity` FULL is as parsed; otherwise its `text` replaces what was in its place, in the
        same outer shape (MEDIA becomes a text block). Absent items are dropped. `messages` is the whole source;
        `first` > 0 renders only what came from messages[first:], to be appended to an earlier output. No new
        neighbours of one role, no leading assistant turn where the wire refuses them: merge or place a
        marked placeholder. A summary (`items.summary_item`) becomes a user message in its place, or a text block of
        the user message beside it where two of one role are refused; source -1, why `summary`.
        """
        ...

    def check(
        self, messages: Sequence[Message], *, system: Any = None, start: int = 0, remote: bool = False
    ) -> list[Problem]:
        """All broken rules of messages[start:] (`start` at a unit's border), in order.

        `remote`: what came before is on the server (Responses), which messages may refer to and answer.
        """
        ...

    def repair(self, messages: Sequence[Message], remote: bool = False) -> Repaired:
        """Answer dead calls with "no result: interrupted", resolve duplicates, drop orphan results; `remote` as for
        `check`: a result may answer a call that is on the server."""
        ...

    def split_body(self, body: Mapping[str, Any]) -> tuple[list[Any], Any, Any]:
        """(messages, system, tools) of a whole request body."""
        ...

    def join_body(self, body: Mapping[str, Any], messages: list[Message], system: Any) -> dict[str, Any]:
        """The body with its messages and system replaced, all else as it was."""
        ...


def digest(value: Any) -> str:
    """16 hex digits of the content, independent of key order in memory."""
    return hashlib.blake2b(json_text(value).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def item_id(message: int, part: int, text: str) -> str:
    """Stable id of an item: position and content hash, 32 bits (CRC-32: a tenth of the time of a cryptographic one;
    it only has to tell an edited message from what stood in its place)."""
    raw = text.encode() if text.isascii() else text.encode("utf-8", "surrogatepass")
    return f"{message}.{part}-{crc32(raw):08x}"


def json_text(value: Any) -> str:
    """JSON as providers receive it: not ASCII-escaped, default separators."""
    return json.dumps(value, ensure_ascii=False, default=str)


def plain(message: Any) -> Message:
    """A plain dict of a message: SDK objects through `model_dump`, nested ones too. Dicts pass as they are.

    Raises TypeError, naming the type, for anything else.
    """
    if isinstance(message, dict):
        return message
    if isinstance(message, Mapping):
        return dict(message)
    dump = getattr(message, "model_dump", None)
    if dump is None:
        raise TypeError(f"a message must be a dict or have model_dump(), not {type(message).__name__}")
    dumped: Message = dump(mode="json", exclude_unset=True)
    return dumped


def sanitise(value: Any) -> tuple[Any, int]:
    """The value with lone surrogates replaced by U+FFFD, and how many there were. Unchanged input is returned as is."""
    return (value, 0) if _sound(value) else _mended(value)


def _sound(value: Any) -> bool:
    """Whether no text in the value has a lone surrogate."""
    if isinstance(value, str):
        return encodes(value)
    if isinstance(value, dict):
        if not all(key.isascii() or encodes(key) for key in value if isinstance(key, str)):
            return False
        value = value.values()
    elif not isinstance(value, list):
        return True
    for inner in value:
        if type(inner) is str:
            if not (inner.isascii() or encodes(inner)):
                return False
        elif not _sound(inner):
            return False
    return True


def encodes(text: str) -> bool:
    """Whether a text has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mended(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            fixed = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return fixed, max(1, fixed.count("\ufffd") - value.count("\ufffd"))
        return value, 0
    if isinstance(value, dict):
        keys = {key: _mended(key) for key in value}
        pairs = {key: _mended(inner) for key, inner in value.items()}
        count = sum(n for _, n in (*keys.values(), *pairs.values()))
        return ({keys[key][0]: inner for key, (inner, _) in pairs.items()}, count) if count else (value, 0)
    if isinstance(value, list):
        parts = [_mended(inner) for inner in value]
        count = sum(n for _, n in parts)
        return ([inner for inner, _ in parts], count) if count else (value, 0)
    return value, 0
