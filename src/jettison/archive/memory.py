"""An archive in memory: the default, gone with the session."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from jettison.errors import ArchiveError

__all__ = ["MemoryArchive"]


@dataclass
class MemoryArchive:
    """Texts by handle. Safe to share between threads."""

    _texts: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def put(self, handle: str, text: str) -> None:
        """Store a text under its handle; again with the same text is a no-op.

        Raises ArchiveError when the handle stands for another text.
        """
        with self._lock:
            known = self._texts.setdefault(handle, text)
        if known != text:
            raise ArchiveError(f"handle {handle!r} already stands for another text")

    def get(self, handle: str) -> str:
        """The exact text. Raises ArchiveError when there is none."""
        try:
            return self._texts[handle]
        except KeyError:
            raise ArchiveError(f"no text is archived under {handle!r}") from None

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        """(handle, excerpt) of texts that hold most of the query's words, best first."""
        words = [word for word in query.lower().split() if word]
        found = []
        for handle, text in list(self._texts.items()):
            low = text.lower()
            hits = [low.find(word) for word in words]
            score = sum(at >= 0 for at in hits)
            if score:
                at = min(at for at in hits if at >= 0)
                found.append((score, handle, text[max(0, at - 80) : at + 160]))
        found.sort(key=lambda entry: -entry[0])
        return [(handle, excerpt) for _, handle, excerpt in found[:limit]]
