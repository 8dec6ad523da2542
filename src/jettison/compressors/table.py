"""Tables as text (CSV, TSV, Markdown, aligned columns): the header, the edges, totals and the rows that stand out."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jettison.compressors.log import FEW, RARE, beside, stamped
from jettison.compressors.outline import Outline
from jettison.compressors.trouble import trouble
from jettison.compressors.unusual import unusual
from jettison.flow.segments import Segmented

__all__ = ["outline"]

FEWEST = 4
"""Rows, the header included, below which a text is no table."""
LEAST = 0.9
"""Share of the lines that have the table's number of columns."""
MOST_COLUMNS = 100
"""Columns that are searched for unusual values."""
_SAMPLE = 100

_RULE = re.compile(r"[\s|+:=\-─━┼│]{3,}$")
_RULE_BEGINS = frozenset(" \t|+:=-─━┼│")
_TOTAL = re.compile(
    r"[\s|\"']*(?:(?:grand |sub)?totals?|sum|average|avg|mean|итого|всего|сумма|среднее|итог)\b", re.IGNORECASE
)
_GAP = re.compile(r"\s{2,}|\t")
_NUMBER = re.compile(r"[\s$€₽]*[-+]?\d[\d\s.,:/%-]*$")


@dataclass(frozen=True, slots=True)
class _Rows:
    """Lines of a table, each by the ordinals of its segments."""

    delimiter: str
    """`,` `;` tab `|`, or empty: two or more spaces."""
    lines: list[str]
    numbers: list[int]
    """Of each line: its first segment."""


def outline(parts: Segmented) -> Outline | None:
    """The outline of a text nearly all lines of which have the same number of columns."""
    if parts.structured or len(parts.segments) < FEWEST:
        return None
    found = _read(parts)
    if found is None:
        return None
    cells = [_split(line, found.delimiter) for line in found.lines]
    width = Counter(map(len, cells)).most_common(1)[0][0]
    rules = {row for row, line in enumerate(found.lines) if line[0] in _RULE_BEGINS and _RULE.match(line)}
    rows = [row for row, line in enumerate(cells) if len(line) == width and row not in rules]
    if width < 2 or len(rows) < max(FEWEST - 1, LEAST * (len(cells) - len(rules))):
        return None
    header = rows[0] if _is_header(cells[rows[0]]) else None
    body = rows if header is None else rows[1:]
    if header is None and (width < 3 or not found.delimiter or stamped(found.lines)):
        return None  # lines of a log, numbered lines, text with wide gaps
    if found.delimiter == "\t" and _numbered([cells[row][0] for row in body]):
        return None  # a file as `cat -n` shows it
    bad = {body[index] for index in trouble([found.lines[row] for row in body])}
    odd = _odd(cells, body, width) | bad
    few = odd if len(odd) * 4 <= len(body) or len(body) < 12 else set()
    weights = _weights(parts, found, header, body, few)
    labels = {} if header is None else _labels(parts, found, header)
    alarms = sorted(found.numbers[row] for row in bad) if len(bad) <= max(FEW, RARE * len(body)) else []
    if len(parts.segments) == parts.segments[-1].line + 1:
        labels |= beside(alarms, len(parts.segments), found.numbers[body[0]])

    def about(cut: Sequence[int]) -> str:
        gone = {parts.segments[index].line for index in cut}
        rows_gone = sum(parts.segments[found.numbers[row]].line in gone for row in body)
        kept = sum(parts.segments[found.numbers[row]].line not in gone for row in few)
        tail = f", {kept} of {len(few)} unusual ones kept" if few else ""
        return f"{rows_gone} of {len(body)} rows cut{tail}" if rows_gone else ""

    return Outline("table", weights, labels, alarms=frozenset(alarms), about=about)


