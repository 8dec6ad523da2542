"""Borders: whether a value stands in a text by itself, or only inside a longer one."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["found", "holds", "says_as"]

LONGEST_GROUP = 3
"""Digits beside a comma that parts thousands or decimals (`1,042`); with more of them it parts a list
(`48213,48214`). By how numbers are written, not by measurement."""


def holds(text: str, value: str) -> bool:
    """Whether a value stands in a text by itself: `ORD-1` is not in `ORD-12`, `ORD-1-B`, `X-ORD-1` or `XORD-1`, and
    `42` is in `ORD-42` and not in `42.50`."""
    return _alone(text, value) >= 0


def found(text: str, value: str) -> tuple[int, bool]:
    """(where a value stands in a text, whether by itself): the first place where it does, else the first, else -1."""
    first = text.find(value)
    if first < 0:
        return -1, False
    at = _alone(text, value, first)
    return (at, True) if at >= 0 else (first, False)


def says_as(source: str, value: str) -> Callable[[str], bool]:
    """A test of texts: whether they say a value as the source does, by itself unless it stands there only inside a
    longer one."""
    return (lambda text: holds(text, value)) if holds(source, value) else (lambda text: value in text)


def _alone(text: str, value: str, at: int = 0) -> int:
    at = text.find(value, at) if value else -1
    while at >= 0:
        if not _begun_before(text, at, value) and not _goes_on(text, at + len(value), value):
            return at
        at = text.find(value, at + 1)
    return -1


def _begun_before(text: str, at: int, value: str) -> bool:
    """Whether what ends before `at` and the value are one word."""
    before = text[max(0, at - 2) : at]
    if not before or not _joins(value[0]) or before in ("\\n", "\\t", "\\r"):  # white space inside a JSON string
        return False
    return _joins(before[-1]) or (len(before) == 2 and _glued(before[1], before[0], value, value[0]))


def _goes_on(text: str, end: int, value: str) -> bool:
    """Whether the value and what begins at `end` are one word."""
    after = text[end : end + 2]
    if not after or not _joins(value[-1]):
        return False
    return _joins(after[0]) or (len(after) == 2 and _glued(after[0], after[1], value, value[-1]))


def _glued(mark: str, beyond: str, value: str, edge: str) -> bool:
    """Whether a mark between the edge of a value and a character makes them one: `ORD-1-B`, `42.50`."""
    if mark == "." or (mark == "," and len(value) <= LONGEST_GROUP):
        return edge.isdigit() and beyond.isdigit()
    return mark in "-_" and _joins(beyond) and not value.isdigit()


def _joins(char: str) -> bool:
    """Letters and digits of scripts that are written with spaces."""
    return char.isalnum() and not ("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af")
