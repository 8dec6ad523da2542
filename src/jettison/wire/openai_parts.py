"""What both OpenAI wires share: content parts, their weight, their rules and how broken pairs are resolved."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from jettison.errors import Problem
from jettison.items import Fidelity, Item, Kind, is_note, is_summary, item_of
from jettison.wire.base import Inserted, item_id, json_text
from jettison.wire.media import audio_tokens, image_size, label, openai_file_tokens, openai_image_tokens, split_data_url

__all__ = [
    "BASE",
    "FRAME",
    "INTERRUPTED",
    "REMOVED",
    "Block",
    "Findings",
    "Slot",
    "content_blocks",
    "edit_content",
    "edited",
    "insertions",
    "kept_by_message",
    "lighten",
    "looks_aborted",
    "media_block",
    "opaque",
    "part_text",
    "rest_of",
    "result_blocks",
    "settle",
    "slot_of",
    "text_of",
    "to_items",
    "without_empty_parts",
    "word",
]

# OpenAI's cookbook counts 3 or 4 tokens of framing a message and 3 to prime the reply; the bench takes 4 and 3.
FRAME = 4
BASE = 3
INTERRUPTED = "no result: interrupted"
REMOVED = "[content removed]"

Slot = tuple[str | int, ...]

_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
_MEDIA = frozenset({"image_url", "input_image", "input_audio", "file", "input_file"})
_NOT_READ = frozenset({"type", "text", "refusal", "id", "status", "logprobs", "cache_control"})
_PAYLOAD = re.compile(r"data:[\w/.+-]*(?:;[\w=.+-]*)*;base64,[A-Za-z0-9+/=_-]*")
_ABORTED = re.compile(r"\W*(?:\w*error\b|.{0,80}?\b(?:abort|interrupt|cancel|no result))", re.IGNORECASE | re.DOTALL)


class Block(NamedTuple):
    """An item before it has a place in the history."""

    kind: Kind
    slot: Slot
    text: str = ""
    name: str | None = None
    call_id: str | None = None
    fixed: int = 0
    extra: str = ""
    note: str = ""
    editable: bool = True
    is_error: bool = False
    bound: bool = False
    ident: str = ""
    """Tells blocks without text apart."""
    reveals: tuple[str, ...] = ()


def word(value: Any) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def text_of(value: Any) -> str:
    """A string as it is, nothing as an empty one, anything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else json_text(value)


def rest_of(value: Mapping[str, Any], known: frozenset[str]) -> str:
    """Fields that are not known and not empty, as JSON; empty when there are none."""
    if value.keys() <= known:
        return ""
    rest = {key: inner for key, inner in value.items() if key not in known and inner}
    return json_text(rest) if rest else ""


def opaque(slot: Slot, value: Any, weigh: bool = True) -> Block:
    """What is carried through as it came."""
    text, fixed = lighten(text_of(value)) if weigh else ("", 0)
    return Block(Kind.OPAQUE, slot, fixed=fixed, extra=text, editable=False)


def lighten(text: str) -> tuple[str, int]:
    """The text without base64 payloads, and tokens for as many images of unknown size."""
    if ";base64," not in text:
        return text, 0
    text, count = _PAYLOAD.subn("", text)
    return text, count * openai_image_tokens(None, None)


def to_items(blocks: Sequence[Block], message: int, unit: int, step: int, role: str) -> tuple[Item, ...]:
    """Items of one message; the first carries its framing."""
    made = []
    fixed, full = FRAME, Fidelity.FULL
    for part, block in enumerate(blocks):
        kind, slot, text, name, call, weight, extra, note, editable, failed, bound, ident, reveals = block
        place, weight, written = item_id(message, part, text or ident or extra), weight + fixed, False
        if kind is Kind.RESULT:
            written = text == INTERRUPTED
        elif kind is Kind.USER and (is_summary(text) or is_note(text)):
            kind, written = Kind.SUMMARY, True
        # fmt: off
        made.append(item_of(
            place, kind, text, message, part, unit, step, role, name, call, weight, extra, note, editable, failed,
            bound, written, slot, full, reveals,
        ))
        # fmt: on
        fixed = 0
    return tuple(made)


def content_blocks(content: Any, key: str, kind: Kind, weigh: bool) -> list[Block]:
    """Blocks of a message's content: a string, or each of its parts that is not empty."""
    if isinstance(content, str):
        return [Block(kind, slot_of(key), content)] if content else []
    if isinstance(content, list):
        found = (_part_block(part, (key, place), kind, weigh) for place, part in enumerate(content))
        return [block for block in found if block is not None]
    return [] if content is None else [opaque((key,), content, weigh)]


