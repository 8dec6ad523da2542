"""Where sealed secrets are kept: memory, an SQLite file of their own, a PostgreSQL table, HashiCorp Vault.

Anything that maps (session, placeholder) to bytes will do: `SecretStore` is all that the vault asks for.
"""

from __future__ import annotations

import base64
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from jettison.errors import VaultError

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["HashiCorpStore", "MemoryStore", "PostgresStore", "SQLiteStore", "SecretStore"]


@runtime_checkable
class SecretStore(Protocol):
    """Sealed records by session and placeholder. Raise VaultError (or anything else: it is wrapped) on a failure.

    A store that several processes write to also has `add(session, name, record) -> bool`: `put`, unless there is a
    record, in one step.
    """

    def put(self, session: str, name: str, record: bytes) -> None:
        """Store or replace a record; on return it is there for good."""
        ...

    def all(self, session: str) -> Mapping[str, bytes]:
        """Every record of a session, by placeholder."""
        ...

    def delete(self, session: str, name: str) -> None:
        """Delete a record; one that is not there is no error."""
        ...

    def sessions(self) -> list[str]:
        """Every session that has a record."""
        ...


class MemoryStore:
    """In this process only: gone with it."""

    def __init__(self) -> None:
        self._records: dict[str, dict[str, bytes]] = {}

    def put(self, session: str, name: str, record: bytes) -> None:
        self._records.setdefault(session, {})[name] = record

    def add(self, session: str, name: str, record: bytes) -> bool:
        return self._records.setdefault(session, {}).setdefault(name, record) is record

    def all(self, session: str) -> Mapping[str, bytes]:
        return dict(self._records.get(session, {}))

    def delete(self, session: str, name: str) -> None:
        records = self._records.get(session, {})
        records.pop(name, None)
        if not records:
            self._records.pop(session, None)

    def sessions(self) -> list[str]:
        return list(self._records)


