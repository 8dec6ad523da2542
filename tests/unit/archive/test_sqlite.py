"""What only the archive in a file has to do: earlier files, files that are none, full disks, locks, wiping."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from jettison import ArchiveError, Session
from jettison.archive import MemoryArchive, PostgresArchive, SQLiteArchive, opened
from jettison.archive.sqlite_schema import VERSION

LOG = "\n".join(f"09:00:{n % 60:02} INFO worker.tick batch={n * 7} took={n}ms" for n in range(400))
CALL = {"id": "c", "type": "function", "function": {"name": "logs", "arguments": "{}"}}
MESSAGES = [
    {"role": "user", "content": "Read the log."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": LOG},
    {"role": "user", "content": "And?"},
]


def test_opened_takes_a_name_an_archive_or_nothing(tmp_path):
    assert isinstance(opened(None), MemoryArchive)
    assert isinstance(opened(str(tmp_path / "a.db")), SQLiteArchive)
    mine = MemoryArchive()
    assert opened(mine) is mine


def test_a_session_recalls_from_its_file_after_the_process_is_gone(tmp_path):
    report = Session(600, archive=tmp_path / "a.db").fit(MESSAGES).report
    handle = next(row.handle for row in report.rows if row.handle and row.kind == "result")
    assert SQLiteArchive(tmp_path / "a.db").get(handle) == LOG
    with closing(sqlite3.connect(tmp_path / "a.db")) as base:
        assert base.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


# earlier files

VERSION_1 = """
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, handle TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text, content='texts', content_rowid='id');
CREATE TRIGGER IF NOT EXISTS texts_added AFTER INSERT ON texts BEGIN
  INSERT INTO words (rowid, text) VALUES (new.id, new.text);
