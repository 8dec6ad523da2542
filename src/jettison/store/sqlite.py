"""A store in one SQLite file; it may be the file of the archive."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike

from jettison.errors import StoreConflict, StoreError
from jettison.protocols import Stored
from jettison.store.versions import first_version

__all__ = ["SQLiteStore"]

_TABLE = """CREATE TABLE IF NOT EXISTS sessions (conversation TEXT PRIMARY KEY, version INTEGER NOT NULL,
data BLOB NOT NULL, saved REAL NOT NULL)"""


class SQLiteStore:
    """States by conversation in a file (write-ahead log). Safe to share between threads and processes.

    `timeout`: seconds to wait for another process that writes. Raises StoreError, naming the file, when it cannot be
    opened, read or written; nothing is half-done then.
    """

    def __init__(
        self, path: str | PathLike[str], *, timeout: float = 30.0, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = str(path)
        self.clock = clock
        self._lock = threading.Lock()
        try:
            self._base = sqlite3.connect(self.path, timeout=timeout, check_same_thread=False, isolation_level=None)
            for setting in (
                "auto_vacuum = INCREMENTAL",
                "journal_mode = WAL",
                "synchronous = FULL",
                "secure_delete = ON",
            ):
                self._base.execute(f"PRAGMA {setting}")  # those of the archive
            self._base.execute(_TABLE)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be used as a store: {error}") from error

    @contextmanager
    def _work(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The connection, for one transaction: all of it or nothing."""
        try:
            with self._lock:
                self._base.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                try:
                    yield self._base
                    self._base.execute("COMMIT")
                finally:
                    if self._base.in_transaction:
                        self._base.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from error

    def load(self, conversation: str, known: int = 0) -> Stored | None:
        """See `StateStore.load`."""
        with self._work() as base:
            row = base.execute(
                "SELECT version, CASE WHEN version = ? THEN NULL ELSE data END FROM sessions WHERE conversation = ?",
                (known, conversation),
            ).fetchone()
        return None if row is None else Stored(*row)

    def save(self, conversation: str, data: bytes, expected: int = 0) -> int:
        """See `StateStore.save`."""
        version = expected + 1 if expected else first_version()
        with self._work(write=True) as base:
            if expected:
                done = base.execute(
                    "UPDATE sessions SET version = ?, data = ?, saved = ? WHERE conversation = ? AND version = ?",
                    (version, data, self.clock(), conversation, expected),
                )
            else:
                done = base.execute(
                    "INSERT INTO sessions VALUES (?, ?, ?, ?) ON CONFLICT (conversation) DO NOTHING",
                    (conversation, version, data, self.clock()),
                )
            if done.rowcount != 1:
                raise StoreConflict(conversation, f" in {self.path}")
        return version

    def delete(self, conversation: str) -> int:
        """See `StateStore.delete`. The bytes are overwritten in the file."""
        with self._work(write=True) as base:
            gone = base.execute(
                "DELETE FROM sessions WHERE conversation = :key "
                "OR (conversation > :key || '/' AND conversation < :key || '0')",  # `0` comes after `/`
                {"key": conversation},
            ).rowcount
        try:
            with self._lock:
                self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from error
        return gone

    def __del__(self) -> None:
        base: sqlite3.Connection | None = getattr(self, "_base", None)
        if base is not None:
            base.close()

    def close(self) -> None:
        """Close the file; the store cannot be used after it."""
        with self._lock:
            self._base.close()
