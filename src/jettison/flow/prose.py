"""Prose: the sentences of a text, without pasted data, and which of them bind the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jettison.flow.constraints import constraint_cue
from jettison.flow.quoting import maybe_printed, printed, repeated

__all__ = ["LONGEST_CONSTRAINT", "is_data", "rules_of", "sentences"]

LONGEST_CONSTRAINT = 400
"""Characters; a longer "sentence" is pasted text or a document, and is cut to the clause around its cue."""

_BREAK = re.compile(r"(?<=[.!?…])(?<![Mm]ax\.)(?<![Мм]акс\.)[\"')\]]*\s+|(?<=[。！？])|\n+")
_DATA = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|[{}\[\]<|]|#include|import\s|from\s\w+\simport|def\s|class\s|return\b|"
    r"\w+\s*[=(].*[;)]$|at\s\S+\(|File\s\")"
)
_BLOB = re.compile(r"[A-Za-z0-9+/=]{60,}")
_PAIRS = re.compile(r"(?:\w+=\S+\s+){2,}")
_WORDY = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each sentence or line, white space trimmed."""
    start = 0
    for match in _BREAK.finditer(text):
        yield from _trimmed(text, start, match.start())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end


def is_data(line: str) -> bool:
    """Whether a line is pasted data (log, code, JSON, table, base64) and not something said."""
    if _DATA.match(line) or (len(line) >= 60 and _BLOB.search(line)) or (line.count("=") > 1 and _PAIRS.search(line)):
        return True
    letters = sum(map(str.isalpha, line))
    return letters < 0.5 * (len(line) - line.count(" ")) or not _WORDY.search(line)


def rules_of(text: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, False) of each sentence that is prose; (start, end, True) of each piece that binds."""
    quoted = iter(repeated(text))
    hidden = next(quoted, None)
    line, told = slice(0, 0), False
    for start, end in sentences(text):
        if start >= line.stop:
            last, line = line, slice(start, _line_end(text, start))
            told = _told(text, last, line)
        if is_data(text[start:end]):
            continue
        yield start, end, False
        while hidden is not None and hidden[1] <= start:
            hidden = next(quoted, None)
        if told or (hidden is not None and hidden[0] <= start and end <= hidden[1]):
            continue
        cue = constraint_cue(text[start:end])
        if cue is not None:
            yield *_around(text, start, end, start + cue), True


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def _told(text: str, last: slice, line: slice) -> bool:
    """Whether a program says a line. Where a person may say it as well, the line before or the one behind decides."""
    said = text[line][:LONGEST_CONSTRAINT]
    if printed(said):
        return True
    if not maybe_printed(said):
        return False
    following = text[line.stop + 1 : _line_end(text, line.stop + 1)]
    joined = last.stop > 0 and not text[last.stop + 1 : line.start].strip(" \t")
    return _is_foreign(following) or (joined and _is_foreign(text[last]))


def _is_foreign(line: str) -> bool:
    line = line[:LONGEST_CONSTRAINT].strip()
    return bool(line) and (printed(line) or is_data(line))


def _around(text: str, start: int, end: int, cue: int) -> tuple[int, int]:
    """The sentence, or of a very long one the part around its cue, cut at white space."""
    if end - start <= LONGEST_CONSTRAINT:
        return start, end
    left = max(start, cue - LONGEST_CONSTRAINT // 2)
    right = min(end, cue + LONGEST_CONSTRAINT // 2)
    while left > start and not text[left - 1].isspace():
        left -= 1
    while right < end and not text[right].isspace():
        right += 1
    return left, right
