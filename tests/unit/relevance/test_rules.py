"""Each rule by itself, on the smallest history that shows it."""

import json

import pytest

from jettison import Policy, Session, ToolPolicy
from jettison.relevance.rules import RULES


def call(number, name, args, result):
    made = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
    text = result if isinstance(result, str) else json.dumps(result)
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def signals(*parts, policy=None, tools=None, kind="result"):
    """The signals of each item of a kind, in order."""
    given = [{"role": "user", "content": "Refund the torn tent of the customer."}]
    for part in parts:
        given += part
    rows = Session(policy or Policy(budget=100_000)).fit(given, tools=tools).report.rows
    for row in rows:
        assert set(row.score.signals) >= set(RULES)
        assert all(0 <= value <= 1 for value in row.score.signals.values())
        assert 0 <= row.score.relevance <= 1
    return [row.score.signals for row in rows if row.kind == kind]


ORDER = {"order_id": "ORD-48213", "state": "delivered"}
FOUND = call(0, "find_order", {"name": "Marina"}, ORDER)
USE = call(1, "create_refund", {"order_id": "ORD-48213"}, {"done": True})


def test_weights_sum_to_one_and_every_rule_says_what_it_rests_on():
    assert sum(weight for weight, _ in RULES.values()) == pytest.approx(1)
    assert all(rule.__doc__ for _, rule in RULES.values())


def test_used_and_lately():
    assert signals(FOUND)[0]["used"] == 0
    assert signals(FOUND)[0]["lately"] == 0
    fresh = signals(FOUND, USE)[0]
    assert fresh["used"] == 0.5
    later = signals(FOUND, USE, *(call(n, "look", {"n": n}, "x") for n in range(5, 12)))[0]
    assert later["used"] == 0.5
    assert 0 < later["lately"] < fresh["lately"] <= 1


def test_arguments_of_schemas_and_of_calls_seen():
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}, "state": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "refund", "parameters": schema}}]
    assert signals(FOUND)[0]["arguments"] == 0
    assert signals(FOUND, tools=tools)[0]["arguments"] > signals(FOUND, USE)[0]["arguments"] > 0


def test_goal_and_latest():
    about, other = (
        call(0, "kb", {}, "A torn tent: refund the customer."),
        call(1, "kb", {}, "Quarterly parking permits"),
    )
    first, second = signals(about, other)
    assert first["goal"] > second["goal"] == 0
    first, second = signals(about, other, [{"role": "user", "content": "What about parking permits?"}])
    assert second["latest"] > 0


def test_the_same_call_again_supersedes_the_first():
    first, second = signals(call(0, "get_order", {"id": 1}, "old"), call(1, "get_order", {"id": 1}, "new"))
    assert (first["current"], second["current"]) == (0, 1)
    first, second = signals(call(0, "get_order", {"id": 1}, "old"), call(1, "get_order", {"id": 2}, "other"))
    assert (first["current"], second["current"]) == (1, 1)


def test_a_file_that_was_written_since_is_superseded():
    read = call(0, "read_file", {"path": "a.py"}, "def a(): ...")
    write = call(1, "write_file", {"path": "a.py", "content": "def b(): ..."}, "ok")
    assert [row["current"] for row in signals(read, write)] == [0, 1]
    edit = call(1, "str_replace_editor", {"command": "str_replace", "path": "a.py"}, "ok")
    view = call(0, "str_replace_editor", {"command": "view", "path": "a.py"}, "def a(): ...")
    assert signals(read, edit)[0]["current"] == 0
    assert [row["current"] for row in signals(view, call(2, "read_file", {"path": "b.py"}, "x"))] == [1, 1]


def test_a_resolved_error():
    failed = call(0, "run", {"cmd": "pytest"}, "Error: no module named x")
    assert signals(failed)[0]["unresolved"] == 1
    assert signals(failed, call(1, "run", {"cmd": "pip install x"}, "ok"))[0]["unresolved"] == 0
    assert signals(failed, call(1, "other", {}, "ok"))[0]["unresolved"] == 1


def test_a_choice_that_was_made():
    flights = [{"flight": f"HAT{n:03}", "price": 100 + n} for n in range(8)]
    listed = call(0, "search_flights", {"to": "JFK"}, {"flights": flights})
    assert signals(listed)[0]["choice"] == 1
    assert signals(listed, call(1, "book", {"flight": "HAT003"}, "booked"))[0]["choice"] == 0


def test_what_can_be_fetched_again():
    def value(refetchable):
        policy = Policy(budget=100_000, tools=(ToolPolicy("find_order", refetchable=refetchable),))
        return signals(FOUND, policy=policy)[0]["irreplaceable"]

    assert (value(True), value(None), value(False)) == (0, 0.5, 1)


def test_kinds():
    assert signals(FOUND, kind="user")[0]["kind"] > signals(FOUND)[0]["kind"]
