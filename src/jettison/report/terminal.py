"""The report on a terminal: a row an item, totals, the three checks, what it did to the cache.

Needs rich (`pip install 'jettison[cli]'`). Readable from 80 columns on; without colour where the output is no terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from jettison.plan import Report, Row
from jettison.report._text import cached, clean, plural, position, reasons, share, signal, tools_of

try:
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"the terminal report needs {missing.name}: pip install 'jettison[cli]'", name=missing.name
    ) from missing

from jettison.report.explain import explain

__all__ = ["explain", "render"]

WIDE = 110
"""Columns from which whole item ids and words are shown."""
LISTED = 8
"""Most lines of one list (notes, losses, what is missing) before the rest is counted."""

_SHORT = {
    "instruction": "instr",
    "assistant": "assist",
    "reasoning": "reason",
    "document": "doc",
    "summary": "summ",
    "compressed": "short",
}
_MARKS = {
    (True, True): ("✓", "bold green", ""),
    (False, True): ("✗", "bold red", "bold"),
    (False, False): ("–", "dim", "dim"),
}
"""Sign, style of the name and of what is said, by (holds, was looked at)."""
_STYLE = {"full": "", "compressed": "cyan", "stub": "yellow", "gone": "dim"}


def render(report: Report, console: Console | None = None, *, max_rows: int | None = None) -> None:
    """Print a report. `max_rows` leaves out items from the middle of a long history, and says how many."""
    console = console or Console()
    console.print(_title(report))
    console.print()
    console.print(_items(report.rows, console.width, max_rows))
    console.print()
    console.print(_totals(report))
    console.print()
    console.print(_bars(report, console.width))
    console.print()
    console.print(_facts(report))
    console.print(_verdict(report))


def _title(report: Report) -> Text:
    title = Text("Jettison", style="bold")
    counter = f"counted as {report.counter}" + (f" ({report.counter_error})" if report.counter_error else "")
    parts = (report.wire, f"call {report.call}", plural(len(report.rows), "item"), counter)
    title.append("  " + " · ".join(clean(part) for part in parts), style="not bold dim")
    if report.observed:
        title.append("\nObserved only: the decisions below were made and not carried out.", style="bold yellow")
    return title


def _items(rows: Sequence[Row], width: int, max_rows: int | None) -> Table:
    wide = width >= WIDE
    shown = list(rows)
    left_out = 0
    if max_rows is not None and len(shown) > max(2, max_rows):
        half = max(2, max_rows) // 2
        left_out = len(shown) - 2 * half
        shown = shown[:half] + shown[-half:]
    cells = [_cells(row, wide) for row in shown]
    heads = ["item", "kind", "age", "R", "Rel", "Score", "decision", "tokens"]
    fixed = [max(len(head), *(cell_len(cell[i]) for cell in cells), 0) for i, head in enumerate(heads)]
    spare = max(20, width - sum(fixed) - 9)
    lock = min(max([9, *(cell_len(cell[8]) for cell in cells)]), spare * 2 // 5)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for i, head in enumerate(heads):
        table.add_column(head, width=fixed[i], no_wrap=True, justify="right" if 1 < i < 6 or i == 7 else "left")
    table.add_column("protected", width=lock, no_wrap=True, overflow="ellipsis", style="green")
    table.add_column("text", width=spare - lock, no_wrap=True, overflow="ellipsis", style="dim")
    for i, (row, cell) in enumerate(zip(shown, cells, strict=True)):
        if left_out and i == len(shown) // 2:
            table.add_row("⋮", *[""] * 8, Text(f"{plural(left_out, 'item')} not shown", style="italic"))
        table.add_row(*(Text(part) for part in cell), style=_STYLE.get(row.decision, ""))
    return table


def _cells(row: Row, wide: bool) -> list[str]:
    def word(text: str) -> str:
        return text if wide else _SHORT.get(text, text)

    tokens = f"{row.before:,}" if row.before == row.after else f"{row.before:,} → {row.after:,}"
    preview = clean(row.preview)
    return [
        clean(row.item) if wide else position(row.item),
        word(row.kind),
        str(row.age),
        *(signal(value) for value in (row.score.recency, row.score.relevance, row.score.total)),
        word(row.decision),
        tokens,
        reasons(row.protections),
        f"{clean(row.name)}: {preview}" if row.name else preview,
    ]


def _totals(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("tokens by kind")
    for head in ("items", "before", "after", "kept"):
        table.add_column(head, justify="right")
    counts = Counter(row.kind for row in report.rows)
    known = [report.schemas, report.schemas]
    for kind, (before, after) in report.by_kind().items():
        known = [known[0] + before, known[1] + after]
        table.add_row(kind, f"{counts[kind]:,}", f"{before:,}", f"{after:,}", share(after, before))
    if report.schemas:
        table.add_row("schemas", "", f"{report.schemas:,}", f"{report.schemas:,}", "100 %")
    other = (report.before - known[0], report.after - known[1])
    if any(other) and min(other) >= 0:  # less than nothing: an attempt that failed, the rows are as they came
        table.add_row("other", "", f"{other[0]:,}", f"{other[1]:,}", "", style="dim")
    table.add_row(
        "request", "", f"{report.before:,}", f"{report.after:,}", share(report.after, report.before), style="bold"
    )
    return table


def _bars(report: Report, width: int) -> Table:
    """Before, after and limit to one scale."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    most = max(report.before, report.after, report.limit, 1)
    room = min(60, width - 24)
    styles = ("red" if report.before > report.limit else "", "green" if report.after <= report.limit else "red", "dim")
    values = (report.before, report.after, report.limit)
    names = ("before", "after" if report.after <= report.limit else "needed", "limit")
    for name, value, style in zip(names, values, styles, strict=True):
        bar = "█" * max(1 if value else 0, round(room * value / most))
        table.add_row(name, f"{value:,}", Text(bar, style=style))
    return table


