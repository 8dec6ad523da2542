"""OpenAI Chat Completions: `messages` with `tool_calls` and `tool` answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jettison.errors import InvalidInput, Problem
from jettison.items import SUMMARY_SLOT, Item, Kind
from jettison.wire.base import Cursor, Inserted, Message, Rendered, Repaired
from jettison.wire.openai_chat_rules import ANSWERS, ROLES, body_of, check, is_empty, repair, role_of
from jettison.wire.openai_parts import (
    BASE,
    REMOVED,
    Block,
    Slot,
    content_blocks,
    edit_content,
    edited,
    insertions,
    kept_by_message,
    opaque,
    rest_of,
    result_blocks,
    slot_of,
    text_of,
    to_items,
    word,
)

__all__ = ["OpenAIChat"]

_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
_THOUGHT_KEYS = frozenset(_THOUGHTS)
_KNOWN = frozenset({"role", "content"})
_KNOWN_ANSWER = _KNOWN | {"tool_call_id", "name"}
_KNOWN_ASSISTANT = _KNOWN | {"tool_calls", "function_call", "refusal", *_THOUGHTS}
_KNOWN_CALL = frozenset({"id", "type", "function", "custom", "index"})
_SIGNED = frozenset({"signature", "data", "encrypted_content"})


class OpenAIChat:
    """The `openai-chat` wire."""

    name: str = "openai-chat"
    field: str = "messages"
    base_tokens: int = BASE
    system_field: str | None = None

    def parse(
        self, messages: Sequence[Message], cursor: Cursor = Cursor()
    ) -> tuple[list[tuple[Item, ...]], list[Cursor]]:
        """A turn with its calls and their answers is a unit; any other message is one of its own."""
        groups: list[tuple[Item, ...]] = []
        cursors: list[Cursor] = []
        unit, step, calls, state = cursor.unit, cursor.step, cursor.calls, cursor.state
        names = dict(calls)
        for index, message in enumerate(messages, cursor.message):
            role = role_of(message)
            joins = calls and role in ANSWERS
            if state and not joins:
                unit += 1
            blocks = _blocks(message, role, names)
            if role == "assistant":
                step += 1
                calls = tuple([(b.call_id or "", b.name or "") for b in blocks if b.kind is Kind.CALL])
                names = dict(calls)
            elif not joins and calls:
                calls, names = (), {}
            state = role or "?"
            groups.append(to_items(blocks, index, unit, step, role))
            cursors.append(Cursor(index + 1, unit, step, calls, state))
        return groups, cursors

    def parse_system(self, system: Any) -> tuple[Item, ...]:
        """Nothing: on this wire system text is in the messages."""
        return ()

    def render(self, items: Sequence[Item], messages: Sequence[Message], first: int = 0) -> Rendered:
        """The messages of the kept items; a message none of whose items is kept disappears."""
        out = Rendered([], [])
        for index, kept in kept_by_message(items, first):
            summary = kept.pop(SUMMARY_SLOT, None)
            message = _rebuilt(messages[index], kept) if kept else None
            if message is not None:
                if message is not messages[index]:
                    out.inserted.extend(insertions(len(out.messages), kept, message.get("content")))
                out.messages.append(message)
                out.sources.append(index)
            if summary is not None:
                out.inserted.append(Inserted(len(out.messages), summary.text, summary.note or "summary"))
                out.messages.append({"role": "user", "content": summary.text})
                out.sources.append(-1)
        return out

    def check(
        self, messages: Sequence[Message], *, system: Any = None, start: int = 0, remote: bool = False
    ) -> list[Problem]:
        """Shape of each message, and that each call of a batch is answered once in the run behind it."""
        return check(messages, start)

    def repair(self, messages: Sequence[Message], remote: bool = False) -> Repaired:
        """Drop empties and orphan answers, resolve duplicates, answer dead calls; the trailing turn stays open."""
        return repair(messages)

    def split_body(self, body: Mapping[str, Any]) -> tuple[list[Any], Any, Any]:
        """(messages, None, tools)."""
        messages = body.get("messages")
        if not isinstance(messages, list | tuple):
            raise InvalidInput("an openai-chat body has a list `messages`")
        return list(messages), None, body.get("tools")

    def join_body(self, body: Mapping[str, Any], messages: list[Message], system: Any) -> dict[str, Any]:
        """The body with its messages replaced."""
        return {**body, "messages": messages}


def _blocks(message: Message, role: str, names: Mapping[str, str], weigh: bool = True) -> list[Block]:
    """The message cut into blocks; without `weigh` only where they are."""
    if role not in ROLES:
        return [opaque((), message, weigh)]
    content, known = message.get("content"), _KNOWN
    if role in ANSWERS:
        known = _KNOWN_ANSWER
        call_id = word(message.get("tool_call_id")) if role == "tool" else None
        name = names.get(call_id or "") or word(message.get("name")) or None
        blocks = result_blocks(content, "content", (call_id or None, name), weigh)
    elif role == "assistant":
        known = _KNOWN_ASSISTANT
        blocks = _thoughts(message, weigh)
        blocks += content_blocks(content, "content", Kind.ASSISTANT, weigh)
        blocks += _calls(message, weigh)
    else:
        blocks = content_blocks(content, "content", ROLES[role], weigh)
    rest = rest_of(message, known) if weigh and len(message) > 2 else ""
    if not blocks:
        return [Block(Kind.OPAQUE, (), extra=rest, editable=False)]
    if rest:
        blocks[0] = blocks[0]._replace(extra=blocks[0].extra + rest)
    return blocks


def _thoughts(message: Message, weigh: bool) -> list[Block]:
    blocks: list[Block] = []
    if _THOUGHT_KEYS.isdisjoint(message):
        return blocks
    for field in _THOUGHTS:
        value = message.get(field)
        if isinstance(value, str) and value:
            blocks.append(Block(Kind.REASONING, (field,), value, editable=False))
        elif value:
            details = value if isinstance(value, list) else [value]
            bound = any(isinstance(part, dict) and not _SIGNED.isdisjoint(part) for part in details)
            extra = text_of(value) if weigh else ""
            blocks.append(Block(Kind.REASONING, (field,), extra=extra, editable=False, bound=bound))
    return blocks


def _calls(message: Message, weigh: bool) -> list[Block]:
    """The refusal, the legacy function call and the tool calls of a turn."""
    blocks = []
    refusal, legacy, calls = message.get("refusal"), message.get("function_call"), message.get("tool_calls")
    if isinstance(refusal, str) and refusal:
        blocks.append(Block(Kind.ASSISTANT, ("refusal",), refusal))
    if isinstance(legacy, dict):
        name = word(legacy.get("name"))
        blocks.append(Block(Kind.CALL, ("function_call",), text_of(legacy.get("arguments")), name))
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        slot: Slot = slot_of("tool_calls", place)
        if not isinstance(call, dict):
            blocks.append(opaque(slot, call, weigh))
            continue
        body, field = body_of(call)
        inner = call.get(body)
        inner = inner if isinstance(inner, dict) else {}
        extra = rest_of(call, _KNOWN_CALL) if weigh and len(call) > 3 else ""
        text, name = text_of(inner.get(field)), word(inner.get("name"))
        blocks.append(Block(Kind.CALL, slot, text, name, word(call.get("id")) or None, extra=extra))
    return blocks


def _rebuilt(message: Message, kept: Mapping[Slot, Item]) -> Message | None:
    """The message with what is kept of it: itself when that is all, None when that is nothing."""
    role = role_of(message)
    blocks = _blocks(message, role, {}, weigh=False)
    if len(kept) == len(blocks) and not any(map(edited, kept.values())):
        return message
    if all(item.kind is Kind.REASONING for item in kept.values()):
        return None
    new = dict(message)
    for slot in (block.slot for block in blocks if len(block.slot) == 1 and block.slot != ("content",)):
        item, field = kept.get(slot), str(slot[0])
        if item is None:
            del new[field]
        elif edited(item):
            new[field] = item.text if field == "refusal" else {**message[field], "arguments": item.text}
    if isinstance(calls := message.get("tool_calls"), list):
        left = [(call, item) for n, call in enumerate(calls) if (item := kept.get(("tool_calls", n))) is not None]
        new["tool_calls"] = [_with_arguments(call, item.text) if edited(item) else call for call, item in left]
        if not left:
            del new["tool_calls"]
    content = edit_content(message.get("content"), "content", blocks, kept, "text")
    if content is None and role in ANSWERS:
        content = REMOVED
    if content is not None or "content" in new:
        new["content"] = content
    return None if is_empty(new) else new


def _with_arguments(call: Message, text: str) -> Message:
    body, field = body_of(call)
    inner = call.get(body)
    return {**call, body: {**(inner if isinstance(inner, dict) else {}), field: text}}
