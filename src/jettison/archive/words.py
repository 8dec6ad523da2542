"""A query as words, and the piece of a text that shows them. The same for every archive; linear in the text."""

from __future__ import annotations

import re

__all__ = ["MAX_WORDS", "excerpt", "lowered", "root", "words_of", "worth"]

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
    found = (word.strip("\"'«»()[]{}<>,;:!?.*")[:MAX_LETTERS] for word in lowered(_CONTROL.sub(" ", query)).split())
    return list(dict.fromkeys(word for word in found if _WORD.search(word)))[:MAX_WORDS]


def root(word: str) -> str | None:
    """What is common to the forms of a word, roughly: `заказы` and `заказом` begin with `зака`, `refunds` and
    `refunded` with `refun`. None for short words and for what is no word (an order number)."""
    return word[: max(4, len(word) - 2)] if len(word) >= 5 and word.isalpha() else None


def lowered(text: str) -> str:
    """The text in lower case, with every character at its place (`İ` would become two)."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def worth(text: str, words: list[str]) -> int:
    """How well a text answers: 2 for each word that stands in it, 1 for another form of it. 0: not at all."""
    low, points = lowered(text), 0
    for word in words:
        stem = root(word)
        if stem is None:
            points += 2 if _place(low, word, whole=True) >= 0 else 0
        elif _place(low, stem) >= 0:
            points += 2 if _place(low, word, whole=True) >= 0 else 1
    return points


def excerpt(text: str, words: list[str]) -> str:
    """The text around the first place where one of the words stands, else one that begins like it."""
    low = lowered(text)
    places = [at for word in words if (at := _place(low, word)) >= 0]
    places = places or [at for word in words if (stem := root(word)) and (at := _place(low, stem)) >= 0]
    at = min(places, default=0)
    return text[max(0, at - BEFORE) : at + AFTER]


def _place(low: str, word: str, whole: bool = False) -> int:
    """Where a word of the text first begins with this one, or is this one; -1: nowhere."""
    step = len(word) if word.isalnum() else 1  # inside letters no other word begins
    at = low.find(word)
    while at >= 0:
        end = at + len(word)
        inside = at > 0 and _is_letter(low[at - 1])
        if not inside and not (whole and end < len(low) and _is_letter(low[end])):
            return at
        at = low.find(word, at + step)
    return -1


def _is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"
