"""What one result or turn says of work under way: begun, with which handle, or over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from jettison.flow.borders import found, holds
from jettison.flow.patterns import compiled
from jettison.flow.records import Statement, statements
from jettison.flow.status_words import (
    DONE_WORD,
    JOB,
    JOB_NOUN,
    OPEN_TEXT,
    OPEN_WORD,
    STARTED_WORD,
    UNREACHED,
    State,
    is_told,
    partly,
)
from jettison.flow.tool_roles import asks_for_leave, is_asking, is_looking, is_polling, words_of

__all__ = ["Status", "begun", "ended"]

LONGEST_TEXT = 600
"""Characters of a plain-text result whose beginning is searched for a status."""
LONGEST_HEAD = 2_000
"""Characters of a JSON result in which a word of a status is looked for before it is parsed."""
MOST_BEGUN = 8
"""Pieces of work that one result may begin; a longer list is data."""
MOST_PLACES = 8
"""Places of a handle in one text that are read."""
MOST_WORDS = 8
"""Words for "over" in one clause that are read."""
REACH = 300
"""Characters to each side of a handle in which its clause is looked for: bounds the work on a text without a stop."""
AFTER = 40
"""Characters behind a handle in which a word for "under way" is said of it: `exp-1 (nightly, 3 files): running`."""
SHORT_ANSWER = 80
"""Characters of an answer that says nothing but "done"."""

_HANDLE = re.compile(r"(?<![\w./-])(?=[\w-]*\d)(?=[\w-]*[^\W\d]|\d+-)\w+(?:-\w+)*(?![\w/(-]|\.\w|::)")
_NUMBER = r"[\s:=#№\"'(]{1,3}(?:(?:id|no|nr|номер|number|编号|号)\b[\s:=#№.\"']{0,3})?"
_LABELLED = (
    rf"(?:\b(?:id|agent_?id|task_?id|job_?id|pid|номер)\b[\s:=#№\"'(]{{1,3}}|{JOB_NOUN}{_NUMBER}|编号[\s:：]{{0,2}})"
    r"(\w*\d\w*(?:-\w+)*|\w+(?:-\w+)*-\w*\d\w*(?:-\w+)*)(?![\w/(-]|\.\w)"
)
_NOT_HANDLE = (
    r"\d+(?:ms|s|m|h|kb|mb|gb|x|px|%)|\d{4}-\d\d-\d\d\S*|\d+[-:]\d+\S*|\d{1,2}|test_\w+|"
    r"(?:utf|sha|md|http|ipv|py|v)-?\d+"
)
_CLAUSE = re.compile(r"(?<=[.!?;])\s+|\n+|(?<=[。！？；])")
# What a shell itself says of a command that took too long, whatever the command was.
_SENT_BEHIND = r"\W*(?:command|process|shell|task)\b[^\n]{0,30}\b(?:in|to) (?:the )?background\b"
_EXITED = r"\bexit(?:ed)?(?: with)?(?: code| status)?\W{0,4}\d|\bкод (?:возврата|выхода)\W{0,3}\d"
_LABELLED_DONE = (
    rf"\b(?:status|state|result|статус|состояние|результат)\W{{1,6}}(?={DONE_WORD})|"
    rf"\b(?:{JOB}|command|команда)\b[^.\n]{{0,60}}?(?={DONE_WORD})"
)
_GOES_ON = r"^\W*(?:it|this|that|он[ао]?|это)\b"
_AND = re.compile(r"[\s,/]*(?:(?:and|or|и|или|und|y)\b|&|,)?\s*")

# One of these stands in every text that says "under way": looked for first, at a hundredth of the price.
_STEMS = (
    *("pending", "queue", "running", "progress", "process", "started", "scheduled", "submitted", "initiat", "waiting"),
    *("flight", "provision", "deploying", "hold", "await", "requires", "needs", "launched", "background", "not "),
    *("not_", "accepted", "created", "review", "under way", "underway", "ongoing", "action", "notready", "notcomplete"),
    *("ating", "arting", "stopping", "lizing", "lising", "paring", "building", "loading", "porting", "scaling"),
    *("storing", "syncing", "indexing", "rendering", "training", "compiling", "retrying", "transcoding", "crawling"),
    *("partial", "incomplete", "unfinished", "requested", "spawned", "dispatched", "triggered", "kicked off"),
    *("false", "202", "wartet", "ausstehend", "bearbeitung", "warteschlange", "laeuft", "wird ", "en curso"),
    *("en proceso", "en cola", "pendiente", "procesando", "en cours", "en attente", "em andamento", "in corso"),
)
_STEMS_BEYOND_ASCII = (
    *("очеред", "ожида", "выполн", "исполн", "обраб", "соглас", "рассм", "провер", "запуска", "запущен", "процесс"),
    *("принят", "требу", "создан", "созда", "отправлен", "передан", "направлен", "поставлен", "назначен", "начат"),
    *("модерац", "подтвержд", "работе", "формиру", "готов", "собира", "загруж", "заверш", "оконч", "работает в фоне"),
    *("стартовал", "läuft", "ausgeführt", "中", "待", "중"),
)


@dataclass(frozen=True, slots=True)
class Status:
    """Work that one result says is under way."""

    handle: str
    """What it is known by; empty when it has no name of its own."""
    needs: tuple[str, ...]
    """The handle, and what else identifies it."""
    span: tuple[int, int]


def begun(text: str, tool: str, arguments: str = "") -> tuple[Status, ...]:
    """The open work that a result of `tool` speaks of. What is only read, and long lists of records, are data."""
    structured = text[:80].lstrip()[:1] in ("{", "[")
    head = text[: LONGEST_HEAD if structured else LONGEST_TEXT]
    low = head.lower()
    if not _has_one(_STEMS, low) and (low.isascii() or not _has_one(_STEMS_BEYOND_ASCII, low)):
        return ()
    polls = is_polling(tool, arguments)
    if is_looking(tool, arguments) and not polls and not compiled(_SENT_BEHIND).match(text[:SHORT_ANSWER]):
        return ()
    told = statements(text) if structured else None
    if told is not None:
        return _begun_records(told, text, tool, polls)
    status = _begun_text(text, head, tool)
    return (status,) if status is not None else ()


def _begun_records(told: Sequence[Statement], text: str, tool: str, polls: bool) -> tuple[Status, ...]:
    about_work = _is_about_work(tool)
    out: dict[str, Status] = {}
    for one in told:
        firm = one.state is State.OPEN
        if not firm and (one.state is not State.STARTED or not (one.job or (about_work and one.handle))):
            continue
        if polls and not (one.job or about_work):
            continue  # the state of a service that was asked for
        status = _status_of(one, text, tool)
        if status is not None:
            out.setdefault(status.handle, status)
    if len(out) > 1:
        out.pop("", None)
    return tuple(out.values()) if len(out) <= MOST_BEGUN else ()


def _status_of(told: Statement, text: str, tool: str) -> Status | None:
    if not told.handle:
        at = text.find(told.word) if is_asking(tool) else -1
        return Status("", (), (at, at + len(told.word))) if at >= 0 else None
    at = found(text, told.handle)[0]
    if at < 0:
        return None
    needs = tuple(need for need in dict.fromkeys((told.handle, *told.handles)) if need in text)
    return Status(told.handle, needs[:6], (at, at + len(told.handle)))


def _begun_text(text: str, head: str, tool: str) -> Status | None:
    handles: tuple[str, ...] = ()
    match = compiled(OPEN_TEXT).search(head)
    if match is not None:
        start = head.rfind("\n", 0, match.start()) + 1
        line = head[start:].split("\n", 1)[0]
        handles = (*_labelled(head), *(_handles(line) or _handles(head[: match.start()])))
    if not handles and len(text) <= LONGEST_TEXT:  # a report, a listing or a file speaks of much that runs
        clause = next((clause for clause in _clauses(head) if _tells_open(clause, tool)), "")
        handles = (*_labelled(clause), *_handles(clause))
    handles = tuple(dict.fromkeys(handles))[:4]
    if handles:
        at = found(text, handles[0])[0]
        return Status(handles[0], handles, (at, at + len(handles[0])))
    asks = match is not None and (is_asking(tool) or asks_for_leave(match.group()))
    return Status("", (), (start, start + len(line.rstrip()))) if asks and len(text) <= LONGEST_TEXT else None


def _tells_open(clause: str, tool: str) -> bool:
    """Whether a clause says that something with a handle is under way."""
    handles = (*_labelled(clause), *_handles(clause))
    if not handles:
        return False
    noun = _is_about_work(tool) or compiled(JOB_NOUN).search(clause) is not None
    match = compiled(OPEN_WORD).search(clause)
    if match is not None and not noun:
        end = clause.find(handles[0]) + len(handles[0])
        match = match if end <= match.start() <= end + AFTER else None
    if match is None and noun:
        match = compiled(STARTED_WORD).search(clause)
    if match is None or not (is_told(clause, *match.span(), False) or partly(clause)):
        return False
    return not any(is_told(clause, *done.span(), False) for done in compiled(DONE_WORD).finditer(clause))


def ended(text: str, handle: str, asked: bool, *, polled: bool = False, spoken: bool = False) -> bool:
    """Whether a text says that the work with this handle is over.

    `asked`: its call asked for the handle, so that it need not be repeated. `polled`: that call waits for work, so
    that a bare success is its state. `spoken`: a user says it, who also asks, wishes and orders.
    """
    told = statements(text) if text[:80].lstrip()[:1] in ("{", "[") else None
    if told is not None:
        return _ended_records(told, text, handle, asked, polled)
    clauses = list(_about(text, handle)) if handle else []
    if clauses:
        return _ended_clauses(clauses, handle, asked, spoken)
    if (handle and not asked) or compiled(UNREACHED).search(text[:LONGEST_TEXT]):
        return False
    return _ended_answer(text[:LONGEST_TEXT], polled or not handle, len(text))


def _ended_records(told: Sequence[Statement], text: str, handle: str, asked: bool, polled: bool) -> bool:
    about = [one for one in told if handle and (handle in one.handles if asked else one.handles[:1] == (handle,))]
    named = bool(about)
    if not about:
        if handle and not asked:
            return False
        about = [one for one in told[:3] if not _is_like(one.handle, handle)]
        if len(about) < len(told[:3]) or compiled(UNREACHED).search(text[:LONGEST_HEAD]):
            return False
    if any(one.state in (State.OPEN, State.STARTED) for one in about):
        return False
    if any(one.state is State.DONE for one in about):
        return True
    bare = text.count("{") == 1 and "[" not in text and not any(one.word.lower() == "error" for one in about)
    return bool(about) and polled and (named or bare)


def _is_like(other: str, handle: str) -> bool:
    """Whether a handle is another one of the same kind: `exp-12` beside `exp-1`."""
    prefix = re.match(r"[^\W\d]*", handle)
    return bool(other and prefix and prefix.group() and other.startswith(prefix.group()))


def _ended_clauses(clauses: Iterable[str], handle: str, asked: bool, spoken: bool) -> bool:
    """What clauses say in which the handle stands, or that go on after one."""
    over = False
    for clause in clauses:
        if compiled(OPEN_TEXT).search(clause) or _is_open(clause):
            return False
        lost = compiled(UNREACHED).search(clause) is not None
        for match in islice(compiled(DONE_WORD).finditer(clause), MOST_WORDS):
            start, end = match.span()
            if lost and not compiled(r"^\W{1,3}(?:(?:has|was|is|had) )?$").match(_after(clause[:start], handle)):
                continue
            if is_told(clause, start, end, spoken) and (_is_subject(clause, start, end, handle, asked)):
                over = True
        over = over or (not spoken and compiled(_EXITED).search(clause) is not None)
    return over


def _is_open(clause: str) -> bool:
    match = compiled(OPEN_WORD).search(clause)
    return match is not None and is_told(clause, *match.span(), False)


def _after(before: str, handle: str) -> str:
    at = before.rfind(handle)
    return before[at + len(handle) :] if at >= 0 else ""


def _is_subject(clause: str, start: int, end: int, handle: str, asked: bool) -> bool:
    """Whether a done word at `start` to `end` is said of the handle, and not of another one in the clause."""
    places = [(match.start(), match.end()) for match in _HANDLE.finditer(clause)]
    if asked:
        places = [place for place in places if _is_like(clause[slice(*place)], handle)]
    places = [place for place in places if not compiled(_NOT_HANDLE).fullmatch(clause[slice(*place)])]
    at = clause.find(handle)
    while at >= 0:
        places = [place for place in places if place[1] <= at or place[0] >= at + len(handle)]
        places.append((at, at + len(handle)))
        at = clause.find(handle, at + len(handle))
    places.sort()
    before = [place for place in places if place[1] <= start]
    group = _joined(clause, before[::-1]) if before else _joined(clause, [place for place in places if place[0] >= end])
    named = [clause[slice(*place)] for place in group]
    return handle in named or not places


def _joined(clause: str, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first of some places, and those that an "and" joins to it."""
    group = places[:1]
    for place in places[1:]:
        first, second = sorted((group[-1], place))
        if not _AND.fullmatch(clause, first[1], second[0]):
            break
        group.append(place)
    return group


