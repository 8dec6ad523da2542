"""Figures that add up: the sums of calls, so that any number of trajectories is measured in constant memory.

`Tally.figures()` of all calls equals `metrics.summary` of them; a test holds the two together.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

from jettison.replay.measure.metrics import CACHED, SAMPLES, SLACK, WRITTEN, Call, Interval

__all__ = ["FIGURES", "SHARES", "Tally", "difference", "figure", "spread"]

LEAST, DRAWS = 200, 1_000_000
"""Samples of an interval at least, and rows drawn for one at most: 50,000 tasks take 200 samples, not 1,000."""
PARTS = 10**9
"""A share of a request is summed in whole parts of it: sums of floats differ by the order in which workers finish."""


@dataclass(slots=True)
class Tally:
    """Sums over calls; whole numbers all but `seconds`, so that the order of adding changes nothing."""

    trajectories: int = 0
    calls: int = 0
    pressured: int = 0
    wanting: int = 0
    """Pressured calls that need something."""
    oversize: int = 0
    needed: int = 0
    kept: int = 0
    bound: int = 0
    recorded: int = 0
    fair_needed: int = 0
    fair_kept: int = 0
    lost: int = 0
    """Pressured calls with a needed value gone."""
    silent: int = 0
    raised: int = 0
    alarms: int = 0
    """Of the errors raised: a needed value was gone."""
    over: int = 0
    invalid: int = 0
    sent: int = 0
    hit: int = 0
    full: int = 0
    full_hit: int = 0
    later: int = 0
    reuse: int = 0
    """In units of 1 / `PARTS`."""
    seconds: float = 0.0

    @classmethod
    def of(cls, calls: Iterable[Call], seconds: float = 0.0) -> Tally:
        """The sums of one trajectory's calls."""
        tally = cls(trajectories=1, seconds=seconds)
        for call in calls:
            tally._count(call)
        return tally

    def _count(self, call: Call) -> None:
        self.calls += 1
        if call.pressured:
            self.pressured += 1
            self.oversize += call.oversize
            gone = call.kept < call.needed
            self.lost += gone
            self.silent += gone and not call.raised
            if call.needed:
                self.wanting += 1
                self.needed += call.needed
                self.kept += call.kept
                self.bound += call.bound
                self.recorded += call.recorded
                if not call.oversize:
                    self.fair_needed += call.needed
                    self.fair_kept += call.kept
        if call.raised:
            self.raised += 1
            self.alarms += call.lost_anyway
            return
        self.over += call.sent > SLACK * call.limit
        self.invalid += bool(call.invalid)
        self.sent += call.sent
        self.hit += call.hit
        self.full += call.full
        self.full_hit += call.full_hit
        if call.before:
            self.later += 1
            self.reuse += PARTS * call.hit // call.before

    def add(self, other: Tally) -> None:
        for name in _NAMES:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def figures(self) -> dict[str, float | None]:
        """All metrics; None where nothing was there to measure."""
        return {name: figure(self, name) for name in FIGURES}


_NAMES = tuple(field.name for field in fields(Tally))


Pair = tuple[float, float]


def _price(tokens: int, hit: int) -> float:
    return CACHED * hit + WRITTEN * (tokens - hit)


SHARES: dict[str, Callable[[Tally], Pair]] = {
    "strict": lambda t: (t.kept, t.needed),
    "strict_fair": lambda t: (t.fair_kept, t.fair_needed),
    "binding": lambda t: (t.bound, t.needed),
    "record": lambda t: (t.recorded, t.needed),
    "complete": lambda t: (t.wanting - t.lost, t.wanting),
    "complete_all": lambda t: (t.pressured - t.lost, t.pressured),
    "alarm": lambda t: (t.alarms, t.raised),
    "cost": lambda t: (_price(t.sent, t.hit), _price(t.full, t.full_hit)),
    "reuse": lambda t: (t.reuse / PARTS, t.later),
}
"""The metrics that are one sum over another."""
COUNTS = ("silent", "raised", "over", "invalid", "calls", "pressured", "oversize", "needed")
FIGURES = (*SHARES, *COUNTS)
"""Each metric of docs/replay.md by name."""


def figure(tally: Tally, name: str) -> float | None:
    """One metric of the sums; None where nothing was there to measure."""
    if name in COUNTS:
        return int(getattr(tally, name))
    part, whole = SHARES[name](tally)
    return part / whole if whole else None


def spread(tasks: Sequence[Tally], name: str) -> Interval | None:
    """95 % bootstrap interval of a share, drawing whole tasks; None where it cannot be said.

    Tasks are drawn, not runs or calls: runs of a task are near copies, and an interval that took them for
    independent would be too narrow.
    """
    return _drawn([SHARES[name](task) for task in tasks])


def difference(mine: Sequence[Tally], theirs: Sequence[Tally], name: str) -> tuple[float, Interval] | None:
    """(mine − theirs, its 95 % interval) of a share; both lists hold the same tasks in the same order."""
    both = [(*SHARES[name](a), *SHARES[name](b)) for a, b in zip(mine, theirs, strict=True)]
    sums = [sum(column) for column in zip(*both, strict=True)]
    span = _drawn(both)
    if span is None or not sums[1] or not sums[3]:
        return None
    return sums[0] / sums[1] - sums[2] / sums[3], span


def _drawn(rows: Sequence[tuple[float, ...]]) -> Interval | None:
    """Interval of a/b, or of a/b − c/d, drawing rows."""
    if len(rows) < 2 or not any(row[1] for row in rows):
        return None
    draw = random.Random(20261)
    values = []
    for _ in range(max(LEAST, min(SAMPLES, DRAWS // len(rows)))):
        a, b, *other = map(sum, zip(*draw.choices(rows, k=len(rows)), strict=True))
        c, d = other or (0.0, 1.0)
        if b and d:
            values.append(a / b - c / d)
    values.sort()
    return values[int(0.025 * len(values))], values[min(len(values) - 1, int(0.975 * len(values)))]
