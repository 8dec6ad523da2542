"""`jettison demo`: the bundled history, fitted, with a few words around it."""

from __future__ import annotations

import os
import shlex
import textwrap
from importlib import resources
from pathlib import Path

from rich.console import Console
from rich.text import Text

from jettison import InvalidInput, Report
from jettison.cli import work
from jettison.cli.budget import Wanted
from jettison.replay import read
from jettison.report.terminal import render

__all__ = ["example", "show"]

_EXAMPLE = "support_refund.json"


def example() -> Path:
    """The bundled history: in the installed package, or in the repository's `examples/`.

    Raises InvalidInput when neither has it.
    """
    packaged = Path(str(resources.files("jettison"))) / "examples" / _EXAMPLE
    for path in (packaged, Path(__file__).parents[3] / "examples" / _EXAMPLE):
        if path.is_file():
            return path
    raise InvalidInput(f"the example {_EXAMPLE} is not installed with this copy of jettison; reinstall it")


def show(budget: Wanted) -> bool:
    """Fit the example and print it; whether it fits."""
    path = example()
    job = work.Job(read(str(path)), budget)
    console = Console()
    _say(console, _intro(len(job.recorded.messages), job.measure(), budget))
    _, report = job.once()
    render(report, console)
    console.print()
    _say(console, _look_at(report))
    _next(console, path, report)
    return report.ok


def _say(console: Console, *paragraphs: str) -> None:
    width = min(console.width, 100)
    for paragraph in paragraphs:
        console.print(Text("\n".join(textwrap.wrap(paragraph, width - 1))))
        console.print()


def _intro(messages: int, tokens: int, budget: Wanted) -> str:
    return (
        f"A support agent of an online shop is {messages} messages into one conversation: a damaged tent, a refund "
        "that is still pending, a changed address, a question in Russian, a tent held for spring. Its next call would "
        f"take {tokens:,} tokens; here it gets {budget.of(tokens):,}. Cutting off the oldest messages would lose the "
        "customer's own words and the numbers the refund hangs on. Jettison gives every item a Score (R fades with "
        "age, Rel says how much it matters to the task), protects what the agent cannot go on without, gives up the "
        "rest beginning with what is worth least, and then checks the finished request."
    )


def _look_at(report: Report) -> str:
    locked = sum(bool(row.protections) for row in report.rows)
    gone = sum(row.decision == "gone" for row in report.rows)
    shortened = sum(row.decision in ("compressed", "stub") for row in report.rows)
    return (
        f"Of {len(report.rows)} items {locked} hold something protected, {shortened} were shortened and {gone} left "
        "out. Nothing is lost for good: the archive of the session has the exact text of each, and gives it back by "
        "its handle (--explain names it). An agent with the recall tool could ask for it as well: its marks then "
        "name the handle. This one has no such tool, so a mark only says how much was cut."
    )


def _next(console: Console, path: Path, report: Report) -> None:
    biggest = max(report.rows, key=lambda row: row.before - row.after, default=None)
    relative = os.path.relpath(path)
    name = shlex.quote(relative if not relative.startswith("..") else str(path))
    tries = [
        (
            f"jettison fit {name} --budget 25% --explain {biggest.message if biggest else 0}",
            "why one message was treated so, and its handle in the archive",
        ),
        (f"jettison fit {name} --budget 25% --steps", "the same conversation, call by call"),
        (f"jettison fit {name} --budget 25% -o fitted.json", "the request as it would be sent"),
        (f"jettison fit {name} --budget 3%", "what an honest refusal looks like"),
        ("jettison fit ~/.claude/projects/<project>/<session>.jsonl --budget 50k", "your own: a Claude Code session"),
    ]
    console.print(Text("Try next:", style="bold"))
    for command, why in tries:
        console.print(Text(f"  {why}:", style="dim"))
        console.print(Text(f"    {command}", style="cyan"), soft_wrap=True)
