"""Secrets of recorded runs stay out of the page: what our own rules find is shown as `[secret]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jettison.vault import Detector

__all__ = ["HIDDEN", "Hiding"]

HIDDEN = "[secret]"
PIECE = 6
"""Characters from which on a needed value that is a part of a secret is hidden too (metrics cut long values up)."""


class Hiding:
    """Hides the secrets of some texts, wherever they stand and in either case. Linear in all texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        find = Detector(()).find
        secrets = {text[span.start : span.end] for text in set(texts) for span in find(text)}
        self._whole = "\n".join(secrets).lower()
        longest_first = sorted(secrets, key=len, reverse=True)
        self._any = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if secrets else None

    def __call__(self, text: str) -> str:
        """The text without them."""
        return text if self._any is None else self._any.sub(HIDDEN, text)

    def value(self, value: str) -> str:
        """A needed value, hidden where it is a secret or a piece of one."""
        if self._any is None:
            return value
        return HIDDEN if len(value) >= PIECE and value.lower() in self._whole else self(value)
