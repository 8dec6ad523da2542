"""Anthropic Messages: content is a string or a list of blocks; results come in the user message after their calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jettison.errors import Problem
from jettison.items import COMPACTION, Fidelity, Item, Kind
from jettison.wire import anthropic_rules, media
from jettison.wire.base import Cursor, Message, Rendered, Repaired, json_text
from jettison.wire.turns import PLACEHOLDER, Built, Turns, arguments, built, first_wins, join

__all__ = ["Anthropic"]

_TEXT = {"user": Kind.USER, "assistant": Kind.ASSISTANT, "system": Kind.INSTRUCTION}
_THINKING = ("thinking", "redacted_thinking")
_Draft = dict[str, Any]


class Anthropic:
    """The `Wire` of Anthropic Messages."""

    name = "anthropic"
    field = "messages"
    base_tokens = 3
    system_field: str | None = "system"

    def parse(
        self, messages: Sequence[Message], cursor: Cursor = Cursor()
    ) -> tuple[list[tuple[Item, ...]], list[Cursor]]:
        """Items of each message and the cursor after it."""
        turns = Turns(cursor)
        items: list[tuple[Item, ...]] = []
        cursors: list[Cursor] = []
        for message in messages:
            items.append(_read(turns, message))
            cursors.append(turns.cursor())
        return items, cursors

    def parse_system(self, system: Any) -> tuple[Item, ...]:
        """Items of `system`, a string or a list of text blocks."""
        if system is None or system == "" or system == []:
            return ()
        turns = Turns(Cursor(message=-1))
        blocks = system if isinstance(system, list) else [{"type": "text", "text": system}]
        for at, block in enumerate(blocks):
            turns.add(_draft(block, "system"), (at,) if isinstance(system, list) else (), "system", -1)
        return tuple(turns.items)

    def render(self, items: Sequence[Item], messages: Sequence[Message], first: int = 0) -> Rendered:
        """The messages that the kept items make; see `Wire.render`."""
        before = anthropic_rules.role_of(messages[first - 1]) if first else ""
        return _join(built(items, messages, first, _rebuild, _said), first, before)

    def check(
        self, messages: Sequence[Message], *, system: Any = None, start: int = 0, remote: bool = False
    ) -> list[Problem]:
        """All broken rules of messages[start:]; cache marks are counted over the whole request."""
        return anthropic_rules.check(messages, system, start)

    def repair(self, messages: Sequence[Message], remote: bool = False) -> Repaired:
        """Dead calls answered, one result a call and first in its message, orphans and empty text dropped."""
        built, notes = anthropic_rules.repair(messages)
        done = _join(iter(built), 0, "", lead=True)
        notes += [f"messages[{one.message}] of the result: {PLACEHOLDER} placed" for one in done.inserted]
        return Repaired(done.messages, notes)

    def split_body(self, body: Mapping[str, Any]) -> tuple[list[Any], Any, Any]:
        """(messages, system, tools) of a request body."""
        return list(body.get("messages") or ()), body.get("system"), body.get("tools")

    def join_body(self, body: Mapping[str, Any], messages: list[Message], system: Any) -> dict[str, Any]:
        """The body with its messages and system replaced."""
        out = {**body, "messages": messages}
        if system is not None or "system" in body:
            out["system"] = system
        return out


# ── parse ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(turns: Turns, message: Any) -> tuple[Item, ...]:
    role = anthropic_rules.role_of(message)
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else []
    if role == "assistant":
        turns.step += 1
        if not turns.server:
            turns.open()
            turns.calls = []
        turns.server = anthropic_rules.waiting(blocks, turns.server)
    results = turns.unit if turns.unit >= 0 else 0
    other = turns.unit if role == "assistant" else -1
    for at, block in enumerate(blocks):
        if role == "user" and _type(block) == "tool_result":
            turns.unit = max(turns.unit, 0)
            _read_result(turns, block, at, results)
            continue
        if other < 0:
            turns.open()
            other = turns.unit
        turns.add(_draft(block, role), (at,), role, other)
    if not blocks:
        if role != "assistant":
            turns.open()
        turns.add(_whole(message, content, role), (), role, turns.unit)
    return turns.close(_state(turns, role, blocks, turns.unit == results))


def _state(turns: Turns, role: str, blocks: list[Any], only_results: bool) -> str:
    """Whether results that come next belong to this unit (`calls`), or not: the role."""
    if role == "assistant":
        turns.calls += [(item.call_id or "", item.name or "") for item in turns.items if item.kind is Kind.CALL]
        return "calls" if turns.calls else role
    if role == "user" and blocks and only_results:
        return turns.state or role
    turns.calls, turns.server = [], ()
    return role or "other"


def _read_result(turns: Turns, block: Message, at: int, unit: int) -> None:
    """One RESULT for all text of a tool_result, then what else is nested in it."""
    call_id = block.get("tool_use_id") if isinstance(block.get("tool_use_id"), str) else None
    content = block.get("content")
    draft: _Draft = {
        "kind": Kind.RESULT,
        "text": _text_of(content),
        "name": next((name for known, name in reversed(turns.calls) if known == call_id), None) or None,
        "call_id": call_id,
        "is_error": block.get("is_error") is True,
        "extra": _rest(block, "tool_use_id", "content", "is_error"),
    }
    turns.add(draft, (at,), "user", unit)
    for inner, nested in enumerate(content if isinstance(content, list) else ()):
        if not _is_text(nested):
            turns.add(_draft(nested, "nested"), (at, inner), "user", unit)


def _whole(message: Any, content: Any, role: str) -> _Draft:
    """The one item of a message that has no blocks."""
    if isinstance(content, str) and content and role in _TEXT:
        return {"kind": _TEXT[role], "text": content, "extra": _rest(message, "role", "content")}
    odd = content in (None, "", []) and role in _TEXT
    return {"kind": Kind.OPAQUE, "extra": "" if odd else json_text(message), "editable": False}


def _draft(block: Any, role: str) -> _Draft:
    kind = _type(block)
    if kind == "text" and role in _TEXT and _is_text(block):
        return {"kind": _TEXT[role], "text": block["text"], "extra": _rest(block, "text")}
    if kind in _THINKING:
        seal = block.get("signature") or block.get("data")
        text = str(block.get("thinking") or "")
        return {"kind": Kind.REASONING, "text": text, "extra": str(seal or ""), "editable": False, "bound": bool(seal)}
    if kind == "tool_use" and role == "assistant":
        known = {key: value if isinstance(value := block.get(key), str) else None for key in ("id", "name")}
        text = json_text(block.get("input", {}))
        extra = _rest(block, "id", "name", "input")
        return {"kind": Kind.CALL, "text": text, "name": known["name"], "call_id": known["id"], "extra": extra}
    if kind in anthropic_rules.SERVER_CALLS and isinstance(block.get("name"), str):
        return {"kind": Kind.OPAQUE, "name": block["name"], "extra": json_text(block), "editable": False}
    if kind in ("tool_reference", "tool_search_tool_result"):
        names = tuple(_referred(block))
        return {"kind": Kind.OPAQUE, "extra": json_text(block), "editable": False, "reveals": names}
    if kind == "compaction":
        return {"kind": Kind.OPAQUE, "extra": json_text(block), "editable": False, "note": COMPACTION}
    if kind == "search_result":
        extra = "\n".join(str(block.get(key) or "") for key in ("title", "source"))
        note = media.label(str(block.get("title") or "search result"))
        return {"kind": Kind.DOCUMENT, "text": _text_of(block.get("content")), "extra": extra, "note": note}
    if kind in ("image", "document") and isinstance(block.get("source"), dict):
        return _media(block, block["source"])
    return {"kind": Kind.OPAQUE, "extra": json_text(block), "editable": False}


def _referred(block: Message) -> Iterator[str]:
    """Names of tools that a reference, or the result of the provider's tool search, makes known."""
    content = block.get("content")
    found = content.get("tool_references") if isinstance(content, dict) else None
    for one in found if isinstance(found, list) else [block]:
        if isinstance(one, dict) and isinstance(one.get("tool_name"), str):
            yield one["tool_name"]


