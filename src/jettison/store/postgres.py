"""A store in PostgreSQL, for many workers. Needs the extra `jettison[postgres]`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jettison.errors import StoreConflict, StoreError
from jettison.protocols import Stored
from jettison.store.versions import first_version

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PostgresStore"]

_LOCK = 0x6A65_7474_7374_6F72
"""The advisory lock of those who make the table (`jettstor` in ASCII); two at once can fail."""

_TABLE = """CREATE TABLE IF NOT EXISTS jettison_sessions (conversation text COLLATE "C" PRIMARY KEY,
version bigint NOT NULL, data bytea NOT NULL, saved double precision NOT NULL)"""


class PostgresStore:
    """States by conversation in the table `jettison_sessions`. Safe to share between threads and processes.

    `url`: `postgresql://user@host/database`. A lost connection is opened anew once. Raises StoreError when the
    database cannot be reached, read or written; nothing is half-done then.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time) -> None:
        try:
            import psycopg
        except ImportError as error:  # not installed, or without its library
            raise StoreError(
                f"a store in PostgreSQL needs psycopg: pip install 'jettison[postgres]' ({error})"
            ) from error
        self.clock = clock
        self._url, self._driver = url, psycopg
        self._lock = threading.Lock()
        self._closed = False
        self._base: Connection[tuple[Any, ...]] | None = None
        with self._work() as base:
            if base.execute("SELECT to_regclass('jettison_sessions')").fetchone() == (None,):
                base.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                base.execute(_TABLE)

    @property
    def _name(self) -> str:
        """The database, without its password."""
        return f"database {self._base.info.dbname!r}" if self._base is not None else "the store's database"

    def _connected(self) -> Connection[tuple[Any, ...]]:
        if self._closed:
            raise StoreError("this store was closed")
        if self._base is None or self._base.closed:
            self._base = self._driver.connect(self._url, autocommit=True)
        return self._base

    @contextmanager
    def _work(self) -> Iterator[Connection[tuple[Any, ...]]]:
        """The connection, for one transaction: all of it or nothing."""
        try:
            with self._lock:
                base = self._connected()
                try:
                    base.execute("SELECT 1")
                except self._driver.OperationalError:  # the server was restarted since
                    base.close()
                    base = self._connected()
                with base.transaction():
                    yield base
        except self._driver.Error as error:
            raise StoreError(f"{self._name}: {error}") from error

    def load(self, conversation: str, known: int = 0) -> Stored | None:
        """See `StateStore.load`."""
        with self._work() as base:
            row = base.execute(
                "SELECT version, CASE WHEN version = %s THEN NULL ELSE data END FROM jettison_sessions "
                "WHERE conversation = %s",
                (known, conversation),
            ).fetchone()
        return None if row is None else Stored(int(row[0]), None if row[1] is None else bytes(row[1]))

    def save(self, conversation: str, data: bytes, expected: int = 0) -> int:
        """See `StateStore.save`."""
        version = expected + 1 if expected else first_version()
        with self._work() as base:
            if expected:
                done = base.execute(
                    "UPDATE jettison_sessions SET version = %s, data = %s, saved = %s "
                    "WHERE conversation = %s AND version = %s",
                    (version, data, self.clock(), conversation, expected),
                )
            else:
                done = base.execute(
                    "INSERT INTO jettison_sessions VALUES (%s, %s, %s, %s) ON CONFLICT (conversation) DO NOTHING",
                    (conversation, version, data, self.clock()),
                )
            if done.rowcount != 1:
                raise StoreConflict(conversation, f" in {self._name}")
        return version

    def delete(self, conversation: str) -> int:
        """See `StateStore.delete`."""
        with self._work() as base:
            return base.execute(
                "DELETE FROM jettison_sessions WHERE conversation = %(key)s "
                "OR (conversation > %(key)s || '/' AND conversation < %(key)s || '0')",
                {"key": conversation},
            ).rowcount

    def __del__(self) -> None:
        base: Connection[tuple[Any, ...]] | None = getattr(self, "_base", None)
        if base is not None:
            base.close()

    def close(self) -> None:
        """Close the connection; the store cannot be used after it."""
        with self._lock:
            self._closed = True
            if self._base is not None:
                self._base.close()
