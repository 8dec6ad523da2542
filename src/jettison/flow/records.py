"""Records of a JSON result: what each is known by, and what it says of its state."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jettison.flow.patterns import compiled
from jettison.flow.status_words import JOB, State, partly, state_of

__all__ = ["LONGEST_JSON", "MOST_RECORDS", "Statement", "prose_of", "statements"]

LONGEST_JSON = 40_000
"""Characters of a JSON result about one piece of work; a larger one is data."""
DEEPEST = 5
"""Levels of records that are read; envelopes in the recorded sets and in public APIs have up to three."""
MOST_RECORDS = 200
"""Records that are read of one result."""

_STATUS_KEY = (
    r"^(?!mergeable|workflow_state|review)(?:\w*_)?(?:status|state|phase|stage|статус|состояние|стадия|этап|estado|"
    r"statut|zustand|状态|状態|상태)$"
)
_FINISHED_KEY = r"^(?:is_)?(?:done|finished|completed?|ready|готово?|завершено|выполнено)$"
_PROGRESS_KEY = r"^(?:progress|percent\w*|progress_percent\w*|percent_complete|прогресс|процент)$"
_CODE_KEY = r"^(?:http_)?(?:status_?)?code$|^status$"
_WORD_KEYS = ("name", "phase", "state", "status", "value", "code", "статус", "название")
_OPTION_KEYS = frozenset({"id", "color", "type"})
_MESSAGE_KEY = r"^(?:message|msg|detail|сообщение|result|результат)$"
_PROSE_KEY = r"^(?:message|msg|detail|details|text|result|output|info|note|сообщение|результат|текст)$"
_JOB_KEY = rf"^(?:\w+_)?(?:{JOB})(?:_?(?:id|no|number|ref|uuid|handle|token|номер))?$|^handle$|^номер_\w+$"
_HANDLE_KEY = (
    r"(?:^|_)(?:id|uuid|ticket|job|task|run|operation|op|request|handle|token|ref|reference|number|no|key|name|agent|"
    r"номер|заявка|тикет|задача|заказ)$"
)
_NOT_HANDLE_KEY = (
    r"(?:^|_)(?:ip|version|region|zone|date|time|at|on|eta|url|uri|link|path|dir|file|filename|size|hash|sha|etag|commit|"
    r"amount|total|sum|price|currency|type|kind|image|host|port|email|phone|user|customer|owner|author|model|created|"
    r"updated|timestamp|checksum|color|address|branch|action|message|text|title|description|log|output|content|"
    r"дата|время|сумма|цена|адрес|телефон|почта|файл|путь)(?:_|$)"
)
_SHAPED = re.compile(r"(?=[^\d]*\d)(?=[\d]*[^\W\d]|\w+-)\w[\w.:/-]{2,79}")
_NOT_SHAPED = re.compile(
    r"\d+(?:[.,]\d+)?\s?(?:ms|s|m|h|d|kb|mb|gb|tb|x|px|%|k)|\d{4}-\d\d-\d\d.*|\d+(?:[-:.]\d+)+|v?\d+(?:\.\d+)+.*|"
    r"https?:.*|[\w.-]+\.(?:py|js|ts|md|txt|csv|json|ya?ml|html?|png|pdf|xlsx?|log|sh)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What one record says of its state."""

    state: State
    word: str
    """The value that says it."""
    handles: tuple[str, ...] = ()
    """Values that it may be known by, in the order of the record."""
    handle: str = ""
    """That of work before any other; empty when it has none."""
    job: bool = False
    """The handle's key is a noun of work."""


def statements(text: str) -> tuple[Statement, ...] | None:
    """What the records of a JSON text say; nothing of one that is too large to be about one piece of work, and None
    of a text that is no JSON."""
    if len(text) > LONGEST_JSON:
        return ()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict) and value.get("type") == "text" and isinstance(value.get("text"), str):
        return statements(value["text"])  # an MCP content part
    told: list[Statement] = []
    _walk(value, "", _NOBODY, told, 0)
    return tuple(told)


def prose_of(text: str) -> str:
    """What a JSON object says in words: `{"message": "Export exp-1 is queued"}`."""
    value = json.loads(text) if len(text) <= LONGEST_JSON else None
    if not isinstance(value, dict):
        return ""
    words = (value[key] for key in value if compiled(_PROSE_KEY).match(_snake(str(key))))
    return "\n".join(word for word in words if isinstance(word, str) and " " in word)


