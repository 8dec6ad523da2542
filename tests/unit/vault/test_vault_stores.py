"""One contract for every store, and what sealing promises."""

import os
import sqlite3

import pytest
from bench.secrets import made

from jettison import Budget, Session
from jettison.errors import ConfigError, SecretGone, VaultError, VaultKeyMissing
from jettison.vault import HashiCorpStore, Keys, MemoryStore, PostgresStore, SQLiteStore, Vault, generate_key
from postgres_server import missing, running

TOKEN = made("github", "store")
NAME = "{{secret:github-token:1}}"
MESSAGES = [{"role": "user", "content": f"my token is {TOKEN}"}]
CALL = {"name": "t", "input": {"a": NAME}}


@pytest.fixture(scope="module")
def postgres():
    if reason := missing():
        pytest.skip(reason)
    with running() as server:
        yield server


class FakeKV:
    """The three answers of a key-value engine, version 2, as hvac gives them."""

    def __init__(self):
        self.data, self.secrets = {}, self
        self.kv = self
        self.v2 = self

    def create_or_update_secret(self, *, path, secret, mount_point, cas=None):
        from hvac.exceptions import InvalidRequest

        if cas == 0 and path in self.data:
            raise InvalidRequest("check-and-set parameter did not match the current version")
        self.data[path] = secret

    def read_secret_version(self, *, path, mount_point, raise_on_deleted_version):
        return {"data": {"data": self.data[path]}}

    def delete_metadata_and_all_versions(self, *, path, mount_point):
        self.data.pop(path, None)

    def list_secrets(self, *, path, mount_point):
        from hvac.exceptions import InvalidPath

        below = {
            rest.partition("/")[0] + "/" * ("/" in rest) for p in self.data if (rest := p.removeprefix(path + "/")) != p
        }
        if not below:
            raise InvalidPath
        return {"data": {"keys": sorted(below)}}


@pytest.fixture(params=["memory", "sqlite", "postgres", "hashicorp"])
def store(request, tmp_path):
    if request.param == "memory":
        return MemoryStore()
    if request.param == "sqlite":
        return SQLiteStore(tmp_path / "secrets.db")
    if request.param == "hashicorp":
        pytest.importorskip("hvac")
        return HashiCorpStore(FakeKV())
    made = PostgresStore(request.getfixturevalue("postgres").url)
    for session in made.sessions():
        for name in made.all(session):
            made.delete(session, name)
    return made


def test_contract(store):
    assert store.sessions() == []
    assert dict(store.all("a")) == {}
    store.put("a", NAME, b"\0one")
    store.put("a", NAME, b"two")
    store.put("чат/1 x", "{{secret:jwt:1}}", b"three")
    assert dict(store.all("a")) == {NAME: b"two"}
    assert sorted(store.sessions()) == ["a", "чат/1 x"]
    assert store.add("a", NAME, b"four") is False
    assert dict(store.all("a")) == {NAME: b"two"}
    store.delete("a", NAME)
    store.delete("a", NAME)
    assert store.add("b", NAME, b"five") is True
    assert dict(store.all("b")) == {NAME: b"five"}
    store.delete("b", NAME)
    assert store.sessions() == ["чат/1 x"]
    assert TOKEN not in repr(store)


def opened(store, keys, **settings):
    return Session(Budget(window=9_000), vault=Vault(store, keys=keys, rule_sets=(), **settings), conversation="chat")


def test_a_later_session_goes_on_where_the_last_one_stopped(store):
    keys = Keys(generate_key())
    one = opened(store, keys)
    one.fit(MESSAGES)
    one.vault.allow(NAME, ["t"], hosts=["api.github.com"])
    two = opened(store, keys)
    assert two.rehydrate(CALL)["input"]["a"] == TOKEN
    more = [*MESSAGES, {"role": "user", "content": f"and {made('github', 2)}"}]
    assert two.fit(more).messages[1]["content"] == "and {{secret:github-token:2}}"
    assert two.fit(more).messages[0]["content"] == f"my token is {NAME}"


