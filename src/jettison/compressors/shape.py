"""A JSON text reduced to some of its leaves, in its own shape."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from jettison.flow.segments import DEEPEST, LONG_KEY, LONG_LINE, lines_of, parsed

__all__ = ["shape"]


def shape(text: str, chosen: Collection[int]) -> str:
    """The JSON text with the chosen leaves only (ordinals as `segment` numbers them), minified.

    A fifth fewer tokens than `path: key: value` lines on the JSON results of the recorded sets (tau-airline 30 k of
    34 k, mcpmark 470 k of 564 k). It says what is there and is not to be parsed: strings are not escaped, so that what
    is protected in them stands as it was, JSON inside a string is opened, `…3` counts elements that were cut.
    """
    return _Shape(chosen).walk(json.loads(text), 0) or ""


_PLAIN = frozenset((int, float, bool, type(None)))


class _Shape:
    """Walks the value in the order of its leaves."""

    def __init__(self, chosen: Collection[int]) -> None:
        self.chosen = chosen
        self.at = -1

    def walk(self, value: Any, depth: int) -> str | None:
        """What is left of a value; None when nothing is. A leaf that was cut costs a look at its ordinal."""
        kind = type(value)
        if kind is str:
            if len(value) > 40 or "\n" in value:
                return self.string(value, depth)
            self.at += 1
            return f'"{value}"' if self.at in self.chosen else None
        if (kind is dict or kind is list) and value and depth <= DEEPEST:
            return self.fields(value, depth) if kind is dict else self.elements(value, depth)
        self.at += 1
        return json.dumps(value, ensure_ascii=False) if self.at in self.chosen else None

    def leaf(self, text: str) -> str | None:
        self.at += 1
        return text if self.at in self.chosen else None

    def fields(self, value: dict[str, Any], depth: int) -> str | None:
        kept = []
        for name, inner in value.items():
            if type(inner) in _PLAIN:  # most leaves are cut, most of those are plain: not even a call
                self.at += 1
                if self.at in self.chosen:
                    kept.append(f'"{name[:LONG_KEY]}":{json.dumps(inner)}')
                continue
            left = self.walk(inner, depth + 1)
            if left is not None:
                kept.append(f'"{name[:LONG_KEY]}":{left}')
        return "{" + ",".join(kept) + "}" if kept else None

    def elements(self, value: list[Any], depth: int) -> str | None:
        kept: list[str] = []
        gap, some = 0, False
        for inner in value:
            left = self.walk(inner, depth + 1)
            if left is None:
                gap += 1
                continue
            some = True
            if gap:
                kept.append(f"…{gap}")
                gap = 0
            kept.append(left)
        if not some:
            return None
        if gap:
            kept.append(f"…{gap}")
        return "[" + (",\n" if isinstance(value[0], dict | list) else ",").join(kept) + "]"

    def string(self, value: str, depth: int) -> str | None:
        inner = parsed(value)
        if inner is not None:
            return self.walk(inner, depth + 1)
        if len(value) <= LONG_LINE and "\n" not in value:
            return self.leaf(f'"{value}"')
        kept: list[str] = []
        some = skipped = False
        for line in lines_of(value):
            if not line.text.strip():
                continue
            if self.leaf("") is None:
                skipped = True
                continue
            some = True
            kept += ["…", line.text] if skipped else [line.text]
            skipped = False
        if not some:
            return None
        return '"' + "\n".join([*kept, "…"] if skipped else kept) + '"'
