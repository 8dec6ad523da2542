"""What `fit` does: one fit, or with `--steps` a replay call by call, and what is shown of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from jettison import Budget, CannotFit, Policy, Report, Session
from jettison.cli.budget import Wanted
from jettison.cli.output import to_json, write, write_file
from jettison.replay import Recorded
from jettison.replay.steps import fit_at, replay
from jettison.report.explain import matching
from jettison.report.terminal import explain, render

__all__ = ["Job", "Show", "run"]

_ONE_CALL = "The whole history, fitted in one call. With --steps: call by call, in one session, as the agent lived it."


@dataclass(frozen=True, slots=True)
class Job:
    """What to fit, into what."""

    recorded: Recorded
    budget: Wanted
    model: str | None = None
    repair: bool = False
    observe: bool = False
    degrade: bool = False

    def session(self, limit: int, *, degrade: bool = False) -> Session:
        policy = Policy(budget=Budget(limit), on_unsafe="degrade" if degrade else "raise")
        return Session(policy, wire=self.recorded.wire, model=self.model or self.recorded.model)

    def measure(self) -> int:
        """Tokens of the whole request, as it is."""
        everything = len(self.recorded.messages)
        return fit_at(self.recorded, self.session(1 << 40), everything, repair=self.repair, observe=True)[1].before

    def limit(self) -> int:
        return self.budget.tokens or self.budget.of(self.measure())

    def fitting(self) -> Session:
        """A fresh session with the budget that was asked for; the caller can ask it afterwards."""
        return self.session(self.limit(), degrade=self.degrade)

    def once(self, session: Session | None = None) -> tuple[Any, Report]:
        """(the fitted body or message list, its report) of the whole history in one call."""
        everything = len(self.recorded.messages)
        return fit_at(self.recorded, session or self.fitting(), everything, repair=self.repair, observe=self.observe)

    def replayed(self, session: Session) -> Iterator[tuple[Any, Report]]:
        """The same before each call of the history, in one session."""
        return replay(self.recorded, session, repair=self.repair, observe=self.observe)


@dataclass(frozen=True, slots=True)
class Show:
    """What to print, and where to."""

    json: bool = False
    output: str | None = None
    explain: str | None = None
    steps: bool = False


def run(job: Job, show: Show) -> bool:
    """Do it and print it; whether the result fits. Raises what fitting raises, its report on standard error."""
    for note in job.recorded.notes:
        print(f"note: {note}", file=sys.stderr)
    session = job.fitting()
    reports: list[Report] = []
    made: Any = None
    failed: CannotFit | None = None
    try:
        for fitted, report in job.replayed(session) if show.steps else [job.once(session)]:
            made = fitted
            reports.append(report)
    except CannotFit as error:  # a call that cannot be made ends it
        failed = error
        reports += [error.report] if isinstance(error.report, Report) else []
    if failed is None:
        _save(made, show)
    if reports:
        _tell(reports, show, sys.stderr if failed else _stream(show), session)
    if failed:
        raise failed
    return all(report.ok for report in reports)


def _tell(reports: Sequence[Report], show: Show, stream: Any, session: Session) -> None:
    if show.json:
        write(to_json(_data(reports, show, session)), stream)
        return
    console = Console(file=stream)
    if show.explain is not None:
        explain(reports, show.explain, console, session.dependencies)
        if not show.steps:
            console.print(Text(f"\n{_ONE_CALL}", style="dim"))
        return
    if show.steps:
        console.print(_calls(reports))
        console.print()
    render(reports[-1], console)


def _data(reports: Sequence[Report], show: Show, session: Session) -> Any:
    """The report, a list of them for `--steps`, or the rows of one item by call."""
    if show.explain is None:
        return [report.to_dict() for report in reports] if show.steps else reports[-1].to_dict()
    wanted = {row.item for row in matching(reports[-1].rows, show.explain)}
    rows = ((report.call, row) for report in reports for row in report.build_rows() if row.item in wanted)
    data: list[dict[str, Any]] = [{"call": call, **asdict(row)} for call, row in rows]
    for entry in data:
        if entry["call"] == reports[-1].call:
            entry["dependencies"] = [asdict(edge) for edge in session.dependencies(entry["item"])]
    return data


def _calls(reports: Sequence[Report]) -> Table:
    """One row a call of the session. Only what a report holds ready: building all rows of all calls is quadratic."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for head in ("call", "before", "after", "limit", "epoch", "changed from", "billed again", "inserted"):
        table.add_column(head, justify="left" if head == "epoch" else "right")
    for report in reports:
        cache = report.cache
        table.add_row(
            str(report.call),
            f"{report.before:,}",
            f"{report.after:,}",
            f"{report.limit:,}",
            "" if cache.epoch == "none" else cache.epoch,
            "" if cache.first_changed is None else str(cache.first_changed),
            f"{cache.rebilled:,}" if cache.rebilled else "",
            f"{len(report.inserted):,}" if report.inserted else "",
            style="" if report.ok else "red",
        )
    return table


def _stream(show: Show) -> Any:
    """Where the report goes: not where the messages go."""
    return sys.stderr if show.output == "-" else sys.stdout


def _save(made: Any, show: Show) -> None:
    if show.output == "-":
        write(to_json(made), sys.stdout)
    elif show.output is not None:
        write_file(to_json(made), show.output)
