"""Logs: what must not be lost weighs most, whatever the language and the format; routine weighs little."""

import random

import pytest

from jettison.compressors.log import outline, templates
from jettison.compressors.shrink import shrink
from jettison.flow.segments import segment
from jettison.tokens import o200k

FORMATS = {
    "iso": "2026-11-30T05:{m:02d}:{s:02d}.123Z {level} worker-{w} request {n} done in {n} ms",
    "python": "2026-11-30 05:{m:02d}:{s:02d},123 - app.worker - {level} - request {n} done",
    "bracketed": "[2026-11-30 05:{m:02d}:{s:02d}] [{level}] request {n} done",
    "syslog": "Nov 30 05:{m:02d}:{s:02d} host app[{n}]: {level} request {n} done",
    "level first": "{level} request {n} done by worker {w}",
    "logfmt": 'time=2026-11-30T05:{m:02d}:{s:02d}Z level={level} msg="request done" id={n}',
    "json lines": '{{"ts":"2026-11-30T05:{m:02d}:{s:02d}Z","level":"{level}","msg":"request {n} done"}}',
    "access": '10.0.0.{w} - - [30/Nov/2026:05:{m:02d}:{s:02d} +0000] "GET /item/{n} HTTP/1.1" 200 {n} "{level}"',
    "bare": "worker {w} finished request {n} {level}",
}


