"""What one result says of work under way: begun, with which handle, or over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jettison.flow.patterns import compiled

__all__ = ["Status", "begun", "ended", "is_asking", "is_reading", "is_stopping"]

LONGEST_TEXT = 600
"""Characters of a plain-text result whose beginning is searched for a status."""
LONGEST_JSON = 40_000
"""Characters of a JSON result about one piece of work; a larger one is data."""

_OPEN = (
    r"pending|queued|in[ _-]?queue|enqueued|running|in[ _-]?progress|processing|provisioning|deploying|waiting|"
    r"on[ _-]?hold|"
    r"await\w*(?:[ _-](?:\w+[ _-])?(?:approval|confirmation|review|payment|response|input|user|settlement))?|"
    r"(?:requires|needs)[ _-](?:approval|confirmation|action)|(?:async[ _-])?launched|in[ _-]?flight|"
    r"pending[ _-]\w+|not[ _-]?(?:yet[ _-])?(?:finished|complete|ready|done)|"
    r"в очереди|в ожидании|ожида\w+|выполняется|в обработке|обрабатывается|на согласовании|на рассмотрении|"
    r"на проверке|запущен[аоы]?|в процессе|"
    r"принят[аоы]? в работу|требу\w+ (?:подтверждени|согласовани)\w+"
)
# Open only of a job: an order is `accepted` and an assignment `submitted` for good.
_OPEN_OF_JOB = (
    r"started|scheduled|submitted|accepted|initiated|created|принят[аоы]?|создан[аоы]?|отправлен[аоы]?|назначен[аоы]?"
)
_DONE = (
    r"done|completed?|succeeded|success(?:ful(?:ly)?)?|finished|failed|failure|cancel+ed|error(?:ed)?|approved|"
    r"rejected|denied|declined|closed|resolved|refunded|settled|expired|aborted|timed[ _-]?out|delivered|confirmed|"
    r"merged|"
    r"ready|killed|terminated|stopped|revoked|paid|shipped|processed|granted|"
    r"заверш[её]н[аоы]?|готов[аоы]?|выполнен[аоы]?|отмен[её]н[аоы]?|отклон[её]н[аоы]?|одобрен[аоы]?|"
    r"подтвержд[её]н[аоы]?|возвращ[её]н[аоы]?|"
    r"ошибка|исполнен[аоы]?|закрыт[аоы]?|остановлен[аоы]?|зачислен[аоы]?|согласован[аоы]?|успешно|не удалось|"
    r"отказано|доставлен[аоы]?|разрешен[аоы]?"
)
_STATUS_KEY = r"^(?!mergeable|workflow_state|review)(?:\w*_)?(?:status|state|phase|stage|статус|состояние)$"
_JOB = (
    r"ticket|job|run|operation|op|export|import|batch|deployment|deploy|build|request|approval|confirmation|"
    r"execution|agent|shell|bash|"
    r"process|refund|transfer|payout|query|workflow|background_task|task|тикет|заявка|задача|задание|операция|"
    r"возврат|запрос|процесс|выгрузка"
)
_JOB_KEY = (
    rf"^(?:\w+_)?(?:{_JOB})(?:_?(?:id|no|number|ref|uuid|handle|token|номер))?$|^(?:{_JOB})(?:Id|ID|Ref|Number)$|"
    rf"^handle$|^номер_\w+$"
)
_HANDLE_KEY = (
    r"(?:^|_)(?:id|uuid|ticket|job|task|run|operation|op|request|handle|token|ref|reference|number|no|key|name|agent|"
    r"номер|заявка|тикет|задача|заказ)$|(?:Id|ID|Ticket|Ref|Number)$"
)
_OPEN_TEXT = (
    rf"\b(?:(?:status|state|статус|состояние)\W{{1,4}}(?:{_OPEN})|queued|enqueued|"
    r"(?:is|still|now) (?:running|pending|in progress|being processed)|"
    r"(?:running|started|launched|moved) (?:in|to) (?:the )?background|background (?:task|job|agent|shell|process)|"
    r"(?:async|background) agent launched|"
    r"await\w* (?:\w+ )?(?:approval|confirmation|review)|waiting for (?:\w+ ){0,2}(?:approval|confirmation|review)|"
    r"pending (?:\w+ )?approval|"
    r"requires? (?:\w+ )?(?:approval|confirmation)|в очереди|ожида\w+ (?:\w+ )?(?:согласовани|подтверждени|одобрени|"
    r"проверк|оплат)\w+|ещ[её] выполняется|выполняется в фоне|в обработке|на согласовании|"
    r"(?:запущен\w*|работает) в фоне|поставлен\w* в очередь|требу\w+ (?:подтверждени|согласовани|одобрени)\w+)"
)
_DONE_TEXT = (
    rf"(?:\b(?:status|state|result|статус|состояние|результат)\W{{1,6}}(?:{_DONE})\b|"
    rf"\bexit(?:ed)?(?: with)?(?: code| status)?\W{{0,4}}\d|\bкод (?:возврата|выхода)\W{{0,3}}\d|"
    rf"\b(?:{_JOB}|command|approval|команда|выгрузка)\b[^.\n]{{0,60}}\b(?:{_DONE})\b)"
)
_DONE_WORD = rf"\b(?:{_DONE})\b"
_ASKS = r"approv|confirm|permission|consent|ask_?(?:user|human)|human_?input|escalat|соглас|подтвер"
_HANDLE = re.compile(r"(?<![\w./-])(?=[\w-]*\d)(?=[\w-]*[A-Za-zА-Яа-я_-])[\w]+(?:-[\w]+)*(?![\w/])")
_LABELLED = (
    r"\b(?:id|agent_?id|job|ticket|task|run|request|pid|номер|заявк[аи]|тикет|задач[аи]|задани[ея]|"
    r"процесс)\b\W{1,3}([\w-]*\d[\w-]*)"
)
_NOT_HANDLE = r"\d+(?:ms|s|m|h|kb|mb|gb|x|px|%)|\d{4}-\d\d-\d\d\S*|\d+[-:]\d+\S*|\d{1,2}"
_READS = (
    "get list search read find fetch describe query lookup show view check retrieve inspect browse select count status "
    "grep glob ls cat head tail history"
)
_WAITS, _STOPS = (
    "poll wait status output watch tail progress",
    "cancel kill stop abort terminate close revoke delete withdraw",
)
_READING, _WAITING, _STOPPING = (frozenset(words.split()) for words in (_READS, _WAITS, _STOPS))

# One of these stands in every text that the patterns above match: looked for first, at a hundredth of the price.
_OPEN_STEMS = (
    *(
        "pending",
        "queue",
        "running",
        "progress",
        "process",
        "started",
        "scheduled",
        "submitted",
        "initiat",
        "waiting",
        "flight",
    ),
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
        "not_",
        "accepted",
        "created",
    ),
)
_OPEN_STEMS_RU = (
    *(
        "очеред",
        "ожида",
        "выполн",
        "обраб",
        "соглас",
        "рассмотр",
        "провер",
        "запущен",
        "процесс",
        "принят",
        "требу",
        "статус",
    ),
    *("состоян", "создан", "отправлен", "назначен", "работает в фоне"),
)
# The same for what only a text in ASCII can match of `_OPEN_TEXT`.
_TEXT_STEMS = (
    *("status", "state", "queued", "running", "is pending", "still pending", "now pending", "progress", "background"),
    *("approval", "confirmation", "review", "being processed", "launched"),
)


@dataclass(frozen=True, slots=True)
class Status:
    """Work that one result says is under way."""

    handle: str
    """What it is known by; empty when it has no name of its own."""
    needs: tuple[str, ...]
    """The handle, and what else identifies it."""
    span: tuple[int, int]


@lru_cache(maxsize=2_048)
def _parts(name: str) -> frozenset[str]:
    """The words of a tool's name."""
    return frozenset(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[а-яё]+", name))


def is_reading(name: str) -> bool:
    """Whether a tool only looks: its results are records of things, not work that it began."""
    return not _parts(name).isdisjoint(_READING)


def is_stopping(name: str) -> bool:
    """Whether a tool ends what it is given."""
    return not _parts(name).isdisjoint(_STOPPING)


def is_asking(name: str) -> bool:
    """Whether a tool asks somebody for leave."""
    return compiled(_ASKS).search(name) is not None


def begun(text: str, tool: str) -> Status | None:
    """The open work that a result of `tool` speaks of. Lists of records, and records that are only read, are data."""
    head = text[:LONGEST_TEXT]
    low = head.lower()
    structured = low.lstrip()[:1] in ("{", "[")
    if not structured and low.isascii() and not _has_one(_TEXT_STEMS, low):
        return None
    if not _has_one(_OPEN_STEMS, low) and (low.isascii() or not _has_one(_OPEN_STEMS_RU, low)):
        return None
    return _begun_json(text, tool) if structured else _begun_text(text, head, tool)


def _begun_text(text: str, head: str, tool: str) -> Status | None:
    match = compiled(_OPEN_TEXT).search(head)
    if match is None or (is_reading(tool) and _parts(tool).isdisjoint(_WAITING)):
        return None
    start = head.rfind("\n", 0, match.start()) + 1
    line = head[start:].split("\n", 1)[0]
    labelled = [found.group(1) for found in compiled(_LABELLED).finditer(head)]
    handles = tuple(dict.fromkeys([*labelled, *(_handles(line) or _handles(head[: match.start()]))]))[:4]
    if handles:
        at = text.find(handles[0])
        return Status(handles[0], handles, (at, at + len(handles[0])))
    asks = is_asking(tool) or compiled(_ASKS).search(match.group()) is not None
    return Status("", (), (start, start + len(line.rstrip()))) if asks and len(text) <= LONGEST_TEXT else None


def _begun_json(text: str, tool: str) -> Status | None:
    reads = is_reading(tool) and _parts(tool).isdisjoint(_WAITING)
    for record in _parsed(text):
        state = _state(record)
        if state is None:
            continue
        firm = compiled(rf"^\W*(?:{_OPEN})\b").match(state) is not None
        if not firm and not compiled(rf"^\W*(?:{_OPEN_OF_JOB})\b").match(state):
            continue
        handles = {key: str(value) for key, value in record.items() if _names(key, value)}
        jobs = [value for key, value in handles.items() if compiled(_JOB_KEY).match(key)]
        if not jobs and (reads or not firm):
            continue
        if not handles:
            at = text.find(state) if is_asking(tool) else -1
            if at >= 0:
                return Status("", (), (at, at + len(state)))
            continue
        handle = jobs[0] if jobs else next(iter(handles.values()))
        at = text.find(handle)
        if at >= 0:
            needs = tuple(dict.fromkeys((handle, *handles.values())))
            return Status(handle, tuple(need for need in needs if need in text)[:6], (at, at + len(handle)))
    return None


def ended(text: str, handle: str, asked: bool) -> bool:
    """Whether a result says that the work with this handle is over. `asked`: its call named the handle."""
    if text[:80].lstrip()[:1] in ("{", "["):
        records = list(_parsed(text, deep=True))
        about = [record for record in records if handle and _is_of(record, handle, asked)]
        if not about and not asked and handle:
            return False
        states = [state for record in about or records[:2] if (state := _state(record)) is not None]
        done, begun_ = compiled(rf"^\W*(?:{_DONE})\b").match, compiled(rf"^\W*(?:{_OPEN})\b").match
        return bool(states) and any(map(done, states)) and not any(map(begun_, states))
    head = text[:LONGEST_TEXT]
    at = text.find(handle) if handle else -1
    if at >= LONGEST_TEXT:
        start = text.rfind("\n", 0, at) + 1
        head = text[start : start + LONGEST_TEXT].split("\n", 1)[0]
    if compiled(_OPEN_TEXT).search(head) is not None:
        return False
    if compiled(_DONE_TEXT).search(head) is not None:
        return True
    near = (
        rf"{re.escape(handle)}[^\n]{{0,80}}?{_DONE_WORD}|{_DONE_WORD}[^\n]{{0,40}}?{re.escape(handle)}"
        if handle
        else _DONE_WORD
    )
    return re.search(near, head, re.IGNORECASE) is not None


def _is_of(record: Mapping[str, Any], handle: str, asked: bool) -> bool:
    """Whether a record is that of the handle, and does not just mention it."""
    handles = [str(value) for key, value in record.items() if _names(key, value)]
    return handle in handles if asked else handles[:1] == [handle]


def _names(key: str, value: Any) -> bool:
    if type(value) not in (str, int) or not 3 <= len(str(value)) <= 120:
        return False
    return compiled(_HANDLE_KEY).search(key) is not None or compiled(_JOB_KEY).match(key) is not None


def _has_one(stems: Iterable[str], low: str) -> bool:
    for stem in stems:  # noqa: SIM110 - a third of the time of any()
        if stem in low:
            return True
    return False


def _handles(text: str) -> tuple[str, ...]:
    found = [match.group() for match in _HANDLE.finditer(text) if len(match.group()) >= 4]
    return tuple(value for value in found if not compiled(_NOT_HANDLE).fullmatch(value))


def _parsed(text: str, *, deep: bool = False) -> Iterator[dict[str, Any]]:
    """Records of a JSON text; none of one that is too large to be about one piece of work."""
    if len(text) > LONGEST_JSON:
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from _records(value, deep)


def _state(record: Mapping[str, Any]) -> str | None:
    for key, text in record.items():
        if isinstance(text, str) and _tells_status(key):
            return text
    return None


@lru_cache(maxsize=4_096)
def _tells_status(key: str) -> bool:
    return compiled(_STATUS_KEY).match(key) is not None


def _records(value: Any, deep: bool) -> Iterator[dict[str, Any]]:
    """The object itself and the objects directly in it; a list of one counts as its element. `deep`: of lists too."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        if value.get("type") == "text" and isinstance(value.get("text"), str):
            try:
                value = json.loads(value["text"])
            except (ValueError, RecursionError):
                return
            if not isinstance(value, dict):
                return
        yield value
        for inner in value.values():
            if isinstance(inner, dict):
                yield inner
            elif deep and isinstance(inner, list):
                yield from (entry for entry in inner if isinstance(entry, dict))
    elif deep and isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, dict))
