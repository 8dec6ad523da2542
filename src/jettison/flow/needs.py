"""Kinds of values: what an argument is called in a schema or a call, and what a leaf of a result is called."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

__all__ = ["declared_arguments", "kind", "kinds_of"]

DEEPEST = 8
"""Levels of a schema that are read."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_INDEX = re.compile(r"\[\d+\]")
_GENERIC = frozenset(
    {"id", "uuid", "key", "code", "no", "number", "name", "path", "url", "slug", "title", "value", "ref"}
)
"""Keys that say little without the name of their record: `orders[3].id` is an order id."""
_CURSOR = re.compile(
    r"(?:next|continuation)_\w*(?:cursor|token|marker|page|offset|key)$|(?:end|last)_\w*(?:cursor|marker|evaluated_key)$|"
    r"(?:next|cursor|continuation|page_token|scroll_id|next_link|last_id|after)$"
)
"""A leaf that says where the next page begins: MCP's `nextCursor`, Google's `nextPageToken`, GraphQL's `endCursor`."""
_PLACES = frozenset(
    {"cursor", "page_token", "after", "next_token", "continuation_token", "continuation", "marker", "start_after"}
    | {"starting_after", "start_cursor", "start_key", "exclusive_start_key", "scroll_id", "starting_token", "page_key"}
)
"""What the argument is called that takes it; seldom as the leaf."""


@lru_cache(maxsize=16_384)
def kind(name: str) -> str:
    """A name as kinds are compared: `orderIds`, `order-ids` and `order_id` are one."""
    low = _CAMEL.sub("_", name).lower().replace("-", "_")
    return low[:-1] if len(low) > 3 and low.endswith("s") and not low.endswith("ss") else low


@lru_cache(maxsize=16_384)
def kinds_of(record: str, key: str) -> frozenset[str]:
    """Kinds of a leaf, by its key and the path of its record (without a key: none)."""
    if not key:
        return frozenset()
    own = kind(key)
    if _CURSOR.match(own):
        return _PLACES | {own}
    if own not in _GENERIC:
        return frozenset({own})
    last = kind(_INDEX.sub("", record).rpartition(".")[2])
    return frozenset({own, f"{last}_{own}"}) if last else frozenset({own})


@lru_cache(maxsize=1_024)
def declared_arguments(schema: str) -> frozenset[str]:
    """Names of arguments that a tool's schema (JSON text) declares, lower case."""
    try:
        return frozenset(_declared(json.loads(schema)))
    except (ValueError, RecursionError):
        return frozenset()


def _declared(value: Any, depth: int = 0) -> Iterator[str]:
    if depth >= DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "properties" and isinstance(inner, dict):
                yield from inner
            yield from _declared(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _declared(inner, depth + 1)