def test_a_lost_key_is_said_and_loses_nothing_else(store):
    old, new = Keys(generate_key()), Keys(generate_key())
    opened(store, old).fit(MESSAGES)
    two = opened(store, new)
    fitted = two.fit(MESSAGES)  # the same secret again: a new placeholder, the old one stays taken
    assert fitted.messages[0]["content"] == "my token is {{secret:github-token:2}}"
    with pytest.raises(SecretGone, match="key that the vault does not have"):
        two.vault.value(NAME)
    assert opened(store, old).vault.value(NAME) == TOKEN


def test_rotation(store):
    first, second = generate_key(), generate_key()
    vault = Vault(store, keys=first, rule_sets=())
    Session(Budget(window=9_000), vault=vault, conversation="chat").fit(MESSAGES)
    assert vault.rotate(Keys(second, first)) == 1
    assert vault.rotate(Keys(second, first)) == 0
    assert opened(store, second).vault.value(NAME) == TOKEN
    with pytest.raises(SecretGone):
        opened(store, first).vault.value(NAME)


def test_expiry_purge_and_wipe(store):
    now, keys = [100.0], Keys(generate_key())
    opened(store, keys, ttl=50, clock=lambda: now[0]).fit(MESSAGES)
    vault = Vault(store, keys=generate_key(), rule_sets=(), clock=lambda: now[0])
    assert vault.purge() == 0
    now[0] = 151.0
    assert vault.purge() == 1  # without the key it was sealed with
    assert store.sessions() == []
    opened(store, keys).fit(MESSAGES)
    assert vault.wipe("chat") == 1
    assert store.sessions() == []


def test_the_file_holds_no_secret_and_belongs_to_its_owner(tmp_path):
    path = tmp_path / "secrets.db"
    one = opened(path, generate_key())
    one.fit(MESSAGES)
    data = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert TOKEN.encode() not in data
    assert path.stat().st_mode & 0o077 == 0
    one.vault.revoke(NAME)
    with sqlite3.connect(path) as base:
        assert base.execute("SELECT count(*) FROM secrets").fetchone() == (0,)


def test_a_record_that_was_changed_or_moved_is_not_used():
    keys = Keys(generate_key())
    record = keys.seal(b"value", "a", NAME, None)
    assert keys.open(record, "a", NAME) == b"value"
    for session, name, data in [
        ("b", NAME, record),
        ("a", "{{secret:jwt:1}}", record),
        ("a", NAME, record[:-1] + bytes([record[-1] ^ 1])),
        ("a", NAME, record[:12] + b"\x01" + record[13:]),
        ("a", NAME, record[:20]),
        ("a", NAME, b""),
    ]:
        with pytest.raises(VaultError):
            keys.open(data, session, name)


def test_where_keys_come_from(tmp_path, monkeypatch):
    one, two = generate_key(), generate_key()
    monkeypatch.delenv("JETTISON_VAULT_KEY", raising=False)
    with pytest.raises(VaultKeyMissing, match="JETTISON_VAULT_KEY"):
        Vault(tmp_path / "a.db")
    monkeypatch.setenv("JETTISON_VAULT_KEY", f"{one},{two}")
    record = Keys(two).seal(b"x", "s", NAME, None)
    assert Keys.from_environment().open(record, "s", NAME) == b"x"
    file = tmp_path / "keys"
    file.write_text(f"{one}\n{two}\n")
    assert Keys.from_file(file).open(record, "s", NAME) == b"x"
    with pytest.raises(VaultKeyMissing):
        Keys.from_file(tmp_path / "none")
    for bad in ("short", b"x" * 31, "a" * 44):
        with pytest.raises(ConfigError) as refused:
            Keys(bad)
        assert str(bad) not in str(refused.value)
    assert one not in repr(Keys(one))


def test_a_machine_without_a_keyring_says_so():
    keyring = pytest.importorskip("keyring")
    from keyring.backends.fail import Keyring

    before = keyring.get_keyring()
    keyring.set_keyring(Keyring())
    try:
        with pytest.raises(VaultKeyMissing, match="keyring"):
            Keys.from_keyring()
    finally:
        keyring.set_keyring(before)


def test_a_file_that_is_no_vault(tmp_path):
    path = tmp_path / "x.db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(VaultError, match="cannot be used"):
        SQLiteStore(path)
    if os.geteuid():
        with pytest.raises(VaultError):
            SQLiteStore("/nowhere/x.db")
