"""Markdown tables of a quality run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bench.metrics import Call, interval, regret, summary
from bench.replay import Replay

__all__ = ["losses", "quality_tables"]

Summary = dict[str, float | None]


def quality_tables(results: Sequence[Replay]) -> str:
    """Two tables per fraction: what was kept and its price; then what must be 0, prefix and regret."""
    blocks = []
    for fraction in sorted({r.fraction for r in results}, reverse=True):
        chosen = [r for r in results if r.fraction == fraction]
        blocks.append(_tables(fraction, chosen))
    return "\n\n".join(blocks)


def _tables(fraction: float, results: Sequence[Replay]) -> str:
    sets = sorted({r.set for r in results})
    policies = list(dict.fromkeys(r.policy for r in results))
    groups: dict[tuple[str, str], list[Replay]] = defaultdict(list)
    for result in results:
        groups[result.policy, result.set].append(result)
    figures = {key: summary(call for r in group for call in r.calls) for key, group in groups.items()}
    spans = {key: interval(_by_task(group)) for key, group in groups.items()}
    first = [
        ["policy", *(f"{name}" for name in sets)],
        *([policy, *(_kept(figures[policy, s], spans[policy, s]) for s in sets)] for policy in policies),
    ]
    second = [
        ["policy", *sets],
        *([policy, *(_safety(figures, policy, s) for s in sets)] for policy in policies),
    ]
    facts = "; ".join(_facts(name, figures[policies[0], name]) for name in sets)
    return "\n".join(
        [
            f"### {fraction:.0%} of the body",
            "",
            "strict support [95 % interval] · binding · record binding · completeness · **cost**",
            "",
            *_markdown(first),
            "",
            "strict support without calls whose latest unit alone exceeds the budget · completeness of all pressured "
            "calls · silent losses · errors raised (alarm) · over budget · invalid · prefix reuse · regret",
            "",
            *_markdown(second),
            "",
            f"Calls: {facts}.",
        ]
    )


def _kept(figure: Summary, span: tuple[float, float] | None) -> str:
    around = f" [{100 * span[0]:.0f}, {100 * span[1]:.0f}]" if span else ""
    parts = [_percent(figure["strict"]) + around, *(_percent(figure[k]) for k in ("binding", "record", "complete"))]
    return " · ".join([*parts, f"**{_number(figure['cost'])}**"])


def _safety(figures: dict[tuple[str, str], Summary], policy: str, name: str) -> str:
    figure = figures[policy, name]
    best, chance = (figures.get((bound, name), {}).get("strict") for bound in ("clairvoyant", "random"))
    raised = f"{figure['raised']}" + (f" ({_percent(figure['alarm'])})" if figure["raised"] else "")
    parts = [
        _percent(figure["strict_fair"]),
        _percent(figure["complete_all"]),
        f"{figure['silent']}",
        raised,
        f"{figure['over']}",
        f"{figure['invalid']}",
        _number(figure["reuse"]),
    ]
    return " · ".join([*parts, _number(regret(figure["strict"], best, chance))])


def _facts(name: str, figure: Summary) -> str:
    return (
        f"{name} {figure['calls']}, pressured {figure['pressured']}, latest unit alone over budget "
        f"{figure['oversize']}, needed values {figure['needed']}"
    )


def _by_task(group: Iterable[Replay]) -> dict[str, list[Call]]:
    by_task: dict[str, list[Call]] = defaultdict(list)
    for result in group:
        by_task[result.task].extend(result.calls)
    return by_task


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = rows
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(row)} |" for row in body]


def losses(results: Sequence[Replay], policy: str, most: int = 40) -> list[str]:
    """One line for each silent loss of a policy: where, and which values."""
    lines = []
    for result in results:
        for call in result.calls if result.policy == policy else ():
            if call.pressured and call.missing and not call.raised:
                gone = ", ".join(call.missing[:6])
                where = f"{result.set} {result.id} at {result.fraction:.0%}, message {call.t}"
                lines.append(f"{where}: {len(call.missing)} of {call.needed} gone: {gone}")
    return lines[:most]
