"""Cut the text of an item into segments: one JSON leaf with its record's path, or one line of text.

Recipe and lengths: algorithm.md ("Segmentation"). Granularity is worth more than knowing the future: keeping the
right lines and leaves of many results beats a clairvoyant choice of whole results on five of five sets.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from jettison.flow.pages import visible

__all__ = [
    "DEEPEST",
    "LONG_KEY",
    "LONG_LINE",
    "Segment",
    "Segmented",
    "as_lines",
    "grapheme_cut",
    "lines_of",
    "parsed",
    "segment",
]

LONG_LINE = 240
"""Characters above which a line, or a string leaf, is cut (algorithm.md)."""
DEEPEST = 60
"""Levels of nesting that are opened; what is deeper is one leaf."""
LONG_KEY = 120
"""Characters of a key that a record's path repeats: a long one above many records would make them quadratic."""
PIECE = 160
"""About how long the pieces are (algorithm.md)."""
_SEPARATOR = re.compile(r"[.!?。！？;,|]\s|[。！？；，]|\s")
_ESCAPED_BREAK = re.compile(r"(?<!\\)\\n")
_BLANKS = re.compile(r"\n{5,}")
_RUN_OF_BLANKS = "\n" * 5
_LONE = frozenset("\u200d\ufe0e\ufe0f\u20e3")


class Segment(NamedTuple):
    """The smallest piece of an item that is kept or cut. A tuple: there are many of them."""

    text: str
    """As it is rendered: the line, or the leaf's value."""
    record: str = ""
    """Path of the JSON object or list it stands in; of text: empty."""
    key: str = ""
    """Key of a leaf; of text and of the lines of a long leaf: empty."""
    start: int = -1
    """Offset in `Segmented.text`, -1 for JSON."""
    line: int = 0
    """Ordinal of the source line, or of the record."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Segmented:
    """All segments of one text, in order."""

    segments: tuple[Segment, ...]
    structured: bool
    """True: JSON leaves. False: lines of `text`."""
    text: str
    """The text the offsets point into (unescaped, unwrapped; of an HTML page what a reader sees of it)."""


def segment(text: str) -> Segmented:
    """Segments of an item's text. Linear in its length; never raises."""
    inner = _unwrap(text)
    inner = visible(inner) or inner
    value = parsed(inner)
    if value is not None:
        try:
            leaves = tuple(_Leaves(value).out)
        except RecursionError:  # nested just as deep as the parser goes
            leaves = ()
        if leaves:
            return Segmented(leaves, True, inner)
    if inner.count("\\n") >= 3 and len(_ESCAPED_BREAK.findall(inner)) > inner.count("\n"):
        inner = _ESCAPED_BREAK.sub("\n", inner).replace("\\t", "\t").replace('\\"', '"')
    return Segmented(tuple(lines_of(inner)), False, inner)


def as_lines(text: str) -> Segmented:
    """Lines of the text as it is, JSON or not: offsets in it are offsets in `Segmented.text`."""
    return Segmented(tuple(lines_of(text)), False, text)


def _unwrap(text: str) -> str:
    """Open a `{"type": "text", "text": …}` wrapper, alone or as a list of one, as MCP servers send it."""
    if text[:80].lstrip()[:1] in ("{", "[") and '"text"' in text:
        value = parsed(text)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict) and value.get("type") == "text" and isinstance(value.get("text"), str):
            return str(value["text"])
    return text


def parsed(text: str) -> Any:
    """The JSON object or list that the text is, else None."""
    if text[:80].lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


