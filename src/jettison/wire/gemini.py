"""Gemini: contents of parts; function responses come in the content after their calls, matched by id or by order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jettison.errors import Problem
from jettison.items import Fidelity, Item, Kind
from jettison.wire import gemini_rules, media
from jettison.wire.base import Cursor, Message, Rendered, Repaired, json_text
from jettison.wire.gemini_rules import field_of, get, is_user, kind_of, parts_of, role_of
from jettison.wire.turns import PLACEHOLDER, Built, Turns, arguments, built, first_wins, join

__all__ = ["Gemini"]

_Draft = dict[str, Any]
_SYSTEM = ("systemInstruction", "system_instruction")


class Gemini:
    """The `Wire` of Gemini's generateContent."""

    name = "gemini"
    field = "contents"
    base_tokens = 3
    system_field: str | None = "systemInstruction"

    def parse(
        self, messages: Sequence[Message], cursor: Cursor = Cursor()
    ) -> tuple[list[tuple[Item, ...]], list[Cursor]]:
        """Items of each content and the cursor after it."""
        turns = Turns(cursor)
        items: list[tuple[Item, ...]] = []
        cursors: list[Cursor] = []
        for message in messages:
            items.append(_read(turns, message))
            cursors.append(turns.cursor())
        return items, cursors

    def parse_system(self, system: Any) -> tuple[Item, ...]:
        """Items of `systemInstruction`: a content, a list of parts or strings, or a string."""
        parts = system["parts"] if isinstance(system, dict) and "parts" in system else system
        if parts is None or parts == "":
            return ()
        turns = Turns(Cursor(message=-1))
        for at, part in enumerate(parts if isinstance(parts, list) else [parts]):
            turns.add(_draft({"text": part} if isinstance(part, str) else part, "system"), (at,), "system", -1)
        return tuple(turns.items)

    def render(self, items: Sequence[Item], messages: Sequence[Message], first: int = 0) -> Rendered:
        """The contents that the kept items make; see `Wire.render`."""
        return _join(built(items, messages, first, _rebuild, _said), first, _side(messages[first - 1]) if first else "")

    def check(
        self, messages: Sequence[Message], *, system: Any = None, start: int = 0, remote: bool = False
    ) -> list[Problem]:
        """All broken rules of messages[start:]."""
        return gemini_rules.check(messages, start)

    def repair(self, messages: Sequence[Message], remote: bool = False) -> Repaired:
        """Dead calls answered, one response a call, orphans and empty text dropped."""
        built, notes = gemini_rules.repair(messages)
        done = _join(iter(built), 0, "", lead=True)
        notes += [f"contents[{one.message}] of the result: {PLACEHOLDER} placed" for one in done.inserted]
        return Repaired(done.messages, notes)

    def split_body(self, body: Mapping[str, Any]) -> tuple[list[Any], Any, Any]:
        """(contents, system, tools) of a request body, REST or SDK (`config`); a string becomes a user content."""
        config = body["config"] if isinstance(body.get("config"), Mapping) else {}
        systems = [place[key] for place in (body, config) for key in _SYSTEM if place.get(key) is not None]
        tools = body.get("tools") if body.get("tools") is not None else config.get("tools")
        return _contents(body.get("contents")), systems[0] if systems else None, tools

    def join_body(self, body: Mapping[str, Any], messages: list[Message], system: Any) -> dict[str, Any]:
        """The body with its contents and system replaced, each where it was."""
        given = body.get("contents")
        plain = isinstance(given, list) and all(isinstance(one, dict) for one in given)
        out = {**body, "contents": given if not plain and given and messages == _contents(given) else messages}
        config = body.get("config")
        for key in _SYSTEM:
            if key in body:
                return {**out, key: system}
            if isinstance(config, Mapping) and key in config:
                return {**out, "config": {**config, key: system}}
        if system is None:
            return out
        if isinstance(config, Mapping):
            return {**out, "config": {**config, "system_instruction": system}}
        return {**out, "systemInstruction": system}


