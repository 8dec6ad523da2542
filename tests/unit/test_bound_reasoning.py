"""Reasoning that is bound to what stands before it: what an edit may void, by model."""

import pytest

from jettison import Policy, Session, StateBroken
from jettison.errors import BudgetUnreachable
from rendering import render
from strategies import Act, Call, Reply, Say, Script, log_text


def loop(rounds):
    """One running turn of thinking and calls."""
    turns = [Say("Read all modules.")]
    turns += [
        Act((Call("read_file", {"path": f"src/m{n}.py"}, log_text(n, 900)),), thinking="Next.") for n in range(rounds)
    ]
    return render(Script("You review code.", tuple(turns)), "anthropic")


def turns(rounds):
    """Finished turns of thinking and calls."""
    out = []
    for n in range(rounds):
        out += [Say(f"Read module {n}.")]
        out += [Act((Call("read_file", {"path": f"src/m{n}.py"}, log_text(n, 900)),), thinking="Next."), Reply("Read.")]
    return render(Script("You review code.", (*out, Say("And now?"))), "anthropic")


def thinking_in(messages):
    return [at for at, message in enumerate(messages) if "'thinking'" in str(message)]


def voided(session, history, prefixes):
    """(edits, thinking blocks sent behind one, so bound to what has changed, reasoning lost by the report)."""
    edits, behind, lost = 0, 0, 0
    for prefix in prefixes:
        fitted = session.fit(prefix, system=history.system, tools=history.tools)
        cache = fitted.report.cache
        lost += cache.reasoning_lost
        if cache.first_changed is not None:
            edits += 1
            behind += sum(at >= cache.first_changed for at in thinking_in(fitted.messages))
    return edits, behind, lost


@pytest.mark.parametrize("model", ["claude-fable-5-1", "claude-opus-5-5"])
def test_between_turns_no_reasoning_stays_behind_an_edit(model):
    history = turns(20)
    asked = [prefix for prefix in history.prefixes() if "tool_result" not in str(prefix[-1])]
    edits, behind, lost = voided(Session(Policy(budget=3_000), wire="anthropic", model=model), history, asked)
    assert edits >= 2
    assert lost >= 2
    assert behind == 0


def test_in_a_running_turn_neither():
    history = turns(20)
    session = Session(Policy(budget=3_000), wire="anthropic", model="claude-fable-5-1")
    assert voided(session, history, history.prefixes())[1] == 0


def test_inside_the_running_turn_a_model_that_checks_refuses_or_drops():
    history = loop(14)
    session = Session(Policy(budget=2_500), wire="anthropic", model="claude-fable-5-1")
    with pytest.raises((StateBroken, BudgetUnreachable), match="drop"):
        epochs(session, history)
    lax = Session(Policy(budget=2_500, reasoning_drop=True), wire="anthropic", model="claude-fable-5-1")
    lost = 0
    for prefix in history.prefixes():
        lost += lax.fit(prefix, system=history.system, tools=history.tools).report.cache.reasoning_lost
    assert lost


def epochs(session, history):
    fits = [session.fit(prefix, system=history.system, tools=history.tools) for prefix in history.prefixes()]
    return sum(fitted.report.cache.epoch in ("minor", "major") for fitted in fits)


def test_a_running_turn_that_may_drop_reasoning_has_rare_epochs():
    history = loop(40)
    lax = Session(Policy(budget=6_000, reasoning_drop=True), wire="anthropic", model="claude-fable-5-1")
    assert epochs(lax, history) <= 12


def test_a_running_turn_of_a_model_that_does_not_check_has_rare_epochs():
    history = loop(40)
    assert epochs(Session(Policy(budget=6_000), wire="anthropic", model="claude-sonnet-4-5"), history) <= 12


def test_a_rewind_into_a_finished_turn_has_its_reasoning_again():
    """Evicted with its unit when the turn was over; in the branch that ends there the turn runs."""
    order = Call("get_order", {"order_id": "ORD-9913"}, log_text(1, 300))
    acts = (Act((order,)), Act((order,), thinking="Which one?"), Act((order,)), Reply("This one."))
    told = render(Script("You help.", (Say("Which?"), *acts, Say("And now?"), *acts, Say("And then?"))), "anthropic")
    session = Session(Policy(budget=700), wire="anthropic")
    session.fit(told.messages, system=told.system, tools=told.tools)
    back = session.fit(told.messages[:7], system=told.system, tools=told.tools)
    assert back.report.ok
    assert len(thinking_in(back.messages)) == 1
