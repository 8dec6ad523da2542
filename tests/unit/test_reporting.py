"""The report: plain JSON, sums that agree, one row an item, and the verdict on what does not hold."""

import json

import pytest

from jettison import Policy, Session, fit
from jettison.errors import BudgetUnreachable, ContextInsufficient, StateBroken
from jettison.plan import CheckResult, Report
from jettison.reporting import failed_checks, first_change, judged
from strategies import log_text
from unit.flow.reading import call, join, says, user

HISTORY = join(
    user("Find why ORD-9913 failed."),
    *(call("run", {"cmd": f"tail {n}"}, log_text(n, 2_000), number=n) for n in range(6)),
    says("Nothing so far."),
    user("Go on."),
)


def fitted(budget=1_500):
    return fit(HISTORY, budget=budget)


@pytest.mark.parametrize("budget", [1_500, 100_000])
def test_the_report_is_json_that_says_what_happened(budget):
    report = fitted(budget).report
    data = json.loads(report.to_json())
    assert data == json.loads(json.dumps(report.to_dict()))
    assert (data["wire"], data["limit"], data["call"]) == ("openai-chat", budget, 1)
    assert all(check["ok"] for check in data["checks"].values())
    assert len(data["rows"]) == len(report.rows)


@pytest.mark.parametrize("budget", [1_500, 100_000])
def test_the_kinds_add_up_to_the_rows_and_the_rows_to_the_request(budget):
    report = fitted(budget).report
    assert sum(before for before, _ in report.by_kind().values()) == sum(row.before for row in report.rows)
    assert sum(after for _, after in report.by_kind().values()) == sum(row.after for row in report.rows)
    rest = report.before - sum(row.before for row in report.rows)
    assert 0 <= rest <= 3, "reply priming; no schemas here"
    assert abs(report.after - rest - sum(row.after for row in report.rows)) <= 8, "placeholders and merged framing"


def test_a_row_says_why_an_item_is_as_it_is():
    rows = {row.message: row for row in fitted().report.rows}
    assert rows[0].decision == "full"
    assert "goal" in rows[0].reason
    cut = [row for row in rows.values() if row.decision != "full"]
    assert cut
    for row in cut:
        assert row.reason
        assert row.after < row.before
        assert row.handle
    assert all(len(row.preview) <= 80 and "\n" not in row.preview for row in rows.values())


def test_rows_are_as_of_their_call():
    session = Session(Policy(budget=100_000))
    first = session.fit(HISTORY[:3]).report
    session.fit(HISTORY)
    assert len(first.rows) == 3
    assert [row.age for row in first.rows] == [1, 0, 0]


@pytest.mark.parametrize(
    ("last", "now", "first"),
    [([], [], None), ([1], [1, 2], None), ([1, 2], [1, 3], 1), ([1, 2], [1], 1), ([1, 2], [], 0), ([1], [2, 1], 0)],
)
def test_the_first_change(last, now, first):
    assert first_change(last, now) == first


def report(**failed):
    checks = {name: CheckResult(True, "ok") for name in ("budget", "integrity", "sufficiency")}
    checks.update({name: CheckResult(False, "no", (what,) if what else ()) for name, what in failed.items()})
    return Report("openai-chat", 1, 90, 120, 100, 0, "o200k", "exact", checks)


def test_where_all_holds_the_report_is_as_it_was():
    good = report()
    assert judged(good, [], False) is good


@pytest.mark.parametrize(
    ("bad", "unmet", "error"),
    [
        (report(budget=""), [], BudgetUnreachable),
        (report(integrity="messages[1]: a rule"), [], StateBroken),
        (report(sufficiency="a span"), [], StateBroken),
        (report(), ["ORD-1"], ContextInsufficient),
    ],
)
def test_each_failed_check_has_its_error_with_the_report(bad, unmet, error):
    with pytest.raises(error) as caught:
        judged(bad, unmet, False)
    assert not caught.value.report.ok


def test_degrade_names_what_is_missing_and_never_sends_what_breaks_the_wire():
    assert judged(report(sufficiency="a span"), ["ORD-1"], True).degraded == ("a span", "ORD-1")
    with pytest.raises(StateBroken):
        judged(report(integrity="a rule"), [], True)
    with pytest.raises(BudgetUnreachable):
        judged(report(budget=""), [], True)


def test_the_checks_of_an_attempt_that_failed_say_what_was_not_looked_at():
    short = failed_checks(BudgetUnreachable(10, 5))
    assert [(check.ok, check.reached) for check in short.values()] == [(False, True), (False, False), (False, False)]
    assert "needs 10 tokens" in short["budget"].detail
    broken = failed_checks(StateBroken("a note has no place\nmore", ["3.0-x"]))
    assert [check.reached for check in broken.values()] == [False, False, True]
    assert broken["sufficiency"] == CheckResult(False, "a note has no place", ("3.0-x",))