class SQLiteStore:
    """An SQLite file of its own, readable by its owner only. What is deleted is overwritten.

    Raises VaultError when the file cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._lock = threading.Lock()
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._base = sqlite3.connect(self.path, timeout=30, check_same_thread=False, isolation_level=None)
            for statement in (
                "PRAGMA secure_delete = ON",
                "PRAGMA synchronous = FULL",
                "CREATE TABLE IF NOT EXISTS secrets (session TEXT NOT NULL, name TEXT NOT NULL, record BLOB NOT NULL, "
                "PRIMARY KEY (session, name)) WITHOUT ROWID",
            ):
                self._base.execute(statement)
        except (sqlite3.Error, OSError) as error:
            raise VaultError(f"{self.path} cannot be used as a vault: {error}") from error

    def __repr__(self) -> str:
        return f"SQLiteStore({self.path!r})"

    @contextmanager
    def _work(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._base
        except sqlite3.Error as error:
            raise VaultError(f"the vault {self.path}: {error}") from error

    def put(self, session: str, name: str, record: bytes) -> None:
        with self._work() as base:
            base.execute("INSERT OR REPLACE INTO secrets VALUES (?, ?, ?)", (session, name, record))

    def add(self, session: str, name: str, record: bytes) -> bool:
        with self._work() as base:
            done = base.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?, ?)", (session, name, record))
            return done.rowcount == 1

    def all(self, session: str) -> Mapping[str, bytes]:
        with self._work() as base:
            rows = base.execute("SELECT name, record FROM secrets WHERE session = ?", (session,)).fetchall()
        return {str(name): bytes(record) for name, record in rows}

    def delete(self, session: str, name: str) -> None:
        with self._work() as base:
            base.execute("DELETE FROM secrets WHERE session = ? AND name = ?", (session, name))

    def sessions(self) -> list[str]:
        with self._work() as base:
            return [str(row[0]) for row in base.execute("SELECT DISTINCT session FROM secrets ORDER BY session")]

    def close(self) -> None:
        """Close the file; the store cannot be used after it."""
        with self._lock:
            self._base.close()

    def __del__(self) -> None:
        base: sqlite3.Connection | None = getattr(self, "_base", None)
        if base is not None:
            base.close()


class PostgresStore:
    """The table `jettison_secrets` of a database. A lost connection is opened anew once. Needs `jettison[postgres]`.

    Raises VaultError when the database cannot be reached; the password of `url` is in no message.
    """

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise VaultError(
                f"a vault in PostgreSQL needs psycopg: pip install 'jettison[postgres]' ({error})"
            ) from error
        self._url, self._driver = url, psycopg
        self._lock = threading.Lock()
        self._base: Connection[tuple[Any, ...]] | None = None
        with self._work() as base:
            if base.execute("SELECT to_regclass('jettison_secrets')").fetchone() == (None,):
                base.execute("SELECT pg_advisory_xact_lock(7310575174931149934)")
                base.execute(
                    "CREATE TABLE IF NOT EXISTS jettison_secrets (session bytea NOT NULL, name text NOT NULL, "
                    "record bytea NOT NULL, PRIMARY KEY (session, name))"
                )

    def __repr__(self) -> str:
        return "PostgresStore(…)"

    @contextmanager
    def _work(self) -> Iterator[Connection[tuple[Any, ...]]]:
        try:
            with self._lock:
                if self._base is None or self._base.closed:
                    self._base = self._driver.connect(self._url, autocommit=True)
                try:
                    self._base.execute("SELECT 1")
                except self._driver.OperationalError:  # the server was restarted since
                    self._base.close()
                    self._base = self._driver.connect(self._url, autocommit=True)
                with self._base.transaction():
                    yield self._base
        except self._driver.Error as error:
            raise VaultError(f"the vault's database: {type(error).__name__} {error.sqlstate or ''}".rstrip()) from None

    def put(self, session: str, name: str, record: bytes) -> None:
        with self._work() as base:
            base.execute(
                "INSERT INTO jettison_secrets VALUES (%s, %s, %s) "
                "ON CONFLICT (session, name) DO UPDATE SET record = excluded.record",
                (_bytes(session), name, record),
            )

    def add(self, session: str, name: str, record: bytes) -> bool:
        with self._work() as base:
            done = base.execute(
                "INSERT INTO jettison_secrets VALUES (%s, %s, %s) ON CONFLICT (session, name) DO NOTHING",
                (_bytes(session), name, record),
            )
            return done.rowcount == 1

    def all(self, session: str) -> Mapping[str, bytes]:
        with self._work() as base:
            rows = base.execute(
                "SELECT name, record FROM jettison_secrets WHERE session = %s", (_bytes(session),)
            ).fetchall()
        return {str(name): bytes(record) for name, record in rows}

    def delete(self, session: str, name: str) -> None:
        with self._work() as base:
            base.execute("DELETE FROM jettison_secrets WHERE session = %s AND name = %s", (_bytes(session), name))

    def sessions(self) -> list[str]:
        with self._work() as base:
            rows = base.execute("SELECT DISTINCT session FROM jettison_secrets ORDER BY session").fetchall()
        return [bytes(row[0]).decode("utf-8", "surrogatepass") for row in rows]

    def close(self) -> None:
        """Close the connection; the next use opens one again."""
        with self._lock:
            if self._base is not None:
                self._base.close()

    def __del__(self) -> None:
        base: Connection[tuple[Any, ...]] | None = getattr(self, "_base", None)
        if base is not None:
            base.close()


class HashiCorpStore:
    """HashiCorp Vault's key-value engine, version 2, through a `hvac.Client` of yours.

    Records are at `<prefix>/<session>/<placeholder>`, both in URL-safe base64, still sealed with the vault's own keys.
    """

    def __init__(self, client: Any, *, mount: str = "secret", prefix: str = "jettison") -> None:
        self._kv = client.secrets.kv.v2
        self._mount, self._prefix = mount, prefix

    def __repr__(self) -> str:
        return f"HashiCorpStore(mount={self._mount!r}, prefix={self._prefix!r})"

    def put(self, session: str, name: str, record: bytes) -> None:
        value = {"record": base64.b64encode(record).decode()}
        self._kv.create_or_update_secret(path=self._path(session, name), secret=value, mount_point=self._mount)

    def add(self, session: str, name: str, record: bytes) -> bool:
        from hvac.exceptions import InvalidRequest

        value = {"record": base64.b64encode(record).decode()}
        path = self._path(session, name)
        try:
            self._kv.create_or_update_secret(path=path, secret=value, cas=0, mount_point=self._mount)
        except InvalidRequest as error:
            if "check-and-set" in str(error):
                return False
            raise
        return True

    def all(self, session: str) -> Mapping[str, bytes]:
        out = {}
        for part in self._list(f"{self._prefix}/{_safe(session)}"):
            path = f"{self._prefix}/{_safe(session)}/{part}"
            got = self._kv.read_secret_version(path=path, mount_point=self._mount, raise_on_deleted_version=True)
            out[_plain(part)] = base64.b64decode(got["data"]["data"]["record"])
        return out

    def delete(self, session: str, name: str) -> None:
        self._kv.delete_metadata_and_all_versions(path=self._path(session, name), mount_point=self._mount)

    def sessions(self) -> list[str]:
        return [_plain(part.rstrip("/")) for part in self._list(self._prefix)]

    def _path(self, session: str, name: str) -> str:
        return f"{self._prefix}/{_safe(session)}/{_safe(name)}"

    def _list(self, path: str) -> list[str]:
        from hvac.exceptions import InvalidPath

        try:
            return list(self._kv.list_secrets(path=path, mount_point=self._mount)["data"]["keys"])
        except InvalidPath:
            return []


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _safe(text: str) -> str:
    return base64.urlsafe_b64encode(_bytes(text)).decode().rstrip("=")


def _plain(text: str) -> str:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "surrogatepass")