def _contents(value: Any) -> list[Any]:
    contents = value if isinstance(value, list) else [] if value is None else [value]
    return [{"role": "user", "parts": [{"text": one}]} if isinstance(one, str) else one for one in contents]


# ── parse ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(turns: Turns, message: Any) -> tuple[Item, ...]:
    role = role_of(message)
    parts = parts_of(message) or []
    calls = list(turns.calls)
    open_ = list(calls)
    if role == "model":
        turns.step += 1
        turns.open()
        turns.calls = []
    results = max(turns.unit, 0)
    other = turns.unit if role == "model" else -1
    for at, part in enumerate(parts):
        if is_user(role) and kind_of(part) == "functionResponse":
            turns.unit = max(turns.unit, 0)
            _read_response(turns, part, (at, role, results), gemini_rules.take(part, open_, calls))
            continue
        if other < 0:
            turns.open()
            other = turns.unit
        draft = _draft(part, role)
        if draft["kind"] is Kind.CALL:
            draft["call_id"] = draft["call_id"] or f"#{len(turns.calls)}"
            turns.calls.append((draft["call_id"], draft["name"] or ""))
        turns.add(draft, (at,), role, other)
    if not parts:
        if role != "model":
            turns.open()
        odd = "" if is_user(role) or role == "model" else json_text(message)
        turns.add({"kind": Kind.OPAQUE, "extra": odd, "editable": False}, (), role, turns.unit)
    if is_user(role) and parts and turns.unit == results:
        return turns.close(turns.state or role)
    if role != "model":
        turns.calls = []
    return turns.close(role or "other")


def _read_response(turns: Turns, part: Message, where: tuple[int, str, int], call: tuple[str, str]) -> None:
    """One RESULT for a function response, then the media nested in it."""
    at, role, unit = where
    value = field_of(part, "functionResponse")
    name = value.get("name") if isinstance(value.get("name"), str) else call[1] or None
    key, text = gemini_rules.response_text(value)
    draft: _Draft = {"kind": Kind.RESULT, "text": text, "name": name, "call_id": call[0], "is_error": key == "error"}
    draft["extra"] = f'{name or ""}{{"{key}": ""}}' if key else name or ""
    draft["editable"] = get(part, "thoughtSignature") is None
    turns.add(draft, (at,), role, unit)
    nested = value.get("parts")
    for inner, one in enumerate(nested if isinstance(nested, list) else ()):
        turns.add(_draft(one, "nested"), (at, inner), role, unit)


def _draft(part: Any, role: str) -> _Draft:
    kind = kind_of(part)
    sealed = get(part, "thoughtSignature") is not None
    value = field_of(part, kind)
    if kind == "text" and get(part, "thought") is True:
        return {"kind": Kind.REASONING, "text": part["text"], "editable": False, "bound": sealed}
    if kind == "text" and role in ("model", "user", "function", "system"):
        item = Kind.ASSISTANT if role == "model" else Kind.INSTRUCTION if role == "system" else Kind.USER
        return {"kind": item, "text": part["text"], "editable": not sealed}
    if kind == "functionCall" and role == "model":
        known = {key: one if isinstance(one := value.get(key), str) and one else None for key in ("id", "name")}
        text = json_text({} if value.get("args") is None else value["args"])
        call = {"text": text, "name": known["name"], "call_id": known["id"], "editable": not sealed}
        return {"kind": Kind.CALL, **call}
    if kind in ("inlineData", "fileData"):
        return _media(value, sealed)
    shown = {k: v for k, v in part.items() if k not in gemini_rules.SIGNATURE} if isinstance(part, dict) else part
    return {"kind": Kind.OPAQUE, "extra": json_text(shown), "editable": False}