def _read(parts: Segmented) -> _Rows | None:
    """The lines that are not blank, and the delimiter that divides most of a sample alike."""
    if sum([bool(segment.text) for segment in parts.segments[:_SAMPLE]]) < FEWEST < len(parts.segments):
        return None  # it would be a table below a page of empty lines
    lines = parts.text.split("\n")
    first: Sequence[int] | dict[int, int] = range(len(lines))
    if len(lines) != len(parts.segments):
        first = {segment.line: index for index, segment in reversed(list(enumerate(parts.segments)))}
    numbers = [number for number, line in enumerate(lines) if line and not line.isspace()]
    if len(numbers) < FEWEST:
        return None
    sample = [lines[number] for number in numbers[:: max(1, len(numbers) // _SAMPLE)]]
    sample = [line for line in (lines[numbers[0]], *sample) if not _RULE.match(line)]
    for delimiter in ("|", "\t", ",", ";", ""):
        counts = Counter(len(_split(line, delimiter)) for line in sample)
        width, agreeing = max(counts.items(), key=lambda entry: entry[1], default=(0, 0))
        enough = 3 if delimiter in ("", ",") else 2
        if width >= enough and agreeing >= LEAST * len(sample):
            return _Rows(delimiter, [lines[number] for number in numbers], [first[number] for number in numbers])
    return None


def _split(line: str, delimiter: str) -> list[str]:
    if not delimiter:
        return _GAP.split(line.strip())
    if delimiter == "|":
        return line.strip().strip("|").split("|") if "|" in line else [line]
    if '"' in line and len(line) < csv.field_size_limit():
        try:
            return next(csv.reader([line], delimiter=delimiter), [line])
        except csv.Error:  # a quote that is not one
            return line.split(delimiter)
    return line.split(delimiter)


def _is_header(cells: Sequence[str]) -> bool:
    """Names of columns: short, all different, and none of them a number."""
    names = [cell.strip() for cell in cells if cell.strip()]
    return (
        len(names) >= 0.6 * len(cells)
        and len(set(names)) == len(names)
        and all(len(name) <= 60 and not _NUMBER.match(name) for name in names)
    )


def _numbered(first: Sequence[str]) -> bool:
    """Whether nearly all of the first cells count the lines, right-aligned in six places as `cat -n` does it."""
    marks = [cell for cell in first if len(cell) >= 6 and cell[0] == " " and cell.strip().isdecimal()]
    return len(marks) >= LEAST * len(first)


def _odd(cells: Sequence[Sequence[str]], body: Sequence[int], width: int) -> set[int]:
    """Rows with an unusual value in some column; a column in which everything differs has none."""
    found: set[int] = set()
    for column in range(min(width, MOST_COLUMNS)):
        found |= {body[index] for index in unusual([cells[row][column].strip() for row in body])}
    return found


def _weights(
    parts: Segmented, found: _Rows, header: int | None, body: Sequence[int], odd: Collection[int]
) -> list[float]:
    lines = [0.3] * len(found.lines)  # a title above, a note below
    for row in body:
        lines[row] = 0.1
    for row in (*body[:2], *body[-1:]):
        lines[row] = 0.6
    for row in odd:
        lines[row] = 0.9
    for row in body[-3:]:
        if _TOTAL.match(found.lines[row]):
            lines[row] = 1.0
    if header is not None:
        lines[header] = 1.0
        if header + 1 < len(lines) and _RULE.match(found.lines[header + 1]):
            lines[header + 1] = 0.5
    weights = [0.0] * len(parts.segments)
    for first, weight in zip(found.numbers, lines, strict=True):
        weights[first] = weight
    if parts.segments[-1].line + 1 < len(weights):  # long lines: their other pieces weigh the same
        for index in range(1, len(weights)):
            if parts.segments[index].line == parts.segments[index - 1].line:
                weights[index] = weights[index - 1]
    return weights


def _labels(parts: Segmented, found: _Rows, header: int) -> dict[int, int]:
    """Each row's header; the pieces of a long header in a chain, the last one first."""
    start = found.numbers[header]
    line = parts.segments[start].line
    end = start
    while end + 1 < len(parts.segments) and parts.segments[end + 1].line == line:
        end += 1
    labels = {piece: piece - 1 for piece in range(start + 1, end + 1)}
    return labels | dict.fromkeys(range(end + 1, len(parts.segments)), end)
