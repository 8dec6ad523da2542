"""Replays trajectories: one request before every assistant turn, scored against what the turn then used."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.metrics import Call, judge
from bench.needs import Texts, needs_of
from bench.policies import make
from bench.traces import Message, Trajectory, forget, load, tokens
from bench.units import Case, Raised, units_of
from bench.validity import broken_rules

__all__ = ["Job", "Replay", "replay", "run", "save"]

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Job:
    """One trajectory under several policies and fractions: its needed values are computed once."""

    trajectory: Trajectory
    policies: tuple[str, ...]
    fractions: tuple[float, ...]


@dataclass(frozen=True)
class Replay:
    """One trajectory under one policy at one fraction."""

    set: str
    id: str
    task: str
    policy: str
    fraction: float
    limit: int
    seconds: float
    """Time in the policy alone."""
    calls: list[Call] = field(default_factory=list)


def replay(case: Case, policy: str, fraction: float) -> Replay:
    """Every request of one trajectory."""
    run, messages = case.trajectory, case.trajectory.messages
    limit = run.budget(fraction)
    bench_policy = make(policy, case)
    bench_policy.start(messages[: run.head])
    result = Replay(run.set, run.id, run.task, policy, fraction, limit, 0.0)
    sizes = [tokens(message) for message in messages]
    before: list[Message] = []
    full_hit, seconds = 0, 0.0
    for t in run.turns:
        history = messages[:t]
        call = Call(t, limit, sum(sizes[:t]), full_hit, needed=len(case.needs.get(t, ())))
        call.oversize = _oversize(run, t, sizes, limit)
        full_hit = call.full
        started = time.perf_counter()
        try:
            request = bench_policy.fit(history, limit)
        except Raised as error:
            seconds += time.perf_counter() - started
            call.raised = str(error)[:500]
            best = _judge(case, t, error.best) if error.best is not None else None
            call.missing = best.missing if best else [need.value for need in case.needs.get(t, ())]
            call.lost_anyway = bool(call.missing)
        else:
            seconds += time.perf_counter() - started
            _measure(case, call, request, before)
            before = request
        result.calls.append(call)
    return Replay(**{**_shallow(result), "seconds": seconds})


def _shallow(result: Replay) -> dict[str, Any]:
    return {name: getattr(result, name) for name in result.__dataclass_fields__}


def _oversize(run: Trajectory, t: int, sizes: list[int], limit: int) -> bool:
    """The unit just before turn t does not fit beside the head."""
    if t <= run.head:
        return False
    latest = units_of(run.messages[:t], run.head)[-1]
    return sum(sizes[: run.head]) + sum(sizes[i] for i in latest) > limit


def _measure(case: Case, call: Call, request: list[Message], before: list[Message]) -> None:
    weights = [tokens(message) for message in request]
    call.sent = sum(weights)
    for old, new, weight in zip(before, request, weights, strict=False):
        if old is not new and old != new:
            break
        call.hit += weight
    call.before = sum(map(tokens, before))
    call.invalid = broken_rules(request, case.trajectory.messages[: call.t])
    kept = _judge(case, call.t, request)
    call.kept, call.bound, call.recorded, call.missing = kept.kept, kept.bound, kept.recorded, kept.missing


def _judge(case: Case, t: int, request: Sequence[Message]) -> Any:
    needs = case.needs.get(t, ())
    texts = [case.texts(m) for m in request if m["role"] in ("user", "tool")] if needs else []
    return judge(needs, texts)


def _work(job: Job) -> list[Replay]:
    forget()
    texts = Texts()
    case = Case(job.trajectory, needs_of(job.trajectory, texts), texts)
    return [replay(case, policy, fraction) for policy in job.policies for fraction in job.fractions]


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
