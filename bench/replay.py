"""Replays the recorded sets; the replay of one trajectory is `jettison.replay.measure.run`."""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.policies import make
from bench.traces import Trajectory, forget, load
from jettison.replay.measure.run import Replay, case_of, replay

__all__ = ["Job", "Replay", "replay", "run", "save"]

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Job:
    """One trajectory under several policies and fractions: its needed values are computed once."""

    trajectory: Trajectory
    policies: tuple[str, ...]
    fractions: tuple[float, ...]


def _work(job: Job) -> list[Replay]:
    forget()
    case = case_of(job.trajectory)
    return [
        replay(case, policy, fraction, under=make(policy, case))
        for policy in job.policies
        for fraction in job.fractions
    ]


def run(
    sets: Sequence[str],
    policies: Sequence[str],
    fractions: Sequence[float],
    limit: int | None = None,
    jobs: int = 2,
) -> list[Replay]:
    """Replay sets on `jobs` processes, biggest trajectories first; progress goes to stderr."""
    work = [Job(item, tuple(policies), tuple(fractions)) for name in sets for item in load(name, limit)]
    work.sort(key=lambda job: -sum(len(str(m.get("content"))) for m in job.trajectory.messages))
    results: list[Replay] = []
    for done, part in enumerate(_map(work, jobs), 1):
        results += part
        if done % 25 == 0 or done == len(work):
            print(f"{done}/{len(work)} trajectories", file=sys.stderr, flush=True)
    return sorted(results, key=lambda r: (r.set, r.id, r.policy, r.fraction))


def _map(work: list[Job], jobs: int) -> Iterator[list[Replay]]:
    if jobs <= 1:
        yield from map(_work, work)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(_work, work)


def save(name: str, results: Sequence[Replay]) -> Path:
    """Every call of every replay as JSON under bench/results (not in git)."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps([asdict(result) for result in results], ensure_ascii=False), encoding="utf-8")
    return path
