"""One item through a session: where it is now, what was decided about it at each call, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches

from jettison.errors import ConfigError
from jettison.plan import Edge, Protection, Report, Row
from jettison.report._text import cached, clean, plural, position, shorten, signal

try:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"the terminal report needs {missing.name}: pip install 'jettison[cli]'", name=missing.name
    ) from missing

__all__ = ["explain", "matching"]

_STYLE = {"full": "bold green", "compressed": "bold cyan", "stub": "bold yellow", "gone": "bold red"}
ORDER = (
    "What goes first: what gives least for its tokens. That is not the Score: it is what the values in it (ids, paths, "
    "names, dates) are worth to later calls, as far as nothing kept holds them already, and a small share of Score, "
    "for each token. So a long item of a high Score can go where a short one of a low Score stays. What room is left "
    "then is for the newest turns, whole."
)
"""`stages.rank` and `stages.evict` in words."""
_MOST = 20
"""Most items that are explained at once: a text that is found in more is too vague to be meant."""


def matching(rows: Sequence[Row], item: str) -> list[Row]:
    """Rows that `item` means: an id, the beginning of one (`12` is a message), a handle, or text of their preview.

    Raises ConfigError, naming near ids, when there is none.
    """
    wanted = "-1" if item == "system" else item
    exact = [row for row in rows if wanted in (row.item, position(row.item), row.handle)]
    whole = exact or [row for row in rows if str(row.message) == wanted]
    found = whole or [row for row in rows if row.item.startswith(wanted) and len(position(row.item)) < len(wanted)]
    found = found or [row for row in rows if clean(item) and clean(item) in clean(row.preview)]
    if not found:
        raise ConfigError(f"no item is, or begins with the text, {item!r}; {_near(rows, wanted)}")
    if len(found) > _MOST and not whole:
        raise ConfigError(f"{item!r} is found in {len(found)} items: give an id, such as {found[0].item}")
    return found


def _near(rows: Sequence[Row], item: str) -> str:
    if not rows:
        return "the report has no items"
    ids = [row.item for row in rows]
    close = get_close_matches(item, ids, n=5, cutoff=0.5)
    number = item.partition(".")[0].partition("-")[0]
    if number.isdigit():
        same = [row.item for row in rows if str(row.message) == number]
        close = same[:5] or close or sorted(ids, key=lambda name: abs(_number(name) - int(number)))[:5]
    if not close:
        close = [row.item for row in rows[:: max(1, len(rows) // 5)]][:5]
    last = max(row.message for row in rows)
    return f"near it: {', '.join(close)} (messages are numbered 0 to {last}; `jettison fit` lists all items)"


def _number(item: str) -> int:
    head = position(item).partition(".")[0]
    return int(head) if head.lstrip("-").isdigit() else 0


def explain(
    reports: Sequence[Report],
    item: str,
    console: Console | None = None,
    dependencies: Callable[[str], Sequence[Edge]] | None = None,
) -> None:
    """Print the story of one item, or of each item of one message, over all calls of a session, oldest first.

    `dependencies`: `Session.dependencies`, for the chain of values: from which item, to which calls.
    Raises ConfigError when no report has such an item.
    """
    console = console or Console()
    found = _found(reports, item)
    wanted = {row.item for row in found}
    # Rows are built anew and dropped: a thousand reports of a thousand rows each would fill the memory.
    story = [(report, {row.item: row for row in report.build_rows() if row.item in wanted}) for report in reports]
    for i, row in enumerate(found):
        if i:
            console.print()
        _story([(report, rows.get(row.item)) for report, rows in story], row, console)
        if dependencies is not None:
            names = {each.item: clean(each.name or each.kind) for each in reports[-1].rows}
            for line in _chain(row.item, dependencies(row.item), names):
                console.print(Text(f"  {line}"), soft_wrap=True)
    if any(row.before > row.after or not row.protections for row in found):
        console.print(Text(f"\n{ORDER}", style="dim"))


def _found(reports: Sequence[Report], item: str) -> list[Row]:
    if not reports:
        raise ConfigError("there is no report to explain")
    try:
        return matching(reports[-1].rows, item)
    except ConfigError:
        for report in reversed(reports[:-1]):
            with suppress(ConfigError):
                return matching(report.build_rows(), item)
        raise


def _chain(item: str, edges: Sequence[Edge], names: Mapping[str, str]) -> Iterator[str]:
    """Value → producer → consumers, one line a value; of a call also what its arguments came from."""
    produced: dict[str, list[str]] = {}
    for edge in edges:
        if edge.producer == item:
            where = f"{names.get(edge.consumer, 'a call')}({edge.argument}) {edge.consumer}"
            produced.setdefault(edge.value, []).append(where)
    for value, uses in list(produced.items())[:_MOST]:
        more = f" and {len(uses) - 4} more" if len(uses) > 4 else ""
        yield f"value “{shorten(clean(value), 60)}” → here → {', '.join(uses[:4])}{more}"
    if len(produced) > _MOST:
        yield f"and {len(produced) - _MOST} more values that calls used"
    for edge in [edge for edge in edges if edge.consumer == item][:_MOST]:
        source = f"{names.get(edge.producer, 'an item')} {edge.producer}"
        yield f"value “{shorten(clean(edge.value), 60)}” → {source} → here ({edge.argument})"


def _story(story: Sequence[tuple[Report, Row | None]], row: Row, console: Console) -> None:
    title = Text(row.item, style="bold")
    name = f" {clean(row.name)}" if row.name else ""
    where = "the system field" if row.message < 0 else f"message {row.message}"
    title.append(f"  {row.kind}{name}, in {where}", style="not bold")
    console.print(title)
    if row.preview:
        console.print(
            Padding(Text(shorten(row.preview, max(20, console.width - 4)), style="dim"), (0, 0, 0, 2), expand=False)
        )
    console.print(_now(*story[-1]))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for head, line in _told([(report, at) for report, at in story if at is not None]):
        table.add_row(head, line)
    console.print(table)


def _told(story: Sequence[tuple[Report, Row]]) -> Iterator[tuple[str, Text]]:
    """(call, what was decided or changed) lines; calls at which nothing changed are one line together."""
    before: Row | None = None
    same: list[tuple[Report, Row]] = []
    for report, at in story:
        if before is not None and _same(before, at):
            same.append((report, at))
            continue
        yield from _folded(same)
        same = []
        yield f"  call {report.call}", _decided(at, before)
        if at.decision != (before.decision if before else "full") and report.cache.epoch != "none":
            yield "", Text(f"in this call: {cached(report.cache)}")
        details, known = _details(at), _details(before) if before else []
        for line in details:
            if line not in known:
                yield "", Text(line)
        for line in known:
            if line.startswith("protected: ") and line not in details:
                yield "", Text(f"lifted: {line.removeprefix('protected: ')}", "yellow")
        before = at
    yield from _folded(same)


def _same(before: Row, at: Row) -> bool:
    """Whether only age and recency differ."""
    tokens = (before.before, before.after) == (at.before, at.after)
    return tokens and before.decision == at.decision and _details(before) == _details(at) and not _changes(before, at)


def _changes(before: Row, at: Row) -> list[str]:
    """Signals that are shown as other numbers than before."""
    then = {name: signal(value) for name, value in before.score.signals.items()}
    now = {name: signal(value) for name, value in at.score.signals.items()}
    names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    return [f"{clean(name)} {then.get(name, 'none')} → {now.get(name, 'none')}" for name in names]


def _folded(same: Sequence[tuple[Report, Row]]) -> Iterator[tuple[str, Text]]:
    if not same:
        return
    (first, young), (last, old) = same[0], same[-1]
    alone = first is last
    calls = f"  call {first.call}" if alone else f"  calls {first.call}–{last.call}"
    age = str(young.age) if alone else f"{young.age}–{old.age}"
    score, then = signal(young.score.total), signal(old.score.total)
    yield calls, Text(f"no change  age {age}  Score {score if score == then else f'{score} → {then}'}", "dim")


def _now(report: Report, row: Row | None) -> Text:
    if row is None:
        return Text("  now: the last call's history no longer has it", style="bold yellow")
    line = Text("  now: ")
    state = {
        "full": f"in the context, whole ({plural(row.after, 'token')})",
        "compressed": f"in the context, shortened ({row.after:,} of {plural(row.before, 'token')})",
        "stub": f"in the context as a stub ({row.after:,} of {plural(row.before, 'token')})",
        "gone": f"not in the context ({plural(row.before, 'token')} freed)",
    }.get(row.decision, row.decision)
    line.append(f"would be {state}" if report.observed else state, style=_STYLE.get(row.decision, "bold"))
    if row.handle:
        line.append(f"; the exact original is in the archive: session.recall({row.handle!r})")
    return line


def _decided(row: Row, before: Row | None) -> Text:
    """The decision with all signals the first time, later with those that changed."""
    score = row.score
    line = Text()
    line.append(f"{row.decision:<10}", style=_STYLE.get(row.decision, "bold"))
    tokens = f"{row.before:,}" if row.before == row.after else f"{row.before:,} → {row.after:,}"
    line.append(f"  {tokens} tokens  age {row.age}  Score {signal(score.total)}")
    every = [f"{clean(name)} {signal(value)}" for name, value in score.signals.items()]
    parts = ", ".join(every if before is None else _changes(before, row))
    rel = f"Rel {signal(score.relevance)}" + (f": {parts}" if parts else "")
    line.append(f" (R {signal(score.recency)}, {rel})", style="dim")
    return line


def _details(row: Row) -> list[str]:
    """Lines that are printed when they differ from those of the call before."""
    return [f"why: {clean(row.reason)}"] * bool(row.reason) + [_protection(each) for each in row.protections]


def _protection(protection: Protection) -> str:
    what = f"“{shorten(protection.text, 60)}” in it" if protection.text else "the whole item"
    weaker = ", may be shortened" if protection.level == "present" else ""
    until = clean(protection.until)
    end = until if until.startswith("never") else f"until {until.removeprefix('until ')}"
    return f"protected: {what}{weaker}: {clean(protection.reason)}; {end}"
