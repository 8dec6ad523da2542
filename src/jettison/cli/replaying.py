"""What `replay` does: read, measure, print the comparison, write JSON and the page."""

from __future__ import annotations

import heapq
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from jettison.cli.budget import parse_budget
from jettison.cli.output import check_writable, to_json, write, write_file
from jettison.errors import ConfigError, InvalidInput
from jettison.policy import Policy
from jettison.replay.engine import BASELINES, Setup, measured
from jettison.replay.parts import Parts
from jettison.replay.peers import peer_names
from jettison.replay.sources import Intake, files_of, trajectories
from jettison.replay.summary import Compared, Line, number, percent, to_dict
from jettison.replay.totals import Result, Totals
from jettison.replay.trace import Trace, traced
from jettison.report._text import plural

__all__ = ["ENGINES", "Wish", "run", "setup_of"]

ENGINES = ("local", "ray")

SETS = 8
"""Tables by set are printed for at most so many; JSON and the page have all."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for on the command line."""

    paths: tuple[str, ...]
    setup: Setup
    wire: str | None = None
    limit: int | None = None
    jobs: int = 1
    engine: str = "local"
    parts: str | None = None
    html: str | None = None
    json: str | None = None
    losses: int = 0
    detail: int = 8
    peers: bool = False


def setup_of(budget: str, files: Sequence[str], baselines: bool, peers: bool = False) -> Setup:
    """Policies and budgets. Raises ConfigError."""
    wanted = [parse_budget(part) for part in budget.split(",")]
    if len(wanted) > 1 and any(part.tokens for part in wanted):
        raise ConfigError("several budgets are shares, such as 50%,25%,10%: one budget in tokens is given alone")
    given = tuple((Path(file).stem, Policy.from_file(file)) for file in files)
    names = [name for name, _ in given] or ["jettison"]
    taken = [name for name in names if names.count(name) > 1 or name in BASELINES]
    if taken:
        raise ConfigError(f"policies are named after their files, and {taken[0]!r} is taken: rename one")
    beside = [*(["jettison"] if given and (baselines or peers) else []), *(BASELINES if baselines else ())]
    policies = (*names, *beside, *(peer_names() if peers else ()))
    return Setup(tuple(dict.fromkeys(policies)), tuple(part.share for part in wanted), wanted[0].tokens, given)


def _check(wish: Wish) -> None:
    """What would be noticed only when all is measured."""
    if wish.engine not in ENGINES:
        raise ConfigError(f"--engine {wish.engine} is not known: replay runs on {' or '.join(ENGINES)}")
    if wish.peers and wish.engine == "ray":
        raise ConfigError("--peers runs on this machine, where the peers are installed: leave out --engine ray")
    for target in (wish.html, wish.json if wish.json != "-" else None):
        if target is not None:
            check_writable(target)


def run(wish: Wish) -> None:
    """Do it and print it. Raises InvalidInput when nothing could be read, ConfigError for what cannot work."""
    _check(wish)
    with _spooled(wish.paths) as paths:
        intake, worst = Intake(), _Worst(max(wish.detail, wish.losses), wish.setup)
        totals = _totals(wish, paths, intake, worst)
        if not totals.trajectories:
            why = f": {intake.examples[0]}" if intake.examples else ""
            raise InvalidInput(f"no run could be read from {', '.join(wish.paths)}{why}")
        wanted = worst.numbers if wish.html or wish.losses else []
        traces = _traces(wish, paths, wanted)
    console = Console(file=sys.stderr if wish.json == "-" else sys.stdout)
    compared = Compared(totals, wish.setup)
    _print(wish, compared, intake, console)
    for line in _losses(traces, wish.losses):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    if wish.json is not None:
        data = to_json(_data(compared, intake, traces))
        write(data, sys.stdout) if wish.json == "-" else write_file(data, wish.json)
    if wish.html is not None:
        from jettison.replay.page import page

        title = f"Replay of {', '.join(Path(path).name for path in wish.paths)[:80]}"
        write_file(page(title, totals, wish.setup, intake, traces).encode("utf-8", "replace"), wish.html)


