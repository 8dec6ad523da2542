"""Puts the page together: figures as tables and a chart, runs as data that the page's script draws."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from jettison.items import Kind
from jettison.replay.engine import Setup
from jettison.replay.measure.metrics import Interval
from jettison.replay.sources import Intake
from jettison.replay.summary import Line, lines, number, percent
from jettison.replay.totals import Totals
from jettison.replay.trace import Trace

__all__ = ["page"]

_HEADS = ("policy", "strict support", "binding", "record", "complete", "cost", "silent losses", "errors", "over budget")
_MORE = ("invalid", "prefix reuse", "regret")


def page(title: str, totals: Totals, setup: Setup, intake: Intake, traces: Sequence[Trace]) -> str:
    """The whole page as HTML. No content of a trace can become markup: text is escaped, data is JSON in a script."""
    about = (
        f"{totals.trajectories:,} runs from {intake.files:,} files; "
        f"budget {_budget(setup)}; figures in %, intervals of 95 % drawn over tasks; cost is relative to sending all."
    )
    data = {"kinds": [kind.value for kind in Kind], "traces": [trace.to_dict() for trace in traces]}
    parts = {
        "title": escape(title),
        "about": escape(about),
        "skipped": _skipped(intake),
        "figures": _figures(totals, setup),
        "css": _file("page.css"),
        "js": _file("page.js"),
        # "<" would end the script element where a text holds "</script"; lone surrogates have no UTF-8.
        "data": json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c"),
    }
    pieces = _file("page.html").split("{{")
    return pieces[0] + "".join(parts[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces[1:]))


def _file(name: str) -> str:
    return files("jettison.replay.page").joinpath(name).read_text(encoding="utf-8")


def _budget(setup: Setup) -> str:
    if setup.tokens:
        return f"{setup.tokens:,} tokens"
    return " and ".join(f"{fraction:.0%}" for fraction in setup.fractions) + " of the body"


def _skipped(intake: Intake) -> str:
    if not intake.skipped:
        return ""
    items = "".join(f"<li>{escape(str(entry)[:400])}</li>" for entry in intake.examples)
    head = f"{intake.skipped:,} rows or files could not be read and are not counted"
    return f"<details><summary>{head}</summary><ul>{items}</ul></details>"


def _figures(totals: Totals, setup: Setup) -> str:
    blocks = []
    found = lines(totals, setup)
    for fraction, _ in setup.budgets:
        chosen = [line for line in found if line.fraction == fraction]
        blocks.append(_table(chosen, _caption(chosen, fraction, "all runs")))
        if len(chosen) > 1:
            blocks.append(_chart(chosen))
    if len(totals.sets) > 1:
        for name in totals.sets:
            inner = lines(totals, setup, name)
            tables = "".join(
                _table(part, _caption(part, fraction, name))
                for fraction, _ in setup.budgets
                if (part := [line for line in inner if line.fraction == fraction])
            )
            blocks.append(f"<details><summary>{escape(name)}</summary>{tables}</details>")
    return "\n".join(blocks)


def _caption(found: Sequence[Line], fraction: float, what: str) -> str:
    first = found[0]
    budget = f"{fraction:.0%} of the body" if fraction else "tokens"
    calls = f"{first.figures['calls']:,} calls, {first.figures['pressured']:,} over the budget"
    return f"{what}, {budget}: {first.trajectories:,} runs of {first.tasks:,} tasks, {calls}"


def _table(found: Sequence[Line], caption: str) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in (*_HEADS, *_MORE))
    rows = "".join(
        f'<tr class="{"ours" if line.ours else ""}"><th scope="row">{escape(line.policy)}</th>'
        + "".join(f"<td>{cell}</td>" for cell in _cells(line))
        + "</tr>"
        for line in found
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cells(line: Line) -> list[str]:
    figure = line.figures
    return [
        percent(figure["strict"], line.spans["strict"]),
        percent(figure["binding"]),
        percent(figure["record"]),
        percent(figure["complete"], line.spans["complete"]),
        number(figure["cost"], line.spans["cost"]),
        *(f"{figure[name]:,}" for name in ("silent", "raised", "over", "invalid")),
        number(figure["reuse"]),
        number(line.regret),
    ]


def _chart(found: Sequence[Line]) -> str:
    """Support and cost of every policy with their intervals; the table holds the same numbers."""
    left, wide, row = 150, 380, 22
    most = max([1.0, *((line.spans["cost"] or (0, line.figures["cost"] or 0.0))[1] for line in found)])
    marks = []
    for at, line in enumerate(found):
        y = 34 + at * row
        css = ' class="ours"' if line.ours else ""
        text = f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(line.policy)}</text>'
        support = _mark(line.figures["strict"], line.spans["strict"], 1.0, left, wide, y)
        price = _mark(line.figures["cost"], line.spans["cost"], most, left + wide + 60, wide, y)
        marks.append(f"<g{css}>{text}{support}{price}</g>")
    high = 34 + len(found) * row
    grid = "".join(_axis(left + side * (wide + 60), wide, high, top, side) for side, top in ((0, 1.0), (1, most)))
    return (
        f'<svg viewBox="0 0 1000 {high + 16}" role="img" aria-label="Strict support and cost of each policy with '
        f'their intervals; the table above holds the numbers">{grid}{"".join(marks)}</svg>'
    )


def _axis(left: float, wide: float, high: float, top: float, cost: int) -> str:
    name = "cost, relative to sending everything" if cost else "strict support, %"
    parts = [f'<text x="{left}" y="12">{name}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        at = left + share * wide
        label = f"{share * top:.2f}" if cost else f"{100 * share:.0f}"
        parts.append(f'<line class="axis" x1="{at}" x2="{at}" y1="20" y2="{high}"/>')
        parts.append(f'<text x="{at}" y="{high + 12}" text-anchor="middle">{label}</text>')
    return "".join(parts)


def _mark(value: float | None, span: Interval | None, top: float, left: float, wide: float, y: float) -> str:
    if value is None:
        return ""
    line = ""
    if span:
        ends = [left + wide * end / top for end in span]
        line = f'<line class="span" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y}" y2="{y}"/>'
    return f'{line}<circle class="dot" cx="{left + wide * value / top:.1f}" cy="{y}" r="4"/>'
