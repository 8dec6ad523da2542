"""An archive in PostgreSQL, for agents on several machines. Needs the extra `jettison[postgres]`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jettison.archive.records import Conversation, Pruned, Row, checked, droppable, missing, taken
from jettison.archive.words import excerpt, lowered, root, words_of
from jettison.errors import ArchiveError

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PostgresArchive"]

_LOCK = 0x6A65_7474_6973_6F6E
"""The advisory lock of all writers: `jettison` in ASCII. Those who store share it, those who delete hold it alone."""

PIECE = 100_000
"""Characters of a text that are indexed as one: an index entry may take 1 MB at most, and this takes less even when no
word occurs twice."""

# A text is bytes: PostgreSQL's own text refuses U+0000. Keys sort by code point, as the `covers` of a key needs.
_TABLES = (
    """CREATE TABLE IF NOT EXISTS jettison_texts (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    handle text COLLATE "C" NOT NULL UNIQUE, body bytea NOT NULL, stored double precision NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS jettison_holds (conversation text COLLATE "C" NOT NULL,
    text bigint NOT NULL REFERENCES jettison_texts ON DELETE CASCADE, since double precision NOT NULL,
    pinned boolean NOT NULL DEFAULT true, PRIMARY KEY (conversation, text))""",
    "CREATE INDEX IF NOT EXISTS jettison_holds_by_text ON jettison_holds (text, pinned)",
    """CREATE TABLE IF NOT EXISTS jettison_words (text bigint NOT NULL REFERENCES jettison_texts ON DELETE CASCADE,
    words tsvector NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS jettison_words_by_text ON jettison_words (text)",
    "CREATE INDEX IF NOT EXISTS jettison_words_by_word ON jettison_words USING gin (words)",
    """CREATE TABLE IF NOT EXISTS jettison_vectors (embedder text COLLATE "C" NOT NULL, key bytea NOT NULL,
    conversation text COLLATE "C" NOT NULL, vector bytea NOT NULL, stored double precision NOT NULL,
    PRIMARY KEY (embedder, key, conversation))""",
    "CREATE INDEX IF NOT EXISTS jettison_vectors_by_conversation ON jettison_vectors (conversation)",
)
_COVERED = "(h.conversation = %(key)s OR (h.conversation > %(key)s || '/' AND h.conversation < %(key)s || '0'))"
_HELD = f"(%(key)s::text IS NULL OR EXISTS (SELECT 1 FROM jettison_holds h WHERE h.text = t.id AND {_COVERED}))"


class PostgresArchive:
    """Texts by handle in a database (UTF-8), in the tables `jettison_*`. Safe to share between threads and processes.

    `url`: `postgresql://user@host/database`. A lost connection is opened anew once. Raises ArchiveError when the
    database cannot be reached, read or written; nothing is half-done then.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time) -> None:
        try:
            import psycopg
        except ImportError as error:  # not installed, or without its library
            raise ArchiveError(
                f"an archive in PostgreSQL needs psycopg: pip install 'jettison[postgres]' ({error})"
            ) from error
        self.clock = clock
        self._url, self._driver = url, psycopg
        self._lock = threading.Lock()
        self._closed = False
        self._base: Connection[tuple[Any, ...]] | None = None
        with self._work() as base:
            encoding = base.info.parameter_status("server_encoding")
            found = base.execute("SELECT to_regclass('jettison_vectors')").fetchone()
        if encoding != "UTF8":
            raise ArchiveError(f"the database of an archive must be UTF8, {self._name} is {encoding}")
        if found == (None,):
            with self._work(exclusive=True) as base:
                for statement in _TABLES:
                    base.execute(statement)

    @property
    def _name(self) -> str:
        """The database, without its password."""
        return f"database {self._base.info.dbname!r}" if self._base is not None else "the archive's database"

    def _connected(self) -> Connection[tuple[Any, ...]]:
        if self._closed:
            raise ArchiveError("this archive was closed")
        if self._base is None or self._base.closed:
            self._base = self._driver.connect(self._url, autocommit=True)
            self._base.execute("SET client_encoding = 'UTF8'")
        return self._base

    @contextmanager
    def _work(self, write: bool = False, exclusive: bool = False) -> Iterator[Connection[tuple[Any, ...]]]:
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
                    if exclusive:
                        base.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                    elif write:
                        base.execute("SELECT pg_advisory_xact_lock_shared(%s)", (_LOCK,))
                    yield base
        except self._driver.Error as error:
            raise ArchiveError(f"{self._name}: {error}") from error

    def put(self, handle: str, text: str, conversation: str = "") -> None:
        """Store a text under its handle; again with the same text is a no-op.

        On return it is committed. Raises ArchiveError when the handle stands for another text.
        """
        self.put_many({handle: text}, conversation)

    def put_many(self, texts: Mapping[str, str], conversation: str = "", *, release: Collection[str] = ()) -> None:
        """Store all of these or none, pinned for the conversation, and unpin those in `release`: one transaction."""
        now = self.clock()
        with self._work(write=True) as base:
            for handle, text in sorted(texts.items()):  # in one order everywhere: two writers cannot block each other
                body = text.encode("utf-8", "surrogatepass")
                row = base.execute(
                    "INSERT INTO jettison_texts (handle, body, stored) VALUES (%s, %s, %s) "
                    "ON CONFLICT (handle) DO UPDATE SET stored = excluded.stored RETURNING id, body, xmax = 0",
                    (handle, body, now),
                ).fetchone()
                assert row is not None
                if bytes(row[1]) != body:
                    raise taken(handle, f" in {self._name}")
                if row[2]:
                    self._index(base, row[0], text)
                base.execute(
                    "INSERT INTO jettison_holds VALUES (%s, %s, %s) "
                    "ON CONFLICT (conversation, text) DO UPDATE SET pinned = true",
                    (conversation, row[0], now),
                )
            self._unpin(base, conversation, [handle for handle in release if handle not in texts])

    @staticmethod
    def _index(base: Connection[tuple[Any, ...]], number: int, text: str) -> None:
        # Lower case is made here: in a database of the locale C the server knows that of ASCII only. `simple` has no
        # stop words and no language: what is found is what the other archives find.
        low = "".join(" " if char == "\0" or "\ud800" <= char <= "\udfff" else char for char in lowered(text))
        for start in range(0, len(low), PIECE):
            base.execute(
                "INSERT INTO jettison_words VALUES (%s, to_tsvector('simple', %s))",
                (number, low[start : start + PIECE]),
            )

    def get(self, handle: str, *, conversation: str | None = None) -> str:
        """The exact text. Raises ArchiveError when there is none, or the conversation does not hold it."""
        with self._work() as base:
            row = base.execute(
                f"SELECT t.body FROM jettison_texts t WHERE t.handle = %(handle)s AND {_HELD}",
                {"handle": handle, "key": conversation},
            ).fetchone()
        if row is None:
            raise missing(handle, f" in {self._name}")
        return _text(row[0])

    def search(self, query: str, limit: int = 10, *, conversation: str | None = None) -> list[tuple[str, str]]:
        """(handle, excerpt) of texts that hold some of the query's words, or other forms of them, best first."""
        words = words_of(query)
        if not words:
            return []
        roots = [f"{stem}:*" for word in words if (stem := root(word))]
        asked = ["phraseto_tsquery('simple', %s)"] * len(words) + ["to_tsquery('simple', %s)"] * len(roots)
        with self._work() as base:
            row = base.execute(f"SELECT ({' || '.join(asked)})::text", [*words, *roots]).fetchone()
            rows = base.execute(
                "SELECT t.handle, t.body FROM (SELECT w.text, max(ts_rank(w.words, %(q)s::tsquery)) AS rank "
                "FROM jettison_words w WHERE w.words @@ %(q)s::tsquery GROUP BY w.text) AS found "
                f"JOIN jettison_texts t ON t.id = found.text WHERE {_HELD} ORDER BY rank DESC, t.id LIMIT %(limit)s",
                {"q": row[0] if row is not None else "", "key": conversation, "limit": max(0, limit)},
            ).fetchall()
        return [(str(handle), excerpt(_text(body), words)) for handle, body in rows]

    def release(self, conversation: str, handles: Collection[str] | None = None) -> None:
        """Unpin these texts of a conversation; None: it is over, all of them."""
        with self._work(write=True) as base:
            if handles is None:
                base.execute(f"UPDATE jettison_holds h SET pinned = false WHERE {_COVERED}", {"key": conversation})
            else:
                self._unpin(base, conversation, handles)

    def delete(self, conversation: str) -> int:
        """Delete a conversation wholly; texts that another one holds stay. Returns how many texts are gone."""
        with self._work(exclusive=True) as base:
            gone = base.execute(
                f"WITH mine AS (DELETE FROM jettison_holds h WHERE {_COVERED} RETURNING text) DELETE FROM "
                "jettison_texts t USING (SELECT DISTINCT text FROM mine) AS m WHERE t.id = m.text AND NOT EXISTS "
                f"(SELECT 1 FROM jettison_holds h WHERE h.text = t.id AND NOT {_COVERED})",
                {"key": conversation},
            ).rowcount
            base.execute(f"DELETE FROM jettison_vectors h WHERE {_COVERED}", {"key": conversation})
        return max(0, gone)

    def conversations(self) -> list[Conversation]:
        """All conversations that hold a text, by key."""
        with self._work() as base:
            rows = base.execute(
                "SELECT conversation, count(*), sum(length(body)), min(since), max(since) FROM jettison_holds "
                "JOIN jettison_texts ON id = text GROUP BY conversation ORDER BY conversation"
            ).fetchall()
        return [Conversation(key, count, int(size), first, last) for key, count, size, first, last in rows]

    def prune(
        self, *, max_bytes: int | None = None, max_age: float | None = None, live: Collection[str] = ()
    ) -> Pruned:
        """Drop texts not stored for `max_age` seconds, then the oldest until all take `max_bytes` (UTF-8) at most.

        Never what is pinned, or in `live` (handles). Vectors have what texts leave of `max_bytes`, the newest first.
        """
        checked(max_bytes, max_age)
        with self._work(exclusive=True) as base:
            row = base.execute("SELECT coalesce(sum(length(body)), 0) FROM jettison_texts").fetchone()
            total = int(row[0]) if row is not None else 0
            rows = base.execute(
                "SELECT id, handle, length(body), stored FROM jettison_texts t WHERE NOT EXISTS "
                "(SELECT 1 FROM jettison_holds h WHERE h.text = t.id AND h.pinned) ORDER BY stored, id"
            ).fetchall()
            out = droppable((Row(*row) for row in rows), total, self.clock(), max_bytes, max_age, live)
            base.execute("DELETE FROM jettison_texts WHERE id = ANY(%s)", ([row.id for row in out],))
            gone = sum(row.size for row in out)
            self._prune_vectors(base, max_age, None if max_bytes is None else max_bytes - total + gone)
        return Pruned(len(out), gone, total - gone)

    def put_vectors(self, embedder: str, vectors: Mapping[bytes, bytes], conversation: str = "") -> None:
        """Store vectors by content hash, for this conversation: one transaction."""
        now = self.clock()
        with self._work(write=True) as base:
            for key, vector in sorted(vectors.items()):
                base.execute(
                    "INSERT INTO jettison_vectors VALUES (%s, %s, %s, %s, %s) "
                    "ON CONFLICT (embedder, key, conversation) "
                    "DO UPDATE SET vector = excluded.vector, stored = excluded.stored",
                    (embedder, key, conversation, vector, now),
                )

    def vectors(self, embedder: str, keys: Collection[bytes], *, conversation: str | None = None) -> dict[bytes, bytes]:
        """Those that are there; with a conversation, only what it stored."""
        with self._work() as base:
            rows = base.execute(
                "SELECT DISTINCT ON (h.key) h.key, h.vector FROM jettison_vectors h "
                "WHERE h.embedder = %(embedder)s AND h.key = ANY(%(keys)s) "
                f"AND (%(key)s::text IS NULL OR {_COVERED}) ORDER BY h.key",
                {"embedder": embedder, "keys": list(keys), "key": conversation},
            ).fetchall()
        return {bytes(key): bytes(vector) for key, vector in rows}

    def _prune_vectors(self, base: Connection[tuple[Any, ...]], max_age: float | None, room: int | None) -> None:
        """Vectors too old, then the oldest until they take `room` bytes at most."""
        if max_age is not None:
            base.execute("DELETE FROM jettison_vectors WHERE %s - stored > %s", (self.clock(), max_age))
        if room is not None:
            base.execute(
                "DELETE FROM jettison_vectors WHERE stored <= (SELECT stored FROM (SELECT stored, sum(length(vector)) "
                "OVER (ORDER BY stored DESC ROWS UNBOUNDED PRECEDING) AS taken FROM jettison_vectors) AS sums "
                "WHERE taken > %s ORDER BY stored DESC LIMIT 1)",
                (room,),
            )

    @staticmethod
    def _unpin(base: Connection[tuple[Any, ...]], conversation: str, handles: Collection[str]) -> None:
        base.execute(
            "UPDATE jettison_holds h SET pinned = false FROM jettison_texts t "
            "WHERE t.id = h.text AND h.conversation = %s AND t.handle = ANY(%s)",
            (conversation, list(handles)),
        )

    def __del__(self) -> None:
        base: Connection[tuple[Any, ...]] | None = getattr(self, "_base", None)
        if base is not None:
            base.close()

    def close(self) -> None:
        """Close the connection; the archive cannot be used after it."""
        with self._lock:
            self._closed = True
            if self._base is not None:
                self._base.close()


def _text(body: bytes | memoryview) -> str:
    return bytes(body).decode("utf-8", "surrogatepass")
