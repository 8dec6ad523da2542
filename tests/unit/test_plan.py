"""Plans are data and `apply` is a pure function of them; the report is plain JSON."""

import copy
import json
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.items import Fidelity, Item, Kind, Unit, units_of
from jettison.plan import CheckResult, Decision, Plan, Protection, Report, Row, Score, View, apply
from jettison.task import TaskState
from strategies import law

ITEMS = tuple(Item(f"{n}.0-x", Kind.USER, f"text {n}", n, 0, n, n) for n in range(6))

decisions = st.builds(
    Decision,
    item=st.sampled_from([item.id for item in ITEMS] + ["gone.0-x"]),
    fidelity=st.sampled_from(Fidelity),
    reason=st.just("test"),
    before=st.integers(0, 9),
    after=st.integers(0, 9),
    text=st.text(max_size=5),
)
plans = st.lists(decisions, max_size=8).map(lambda found: Plan().merged(found))


@given(plans)
@law(100)
def test_apply_keeps_replaces_or_drops_and_keeps_order(plan):
    out = apply(ITEMS, plan)
    assert [item.id for item in out] == [item.id for item in ITEMS if plan.fidelity(item.id) is not Fidelity.GONE]
    for item in out:
        source = ITEMS[item.message]
        if plan.fidelity(item.id) is Fidelity.FULL:
            assert item is source
        else:
            assert item.text == plan.decisions[item.id].text
            assert item.fidelity is plan.fidelity(item.id)
            assert (item.id, item.kind, item.message, item.unit) == (
                source.id,
                source.kind,
                source.message,
                source.unit,
            )


@given(plans)
@law(50)
def test_apply_is_pure(plan):
    items, before = list(ITEMS), copy.deepcopy(plan)
    assert apply(items, plan) == apply(items, plan)
    assert items == list(ITEMS)
    assert plan == before


@given(plans)
@law(50)
def test_applying_twice_is_applying_once(plan):
    once = apply(ITEMS, plan)
    assert apply(once, plan) == once


def test_an_empty_plan_changes_nothing():
    assert apply(ITEMS, Plan()) == list(ITEMS)
    assert apply([], Plan()) == []


def test_merged_leaves_the_older_plan_as_it_was():
    first = Decision("0.0-x", Fidelity.STUB, "a", 9, 3, text="stub")
    second = Decision("0.0-x", Fidelity.GONE, "b", 9, 0)
    older = Plan({"0.0-x": first})
    newer = older.merged([second])
    assert (older.fidelity("0.0-x"), newer.fidelity("0.0-x")) == (Fidelity.STUB, Fidelity.GONE)
    assert Plan().merged([first, second]).decisions == {"0.0-x": second}


def decided(call, fidelity, after, text=""):
    return Decision("0.0-x", fidelity, "why", 100, after, text=text, call=call)


def test_what_an_earlier_call_decided_stays_behind_what_replaced_it():
    first, second = decided(1, Fidelity.COMPRESSED, 60, "sixty"), decided(4, Fidelity.COMPRESSED, 30, "thirty")
    better, last = decided(4, Fidelity.STUB, 5, "stub"), decided(7, Fidelity.GONE, 0)
    plan = Plan().merged([first]).merged([second]).merged([better]).merged([last])
    assert [one.call for one in plan.decisions["0.0-x"].chain()] == [7, 4, 1], "what a call thinks better of is none"
    assert [one.text for one in plan.decisions["0.0-x"].chain()] == ["", "stub", "sixty"]
    assert plan.bounded(65) is plan
    kept = plan.bounded(64).decisions["0.0-x"]
    assert [one.forgotten for one in kept.chain()] == [False, False, True]
    assert [(one.call, one.after) for one in kept.chain()] == [(7, 0), (4, 5), (1, 60)]
    assert [one.forgotten for one in plan.bounded(0).decisions["0.0-x"].chain()] == [False, True, True]


def test_fidelity_is_ordered():
    assert Fidelity.FULL > Fidelity.COMPRESSED > Fidelity.STUB > Fidelity.GONE


def test_data_is_frozen():
    with pytest.raises(FrozenInstanceError):
        ITEMS[0].text = "other"  # type: ignore[misc]


def test_units_keep_first_appearance_and_collect_what_is_apart():
    a = Item("0.0-x", Kind.CALL, "{}", 0, 0, 5, 0, call_id="c1")
    b = Item("1.0-x", Kind.USER, "wait", 1, 0, 6, 0)
    c = Item("2.0-x", Kind.RESULT, "ok", 2, 0, 5, 0, call_id="c1")
    assert units_of([a, b, c]) == [Unit(5, (a, c)), Unit(6, (b,))]
    assert units_of([a, b])[0].unanswered() == (a,)
    assert units_of([a, b, c])[0].unanswered() == ()


def test_age_is_steps_and_never_negative():
    view = View(ITEMS, tuple(units_of(ITEMS)), TaskState(), 3, 100, 0)
    assert [view.age(item) for item in ITEMS] == [3, 2, 1, 0, 0, 0]


def test_a_protection_without_a_span_is_of_the_whole_item():
    assert Protection("0.0-x", "goal", "never: it is the goal").whole
    assert not Protection("0.0-x", "goal", "never: it is the goal", text="x", end=1).whole


def report(**more):
    row = Row("0.0-x", "user", "user", None, 0, 1, Score(1, 1, 1), (), "stub", "old", 9, 3, "h1", "text")
    checks = {name: CheckResult(True, "ok") for name in ("budget", "integrity", "sufficiency")}
    given = {"wire": "openai-chat", "call": 1, "limit": 9, "given": 9, "after": 3, "schemas": 0, "counter": "o200k"}
    return Report(**given, counter_error="exact", checks=checks, build_rows=lambda: [row, row], **more)


def test_the_report_is_plain_json_and_adds_up():
    done = report(pending=("call_1",), protections=(Protection("0.0-x", "goal", "never: it is the goal"),))
    data = json.loads(done.to_json())
    assert data == json.loads(json.dumps(done.to_dict()))
    assert data["by_kind"] == {"user": [18, 6]}
    assert (data["sendable"], done.ok) == (False, True)
    assert len(data["rows"]) == 2


def test_rows_are_built_once_when_first_asked_for():
    built = []
    done = Report("openai-chat", 1, 9, 9, 9, 0, "o200k", "exact", {}, build_rows=lambda: built.append(1) or ())
    assert not built
    assert done.rows == done.rows == ()
    assert built == [1]


def test_ok_needs_all_checks():
    checks = {"budget": CheckResult(True, ""), "integrity": CheckResult(False, "", ("0.0-x",))}
    assert not Report("openai-chat", 1, 9, 9, 9, 0, "o200k", "exact", checks).ok


def test_as_text_it_says_in_a_line_what_was_done_then_what_was_lost():
    fine, bad = CheckResult(True, "yes"), CheckResult(False, "a pin is gone")
    unseen = CheckResult(False, "an error came first", reached=False)
    checks = {"budget": fine, "integrity": unseen, "sufficiency": bad}
    said = str(replace(report(), checks=checks, degraded=("goal: 1.0",), notes=("look here",)))
    line, *rest = said.split("\n")
    assert "2 stub; budget holds, integrity not reached, sufficiency BROKEN: a pin is gone" in line
    assert rest == ["lost: goal: 1.0", "note: look here"]
    assert "nothing reduced" in str(replace(report(), build_rows=tuple))
