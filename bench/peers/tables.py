"""The table of a run: one for each budget, a row for each policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bench.metrics import Call, interval, summary
from bench.peers.catalog import PEERS
from bench.peers.run import Outcome
from jettison.replay.measure.metrics import cost

__all__ = ["notes", "tables"]


def tables(outcomes: Sequence[Outcome]) -> str:
    """Markdown: strict support of each set, then figures over all sets."""
    blocks = []
    for fraction in sorted({o.fraction for o in outcomes}, reverse=True):
        blocks.append(_block(fraction, [o for o in outcomes if o.fraction == fraction]))
    return "\n\n".join(blocks)


def _block(fraction: float, outcomes: Sequence[Outcome]) -> str:
    sets = sorted({o.set for o in outcomes})
    rows: dict[str, dict[str, Outcome]] = defaultdict(dict)
    for outcome in outcomes:
        rows[outcome.name][outcome.set] = outcome
    heads = ["binding", "complete", "cost", "reuse", "silent", "errors", "over", "invalid", "headless", "ms a call"]
    lines = [f"### {fraction:.0%} of the body", "", _line(["policy", *(f"{s} [95 %]" for s in sets), *heads])]
    lines.append("|---|" + "---|" * (len(sets) + len(heads)))
    lines += [_line([name, *_row(found, sets)]) for name, found in rows.items()]
    calls = {s: summary(next(found[s] for found in rows.values() if s in found and found[s].runs).calls) for s in sets}
    facts = "; ".join(
        f"{s} {c['calls']}, pressured {c['pressured']}, needed values {c['needed']}" for s, c in calls.items()
    )
    return "\n".join([*lines, "", f"Calls: {facts}."])


def _row(found: dict[str, Outcome], sets: Sequence[str]) -> list[str]:
    parts = [found[s] for s in sets if s in found]
    if not any(part.runs for part in parts):
        why = next((part.failed for part in parts if part.failed), "out of time")
        return [f"– ({why})", *[""] * (len(sets) + 9)]
    figures = [summary(part.calls) for part in parts if part.runs]
    whole = summary(call for part in parts for call in part.calls)
    calls = sum(len(part.calls) for part in parts)
    return [
        *(_support(found[s]) if s in found else "–" for s in sets),
        _percent(_mean(f["binding"] for f in figures)),
        _percent(_mean(f["complete"] for f in figures)),
        _number(_mean(_cost(part) for part in parts if part.runs)),
        _number(_mean(f["reuse"] for f in figures)),
        *(f"{whole[key]}" for key in ("silent", "raised", "over", "invalid")),
        f"{sum(part.headless for part in parts)}",
        f"{1000 * sum(part.seconds for part in parts) / max(1, calls):.1f}",
    ]


def _support(outcome: Outcome) -> str:
    if not outcome.runs:
        return "–"
    by_task: dict[str, list[Call]] = defaultdict(list)
    for task, call in zip(outcome.tasks, outcome.calls, strict=True):
        by_task[task].append(call)
    span = interval(by_task)
    around = f" [{100 * span[0]:.0f}, {100 * span[1]:.0f}]" if span else ""
    late = f" ({outcome.runs} of {outcome.runs + outcome.late} runs in time)" if outcome.late else ""
    return _percent(summary(outcome.calls)["strict"]) + around + late


def _cost(outcome: Outcome) -> float | None:
    """As `metrics.summary`, with the tokens of the summariser added at 1 each."""
    sent = [call for call in outcome.calls if not call.raised]
    whole = sum(cost(call.full, call.full_hit) for call in sent)
    return (sum(cost(call.sent, call.hit) for call in sent) + outcome.spent) / whole if whole else None


def notes(outcomes: Sequence[Outcome]) -> str:
    """Versions, counters and stand-ins, a line for each peer."""
    lines = []
    for peer in PEERS:
        mine = [o for o in outcomes if o.name.startswith(f"{peer.name} (")]
        if not mine:
            continue
        versions = next((o.versions for o in mine if o.versions), {})
        said = ", ".join(f"{name} {version}" for name, version in versions.items()) or "not installed"
        counter = "o200k at the fair setting" if peer.counter == "o200k" else "its own counter, it takes none"
        lines.append(f"- **{peer.name}**: {said}; {counter}{'; summaries by the stand-in' if peer.stand_in else ''}.")
    return "\n".join(lines)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
