"""The stores: the contract, and what is particular to each."""

import sqlite3
import sys
from contextlib import closing

import pytest

from jettison import Policy, Session
from jettison.errors import ConfigError, StoreConflict, StoreError
from jettison.store import MemoryStore, PostgresStore, SQLiteStore, opened
from unit.store.contract import StoreContract


class TestMemory(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestSQLite(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = SQLiteStore(tmp_path / "a.db")
        yield store
        store.close()

    def test_two_that_have_the_file_open_see_each_other(self, store, tmp_path):
        other = SQLiteStore(tmp_path / "a.db")
        version = other.save("chat", b"one")
        assert store.load("chat") == (version, b"one")
        with pytest.raises(StoreConflict, match=r"in .*a\.db"):
            store.save("chat", b"two")
        other.close()

    def test_a_file_that_is_none_is_named(self, tmp_path):
        (tmp_path / "a.db").write_bytes(b"not a database at all, whatever its name" * 50)
        with pytest.raises(StoreError, match=r"a\.db cannot be used as a store"):
            SQLiteStore(tmp_path / "a.db")

    def test_deleted_bytes_are_overwritten(self, store, tmp_path):
        store.save("chat", b"the number is 4929")
        store.delete("chat")
        store.close()
        assert not any(b"4929" in path.read_bytes() for path in tmp_path.iterdir())


class TestPostgres(StoreContract):
    @pytest.fixture
    def store(self, postgres_url):
        import psycopg

        with psycopg.connect(postgres_url) as base:
            base.execute("DROP TABLE IF EXISTS jettison_sessions")
        store = PostgresStore(postgres_url)
        yield store
        store.close()

    def test_a_server_that_was_restarted_is_found_again(self, store, postgres_server):
        version = store.save("chat", b"one")
        postgres_server.kill()
        with pytest.raises(StoreError, match="postgres"):
            store.load("chat")
        postgres_server.start()
        assert store.load("chat") == (version, b"one")


def test_postgres_without_its_driver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'jettison\[postgres\]'"):
        opened("postgresql://localhost/none")


MESSAGES = [
    {"role": "user", "content": "Read the log."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "log", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "\n".join(f"line {n} says {n * 7919}" for n in range(200))},
    {"role": "user", "content": "Go on."},
]


@pytest.mark.parametrize("first", ["archive", "store"])
def test_the_archive_and_the_store_may_be_one_file(first, tmp_path):
    where = tmp_path / "a.db"
    if first == "store":
        SQLiteStore(where).close()
    session = Session(600, archive=where, store=where, conversation="chat")
    want = session.fit(MESSAGES).messages
    again = Session(600, archive=where, store=where, conversation="chat")
    assert again.fit(MESSAGES).messages == want != MESSAGES
    with closing(sqlite3.connect(where)) as base:
        assert base.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_store_needs_a_key():
    with pytest.raises(ConfigError, match="conversation"):
        Session(600, store=MemoryStore())


@pytest.mark.parametrize("other", [{"wire": "gemini"}, {"policy": Policy(budget=600, counter="claude")}])
def test_what_was_saved_on_other_terms_is_not_taken(other):
    store = MemoryStore()
    Session(600, store=store, conversation="chat").fit(MESSAGES)
    session = Session(other.get("policy", 600), wire=other.get("wire", "openai-chat"), store=store, conversation="chat")
    with pytest.raises(ConfigError, match="was saved with"):
        session.refresh()


def test_a_deleted_conversation_begins_anew():
    store = MemoryStore()
    session = Session(600, store=store, conversation="chat")
    session.fit(MESSAGES)
    store.delete("chat")
    fresh = Session(600).fit(MESSAGES)
    again = session.fit(MESSAGES)
    assert again.messages == fresh.messages
    assert again.report.call == 1
    assert store.load("chat") is not None


class Losing(MemoryStore):
    """Somebody else is always faster."""

    def save(self, conversation, data, expected=0):
        super().save(conversation, data, expected)
        raise StoreConflict(conversation)


def test_whoever_is_never_first_is_told_and_keeps_what_is_there():
    session = Session(600, store=Losing(), conversation="chat")
    with pytest.raises(StoreConflict, match="another worker") as error:
        session.fit(MESSAGES)
    assert error.value.conversation == "chat"


def test_of_two_workers_each_begins_with_what_the_other_left():
    """And what either declares is in both."""
    store = MemoryStore()
    one, two = (Session(5_000, store=store, conversation="chat") for _ in range(2))
    one.task.constrain("Go on.")
    one.fit(MESSAGES)
    op = two.task.begin("refund", needs=["line 3 says 23757"])
    two.task.pin("line 7 says 55433")
    two.task.goal = "Read the log."
    assert two.fit(MESSAGES).report.call == 2
    other = one.task.begin("refund", needs=["line 4 says 31676"])
    report = one.fit(MESSAGES).report
    assert report.call == 3
    assert {op, other} == set(one.task.operations)
    assert one.task.constraints == two.task.constraints == ["Go on."]
    assert one.task.pins == {"line 7 says 55433"}
    one.task.complete(op)
    one.task.unpin("line 7 says 55433")
    one.task.release("Go on.")
    one.usage(input_tokens=2 * one._state.tokens)
    one.commit()
    two.refresh()
    assert not two.task.operations[op].open
    assert two.task.operations[other].open
    assert not two.task.pins
    assert not two.task.constraints
    assert two.task.goal == "Read the log."
    assert two._ratio == pytest.approx(2.0)


def test_saved_bytes_are_checked():
    session = Session(600)
    session.fit(MESSAGES)
    data = session.save()
    assert Session.load(data, 600).fit(MESSAGES).messages == session.fit(MESSAGES).messages
    for broken, words in (
        (b"", "not a saved session"),
        (b"x" + data, "not a saved session"),
        (data[:-1], "damaged"),
        (data[:60] + b"?" + data[61:], "damaged"),
    ):
        with pytest.raises(StoreError, match=words):
            Session.load(broken, 600)


def test_a_later_format_is_refused(monkeypatch):
    monkeypatch.setattr("jettison.saved.FORMAT", 2)
    data = Session(600).save()
    monkeypatch.undo()
    with pytest.raises(StoreError, match="format 2, this version reads 1"):
        Session.load(data, 600)


def test_every_field_of_the_state_is_saved():
    from dataclasses import fields

    from jettison import saved
    from jettison.state import State

    assert {field.name for field in fields(State)} == saved._WRITTEN