@lru_cache(maxsize=512)
def slot_of(*place: str | int) -> Slot:
    """A slot; one object for all messages, which spares the garbage collector thousands."""
    return place


def result_blocks(content: Any, key: str, call: tuple[str | None, str | None], weigh: bool) -> list[Block]:
    """One RESULT with all text of a tool's answer to `call` (id, name), then what else is in it."""
    call_id, name = call
    if isinstance(content, str):
        return [Block(Kind.RESULT, slot_of(key), content, name, call_id)]
    if not isinstance(content, list):
        return [Block(Kind.RESULT, (key,), text_of(content), name, call_id, editable=content is None)]
    texts = [text for part in content if (text := part_text(part))]
    blocks = [Block(Kind.RESULT, (key,), "\n".join(texts), name, call_id)]
    for place, part in enumerate(content):
        if part_text(part) is None and (block := _part_block(part, (key, place), Kind.RESULT, weigh)) is not None:
            blocks.append(block)
    return blocks


def part_text(part: Any) -> str | None:
    """Text of a text part, None of any other."""
    if isinstance(part, dict):
        text = part.get("text") if word(part.get("type")) in _TEXTS else None
        return text if isinstance(text, str) else None
    return part if isinstance(part, str) else None


def _part_block(part: Any, slot: Slot, kind: Kind, weigh: bool) -> Block | None:
    text = part_text(part)
    if text is None and isinstance(part, dict):
        sort = word(part.get("type"))
        if sort in _MEDIA:
            return media_block(part, slot) if weigh else Block(Kind.MEDIA, slot)
        text = part.get("refusal") if sort == "refusal" else None
    if not isinstance(text, str):
        return opaque(slot, part, weigh)
    extra = rest_of(part, _NOT_READ) if weigh and isinstance(part, dict) else ""
    return Block(kind, slot, text, extra=extra) if text else None


def media_block(part: Mapping[str, Any], slot: Slot) -> Block:
    """An image, audio or file part, weighed by OpenAI's rule."""
    sort = word(part.get("type"))
    body = part.get(sort)
    body = body if isinstance(body, dict) else part
    if "audio" in sort:
        data, mime = word(body.get("data")), f"audio/{word(body.get('format')) or 'wav'}"
        tokens, note = audio_tokens(data, mime), label(mime, None, None)
    elif "image" in sort or "screenshot" in sort:
        data = word(body.get("url")) or word(body.get("image_url")) or word(body.get("file_id"))
        mime, payload = split_data_url(data) or ("image", "")
        size = image_size(payload) if payload else None
        tokens = openai_image_tokens(size, word(body.get("detail")) or None)
        note = label(mime, size, data.partition("?")[0][:120] if mime == "image" else None)
    else:
        data = word(body.get("file_data"))
        mime, payload = split_data_url(data) or ("file", data)
        tokens = openai_file_tokens(payload or None, mime)
        named = (word(body.get(field)) for field in ("filename", "file_url", "file_id"))
        note = label(mime, None, next(filter(None, named), None))
        data = data or note
    return Block(Kind.MEDIA, slot, fixed=max(1, tokens), note=note, ident=f"{len(data)}{data[:64]}{data[-512:]}")


def edited(item: Item) -> bool:
    """Whether its text replaces what was there."""
    return item.editable and item.fidelity is not Fidelity.FULL


def edit_content(value: Any, key: str, blocks: Sequence[Block], kept: Mapping[Slot, Item], text_type: str) -> Any:
    """The content with only what is kept, in its outer shape; None when nothing is left."""
    whole, slots = kept.get((key,)), {block.slot for block in blocks}
    if not isinstance(value, list):
        if whole is not None:
            return whole.text if edited(whole) else value
        return None if (key,) in slots else value
    parts: list[Any] = []
    written = whole is None or not edited(whole)
    for place, part in enumerate(value):
        item = kept.get((key, place))
        if item is not None:
            parts.append(_with_text(part, item.text, text_type) if edited(item) else part)
        elif whole is not None and (key, place) not in slots:
            if not edited(whole):
                parts.append(part)
            elif not written:
                parts.append(_with_text(part, whole.text, text_type))
                written = True
    if whole is not None and not written:
        parts.insert(0, {"type": text_type, "text": whole.text})
    return parts or None


def _with_text(part: Any, text: str, text_type: str) -> Any:
    if part_text(part) is None and not (isinstance(part, dict) and part.get("type") == "refusal"):
        return {"type": text_type, "text": text}
    if isinstance(part, str):
        return text
    # Citations and log probabilities point into the old text.
    stale: dict[str, Any] = {key: [] for key in ("annotations", "logprobs") if part.get(key)}
    return {**part, **stale, "refusal" if part.get("type") == "refusal" else "text": text}


