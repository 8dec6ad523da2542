"""The tables of an SQLite archive, and how a file of an earlier version is brought to them."""

from __future__ import annotations

import sqlite3

from jettison.errors import ArchiveError

__all__ = ["prepare", "prune_vectors"]

VERSION = 3
"""1 had no conversations and left user_version at 0; 2 had no vectors."""

_TABLES = (
    """CREATE TABLE texts (id INTEGER PRIMARY KEY, handle TEXT NOT NULL UNIQUE, text TEXT NOT NULL,
    size INTEGER NOT NULL DEFAULT 0, stored REAL NOT NULL DEFAULT 0)""",
    "CREATE VIRTUAL TABLE words USING fts5 (text, content='texts', content_rowid='id')",
)
_MIGRATION = (
    "DROP TRIGGER IF EXISTS texts_added",
    "ALTER TABLE texts ADD COLUMN size INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE texts ADD COLUMN stored REAL NOT NULL DEFAULT 0",
    "UPDATE texts SET size = length(CAST(text AS BLOB)), stored = strftime('%s', 'now')",
)
# A text that is no UTF-8 (a lone surrogate) is a blob, and is not searched.
_CONVERSATIONS = (
    """CREATE TABLE holds (conversation TEXT NOT NULL, text INTEGER NOT NULL, since REAL NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (conversation, text)) WITHOUT ROWID""",
    "CREATE INDEX holds_by_text ON holds (text, pinned)",
    """CREATE TRIGGER texts_added AFTER INSERT ON texts WHEN typeof(new.text) = 'text' BEGIN
    INSERT INTO words (rowid, text) VALUES (new.id, new.text);
    END""",
    """CREATE TRIGGER texts_gone AFTER DELETE ON texts BEGIN
    INSERT INTO words (words, rowid, text) SELECT 'delete', old.id, old.text WHERE typeof(old.text) = 'text';
    DELETE FROM holds WHERE text = old.id;
    END""",
    # What an earlier version stored belongs to the conversation "", pinned: whose stubs point at it is not known.
    "INSERT INTO holds SELECT '', id, stored, 1 FROM texts",
)
_VECTORS = (
    """CREATE TABLE vectors (embedder TEXT NOT NULL, key BLOB NOT NULL, conversation TEXT NOT NULL,
    vector BLOB NOT NULL, stored REAL NOT NULL, PRIMARY KEY (embedder, key, conversation)) WITHOUT ROWID""",
    "CREATE INDEX vectors_by_conversation ON vectors (conversation)",
    f"PRAGMA user_version = {VERSION}",
)


def prepare(base: sqlite3.Connection, path: str) -> None:
    """Make the tables, or bring those of an earlier version up to date; all or nothing.

    `base` is in autocommit. Raises ArchiveError for a file of a later version, sqlite3.Error for one that is none.
    """
    base.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only a new file heeds it
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = FULL")  # a commit is on the disk, not only with the operating system
    base.execute("PRAGMA secure_delete = ON")
    if _version(base, path) == VERSION:
        return
    base.execute("BEGIN IMMEDIATE")
    try:
        for statement in _missing(base, _version(base, path)):  # none where somebody was faster
            base.execute(statement)
        base.execute("COMMIT")
    except BaseException:
        base.execute("ROLLBACK")
        raise


def _missing(base: sqlite3.Connection, version: int) -> tuple[str, ...]:
    """The statements that bring a file of this version up to date."""
    if version == VERSION:
        return ()
    if version == 2:
        return _VECTORS
    known = base.execute("SELECT 1 FROM sqlite_schema WHERE name = 'texts'").fetchone()
    return (_MIGRATION if known else _TABLES) + _CONVERSATIONS + _VECTORS


def _version(base: sqlite3.Connection, path: str) -> int:
    version = int(base.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise ArchiveError(f"{path} was made by a later version of Jettison (archive format {version})")
    return version


def prune_vectors(base: sqlite3.Connection, now: float, max_age: float | None, room: int | None) -> None:
    """Drop vectors too old, then the oldest until they take `room` bytes at most."""
    if max_age is not None:
        base.execute("DELETE FROM vectors WHERE ? - stored > ?", (now, max_age))
    if room is not None:
        base.execute(
            "DELETE FROM vectors WHERE stored <= (SELECT stored FROM (SELECT stored, sum(length(vector)) OVER "
            "(ORDER BY stored DESC ROWS UNBOUNDED PRECEDING) AS taken FROM vectors) WHERE taken > ? "
            "ORDER BY stored DESC LIMIT 1)",
            (room,),
        )
