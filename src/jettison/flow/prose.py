"""Prose: the sentences of a text, without pasted data, and which of them bind the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jettison.flow.clauses import commands
from jettison.flow.constraints import constraint_cue
from jettison.flow.prompts import fields
from jettison.flow.quoting import maybe_printed, printed, repeated

__all__ = ["LONGEST_CONSTRAINT", "is_data", "is_label", "rules_of", "sentences"]

LONGEST_CONSTRAINT = 400
"""Characters; a longer "sentence" is pasted text or a document, and is cut to the clause around its cue."""

_BREAK = re.compile(r"(?<=[.!?…])(?<![Mm]ax\.)(?<![Мм]акс\.)[\"')\]]*\s+|(?<=[。！？])|\n+")
_DATA = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|[{}\[\]<|]|#include|import\s|from\s\w+\simport|def\s|class\s|return\b|"
    r"\w+\s*[=(].*[;)]$|at\s\S+\(|File\s\"|"
    r"commit [0-9a-f]{7,40}\b)"
)
_BLOB = re.compile(r"[A-Za-z0-9+/=]{60,}")
_PAIRS = re.compile(r"(?:\w+=\S+\s+){2,}")
_OPENS = re.compile(r"[\s\"'«“*•-]*(?![A-Z]{3,}\b)[^\W\d_]+['’]?[^\W\d_]*(?=[\s,:])")
"""A word, and no level of a log or method of HTTP."""
_PLAIN = re.compile(r"(?<![\w./@#+-])[^\W\d_]+(?![\w/@#+=-])")
_UNSPACED = re.compile(r"\W*[\u3040-\u30ff\u3400-\u9fff]{3,}|[^\w]*[\u3040-\u30ff\u3400-\u9fff]{2,}.{0,200}[。！？]$")
_LINK_WORDS = (
    "to for with from and into as by of or on и с со на в из для от до по или an am für mit von zum und auf al con "
    "para y à pour avec et"
)
_LINKS = frozenset(_LINK_WORDS.split())
_ASKING = re.compile(
    r"\W*(?:what|why|how|who|where|when|which|is|are|do|does|did|can|could|что|почему|как|зачем|кто|где|когда|как\w+)\b",
    re.IGNORECASE,
)
LABEL = 6
"""Words of a label. By judgement: "Here is the log of today:" has six."""
LONGEST_SAID, WORDS = 300, 4
"""Characters and plain words of a sentence that is figures for the most part. By judgement, on the 30 sentences and
28 rows of test_prose.py."""
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
    if not _WORDY.search(line):
        return True
    letters = sum(map(str.isalpha, line))
    return letters < 0.5 * (len(line) - line.count(" ")) and not _is_said(line)


def _is_said(line: str) -> bool:
    """Whether a line that is mostly figures is a sentence about them: "Refund ORD-5512-8871 to IBAN AT61 …"."""
    if len(line) > LONGEST_SAID:
        return False
    if _UNSPACED.match(line):
        return True
    if _OPENS.match(line) is None:
        return False
    words = [word.lower() for word in _PLAIN.findall(line)]
    if sum(len(word) > 1 for word in words) >= WORDS or not _LINKS.isdisjoint(words[1:]):
        return True
    return commands(line) or constraint_cue(line) is not None


def is_label(line: str) -> bool:
    """Whether a line only says what the data on it, or behind it, is: "Log:", "More noise: 09:00:00 INFO …"."""
    head, colon, rest = line.partition(":")
    if not colon or (rest.strip() and not is_data(rest.strip())):
        return False
    words = head.split()
    if not 0 < len(words) <= LABEL or "?" in head or _ASKING.match(head):
        return False
    return len(words) == 1 or (not commands(head) and constraint_cue(head) is None)


def rules_of(text: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, False) of each sentence that is prose; (start, end, True) of each piece that binds."""
    for start, end in fields(text):
        yield start, end, False
        if constraint_cue(text[start:end]) is not None:
            yield start, end, True
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
