"""Chooses the settings of a policy on recorded runs, and judges the choice on tasks it was not made on.

Every candidate is replayed on every run once; there is nothing else to fit, so that a fold costs nothing. For each
fold of tasks the best candidate on the other folds is taken, and what it did on this fold is what the choice is judged
by: `Found.gain` is the difference to the settings in use over all folds, with an interval that draws whole tasks. The
file that is written changes a setting only when that interval lies on the right side of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from jettison.budget import Budget
from jettison.errors import ConfigError, InvalidInput
from jettison.policy import Policy
from jettison.replay.engine import Setup, measured
from jettison.replay.folds import check_folds
from jettison.replay.measure.metrics import Interval
from jettison.replay.measure.tally import Tally, difference, figure, spread
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.totals import Result, Totals

__all__ = ["AIMS", "Candidate", "Found", "candidates", "search", "to_toml"]

AIMS = {"support": "strict", "cost": "cost"}
"""What is improved, by the metric it is measured in."""
SLACK_COST, SLACK_STRICT = 1.02, 0.005
"""What the other metric may get worse by: 2 % of the cost, half a point of strict support."""
MARKS = (("safe", 0.7), ("safe", 0.6), ("safe", 0.5), ("economy", 0.5), ("economy", 0.4))
SCORES = ((0.05, 0.3), (0.02, 0.3), (0.15, 0.3), (0.05, 0.1), (0.05, 0.6))
"""(profile, low-water mark) and (λ, w_recency); the first of each is in use."""

Task = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Settings that are tried."""

    profile: str
    low_water: float
    decay: float
    w_recency: float

    @property
    def name(self) -> str:
        return f"{self.profile} low {self.low_water:g}, decay {self.decay:g}, w_recency {self.w_recency:g}"

    @property
    def policy(self) -> Policy:
        budget = Budget(128_000, low_water=self.low_water)
        relevance = round(1 - self.w_recency, 9)
        return Policy(budget, decay=self.decay, w_recency=self.w_recency, w_relevance=relevance, profile=self.profile)


def candidates(wide: bool = False) -> list[Candidate]:
    """The settings in use first; one thing changed at a time, or (`wide`) every combination."""
    both = [(mark, score) for mark in MARKS for score in SCORES]
    if not wide:
        both = [(mark, score) for mark, score in both if MARKS[0] == mark or SCORES[0] == score]
    return [Candidate(*mark, *score) for mark, score in both]


@dataclass(frozen=True, slots=True)
class Found:
    """The choice and the evidence for it."""

    aim: str
    budget: str
    best: Candidate
    """What is best on all runs."""
    strict: dict[Candidate, tuple[float, Interval | None]]
    cost: dict[Candidate, tuple[float, Interval | None]]
    gain: float
    """By how much choosing improves the metric of the aim on tasks that were not chosen on; positive is better."""
    span: Interval
    other: float
    """What the other metric changes by, on the same tasks."""
    runs: int
    tasks: int
    folds: int
    by: str

    @property
    def better(self) -> bool:
        """Whether the gain may be claimed: its interval lies above 0, and there is something to change."""
        return self.span[0] > 0 and self.best != candidates()[0]

    @property
    def chosen(self) -> Candidate:
        """What the file holds: the best settings, or those in use where no gain is shown."""
        return self.best if self.better else candidates()[0]

    @property
    def verdict(self) -> str:
        """One sentence that claims no more than the interval."""
        unit = "points of strict support" if self.aim == "support" else "% of the cost of sending everything"
        figures = f"{100 * self.gain:+.2f} {unit} [{100 * self.span[0]:+.2f}, {100 * self.span[1]:+.2f}]"
        if self.better:
            return f"on tasks it was not chosen on, choosing settings gains {figures}"
        if self.best == candidates()[0]:
            return "the settings in use are the best of those tried"
        return f"no gain shown, the settings in use stay: the interval does not lie above 0, {figures}"


def search(
    runs: Iterable[Trajectory],
    *,
    fraction: float = 0.25,
    tokens: int = 0,
    aim: str = "support",
    by: str = "task",
    folds: int = 5,
    jobs: int = 1,
    wide: bool = False,
    tell: Callable[[int, Sequence[Result]], None] = lambda first, results: None,
) -> Found:
    """Try all candidates on all runs. `by` says what a fold is made of: tasks, or whole sets (files).

    Raises ConfigError for settings that cannot work, InvalidInput when there is too little to judge by.
    """
    if aim not in AIMS:
        raise ConfigError(f"aim={aim!r} is not known: aim at {' or '.join(map(repr, AIMS))}")
    check_folds(by, folds)
    tried = candidates(wide)
    named = {candidate.name: candidate for candidate in tried}
    setup = Setup(tuple(named), (fraction,), tokens, tuple((name, named[name].policy) for name in named))
    totals = measured(runs, setup, jobs=jobs, tell=tell)
    return _judged(_by_task(totals, tried, setup), tried, aim, by, folds, setup, totals.trajectories)


def _by_task(totals: Totals, tried: Sequence[Candidate], setup: Setup) -> dict[Task, dict[Candidate, Tally]]:
    fraction = setup.budgets[0][0]
    found: dict[Task, dict[Candidate, Tally]] = {}
    names = {candidate.name: candidate for candidate in tried}
    for (name, share, set_name, task), tally in totals.tasks.items():
        if share == fraction:
            found.setdefault((set_name, task), {})[names[name]] = tally
    return {task: sums for task, sums in sorted(found.items()) if sums[tried[0]].needed}


