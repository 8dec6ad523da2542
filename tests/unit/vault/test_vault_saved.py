"""A vault and a session that lasts: what is saved holds placeholders, and another process goes on with them."""

import json
import subprocess
import sys

import pytest
from bench.secrets import made

from jettison import Budget, Policy, Session
from jettison.errors import BudgetUnreachable, ConfigError
from jettison.saved import unpacked
from jettison.store import MemoryStore as StateMemory
from jettison.store import SQLiteStore as StateSQLite
from jettison.vault import MemoryStore, Vault, generate_key

TOKEN, PASSWORD = made("github", "saved"), made("password", "saved")
KEY = generate_key()
FILLER = "the order was shipped and the refund is due; " * 40


def call(number, arguments):
    return {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": json.dumps(arguments)}}


HISTORY = [
    {"role": "system", "content": f"Deploy key: {TOKEN}"},
    {"role": "user", "content": f"my password is {PASSWORD}"},
    {"role": "assistant", "content": None, "tool_calls": [call(1, {"path": "a", "password": PASSWORD})]},
    {"role": "tool", "tool_call_id": "c1", "content": f"{FILLER} token: {TOKEN} {FILLER}"},
    {"role": "assistant", "content": f"I have {PASSWORD} now."},
    {"role": "user", "content": "go on"},
    {"role": "assistant", "content": None, "tool_calls": [call(2, {"path": "b"})]},
    {"role": "tool", "tool_call_id": "c2", "content": FILLER},
    {"role": "assistant", "content": "done"},
    {"role": "user", "content": "and now?"},
]
CUTS = (2, 4, 6, 8, 10)
POLICY = Policy(budget=Budget(window=700), counter="o200k")


def secrets(path):
    return Vault(path, keys=KEY, rule_sets=())


def test_saved_and_loaded_for_each_request_it_gives_the_same(tmp_path):
    long = Session(POLICY, vault=secrets(tmp_path / "a.db"), conversation="c")
    short = Session(POLICY, vault=secrets(tmp_path / "b.db"), conversation="c")
    for cut in CUTS:
        one, two = long.fit(HISTORY[:cut]), short.fit(HISTORY[:cut])
        assert one.messages == two.messages
        assert one.report.to_dict() == two.report.to_dict()
        data = short.save()
        plain = json.dumps(unpacked(data))
        assert TOKEN not in plain
        assert PASSWORD not in plain
        short = Session.load(data, POLICY, vault=secrets(tmp_path / "b.db"))
    assert short.rehydrate({"name": "read", "input": {"k": "{{secret:github-token:1}}"}})["input"]["k"] == TOKEN


def test_nobody_learns_a_secret_from_a_saved_hash(tmp_path):
    """The hash of a message is taken without its secrets: two PINs have the same, so none can be tried out."""
    prints = []
    for number, pin in enumerate(("4711", "0815")):
        one = Session(POLICY, vault=secrets(tmp_path / f"{number}.db"), conversation="c")
        one.fit([{"role": "user", "content": f"the PIN is {pin}"}])
        prints.append(unpacked(one.save())["state"]["prints"])
    assert prints[0] == prints[1]


def asked(wire):
    """A message of two parts on this wire: one with a secret, and one that the caller may go on writing."""
    kind, field = ("input_text" if wire == "openai-responses" else "text"), "parts" if wire == "gemini" else "content"
    texts = (f"my password is {PASSWORD}", "part")
    return {
        "role": "user",
        field: [{"text": text} if wire == "gemini" else {"type": kind, "text": text} for text in texts],
    }


@pytest.mark.parametrize("loads", [1, 2])
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_what_the_caller_changes_in_place_is_not_taken_for_what_was_sent(wire, loads, tmp_path):
    """Of a message that held a secret the hash was taken of the caller's own parts: as they were when it was saved."""
    message, field = asked(wire), "parts" if wire == "gemini" else "content"
    answer = (
        {"role": "model", "parts": [{"text": "ok"}]} if wire == "gemini" else {"role": "assistant", "content": "ok"}
    )
    then = {"role": "user", "parts": [{"text": "go on"}]} if wire == "gemini" else {"role": "user", "content": "go on"}
    one = Session(2_000, wire=wire, vault=secrets(tmp_path / "a.db"), conversation="c")
    one.fit([message])
    if loads > 1:  # read again, then changed
        one = Session.load(one.save(), 2_000, vault=secrets(tmp_path / "a.db"))
        one.fit([message])
    message[field][1]["text"] += " word" * 3_000
    one = Session.load(one.save(), 2_000, vault=secrets(tmp_path / "a.db"))
    with pytest.raises(BudgetUnreachable):
        one.fit([message, answer, then])
    message[field][1]["text"] = "part"
    fitted = one.fit([message, answer, then])
    assert fitted.report.cache.first_changed is None


@pytest.mark.parametrize("loaded", [False, True])
def test_the_report_says_so_where_the_session_lived_on(loaded, tmp_path):
    message = asked("anthropic")
    one = Session(2_000, wire="anthropic", vault=secrets(tmp_path / "a.db"))
    one.fit([message])
    if loaded:
        one = Session.load(one.save(), 2_000, vault=secrets(tmp_path / "a.db"))
        one.fit([message])
    message["content"][1]["text"] = "something else"
    fitted = one.fit([message, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "go on"}])
    assert fitted.report.cache.first_changed == 0


