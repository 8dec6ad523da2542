"""The recorded sets under every peer and under this library: same calls, same budgets, same measure, one run."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.metrics import Call
from bench.peers.catalog import PEERS, SETTINGS, peer_of
from bench.peers.environments import FOLDER, NotInstalled, python_of
from bench.peers.process import OutOfTime, PeerFailed, PeerPolicy, PeerProcess
from bench.policies import make
from bench.replay import RESULTS
from bench.traces import Message, load, tokens
from bench.units import BenchPolicy, Case, Raised
from jettison.replay.measure.run import case_of, replay

__all__ = ["BESIDE", "Job", "Outcome", "in_order", "jobs_for", "names", "read", "run"]

BESIDE = ("keep-all", "clairvoyant", "random", "window", "clear-results", "jettison", "jettison-economy")
"""What stands beside the peers: bounds, baselines and this library, replayed in the same run."""
ROW_SECONDS = 30.0
"""Processor seconds that a peer may take for one set at one budget. The trajectories it has no time for are not run."""


@dataclass(frozen=True, slots=True)
class Job:
    """One row's part in one set."""

    name: str
    set: str
    fractions: tuple[float, ...]
    folder: str
    row_seconds: float = ROW_SECONDS


@dataclass(slots=True)
class Outcome:
    """One policy over one set at one fraction."""

    name: str
    set: str
    fraction: float
    calls: list[Call] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    """The task of each call, for intervals."""
    headless: int = 0
    """Requests in which a message of the head is missing or changed."""
    spent: int = 0
    """Tokens that a summariser would have read and written."""
    seconds: float = 0.0
    runs: int = 0
    late: int = 0
    """Trajectories that took longer than allowed, or were not begun because the row had used up its time."""
    failed: str = ""
    """Why there are no figures at all."""
    versions: dict[str, str] = field(default_factory=dict)


def names() -> list[str]:
    """Every row: what stands beside, and each peer at each setting."""
    return [*BESIDE, *(f"{peer.name} ({setting})" for peer in PEERS for setting in SETTINGS)]


_cases: dict[str, list[Case]] = {}
"""Of each set, made before the workers fork: their needed values and counts are shared."""


def run(jobs: Sequence[Job], limit: int | None, workers: int, path: Path = RESULTS / "peers.jsonl") -> list[Outcome]:
    """All of them; each is written to `path` as it is done, a line for each. Progress goes to standard error."""
    for name in dict.fromkeys(job.set for job in jobs):
        _cases[name] = [case_of(item) for item in load(name, limit)]
        for case in _cases[name]:
            for message in case.trajectory.messages:
                tokens(message)
    path.parent.mkdir(exist_ok=True)
    results: list[Outcome] = []
    with multiprocessing.get_context("fork").Pool(workers) as pool, path.open("w", encoding="utf-8") as out:
        for done, part in enumerate(pool.imap_unordered(_work, jobs), 1):
            results += part
            out.writelines(json.dumps(asdict(outcome)) + "\n" for outcome in part)
            out.flush()
            took = sum(outcome.seconds for outcome in part)
            print(f"{done}/{len(jobs)} {part[0].name}, {part[0].set}: {took:.0f} s", file=sys.stderr, flush=True)
    return in_order(results)


def read(paths: Sequence[Path]) -> list[Outcome]:
    """Outcomes of earlier runs; a later line replaces one of the same row, set and budget."""
    found = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                row = json.loads(line)
                outcome = Outcome(**{**row, "calls": [Call(**call) for call in row["calls"]]})
                found[outcome.name, outcome.set, outcome.fraction] = outcome
    return in_order(found.values())


