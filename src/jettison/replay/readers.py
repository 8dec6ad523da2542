"""Reads what people have on disk: message lists, request bodies, JSONL trajectories, Claude Code sessions.

Files are UTF-8 (or UTF-16 with a byte order mark), plain or gzipped. JSONL is cut at "\n" only: tool output holds
U+2028 and its like, which `str.splitlines` would cut at.
"""

from __future__ import annotations

import codecs
import gzip
import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jettison.errors import ConfigError, InvalidInput
from jettison.replay import claude_code
from jettison.wire.guess import WIRES, guess_wire

__all__ = ["Recorded", "embedded", "read", "read_all", "read_bytes", "recorded_of", "request_in"]

_LISTS = ("messages", "input", "contents")
_SYSTEM = {
    "openai-responses": ("instructions",),
    "anthropic": ("system",),
    "gemini": ("systemInstruction", "system_instruction"),
}
_IDS, _TASKS = ("id", "custom_id", "run_id", "trace_id"), ("task", "task_id", "instance_id")
_EXPECTED = (
    "expected a list of messages, a request body with `messages`, `input` or `contents`, "
    "JSONL rows with `messages`, or a Claude Code session"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One history as it was found."""

    wire: str
    messages: list[dict[str, Any]]
    system: Any = None
    """The provider's own system field, where the wire has one."""
    tools: Any = None
    model: str | None = None
    body: dict[str, Any] | None = None
    """The whole request, when the input was one; `messages` are its own."""
    name: str = ""
    """File name, and which row of it."""
    id: str = ""
    """What the file calls this run, where it does."""
    task: str = ""
    """Of which task it was a run, where the row has a `task`."""
    notes: tuple[str, ...] = ()
    """What the reader chose or left out, one line each."""


def read(source: str, *, row: int | None = None, wire: str | None = None) -> Recorded:
    """Read a file, or standard input for "-". `row` (from 1) selects one of several histories; the first otherwise.

    Raises InvalidInput (what, where, what to do) and ConfigError for a `row` or `wire` that does not exist.
    """
    data, name = _load(source)
    return read_bytes(data, name=name, row=row, wire=wire)


def read_all(source: str, *, wire: str | None = None) -> list[Recorded]:
    """Every history of a file, in its order; a file with one gives a list of one. Raises what `read` raises."""
    data, name = _load(source)
    text = _decode(data, name)
    rows = [] if not text.strip() or _whole(text, name)[0] else _lines(text, name)[0]
    if not rows or not all(isinstance(row, dict) and request_in(row) for row in rows):
        return [read_bytes(data, name=name, wire=wire)]
    return [recorded_of(row, wire, f"{name} row {number}", []) for number, row in enumerate(rows, 1)]


def _load(source: str) -> tuple[bytes, str]:
    """(bytes, name) of a file, or of standard input for "-"."""
    if source == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    path = Path(source)
    try:
        return path.read_bytes(), path.name
    except OSError as error:
        raise InvalidInput(f"cannot read {source}: {error.strerror or error}; check the path") from error


def read_bytes(data: bytes, *, name: str, row: int | None = None, wire: str | None = None) -> Recorded:
    """`read` for bytes that are already here."""
    if wire is not None and wire not in WIRES:
        raise ConfigError(f"wire {wire!r} is not known: use one of {', '.join(WIRES)}")
    text = _decode(data, name)
    if not text.strip():
        raise InvalidInput(f"{name} is empty; {_EXPECTED}")
    whole, value = _whole(text, name)
    if whole and isinstance(value, dict) and not claude_code.is_session([value]):
        return _single(value, name, row, wire)
    rows, notes = (value if isinstance(value, list) else [value], []) if whole else _lines(text, name)
    if not rows:
        raise InvalidInput(f"{name} holds no messages; {_EXPECTED}")
    return _from_rows(rows, name, row, wire, notes)


def _decode(data: bytes, name: str) -> str:
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidInput(f"{name} is not a whole gzip file ({error}); copy it again") from error
    utf16 = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{name}, line {line}: byte {error.start} is not UTF-8; save the file as UTF-8") from error


def _whole(text: str, name: str) -> tuple[bool, Any]:
    """(True, value) when the text is one JSON value, (False, None) when it reads as lines of JSON."""
    first, _, rest = text.strip().partition("\n")
    if rest.strip() and first.rstrip().endswith(("}", "]")) and first[:1] in "{[":
        try:
            _loads(first, "")
        except InvalidInput:
            pass
        else:
            return False, None
    return True, _loads(text, name)


def _loads(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(f"{where}, {at}: not JSON ({error.msg}); {_EXPECTED}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where}: cannot be read as JSON ({error}); {_EXPECTED}") from error


def _lines(text: str, name: str) -> tuple[list[Any], list[str]]:
    rows: list[Any] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            if number == len(lines) and claude_code.is_session(rows):
                return rows, [f"line {number} is cut short (the session is being written): left out"]
            column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
            why = error.msg if isinstance(error, json.JSONDecodeError) else error
            raise InvalidInput(
                f"{name}, line {number}{column}: not JSON ({why}); in JSONL every line is one JSON value"
            ) from error
    return rows, []


def _from_rows(rows: list[Any], name: str, row: int | None, wire: str | None, notes: list[str]) -> Recorded:
    for number, value in enumerate(rows, 1):
        if not isinstance(value, dict):
            raise InvalidInput(f"{name}, entry {number} is {_type(value)}, not an object; {_EXPECTED}")
    if claude_code.is_session(rows):
        _only_row(row, name)
        messages, model, more = claude_code.conversation(rows, name)
        return recorded_of({"messages": messages, "model": model}, "anthropic", name, [*notes, *more])
    if any(request_in(value) for value in rows):
        return _pick(rows, name, row, wire)
    if not all("role" in value or isinstance(value.get("type"), str) or "parts" in value for value in rows):
        keys = ", ".join(sorted(map(str, rows[0]))[:8]) or "none"
        raise InvalidInput(f"{name}: the first entry is no message (its keys: {keys}); {_EXPECTED}")
    _only_row(row, name)
    return recorded_of({"messages": rows}, wire, name, notes)


def _pick(rows: Sequence[dict[str, Any]], name: str, row: int | None, wire: str | None) -> Recorded:
    number = 1 if row is None else row
    if not 1 <= number <= len(rows):
        raise ConfigError(f"row {number} does not exist: {name} has rows 1 to {len(rows)}")
    notes = []
    if row is None and len(rows) > 1:
        notes.append(f"{name} holds {len(rows)} histories: this is row 1, --row N selects another")
    return recorded_of(rows[number - 1], wire, f"{name} row {number}", notes)


def _only_row(row: int | None, name: str) -> None:
    if row not in (None, 1):
        raise ConfigError(f"row {row} does not exist: {name} holds one history")


def _single(record: dict[str, Any], name: str, row: int | None, wire: str | None) -> Recorded:
    _only_row(row, name)
    found = recorded_of(record, wire, name, [])
    body = request_in(record) or record
    return replace(found, body={**body, str(_key(body)): found.messages})


def _key(record: Mapping[str, Any]) -> str | None:
    """Under which name a record holds its history. (A Responses item may have an `input` text of its own.)"""
    for key in () if "role" in record else _LISTS:
        value = record.get(key)
        if isinstance(value, list) or (isinstance(value, str) and "type" not in record):
            return key
    return None


def request_in(record: dict[str, Any]) -> dict[str, Any] | None:
    """The part that holds the history: the record, or what a log or batch line ({"body": {…}}) wraps."""
    inner = (record, *(record.get(key) for key in ("body", "request", "kwargs")))
    return next((value for value in inner if isinstance(value, dict) and _key(value)), None)


def recorded_of(record: dict[str, Any], wire: str | None, name: str, notes: list[str]) -> Recorded:
    """The history in a record, a request body or what wraps one. Raises InvalidInput when there is none."""
    found = request_in(record)
    if found is None:
        raise InvalidInput(f"{name} has no messages (its keys: {', '.join(map(str, record)) or 'none'}); {_EXPECTED}")
    key = str(_key(found))
    messages = _messages(found[key], key, name)
    hint = next((value for value in (found.get("wire"), found.get("format")) if value in WIRES), None)
    wire = wire or hint or guess_wire(messages, found)
    system = next((found[k] for k in _SYSTEM.get(wire, ()) if found.get(k) is not None), None)
    model = found.get("model")
    return Recorded(
        wire=wire,
        messages=messages,
        system=system,
        tools=embedded(found.get("tools")) or None,
        model=model if isinstance(model, str) else None,
        name=name,
        id=str(next((record[key] for key in _IDS if record.get(key) is not None), "")),
        task=str(next((record[key] for key in _TASKS if record.get(key) is not None), "")),
        notes=tuple(notes),
    )


def embedded(value: Any) -> Any:
    """A list or an object that was stored as JSON text in a column, opened; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _messages(value: Any, key: str, name: str) -> list[dict[str, Any]]:
    value = embedded(value)
    if isinstance(value, str) and key == "input":
        value = [{"role": "user", "content": value}]
    if not isinstance(value, list):
        raise InvalidInput(f"{name}: `{key}` is {_type(value)}, not a list; {_EXPECTED}")
    for index, message in enumerate(value):
        if not isinstance(message, dict):
            raise InvalidInput(f"{name}: {key}[{index}] is {_type(message)}, not an object; a message is an object")
    if not value:
        raise InvalidInput(f"{name}: `{key}` is empty; there is nothing to fit")
    return value


def _type(value: Any) -> str:
    names = {str: "a string", list: "a list", dict: "an object", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
