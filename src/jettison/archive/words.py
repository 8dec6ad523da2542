"""A query as words, and the piece of a text that shows them. The same for every archive; linear in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["MAX_WORDS", "excerpt", "root", "words_of", "worth"]

MAX_WORDS = 32
"""Words of a query that are looked for; SQLite refuses expressions deeper than 256, and nobody asks in more."""
MAX_LETTERS = 100
"""Of one word; longer ones (a pasted blob) are cut."""
BEFORE, AFTER = 80, 160
"""Characters of an excerpt around the start of its first hit: three lines of a terminal."""

_WORD = re.compile(r"\w")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def words_of(query: str) -> list[str]:
    """The distinct words of a query in lower case: what stands between blanks and has a letter or digit in it."""
    found = (word.strip("\"'«»()[]{}<>,;:!?.*")[:MAX_LETTERS] for word in _CONTROL.sub(" ", query).lower().split())
    return list(dict.fromkeys(word for word in found if _WORD.search(word)))[:MAX_WORDS]


def root(word: str) -> str | None:
    """What is common to the forms of a word, roughly: `заказы` and `заказом` begin with `зака`, `refunds` and
    `refunded` with `refun`. None for short words and for what is no word (an order number)."""
    return word[: max(4, len(word) - 2)] if len(word) >= 5 and word.isalpha() else None


def worth(text: str, words: list[str]) -> int:
    """How well a text answers: 2 for each word that stands in it, 1 for another form of it. 0: not at all."""
    return sum(
        2
        if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
        else int(_begins(text, [root(word)]) >= 0)
        for word in words
    )


def excerpt(text: str, words: list[str]) -> str:
    """The text around the first place where one of the words stands, else one that begins like it."""
    at = _begins(text, words)
    at = _begins(text, [root(word) for word in words]) if at < 0 else at
    return text[max(0, at - BEFORE) : max(0, at) + AFTER]


def _begins(text: str, words: Sequence[str | None]) -> int:
    """Where a word of the text first begins with one of these; -1: nowhere."""
    wanted = "|".join(re.escape(word) for word in words if word)
    match = re.search(rf"(?<!\w)(?:{wanted})", text, re.IGNORECASE) if wanted else None
    return match.start() if match else -1
