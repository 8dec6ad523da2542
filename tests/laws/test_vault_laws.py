"""Law 11: a vaulted secret appears in no output, archive row, summary, log, report or error, nor in any `repr`."""

import asyncio
import json
import logging
import random

import pytest
from bench.secrets import MADE, made
from hypothesis import assume, given
from hypothesis import strategies as st

from jettison import Policy, Session
from jettison.errors import CannotFit, JettisonError
from jettison.vault import Vault
from laws.support import same, weight
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, Script, law

KINDS = sorted(set(MADE) - {"otp", "pin", "heroku"})
"""Shapes that are told from anything else; the others need a name beside them, and have it in the unit tests."""
assert len(KINDS) >= 40

_WRAPS = (
    "password: {}", "API_TOKEN={}\n", '{{"client_secret": "{}"}}', "Authorization: Bearer {}", "токен: {}",
    "export SECRET_KEY='{}'", "<password>{}</password>", "x-api-key: {}",
)  # fmt: skip


@st.composite
def laden(draw):
    """A script whose secrets stand in user text, results and arguments, and bare in later text; and the secrets."""
    seed = draw(st.integers(0, 10_000))
    rng = random.Random(seed)
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4, unique=True))
    values = [made(kind, seed) for kind in kinds]
    passwords = {value for kind, value in zip(kinds, values, strict=True) if kind == "password"}
    filler = " ".join(
        rng.choice(("order", "shipped", "refund", "товар", "the", "item")) for _ in range(draw(st.integers(5, 400)))
    )

    def told(value):
        # "токен: Sunny4711!" is no token: a password is told as one
        wrap = rng.choice(_WRAPS[:1] if value in passwords else _WRAPS)
        return (
            value
            if "\n" in value
            else wrap.format(json.dumps(value)[1:-1] if "{{" in wrap or wrap[0] == "{" else value)
        )

    turns = [Say(f"Please go on. {told(values[0])}")]
    for number, value in enumerate(values):
        turns.append(Act((Call("read_file", {"path": f"a{number}"}, f"{filler}\n{told(value)}\n{filler}"),)))
        turns.append(Act((Call("login", {"user": "a", "password": value}, f"ok {number} {filler}"),), text=filler))
        turns.append(Reply(f"I have {rng.choice(values[: number + 1])} now. {filler}"))
        turns.append(Say(f"step {number}: {filler}"))
    turns.append(Say("And now the report, please."))
    return Script(f"You help. {told(values[-1])}" if draw(st.booleans()) else "You help.", tuple(turns)), values


def shown(value):
    """How a value may be written in text or JSON."""
    plain = json.dumps(value, ensure_ascii=False)[1:-1]
    return {value, plain, json.dumps(plain, ensure_ascii=False)[1:-1]}


def leaks(values, *places):
    text = "\n".join(
        place if isinstance(place, str) else json.dumps(place, ensure_ascii=False, default=repr) for place in places
    )
    return [value for value in values for form in shown(value) if form in text]


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@law(25)
def test_11_a_vaulted_secret_appears_nowhere(wire, data):
    script, values = data.draw(laden())
    history = render(script, wire)
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    logging.getLogger().addHandler(handler)
    try:
        whole = weight(history)
        policy = Policy(budget=max(200, whole * data.draw(st.integers(15, 130)) // 100), counter="o200k")
        session = Session(policy, wire=wire, vault=Vault(rule_sets=()))
        outputs = []
        for end in [*history.cuts, len(history.messages)]:
            if not end:
                continue
            try:
                fitted = session.fit(history.messages[:end], system=history.system, tools=history.tools)
                outputs.append(
                    (fitted.messages, fitted.system, fitted.report.to_dict(), repr(fitted), repr(fitted.report))
                )
            except CannotFit as error:
                outputs.append((str(error), repr(error), error.report.to_dict() if error.report else ""))
        archive = repr(vars(session.archive))
        found = leaks(values, outputs, archive, records, repr(session._state), repr(session.vault))
        assert not found, found
    finally:
        logging.getLogger().removeHandler(handler)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@law(15)
def test_11_errors_hold_none_either(wire, data):
    """Broken histories and hopeless budgets: what is raised names places, not values."""
    script, values = data.draw(laden())
    history = render(script, wire)
    at = data.draw(st.integers(0, len(history.messages) - 1))
    messages = [message for n, message in enumerate(history.messages) if n != at]
    session = Session(Policy(budget=60, counter="o200k"), wire=wire, vault=Vault(rule_sets=()))
    try:
        session.fit(messages, system=history.system, tools=history.tools)
    except JettisonError as error:
        text = [str(error), repr(error), error.report.to_dict() if error.report else ""]
        assert not leaks(values, text)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@law(10)
def test_6_9_and_10_hold_with_a_vault(wire, data):
    """Same input, same output, sync or async; a prefix stays a prefix; fitting an output changes nothing more."""
    script, _ = data.draw(laden())
    history = render(script, wire)
    policy = Policy(budget=weight(history) * 3 + 1_000, counter="o200k")

    def fresh():
        return Session(policy, wire=wire, vault=Vault(rule_sets=()))

    given_system = history.system
    one, two = fresh(), fresh()
    last = None
    for end in [*history.cuts, len(history.messages)]:
        if not end:
            continue
        fitted = one.fit(history.messages[:end], system=given_system, tools=history.tools)
        if last is not None and not any("only known now" in note for note in fitted.report.notes):
            assert same(fitted.messages[: len(last.messages)], last.messages)
        last = fitted
    assume(last is not None)
    again = asyncio.run(two.afit(history.messages, system=given_system, tools=history.tools))
    assert same(again.messages, fresh().fit(history.messages, system=given_system, tools=history.tools).messages)
    twice = fresh().fit(again.messages, system=again.system, tools=history.tools)
    assert same(twice.messages, again.messages)
    assert same(twice.system, again.system)
