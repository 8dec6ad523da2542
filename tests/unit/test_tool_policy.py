"""Tool policies, declared or read from MCP annotations."""

import pytest

from jettison import Session, ToolPolicy
from jettison.errors import ConfigError
from jettison.policy import Policy
from jettison.tool_policy import policies_for

LONG = "\n".join(f"row {n}: value-{n:04}" for n in range(400))


def messages(*results, name="get_rates"):
    out = [{"role": "user", "content": "Compare the rates."}]
    for n, text in enumerate(results):
        made = {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": f'{{"day": {n}}}'}}
        out.append({"role": "assistant", "content": None, "tool_calls": [made]})
        out.append({"role": "tool", "tool_call_id": f"c{n}", "content": text})
    for n in range(8):
        out.append({"role": "assistant", "content": f"Noted {n}."})
        out.append({"role": "user", "content": f"Log {n}:\n{LONG[:2000]}"})
    return out


def reasons(report):
    return {lock.item.split("-")[0]: lock.until for lock in report.protections if "tool policy" in lock.reason}


@pytest.mark.parametrize(
    "kwargs",
    [{"name": ""}, {"name": "a", "keep": "forever"}, {"name": "a", "produces": "id"}, {"name": "a", "consumes": "id"}],
)
def test_what_cannot_be(kwargs):
    with pytest.raises(ConfigError):
        ToolPolicy(**kwargs)


def test_the_first_that_says_something_counts():
    rules = (ToolPolicy("get_*", refetchable=True, produces=["id"]), ToolPolicy("*", refetchable=False, keep="latest"))
    found = policies_for(rules, None).of("get_rates")
    assert (found.refetchable, found.produces, found.keep) == (True, ("id",), "latest")
    assert policies_for(rules, None).of("send").refetchable is False


def tool(**kwargs):
    return {"name": "rates", "description": "d", "input_schema": {"type": "object"}, **kwargs}


@pytest.mark.parametrize(
    ("hints", "refetchable"),
    [
        ({"readOnlyHint": True}, True),
        ({"idempotentHint": True}, True),
        ({"destructiveHint": True, "idempotentHint": True}, False),
        ({"readOnlyHint": False}, False),
        ({}, None),
    ],
)
def test_annotations(hints, refetchable):
    wrapped = {"type": "function", "function": {"name": "rates", "annotations": hints}}
    for given in (tool(**hints), tool(annotations=hints), wrapped, {**wrapped, "annotations": hints}):
        assert policies_for((), [given]).of("rates").refetchable is refetchable
    declared = (ToolPolicy("rates", refetchable=False),)
    assert policies_for(declared, [tool(annotations=hints)]).of("rates").refetchable is False


def test_keep_always_protects_every_result_until_released():
    policy = Policy(budget=3_000, tools=(ToolPolicy("get_*", keep="always"),))
    session = Session(policy)
    given = messages("EUR 1.07", "EUR 1.08")
    report = session.fit(given).report
    assert set(reasons(report)) == {"2.0", "4.0"}
    assert all(until.startswith("never: ") and "release" in until for until in reasons(report).values())
    assert all(row.decision == "full" for row in report.rows if row.name == "get_rates" and row.kind == "result")
    session.task.release("get_rates")
    assert not reasons(session.fit(given).report)


def test_keep_latest_protects_the_newest():
    report = (
        Session(Policy(budget=3_000, tools=(ToolPolicy("get_rates", keep="latest"),))).fit(messages("a", "b")).report
    )
    assert reasons(report) == {"4.0": "superseded by a newer result of the tool"}


def test_refetchable_results_are_worth_less():
    given = messages(LONG[:1500])
    score = {}
    for value in (True, None, False):
        policy = Policy(budget=30_000, tools=(ToolPolicy("get_rates", refetchable=value),))
        rows = Session(policy).fit(given).report.rows
        score[value] = next(row.score.total for row in rows if row.kind == "result")
    assert score[True] < score[None] < score[False]


def test_consumed_kinds_raise_results_that_hold_them():
    given = messages('{"rate_code": "R-77", "day": 3}')
    plain = Session(Policy(budget=30_000)).fit(given).report.rows
    aware = Session(Policy(budget=30_000, tools=(ToolPolicy("pay", consumes=("rate_code",)),))).fit(given).report.rows
    made = Session(
        Policy(budget=30_000, tools=(ToolPolicy("get_rates", produces=("x",)), ToolPolicy("b", consumes=("x",))))
    )

    def signal(rows):
        return next(row.score.signals["arguments"] for row in rows if row.kind == "result")

    assert signal(plain) < signal(aware)
    assert signal(plain) < signal(made.fit(given).report.rows)
