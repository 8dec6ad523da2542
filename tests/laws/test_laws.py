"""Laws 1 to 7 and 10 of the design, on single calls. Sessions are in test_session_laws.py, failures in
test_failure_laws.py. Law 11 (a vaulted secret appears nowhere) comes with the vault, which is a later issue.
"""

import copy
import json
import os
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jettison import Budget, fit
from jettison.errors import BudgetUnreachable, CannotFit
from laws.support import (
    assert_sound,
    binding_weight,
    fit_in,
    fit_once,
    items_of,
    last_calls,
    reads,
    said,
    same,
    session_for,
    tasks,
    weight,
)
from rendering import render
from strategies import WIRES, Act, Say, histories, law, scripts

per_wire = pytest.mark.parametrize("wire", WIRES)


@per_wire
@given(data=st.data())
@law()
def test_1_what_is_protected_survives(wire, data):
    history, budget = data.draw(tasks(wire))
    fitted = fit_once(history, budget)
    assume(fitted is not None)
    items, sent = items_of(history), [fitted.messages, fitted.system]
    rows = {row.item: row for row in fitted.report.rows}
    for lock in fitted.report.protections:
        text = lock.text or items[lock.item].text
        if lock.level == "verbatim" and lock.whole:
            assert rows[lock.item].decision == "full", lock
        if lock.level == "verbatim" and reads([history.messages, history.system], text):  # not several parts, joined
            assert reads(sent, text), lock
    kept = {row.item for row in fitted.report.rows if row.decision != "gone"}
    assert {lock.item for lock in fitted.report.protections} <= kept


@per_wire
@given(data=st.data())
@law()
def test_1_what_the_script_says_must_stay_stays(wire, data):
    """Without asking the report: instructions, the latest user turn, calls that are not answered yet."""
    history, budget = data.draw(tasks(wire))
    fitted = fit_once(history, budget)
    assume(fitted is not None)
    script, sent = history.script, [fitted.messages, fitted.system]
    instructions = said(script, "developer") if wire.startswith("openai") else []  # elsewhere it is what the user said
    for text in [script.system, script.last_said, *instructions, *last_calls(script)]:
        assert reads(sent, text), text
    last = script.turns[-1]
    if isinstance(last, Act):
        for value in [value for call in last.calls for value in call.args.values()]:
            assert reads(sent, str(value)) or reads(sent, json.dumps(value, ensure_ascii=False))


@per_wire
@given(data=st.data())
@law(20)
def test_1_what_the_caller_declares_stays(wire, data):
    history = data.draw(histories(wire))
    spoken = [turn.text for turn in history.script.turns if isinstance(turn, Say) and len(turn.text) < 300]
    assume(spoken)
    rule, pin = data.draw(st.sampled_from(spoken)), data.draw(st.sampled_from(spoken))
    session = session_for(history, int(weight(history) * data.draw(st.floats(0.3, 0.9))) + 50)
    session.task.constrain(rule)
    session.task.pin(pin)
    fitted = fit_in(session, history)
    assume(fitted is not None)
    assert reads(fitted.messages, rule)
    assert reads(fitted.messages, pin)


@per_wire
@given(data=st.data())
@law(40)
def test_2_3_5_the_output_is_valid_fits_and_invents_nothing(wire, data):
    history, budget = data.draw(tasks(wire))
    fitted = fit_once(history, budget)
    assume(fitted is not None)
    assert_sound(history, fitted, budget)


@per_wire
@given(data=st.data())
@law()
def test_3_the_report_never_counts_less_than_is_sent(wire, data):
    from cases.checker import recount

    history, budget = data.draw(tasks(wire))
    fitted = fit_once(history, budget)
    assume(fitted is not None)
    assert recount(wire, fitted.messages, fitted.system, history.tools) <= fitted.report.after
    assert fitted.report.limit == budget
    assert weight(history) <= fitted.report.before


@per_wire
@given(data=st.data())
@law(20)
def test_3_an_error_is_raised_only_where_it_must(wire, data):
    """What may be binding, twice over, fits into the budget: then so does a safe context."""
    history = data.draw(histories(wire))
    budget = 2 * binding_weight(history) + 400
    assert fit_once(history, budget) is not None


@per_wire
@given(data=st.data())
@law(15)
def test_3_the_smallest_budget_works_and_one_less_does_not(wire, data):
    history = data.draw(histories(wire))
    with pytest.raises(BudgetUnreachable) as caught:
        session_for(history, 1).fit(history.messages, system=history.system, tools=history.tools)
    smallest = caught.value.smallest
    assert str(caught.value.needed) in str(caught.value).replace(",", "")
    assert_sound(history, fit_once(history, smallest), smallest)
    assert fit_once(history, smallest - 1) is None


