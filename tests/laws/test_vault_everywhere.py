"""Law 11 with everything on: models that are asked, stores, archives, saved sessions, reports. 40 kinds and more."""

import io
import json
import logging
import re

import pytest
from bench.vault_shapes import SHAPES
from rich.console import Console

from jettison import Budget, Policy, Session
from jettison.archive import SQLiteArchive
from jettison.errors import CannotFit
from jettison.report.terminal import render
from jettison.saved import unpacked
from jettison.store import SQLiteStore as States
from jettison.vault import Vault, generate_key
from laws.test_vault_laws import leaks

FILLER = "The order was shipped by courier and the refund of the second item is due next week; nothing else changed. "
# How a person, a tool or a file tells a secret of a kind that has no shape of its own.
TOLD = {
    "otp": "Your verification code is {}.",
    "pin": "The PIN is {}.",
    "seed": "seed phrase: {}",
    "seed-ru": "сид-фраза: {}",
    "recovery": "My recovery codes: {}",
    "b64": "kind: Secret\ndata:\n  password: {}\n",
    "basic": "Authorization: Basic {}",
    "sas": "https://acme.blob.core.windows.net/c?sv=2023&sig={}",
    "slack-hook": "https://hooks.slack.com/services/{}",
    "discord-hook": "https://discord.com/api/webhooks/123456789012345678/{}",
    "jwk": '{{"kty":"EC","crv":"P-256","d":"{}"}}',
    "cookie": "Cookie: sid={}",
    "session": "Cookie: sessionid={}",
    "heroku": "HEROKU_API_KEY={}",
    "snyk": '{{"api_key": "{}"}}',
    "license": "license_key={}",
}
ANY = ("password: {}", "API_TOKEN={}", '{{"client_secret": "{}"}}', "export SECRET_KEY='{}'")
KINDS = sorted(SHAPES)
assert len(KINDS) >= 40


def told(kind, value, number):
    if "\n" in value:
        return value
    passwords = kind in ("password", "sql-pass", "mssql", "b64k")
    return TOLD.get(kind, ANY[0] if passwords else ANY[number % 3 + 1 if kind != "password" else 0]).format(value)


def history_of(kinds, values):
    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": f"Go on. {FILLER}"}]
    for number, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        text = told(kind, value, number)
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {number}}}'}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"{FILLER * 4}\n{text}\n{FILLER * 4}"},
            {"role": "assistant", "content": f"I see: {text}. {FILLER}"},
            {"role": "user", "content": f"step {number}. {FILLER}"},
        ]
    return messages


@pytest.mark.parametrize("part", range(4))
def test_no_secret_of_any_kind_is_anywhere(part, tmp_path, caplog):
    import random

    caplog.set_level(logging.DEBUG)
    kinds = KINDS[part::4]
    values = [SHAPES[kind](random.Random(f"everywhere/{kind}")) for kind in kinds]
    history, asked, embedded, judged = history_of(kinds, values), [], [], []

    def summarise(prompt, most):
        asked.append(prompt)
        return "## Goal\nGo on."

    def embed(texts):
        embedded.extend(texts)
        return [[1.0, float(len(text) % 7)] for text in texts]

    def judge(question):
        judged.append(question.prompt)
        return json.dumps(
            {name: {"usefulness": 0.5, "reason": "x"} for name in re.findall(r"\bp\d+\b", question.prompt)}
        )

    policy = Policy(
        budget=Budget(window=2_400),
        counter="o200k",
        summarizer=summarise,
        relevance="full",
        embedder=embed,
        judge=judge,
    )
    session = Session(
        policy,
        archive=SQLiteArchive(tmp_path / "archive.db"),
        store=States(tmp_path / "states.db"),
        vault=Vault(tmp_path / "secrets.db", keys=generate_key(), rule_sets=()),
        conversation="chat",
    )
    session.task.goal = f"Go on. {told(kinds[0], values[0], 0)}"
    places, screen = [], io.StringIO()
    for end in range(2, len(history) + 1, 4):
        try:
            fitted = session.fit(history[:end])
        except CannotFit as error:
            places += [str(error), repr(error), error.report.to_dict() if error.report else ""]
            continue
        render(fitted.report, Console(file=screen, width=200))
        places += [fitted.messages, fitted.report.to_dict(), repr(fitted)]
    data = session.save()
    places += [unpacked(data), repr(session._state), repr(session.vault), repr(session.task), screen.getvalue()]
    places += [asked, embedded, judged, [record.getMessage() for record in caplog.records]]
    places += [session.search(word) for word in ("order", "step", "token")]
    assert asked
    assert embedded
    assert not leaks(values, *places)
    session.archive.close()
    for file in tmp_path.iterdir():
        data = file.read_bytes()
        assert not [value for value in values if value.encode() in data], file