@dataclass(frozen=True, slots=True)
class _Names:
    """What a record is known by: (key, value) pairs in its order, and the best of them."""

    values: tuple[str, ...] = ()
    best: str = ""
    job: bool = False


_NOBODY = _Names()


def _walk(value: Any, key: str, outer: _Names, told: list[Statement], depth: int) -> None:
    if depth > DEEPEST or len(told) >= MOST_RECORDS:
        return
    if isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                _walk(entry, _singular(key), _NOBODY, told, depth + 1)
        return
    own = _named(value, key)
    found = _state(value, key)
    if found is not None:
        names = own if own.values else _inner(value) or outer
        told.append(Statement(found[0], found[1], names.values, names.best, names.job))
    for inner_key, inner in value.items():
        if isinstance(inner, dict | list):
            _walk(inner, str(inner_key), own if own.values else outer, told, depth + 1)


def _inner(record: Mapping[str, Any]) -> _Names | None:
    """The names of an object in a record that says no state of its own: `{"status": …, "ticket": {"id": …}}`."""
    for key, inner in record.items():
        if isinstance(inner, dict) and _state(inner, key) is None:
            names = _named(inner, key)
            if names.values:
                return names
    return None


def _named(record: Mapping[str, Any], parent: str) -> _Names:
    found: list[tuple[int, str]] = []
    for key, value in record.items():
        rank = _rank(_snake(str(key)), value, _snake(parent))
        if rank is not None:
            found.append((rank, str(value)))
    if not found:
        return _NOBODY
    rank, best = min(found, key=lambda pair: pair[0])
    return _Names(tuple(value for _, value in found), best, rank == 0)


def _rank(key: str, value: Any, parent: str) -> int | None:
    """How well a leaf names its record: 0 as work, 1 as a thing, 2 by a name; None: not at all."""
    if type(value) not in (str, int) or not 3 <= len(str(value)) <= 120 or _tells_status(key):
        return None
    if compiled(_JOB_KEY).match(key):
        return 0
    if compiled(_HANDLE_KEY).search(key):
        if compiled(rf"^(?:{JOB})$").match(parent) and not key.endswith("key"):
            return 0
        return 2 if key.endswith(("name", "key")) else 1
    if type(value) is str and not compiled(_NOT_HANDLE_KEY).search(key):
        return 1 if _SHAPED.fullmatch(value) and not _NOT_SHAPED.fullmatch(value) else None
    return None


def _state(record: Mapping[str, Any], parent: str) -> tuple[State, str] | None:
    """(state, the word for it) of a record; a share that is done is a state where nothing else is."""
    progress = False
    weak: tuple[State, str] | None = None
    for name, value in record.items():
        key = _snake(str(name))
        if isinstance(value, dict) and _tells_status(key) and not _OPTION_KEYS & value.keys():
            # `"state": {"name": "pending"}`; with an id it is an option of a table, which somebody chose
            value = next((word for part in _WORD_KEYS if isinstance(word := value.get(part), str)), None)
        if isinstance(value, str):
            if _tells_status(key):
                state = state_of(value)
                if state is not None and state is not State.ENVELOPE:
                    return state, value
                weak = weak or ((state, value) if state else None)
            elif compiled(_MESSAGE_KEY).match(key) and len(value.split()) <= 3:
                state = state_of(value)
                weak = weak or ((State.STARTED, value) if state in (State.OPEN, State.STARTED) else None)
            progress = progress or (compiled(_PROGRESS_KEY).match(key) is not None and partly(value))
        elif value is True or value is False:
            if compiled(_FINISHED_KEY).match(key):
                weak = (State.DONE if value else State.STARTED, str(name))
        elif isinstance(value, int | float):
            if value == 202 and compiled(_CODE_KEY).match(key):
                weak = weak or (State.STARTED, "202")
            progress = progress or (compiled(_PROGRESS_KEY).match(key) is not None and value < 100 and value != 1)
    if progress and (weak is None or weak[0] is State.ENVELOPE):
        return State.STARTED, "progress"
    return weak


@lru_cache(maxsize=4_096)
def _tells_status(key: str) -> bool:
    return compiled(_STATUS_KEY).match(key) is not None


@lru_cache(maxsize=4_096)
def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[ -]", "_", key).lower()


def _singular(key: str) -> str:
    return key[:-1] if key.endswith("s") else key
