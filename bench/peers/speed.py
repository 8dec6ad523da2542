"""One cold call over a long history: this library and every peer, each in a process of its own, one after another.

Every child times itself, in processor seconds: set-up, conversion into the peer's own messages, and the call. The
counter is the same o200k one; it is timed once as it is and once remembering each text, since peers that count a
message again and again gain by that and nothing hinders a user from doing so.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.peers.catalog import OURS, PEERS, Peer
from bench.peers.environments import NotInstalled, python_of
from bench.peers.process import OutOfTime, PeerFailed, PeerProcess
from bench.synthetic import history
from bench.traces import count, forget, tokens

__all__ = ["Timing", "speed", "table"]

SIZE, BUDGET = 5_000, 32_000
SECONDS, WAIT = 60, 900.0
"""Of processor time for a call, and of waiting for it: a machine may be busy."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Processor seconds, the median of three with a plain counter and one with one that remembers; or why none."""

    name: str
    counter: str
    plain: float | None = None
    remembering: float | None = None
    tokens: int = 0
    problem: str = ""


def speed(folder: Path, size: int = SIZE, budget: int = BUDGET, repeats: int = 3) -> list[Timing]:
    """Ours at both profiles, then each peer at its fair setting. Progress goes to standard error."""
    rows = [(OURS, "default", "jettison"), (OURS, "economy", "jettison-economy")]
    rows += [(peer, "fair", peer.name) for peer in PEERS]
    timings = []
    for peer, setting, name in rows:
        timings.append(_timing(peer, setting, name, folder, size, budget, repeats))
        print(timings[-1], file=sys.stderr, flush=True)
    return timings


def _timing(peer: Peer, setting: str, name: str, folder: Path, size: int, budget: int, repeats: int) -> Timing:
    try:
        python = python_of(peer, folder)
        plain, sent = _median(python, peer, setting, size, budget, repeats, remember=False)
        remembering, _ = _median(python, peer, setting, size, budget, 1, remember=True)
    except NotInstalled as error:
        return Timing(name, peer.counter, problem=str(error))
    except OutOfTime:
        return Timing(name, peer.counter, problem=f"more than {SECONDS} s")
    except PeerFailed as error:
        return Timing(name, peer.counter, problem=str(error).splitlines()[-1][:160])
    return Timing(name, peer.counter, plain, remembering, sent)


def _median(
    python: Path, peer: Peer, setting: str, size: int, budget: int, repeats: int, *, remember: bool
) -> tuple[float, int]:
    """A new process each time, so that nothing is warm; other texts each time, the same for every row."""
    times, sent = [], 0
    for seed in range(repeats):
        messages = history(size, 200 + seed)
        start = {"budget": budget, "head": 2, "head_tokens": sum(map(tokens, messages[:2]))}
        process = PeerProcess(python, peer.module, setting)
        try:
            answer = process.ask({"time": messages, "start": start, "remember": remember, "limit": SECONDS}, WAIT)
        finally:
            process.close()
        if "error" in answer:
            raise PeerFailed(f"{answer['error']}: {answer['detail']}")
        times.append(float(answer["cpu"]))
        sent = int(answer["tokens"])
    return median(times), sent


def counting(size: int = SIZE, repeats: int = 3) -> float:
    """Processor seconds of counting such a history once, in this process."""
    import time

    times = []
    for seed in range(repeats):
        messages = history(size, 200 + seed)
        forget()
        count("the tokenizer loads on first use")
        started = time.process_time()
        for message in messages:
            tokens(message)
        times.append(time.process_time() - started)
    return median(times)


def table(timings: Sequence[Timing], budget: int = BUDGET) -> str:
    """Markdown, fastest first; what is not within the budget says so."""
    rows = sorted(timings, key=lambda t: (t.plain is None, t.plain or 0.0))
    lines = ["| | counter | s | … with a counter that remembers | tokens sent |", "|---|---|---|---|---|"]
    for row in rows:
        if row.plain is None or row.remembering is None:
            lines.append(f"| {row.name} | {row.counter} | – ({row.problem}) | | |")
            continue
        over = "" if row.tokens <= 1.02 * budget else f" (budget {budget:,})"
        lines.append(f"| {row.name} | {row.counter} | {row.plain:.2f} | {row.remembering:.2f} | {row.tokens:,}{over} |")
    return "\n".join(lines)
