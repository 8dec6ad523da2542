"""A log of 27,000 tokens, one error row among 560: under 2,000 tokens with the row and its neighbours, by `fit` too."""

import json
import random

import pytest

from jettison import Policy, Session
from jettison.compressors.kinds import outline_of
from jettison.compressors.shrink import shrink
from jettison.flow.segments import segment
from jettison.tokens import o200k

AT = 333
WORDS = ("request", "cache", "worker", "upstream", "replica", "batch", "checkpoint", "handler", "stream", "quota")
RUSSIAN = ("запрос", "кеш", "обработчик", "пакет", "проверка", "очередь", "поток", "сессия")


def rows(words, routine, error):
    """560 rows alike in all but one word of one of them: it has no value that the others have not."""
    draw = random.Random(5)
    out = []
    for n in range(560):
        level = error if n == AT else routine
        said = " ".join(draw.choices(words, k=14))
        head = f"2026-11-30T09:{n // 60:02}:{n % 60:02}.{draw.randint(100, 999)}Z {level} svc-{draw.randint(1, 9)}"
        out.append(f"{head} [req-{draw.getrandbits(40):010x}] {said} {draw.randint(1, 300)} ms")
    return out


LOGS = {
    "English": rows(WORDS, "INFO", "ERROR"),
    "Russian": rows(RUSSIAN, "ИНФО", "ОШИБКА"),
    "JSON lines": [
        json.dumps({"time": row[:24], "level": row.split()[1], "msg": row[24:]}) for row in rows(WORDS, "info", "error")
    ],
    "CSV": [
        "time,level,service,request,message",
        *(",".join(row.split(" ", 4)) for row in rows(WORDS, "ok", "failed")),
    ],
}
by_log = pytest.mark.parametrize("name", LOGS)


def near(name):
    lines = LOGS[name]
    at = AT + (name == "CSV")
    return lines[at - 1], lines[at], lines[at + 1]


def history(text, later):
    call = {"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Why did it fail?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
    ]
    return (
        [*messages, {"role": "assistant", "content": "Read."}, {"role": "user", "content": "And?"}]
        if later
        else messages
    )


@by_log
def test_the_compressor_keeps_it(name):
    text = "\n".join(LOGS[name])
    assert o200k(text) > 20_000
    short = shrink(text, 4_000)
    assert o200k(short) < 2_000
    assert all(line in short.split("\n") for line in near(name))


@by_log
@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("budget", [2_000, 1_000, 600])
@pytest.mark.parametrize("profile", ["safe", "economy"])
def test_fit_keeps_it(name, later, budget, profile):
    session = Session(Policy(budget=budget, counter="o200k", profile=profile))
    fitted = session.fit(history("\n".join(LOGS[name]), later))
    assert fitted.report.after <= budget
    shown = fitted.messages[2]["content"].split("\n")
    assert all(line in shown for line in near(name))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("budget", [2_000, 1_000, 600])
def test_of_json_rows_the_error_with_what_names_it(indent, later, budget):
    """A list of 560 records once came to nothing but a stub: its paths were not counted when it was trimmed."""
    records = [
        {"request": row.split("[")[1].split("]")[0], "level": row.split()[1], "msg": row.split("] ")[1]}
        for row in LOGS["English"]
    ]
    session = Session(Policy(budget=budget, counter="o200k"))
    fitted = session.fit(history(json.dumps({"rows": records}, indent=indent), later))
    assert budget / 3 < fitted.report.after <= budget
    line = next(line for line in fitted.messages[2]["content"].split("\n") if "ERROR" in line)
    assert records[AT]["request"] in line


def test_where_errors_are_many_they_are_no_alarms():
    lines = [line.replace("INFO", "ERROR") if n % 10 == 0 else line for n, line in enumerate(LOGS["English"])]
    assert outline_of(segment("\n".join(lines))).alarms == frozenset()
    assert outline_of(segment("\n".join(LOGS["English"]))).alarms == {AT}
