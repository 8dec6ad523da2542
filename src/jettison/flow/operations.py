"""Operations read from results: what was begun and is not done, the handle it is known by, and when it closed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from jettison.flow.patterns import compiled
from jettison.items import Item, Kind, Unit
from jettison.task import Operation, Span

__all__ = ["TIME_OUT", "OperationReader"]

TIME_OUT = 60
"""Steps without a word of an operation after which it is reported as timed out. The longest gap between a job's
start and its result in the recorded sets is under half of that."""
LONGEST_TEXT = 600
"""Characters of a plain-text result whose beginning is searched for a status."""

_OPEN = (
    r"pending|queued|in[ _-]?queue|enqueued|running|in[ _-]?progress|processing|started|scheduled|submitted|"
    r"accepted|initiated|provisioning|deploying|waiting|on[ _-]?hold|"
    r"await\w*[ _-](?:approval|confirmation|review|payment|response|input|user)|"
    r"(?:requires|needs)[ _-](?:approval|confirmation|action)|"
    r"pending[ _-]\w+|not[ _-]?(?:yet[ _-])?(?:finished|complete|ready|done)|"
    r"в очереди|ожида\w+|выполняется|в обработке|обрабатывается|на согласовании|на рассмотрении|запущен\w*|в процессе|"
    r"принят\w* в работу|требует подтверждения"
)
_DONE = (
    r"done|complete|completed|succeeded|success|successful|finished|failed|failure|cancel+ed|error|errored|approved|"
    r"rejected|denied|declined|closed|resolved|refunded|expired|aborted|timed[ _-]?out|delivered|confirmed|merged|"
    r"ready|"
    r"заверш[её]н\w*|готово?\w*|выполнен\w*|отмен[её]н\w*|отклон[её]н\w*|одобрен\w*|подтвержд[её]н\w*|возвращ[её]н\w*|"
    r"ошибка|исполнен\w*|закрыт\w*"
)
_STATUS_KEY = r"^(?:\w*_)?(?:status|state|phase|stage|статус|состояние)$"
_HANDLE_KEY = (
    r"(?:^|_)(?:id|uuid|ticket|job|task|run|operation|op|request|handle|token|ref|reference|number|no|key|name|agent|"
    r"номер|заявка|тикет)$|(?:Id|ID|Ticket|Ref|Number)$"
)
_OPEN_VALUE = rf"^\W*(?:{_OPEN})\b"
_DONE_VALUE = rf"^\W*(?:{_DONE})\b"
_OPEN_TEXT = (
    rf"\b(?:(?:status|state|статус|состояние)\W{{1,4}}(?:{_OPEN})|queued|enqueued|"
    r"(?:is|still|now) (?:running|pending|in progress)|"
    r"(?:running|started|launched) in (?:the )?background|background (?:task|job|agent|shell|process)|"
    r"await\w* (?:approval|confirmation|review)|waiting for (?:approval|confirmation|review)|pending approval|"
    r"requires? (?:approval|confirmation)|в очереди|ожидает \w+|выполняется|в обработке|на согласовании|"
    r"поставлен\w* в очередь|требует подтверждения)\b"
)
_DONE_TEXT = rf"\b(?:{_DONE})\b"
_HANDLE = re.compile(r"(?<![\w./-])(?=[\w-]*\d)(?=[\w-]*[A-Za-zА-Яа-я_-])[\w]+(?:-[\w]+)*(?![\w/])")
_NOT_HANDLE = r"\d+(?:ms|s|m|h|kb|mb|gb|x|px|%)|\d{4}-\d\d-\d\d\S*|\d+[-:]\d+\S*"

# One of these stands in every text that the patterns above match: looked for first, at a hundredth of the price.
_OPEN_STEMS = (
    *("pending", "queue", "running", "progress", "process", "started", "scheduled", "submitted", "initiat", "waiting"),
    *(
        "provision",
        "deploying",
        "hold",
        "await",
        "requires",
        "needs",
        "launched",
        "background",
        "not ",
        "очеред",
        "ожида",
    ),
    *(
        "выполн",
        "обраб",
        "соглас",
        "рассмотр",
        "запущен",
        "процесс",
        "принят",
        "требует",
        "accepted",
        "статус",
        "состоян",
    ),
)
# The same for what only a text in ASCII can match of `_OPEN_TEXT`.
_OPEN_TEXT_STEMS = (
    *("status", "state", "queued", "running", "is pending", "still pending", "now pending", "progress", "background"),
    *("approval", "confirmation", "review"),
)


@dataclass(frozen=True, slots=True)
class _Status:
    """Work that one result says is under way."""

    handles: tuple[str, ...]
    span: tuple[int, int]


@dataclass
class OperationReader:
    """Reads each result once, and puts what they say in order."""

    _statuses: dict[str, _Status | None] = field(default_factory=dict)
    _ended: dict[str, bool] = field(default_factory=dict)
    _found: dict[str, Operation] = field(default_factory=dict)
    _touched: dict[str, int] = field(default_factory=dict)

    def restart(self) -> None:
        """Forget the order of what was read, not the readings."""
        self._found, self._touched = {}, {}

    def settle(self, units: Iterable[Unit]) -> None:
        """Take in units that will not change any more, behind those of the calls before."""
        self._take(units, self._found, self._touched)

    def read(self, newest: Iterable[Unit], step: int) -> tuple[Operation, ...]:
        """All operations seen so far, open and closed, with those of units that may still grow."""
        found, touched = dict(self._found), dict(self._touched)
        self._take(newest, found, touched)
        return tuple(_timed_out(op, touched[key], step) for key, op in found.items())

    def _take(self, units: Iterable[Unit], found: dict[str, Operation], touched: dict[str, int]) -> None:
        for unit in units:
            calls: dict[str | None, Item] = {}
            for item in unit.items:
                if item.kind is Kind.CALL:
                    calls[item.call_id] = item
            for item in unit.items:
                if item.kind is Kind.RESULT:
                    self._result(item, calls, found, touched)
                elif found and item.kind in (Kind.USER, Kind.ASSISTANT, Kind.CALL):
                    _touch(item, found, touched)

    def _result(
        self,
        item: Item,
        calls: Mapping[str | None, Item],
        found: dict[str, Operation],
        touched: dict[str, int],
    ) -> None:
        call = calls.get(item.call_id)
        about = _about(item, call, found) if found else []
        for key in about:
            touched[key] = item.step
        if about:
            if self._over(item):
                for key in about:
                    found[key] = replace(found[key], closed=f"result {item.id} says it is over")
            return
        status = self._begun(item)
        if status is None:
            return
        start, end = status.span
        span = Span(item.id, start, end, item.text[start:end])
        key = status.handles[0]
        found[key] = Operation(
            id=f"op:{key}",
            name=item.name or "work",
            needs=status.handles,
            span=span,
            step=item.step,
            call=call.id if call is not None else None,
        )
        touched[key] = item.step

    def _begun(self, item: Item) -> _Status | None:
        """Whether a result says that work is under way, read once."""
        if item.id not in self._statuses:
            self._statuses[item.id] = None if item.synthetic else _begun(item.text)
        return self._statuses[item.id]

    def _over(self, item: Item) -> bool:
        """Whether a result says that work is over, read once and only where some is open."""
        if item.id not in self._ended:
            self._ended[item.id] = not item.synthetic and _over(item.text)
        return self._ended[item.id]


def _about(item: Item, call: Item | None, found: Mapping[str, Operation]) -> list[str]:
    """The open operations that a result, or its call, speaks of."""
    return [
        key
        for key, op in found.items()
        if op.open and any(need in item.text or (call is not None and need in call.text) for need in op.needs)
    ]


def _touch(item: Item, found: Mapping[str, Operation], touched: dict[str, int]) -> None:
    for key, op in found.items():
        if op.open and any(need in item.text for need in op.needs):
            touched[key] = item.step


def _timed_out(op: Operation, last: int, step: int) -> Operation:
    if op.open and step - last > TIME_OUT:
        return replace(op, closed=f"timed out: no word of it for {step - last} steps")
    return op


def _begun(text: str) -> _Status | None:
    """The open work that a result speaks of. Lists of records are data, not operations."""
    head = text[:LONGEST_TEXT]
    low = head.lower()
    structured = low.lstrip()[:1] in ("{", "[")
    if not structured and low.isascii() and not _has_one(_OPEN_TEXT_STEMS, low):
        return None
    if not _has_one(_OPEN_STEMS, low):
        return None
    if structured:
        return _begun_json(text)
    match = compiled(_OPEN_TEXT).search(head)
    if match is None:
        return None
    line = head[head.rfind("\n", 0, match.start()) + 1 :].split("\n", 1)[0]
    handles = _handles(line) or _handles(head[: match.start()])
    at = text.find(handles[0]) if handles else -1
    return _Status(handles, (at, at + len(handles[0]))) if at >= 0 else None


def _over(text: str) -> bool:
    """Whether a result says that the work it speaks of is over."""
    if text[:80].lstrip()[:1] in ("{", "["):
        states = [state for record in _parsed(text) if (state := _state(record)) is not None]
        done, begun = compiled(_DONE_VALUE).match, compiled(_OPEN_VALUE).match
        return bool(states) and any(map(done, states)) and not any(map(begun, states))
    head = text[:LONGEST_TEXT]
    return compiled(_OPEN_TEXT).search(head) is None and compiled(_DONE_TEXT).search(head) is not None


def _has_one(stems: Iterable[str], low: str) -> bool:
    for stem in stems:  # noqa: SIM110 - a third of the time of any()
        if stem in low:
            return True
    return False


def _handles(text: str) -> tuple[str, ...]:
    found = [match.group() for match in _HANDLE.finditer(text) if len(match.group()) >= 4]
    return tuple(dict.fromkeys(value for value in found if not compiled(_NOT_HANDLE).fullmatch(value)))[:4]


def _parsed(text: str) -> Iterator[dict[str, Any]]:
    """Records of a JSON text; none of one that is too large to be about one piece of work."""
    if len(text) > 40_000:
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from _records(value)


def _state(record: Mapping[str, Any]) -> str | None:
    for key, text in record.items():
        if isinstance(text, str) and _tells_status(key):
            return text
    return None


@lru_cache(maxsize=4_096)
def _tells_status(key: str) -> bool:
    return compiled(_STATUS_KEY).match(key) is not None


def _begun_json(text: str) -> _Status | None:
    for record in _parsed(text):
        state = _state(record)
        if state is None or not compiled(_OPEN_VALUE).match(state):
            continue
        handles = tuple(
            str(inner)
            for key, inner in record.items()
            if compiled(_HANDLE_KEY).search(key) and type(inner) in (str, int) and len(str(inner)) >= 3
        )
        at = text.find(handles[0]) if handles else -1
        if at >= 0:
            return _Status(handles[:4], (at, at + len(handles[0])))
    return None


def _records(value: Any) -> Iterator[dict[str, Any]]:
    """The object itself and the objects directly in it; a list of one counts as its element."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        if value.get("type") == "text" and isinstance(value.get("text"), str):
            inner = value["text"]
            try:
                value = json.loads(inner)
            except (ValueError, RecursionError):
                return
            if not isinstance(value, dict):
                return
        yield value
        for inner in value.values():
            if isinstance(inner, dict):
                yield inner
