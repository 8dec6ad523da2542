"""Arguments of an old call with their long strings clipped: a file that was written, a script that was run."""

from __future__ import annotations

import json
from typing import Any

from jettison.compressors.cut import encodable
from jettison.flow.segments import grapheme_cut

__all__ = ["clip"]

LONG = 200
"""Characters from which a string is clipped. Ids, paths, queries and commands are shorter: 86 to 98 % of the string
arguments in the recorded sets are; the others hold 83 to 89 % of all their characters (tau-airline: 42 %)."""
KEPT = 80
"""Characters kept of its beginning."""
WORTH = 0.8
"""A clipped text that is not shorter than this share of its source is not used."""


def clip(arguments: str, handle: str) -> str | None:
    """The JSON arguments with every long string cut and marked, None where that wins little or they are no JSON object.

    Shape, names, numbers and short strings stay; `handle` is where the archive has the whole; empty: it is not named.
    """
    if len(arguments) <= LONG or arguments.lstrip()[:1] != "{":
        return None
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    try:
        text = encodable(json.dumps(_clipped(value, handle), ensure_ascii=False))
    except RecursionError:
        return None
    return text if len(text) <= WORTH * len(arguments) else None


def _clipped(value: Any, handle: str) -> Any:
    if isinstance(value, str):
        if len(value) <= LONG:
            return value
        end = grapheme_cut(value, KEPT)
        ref = f", ref {handle}" if handle else ""
        return f"{value[:end]}… [cut {len(value) - end} characters{ref}]"
    if isinstance(value, dict):
        return {name: _clipped(inner, handle) for name, inner in value.items()}
    if isinstance(value, list):
        return [_clipped(inner, handle) for inner in value]
    return value
