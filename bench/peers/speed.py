"""One cold call over a long history: this library and every peer, each in a process of its own, one after another.

Every child times itself, in processor seconds: set-up, conversion into the peer's own messages, and the call. The
counter is the same o200k one for all; it remembers each text, since some peers count a message again and again, and
nothing hinders a user from doing the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.peers.catalog import OURS, PEERS, Peer
from bench.peers.environments import NotInstalled, python_of
from bench.peers.process import OutOfTime, PeerFailed, PeerProcess
from bench.synthetic import history
from bench.traces import count, forget, tokens

__all__ = ["BUDGET", "SIZE", "Timing", "counting", "speed", "table"]

SIZE, BUDGET = 5_000, 32_000
SECONDS, WAIT = 20, 900.0
"""Of processor time for a call, and of waiting for it: a machine may be busy."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Processor seconds, the median of the repeats; or why there are none."""

    name: str
    counter: str
    seconds: float | None = None
    tokens: int = 0
    problem: str = ""


def speed(folder: Path, size: int = SIZE, budget: int = BUDGET, repeats: int = 3) -> list[Timing]:
    """Ours at both profiles, then each peer at its fair setting. Progress goes to standard error."""
    rows = [(OURS, "default", "jettison"), (OURS, "economy", "jettison-economy")]
    rows += [(peer, "fair", peer.name) for peer in sorted(PEERS, key=lambda peer: peer.counter == "own")]
    timings = []
    for peer, setting, name in rows:
        timings.append(_timing(peer, setting, name, folder, size, budget, repeats))
        print(timings[-1], file=sys.stderr, flush=True)
    return timings


def _timing(peer: Peer, setting: str, name: str, folder: Path, size: int, budget: int, repeats: int) -> Timing:
    try:
        python = python_of(peer, folder)
        answers = [_cold(python, peer, setting, history(size, 200 + seed), budget) for seed in range(repeats)]
    except NotInstalled as error:
        return Timing(name, peer.counter, problem=str(error))
    except OutOfTime:
        return Timing(name, peer.counter, problem=f"more than {SECONDS} s")
    except PeerFailed as error:
        return Timing(name, peer.counter, problem=str(error).splitlines()[-1][:160])
    return Timing(name, peer.counter, median(answer["cpu"] for answer in answers), answers[-1]["tokens"])


def _cold(python: Path, peer: Peer, setting: str, messages: list[Any], budget: int) -> dict[str, Any]:
    """One call in a new process, so that nothing is warm."""
    start = {"budget": budget, "head": 2, "head_tokens": sum(map(tokens, messages[:2]))}
    process = PeerProcess(python, peer.module, setting)
    try:
        answer = process.ask({"time": messages, "start": start, "remember": True, "limit": SECONDS}, WAIT)
    finally:
        process.close()
    if "error" in answer:
        raise PeerFailed(f"{answer['error']}: {answer['detail']}")
    return answer


def counting(size: int = SIZE, repeats: int = 3) -> float:
    """Processor seconds of counting such a history once, in this process."""
    times = []
    count("the tokenizer loads on first use")
    for seed in range(repeats):
        messages = history(size, 200 + seed)
        forget()
        started = time.process_time()
        for message in messages:
            tokens(message)
        times.append(time.process_time() - started)
    return median(times)


def table(timings: Sequence[Timing], budget: int = BUDGET) -> str:
    """Markdown, fastest first; what is not within the budget says so."""
    lines = ["| | counter | s | tokens sent |", "|---|---|---|---|"]
    for row in sorted(timings, key=lambda timing: (timing.seconds is None, timing.seconds or 0.0)):
        if row.seconds is None:
            lines.append(f"| {row.name} | {row.counter} | – ({row.problem}) | |")
            continue
        over = "" if row.tokens <= 1.02 * budget else f" (budget {budget:,})"
        lines.append(f"| {row.name} | {row.counter} | {row.seconds:.2f} | {row.tokens:,}{over} |")
    return "\n".join(lines)