def _media(value: Message, sealed: bool) -> _Draft:
    mime = str(get(value, "mimeType") or "file")
    b64 = data if isinstance(data := value.get("data"), str) else None
    uri = str(get(value, "fileUri") or "")
    name = str(get(value, "displayName") or uri.split("?")[0].rsplit("/", 1)[-1][:80]) or None
    size = media.image_size(b64) if b64 and mime.startswith("image/") else None
    tokens, note = media.gemini_media_tokens(mime, b64), media.label(mime, size, name)
    return {"kind": Kind.MEDIA, "fixed": tokens, "note": note, "key": json_text(value), "editable": not sealed}


# ── render ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _said(text: str) -> Message:
    return {"role": "user", "parts": [{"text": text}]}


def _rebuild(message: Message, items: list[Item]) -> Message | None:
    """The content with only these items, itself when nothing changed, None when nothing is left to say."""
    parts = parts_of(message)
    if not parts:
        text = items[0].text
        if items[0].fidelity is Fidelity.FULL or not isinstance(message, dict):
            return message
        return {**message, "parts": [{"text": text}]} if text.strip() else None
    groups: dict[Any, list[Item]] = {}
    for item in items:
        groups.setdefault(item.slot[0], []).append(item)
    pairs = [(part, _rebuild_part(part, groups[at])) for at, part in enumerate(parts) if at in groups]
    kept = [new for old, new in pairs if new is not None or old is None]
    if len(kept) == len(parts) and all(new is old for new, old in zip(kept, parts, strict=True)):
        return message
    return {**message, "parts": kept} if any(map(gemini_rules.says, kept)) else None


def _rebuild_part(part: Any, items: list[Item]) -> Any:
    """The part with what is left of it; None for one that would be empty."""
    if kind_of(part) == "functionResponse":
        return _rebuild_response(part, items)
    return part if items[0].fidelity is Fidelity.FULL else _replaced(part, items[0].text)


def _rebuild_response(part: Message, items: list[Item]) -> Message:
    own = next((item for item in items if len(item.slot) == 1), None)
    if own is not None and own.kind is not Kind.RESULT:
        return part  # in the wrong role: carried through as it came
    left = {item.slot[1]: item for item in items if len(item.slot) > 1}
    value = field_of(part, "functionResponse")
    new = dict(value)
    changed = own is not None and own.fidelity is not Fidelity.FULL
    if own is not None and changed:
        new["response"] = {gemini_rules.response_text(value)[0] or "output": own.text}
    nested = value.get("parts")
    if isinstance(nested, list) and nested:
        full = {at for at, item in left.items() if item.fidelity is Fidelity.FULL}
        if len(full) < len(nested):  # what is replaced becomes text beside the response: only media may be nested
            changed = True
            new["parts"] = [one for at, one in enumerate(nested) if at in full]
            notes = [item.text for item in left.values() if item.fidelity is not Fidelity.FULL and item.text.strip()]
            if notes:
                new["response"] = gemini_rules.noted(new.get("response"), notes)
            if not new["parts"]:
                del new["parts"]
    if not changed:
        return part
    key = "functionResponse" if "functionResponse" in part else "function_response"
    return {**part, key: new}


def _replaced(part: Any, text: str) -> Any:
    kind = kind_of(part)
    if get(part, "thought") is True:
        return part
    if kind == "functionCall":
        key = "functionCall" if "functionCall" in part else "function_call"
        return {**part, key: {**part[key], "args": arguments(text)}}
    if not text.strip():
        return None
    return {**part, "text": text} if kind == "text" else {"text": text}


def _side(message: Any) -> str:
    role = role_of(message)
    return "user" if is_user(role) else role


def _join(built: Iterator[Built], first: int, before: str, lead: bool = False) -> Rendered:
    return join(
        built,
        first=first,
        before=before,
        model="model",
        role=_side,
        merge=_merge,
        placeholder=lambda role: {"role": role, "parts": [{"text": PLACEHOLDER}]},
        lead=lead,
    )


def _merge(contents: Sequence[Message]) -> Message:
    """Several user contents as one, function responses first."""
    parts = [part for content in contents for part in parts_of(content) or ()]
    parts.sort(key=lambda part: kind_of(part) != "functionResponse")
    return {**first_wins(contents), "parts": parts}
