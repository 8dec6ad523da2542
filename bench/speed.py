"""Speed as ratios inside one run: the library against `json.dumps` and against counting tokens once."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.synthetic import history
from bench.traces import Message, calls_of, count, forget, text_of, tokens

__all__ = ["Row", "speed", "table"]

SIZE = 1_000
COLD_SIZE = 5_000
LIMIT = 32_000
"""Tokens into which a history of COLD_SIZE messages, a million tokens, is fitted."""
WARM_STEPS = 20


@dataclass(frozen=True)
class Row:
    what: str
    measured: str
    target: str
    met: bool | None


def speed(quick: bool = False) -> list[Row]:
    """All rows of the Speed table; quick leaves out 50,000 messages and repeats less."""
    count("the tokenizer loads on first use")
    _session(1_000_000).fit(history(10))
    repeats = 3 if quick else 7
    rows = [_warm("warm fit, one new unit, all fits", None), _warm("warm fit after an epoch, half of it evicted", 0.5)]
    rows.append(_epoch(repeats))
    rows += [_cold(COLD_SIZE, 10, LIMIT), _cold(SIZE, repeats), _cold(COLD_SIZE, 3)]
    rows += _growth((500, 5_000) if quick else (500, 5_000, 50_000))
    rows += [_memory(), _import_time()]
    return rows


def _session(budget: int) -> Any:
    from jettison import Budget, Policy, Session

    return Session(Policy(budget=Budget(budget)), wire="openai-chat")


def _timed(work: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """Seconds of one call, and what it returned."""
    gc.collect()
    started = time.perf_counter()
    result = work(*given)
    return time.perf_counter() - started, result


def _turn_ends(messages: list[Message]) -> list[int]:
    """Lengths at which a request is made: before an assistant turn."""
    return [t for t, message in enumerate(messages) if message["role"] == "assistant" and t > 1]


def _weight(messages: list[Message]) -> int:
    return sum(map(tokens, messages))


def _warm_times(size: int, share: float | None, seed: int) -> tuple[list[float], list[float]]:
    """Seconds of warm fits without an epoch, and of `json.dumps` of the same histories, at about `size` messages."""
    messages = history(size, seed)
    budget = _weight(messages) * 2 if share is None else int(_weight(messages) * share)
    session, ends = _session(budget), _turn_ends(messages)
    for end in (ends[-WARM_STEPS - 20], ends[-WARM_STEPS - 10]):
        session.fit(messages[:end])
    fits, dumps = [], []
    for end in ends[-WARM_STEPS:]:
        given = messages[:end]
        seconds, fitted = _timed(session.fit, given)
        if fitted.report.cache.epoch in ("none", "arrival"):
            fits.append(seconds)
            dumps.append(_timed(json.dumps, given)[0])
    return fits, dumps


def _warm(what: str, share: float | None) -> Row:
    fits, dumps = _warm_times(SIZE, share, 1)
    ratio = median(fits) / median(dumps)
    detail = f"{ratio:.2f}× `json.dumps` ({1000 * median(fits):.2f} ms, {len(fits)} calls)"
    return Row(f"{what}, {SIZE:,} messages", detail, "≤ 0.5×", ratio <= 0.5)


def _epoch(repeats: int) -> Row:
    """The call at which a history of SIZE messages first exceeds the budget."""
    fits, dumps = [], []
    for seed in range(repeats):
        messages = history(SIZE, 10 + seed)
        ends = _turn_ends(messages)
        session = _session(_weight(messages[: ends[-2]]) + 20)
        session.fit(messages[: ends[-12]])
        session.fit(messages[: ends[-2]])
        seconds, fitted = _timed(session.fit, messages[: ends[-1]])
        if fitted.report.cache.epoch in ("minor", "major"):
            fits.append(seconds)
            dumps.append(_timed(json.dumps, messages[: ends[-1]])[0])
    if not fits:
        return Row("warm fit with an epoch", "no epoch happened", "≤ 10×", False)
    ratio = median(fits) / median(dumps)
    detail = f"{ratio:.1f}× `json.dumps` ({1000 * median(fits):.1f} ms, {len(fits)} sessions)"
    return Row(f"warm fit with an epoch, {SIZE:,} messages", detail, "≤ 10×", ratio <= 10)


def _count_once(messages: list[Message]) -> None:
    from jettison.tokens import o200k

    for message in messages:
        o200k(text_of(message))
        for call in calls_of(message):
            o200k(call["function"]["name"])
            o200k(call["function"]["arguments"])


def _cold(size: int, repeats: int, limit: int = 0) -> Row:
    """A fresh session, fresh texts; half of the history evicted, or all but `limit` tokens."""
    fits, counts, ratios = [], [], []
    for seed in range(repeats):
        messages = history(size, 100 + seed)
        budget = limit or _weight(messages) // 2
        forget()
        counts.append(_timed(_count_once, messages)[0])
        fits.append(_timed(_session(budget).fit, messages[: _turn_ends(messages)[-1]])[0])
        ratios.append(fits[-1] / counts[-1])
    ratio = median(ratios)
    spread = f"{min(ratios):.1f} – {max(ratios):.1f} on {repeats} texts"
    detail = f"{ratio:.2f}× counting its tokens once ({1000 * median(fits):.0f} ms; {spread})"
    into = f"{limit:,} tokens" if limit else "a half"
    return Row(f"cold fit to {into}, {size:,} messages", detail, "≤ 3×", ratio <= 3)


def _growth(sizes: tuple[int, ...]) -> list[Row]:
    rows, first = [], 0.0
    for size in sizes:
        fits, dumps = _warm_times(size, None, 2)
        forget()
        each = 1e6 * median(fits) / size
        detail = (
            f"{1000 * median(fits):.2f} ms, {each:.2f} µs a message, {median(fits) / median(dumps):.2f}× `json.dumps`"
        )
        first = first or each
        # A tenth of noise is allowed: "linear at most, and cheaper per message".
        rows.append(Row(f"warm fit, {size:,} messages", detail, "µs a message falls", each <= 1.1 * first))
    return rows


def _memory() -> Row:
    raw = json.dumps(history(SIZE, 3))
    budget = _weight(json.loads(raw)) // 2
    forget()
    gc.collect()
    tracemalloc.start()
    messages = json.loads(raw)
    own = tracemalloc.get_traced_memory()[0]
    session = _session(budget)
    for end in _turn_ends(messages)[-20:]:
        session.fit(messages[:end])
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0] - own
    tracemalloc.stop()
    ratio = kept / own
    return Row(f"memory kept by a session, {SIZE:,} messages", f"{ratio:.2f}× the messages", "≤ 2×", ratio <= 2)


def _import_time() -> Row:
    script = "import time; t = time.perf_counter(); import jettison; print(time.perf_counter() - t)"
    # With the byte code that Python keeps by default: a first import writes it.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = [float(subprocess.check_output([sys.executable, "-c", script], env=env)) for _ in range(11)][1:]
    seconds = median(times)
    return Row("`import jettison`, median of 10", f"{1000 * seconds:.0f} ms", "< 100 ms", seconds < 0.1)


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| what | measured | target | met |", "|---|---|---|---|"]
    for row in rows:
        met = "" if row.met is None else "yes" if row.met else "**no**"
        lines.append(f"| {row.what} | {row.measured} | {row.target} | {met} |")
    return "\n".join(lines)
