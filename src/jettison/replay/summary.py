"""Lines of a comparison: each policy's figures with their intervals, for the terminal, JSON and the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from jettison.replay.engine import BASELINES, Setup
from jettison.replay.measure.metrics import Interval, regret
from jettison.replay.measure.tally import Tally, spread
from jettison.replay.peers import is_peer
from jettison.replay.totals import Totals

__all__ = ["SPREAD", "Compared", "Line", "lines", "number", "percent", "to_dict"]

SPREAD = ("strict", "complete", "cost")
"""The metrics that are given with an interval."""


@dataclass(frozen=True, slots=True)
class Line:
    """One policy at one budget, over one set or all of them (`set` is empty)."""

    policy: str
    fraction: float
    set: str
    tasks: int
    trajectories: int
    figures: dict[str, float | None]
    spans: dict[str, Interval | None]
    regret: float | None
    seconds: float

    @property
    def ours(self) -> bool:
        """Whether it is a policy of the library, not a bound, a baseline or a peer."""
        return self.policy not in BASELINES and not is_peer(self.policy)


def lines(totals: Totals, setup: Setup, set_name: str = "") -> list[Line]:
    """The lines of each budget, policies in their order; of one set, or of all together."""
    made = []
    for fraction, _ in setup.budgets:
        sums = {name: _sum(totals.of(name, fraction, set_name or None)) for name in setup.policies}
        best, chance = (sums[name].figures()["strict"] if name in sums else None for name in ("clairvoyant", "random"))
        for name in setup.policies:
            tasks = totals.of(name, fraction, set_name or None)
            figures = sums[name].figures()
            made.append(
                Line(
                    policy=name,
                    fraction=fraction,
                    set=set_name,
                    tasks=len(tasks),
                    trajectories=sums[name].trajectories,
                    figures=figures,
                    spans={metric: spread(tasks, metric) for metric in SPREAD},
                    regret=regret(figures["strict"], best, chance),
                    seconds=sums[name].seconds,
                )
            )
    return made


class Compared:
    """The lines of everything, and of each set, made once however often they are shown: intervals take their time."""

    def __init__(self, totals: Totals, setup: Setup) -> None:
        self.totals, self.setup = totals, setup
        self._known: dict[str, list[Line]] = {}

    def of(self, set_name: str = "") -> list[Line]:
        """`lines`; where there is one set only, its lines are those of everything."""
        if set_name not in self._known:
            only = self.totals.sets == [set_name]
            found = [replace(line, set=set_name) for line in self.of()] if only else None
            self._known[set_name] = found or lines(self.totals, self.setup, set_name)
        return self._known[set_name]


def _sum(tasks: list[Tally]) -> Tally:
    whole = Tally()
    for task in tasks:
        whole.add(task)
    return whole


def percent(share: float | None, span: Interval | None = None) -> str:
    """`93.1 [91, 95]`, or a dash where nothing was measured."""
    if share is None:
        return "–"
    return f"{100 * share:.1f}" + (f" [{100 * span[0]:.0f}, {100 * span[1]:.0f}]" if span else "")


def number(value: float | None, span: Interval | None = None) -> str:
    """`0.56 [0.51, 0.60]`, or a dash."""
    return "–" if value is None else f"{value:.2f}" + (f" [{span[0]:.2f}, {span[1]:.2f}]" if span else "")


def to_dict(line: Line) -> dict[str, Any]:
    """A line as plain data."""
    return {
        "policy": line.policy,
        "fraction": line.fraction,
        "set": line.set or None,
        "tasks": line.tasks,
        "trajectories": line.trajectories,
        **line.figures,
        "regret": line.regret,
        "seconds": round(line.seconds, 3),
        "intervals": {name: list(span) if span else None for name, span in line.spans.items()},
    }