def _ended_answer(head: str, polled: bool, length: int) -> bool:
    """What an answer says that names nothing."""
    if compiled(OPEN_TEXT).search(head) is not None:
        return False
    clauses = list(_clauses(head))
    for clause in clauses:
        if polled and compiled(_EXITED).search(clause):
            return True
        for match in compiled(_LABELLED_DONE).finditer(clause):
            done = compiled(DONE_WORD).match(clause, match.end())
            if done is not None and is_told(clause, *done.span(), False):
                return True
    done = compiled(rf"^\W*{DONE_WORD}").match(head)
    return done is not None and length <= SHORT_ANSWER and len(clauses) == 1 and is_told(head, *done.span(), False)


def _about(text: str, handle: str) -> Iterator[str]:
    """The clauses of a text in which a handle stands by itself, and those that go on with "it"."""
    if not holds(text, handle):
        return
    last, places = -1, 0
    at = text.find(handle)
    while at >= 0 and places < MOST_PLACES:
        if at > last:
            start = max(text.rfind("\n", 0, at) + 1, at - REACH)
            end = text.find("\n", at, at + REACH)
            last = end if end >= 0 else min(len(text), at + REACH)
            said = False
            for clause in _clauses(text[start:last]):
                said = holds(clause, handle) or (said and compiled(_GOES_ON).match(clause) is not None)
                if said:
                    yield clause
            places += 1
        at = text.find(handle, at + len(handle))


def _clauses(text: str) -> Iterator[str]:
    return (clause for clause in _CLAUSE.split(text) if clause.strip())


def _handles(text: str) -> tuple[str, ...]:
    values = [match.group() for match in _HANDLE.finditer(text) if len(match.group()) >= 4]
    return tuple(value for value in values if not compiled(_NOT_HANDLE).fullmatch(value))


def _labelled(text: str) -> tuple[str, ...]:
    values = [match.group(1) for match in compiled(_LABELLED).finditer(text)]
    return tuple(value for value in values if len(value) >= 3 and not compiled(r"\d{4}-\d\d-\d\d.*").fullmatch(value))


def _is_about_work(tool: str) -> bool:
    """Whether a tool's name has a noun of work, and is not for entries of a list."""
    words = words_of(tool)
    return any(compiled(rf"^(?:{JOB})s?$").match(word) for word in words) and "todo" not in words


def _has_one(stems: Iterable[str], low: str) -> bool:
    for stem in stems:  # noqa: SIM110 - a third of the time of any()
        if stem in low:
            return True
    return False
