"""What `tune` does: read the runs, fit, print the weights beside those in use, write them to a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from typer import Context

from jettison.cli.budget import parse_budget
from jettison.cli.output import check_writable, to_json, write_file
from jettison.errors import ConfigError
from jettison.replay import search
from jettison.replay.sources import Intake, trajectories
from jettison.replay.tune import Tuned, check_settings, collect, tune

__all__ = ["check", "run", "settings", "to_toml"]


USE = (
    "What for: to see whether the weights in use suit these runs. They are constants, no policy takes others.",
    "Where these predict better, a report with this table helps to set the next ones.",
    "What a policy can set: jettison tune PATH... --policy mine.toml, then Policy.from_file('mine.toml').",
)
OF_POLICY, OF_WEIGHTS = ("budget", "aim", "wide", "jobs"), ("l2", "json", "toml")
"""Options of `tune` that only choosing settings, or only fitting weights, looks at."""


def check(context: Context, choosing: bool, outputs: Iterable[str | None]) -> None:
    """What was given without effect, and what cannot be written: before the runs are measured. Raises ConfigError."""
    idle = [name for name in (OF_WEIGHTS if choosing else OF_POLICY) if _given(context, name)]
    if idle:
        names = ", ".join(f"--{name}" for name in idle)
        where = "of fitting weights: leave out --policy, or them" if choosing else "of --policy OUT: give it as well"
        raise ConfigError(f"{names}: {where}")
    for target in outputs:
        if target is not None:
            check_writable(target)


def _given(context: Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def settings(
    paths: Sequence[str], budget: str, *, aim: str, by: str, folds: int, jobs: int, wide: bool, out: str
) -> None:
    """Choose a policy's settings on the runs, show what was tried, and write the file. Raises what `search` raises."""
    wanted = parse_budget(budget)
    intake = Intake()
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("runs measured", total=None)
        per = len(search.candidates(wide))
        found = search.search(
            trajectories(paths, intake),
            fraction=wanted.share or 0.25,
            tokens=wanted.tokens,
            aim=aim,
            by=by,
            folds=folds,
            jobs=jobs,
            wide=wide,
            tell=lambda first, results: progress.advance(task, len(results) / per),
        )
    if intake.skipped:
        print(f"note: {intake.skipped} rows or files could not be read", file=sys.stderr)
    text = search.to_toml(found, paths)
    for line in text.split("\n\n")[0].splitlines()[1:]:
        print(line.removeprefix("# ").removeprefix("#"))
    write_file(text.encode("utf-8"), out)


def run(paths: Sequence[str], *, by: str, folds: int, l2: float, json: str | None, toml: str | None) -> None:
    """Fit the weights on the runs in the files and show them. Raises what `tune` raises."""
    check_settings(by, folds, l2)
    runs = collect(paths, lambda line: print(line, file=sys.stderr))
    tuned = tune(runs, by=by, folds=folds, l2=l2)
    console = Console()
    console.print(_table(tuned))
    console.print()
    for line in (*_evidence(tuned), *USE):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    if json is not None:
        write_file(to_json({"better": tuned.better, "verdict": tuned.verdict, **asdict(tuned)}), json)
    if toml is not None:
        write_file(to_toml(tuned).encode("utf-8"), toml)


def _table(tuned: Tuned) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for head in ("weight", "in use", "fitted", "standard error"):
        table.add_column(head, justify="left" if head == "weight" else "right")
    for weight in tuned.weights:
        table.add_row(weight.name, f"{weight.shipped:+.2f}", f"{weight.fitted:+.2f}", f"{weight.error:.2f}")
    return table


def _evidence(tuned: Tuned) -> list[str]:
    return [
        f"{tuned.rows:,} rows, {tuned.needed:,} of them needed later, from {tuned.runs} runs of {tuned.tasks} tasks.",
        f"Held-out log-loss of the weights in use {tuned.loss:.5f}; {tuned.folds} folds by {tuned.by}, "
        f"L2 {tuned.l2:g} towards the weights in use, intervals 95 %, drawing whole runs.",
        f"Verdict: {tuned.verdict}.",
    ]


def to_toml(tuned: Tuned) -> str:
    """The fitted weights, with the evidence in comments; a table to read and to send, no policy file."""
    terms = [weight for weight in tuned.weights if not weight.name.startswith("shape.")]
    shapes = [weight for weight in tuned.weights if weight.name.startswith("shape.")]
    head = "Written by `jettison tune`: fitted weights, and no policy file."
    lines = [f"# {line}" for line in (head, *_evidence(tuned), *USE)]
    for title, group in (("worth", terms), ("shapes", shapes)):
        lines += ["", f"[{title}]"]
        for weight in group:
            note = f"# in use {weight.shipped:+.2f}, standard error {weight.error:.2f}"
            lines.append(f"{weight.name.removeprefix('shape.')} = {weight.fitted:.2f}  {note}")
    return "\n".join(lines) + "\n"
