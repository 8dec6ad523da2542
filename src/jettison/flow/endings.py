"""Whether a result or a turn says that work is over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from jettison.flow.borders import holds
from jettison.flow.handles import clauses_of, places_of_handles
from jettison.flow.patterns import compiled
from jettison.flow.records import Statement, prose_of, statements
from jettison.flow.status_words import DONE_WORD, JOB, OPEN_TEXT, OPEN_WORD, UNREACHED, State, is_told

__all__ = ["ended"]

LONGEST_TEXT = 600
"""Characters of an answer that names no handle in which a status is looked for."""
LONGEST_HEAD = 2_000
"""The same of a JSON answer."""
MOST_PLACES = 8
"""Places of a handle in one text that are read."""
MOST_WORDS = 8
"""Words for "over" in one clause that are read."""
REACH = 300
"""Characters to each side of a handle in which its clause is looked for: bounds the work on a text without a stop."""
SHORT_ANSWER = 80
"""Characters of an answer that says nothing but "done"."""

_EXITED = r"\bexit(?:ed)?(?: with)?(?: code| status)?\W{0,4}\d|\bкод (?:возврата|выхода)\W{0,3}\d"
_LABELLED_DONE = (
    rf"\b(?:status|state|result|статус|состояние|результат)\W{{1,6}}(?={DONE_WORD})|"
    rf"\b(?:{JOB}|command|команда)\b[^.\n]{{0,60}}?(?={DONE_WORD})"
)
_GOES_ON = r"^\W*(?:it|this|that|он[ао]?|это)\b"
_AND = re.compile(r"[\s,/]*(?:(?:and|or|и|или|und|y)\b|&|,)?\s*")


def ended(
    text: str, handle: str, asked: bool, *, looked: bool = False, polled: bool = False, spoken: bool = False
) -> bool:
    """Whether a text says that the work with this handle is over.

    `asked`: its call asked for the handle, so that it need not be repeated. `looked`: the call only looks, so that the
    success of a record is that of the work. `polled`: it waits for the work, so that a bare success is its state.
    `spoken`: a user says it, who also asks, wishes and orders.
    """
    told = statements(text) if text[:80].lstrip()[:1] in ("{", "[") else None
    if told is not None:
        if not told:
            said = prose_of(text)
            return bool(said) and ended(said, handle, asked, polled=polled, spoken=spoken)
        return _ended_records(told, text, handle, asked, looked or polled, polled)
    clauses = list(_about(text, handle)) if handle else []
    if clauses:
        return _ended_clauses(clauses, handle, asked, spoken)
    if (handle and not asked) or compiled(UNREACHED).search(text[:LONGEST_TEXT]):
        return False
    return _ended_answer(text[:LONGEST_TEXT], polled or not handle, len(text))


def _ended_records(told: Sequence[Statement], text: str, handle: str, asked: bool, looked: bool, polled: bool) -> bool:
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
    return bool(about) and ((named and looked) or (bare and polled))


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
    places = places_of_handles(clause)
    if asked:
        places = [place for place in places if _is_like(clause[slice(*place)], handle)]
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
    clauses = list(clauses_of(head))
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
            for clause in clauses_of(text[start:last]):
                said = holds(clause, handle) or (said and compiled(_GOES_ON).match(clause) is not None)
                if said:
                    yield clause
            places += 1
        at = text.find(handle, at + len(handle))
