"""What each content type costs: outline and cut against counting the input's tokens once, and how it grows."""

from __future__ import annotations

import gc
import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from jettison.compressors.kinds import outline_of
from jettison.compressors.shrink import shrink
from jettison.flow.segments import segment
from jettison.tokens import o200k as count

__all__ = ["ADVERSARIAL", "INPUTS", "Row", "growth", "speed", "table"]

SIZE = 200_000
"""Characters of an input: about 80,000 tokens, a large tool result."""
SHARE = 0.1
"""Target of the cut, of the input's characters."""
SMALL, LARGE = 100_000, 1_000_000
"""Characters between which growth is measured."""
REPEATS = 5


@dataclass(frozen=True)
class Row:
    """Times of one input, in times of counting its tokens once (growth: in times of the input's own growth)."""

    what: str
    segmenting: float
    outline: float
    shrink: float


def _log(size: int, seed: int = 1) -> str:
    dice, out, length, second = random.Random(seed), [], 0, 0
    while length < size:
        second += 1
        clock = f"2026-11-30T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        what = "ERROR" if dice.random() < 0.002 else "INFO "
        line = (
            f"{clock}.{dice.randint(100, 999)}Z {what} worker-{dice.randint(1, 8)} [req-{dice.getrandbits(40):010x}] "
        )
        line += f"GET /api/v1/items/{dice.randint(1, 99_999)} done in {dice.randint(1, 300)} ms"
        out.append(line)
        length += len(line) + 1
    return "\n".join(out)


def _russian(size: int) -> str:
    words = {"ERROR": "ОШИБКА", "INFO ": "ИНФО", "worker": "обработчик", "done in": "выполнено за"}
    text = _log(size)
    for word, other in words.items():
        text = text.replace(word, other)
    return text[:size]


def _records(size: int) -> str:
    dice, rows = random.Random(2), []
    for number in range(size // 88):
        status = "failed" if dice.random() < 0.002 else "active"
        amount, city = dice.randint(1, 9_999) / 10, dice.choice(["Paris", "Rome", "Tver"])
        rows.append({"id": number, "name": f"user {number}", "status": status, "amount": amount, "city": city})
    return json.dumps({"items": rows})


def _csv(size: int) -> str:
    dice, rows = random.Random(3), ["id,name,amount,city"]
    for number in range(size // 26):
        rows.append(f"{number},user {number},{dice.randint(1, 999)}.50,{dice.choice(['Paris', 'Rome'])}")
    return "\n".join(rows)


def _trace(size: int) -> str:
    dice, length = random.Random(4), 0
    out: list[str] = []
    while length < size:
        length = sum([len(line) for line in out])
        out.append("Traceback (most recent call last):\n")
        for depth in range(dice.randint(5, 40)):
            where = "/app/job" if dice.random() < 0.3 else "/usr/lib/python3.12/site-packages/lib"
            out.append(f'  File "{where}{depth}.py", line {dice.randint(1, 900)}, in run\n    return call({depth})\n')
        out.append(f"ValueError: bad job {dice.randint(1, 9_999)}\n\n")
    return "".join(out)


INPUTS: Mapping[str, Callable[[int], str]] = {
    "log": _log,
    "Russian log": _russian,
    "JSON records": _records,
    "CSV": _csv,
    "stack traces": _trace,
}
ADVERSARIAL: Mapping[str, Callable[[int], str]] = {
    "one line, no spaces": lambda size: "a" * size,
    "one line of `error `": lambda size: "error " * (size // 6),
    "one line of quotes and slashes": lambda size: "/'\"=-:" * (size // 6),
    "one line of digits": lambda size: "7" * size,
    "all lines differ": lambda size: "\n".join(f"{n:x} {n * n:x} w{n * 7919 % 9973:x}" for n in range(size // 18)),
    "short lines": lambda size: "\n".join(str(n) for n in range(size // 6)),
    "the same tiny line": lambda size: "a\n" * (size // 2),
    "lines of two brackets": lambda size: "[]\n" * (size // 3),
    "short Chinese lines": lambda size: "\n".join(f"订单{n}已经处理" for n in range(size // 11)),
    "one line of Chinese": lambda size: "中文内容很长没有换行" * (size // 10),
    "empty lines": lambda size: "\n" * size,
    "deep JSON": lambda size: "[" + ",".join(['{"a":' * 50 + "1" + "}" * 50] * (size // 302)) + "]",
    "long JSON key": lambda size: json.dumps({"k" * (size // 2): [{"a": 1}] * (size // 20)}),
    "long JSON list": lambda size: "[" + ",".join(str(n) for n in range(size // 7)) + "]",
    "stack frames only": lambda size: '  File "a.py", line 3, in f\n' * (size // 28),
    "commas": lambda size: ("," * 500 + "\n") * (size // 501),
}


Times = tuple[float, float, float, float]
"""Seconds of counting, segmenting, the outline, and all of `shrink`."""


def _times(text: str) -> Times:
    """One run of each, right after one another. Of the processor, so that other work on the machine matters less."""
    marks: list[float] = []

    def mark(began: float) -> None:
        marks.append(time.process_time() - began)
        gc.collect()

    gc.collect()
    began = time.process_time()
    count(text)
    mark(began)
    began = time.process_time()
    parts = segment(text)
    mark(began)
    began = time.process_time()
    outline_of(parts)
    mark(began)
    del parts
    began = time.process_time()
    shrink(text, int(SHARE * len(text)))
    mark(began)
    return marks[0], marks[1], marks[2], marks[3]


def _median(runs: list[Times]) -> list[float]:
    return [median(column) for column in zip(*runs, strict=True)]


def speed(repeats: int = REPEATS, size: int = SIZE) -> list[Row]:
    """Each content type and each adversarial input, in times of counting."""
    count("the tokenizer loads on first use")
    rows = []
    for name, make in {**INPUTS, **ADVERSARIAL}.items():
        text = make(size)
        counting, *others = _median([_times(text) for _ in range(repeats)])
        rows.append(Row(name, *(other / counting for other in others)))
    return rows


def growth(repeats: int = 3) -> list[Row]:
    """How much more than its input each time grows from 100,000 to 1,000,000 characters; 1 is linear."""
    rows = []
    for name, make in {**INPUTS, **ADVERSARIAL}.items():
        small, large = make(SMALL), make(LARGE)
        factor = len(large) / len(small)
        _, *before = _median([_times(small) for _ in range(repeats)])
        _, *after = _median([_times(large) for _ in range(repeats)])
        rows.append(Row(name, *(now / then / factor for now, then in zip(after, before, strict=True))))
    return rows


def table(rows: list[Row], unit: str) -> str:
    """Rows as a Markdown table."""
    head = f"| input | segmenting, {unit} | outline, {unit} | shrink, all of it, {unit} |\n|---|---|---|---|"
    lines = (f"| {row.what} | {row.segmenting:.2f} | {row.outline:.2f} | {row.shrink:.2f} |" for row in rows)
    return "\n".join([head, *lines])
