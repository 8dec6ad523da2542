"""Input that is nested too deeply to be read: an error that says where, in place of Python's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jettison.call import Call
from jettison.errors import InvalidInput, Problem
from jettison.wire.base import Wire

__all__ = ["depth_of", "nesting_named"]

SHARE = 10
"""Input counts as too deep from a tenth of Python's recursion limit on, once that was reached: it is walked with two or
three frames a level, and those of the caller take their part. With the default limit, 1,000, a call of 300 levels
passes where the caller stands at the top, one of 500 does not (test_nesting.py)."""


@contextmanager
def nesting_named(wire: Wire, call: Call) -> Iterator[None]:
    """Raises InvalidInput for a RecursionError within, where it is the call's input that is too deep."""
    try:
        yield
    except RecursionError as error:
        problems = list(_too_deep(wire, call, sys.getrecursionlimit()))
        if not problems:
            raise
        raise InvalidInput(problems) from error


def _too_deep(wire: Wire, call: Call, limit: int) -> Iterator[Problem]:
    given = [
        *((f"{wire.field}[{at}]", message, at) for at, message in enumerate(call.messages)),
        *((f"tools[{at}]", tool, -1) for at, tool in enumerate(call.tools or ())),
        (wire.system_field or "system", call.system, -1),
        ("response_schema", call.response_schema, -1),
    ]
    most = limit // SHARE
    for where, value, message in given:
        if depth_of(value, most) > most:
            rule, repair = f"input is nested at most {most} levels deep", "flatten it, or pass it as JSON text"
            yield Problem(where, rule, repair, message=message)


def depth_of(value: Any, most: int) -> int:
    """How deep dicts and lists stand in one another, looked at level by level up to `most` + 1."""
    depth, level = 0, {id(value): value}
    while depth <= most:
        inner = [one for outer in level.values() for one in _inside(outer)]
        level = {id(one): one for one in inner if isinstance(one, Mapping | list | tuple)}
        if not level:
            break
        depth += 1
    return depth


def _inside(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
