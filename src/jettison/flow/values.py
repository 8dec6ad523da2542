"""Values: identifiers, paths, names, numbers, dates, quoted strings; and how likely a call needs one of that shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from jettison.flow.segments import Segment
from jettison.flow.weights import SHAPES

__all__ = ["argument_values", "canonical", "segment_values", "shape", "shape_worth", "text_values"]

MOST = 40
"""Candidate values of one segment at most (algorithm.md)."""
SHORTEST, LONGEST = 4, 60
"""Length of a value, characters (bench.md: needed values are strings of 4 to 60 characters)."""

_TOKEN = re.compile(r"[\w][\w./@~:+#-]*[\w]", re.UNICODE)
_QUOTED = re.compile(r"\"([^\"\n]{4,60})\"|'([^'\n]{4,60})'|`([^`\n]{4,60})`|«([^»\n]{4,60})»")
_AFTER_KEY = re.compile(r"^\s*[-*]?\s*[\w .()-]{1,40}[:=]\s*(\S.{2,59})$")
_EDGE = " \t\r\n\"'`()[]{}<>,;.:/!?«»*|\\"
_SPACE = re.compile(r"\s+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_HEX = re.compile(r"[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-.*")
_CAMEL = re.compile(r"[a-zа-яё][A-ZА-ЯЁ]|^[A-ZА-ЯЁ][a-zа-яё]{3,}")
_MEASURE = re.compile(r"\d[\d.,]*(?:[nuµm]?s|secs?|m(?:ins?)?|h(?:rs?)?|days?|[kmgt]?i?b(?:/s)?|px|%|x)")
"""A duration, a size: it has letters and digits like an identifier, and names nothing."""
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")


# The caches below hold what has just been read: eight times as large they save no time that can be measured in replays,
# and keep a megabyte more.


def canonical(text: str) -> str:
    """A value as it is compared: lower case, white space folded, punctuation at the edges gone."""
    found = _SPACE.sub(" ", text).strip(_EDGE).lower()
    return text if found == text else found  # most are so already: one object, not two


@lru_cache(maxsize=2_048)
def _token_value(token: str) -> str | None:
    """The value a token of running text is, or None for an ordinary word."""
    token = token.strip(_EDGE)
    if not 3 <= len(token) <= 200:
        return None
    if token.isdigit():
        return token if len(token) >= 4 else None
    if token.isalpha():
        return _lower(token) if len(token) >= SHORTEST and _CAMEL.search(token) else None
    structured = any(mark in token for mark in "/._@-:#") or (_DIGIT.search(token) and _LETTER.search(token))
    return _lower(token) if structured and len(token) >= SHORTEST else None


def _lower(token: str) -> str:
    """In lower case; the same object where it is so already."""
    low = token.lower()
    return token if low == token else low


def text_values(text: str) -> Iterator[str]:
    """Values of running text, with repeats."""
    for token in _TOKEN.findall(text):
        value = _token_value(token)
        if value is not None:
            yield value
    if '"' in text or "'" in text or "`" in text or "«" in text:
        for groups in _QUOTED.findall(text):
            value = canonical(next(filter(None, groups)))
            if len(value) >= SHORTEST:
                yield value


def segment_values(segment: Segment) -> tuple[str, ...]:
    """Candidate values of a segment, each once, at most `MOST`: the whole leaf or line, what follows a key, tokens."""
    return _values_of(segment.text, bool(segment.key))


@lru_cache(maxsize=512)
def _values_of(text: str, leaf: bool) -> tuple[str, ...]:
    found: dict[str, None] = {}
    if len(text) <= LONGEST:
        whole = canonical(text)
        if len(whole) >= SHORTEST and whole not in ("true", "false", "null", "none"):
            found[whole] = None
    elif not leaf and len(text) <= 120:
        match = _AFTER_KEY.match(text)
        if match:
            found[canonical(match.group(1))] = None
    if not leaf and 0 < text.find(":") < 42 and len(text) <= LONGEST:
        match = _AFTER_KEY.match(text)
        if match:
            found[canonical(match.group(1))] = None
    for value in text_values(text):
        found[value] = None
        if len(found) >= MOST:
            break
    found.pop("", None)
    return tuple(found)


def argument_values(arguments: str, split: int = 12) -> list[tuple[str, str]]:
    """(argument name, value) of a call's arguments: leaves of 4 to 60 characters as they are, longer ones by token.

    Leaves over `split` characters give their tokens too. Numbers below 1000 in size, booleans and nulls say nothing.
    Arguments that are not JSON are read as text.
    """
    try:
        parsed = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        parsed = arguments
    return list(_argument_leaves(parsed, "", split))


def _argument_leaves(value: Any, name: str, split: int, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _argument_leaves(inner, str(key), split, depth + 1) if depth < 60 else ()
    elif isinstance(value, list):
        for inner in value:
            yield from _argument_leaves(inner, name, split, depth + 1) if depth < 60 else ()
    elif isinstance(value, str):
        whole = canonical(value)
        if SHORTEST <= len(whole) <= LONGEST and "\n" not in value:
            yield name, whole
        if len(whole) > split:
            for part in list(dict.fromkeys(text_values(value)))[:MOST]:
                if part != whole:
                    yield name, part
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= 1000:
        yield name, str(value)


def shape_worth(value: str) -> float:
    """Log-odds that a value of this shape is needed by a later call. Weights: algorithm.md ("Worth"), fitted on
    half of the tasks of five recorded sets; without them support at 25 % falls by 13.8 points on tau-airline, by 2–3
    on three others."""
    return SHAPES[shape(value)]


def shape(value: str) -> str:
    """What a canonical value looks like: a key of `SHAPES`."""
    if "@" in value and "." in value:
        return "email"
    if _DATE.search(value):
        return "date"
    if "/" in value:
        return "path"
    if _HEX.fullmatch(value):
        return "hex"
    if " " in value:
        return "phrase"
    if "_" in value:
        return "snake_number" if _DIGIT.search(value) else "snake"
    if _DIGIT.search(value) and _LETTER.search(value):
        return "number" if _MEASURE.fullmatch(value) else "letters_digits"
    if "." in value or "-" in value:
        return "dotted"
    return "number" if value.isdigit() else "word"
