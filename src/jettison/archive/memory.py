"""An archive in memory: the default, gone with the session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from jettison.archive.records import (
    Conversation,
    Pruned,
    Row,
    checked,
    covers,
    differing,
    droppable,
    missing,
    size_of,
    taken,
)
from jettison.archive.words import excerpt, words_of, worth

__all__ = ["MemoryArchive"]


@dataclass
class MemoryArchive:
    """Texts by handle. Safe to share between threads."""

    clock: Callable[[], float] = field(default=time.time, repr=False)
    _texts: dict[str, str] = field(default_factory=dict)
    _stored: dict[str, float] = field(default_factory=dict, repr=False)
    _holds: dict[str, dict[str, float]] = field(default_factory=dict, repr=False)
    """By conversation: the texts that it holds, and since when."""
    _pinned: dict[str, set[str]] = field(default_factory=dict, repr=False)
    """By conversation: those that a live stub may point at."""
    _vectors: dict[tuple[str, bytes], dict[str, tuple[float, bytes]]] = field(default_factory=dict, repr=False)
    """By embedder and key, and in it by conversation: when it was stored, and what."""
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def put(self, handle: str, text: str, conversation: str = "") -> None:
        """Store a text under its handle; again with the same text is a no-op.

        Raises ArchiveError when the handle stands for another text.
        """
        self.put_many({handle: text}, conversation)

    def put_many(self, texts: Mapping[str, str], conversation: str = "", *, release: Collection[str] = ()) -> None:
        """Store all of these or none, pinned for the conversation, and unpin those in `release`."""
        with self._lock:
            if (wrong := differing(texts, self._texts)) is not None:
                raise taken(wrong)
            held, now = self._holds.setdefault(conversation, {}), self.clock()
            pinned = self._pinned.setdefault(conversation, set())
            self._texts.update(texts)
            self._stored.update(dict.fromkeys(texts, now))
            for handle in texts:
                held.setdefault(handle, now)
            pinned.difference_update(release)
            pinned.update(texts)

    def get(self, handle: str, *, conversation: str | None = None) -> str:
        """The exact text. Raises ArchiveError when there is none, or the conversation does not hold it."""
        with self._lock:
            if handle not in self._texts or not self._covered(handle, conversation):
                raise missing(handle)
            return self._texts[handle]

    def search(self, query: str, limit: int = 10, *, conversation: str | None = None) -> list[tuple[str, str]]:
        """(handle, excerpt) of texts that hold some of the query's words, or other forms of them, best first."""
        words = words_of(query)
        with self._lock:
            texts = [pair for pair in self._texts.items() if self._covered(pair[0], conversation)]
        scored = [(worth(text, words), handle, text) for handle, text in texts]
        scored.sort(key=lambda entry: -entry[0])
        return [(handle, excerpt(text, words)) for score, handle, text in scored[: max(0, limit)] if score]

    def release(self, conversation: str, handles: Collection[str] | None = None) -> None:
        """Unpin these texts of a conversation; None: it is over, all of them."""
        with self._lock:
            if handles is not None:
                self._pinned.get(conversation, set()).difference_update(handles)
                return
            for key, pinned in self._pinned.items():
                if covers(conversation, key):
                    pinned.clear()

    def delete(self, conversation: str) -> int:
        """Delete a conversation wholly; texts that another one holds stay. Returns how many texts are gone."""
        with self._lock:
            keys = [key for key in self._holds if covers(conversation, key)]
            mine = dict.fromkeys(handle for key in keys for handle in self._holds.pop(key))
            for key in keys:
                self._pinned.pop(key, None)
            held = {handle for holds in self._holds.values() for handle in holds}
            self._forget(lambda key, stored: covers(conversation, key))
            return self._drop([handle for handle in mine if handle not in held])

    def conversations(self) -> list[Conversation]:
        """All conversations that hold a text, by key."""
        with self._lock:
            found = []
            for key, held in sorted(self._holds.items()):
                if held:
                    size = sum(size_of(self._texts[handle]) for handle in held)
                    found.append(Conversation(key, len(held), size, min(held.values()), max(held.values())))
            return found

    def prune(
        self, *, max_bytes: int | None = None, max_age: float | None = None, live: Collection[str] = ()
    ) -> Pruned:
        """Drop texts not stored for `max_age` seconds, then the oldest until all take `max_bytes` (UTF-8) at most.

        Never what is pinned, or in `live` (handles). Vectors have what texts leave of `max_bytes`, the newest first.
        """
        checked(max_bytes, max_age)
        with self._lock:
            pinned = set[str]().union(*self._pinned.values())
            sizes = {handle: size_of(text) for handle, text in self._texts.items()}
            rows = [Row(0, h, sizes[h], at) for h, at in self._stored.items() if h not in pinned]
            rows.sort(key=lambda row: row.stored)
            out = droppable(rows, sum(sizes.values()), self.clock(), max_bytes, max_age, live)
            for held in self._holds.values():
                for row in out:
                    held.pop(row.handle, None)
            self._drop([row.handle for row in out])
            gone = sum(row.size for row in out)
            left = sum(sizes.values()) - gone
            self._prune_vectors(max_age, None if max_bytes is None else max_bytes - left)
            return Pruned(len(out), gone, left)

    def put_vectors(self, embedder: str, vectors: Mapping[bytes, bytes], conversation: str = "") -> None:
        """Store vectors by content hash, for this conversation."""
        with self._lock:
            now = self.clock()
            for key, vector in vectors.items():
                self._vectors.setdefault((embedder, key), {})[conversation] = (now, vector)

    def vectors(self, embedder: str, keys: Collection[bytes], *, conversation: str | None = None) -> dict[bytes, bytes]:
        """Those that are there; with a conversation, only what it stored."""
        found = {}
        with self._lock:
            for key in keys:
                for owner, (_, vector) in self._vectors.get((embedder, key), {}).items():
                    if conversation is None or covers(conversation, owner):
                        found[key] = vector
        return found

    def _prune_vectors(self, max_age: float | None, room: int | None) -> None:
        """Vectors too old, then the oldest until they take `room` bytes at most."""
        if max_age is not None:
            now = self.clock()
            self._forget(lambda key, stored: now - stored > max_age)
        if room is not None:
            rows = [(at, len(vector)) for owned in self._vectors.values() for at, vector in owned.values()]
            rows.sort(reverse=True)
            kept = list(accumulate(size for _, size in rows))
            over = next((at for (at, _), size in zip(rows, kept, strict=True) if size > room), None)
            if over is not None:
                self._forget(lambda key, stored: stored <= over)

    def _forget(self, which: Callable[[str, float], bool]) -> None:
        for owned in self._vectors.values():
            for key in [key for key, (stored, _) in owned.items() if which(key, stored)]:
                del owned[key]
        self._vectors = {name: owned for name, owned in self._vectors.items() if owned}

    def close(self) -> None:
        """Nothing to close; the texts stay until the archive itself is gone."""

    def _covered(self, handle: str, conversation: str | None) -> bool:
        if conversation is None:
            return True
        return any(handle in held for key, held in self._holds.items() if covers(conversation, key))

    def _drop(self, handles: list[str]) -> int:
        for handle in handles:
            del self._texts[handle], self._stored[handle]
        return len(handles)
