"""Handles in plain text: what looks like the id of work, with a label before it or by its form; and clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jettison.flow.patterns import compiled
from jettison.flow.status_words import JOB_NOUN

__all__ = ["clauses_of", "handles_in", "labelled_in", "places_of_handles"]

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


def clauses_of(text: str) -> Iterator[str]:
    return (clause for clause in _CLAUSE.split(text) if clause.strip())


def handles_in(text: str) -> tuple[str, ...]:
    values = [match.group() for match in _HANDLE.finditer(text) if len(match.group()) >= 4]
    return tuple(value for value in values if not compiled(_NOT_HANDLE).fullmatch(value))


def labelled_in(text: str) -> tuple[str, ...]:
    values = [match.group(1) for match in compiled(_LABELLED).finditer(text)]
    return tuple(value for value in values if len(value) >= 3 and not compiled(r"\d{4}-\d\d-\d\d.*").fullmatch(value))


def places_of_handles(text: str) -> list[tuple[int, int]]:
    """(start, end) of what looks like a handle."""
    places = [match.span() for match in _HANDLE.finditer(text)]
    return [place for place in places if not compiled(_NOT_HANDLE).fullmatch(text[slice(*place)])]
