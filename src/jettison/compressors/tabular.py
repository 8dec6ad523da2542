"""JSON in fewer characters and without loss: no white space, and lists of like objects as one header and rows.

A list `[{"id": 1, "on": true}, {"id": 2, "on": false}, …]` becomes
`{"columns":["id","on"],"rows":[[1,true],[2,false]]}`, which is valid JSON. Literals of
numbers stay as they are written (1.0 is not 1, and no digit of a long one is lost).

For `shrink`. An epoch does not use it: on the recorded sets tables win 2 % of the JSON of tau-airline and nothing of
the others, and what a cut leaves of JSON has no white space already (docs/compression.md).
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

__all__ = ["compact", "minified", "restore"]

GAIN = 0.08
"""Share of the characters that must be won; less is not worth a change of the text."""
FEWEST = 3
"""Objects that make a table worth its header."""
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"]+', re.DOTALL)
_LONE = re.compile("[\ud800-\udfff]")


class _Literal(str):
    """A number as it is written."""

    __slots__ = ()


class _Refused(ValueError):
    """What would not come back as it was: a key twice in one object, or an object that reads like our table."""


def compact(text: str) -> str | None:
    """The same JSON at least 8 % shorter, or None. `restore` gives it back: equal data, equal literals of numbers.

    None as well for what is no JSON object or list, and where an object has a key twice.
    """
    try:
        value = _parsed(text)
        short = _write(value, tables=True)
        small = minified(text)
    except (ValueError, RecursionError):
        return None
    best = min(small, short, key=len)
    return best if len(best) <= (1 - GAIN) * len(text) else None


def minified(text: str) -> str:
    """JSON without white space between its tokens, every literal as it was. Raises ValueError for other text."""
    json.loads(text, parse_int=_Literal, parse_float=_Literal)
    return "".join(_TOKENS.findall(text))


def restore(text: str) -> str:
    """JSON, without white space, of what `compact` gave. Raises ValueError where it is no JSON."""
    value = json.loads(text, parse_int=_Literal, parse_float=_Literal, parse_constant=_Literal)
    return _write(_opened(value), tables=False)


def _parsed(text: str) -> Any:
    if text[:80].lstrip()[:1] not in ("{", "["):
        raise _Refused("no object or list")
    return json.loads(
        text, parse_int=_Literal, parse_float=_Literal, parse_constant=_Literal, object_pairs_hook=_object
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused("a key stands twice")
    if value.keys() == {"columns", "rows"}:
        raise _Refused("reads like a table of ours")
    return value


def _write(value: Any, tables: bool) -> str:
    out: list[str] = []
    _put(value, out, tables)
    return "".join(out)


def _put(value: Any, out: list[str], tables: bool) -> None:
    if isinstance(value, _Literal):
        out.append(value)
    elif isinstance(value, str):
        out.append(_quoted(value))
    elif isinstance(value, dict):
        out.append("{")
        for index, (key, inner) in enumerate(value.items()):
            out.append(f"{',' if index else ''}{_quoted(key)}:")
            _put(inner, out, tables)
        out.append("}")
    elif isinstance(value, list):
        columns = _columns(value) if tables else None
        if columns:
            out.append('{"columns":')
            _put(columns, out, False)
            out.append(',"rows":')
            _put([list(row.values()) for row in value], out, False)
            out.append("}")
            return
        out.append("[")
        for index, inner in enumerate(value):
            if index:
                out.append(",")
            _put(inner, out, tables)
        out.append("]")
    else:
        out.append("null" if value is None else "true" if value else "false")


def _quoted(text: str) -> str:
    """A JSON string. Half of a surrogate pair stays escaped: no other writing of it is valid UTF-8."""
    return encode_basestring(text) if text.isascii() or not _LONE.search(text) else encode_basestring_ascii(text)


def _columns(rows: list[Any]) -> list[str] | None:
    """The keys that all objects of a list have in the same order; None where it is no table of plain values."""
    if len(rows) < FEWEST or not isinstance(rows[0], dict) or not rows[0]:
        return None
    keys = list(rows[0])
    for row in rows:
        if not isinstance(row, dict) or list(row) != keys:
            return None
        if any(isinstance(value, dict | list) for value in row.values()):
            return None
    return keys


def _opened(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"columns", "rows"}:
            return [dict(zip(value["columns"], row, strict=True)) for row in value["rows"]]
        return {key: _opened(inner) for key, inner in value.items()}
    return [_opened(inner) for inner in value] if isinstance(value, list) else value