def _facts(report: Report) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, check in report.checks.items():
        mark, style, said = _MARKS[check.ok, check.reached]
        table.add_row(Text(f"{mark} {name}", style), Text(clean(check.detail), said))
        _listing(table, "  missing", check.missing, "red")
    table.add_row("  cache", cached(report.cache))
    if report.tools:
        table.add_row("  tools", tools_of(report.tools))
    if report.inserted:
        why = Counter(str(getattr(entry, "why", "other")) for entry in report.inserted)
        kinds = ", ".join(f"{count} {name}" for name, count in why.most_common())
        table.add_row("  inserted", f"{plural(len(report.inserted), 'piece')} of our own text: {kinds}")
    _listing(table, "  repaired", report.repaired, "yellow")
    steps = [f"{one.step}: {one.before:,} → {plural(one.after, 'token')}" for one in report.escalation]
    _listing(table, "  escalation", steps, "yellow")
    _listing(table, "  degraded", report.degraded, "bold red")
    _listing(table, "  pending", report.pending, "yellow")
    _listing(table, "  note", report.notes, "")
    return table


def _listing(table: Table, label: str, lines: Sequence[str], style: str) -> None:
    head = f"{label} ({len(lines):,})" if len(lines) > 1 else label
    for i, line in enumerate(lines[:LISTED]):
        table.add_row("" if i else head, Text(clean(line), style))
    if len(lines) > LISTED:
        table.add_row("", Text(f"… and {len(lines) - LISTED:,} more", style="dim"))


def _verdict(report: Report) -> Text:
    failed = [name for name, check in report.checks.items() if check.reached and not check.ok]
    skipped = [name for name, check in report.checks.items() if not check.reached]
    if failed or skipped:
        said = (("Does not hold", failed), ("Not reached", skipped))
        return Text("\n" + " ".join(f"{head}: {_and(names)}." for head, names in said if names), style="bold red")
    verdict = f"\nFits: {report.after:,} of {plural(report.limit, 'token')} ({share(report.after, report.limit)})"
    if report.degraded:
        verdict += f", with losses ({len(report.degraded):,}, named above)"
    if not report.sendable:
        verdict += ". Not sendable before the pending calls are answered"
    return Text(f"{verdict}.", style="bold yellow" if report.degraded or report.pending else "bold green")


def _and(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
