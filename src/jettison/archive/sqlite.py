"""An archive in one SQLite file: survives the process, can serve several sessions, and is searched by FTS5."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from jettison.errors import ArchiveError

__all__ = ["SQLiteArchive"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, handle TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text, content='texts', content_rowid='id');
CREATE TRIGGER IF NOT EXISTS texts_added AFTER INSERT ON texts BEGIN
  INSERT INTO words (rowid, text) VALUES (new.id, new.text);
END;
"""


class SQLiteArchive:
    """Texts by handle in a file (write-ahead log). Safe to share between threads and processes.

    Raises ArchiveError, naming the file, when it cannot be opened or is not an archive.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = str(path)
        self._lock = threading.Lock()
        try:
            self._base = sqlite3.connect(self.path, timeout=30, check_same_thread=False)
            with self._base:
                self._base.execute("PRAGMA journal_mode = WAL")
                self._base.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise ArchiveError(f"{self.path} cannot be used as an archive: {error}") from error

    @contextmanager
    def _work(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        try:
            with self._lock, self._base:
                yield self._base
        except sqlite3.Error as error:
            raise ArchiveError(f"{self.path}: {error}") from error

    def put(self, handle: str, text: str) -> None:
        """Store a text under its handle; again with the same text is a no-op.

        On return it is in the file. Raises ArchiveError when the handle stands for another text.
        """
        with self._work() as base:
            base.execute("INSERT OR IGNORE INTO texts (handle, text) VALUES (?, ?)", (handle, text))
            known = base.execute("SELECT text FROM texts WHERE handle = ?", (handle,)).fetchone()[0]
        if known != text:
            raise ArchiveError(f"handle {handle!r} already stands for another text in {self.path}")

    def get(self, handle: str) -> str:
        """The exact text. Raises ArchiveError when there is none."""
        with self._work() as base:
            row = base.execute("SELECT text FROM texts WHERE handle = ?", (handle,)).fetchone()
        if row is None:
            raise ArchiveError(f"no text is archived under {handle!r} in {self.path}")
        return str(row[0])

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        """(handle, excerpt) of texts that hold some of the query's words, best first (BM25)."""
        words = " OR ".join('"' + word.replace('"', '""') + '"' for word in query.split())
        if not words:
            return []
        with self._work() as base:
            rows = base.execute(
                "SELECT texts.handle, snippet(words, 0, '', '', '…', 40) FROM words "
                "JOIN texts ON texts.id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT ?",
                (words, limit),
            ).fetchall()
        return [(str(handle), str(excerpt)) for handle, excerpt in rows]

    def __del__(self) -> None:
        base: sqlite3.Connection | None = getattr(self, "_base", None)
        if base is not None:
            base.close()

    def close(self) -> None:
        """Close the file; the archive cannot be used after it."""
        with self._lock:
            self._base.close()
