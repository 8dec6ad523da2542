"""A store in memory, for tests and for one process."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from jettison.errors import StoreConflict
from jettison.protocols import Stored
from jettison.store.versions import first_version

__all__ = ["MemoryStore"]


@dataclass
class MemoryStore:
    """States by conversation. Safe to share between threads."""

    _states: dict[str, tuple[int, bytes]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def load(self, conversation: str, known: int = 0) -> Stored | None:
        """See `StateStore.load`."""
        with self._lock:
            found = self._states.get(conversation)
        if found is None:
            return None
        return Stored(found[0], None if found[0] == known else found[1])

    def save(self, conversation: str, data: bytes, expected: int = 0) -> int:
        """See `StateStore.save`."""
        with self._lock:
            found = self._states.get(conversation, (0, b""))[0]
            if found != expected:
                raise StoreConflict(conversation)
            version = expected + 1 if expected else first_version()
            self._states[conversation] = version, bytes(data)
            return version

    def delete(self, conversation: str) -> int:
        """See `StateStore.delete`."""
        with self._lock:
            gone = [key for key in self._states if key == conversation or key.startswith(f"{conversation}/")]
            for key in gone:
                del self._states[key]
            return len(gone)
