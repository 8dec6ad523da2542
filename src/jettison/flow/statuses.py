"""What one result says of work under way: begun, and with which handle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jettison.flow.borders import found
from jettison.flow.endings import ended
from jettison.flow.handles import clauses_of, handles_in, labelled_in
from jettison.flow.patterns import compiled
from jettison.flow.records import Statement, prose_of, statements
from jettison.flow.status_words import (
    DONE_WORD,
    JOB,
    JOB_NOUN,
    OPEN_TEXT,
    OPEN_WORD,
    STARTED_WORD,
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
AFTER = 40
"""Characters behind a handle in which a word for "under way" is said of it: `exp-1 (nightly, 3 files): running`."""

# What a shell itself says of a command that took too long, whatever the command was.
_SENT_BEHIND = r"\W*(?:command|process|shell|task)\b[^\n]{0,30}\b(?:in|to) (?:the )?background\b"
# One of these stands in every text that says "under way": looked for first, at a hundredth of the price.
_STEMS = (
    *("pending", "queue", "running", "progress", "process", "started", "scheduled", "submitted", "initiat", "waiting"),
    *("flight", "provision", "deploying", "hold", "await", "requires", "needs", "launched", "background", "not "),
    *("not_", "accepted", "created", "review", "under way", "underway", "ongoing", "action", "notready", "notcomplete"),
    *("ating", "arting", "stopping", "lizing", "lising", "paring", "building", "loading", "porting", "scaling"),
    *("storing", "syncing", "indexing", "rendering", "training", "compiling", "retrying", "transcoding", "crawling"),
    *("partial", "incomplete", "unfinished", "requested", "spawned", "dispatched", "triggered", "kicked off"),
    *("false", "202", "percent", "wartet", "ausstehend", "bearbeitung", "warteschlange", "laeuft", "wird ", "en curso"),
    *("en proceso", "en cola", "pendiente", "procesando", "en cours", "en attente", "em andamento", "in corso"),
)
_STEMS_BEYOND_ASCII = (
    *("очеред", "ожида", "ждёт", "ждет", "ждём", "ждем", "выполн", "исполн", "обраб", "соглас", "рассм", "провер"),
    *("запуска", "запущен", "процесс", "принят", "требу", "создан", "созда", "отправлен", "передан", "направлен"),
    *("поставлен", "назначен", "начат", "модерац", "подтвержд", "работе", "формиру", "готов", "собира", "загруж"),
    *(
        "заверш",
        "оконч",
        "работает в фоне",
        "стартовал",
        "прогресс",
        "процент",
        "läuft",
        "ausgeführt",
        "中",
        "待",
        "중",
    ),
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
    if is_looking(tool, arguments) and not polls and not compiled(_SENT_BEHIND).match(text[:LONGEST_TEXT]):
        return ()
    told = statements(text) if structured else None
    if told:
        return _begun_records(told, text, tool, polls)
    if told is not None:
        head = prose_of(text)[:LONGEST_TEXT]
    status = _begun_text(text, head, tool) if head else None
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
        handles = (*labelled_in(head), *(handles_in(line) or handles_in(head[: match.start()])))
    if not handles and (
        len(text) <= LONGEST_TEXT or len(head) < LONGEST_TEXT
    ):  # a report, a listing or a file speaks of much that runs
        clause = next((clause for clause in clauses_of(head) if _tells_open(clause, tool)), "")
        handles = (*labelled_in(clause), *handles_in(clause))
    handles = tuple(dict.fromkeys(handles))[:4]
    if handles:
        at = found(text, handles[0])[0]
        return Status(handles[0], handles, (at, at + len(handles[0])))
    asks = match is not None and (is_asking(tool) or asks_for_leave(match.group()))
    return Status("", (), (start, start + len(line.rstrip()))) if asks and len(text) <= LONGEST_TEXT else None


def _tells_open(clause: str, tool: str) -> bool:
    """Whether a clause says that something with a handle is under way."""
    handles = (*labelled_in(clause), *handles_in(clause))
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


def _is_about_work(tool: str) -> bool:
    """Whether a tool's name has a noun of work, and is not for entries of a list."""
    words = words_of(tool)
    return any(compiled(rf"^(?:{JOB})s?$").match(word) for word in words) and "todo" not in words


def _has_one(stems: Iterable[str], low: str) -> bool:
    for stem in stems:  # noqa: SIM110 - a third of the time of any()
        if stem in low:
            return True
    return False