def _media(block: Message, source: Message) -> _Draft:
    b64 = data if isinstance(data := source.get("data"), str) and source.get("type") == "base64" else None
    url = str(source.get("url") or "")
    name = str(block.get("title") or url.split("?")[0].rsplit("/", 1)[-1][:80]) or None
    mime = str(source.get("media_type") or block["type"])
    extra = _rest(block, "source", "citations")
    if block["type"] == "image":
        size = media.image_size(b64) if b64 else None
        tokens, note = media.anthropic_image_tokens(size), media.label(mime, size, name)
    elif source.get("type") in ("text", "content"):
        content = source.get("content", source.get("data"))
        images = [one for one in content if _type(one) == "image"] if isinstance(content, list) else []
        fixed = sum(_draft(one, "nested").get("fixed", 0) for one in images)
        note = media.label("document", name=name)
        return {"kind": Kind.DOCUMENT, "text": _text_of(content), "extra": extra, "fixed": fixed, "note": note}
    else:
        tokens, note = media.anthropic_pdf_tokens(b64), media.label(mime, name=name)
    return {"kind": Kind.MEDIA, "fixed": tokens, "extra": extra, "note": note, "key": json_text(source)}


def _type(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def _is_text(block: Any) -> bool:
    return _type(block) == "text" and isinstance(block.get("text"), str)


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(block["text"] for block in content if _is_text(block))
    return content if isinstance(content, str) else ""


def _rest(block: Message, *known: str) -> str:
    """JSON of the fields that are sent too and are not looked at elsewhere."""
    rest = {k: v for k, v in block.items() if k not in known and k not in ("type", "cache_control") and v is not None}
    return json_text(rest) if rest else ""


# ── render ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _said(text: str) -> Message:
    return {"role": "user", "content": text}


def _rebuild(message: Message, items: list[Item]) -> Message | None:
    """The message with only these items, itself when nothing changed, None when nothing is left to say."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list) or not content:
        item = items[0]
        if item.fidelity is Fidelity.FULL or not isinstance(message, dict):
            return message
        return {**message, "content": item.text} if item.text.strip() else None
    groups: dict[Any, list[Item]] = {}
    for item in items:
        groups.setdefault(item.slot[0], []).append(item)
    pairs = [(block, _rebuild_block(block, groups[at])) for at, block in enumerate(content) if at in groups]
    blocks = [new for old, new in pairs if new is not None or old is None]
    if len(blocks) == len(content) and all(new is old for new, old in zip(blocks, content, strict=True)):
        return message
    if message.get("role") == "assistant":  # one that ends in thinking is refused
        while blocks and _type(blocks[-1]) in _THINKING:
            blocks.pop()
    return {**message, "content": blocks} if blocks else None


def _rebuild_block(block: Any, items: list[Item]) -> Any:
    """The block with what is left of it; None for one that would be empty."""
    if _type(block) == "tool_result" and items[0].role == "user":
        return _rebuild_result(block, items)
    return block if items[0].fidelity is Fidelity.FULL else _replaced(block, items[0].text)


def _rebuild_result(block: Message, items: list[Item]) -> Message:
    own = next((item for item in items if len(item.slot) == 1), None)
    nested = {item.slot[1]: item for item in items if len(item.slot) > 1}
    content = block.get("content")
    whole = own is not None and own.fidelity is Fidelity.FULL
    if not isinstance(content, list):
        return block if own is None or whole else {**block, "content": own.text}
    texts = [at for at, inner in enumerate(content) if _is_text(inner)]
    out: list[Any] = []
    if own is not None and not whole and not texts and own.text.strip():
        out.append({"type": "text", "text": own.text})
    for at, inner in enumerate(content):
        if at in nested:
            out.append(inner if nested[at].fidelity is Fidelity.FULL else _replaced(inner, nested[at].text))
        elif _is_text(inner) and own is not None and (whole or at == texts[0]):
            out.append(inner if whole else _replaced(_marked(content, texts), own.text))
    out = [inner for inner in out if inner is not None]
    if len(out) == len(content) and all(new is old for new, old in zip(out, content, strict=True)):
        return block
    return {**block, "content": out or ""}


def _marked(content: list[Any], texts: list[int]) -> Any:
    """The text block whose mark a single replacement of all of them carries on."""
    return next((content[at] for at in texts if content[at].get("cache_control")), content[texts[0]])


def _replaced(block: Any, text: str) -> Any:
    kind = _type(block)
    if kind in _THINKING:
        return block
    if kind == "tool_use":
        return {**block, "input": arguments(text)}
    if not text.strip():
        return None
    if kind == "text":
        return {**block, "text": text}
    if kind == "search_result":
        return {**block, "content": [{"type": "text", "text": text}]}
    source = block.get("source") if isinstance(block, dict) else None
    if kind == "document" and isinstance(source, dict) and source.get("type") == "text":
        return {**block, "source": {**source, "data": text}}
    if kind == "document" and isinstance(source, dict) and source.get("type") == "content":
        shape = text if isinstance(source.get("content"), str) else [{"type": "text", "text": text}]
        return {**block, "source": {**source, "content": shape}}
    out = {"type": "text", "text": text}
    if isinstance(block, dict) and block.get("cache_control"):
        out["cache_control"] = block["cache_control"]
    return out


def _join(built: Iterator[Built], first: int, before: str, lead: bool = False) -> Rendered:
    return join(
        built,
        first=first,
        before=before,
        model="assistant",
        role=anthropic_rules.role_of,
        merge=_merge,
        placeholder=lambda role: {"role": role, "content": PLACEHOLDER},
        lead=lead,
    )


def _merge(messages: Sequence[Message]) -> Message:
    """Several user messages as one, results first."""
    blocks: list[Any] = []
    for content in (message.get("content") for message in messages):
        blocks += content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    blocks.sort(key=lambda block: _type(block) != "tool_result")
    return {**first_wins(messages), "content": blocks}