CHILD = """
import json, sys
from jettison import Budget, Policy, Session
from jettison.vault import Vault
state, secrets, key, history = sys.argv[1:]
one = Session(Policy(budget=Budget(window=700), counter="o200k"), store=state, conversation="c",
              vault=Vault(secrets, keys=key, rule_sets=()))
fitted = one.fit(json.loads(history))
print(json.dumps([fitted.messages, fitted.report.cache.first_changed, one.vault.names()]))
"""


def test_each_request_in_another_process(tmp_path):
    state, vault = str(tmp_path / "state.db"), str(tmp_path / "secrets.db")
    reference = Session(POLICY, vault=secrets(tmp_path / "r.db"), conversation="c")
    for cut in CUTS[:3]:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, state, vault, KEY, json.dumps(HISTORY[:cut])],
            capture_output=True,
            text=True,
            check=True,
        )
        messages, _, names = json.loads(done.stdout)
        assert messages == reference.fit(HISTORY[:cut]).messages
        assert names == reference.vault.names()
    for file in tmp_path.iterdir():
        data = file.read_bytes()
        assert TOKEN.encode() not in data
        assert PASSWORD.encode() not in data


def test_two_workers_never_give_one_placeholder_to_two_secrets():
    """Both begin with the same state; each meets another token first. The second one does its call again."""
    state, kept = StateMemory(), MemoryStore()

    def worker():
        return Session(POLICY, store=state, conversation="c", vault=Vault(kept, keys=KEY, rule_sets=()))

    one, two = worker(), worker()
    first, second = made("github", "one"), made("github", "two")
    begin = [{"role": "user", "content": f"token {first}"}]
    assert one.fit(begin).messages[0]["content"] == "token {{secret:github-token:1}}"
    other = two.fit([{"role": "user", "content": f"token {second}"}])
    assert other.messages[0]["content"] == "token {{secret:github-token:2}}"
    assert one.vault.value("{{secret:github-token:1}}") == first
    assert two.vault.value("{{secret:github-token:2}}") == second
    again = one.fit([*begin, {"role": "user", "content": f"and {second}"}])
    assert again.messages[1]["content"] == "and {{secret:github-token:2}}"


def test_a_placeholder_that_is_taken_meanwhile(monkeypatch):
    """The other worker stores its token between the look and the write of this one."""
    state, kept = StateMemory(), MemoryStore()
    first, second = made("github", "one"), made("github", "two")
    late = Vault(kept, keys=KEY, rule_sets=())
    one = Session(POLICY, store=state, conversation="c", vault=late)
    two = Session(POLICY, store=StateMemory(), conversation="c", vault=Vault(kept, keys=KEY, rule_sets=()))
    add, raced = late.add, []

    def racing(session, name, secret):
        if not raced:
            raced.append(two.fit([{"role": "user", "content": f"token {second}"}]))
        return add(session, name, secret)

    monkeypatch.setattr(late, "add", racing)
    fitted = one.fit([{"role": "user", "content": f"token {first}"}])
    assert raced[0].messages[0]["content"] == "token {{secret:github-token:1}}"
    assert fitted.messages[0]["content"] == "token {{secret:github-token:2}}"
    assert one.vault.value("{{secret:github-token:1}}") == second


def test_what_another_worker_learned_is_taken_out_of_older_messages():
    state, kept = StateMemory(), MemoryStore()

    def worker():
        return Session(POLICY, store=state, conversation="c", vault=Vault(kept, keys=KEY, rule_sets=()))

    history = [{"role": "user", "content": "try swordfish77x"}]
    worker().fit(history)
    Session(POLICY, conversation="c", vault=Vault(kept, keys=KEY, rule_sets=())).fit(
        [{"role": "user", "content": "the password is swordfish77x"}]
    )
    fitted = worker().fit([*history, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "go"}])
    assert "swordfish77x" not in json.dumps(fitted.messages)


def test_revoked_by_another_worker():
    from jettison.errors import SecretGone

    state, kept = StateMemory(), MemoryStore()
    one, two = (
        Session(POLICY, store=state, conversation="c", vault=Vault(kept, keys=KEY, rule_sets=())) for _ in range(2)
    )
    history = [{"role": "user", "content": f"token {TOKEN}"}]
    one.fit(history)
    two.fit(history)
    one.vault.revoke("{{secret:github-token:1}}")
    two.fit(history)
    with pytest.raises(SecretGone, match="revoked"):
        two.vault.value("{{secret:github-token:1}}")


def test_what_cannot_be(tmp_path):
    with pytest.raises(ConfigError, match="store"):
        Session(POLICY, store=StateMemory(), conversation="c", vault=Vault(rule_sets=()))
    with pytest.raises(ConfigError, match="memory"):
        Session(POLICY, vault=Vault(rule_sets=())).save()
    kept = Session(POLICY, vault=secrets(tmp_path / "a.db"))
    kept.fit(HISTORY[:2])
    with pytest.raises(ConfigError, match="with a vault"):
        Session.load(kept.save(), POLICY)
    plain = Session(POLICY)
    plain.fit(HISTORY[:2])
    with pytest.raises(ConfigError, match="without a vault"):
        Session.load(plain.save(), POLICY, vault=secrets(tmp_path / "b.db"))


def test_declared_texts_are_saved_without_secrets(tmp_path):
    one = Session(POLICY, vault=secrets(tmp_path / "a.db"), store=StateSQLite(tmp_path / "s.db"), conversation="c")
    one.task.goal = f"Deploy with {TOKEN}"
    one.commit()
    assert TOKEN.encode() not in (tmp_path / "s.db").read_bytes()
    assert one.task.goal == "Deploy with {{secret:github-token:1}}"
    assert TOKEN not in json.dumps(unpacked(one.save()))
