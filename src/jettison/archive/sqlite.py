"""An archive in one SQLite file: survives the process, can serve several sessions, and is searched by FTS5."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike

from jettison.archive.records import Conversation, Pruned, Row, checked, droppable, missing, size_of, taken
from jettison.archive.sqlite_schema import prepare, prune_vectors
from jettison.archive.words import root, words_of
from jettison.errors import ArchiveError

__all__ = ["SQLiteArchive"]

_COVERED = "(holds.conversation = :key OR (holds.conversation > :key || '/' AND holds.conversation < :key || '0'))"
"""`0` is the character after `/`: all keys that begin with `key/`."""
_HELD = f"(:key IS NULL OR EXISTS (SELECT 1 FROM holds WHERE holds.text = texts.id AND {_COVERED}))"


class SQLiteArchive:
    """Texts by handle in a file (write-ahead log). Safe to share between threads and processes.

    `timeout`: seconds to wait for another process that writes. Raises ArchiveError, naming the file, when it cannot
    be opened, read or written, or is not an archive; nothing is half-done then.
    """

    def __init__(
        self, path: str | PathLike[str], *, timeout: float = 30.0, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = str(path)
        self.clock = clock
        self._lock = threading.Lock()
        try:
            self._base = sqlite3.connect(self.path, timeout=timeout, check_same_thread=False, isolation_level=None)
            prepare(self._base, self.path)
        except sqlite3.Error as error:
            raise ArchiveError(f"{self.path} cannot be used as an archive: {error}") from error

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
                    if self._base.in_transaction:  # some failures have rolled it back themselves
                        self._base.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise ArchiveError(f"{self.path}: {error}") from error

    def put(self, handle: str, text: str, conversation: str = "") -> None:
        """Store a text under its handle; again with the same text is a no-op.

        On return it is on the disk. Raises ArchiveError when the handle stands for another text.
        """
        self.put_many({handle: text}, conversation)

    def put_many(self, texts: Mapping[str, str], conversation: str = "", *, release: Collection[str] = ()) -> None:
        """Store all of these or none, pinned for the conversation, and unpin those in `release`: one transaction."""
        now = self.clock()
        with self._work(write=True) as base:
            for handle, text in texts.items():
                row = base.execute("SELECT id, text FROM texts WHERE handle = ?", (handle,)).fetchone()
                if row is None:
                    added = base.execute(
                        "INSERT INTO texts (handle, text, size, stored) VALUES (?, ?, ?, ?)",
                        (handle, _stored(text), size_of(text), now),
                    )
                    number = added.lastrowid
                elif _text(row[1]) == text:
                    number = row[0]
                    base.execute("UPDATE texts SET stored = ? WHERE id = ?", (now, number))
                else:
                    raise taken(handle, f" in {self.path}")
                base.execute(
                    "INSERT INTO holds VALUES (?, ?, ?, 1) ON CONFLICT (conversation, text) DO UPDATE SET pinned = 1",
                    (conversation, number, now),
                )
            self._unpin(base, conversation, [handle for handle in release if handle not in texts])

    def get(self, handle: str, *, conversation: str | None = None) -> str:
        """The exact text. Raises ArchiveError when there is none, or the conversation does not hold it."""
        with self._work() as base:
            row = base.execute(
                f"SELECT text FROM texts WHERE handle = :handle AND {_HELD}", {"handle": handle, "key": conversation}
            ).fetchone()
        if row is None:
            raise missing(handle, f" in {self.path}")
        return _text(row[0])

    def search(self, query: str, limit: int = 10, *, conversation: str | None = None) -> list[tuple[str, str]]:
        """(handle, excerpt) of texts that hold some of the query's words, or other forms of them, best first (BM25)."""
        terms = []
        for word in words_of(query):
            terms.append('"' + word.replace('"', '""') + '"')
            if stem := root(word):
                terms.append(f'"{stem}"*')
        if not terms:
            return []
        with self._work() as base:
            rows = base.execute(
                "SELECT texts.handle, snippet(words, 0, '', '', '…', 40) FROM words "
                f"JOIN texts ON texts.id = words.rowid WHERE words MATCH :words AND {_HELD} ORDER BY rank LIMIT :limit",
                {"words": " OR ".join(terms), "key": conversation, "limit": max(0, limit)},
            ).fetchall()
        return [(str(handle), str(excerpt)) for handle, excerpt in rows]

    def release(self, conversation: str, handles: Collection[str] | None = None) -> None:
        """Unpin these texts of a conversation; None: it is over, all of them."""
        with self._work(write=True) as base:
            if handles is None:
                base.execute(f"UPDATE holds SET pinned = 0 WHERE {_COVERED}", {"key": conversation})
            else:
                self._unpin(base, conversation, handles)

    def delete(self, conversation: str) -> int:
        """Delete a conversation wholly; texts that another one holds stay. Returns how many texts are gone.

        Their bytes are overwritten in the file. Where another process is just reading, those in the log go with
        its next checkpoint.
        """
        with self._work(write=True) as base:
            mine = base.execute(f"SELECT DISTINCT text FROM holds WHERE {_COVERED}", {"key": conversation}).fetchall()
            base.execute(f"DELETE FROM holds WHERE {_COVERED}", {"key": conversation})
            gone = base.executemany(
                "DELETE FROM texts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM holds WHERE holds.text = texts.id)", mine
            ).rowcount
            base.execute(f"DELETE FROM vectors WHERE {_COVERED.replace('holds.', '')}", {"key": conversation})
            self._wipe(base, gone)
        self._shrink()
        return max(0, gone)

    def conversations(self) -> list[Conversation]:
        """All conversations that hold a text, by key."""
        with self._work() as base:
            rows = base.execute(
                "SELECT conversation, count(*), sum(size), min(since), max(since) FROM holds "
                "JOIN texts ON texts.id = holds.text GROUP BY conversation ORDER BY conversation"
            ).fetchall()
        return [Conversation(*row) for row in rows]

    def prune(
        self, *, max_bytes: int | None = None, max_age: float | None = None, live: Collection[str] = ()
    ) -> Pruned:
        """Drop texts not stored for `max_age` seconds, then the oldest until all take `max_bytes` (UTF-8) at most.

        Never what is pinned, or in `live` (handles). Vectors have what texts leave of `max_bytes`, the newest first.
        """
        checked(max_bytes, max_age)
        with self._work(write=True) as base:
            total = int(base.execute("SELECT coalesce(sum(size), 0) FROM texts").fetchone()[0])
            rows = base.execute(
                "SELECT id, handle, size, stored FROM texts WHERE NOT EXISTS "
                "(SELECT 1 FROM holds WHERE holds.text = texts.id AND holds.pinned) ORDER BY stored, id"
            )
            out = droppable((Row(*row) for row in rows), total, self.clock(), max_bytes, max_age, live)
            base.executemany("DELETE FROM texts WHERE id = ?", [(row.id,) for row in out])
            self._wipe(base, len(out))
            gone = sum(row.size for row in out)
            prune_vectors(base, self.clock(), max_age, None if max_bytes is None else max_bytes - total + gone)
        self._shrink()
        return Pruned(len(out), gone, total - gone)

    def put_vectors(self, embedder: str, vectors: Mapping[bytes, bytes], conversation: str = "") -> None:
        """Store vectors by content hash, for this conversation: one transaction."""
        now = self.clock()
        with self._work(write=True) as base:
            base.executemany(
                "INSERT OR REPLACE INTO vectors (embedder, key, conversation, vector, stored) VALUES (?, ?, ?, ?, ?)",
                [(embedder, key, conversation, vector, now) for key, vector in vectors.items()],
            )

    def vectors(self, embedder: str, keys: Collection[bytes], *, conversation: str | None = None) -> dict[bytes, bytes]:
        """Those that are there; with a conversation, only what it stored."""
        owned = f"(:key IS NULL OR {_COVERED.replace('holds.', '')})"
        found = {}
        with self._work() as base:
            for key in keys:
                row = base.execute(
                    f"SELECT vector FROM vectors WHERE embedder = :from AND vectors.key = :text AND {owned} LIMIT 1",
                    {"from": embedder, "text": key, "key": conversation},
                ).fetchone()
                if row is not None:
                    found[key] = bytes(row[0])
        return found

    @staticmethod
    def _unpin(base: sqlite3.Connection, conversation: str, handles: Collection[str]) -> None:
        base.executemany(
            "UPDATE holds SET pinned = 0 WHERE conversation = ? AND text = (SELECT id FROM texts WHERE handle = ?)",
            [(conversation, handle) for handle in handles],
        )

    @staticmethod
    def _wipe(base: sqlite3.Connection, gone: int) -> None:
        """The words of deleted texts stay in the index until its parts are merged."""
        if gone > 0:
            base.execute("INSERT INTO words (words) VALUES ('optimize')")

    def _shrink(self) -> None:
        """Give free pages back, and empty the log, which still holds what was deleted."""
        try:
            with self._lock:
                self._base.executescript("PRAGMA incremental_vacuum")  # `execute` would stop after one page
                self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise ArchiveError(f"{self.path}: {error}") from error

    def __del__(self) -> None:
        base: sqlite3.Connection | None = getattr(self, "_base", None)
        if base is not None:
            base.close()

    def close(self) -> None:
        """Close the file; the archive cannot be used after it."""
        with self._lock:
            self._base.close()


def _stored(text: str) -> str | bytes:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
