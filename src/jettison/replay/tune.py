"""`jettison tune`: fits the weights of `flow.weights` on recorded runs, and says whether they are any better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jettison.errors import ConfigError, InvalidInput
from jettison.replay.folds import check_folds
from jettison.replay.readers import Recorded, read_all
from jettison.replay.rows import FEATURES, Row, rows_of, shipped

__all__ = ["L2", "Run", "Tuned", "Weight", "check_settings", "collect", "tune"]

L2 = 100.0
"""Pull towards the weights in use. Weights fitted on three of the recorded sets predict the fourth the better the
stronger the pull: log-loss .0649 / .0640 / .0627 on mcpmark and .274 / .265 / .257 on tau-airline with 1 / 20 / 100."""
FOLDS = 5
MASS = 2000.0
"""What the needed values weigh together, each file with an equal share: rows of a run are near copies of one another,
so that their number says little. `L2` is relative to it."""


@dataclass(frozen=True, slots=True)
class Run:
    """The rows of one recorded run."""

    name: str
    task: str
    file: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight: in use, fitted, and the standard error of the fit."""

    name: str
    shipped: float
    fitted: float
    error: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of a fit, and the evidence for it."""

    weights: tuple[Weight, ...]
    runs: int
    tasks: int
    rows: int
    needed: int
    loss: float
    """Held-out log-loss of the weights in use."""
    gain: float
    """By how much the fitted weights lower it; each row is judged by weights that did not see its fold."""
    low: float
    high: float
    """95 % interval of the gain, drawing whole runs."""
    by: str
    """What the folds were made of: tasks, or files."""
    folds: int
    l2: float

    @property
    def better(self) -> bool:
        """Whether the gain may be claimed: its interval lies above 0."""
        return self.low > 0

    @property
    def verdict(self) -> str:
        """One sentence that claims no more than the interval."""
        figure = f"{self.gain:+.5f} [{self.low:+.5f}, {self.high:+.5f}]"
        if self.better:
            return f"the fitted weights predict better: held-out log-loss falls by {figure}"
        if self.high < 0:
            return f"the weights in use predict better, keep them: fitted ones change held-out log-loss by {figure}"
        return f"no gain shown, keep the weights in use: the interval of the gain includes 0, {figure}"


def collect(paths: Sequence[str], tell: Callable[[str], None] = lambda line: None) -> list[Run]:
    """The rows of all runs in the files. Raises InvalidInput for a file that cannot be read."""
    runs = []
    for path in paths:
        histories = read_all(path)
        for number, recorded in enumerate(histories, 1):
            runs.append(_run(recorded, path))
            if number == len(histories) or number % 50 == 0:
                tell(f"{path}: {number} of {len(histories)} runs read")
    return runs


def _run(recorded: Recorded, path: str) -> Run:
    return Run(recorded.name, f"{path}/{recorded.task or recorded.name}", path, tuple(rows_of(recorded)))


def check_settings(by: str, folds: int, l2: float) -> None:
    """Raises ConfigError, naming the setting, for one that cannot work: before any file is read."""
    check_folds(by, folds)
    if not l2 > 0:
        raise ConfigError(f"l2 must be above 0, not {l2:g}: it pulls towards the weights in use")


def tune(runs: Sequence[Run], *, by: str = "task", folds: int = FOLDS, l2: float = L2) -> Tuned:
    """Fit on all runs; the gain is measured on folds of tasks, or of files, that the fit did not see.

    Raises ConfigError for settings that cannot work, InvalidInput when the runs hold too little to learn from, and
    ModuleNotFoundError, naming the extra, without numpy.
    """
    check_settings(by, folds, l2)
    runs = [run for run in runs if run.rows]
    groups = sorted({getattr(run, by) for run in runs})
    needed = sum(row.needed for run in runs for row in run.rows)
    if len(groups) < 2 or not needed:
        raise InvalidInput(
            f"{len(groups)} {by}(s) with {needed} needed values are too few to fit and to judge: "
            "give runs of at least two, with tool calls that use what earlier results held"
        )
    return _fitted(runs, groups, by, min(folds, len(groups)), l2)


def _fitted(runs: Sequence[Run], groups: Sequence[str], by: str, folds: int, l2: float) -> Tuned:
    from jettison.replay import logistic as fit

    np = fit.np
    rows = [(at, row) for at, run in enumerate(runs) for row in run.rows]
    x = np.array([row.values for _, row in rows], dtype=np.float64)
    y = np.array([row.needed for _, row in rows], dtype=np.float64)
    w = np.array(_balanced(runs))
    cluster = np.array([at for at, _ in rows], dtype=np.int64)
    fold_of = {group: at % folds for at, group in enumerate(groups)}
    fold = np.array([fold_of[getattr(runs[at], by)] for at, _ in rows])
    now = np.array(shipped(), dtype=np.float64)
    gains = np.zeros(len(rows))
    for number in range(folds):
        seen, held = fold != number, fold == number
        weights = fit.newton(x[seen], y[seen], w[seen], now, l2, cluster[seen]).weights
        gains[held] = fit.losses(x[held], y[held], now) - fit.losses(x[held], y[held], weights)
    gain, low, high = fit.bootstrap(gains, w, cluster)
    best = fit.newton(x, y, w, now, l2, cluster)
    listed = zip(FEATURES, now.tolist(), best.weights.tolist(), best.errors.tolist(), strict=True)
    return Tuned(
        weights=tuple(Weight(*values) for values in listed),
        runs=len(runs),
        tasks=len({run.task for run in runs}),
        rows=len(rows),
        needed=int(y.sum()),
        loss=float((w * fit.losses(x, y, now)).sum() / w.sum()),
        gain=gain,
        low=low,
        high=high,
        by=by,
        folds=folds,
        l2=l2,
    )


def _balanced(runs: Sequence[Run]) -> list[float]:
    """Row weights: the needed values of each file weigh the same together, `MASS` in all."""
    needed = Counter[str]()
    for run in runs:
        needed[run.file] += sum(row.needed for row in run.rows)
    share = MASS / sum(count > 0 for count in needed.values())
    return [row.weight * share / max(1, needed[run.file]) for run in runs for row in run.rows]
