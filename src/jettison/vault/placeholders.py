"""Placeholders: `{{secret:github-token:1}}` stands for a secret and says nothing about it."""

from __future__ import annotations

import re

__all__ = ["LONGEST", "PLACEHOLDER", "name_of", "open_end", "placeholder"]

PLACEHOLDER = re.compile(r"\{\{secret:([a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?):([1-9]\d{0,6})\}\}", re.ASCII)
LONGEST = len("{{secret::}}") + 40 + 7
_OPENING = "{{secret:"


def placeholder(kind: str, number: int) -> str:
    """The placeholder of the n-th secret of a kind."""
    return f"{{{{secret:{kind}:{number}}}}}"


def name_of(found: re.Match[str]) -> tuple[str, int]:
    """(kind, number) of a found placeholder."""
    return found.group(1), int(found.group(2))


def open_end(text: str) -> int:
    """Where a placeholder begins that may go on beyond the end of the text; its length when none does."""
    at = text.rfind("{", max(0, len(text) - LONGEST))
    if at < 0:
        return len(text)
    tail = text.rfind(_OPENING, max(0, len(text) - LONGEST))
    if tail >= 0 and "}}" not in text[tail:] and _may_go_on(text[tail:]):
        return tail
    for size in range(min(len(_OPENING) - 1, len(text)), 0, -1):
        if text.endswith(_OPENING[:size]):
            return len(text) - size
    return len(text)


_PART = re.compile(r"\{\{secret:(?:[a-z0-9-]{0,40}|[a-z0-9-]{1,40}:(?:[1-9]\d{0,6}\}?)?)", re.ASCII)


def _may_go_on(text: str) -> bool:
    return _PART.fullmatch(text) is not None