def _judged(
    sums: dict[Task, dict[Candidate, Tally]],
    tried: Sequence[Candidate],
    aim: str,
    by: str,
    folds: int,
    setup: Setup,
    runs: int,
) -> Found:
    groups = sorted({task if by == "task" else (task[0], "") for task in sums})
    if len(groups) < 2:
        raise InvalidInput(f"{len(groups)} {by}(s) with needed values under pressure: two at least are needed to judge")
    folds = min(folds, len(groups))
    fold_of = {group: at % folds for at, group in enumerate(groups)}
    numbers = {task: fold_of[task if by == "task" else (task[0], "")] for task in sums}
    mine: list[Tally] = []
    theirs: list[Tally] = []
    for number in range(folds):
        best = _best([sums[task] for task in sums if numbers[task] != number], tried, aim)
        held = [task for task in sums if numbers[task] == number]
        mine += [sums[task][best] for task in held]
        theirs += [sums[task][tried[0]] for task in held]
    metric, other = ("strict", "cost") if aim == "support" else ("cost", "strict")
    gain, beside = difference(mine, theirs, metric), difference(mine, theirs, other)
    if gain is None or beside is None:
        raise InvalidInput("too few tasks with needed values under pressure: no interval can be said")
    sign = 1 if aim == "support" else -1
    low, high = sorted(sign * end for end in gain[1])
    return Found(
        aim=aim,
        budget=f"{setup.tokens:,} tokens" if setup.tokens else f"{setup.fractions[0]:.0%} of the body",
        best=_best(list(sums.values()), tried, aim),
        strict=_figures(sums, tried, "strict"),
        cost=_figures(sums, tried, "cost"),
        gain=sign * gain[0],
        span=(low, high),
        other=beside[0],
        runs=runs,
        tasks=len(sums),
        folds=folds,
        by=by,
    )


def _figures(
    sums: dict[Task, dict[Candidate, Tally]], tried: Sequence[Candidate], name: str
) -> dict[Candidate, tuple[float, Interval | None]]:
    found = {}
    for candidate in tried:
        tasks = [entry[candidate] for entry in sums.values()]
        found[candidate] = (figure(_sum(tasks), name) or 0.0, spread(tasks, name))
    return found


def _sum(tallies: Iterable[Tally]) -> Tally:
    whole = Tally()
    for tally in tallies:
        whole.add(tally)
    return whole


def _best(tasks: Sequence[dict[Candidate, Tally]], tried: Sequence[Candidate], aim: str) -> Candidate:
    """The best on these tasks whose other metric is not worse than in use; the first of equals, so that ties stay."""
    values = {}
    for candidate in tried:
        whole = _sum(entry[candidate] for entry in tasks)
        values[candidate] = (figure(whole, "strict") or 0.0, figure(whole, "cost") or 0.0)
    strict, cost = values[tried[0]]
    if aim == "support":
        allowed = [candidate for candidate in tried if values[candidate][1] <= SLACK_COST * cost]
        return max(allowed, key=lambda candidate: values[candidate][0])
    allowed = [candidate for candidate in tried if values[candidate][0] >= strict - SLACK_STRICT]
    return min(allowed, key=lambda candidate: values[candidate][1])


def to_toml(found: Found, files: Sequence[str]) -> str:
    """A policy file with the chosen settings, and the evidence in comments."""
    chosen, used = found.chosen, candidates()[0]
    change = f"Beside it {'cost' if found.aim == 'support' else 'strict support'} changes by {found.other:+.3f}."
    lines = [
        "# Written by `jettison tune --policy`; read it with Policy.from_file. Evidence:",
        f"# {found.runs:,} runs ({found.tasks:,} tasks that needed something under pressure), budget {found.budget},",
        f"# from {', '.join(files)[:200]}",
        f"# Aim: {found.aim}. Verdict: {found.verdict}.",
        f"# Judged by {found.folds} folds of {found.by}s, interval of 95 % drawn over tasks. {change}",
        "#",
        "# strict support %, cost, of what was tried:",
    ]
    for candidate, (strict, span) in found.strict.items():
        cost, price = found.cost[candidate]
        mark = "  <- here" if candidate == chosen else "  (in use)" if candidate == used else ""
        lines.append(f"#   {_share(strict, span):20} {_price(cost, price):20} {candidate.name}{mark}")
    settings = (
        ("profile", f'"{chosen.profile}"', f'"{used.profile}"'),
        ("decay", f"{chosen.decay:g}", f"{used.decay:g}"),
        ("w_recency", f"{chosen.w_recency:g}", f"{used.w_recency:g}"),
        ("w_relevance", f"{1 - chosen.w_recency:g}", f"{1 - used.w_recency:g}"),
    )
    lines += ["", *(f"{name} = {value}  # default {default}" for name, value, default in settings)]
    lines += ["", "[budget]", "window = 128000  # your model's; `jettison replay` puts its --budget here"]
    lines.append(f"low_water = {chosen.low_water:g}  # default {used.low_water:g}")
    return "\n".join(lines) + "\n"


def _share(value: float, span: Interval | None) -> str:
    return f"{100 * value:.1f}" + (f" [{100 * span[0]:.1f}, {100 * span[1]:.1f}]" if span else "")


def _price(value: float, span: Interval | None) -> str:
    return f"{value:.3f}" + (f" [{span[0]:.3f}, {span[1]:.3f}]" if span else "")