END;
"""


@pytest.fixture
def earlier(tmp_path) -> Path:
    """A file as version 0.1.0 made it."""
    path = tmp_path / "earlier.db"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("PRAGMA journal_mode = WAL")
        base.executescript(VERSION_1)
        rows = [("bofidu", "refund of ORD-17"), ("kadusa", "заказ\r\n\x00 отправлен")]
        base.executemany("INSERT INTO texts (handle, text) VALUES (?, ?)", rows)
    return path


def test_a_file_of_an_earlier_version_keeps_its_texts(earlier):
    archive = SQLiteArchive(earlier)
    assert archive.get("bofidu") == "refund of ORD-17"
    assert archive.get("kadusa") == "заказ\r\n\x00 отправлен"
    assert [handle for handle, _ in archive.search("заказы")] == ["kadusa"]
    (one,) = archive.conversations()
    assert (one.key, one.texts, one.bytes) == ("", 2, 48)
    assert archive.prune(max_bytes=0, max_age=0).texts == 0, "whose stubs point at them is not known"
    archive.put("nisuba", "a new text", "chat")
    assert SQLiteArchive(earlier).get("nisuba") == "a new text"
    assert archive.delete("") == 2
    assert archive.search("refund") == []
    _sound(earlier)


def test_the_code_of_the_earlier_version_is_what_made_that_file(earlier):
    with closing(sqlite3.connect(earlier)) as base:
        assert base.execute("PRAGMA user_version").fetchone() == (0,)
    SQLiteArchive(earlier)
    with closing(sqlite3.connect(earlier)) as base:
        assert base.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_file_without_vectors_gets_a_place_for_them(tmp_path):
    path = tmp_path / "a.db"
    SQLiteArchive(path).put("bofidu", "refund of ORD-17", "chat-1")
    with closing(sqlite3.connect(path)) as base, base:  # as version 2 left it
        base.execute("DROP TABLE vectors")
        base.execute("PRAGMA user_version = 2")
    archive = SQLiteArchive(path)
    assert archive.get("bofidu", conversation="chat-1") == "refund of ORD-17"
    archive.put_vectors("m", {b"k": b"v"})
    assert SQLiteArchive(path).vectors("m", [b"k"]) == {b"k": b"v"}


def test_a_migration_that_fails_leaves_the_file_as_it_was(earlier):
    with closing(sqlite3.connect(earlier)) as base, base:
        base.execute("CREATE TABLE holds (somebody INTEGER)")  # in the way
    with pytest.raises(ArchiveError, match=r"earlier\.db"):
        SQLiteArchive(earlier)
    with closing(sqlite3.connect(earlier)) as base, base:
        assert [row[1] for row in base.execute("PRAGMA table_info(texts)")] == ["id", "handle", "text"]
        base.execute("DROP TABLE holds")
    assert SQLiteArchive(earlier).get("bofidu") == "refund of ORD-17"


def test_a_file_of_a_later_version_is_left_alone(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as base, base:
        base.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(ArchiveError, match=r"a\.db was made by a later version"):
        SQLiteArchive(tmp_path / "a.db")


# wiping


def test_nothing_of_a_deleted_conversation_is_left_in_the_file(tmp_path):
    archive = SQLiteArchive(tmp_path / "a.db")
    for n in range(200):
        archive.put(f"kept{n}", f"kept {n} " * 50, "kept")
        archive.put(f"gone{n}", f"zanzibar{n} " * 50, "gone")
    archive.delete("gone")
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"zanzibar" not in data
    assert b"kept 17 " in data
    _sound(tmp_path / "a.db")


def test_the_file_becomes_smaller(tmp_path):
    archive = SQLiteArchive(tmp_path / "a.db")
    archive.put_many({f"h{n}": f"{n} " * 5_000 for n in range(100)}, "chat")
    archive.release("chat")
    before = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert archive.prune(max_bytes=20_000).left <= 20_000
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < before / 10


# what goes wrong


def test_a_file_that_is_no_database_is_named(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be looked at" * 50)
    with pytest.raises(ArchiveError, match=r"notes\.txt"):
        SQLiteArchive(path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ArchiveError, match=r"nowhere.a\.db"):
        SQLiteArchive(tmp_path / "nowhere" / "a.db")


def test_a_closed_archive_says_so(tmp_path):
    archive = SQLiteArchive(tmp_path / "a.db")
    archive.close()
    with pytest.raises(ArchiveError, match=r"a\.db"):
        archive.put("bofidu", "text")


def _full(archive: SQLiteArchive) -> None:
    pages = archive._base.execute("PRAGMA page_count").fetchone()[0]
    archive._base.execute(f"PRAGMA max_page_count = {pages}")


def _read_only(archive: SQLiteArchive) -> None:
    archive._base.execute("PRAGMA query_only = ON")


def _locked(archive: SQLiteArchive) -> None:
    archive.other = sqlite3.connect(archive.path, isolation_level=None)  # type: ignore[attr-defined]
    archive.other.execute("BEGIN IMMEDIATE")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [(_full, "disk is full"), (_read_only, "readonly"), (_locked, "locked")],
    ids=["disk full", "read-only", "locked"],
)
def test_a_fit_whose_texts_cannot_be_stored_changes_nothing(tmp_path, spoil, words):
    archive = SQLiteArchive(tmp_path / "a.db", timeout=0.05)
    archive.put("bofidu", "text")
    session = Session(600, archive=archive, conversation="chat")
    session.fit(MESSAGES[:1])
    state, pinned = session._state, session._shelf.pinned
    spoil(archive)
    with pytest.raises(ArchiveError, match=rf"a\.db: .*{words}"):
        session.fit(MESSAGES)
    assert session._state is state
    assert session._shelf.pinned == pinned
    if hasattr(archive, "other"):
        archive.other.close()
    archive.close()

    session.archive = SQLiteArchive(tmp_path / "a.db")  # the disk has room again
    assert [one.key for one in session.archive.conversations()] == [""]
    fitted = session.fit(MESSAGES)
    fresh = Session(600, archive=tmp_path / "b.db")
    fresh.fit(MESSAGES[:1])
    assert fitted.messages == fresh.fit(MESSAGES).messages
    assert all(session.recall(row.handle) for row in fitted.report.rows if row.handle)
    _sound(tmp_path / "a.db")


def test_without_psycopg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ArchiveError, match=r"pip install 'jettison\[postgres\]'"):
        opened("postgresql://me@host/db")


def test_the_password_of_a_database_is_in_no_error():
    pytest.importorskip("psycopg")
    with pytest.raises(ArchiveError) as caught:
        PostgresArchive("postgresql://me:hunter2-made-up@127.0.0.1:1/none?connect_timeout=2")
    assert "hunter2" not in str(caught.value)


def _sound(path: Path) -> None:
    """Raises sqlite3.Error when the file or its index is broken."""
    with closing(sqlite3.connect(path)) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        base.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
        base.rollback()
