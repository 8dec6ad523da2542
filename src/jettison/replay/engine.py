"""Measures any number of trajectories on several processes, in memory that does not grow with them.

Trajectories are dealt in chunks, in the order they are read. What a chunk gives is a list of sums, one for each
trajectory, policy and fraction (`Result`); only sums by task are kept. A worker that dies takes its pool with it: the
chunks it had are dealt again. With a folder of parts (`parts`) each chunk is written there in one step before it
counts, and a run that starts again takes what is there: nothing is lost and nothing counts twice.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice

from jettison.errors import JettisonError
from jettison.policy import Policy
from jettison.replay.measure.library import Library
from jettison.replay.measure.policies import POLICIES, make
from jettison.replay.measure.run import case_of, replay
from jettison.replay.measure.tally import Tally
from jettison.replay.measure.trajectory import Trajectory, forget
from jettison.replay.measure.units import BenchPolicy, Case
from jettison.replay.parts import Parts
from jettison.replay.peers import is_peer, peer_policy
from jettison.replay.totals import Result, Totals

__all__ = [
    "BASELINES",
    "Chunk",
    "Result",
    "Setup",
    "Totals",
    "WorkerLost",
    "chunks_of",
    "measured",
    "one",
    "policy_for",
    "work",
]

BASELINES = tuple(name for name in POLICIES if not name.startswith("jettison"))
CHUNK = 8
"""Trajectories a worker is handed at a time: of seconds each, so that dealing costs nothing and a lost chunk little."""
AHEAD = 2
"""Chunks that wait for each worker."""
RETRIES = 3
"""How often a chunk may take its worker down before the run gives up."""


class WorkerLost(JettisonError):
    """A worker died again and again over the same trajectories (out of memory, most likely)."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What every trajectory is measured under."""

    policies: tuple[str, ...] = ("jettison",)
    """Names: baselines, `jettison`, `jettison-economy`, peers, and the keys of `given`."""
    fractions: tuple[float, ...] = (0.25,)
    tokens: int = 0
    """A budget in tokens, in place of the fractions."""
    given: tuple[tuple[str, Policy], ...] = ()

    @property
    def budgets(self) -> tuple[tuple[float, int | None], ...]:
        """(fraction, limit) pairs; a limit in tokens has the fraction 0."""
        return ((0.0, self.tokens),) if self.tokens else tuple((fraction, None) for fraction in self.fractions)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Trajectories that are measured together."""

    number: int
    runs: tuple[Trajectory, ...]

    @property
    def first(self) -> int:
        """The number of its first trajectory, from 0."""
        return self.number * CHUNK


def policy_for(name: str, case: Case, setup: Setup) -> BenchPolicy:
    """The named policy, fresh, for one trajectory."""
    given = dict(setup.given).get(name)
    if given is not None:
        return Library(given, case.trajectory)
    if is_peer(name):
        return peer_policy(name)
    if name.startswith("jettison"):
        return Library(Policy(profile="economy" if name.endswith("economy") else "safe"), case.trajectory)
    return make(name, case)


def one(run: Trajectory, setup: Setup) -> list[Result]:
    """All results of one trajectory."""
    forget()
    case = case_of(run)
    results = []
    for name in setup.policies:
        for fraction, limit in setup.budgets:
            found = replay(case, name, fraction, limit=limit, under=policy_for(name, case, setup))
            tally = Tally.of(found.calls, found.seconds)
            results.append(Result(run.set, run.task, run.id, name, fraction, tally))
    return results


def work(chunk: Chunk, setup: Setup) -> list[Result]:
    """All results of a chunk; what a worker runs."""
    return [result for run in chunk.runs for result in one(run, setup)]


def measured(
    runs: Iterable[Trajectory],
    setup: Setup,
    *,
    jobs: int = 1,
    parts: Parts | None = None,
    tell: Callable[[int, Sequence[Result]], None] = lambda first, results: None,
) -> Totals:
    """Measure all of them. `tell` hears of each chunk: the number of its first trajectory, from 0, and its results.

    Raises WorkerLost, and ConfigError for parts of another run.
    """
    totals = Totals()

    def take(number: int, results: Sequence[Result]) -> None:
        totals.add(results)
        tell(number * CHUNK, results)

    def fresh() -> Iterator[Chunk]:
        """The chunks that no part is there for; what is there is taken at once, so that none of it waits in memory."""
        for chunk in chunks_of(runs):
            known = parts.read(chunk.number) if parts else None
            if known is None:
                yield chunk
            else:
                take(chunk.number, known)

    for chunk, results in _measured(fresh(), setup, jobs):
        if parts:
            parts.write(chunk.number, results)
        take(chunk.number, results)
    return totals


def chunks_of(runs: Iterable[Trajectory]) -> Iterator[Chunk]:
    """Trajectories dealt in chunks, numbered in the order they are read."""
    left, number = iter(runs), 0
    while batch := tuple(islice(left, CHUNK)):
        yield Chunk(number, batch)
        number += 1


def _measured(chunks: Iterator[Chunk], setup: Setup, jobs: int) -> Iterator[tuple[Chunk, Sequence[Result]]]:
    """Each chunk with its results, in order; chunks whose worker died are dealt again to new ones."""
    if jobs <= 1:
        for chunk in chunks:
            yield chunk, work(chunk, setup)
        return
    again: deque[Chunk] = deque()
    tries: Counter[int] = Counter()
    while True:
        waiting: deque[tuple[Chunk, Future[list[Result]] | None]] = deque()
        # Spawned, not forked: the progress bar is a thread, and a fork of a process with threads can hang.
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _with_parent) as pool:
            while _deal(again, chunks, waiting, pool, setup, jobs):
                done = _first(waiting)
                if done is None:
                    break
                yield waiting.popleft()[0], done
        if not waiting:
            return
        again.extend(chunk for chunk, _ in waiting)
        tries.update(chunk.number for chunk in again)
        if max(tries.values()) > RETRIES:
            names = ", ".join(run.id for run in again[0].runs)
            raise WorkerLost(f"a worker died {RETRIES + 1} times over the same trajectories, out of memory?: {names}")


def _with_parent() -> None:
    """Let this worker end when the process that began it is killed; else it would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def end() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _deal(
    again: deque[Chunk],
    chunks: Iterator[Chunk],
    waiting: deque[tuple[Chunk, Future[list[Result]] | None]],
    pool: ProcessPoolExecutor,
    setup: Setup,
    jobs: int,
) -> bool:
    """Hand out chunks until enough wait; whether any does. What a broken pool refuses waits without a future."""
    while len(waiting) < jobs * AHEAD:
        chunk = again.popleft() if again else next(chunks, None)
        if chunk is None:
            break
        try:
            waiting.append((chunk, pool.submit(work, chunk, setup)))
        except BrokenProcessPool:
            waiting.append((chunk, None))
            break
    return bool(waiting)


def _first(waiting: deque[tuple[Chunk, Future[list[Result]] | None]]) -> list[Result] | None:
    """The results of the chunk that has waited longest; None when the pool is broken."""
    future = waiting[0][1]
    try:
        return None if future is None else future.result()
    except BrokenProcessPool:
        return None
