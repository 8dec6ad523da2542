"""The crash run: every step of every trajectory gives a valid output within budget, or a named error."""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.traces import PRIMING, Trajectory, forget, load, tokens
from bench.validity import broken_rules

__all__ = ["Swept", "report", "sweep"]


@dataclass(slots=True)
class Swept:
    """What happened over all steps of some trajectories at one fraction."""

    set: str
    fraction: float
    trajectories: int = 0
    calls: int = 0
    rewritten: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    """Crashes, invalid or over-budget outputs, mutated inputs: trajectory, step, what. Must be empty."""

    def add(self, other: Swept) -> None:
        self.trajectories += other.trajectories
        self.calls += other.calls
        self.rewritten += other.rewritten
        self.errors += other.errors
        self.faults += other.faults


def _sweep_one(job: tuple[Trajectory, float, str]) -> Swept:
    from jettison import Budget, JettisonError, Policy, Session

    run, fraction, profile = job
    forget()
    limit = run.budget(fraction)
    session: Any = Session(Policy(budget=Budget(limit), profile=profile), wire="openai-chat")
    swept = Swept(run.set, fraction, trajectories=1)
    given = json.dumps(run.messages)
    for t in [*run.turns, len(run.messages)]:
        swept.calls += 1
        where = f"{run.set} {run.id}, message {t}"
        try:
            fitted = session.fit(run.messages[:t])
        except JettisonError as error:
            swept.errors[type(error).__name__] += 1
        except Exception as error:  # noqa: BLE001 - finding these is what the run is for
            swept.faults.append(f"{where}: crash {type(error).__name__}: {str(error)[:200]}")
        else:
            swept.rewritten += fitted.messages != run.messages[:t]
            swept.faults += [f"{where}: {fault}" for fault in _faults(run, t, fitted, limit)]
    if json.dumps(run.messages) != given:
        swept.faults.append(f"{run.set} {run.id}: the input was mutated")
    return swept


def _faults(run: Trajectory, t: int, fitted: Any, limit: int) -> list[str]:
    """What is wrong with one output, by the bench's own rules, the library's wire, and both counts."""
    from jettison.wire.openai_chat import OpenAIChat

    messages, history = fitted.messages, run.messages[:t]
    faults = [f"invalid: {problem}" for problem in broken_rules(messages, history)]
    known = {problem.rule for problem in OpenAIChat().check(history)}
    faults += [f"wire: {p}" for p in OpenAIChat().check(messages) if p.rule not in known]
    if fitted.report.after > limit:
        faults.append(f"over budget by its own count: {fitted.report.after} > {limit}")
    if (total := sum(map(tokens, messages)) + PRIMING) > limit:
        faults.append(f"over budget: {total} > {limit}")
    return faults


def sweep(sets: Sequence[str], fractions: Sequence[float], limit: int | None, jobs: int, profile: str) -> list[Swept]:
    """All steps, totals by set and fraction; progress goes to stderr."""
    work = [(item, fraction, profile) for name in sets for item in load(name, limit) for fraction in fractions]
    work.sort(key=lambda job: -sum(len(str(m.get("content"))) for m in job[0].messages))
    totals: dict[tuple[str, float], Swept] = {}
    with multiprocessing.Pool(jobs) as pool:
        for done, part in enumerate(pool.imap_unordered(_sweep_one, work), 1):
            totals.setdefault((part.set, part.fraction), Swept(part.set, part.fraction)).add(part)
            if done % 50 == 0 or done == len(work):
                print(f"{done}/{len(work)} replays", file=sys.stderr, flush=True)
    return [totals[key] for key in sorted(totals, key=lambda key: (key[0], -key[1]))]


def report(results: Sequence[Swept], most: int = 50) -> str:
    """A Markdown table, then every fault."""
    lines = [
        "| set | budget | trajectories | calls | rewritten | named errors | faults |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        errors = ", ".join(f"{name} {n}" for name, n in r.errors.most_common()) or "0"
        row = (r.set, f"{r.fraction:.0%}", r.trajectories, r.calls, r.rewritten, errors, len(r.faults))
        lines.append(f"| {' | '.join(map(str, row))} |")
    faults = [fault for r in results for fault in r.faults]
    if faults:
        lines += [
            "",
            f"Faults, {min(most, len(faults))} of {len(faults)}:",
            "",
            *(f"- {fault}" for fault in faults[:most]),
        ]
    return "\n".join(lines)