@contextmanager
def _spooled(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths, with standard input ("-") as a file: it is read more than once."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stdin"
        if "-" in paths:
            with file.open("wb") as out:
                while block := sys.stdin.buffer.read(1 << 20):
                    out.write(block)
        yield [str(file) if path == "-" else path for path in paths]


class _Worst:
    """The runs that lost most, by their number: they are looked at one by one afterwards."""

    def __init__(self, most: int, setup: Setup) -> None:
        self.most, self.policy, self.fraction = most, setup.policies[0], setup.budgets[0][0]
        self.heap: list[tuple[int, int, int]] = []

    def add(self, first: int, results: Sequence[Result]) -> None:
        mine = [r for r in results if (r.policy, r.fraction) == (self.policy, self.fraction)]
        for at, result in enumerate(mine):
            tally = result.tally
            entry = (tally.needed - tally.kept, tally.pressured, -(first + at))
            heapq.heappush(self.heap, entry)
            if len(self.heap) > self.most:
                heapq.heappop(self.heap)

    @property
    def numbers(self) -> list[int]:
        """Worst first."""
        return [-number for _, _, number in sorted(self.heap, reverse=True)]


def _totals(wish: Wish, paths: Sequence[str], intake: Intake, worst: _Worst) -> Totals:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("runs measured", total=wish.limit)
        per = len(wish.setup.policies) * len(wish.setup.budgets)

        def tell(first: int, results: Sequence[Result]) -> None:
            worst.add(first, results)
            progress.advance(task, len(results) / per)

        runs = trajectories(paths, intake, wire=wish.wire, limit=wish.limit)
        parts = Parts(wish.parts, _label(wish, paths)) if wish.parts else None
        if wish.engine == "ray":
            from jettison.replay.cluster import measured_on_ray  # it asks for Ray, which few have

            return measured_on_ray(runs, wish.setup, parts, tell=tell)
        return measured(runs, wish.setup, jobs=wish.jobs, parts=parts, tell=tell)


def _label(wish: Wish, paths: Sequence[str]) -> dict[str, Any]:
    """What makes two runs the same: files with their sizes, policies, budgets, and our version."""
    found = [file.identity for file in files_of(paths)]
    version = metadata.version("jettison")
    return {"version": version, "files": found, "setup": repr(wish.setup), "wire": wish.wire, "limit": wish.limit}


def _traces(wish: Wish, paths: Sequence[str], numbers: Sequence[int]) -> list[Trace]:
    """The wanted runs in full, read again."""
    found: dict[int, Trace] = {}
    for at, trajectory in enumerate(trajectories(paths, Intake(), wire=wish.wire)):
        if at in numbers:
            found[at] = traced(trajectory, wish.setup, wish.setup.policies[0], wish.setup.budgets[0][0])
        if len(found) == len(numbers):
            break
    return [found[at] for at in numbers if at in found]


def _print(wish: Wish, compared: Compared, intake: Intake, console: Console) -> None:
    totals = compared.totals
    formats = ", ".join(f"{name} {count:,}" for name, count in intake.formats.most_common())
    counted = f"{plural(totals.trajectories, 'run')} from {plural(intake.files, 'file')} ({formats})"
    console.print(counted, highlight=False, markup=False)
    if intake.skipped:
        reasons = "; ".join(f"{count:,} × {why}" for why, count in intake.reasons.most_common(5))
        console.print(f"{intake.skipped:,} rows or files skipped: {reasons}", highlight=False, markup=False)
        for entry in intake.examples[:3]:
            console.print(f"  {str(entry)[:200]}", highlight=False, markup=False, soft_wrap=True)
    groups = ["", *(totals.sets if 1 < len(totals.sets) <= SETS else [])]
    for name in groups:
        found = compared.of(name)
        for fraction, limit in wish.setup.budgets:
            chosen = [line for line in found if line.fraction == fraction]
            if chosen and chosen[0].trajectories:
                console.print()
                console.print(_heading(chosen[0], name or "all", fraction, limit), highlight=False, markup=False)
                for table in _tables(chosen):
                    console.print(table)


def _heading(line: Line, name: str, fraction: float, limit: int | None) -> str:
    budget = f"{limit:,} tokens" if limit else f"{fraction:.0%} of the body"
    calls, pressured, needed = (line.figures[key] for key in ("calls", "pressured", "needed"))
    return (
        f"{name}, {budget}: {line.tasks:,} tasks, {calls:,} calls, {pressured:,} over budget, {needed:,} needed values"
    )


def _tables(found: Sequence[Line]) -> list[Table]:
    """What was kept and its price; then what must be 0, the cache, and the distance to the bound."""
    kept = _table("policy", "strict support %", "binding %", "complete %", "cost")
    safe = _table("policy", "silent losses", "errors", "over budget", "invalid", "reuse", "regret")
    for line in found:
        figure, style = line.figures, "bold" if line.ours else ""
        kept.add_row(
            line.policy,
            percent(figure["strict"], line.spans["strict"]),
            percent(figure["binding"]),
            percent(figure["complete"], line.spans["complete"]),
            number(figure["cost"], line.spans["cost"]),
            style=style,
        )
        counts = (f"{figure[name]:,}" for name in ("silent", "raised", "over", "invalid"))
        safe.add_row(line.policy, *counts, number(figure["reuse"]), number(line.regret), style=style)
    return [kept, safe]


def _table(*heads: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head, justify="left" if head == "policy" else "right", no_wrap=True)
    return table


def _losses(traces: Sequence[Trace], most: int) -> list[str]:
    """The drill-down: `most` calls that missed something, what it was, and which decision had taken it."""
    out: list[str] = []
    if not most:
        return out
    for trace in traces:
        for at, call in enumerate(trace.calls):
            gone = [need for need in trace.needs if need.call == at and not need.kept]
            if not call.pressured or not gone:
                continue
            raised = f" (refused: {call.raised.splitlines()[0][:80]})" if call.raised else ""
            out.append(f"{trace.id}, call {at + 1}: {len(gone)} of {call.needed} needed values gone{raised}")
            for need in gone:
                out.append(f"  {need.value}")
                for source in need.sources:
                    item = trace.items[source]
                    since, state, _, reason, _ = item.at(at)
                    what = "in full" if state == "full" else f"{state} since call {since + 1}: {reason}"
                    out.append(f"    from {item.id} ({item.name or item.kind}), {what}")
            most -= 1
            if not most:
                return ["", *out]
    return ["", *out] if out else []


def _data(compared: Compared, intake: Intake, traces: Sequence[Trace]) -> dict[str, Any]:
    found = [line for name in ("", *compared.totals.sets) for line in compared.of(name)]
    return {
        "runs": compared.totals.trajectories,
        "files": intake.files,
        "formats": dict(intake.formats),
        "skipped": {
            "count": intake.skipped,
            "reasons": dict(intake.reasons),
            "examples": [{"where": entry.where, "why": entry.why} for entry in intake.examples],
        },
        "lines": [to_dict(line) for line in found],
        "traces": [trace.to_dict() for trace in traces],
    }