def kept_by_message(items: Sequence[Item], first: int) -> Iterator[tuple[int, dict[Slot, Item]]]:
    """(source message, its kept items by slot). Replaced by nothing is the same as dropped."""
    alive = (
        item
        for item in items
        if item.message >= max(first, 0) and item.fidelity is not Fidelity.GONE and (item.text or not edited(item))
    )
    for index, group in groupby(alive, key=lambda item: item.message):
        yield index, {item.slot: item for item in group}


def insertions(place: int, kept: Mapping[Slot, Item], content: Any) -> list[Inserted]:
    """What Jettison wrote into output message `place`."""
    found = [
        Inserted(place, item.text, "stub" if item.fidelity is Fidelity.STUB else "gap")
        for item in kept.values()
        if edited(item)
    ]
    return [*found, Inserted(place, REMOVED, "placeholder")] if content == REMOVED else found


_FOREIGN = {"tool_use": "id", "tool_result": "tool_use_id"}
"""Blocks of other wires that stand for calls and results, and what names the call. Taken for text with unknown fields,
they would be cut apart without anybody knowing that one answers the other."""


class Findings:
    """Collects problems; `start` hides what is wrong in earlier messages."""

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.problems: list[Problem] = []

    def add(
        self, index: int, where: str, rule: str, repair: str, kind: str = "structure", call_id: str | None = None
    ) -> None:
        if index >= self.start or kind == "pending":
            self.problems.append(Problem(where, rule, repair, kind, call_id, index))

    def sorted(self) -> list[Problem]:
        return sorted(self.problems, key=lambda problem: problem.message)

    def content(
        self, index: int, where: str, content: Any, kind: str = "structure", calls: Collection[str] = ()
    ) -> None:
        """Content is a string or a list of parts, and none of them is empty; `kind` says how bad an empty one is.

        `calls`: ids of the message's own calls. A framework may keep another provider's blocks of these beside them.
        """
        if content is None or content == "" or content == []:
            self.add(index, where, "content is not empty", "drop the message or give it content", kind)
        elif not isinstance(content, str | list):
            self.add(index, where, "content is a string or a list of parts", "pass one of these")
        for place, part in enumerate(content if isinstance(content, list) else ()):
            spot = f"{where}[{place}]"
            sort = word(part.get("type")) if isinstance(part, dict) else ""
            if not sort and not isinstance(part, str):
                self.add(index, spot, "a content part is an object with a type", "pass such an object")
            elif sort in _TEXTS and part_text(part) is None:
                self.add(index, spot, "a text part has a string `text`", "pass the text as a string")
            elif part_text(part) == "":
                self.add(index, spot, "a text part is not empty", "drop the part", kind)
            elif sort in _FOREIGN and part.get(_FOREIGN[sort]) not in calls:
                rule = "calls and results are messages of their own, not content parts"
                self.add(index, spot, rule, f"a part of type {sort!r} belongs to another wire", call_id=None)

    def arguments(self, index: int, where: str, value: Any, call_id: str | None) -> None:
        """Arguments are a string that parses as JSON."""
        if not isinstance(value, str):
            self.add(index, where, "arguments are a string", "pass the JSON text", call_id=call_id)
        elif index >= self.start:
            try:
                json.loads(value)
            except (ValueError, RecursionError):
                rule, repair = "arguments parse as JSON", 'several back ends refuse this: pass JSON text such as "{}"'
                self.add(index, where, rule, repair, "compatibility", call_id)


def without_empty_parts(content: Any) -> Any:
    """The content without its empty text parts; the same object when it has none."""
    if not isinstance(content, list) or all(part_text(part) != "" for part in content):
        return content
    return [part for part in content if part_text(part) != ""]


def settle(calls: int, results: Sequence[Any]) -> tuple[int, int]:
    """Which of several calls and of their results under one id to keep (ordinals): the finished one.

    One call: its last result that does not look aborted. Several: the first such result and its call.
    """
    done = [place for place, content in enumerate(results) if not looks_aborted(content)]
    if calls > 1:
        pick = done[0] if done else 0
        return min(pick, calls - 1), pick
    return 0, done[-1] if done else len(results) - 1


def looks_aborted(content: Any) -> bool:
    """Whether a tool's answer reads like an error or an interruption."""
    if isinstance(content, list):
        content = "\n".join(text for part in content if (text := part_text(part)))
    return _ABORTED.match(content) is not None if isinstance(content, str) else content is None