@per_wire
@given(data=st.data())
@law()
def test_4_below_the_mark_the_output_is_the_input(wire, data):
    history = data.draw(histories(wire))
    session = session_for(
        history, Budget(2 * weight(history) + 20_000, high_water=data.draw(st.sampled_from((1.0, 0.9))))
    )
    for prefix in history.prefixes():
        fitted = session.fit(prefix, system=history.system, tools=history.tools)
        assert len(fitted.messages) == len(prefix)
        assert all(one is two for one, two in zip(fitted.messages, prefix, strict=True))
        assert same(fitted.system, history.system)
        assert not fitted.report.inserted
        assert {row.decision for row in fitted.report.rows} <= {"full"}
        assert fitted.report.cache.epoch == "none"
        assert fitted.report.cache.first_changed is None


@per_wire
@given(data=st.data())
@law(20)
def test_6_the_same_input_gives_the_same_bytes(wire, data):
    history, budget = data.draw(tasks(wire))
    outcomes = []
    for _ in range(2):
        fitted = fit_once(copy.deepcopy(history), budget)
        outcomes.append(fitted and (json.dumps(fitted.messages), json.dumps(fitted.system), fitted.report.to_json()))
    assert outcomes[0] == outcomes[1]


_PROGRAM = """
import json, sys
sys.path[:0] = {path!r}
from laws.test_laws import example
print(json.dumps([example(wire) for wire in {wires!r}]))
"""


def example(wire):
    """A fixed history with long results, fitted to a third of its size."""
    from strategies import Call, Reply, Script, log_text, rows_text

    turns = [Say("Find the slow module. Do NOT push to main.")]
    for n in range(6):
        call = Call("read_file", {"path": f"src/m{n}.py"}, log_text(n, 900) if n % 2 else rows_text(n, 900))
        turns += [Act((call, call), "Reading."), Reply(f"Read {n}."), Say(f"Go on with {n}.")]
    history = render(Script("You review code.", tuple(turns)), wire)
    fitted = fit_once(history, weight(history) // 3)
    return [fitted.messages, json.loads(fitted.report.to_json())]


def test_6_the_hash_seed_of_the_process_does_not_matter():
    program = _PROGRAM.format(path=[path for path in sys.path if path], wires=list(WIRES))
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0]
    assert runs[0] == runs[1]


@per_wire
@given(data=st.data())
@law(20)
def test_7_inputs_are_never_mutated(wire, data):
    history, budget = data.draw(tasks(wire))
    given_ = copy.deepcopy((history.messages, history.system, history.tools))
    fit_once(history, budget)
    assert (history.messages, history.system, history.tools) == given_


@per_wire
@given(data=st.data())
@law()
def test_10_fitting_what_was_fitted_changes_nothing(wire, data):
    history, budget = data.draw(tasks(wire))
    once = fit_once(history, budget)
    assume(once is not None)
    again = session_for(history, budget).fit(once.messages, system=once.system, tools=history.tools)
    assert same(again.messages, once.messages)
    assert same(again.system, once.system)


@given(data=st.data())
@law(15)
def test_one_script_is_treated_alike_on_all_wires(data):
    """Wires differ in framing, not in what is worth keeping: with ample room none loses a text, else all refuse."""
    script = data.draw(scripts(max_rounds=3))
    for wire in WIRES:
        history = render(script, wire)
        assert fit_once(history, 3 * weight(history) + 20_000) is not None
        assert fit_once(history, 1) is None


@per_wire
@given(data=st.data())
@law(15)
def test_fit_is_a_session_of_one_call(wire, data):
    history, budget = data.draw(tasks(wire))
    given_ = {"budget": budget, "wire": wire, "system": history.system, "tools": history.tools, "counter": "o200k"}
    try:
        direct = fit(history.messages, **given_)
    except CannotFit:
        assert fit_once(history, budget) is None
        return
    assert same(direct.messages, fit_once(history, budget).messages)


@per_wire
@given(data=st.data())
@law(15)
def test_observing_decides_and_changes_nothing(wire, data):
    history, budget = data.draw(tasks(wire))
    try:
        seen = fit(history.messages, budget=budget, wire=wire, system=history.system, tools=history.tools, observe=True)
    except BudgetUnreachable:
        return
    assert all(one is two for one, two in zip(seen.messages, history.messages, strict=True))
    assert seen.report.observed


@per_wire
@given(data=st.data())
@law(20)
def test_degrading_names_what_it_gave_up(wire, data):
    history, budget = data.draw(tasks(wire))
    fitted = fit_once(history, budget, on_unsafe="degrade")
    assume(fitted is not None)
    if not fitted.report.degraded:
        assert_sound(history, fitted, budget)
    else:
        assert fitted.report.after <= budget
        assert fit_once(history, budget) is None