def in_order(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Rows in the order of `names`."""
    order = {name: at for at, name in enumerate(names())}
    return sorted(outcomes, key=lambda o: (order[o.name], o.set, -o.fraction))


def _work(job: Job) -> list[Outcome]:
    if job.name in BESIDE:
        return [_baseline(job, fraction) for fraction in job.fractions]
    try:
        return list(_peer(job))
    except NotInstalled as error:
        return [Outcome(job.name, job.set, fraction, failed=str(error)) for fraction in job.fractions]


def _baseline(job: Job, fraction: float) -> Outcome:
    outcome = Outcome(job.name, job.set, fraction)
    for case in _cases[job.set]:
        policy = Timed(make(job.name, case))
        _add(outcome, case, fraction, policy)
        outcome.seconds += policy.seconds
    return outcome


def _peer(job: Job) -> Iterator[Outcome]:
    peer, setting = peer_of(job.name)
    python = python_of(peer, Path(job.folder))

    def started() -> PeerProcess:
        return PeerProcess(python, peer.module, setting, peer.distributions)

    process: PeerProcess | None = None
    kept: dict[str, Recorded] = {}
    fixed = setting == "default" and not peer.budgeted
    try:
        for at, fraction in enumerate(job.fractions):
            outcome = Outcome(job.name, job.set, fraction)
            for case in _cases[job.set]:
                known = kept.get(case.trajectory.id)
                left = job.row_seconds - outcome.seconds
                if left <= 0 or (fixed and at and known is None):
                    outcome.late += 1
                    continue
                try:
                    if process is not None and not process.alive:
                        process.close()
                    process = process if process is not None and process.alive else started()
                    outcome.versions = process.versions
                    policy = known or Recorded(PeerPolicy(process, left))
                    _add(outcome, case, fraction, policy)
                except OutOfTime:
                    outcome.late += 1
                    outcome.seconds += left
                except PeerFailed as error:
                    outcome.failed = str(error).splitlines()[-1][:200]
                    break
                else:
                    outcome.seconds += policy.peer.seconds
                    outcome.spent += policy.peer.spent
                    if fixed:
                        kept[case.trajectory.id] = policy
            yield outcome
    finally:
        if process is not None:
            process.close()


class Recorded:
    """A peer whose answers are kept, for those that would be the same at every budget."""

    def __init__(self, peer: PeerPolicy) -> None:
        self.peer = peer
        self._answers: dict[int, list[Message] | Raised] = {}

    def start(self, head: Sequence[Message]) -> None:
        self.peer.start(head)

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        known = self._answers.get(len(messages))
        if known is None:
            try:
                known = self.peer.fit(messages, budget)
            except Raised as error:
                known = error
            self._answers[len(messages)] = known
        if isinstance(known, Raised):
            raise known
        return known


class Timed:
    """A policy of this process with its processor time."""

    def __init__(self, policy: BenchPolicy) -> None:
        self.policy = policy
        self.seconds = 0.0

    def start(self, head: Sequence[Message]) -> None:
        self.policy.start(head)

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        started = time.process_time()
        try:
            return self.policy.fit(messages, budget)
        finally:
            self.seconds += time.process_time() - started


def _add(outcome: Outcome, case: Case, fraction: float, policy: BenchPolicy) -> None:
    """One trajectory into an outcome, whole or (when the policy gives up the process) not at all."""
    head = case.trajectory.messages[: case.trajectory.head]
    headless = 0

    def seen(call: Call, request: Sequence[Message]) -> None:
        nonlocal headless
        headless += not call.raised and any(message not in request for message in head)

    found = replay(case, outcome.name, fraction, under=policy, seen=seen)
    outcome.calls += found.calls
    outcome.tasks += [case.trajectory.task] * len(found.calls)
    outcome.headless += headless
    outcome.runs += 1


def jobs_for(
    wanted: Sequence[str],
    sets: Sequence[str],
    fractions: Sequence[float],
    folder: Path = FOLDER,
    row_seconds: float = ROW_SECONDS,
) -> list[Job]:
    """A job for each row and set, those that take longest last: a run that is stopped has all others."""
    slow = ("headroom", "furl", "litellm")
    order = sorted(wanted, key=lambda name: next((i for i, s in enumerate(slow) if name.startswith(s)), -1))
    return [Job(name, part, tuple(fractions), str(folder), row_seconds) for name in order for part in sets]
