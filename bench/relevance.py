"""`python -m bench relevance`: plain formula, rules, + embeddings, + an oracle judge, on the recorded sets."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

from bench.consulting import Consulting, Took
from bench.metrics import summary
from bench.needs import Texts, needs_of
from bench.policies import make
from bench.replay import Replay, replay
from bench.traces import Trajectory, forget, load
from bench.units import Case
from jettison.replay.measure.tally import Tally, difference

__all__ = ["COMPARED", "ablate", "report"]

COMPARED = {
    "plain formula": "plain-formula",
    "rules": "jettison",
    "+ embeddings": "rules+embeddings",
    "+ oracle judge": "full, oracle judge",
}
Row = tuple[str, Replay, Took]


def _work(fractions: Sequence[float], trajectory: Trajectory) -> list[Row]:
    forget()
    texts = Texts()
    case = Case(trajectory, needs_of(trajectory, texts), texts)
    rows = []
    for name, policy in COMPARED.items():
        for fraction in fractions:
            Consulting.took = Took()
            rows.append((name, replay(case, policy, fraction, under=make(policy, case)), Consulting.took))
    return rows


def ablate(sets: Sequence[str], fractions: Sequence[float], limit: int | None, jobs: int) -> list[Row]:
    """Replay the sets under every setting; progress goes to stderr."""
    runs = [item for name in sets for item in load(name, limit)]
    runs.sort(key=lambda run: -sum(len(str(message.get("content"))) for message in run.messages))
    work: Callable[[Trajectory], list[Row]] = partial(_work, tuple(fractions))
    found: list[Row] = []
    with multiprocessing.Pool(max(1, jobs)) as pool:
        for done, part in enumerate(pool.imap_unordered(work, runs), 1):
            found += part
            print(f"{done}/{len(runs)} trajectories", file=sys.stderr, flush=True)
    return found


def report(rows: Sequence[Row]) -> str:
    """A table a fraction: support · completeness · cost with the judge; embedder's ms and judge's tokens a call. Below
    it the change of strict support against the rules, with its 95 % interval over tasks."""
    lines: list[str] = []
    sets = sorted({result.set for _, result, _ in rows})
    for fraction in sorted({result.fraction for _, result, _ in rows}, reverse=True):
        at = [row for row in rows if row[1].fraction == fraction]
        counts = ", ".join(f"{which} {len({row[1].id for row in at if row[1].set == which})}" for which in sets)
        lines += ["", f"{fraction:.0%} of the body, runs: {counts}", "", f"| relevance | {' | '.join(sets)} |"]
        lines.append(f"|{'---|' * (len(sets) + 1)}")
        for name in COMPARED:
            cells = [_cell([row for row in at if row[0] == name and row[1].set == which]) for which in sets]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        for name in list(COMPARED)[2:]:
            cells = [_change(at, name, which) for which in sets]
            lines.append(f"| {name}, strict support against rules | {' | '.join(cells)} |")
    return "\n".join(lines[1:])


def _change(rows: Sequence[Row], name: str, which: str) -> str:
    both = []
    for one in (name, "rules"):
        tasks: dict[str, Tally] = {}
        for setting, result, _ in rows:
            if setting == one and result.set == which:
                tasks.setdefault(result.task, Tally()).add(Tally.of(result.calls))
        both.append([tasks[task] for task in sorted(tasks)])
    found = difference(both[0], both[1], "strict")
    if found is None:
        return "–"
    change, (low, high) = found
    return f"{100 * change:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _cell(rows: Sequence[Row]) -> str:
    calls = [call for _, result, _ in rows for call in result.calls]
    figures = summary(calls)
    took = {key: sum(asdict(row[2])[key] for row in rows) for key in ("embed_seconds", "judge_tokens")}
    full = sum(0.1 * call.full_hit + 1.25 * (call.full - call.full_hit) for call in calls if not call.raised)
    cost = (figures["cost"] or 0.0) + 1.25 * took["judge_tokens"] / max(1.0, full)  # never cached
    ms, each = 1000 * took["embed_seconds"] / max(1, len(calls)), took["judge_tokens"] / max(1, len(calls))
    kept = f"{100 * (figures['strict'] or 0):.1f} · {100 * (figures['complete'] or 0):.1f} · {cost:.3f}"
    return f"{kept} · {ms:.0f} ms · {each:.0f}"
