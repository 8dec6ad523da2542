"""The terminal report against golden files. `UPDATE_GOLDEN=1 pytest tests/unit/report` rewrites them."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from jettison.errors import BudgetUnreachable, ConfigError
from jettison.plan import CacheEffect, CheckResult, Protection, Report, Row, Score
from jettison.report.terminal import explain, render
from jettison.reporting import failed_checks
from jettison.wire.base import Inserted

GOLDEN = Path(__file__).parents[2] / "golden"


def console(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)


def printed(target: Console) -> str:
    assert isinstance(target.file, io.StringIO)
    return "\n".join(line.rstrip() for line in target.file.getvalue().split("\n"))


def golden(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; UPDATE_GOLDEN=1 rewrites it"


def row(
    item: str, kind: str, age: int, rel: float, decision: str, before: int, after: int, preview: str, **more: object
) -> Row:
    recency = 0.9**age
    return Row(
        item=item,
        kind=kind,
        role=str(more.get("role", "tool")),
        name=more.get("name"),  # type: ignore[arg-type]
        message=int(item.split(".")[0]) if item[0] != "-" else -1,
        age=age,
        score=Score(recency, rel, 0.4 * recency + 0.6 * rel, {"kind": rel, "words": rel / 2}),
        protections=tuple(more.get("protections", ())),  # type: ignore[arg-type]
        decision=decision,
        reason=str(more.get("reason", "")),
        before=before,
        after=after,
        handle=more.get("handle"),  # type: ignore[arg-type]
        preview=preview,
    )


GOAL = Protection("1.0-b3c1d2e4", "goal", "the user states another goal")
RULE = Protection(
    "1.0-b3c1d2e4", "constraint", "the caller releases it", text="never refund more than 200 EUR without a supervisor"
)
REFUND = Protection("3.0-77aa01fe", "open operation: refund RF-20331", "it completes", text="ORD-9913")
LATEST = Protection("8.0-91c0de55", "latest user turn", "a newer turn", level="present")

ROWS = (
    row(
        "0.0-1f2e3d4c", "instruction", 9, 1.0, "full", 412, 412, "You are a support agent of Nordlicht.", role="system"
    ),
    row(
        "1.0-b3c1d2e4",
        "user",
        9,
        0.9,
        "full",
        96,
        96,
        "Please refund order ORD-9913; never refund more than 200 EUR\nwithout a supervisor.",
        role="user",
        protections=(GOAL, RULE),
    ),
    row(
        "2.0-0c0ffee0", "call", 8, 0.62, "full", 31, 31, '{"query": "ORD-9913"}', role="assistant", name="search_orders"
    ),
    row(
        "3.0-77aa01fe",
        "result",
        8,
        0.71,
        "compressed",
        12_480,
        733,
        '[{"order": "ORD-9913", "total": "149.00 EUR"',
        name="search_orders",
        protections=(REFUND,),
        reason="largest gain; spans of the open refund kept",
        handle="h_4f2a9c",
    ),
    row(
        "4.0-deadbe01",
        "assistant",
        7,
        0.18,
        "gone",
        64,
        0,
        "Let me look at the [bold]shipping[/bold] status :smile:",
        role="assistant",
        reason="lowest Score in its unit",
    ),
    row("4.1-deadbe02", "call", 7, 0.2, "gone", 28, 0, '{"id": "SHP-1"}', role="assistant", name="get_shipment"),
    row(
        "5.0-5afe0001",
        "result",
        7,
        0.12,
        "stub",
        3_310,
        24,
        "Sendung 12 \x1b[31munterwegs\x1b[0m – 東京 → Zürich 📦\u2028next",
        name="get_shipment",
        reason="superseded by the read at message 7",
        handle="h_77e001",
    ),
    row("6.0-0a0b0c0d", "reasoning", 2, 0.5, "full", 210, 210, "", role="assistant"),
    row("7.0-12ab34cd", "media", 1, 0.4, "full", 765, 765, "", role="user"),
    row("8.0-91c0de55", "user", 0, 0.95, "full", 18, 18, "Is it done?", role="user", protections=(LATEST,)),
)

REPORT = Report(
    wire="openai-chat",
    call=10,
    limit=4_000,
    given=18_257,
    after=3_132,
    schemas=840,
    counter="o200k",
    counter_error="exact",
    checks={
        "budget": CheckResult(True, "3,132 of 4,000 tokens"),
        "integrity": CheckResult(True, "all rules of openai-chat hold"),
        "sufficiency": CheckResult(True, "4 of 4 protections found in the output"),
    },
    inserted=(Inserted(3, "…", "gap"), Inserted(5, "[…]", "stub"), Inserted(3, "…", "gap")),
    cache=CacheEffect("major", 3, 2_604, 1, 900, 4_000, 2_440.0, 7),
    build_rows=lambda: ROWS,
)

BROKEN = replace(
    REPORT,
    after=4_410,
    limit=4_000,
    observed=True,
    checks={
        "budget": CheckResult(False, "4,410 of 4,000 tokens", ("410 tokens over",)),
        "integrity": CheckResult(True, "all rules of openai-chat hold"),
        "sufficiency": CheckResult(
            False, "1 protection is lost", ("“ORD-9913” of 3.0-77aa01fe (open operation: refund)",)
        ),
    },
    inserted=(),
    repaired=("messages[5]: answered call call_7 with “no result: interrupted”",),
    degraded=tuple(f"loss number {i}" for i in range(1, 12)),
    pending=("call_9 (issue_refund) is unanswered",),
    notes=(
        "2 lone surrogates were replaced",
        "messages[2].tool_calls[0]: arguments do not parse as JSON (as they came)",
    ),
    cache=CacheEffect(),
)


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize(("name", "report"), [("fits", REPORT), ("broken", BROKEN)])
def test_report(name: str, report: Report, width: int) -> None:
    target = console(width)
    render(report, target)
    text = printed(target)
    assert max(map(len, text.split("\n"))) <= width
    assert "\x1b" not in text
    golden(f"report_{name}_{width}", text)


def test_long_history_is_shortened_in_the_middle() -> None:
    many = replace(REPORT, build_rows=lambda: [replace(ROWS[2], item=f"{i}.0-0c0ffee0", message=i) for i in range(500)])
    target = console(100)
    render(many, target, max_rows=10)
    text = printed(target)
    assert "490 items not shown" in text
    assert "4.0 " in text
    assert "495.0 " in text
    assert "\n250.0 " not in text


def test_an_empty_report_is_printed() -> None:
    target = console(80)
    render(Report("gemini", 1, 100, 0, 0, 0, "x", "", {}), target)
    assert "Fits: 0 of 100 tokens" in printed(target)


def test_what_was_not_looked_at_has_no_check_mark() -> None:
    target = console(80)
    render(replace(REPORT, checks=failed_checks(BudgetUnreachable(10, 5))), target)
    lines = printed(target).split("\n")
    assert [line.split()[:2] for line in lines if line.startswith(("✓", "✗", "–"))] == [
        ["✗", "budget"],
        ["–", "integrity"],
        ["–", "sufficiency"],
    ]
    assert "Does not hold: budget. Not reached: integrity and sufficiency." in lines


@pytest.mark.parametrize("width", [40, 60])
def test_narrow_terminals_do_not_crash(width: int) -> None:
    target = console(width)
    render(REPORT, target)
    assert "Fits" in printed(target)


def calls() -> list[Report]:
    """The large result over three calls: whole and protected, the same a call later, compressed and released."""
    whole = replace(ROWS[3], decision="full", after=12_480, handle=None, reason="everything fits", age=0)
    lifted = replace(ROWS[3], protections=())
    rows = [(*ROWS[:3], whole), (*ROWS[:3], replace(whole, age=1)), (*ROWS[:3], lifted, *ROWS[4:])]
    return [replace(REPORT, call=call, build_rows=lambda rows=rows: rows) for call, rows in enumerate(rows, 3)]


def test_explain() -> None:
    target = console(100)
    explain(calls(), "3.0-77aa01fe", target)
    golden("explain_100", printed(target))


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("4", ["4.0-deadbe01", "4.1-deadbe02"]),
        ("4.1", ["4.1-deadbe02"]),
        ("4.1-dead", ["4.1-deadbe02"]),
        ("h_77e001", ["5.0-5afe0001"]),
        ("ORD-9913;", ["1.0-b3c1d2e4"]),
        ("200 EUR\nwithout", ["1.0-b3c1d2e4"]),
    ],
)
def test_explain_finds_items(item: str, found: list[str]) -> None:
    target = console(100)
    explain(calls(), item, target)
    heads = [line.split()[0] for line in printed(target).split("\n") if line[:1].isdigit()]
    assert heads == found


def test_an_item_that_is_no_longer_there() -> None:
    target = console(100)
    explain([REPORT, replace(REPORT, build_rows=lambda: ROWS[:2])], "8.0", target)
    assert "no longer has it" in printed(target)


@pytest.mark.parametrize("item", ["3.7", "3.0-77aa01ff", "88", "no such text", ""])
def test_an_unknown_item_names_near_ones(item: str) -> None:
    with pytest.raises(ConfigError, match=r"near it: .*\d\.\d-"):
        explain(calls(), item, console(100))


def test_calls_that_change_nothing_are_one_line_and_signals_are_told_once() -> None:
    used = replace(ROWS[3].score, signals={"kind": 0.71, "words": 0.9})
    rows = [replace(ROWS[3], age=age) for age in range(4)] + [replace(ROWS[3], age=4, score=used)]
    target = console(100)
    explain([replace(REPORT, call=n, build_rows=lambda row=row: [row]) for n, row in enumerate(rows, 1)], "3", target)
    text = printed(target)
    assert "  calls 2–4  no change  age 1–3  Score .60" in text
    assert text.count("kind .71") == 1
    assert "  call 5     compressed  12,480 → 733 tokens  age 4  Score .60 (R .43, Rel .71: words .35 → .90)" in text


def test_explain_says_in_which_order_things_go() -> None:
    for item, told in (("4.0", True), ("3.0", True), ("1.0", False)):
        target = console(100)
        explain([REPORT], item, target)
        assert ("What goes first" in printed(target)) == told


def test_explain_without_reports() -> None:
    with pytest.raises(ConfigError, match="no report"):
        explain([], "1", console(100))