def rows(form, count=300, seed=1):
    dice = random.Random(seed)
    return [
        FORMATS[form].format(m=n // 60 % 60, s=n % 60, w=dice.randint(1, 8), n=dice.randint(1, 9999), level="INFO")
        for n in range(count)
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_the_error_weighs_most_in_every_format(form):
    lines = rows(form)
    lines[170] = lines[170].replace("INFO", "ERROR").replace("done", "could not be stored")
    found = outline(segment("\n".join(lines)))
    assert found.kind == "log"
    assert found.weight[170] == 1.0
    assert max(weight for at, weight in enumerate(found.weight) if at not in (0, 170, 299)) <= 0.3
    assert {at for at, heavy in found.near.items() if heavy == 170} == {168, 169, 171, 172}


@pytest.mark.parametrize(
    "line",
    [
        "ERROR request lost",
        "FATAL: cannot open the pool",
        "unhandled exception in worker",
        "task failed after 3 tries",
        "WARN queue is nearly full",
        "ОШИБКА записи в журнал",
        "Сбой соединения с базой",
        "получен отказ от шлюза",
        "Необработанное исключение в потоке",
        "Предупреждение: очередь почти полна",
        "не удалось открыть файл",
    ],
)
def test_trouble_is_heard_in_english_and_russian(line):
    lines = rows("iso")
    lines[200] = f"2026-11-30T05:03:20.001Z {line}"
    found = outline(segment("\n".join(lines)))
    assert found.weight[200] >= 0.8


@pytest.mark.parametrize(
    "line", ["batch over: 0 errors", "batch over, errors: 0", "no errors found", "failed=0 passed=12", "ошибок: 0"]
)
def test_a_denial_of_trouble_is_no_error(line):
    lines = [f"2026-11-30T05:03:20.001Z {line}" if n % 20 == 7 else row for n, row in enumerate(rows("iso"))]
    found = outline(segment("\n".join(lines)))
    assert found.weight[27] < 0.5


def test_a_rare_line_outweighs_routine():
    lines = rows("iso")
    lines[77] = "2026-11-30T05:01:17.123Z INFO leader changed to node-4"
    found = outline(segment("\n".join(lines)))
    assert found.weight[77] == 0.7
    assert found.weight[78] == 0.1


def test_the_pieces_of_a_long_error_line_stay_together():
    tail = " and then some more words" * 20
    lines = [row + tail for row in rows("iso", 100)]
    lines[60] = lines[60].replace("INFO", "ERROR")
    parts = segment("\n".join(lines))
    found = outline(parts)
    pieces = [weight for part, weight in zip(parts.segments, found.weight, strict=True) if part.line == 60]
    assert len(pieces) > 2
    assert pieces[0] == 1.0
    assert set(pieces[1:]) == {0.9}
    assert max(weight for part, weight in zip(parts.segments, found.weight, strict=True) if part.line == 61) <= 0.3


def test_one_long_line_is_no_log():
    assert outline(segment('{"time": "x", "rows": [' + '{"id": 1, "text": "some words"}, ' * 500)) is None


def test_of_many_errors_of_a_kind_the_first_and_the_last_weigh_most():
    lines = [row.replace("INFO", "ERROR") for row in rows("iso")]
    found = outline(segment("\n".join(lines)))
    assert found.weight[0] == found.weight[299] == 1.0
    assert all(weight == 0.75 for weight in found.weight[1:299])


def test_a_traceback_inside_a_log_keeps_its_exception():
    trace = "Traceback (most recent call last):\n  File \"/app/job.py\", line 4, in run\n    load()\nKeyError: 'orders'"
    lines = rows("iso")
    text = "\n".join([*lines[:100], trace, *lines[100:]])
    found = outline(segment(text))
    assert found.kind == "log"
    assert found.weight[103] == 1.0
    assert found.weight[101] == 0.9


def test_what_was_cut_is_told_in_templates_with_counts():
    lines = rows("iso", 100)
    lines[50] = "2026-11-30T05:00:50.123Z ERROR disk full"
    found = outline(segment("\n".join(lines)))
    told = found.about([n for n in range(100) if n not in (0, 50)])
    assert told.startswith("98 lines cut: 98 × INFO worker-* request * done in *")
    assert told.endswith("1 of 1 errors and warnings kept")
    assert found.about([50]).endswith("0 of 1 errors and warnings kept")
    assert found.about([]) == ""


def test_templates_mask_what_varies():
    lines = [f"job {n} of user u{n} took 0.{n} s, id=7f{n}ab3c-99, file /var/data/{n}.csv" for n in range(40)]
    assert len(set(templates(lines))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one line",
        "\n" * 50,
        "def f():\n    return 1\n" * 30,
        "A story has no levels.\n"
        + "\n".join(f"It has {'very ' * n}long lines, all of them different." for n in range(20)),
        '{"a": 1}',
        "\n".join(f"/app/src/part{n % 7}/module_{n}.py" for n in range(300)),
        "\n".join(str(n) for n in range(300)),
    ],
)
def test_other_texts_are_no_logs(text):
    found = outline(segment(text))
    assert found is None or text.startswith("def")


def test_27000_tokens_with_one_error_among_560_rows():
    """The case of the compressor's brief: under 2,000 tokens, the error and its neighbours as they were."""
    dice = random.Random(1)
    lines = [
        f"2026-11-30T05:{n // 60:02d}:{n % 60:02d}.{dice.randint(100, 999)}Z INFO  worker-{dice.randint(1, 8)} "
        f"[req-{dice.getrandbits(40):010x}] GET /api/v1/items/{dice.randint(1, 99999)} 200 in {dice.randint(1, 300)} ms"
        for n in range(560)
    ]
    lines[333] = "2026-11-30T05:05:33.412Z ERROR worker-3 [req-0badc0ffee] payment 77812 declined: insufficient funds"
    text = "\n".join(lines)
    assert o200k(text) > 25_000
    short = shrink(text, 3_800)
    assert o200k(short) < 2_000
    assert "\n".join(lines[331:336]) in short
    assert lines[0] in short
    assert lines[-1] in short


def test_a_russian_log_keeps_its_error_and_neighbours():
    dice = random.Random(2)
    lines = [
        f"30.11.2026 05:{n // 60:02d}:{n % 60:02d} ИНФО обработчик-{dice.randint(1, 8)} заявка {dice.randint(1, 9999)} "
        f"обработана за {dice.randint(1, 300)} мс"
        for n in range(560)
    ]
    lines[333] = "30.11.2026 05:05:33 ОШИБКА обработчик-3 заявка 7781 отклонена банком: недостаточно средств"
    short = shrink("\n".join(lines), 4_000)
    assert len(short) < 4_200
    assert "\n".join(lines[331:336]) in short


@pytest.mark.parametrize(
    "line", ["DRY RUN: nothing was changed", "ПРОБНЫЙ ЗАПУСК, изменения не сохранены", "ROLLED BACK: all undone"]
)
@pytest.mark.parametrize("first", [True, False])
def test_the_line_that_turns_the_meaning_of_all_others_is_an_alarm(line, first):
    rows = [f"deleted record user-{at * 13} created 201{at % 10}-05-0{at % 9 + 1}" for at in range(30)]
    parts = segment("\n".join([line, *rows] if first else [*rows, line]))
    assert [parts.segments[at].text for at in outline(parts).alarms] == [line]
