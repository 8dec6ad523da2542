"""Replays a trajectory: one request before every assistant turn, scored against what the turn then used."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jettison.replay.measure.metrics import Call, Kept, judge
from jettison.replay.measure.needs import Texts, needs_of
from jettison.replay.measure.policies import make
from jettison.replay.measure.trajectory import Message, Trajectory, forget, tokens
from jettison.replay.measure.units import BenchPolicy, Case, Raised, units_of
from jettison.replay.measure.validity import broken_rules

__all__ = ["Replay", "case_of", "replay", "replay_all"]


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


def case_of(trajectory: Trajectory) -> Case:
    """A trajectory with its needed values."""
    texts = Texts()
    return Case(trajectory, needs_of(trajectory, texts), texts)


def replay_all(trajectory: Trajectory, policies: Sequence[str], fractions: Sequence[float]) -> list[Replay]:
    """A trajectory under several policies and fractions: its needed values are computed once."""
    forget()
    case = case_of(trajectory)
    return [replay(case, policy, fraction) for policy in policies for fraction in fractions]


def replay(
    case: Case,
    policy: str,
    fraction: float,
    *,
    limit: int | None = None,
    under: BenchPolicy | None = None,
    seen: Callable[[Call, Sequence[Message]], None] = lambda call, request: None,
) -> Replay:
    """Every request of one trajectory.

    `limit`: tokens, in place of a fraction of the body. `under`: the policy itself, when it is not one of the named
    ones. `seen` is told of every call and its request (empty when the policy refused).
    """
    run, messages = case.trajectory, case.trajectory.messages
    limit = run.budget(fraction) if limit is None else limit
    bench_policy = make(policy, case) if under is None else under
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
        request: list[Message] = []
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
            call.invalid = _broken(bench_policy, request, history)
            before = request
        result.calls.append(call)
        seen(call, request)
    return Replay(**{**_shallow(result), "seconds": seconds})


def _broken(policy: BenchPolicy, request: Sequence[Message], history: Sequence[Message]) -> list[str]:
    """Rules the request breaks: those of its own wire where the policy knows them, else those of chat messages."""
    own: Callable[[], Iterable[str]] | None = getattr(policy, "broken", None)
    return broken_rules(request, history) if own is None else list(own())


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
    kept = _judge(case, call.t, request)
    call.kept, call.bound, call.recorded, call.missing = kept.kept, kept.bound, kept.recorded, kept.missing


def _judge(case: Case, t: int, request: Sequence[Message]) -> Kept:
    needs = case.needs.get(t, ())
    texts = [case.texts(m) for m in request if m["role"] in ("user", "tool")] if needs else []
    return judge(needs, texts)
