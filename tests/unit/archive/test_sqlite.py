"""The archive in a file: exact, shared, durable, and honest about files that are none."""

import sqlite3
import threading
from contextlib import closing

import pytest

from jettison import ArchiveError, Session
from jettison.archive import MemoryArchive, SQLiteArchive, opened


@pytest.fixture(params=["memory", "sqlite"])
def archive(request, tmp_path):
    return MemoryArchive() if request.param == "memory" else SQLiteArchive(tmp_path / "a.db")


def test_what_is_put_comes_back_exactly(archive):
    text = "строка\r\n\x00 \u2028 👩‍👩‍👧‍👦 " * 500
    archive.put("bofidu", text)
    archive.put("bofidu", text)
    assert archive.get("bofidu") == text


def test_a_handle_never_changes_its_text(archive):
    archive.put("bofidu", "one")
    with pytest.raises(ArchiveError, match="already stands for another text"):
        archive.put("bofidu", "two")
    assert archive.get("bofidu") == "one"


def test_an_unknown_handle_is_an_error_that_names_it(archive):
    with pytest.raises(ArchiveError, match="kadusa"):
        archive.get("kadusa")


@pytest.mark.parametrize("query", ["NEAR(", 'refund "ORD-17"', "возврат", "* OR AND"])
def test_any_query_is_words_not_syntax(archive, query):
    archive.put("bofidu", "the refund of ORD-17, возврат принят")
    found = archive.search(query)
    assert all(handle == "bofidu" for handle, _ in found)


def test_search_finds_english_and_russian(archive):
    archive.put("bofidu", "refund of ORD-17 is pending")
    archive.put("kadusa", "заказ отправлен на склад")
    assert archive.search("refund")[0][0] == "bofidu"
    assert archive.search("заказ")[0][0] == "kadusa"


def test_another_connection_sees_it_at_once(tmp_path):
    one, two = SQLiteArchive(tmp_path / "a.db"), SQLiteArchive(tmp_path / "a.db")
    one.put("bofidu", "text")
    assert two.get("bofidu") == "text"


def test_threads_share_it(tmp_path):
    archive = SQLiteArchive(tmp_path / "a.db")
    threads = [threading.Thread(target=archive.put, args=(f"h{n}", f"text {n}")) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [archive.get(f"h{n}") for n in range(20)] == [f"text {n}" for n in range(20)]


def test_a_file_that_is_no_database_is_named(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be looked at" * 50)
    with pytest.raises(ArchiveError, match=r"notes\.txt"):
        SQLiteArchive(path)


def test_a_closed_archive_says_so(tmp_path):
    archive = SQLiteArchive(tmp_path / "a.db")
    archive.close()
    with pytest.raises(ArchiveError, match=r"a\.db"):
        archive.put("bofidu", "text")


def test_opened_takes_a_name_an_archive_or_nothing(tmp_path):
    assert isinstance(opened(None), MemoryArchive)
    assert isinstance(opened(str(tmp_path / "a.db")), SQLiteArchive)
    mine = MemoryArchive()
    assert opened(mine) is mine


def test_a_session_recalls_from_its_file_after_the_process_is_gone(tmp_path):
    log = "\n".join(f"09:00:{n % 60:02} INFO worker.tick batch={n * 7} took={n}ms" for n in range(400))
    call = {"id": "c", "type": "function", "function": {"name": "logs", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Read the log."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": log},
        {"role": "user", "content": "And?"},
    ]
    session = Session(600, archive=tmp_path / "a.db")
    report = session.fit(messages).report
    handle = next(row.handle for row in report.rows if row.handle and row.kind == "result")
    assert SQLiteArchive(tmp_path / "a.db").get(handle) == log
    with closing(sqlite3.connect(tmp_path / "a.db")) as base:
        assert base.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
