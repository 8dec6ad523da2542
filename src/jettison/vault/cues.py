"""The words that a secret may stand beside, found in one pass for all rules.

Every rule but those of a secret's own shape begins at such a word. A text is searched for all of them at once, by one
expression that shares their first letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

__all__ = ["searcher"]


def _alternatives(node: dict[int, Any]) -> bytes:
    parts = [re.escape(bytes([letter])) + _alternatives(rest) for letter, rest in node.items() if letter >= 0]
    if not parts:
        return b""
    joined = parts[0] if len(parts) == 1 and -1 not in node else b"(?:" + b"|".join(parts) + b")"
    return joined + (b"?" if -1 in node else b"")


@cache
def searcher(words: tuple[str, ...]) -> re.Pattern[bytes]:
    """Finds any of these words, in lower case, in a folded text (`spans.folded`); of two that begin alike the longer.

    Latin and Russian words only.
    """
    root: dict[int, Any] = {}
    for word in words:
        node = root
        for letter in word.encode("cp1251"):
            node = node.setdefault(letter, {})
        node[-1] = {}
    return re.compile(_alternatives(root))


def words_in(lists: Iterable[str]) -> tuple[str, ...]:
    """The words of several `a|b|c` lists, each once."""
    return tuple(dict.fromkeys(word for words in lists for word in words.split("|")))
