"""How a secret may be written in a text, and what is put in its place there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

from jettison.vault.placeholders import PLACEHOLDER

__all__ = ["decoded", "json_number", "names_in", "replaced", "spellings"]

_SHORT = 8
"""A known secret of fewer letters is only replaced where it stands alone: a PIN is in many numbers."""


def names_in(message: Any) -> tuple[str, ...]:
    """The placeholders that a message holds, in order."""
    text = json.dumps(message, ensure_ascii=False, default=str)
    return tuple(dict.fromkeys(found.group() for found in PLACEHOLDER.finditer(text)))


def spellings(value: str) -> Iterable[str]:
    """How a secret may be written: as it is, escaped as in JSON (twice), percent-encoded."""
    once = json.dumps(value, ensure_ascii=False)[1:-1]
    ascii_ = json.dumps(value)[1:-1]
    twice = json.dumps(once, ensure_ascii=False)[1:-1]
    return {value, once, ascii_, twice, quote(value, safe=""), quote(value, safe="/")}


def decoded(text: str, start: int, raw: str) -> str:
    """The value that a spelling stands for: in a URL percent-decoded, in JSON unescaped."""
    if "%" in raw and re.search(r"%[0-9A-Fa-f]{2}", raw) and _in_url(text, start):
        return unquote(raw)
    if "\\" in raw and text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(f'"{raw}"')
        except ValueError:
            return raw
        return value if isinstance(value, str) else raw
    return raw


def _in_url(text: str, at: int) -> bool:
    return re.search(r"://\S*\Z", text[max(0, at - 2000) : at]) is not None


def json_number(text: str, start: int, end: int) -> bool:
    """Whether digits stand in JSON as a number: a placeholder there needs quotes."""
    before = text[max(0, start - 10) : start].rstrip()
    named = re.search(r'"\s*:\Z', before) is not None
    listed = before.endswith(("[", ",")) and text.lstrip()[:1] in ("{", "[")
    return (named or listed) and text[end : end + 10].lstrip()[:1] in (",", "}", "]")


def replaced(text: str, value: str, name: str) -> str:
    """The text with a known spelling of a secret replaced by its placeholder."""
    if len(value) >= _SHORT:
        return text.replace(value, name)
    if value not in text:
        return text

    def put(found: re.Match[str]) -> str:
        return f'"{name}"' if value.isdigit() and json_number(text, *found.span()) else name

    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", put, text)
