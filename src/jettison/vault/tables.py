"""Secrets in files and tables where a name stands at the top of a column, or of a block."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jettison.vault.lookalikes import is_code_value, is_mask, mixed
from jettison.vault.naming import kind_of_name
from jettison.vault.spans import Span
from jettison.vault.strength import opaque, password_like

__all__ = ["column", "inserted", "manifest", "of_line"]

_ROWS = 200
_NAME = re.compile(r"[\w .-]{1,40}")
_RULE = re.compile(r"[\s|:+-]+")


def column(text: str, at: int, end: int) -> tuple[list[Span], int]:
    """(the values below the name of a column, in CSV, TSV and Markdown, how far it was read): `| user | password |`."""
    out: list[Span] = []
    begin = text.rfind("\n", max(0, at - 300), at) + 1
    if begin == 0 and at > 300:
        return out, at
    stop = text.find("\n", end, end + 300)
    if stop < 0:
        return out, at
    head = text[begin:stop]
    mark = next((mark for mark in "|\t;," if mark in head), None)
    if mark is None:
        return out, at
    cells = [cell.strip().strip("\"'*`") for cell in head.split(mark)]
    if len(cells) < 2 or not all(not cell or _NAME.fullmatch(cell) for cell in cells):
        return out, at
    kinds = {n: kind for n, cell in enumerate(cells) if (kind := kind_of_name(cell.replace(" ", "_"))) is not None}
    if not kinds:
        return out, at
    for _ in range(_ROWS):
        begin = stop + 1
        stop = text.find("\n", begin, begin + 2000)
        row = text[begin : stop if stop >= 0 else begin + 2000]
        if _RULE.fullmatch(row) and row:
            if stop < 0:
                return out, begin
            continue
        fields = row.split(mark)
        if len(fields) != len(cells):
            return out, begin
        for number, kind in kinds.items():
            value = fields[number].strip().strip("\"'*`\r")
            if _stands(value, kind):
                start = text.index(value, begin + sum(len(field) + 1 for field in fields[:number]))
                out.append(Span(start, start + len(value), kind))
        if stop < 0:
            return out, len(text)
    return out, begin


def _stands(value: str, kind: str) -> bool:
    if len(value) < 4 or len(value) > 400 or " " in value or is_mask(value) or value.startswith(("$", "<", "@", "{")):
        return False
    if kind == "one-time-code":
        return value.isdigit() and len(value) <= 8
    if kind == "password":
        return password_like(value) > 0 or (mixed(value) and not is_code_value(value) and any(map(str.isdigit, value)))
    return opaque(value, 12)


_INSERT = re.compile(r"\(([^()]{3,400})\)\s{0,4}VALUES\s{0,4}", re.IGNORECASE)
_TUPLE = re.compile(r"""\s{0,4},?\s{0,4}\(((?:'[^'\n]{0,400}'|[^()'\n]{0,200}){0,40})\)""")
_CELL = re.compile(r"""\s*(?:'(?P<text>[^'\n]{0,400})'|[^,']*)\s*(?:,|$)""")


def inserted(text: str, at: int) -> Iterator[Span]:
    """`INSERT INTO users (login, password) VALUES ('anna', '…')`."""
    begin = text.rfind("(", max(0, at - 300), at)
    if begin < 0:
        return
    found = _INSERT.match(text, begin)
    if found is None:
        return
    names = [name.strip().strip("\"`[]'") for name in found.group(1).split(",")]
    wanted = {number: kind for number, name in enumerate(names) if (kind := kind_of_name(name)) is not None}
    place = found.end()
    for _ in range(_ROWS if wanted else 0):
        row = _TUPLE.match(text, place)
        if row is None:
            return
        place, cell_at = row.end(), row.start(1)
        for number in range(len(names)):
            cell = _CELL.match(text, cell_at, row.end(1))
            if cell is None:
                break
            cell_at = cell.end()
            value = cell.group("text")
            if number in wanted and value is not None and _stands(value, wanted[number]):
                yield Span(*cell.span("text"), wanted[number])


_BLOCK = re.compile(r"^(?P<name>data|stringData):[ \t]*\r?\n(?P<body>(?:[ \t]+\S[^\n]*(?:\n|\Z)){1,40})", re.MULTILINE)
_ENTRY = re.compile(r"""^[ \t]+[\w.-]{1,80}:[ \t]+["']?(?P<value>[^\s"'#]{4,4000})["']?[ \t]*\r?$""", re.MULTILINE)


def manifest(text: str, at: int) -> tuple[list[Span], int]:
    """(every value of a Kubernetes manifest of the kind Secret, where it ends)."""
    out: list[Span] = []
    begin = max(text.rfind("\n---", max(0, at - 2000), at), at - 2000, 0)
    stop = text.find("\n---", at, at + 8000)
    stop = stop if stop >= 0 else min(len(text), at + 8000)
    for block in _BLOCK.finditer(text, begin, stop):
        for entry in _ENTRY.finditer(text, block.start("body"), block.end("body")):
            value = entry.group("value")
            encoded = block.group("name") == "data"
            if not is_mask(value) and (encoded or password_like(value) or opaque(value, 12)):
                out.append(Span(*entry.span("value"), "secret"))
    return out, stop


_PGPASS = re.compile(r"""[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:(\S{3,200})\s*$""", re.MULTILINE)


def of_line(text: str, at: int) -> Span | None:
    """`host:5432:database:user:password`, as in .pgpass. `at`: the port."""
    begin = text.rfind("\n", max(0, at - 100), at) + 1
    found = _PGPASS.match(text, begin if begin else 0)
    if found is None or is_mask(found.group(1)) or "://" in found.group():
        return None
    return Span(*found.span(1), "password")