class _Leaves:
    """The leaves of a JSON value, depth first, in source order; records are numbered as they appear."""

    def __init__(self, value: Any) -> None:
        self.out: list[Segment] = []
        self.record: str | None = None
        self.line = -1
        self.walk(value, "", "", 0)

    def walk(self, value: Any, record: str, key: str, depth: int) -> None:
        kind = type(value)  # of what the parser gives: no subclasses
        if kind is str:
            if len(value) > 40 or "\n" in value:
                self.string(value, record, key, depth)
            else:
                self.add(record, key, value)
        elif (kind is dict or kind is list) and value and depth <= DEEPEST:
            key = key[:LONG_KEY]
            path = f"{record}.{key}" if record and key else record or key
            if kind is dict:
                for name, inner in value.items():
                    self.walk(inner, path, name, depth + 1)
            else:
                for index, inner in enumerate(value):
                    if isinstance(inner, (dict, list)):
                        self.walk(inner, f"{path}[{index}]", "", depth + 1)
                    else:
                        self.walk(inner, path, f"[{index}]", depth + 1)
        elif kind is int or (kind is float and isfinite(value)):
            self.add(record, key, repr(value))
        else:
            self.add(record, key, json.dumps(value, ensure_ascii=False))

    def string(self, value: str, record: str, key: str, depth: int) -> None:
        inner = parsed(value) if len(value) > 40 else None
        if inner is not None:
            self.walk(inner, record, key, depth + 1)
        elif len(value) > LONG_LINE or "\n" in value:
            path = f"{record}.{key}" if record and key else record or key
            for line in lines_of(value):
                if line.text.strip():
                    self.add(path, "", line.text)
        else:
            self.add(record, key, value)

    def add(self, record: str, key: str, text: str) -> None:
        if record != self.record:
            self.record = record
            self.line += 1
        self.out.append(_new(Segment, (text, record, key, -1, self.line)))


_new = tuple.__new__
"""A third of the time of a named tuple's own constructor."""


def lines_of(text: str) -> list[Segment]:
    """One segment a line, pieces of a long one. Of a run of empty lines the first two and the last: they say nothing
    that the ordinals of the lines do not say, and an object each takes 50 times as long as counting them."""
    if _RUN_OF_BLANKS not in text:
        return _lines(text, 0, 0)
    out: list[Segment] = []
    start = number = 0
    for run in _BLANKS.finditer(text):
        last = run.start() + 2
        out += _lines(text[start:last], start, number)
        number = out[-1].line + run.end() - 1 - last
        start = run.end() - 1
    return out + _lines(text[start:], start, number)


def _lines(text: str, start: int, number: int) -> list[Segment]:
    """Segments of the lines of a text that begins at an offset, with its first line's ordinal."""
    out: list[Segment] = []
    for line in text.split("\n"):
        if len(line) <= LONG_LINE:
            out.append(_new(Segment, (line, "", "", start, number)))
        else:
            offset = 0
            for piece in _pieces(line):
                out.append(_new(Segment, (piece, "", "", start + offset, number)))
                offset += len(piece)
        start += len(line) + 1
        number += 1
    return out


def _pieces(line: str) -> Iterator[str]:
    """Pieces of about `PIECE` characters, cut after a separator where there is one, else between graphemes."""
    start = 0
    while len(line) - start > LONG_LINE:
        cut = 0
        for match in _SEPARATOR.finditer(line, start + PIECE // 2, start + LONG_LINE):
            cut = match.end()
            if cut >= start + PIECE:
                break
        # A piece begins between graphemes, so nothing before it matters (a run of flags is read from its start).
        cut = cut or start + grapheme_cut(line[start : start + LONG_LINE], PIECE)
        yield line[start:cut]
        start = cut
    yield line[start:]


def grapheme_cut(text: str, at: int) -> int:
    """The nearest place at or before `at` that is not inside a grapheme cluster (at most 64 characters back).

    Covers combining marks, variation selectors, joiners, emoji modifiers, tags and flags, which is what UAX #29
    forbids to split in the scripts we know to be sent; the stdlib has no full implementation.
    """
    place = max(0, min(at, len(text)))
    for _ in range(64):
        if place <= 0 or place >= len(text) or not _inside(text, place):
            return place
        place -= 1
    return place


def _inside(text: str, at: int) -> bool:
    after, before = text[at], text[at - 1]
    if after in _LONE or before == "\u200d" or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if before == "\r" and after == "\n":
        return True
    if _flag(after) and _flag(before):
        run = 0
        while at - 1 - run >= 0 and _flag(text[at - 1 - run]):
            run += 1
        return run % 2 == 1
    return False


def _flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
