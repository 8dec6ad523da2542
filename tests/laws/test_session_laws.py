"""Laws 8, 9, 12 and 14, and identity: what a session remembers while the history grows, forks or is rewritten."""

import asyncio
import copy
import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cases.checker import strings
from cases.runner import Counting
from jettison import Policy, Session
from jettison.errors import CannotFit, JettisonError
from laws.support import RANKS, assert_sound, fit_in, fit_once, items_of, reads, same, session_for, tasks, weight
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, Script, histories, law, log_text

per_wire = pytest.mark.parametrize("wire", WIRES)


@per_wire
@given(data=st.data())
@law()
def test_8_fidelity_only_goes_down(wire, data):
    history, budget = data.draw(tasks(wire))
    session, last = session_for(history, budget), {}
    for prefix in history.prefixes():
        fitted = fit_in(session, history, prefix)
        if fitted is None:
            continue
        for row in fitted.report.rows:
            rank = RANKS[row.decision]
            assert rank <= last.get(row.item, 3), row
            last[row.item] = rank


@per_wire
@given(data=st.data())
@law()
def test_9_between_epochs_an_output_starts_with_the_one_before(wire, data):
    history, budget = data.draw(tasks(wire))
    session, before = session_for(history, budget), None
    for prefix in history.prefixes():
        fitted = fit_in(session, history, prefix)
        if fitted is None:
            continue
        assert_sound(history, fitted, budget, prefix)
        effect = fitted.report.cache
        assert effect.epoch in ("none", "arrival", "minor", "major")
        if before is not None:
            kept = same(fitted.messages[: len(before)], before)
            assert kept or effect.epoch in ("minor", "major")
            assert (effect.first_changed is None) == kept
            if not kept:
                changed = effect.first_changed
                assert same(fitted.messages[:changed], before[:changed])
        before = copy.deepcopy(fitted.messages)


@per_wire
def test_9_epochs_are_rare(wire):
    """A long tool loop in a quarter of its size: after an epoch there is room for several turns."""
    turns = [Say("Read all modules.")]
    turns += [Act((Call("read_file", {"path": f"src/m{n}.py"}, log_text(n, 900)),)) for n in range(60)]
    history = render(Script("You review code.", tuple(turns)), wire)
    session, epochs = session_for(history, weight(history) // 4), []
    for prefix in history.prefixes():
        epochs.append(session.fit(prefix, system=history.system, tools=history.tools).report.cache.epoch)
    rewrites = [epoch in ("minor", "major") for epoch in epochs]
    assert sum(rewrites) <= len(rewrites) / 4
    assert not any(one and two for one, two in itertools.pairwise(rewrites))


@per_wire
@given(data=st.data())
@law()
def test_12_every_handle_resolves_to_the_exact_original(wire, data):
    history, budget = data.draw(tasks(wire))
    session = session_for(history, budget)
    for prefix in history.prefixes():
        fitted = fit_in(session, history, prefix)
        if fitted is None:
            continue
        originals = items_of(history, prefix)
        for row in fitted.report.rows:
            if row.decision != "full" and originals[row.item].text:
                assert row.handle, row
            if row.handle:
                assert session.recall(row.handle) == originals[row.item].text, row


@per_wire
@given(data=st.data())
@law(20)
def test_an_operation_keeps_what_it_needs_until_it_is_done(wire, data):
    history = data.draw(histories(wire))
    texts = list(strings(history.messages))
    wanted = [value for value in ("ORD-9913", "RMA-77-b", "exp-7f31c09b", "batch=") if any(value in t for t in texts)]
    assume(wanted)
    session = session_for(history, int(weight(history) * data.draw(st.floats(0.3, 1.0))) + 20)
    op = session.task.begin("refund", needs=wanted)
    fitted = fit_in(session, history)
    assume(fitted is not None)
    assert all(reads([fitted.messages, fitted.system], value) for value in wanted)
    session.task.complete(op)
    assert fit_in(session, history) is not None


def _long(wire, rounds):
    turns = [Say("Read all modules.")]
    for n in range(rounds):
        turns += [Act((Call("read_file", {"path": f"src/m{n}.py"}, log_text(n, 1_500)),)), Reply("Read."), Say("Next.")]
    return render(Script("You review code.", tuple(turns)), wire)


@per_wire
@pytest.mark.parametrize("share", [2.0, 0.5])
def test_14_a_warm_call_counts_what_is_new(wire, share):
    """Characters counted by a call on a long history with one new turn: of the order of that turn, with no epoch."""
    history, counter = _long(wire, 150), Counting()
    session = Session(Policy(budget=int(weight(history) * share), counter=counter), wire=wire)
    costs = []
    for at in range(-12, 0):
        cut = history.cuts[at]
        new = sum(map(len, strings(history.messages[history.cuts[at - 1] : cut])))
        before = counter.characters
        fitted = session.fit(history.messages[:cut], system=history.system, tools=history.tools)
        costs.append((fitted.report.cache.epoch, counter.characters - before, new))
    quiet = [(counted, new) for epoch, counted, new in costs[1:] if epoch == "none"]
    assert len(quiet) >= 6
    assert all(counted <= 2 * new + 500 for counted, new in quiet), costs


@per_wire
def test_14_a_cold_call_counts_each_text_about_once(wire):
    """The whole history, evicted to half: twice as long a history takes about twice the counting, not four times."""
    counted = {}
    for rounds in (40, 80):
        history, counter = _long(wire, rounds), Counting()
        Session(Policy(budget=weight(history) // 2, counter=counter), wire=wire).fit(
            history.messages, system=history.system, tools=history.tools
        )
        counted[rounds] = counter.characters
        assert counter.characters <= 4 * sum(map(len, strings(history.messages)))
    assert counted[80] <= 2.6 * counted[40]


@per_wire
@given(data=st.data())
@law(20)
def test_callers_may_change_their_own_list_between_calls(wire, data):
    """The session aligns with a private snapshot: what it gave back, and what it was given, may be edited."""
    history, budget = data.draw(tasks(wire))
    session, mine = session_for(history, budget), copy.deepcopy(history.messages)
    fit_in(session, history, mine[: history.cuts[0]])
    first = fit_in(session, history, mine)
    if first is not None:
        first.messages.append({"role": "user", "content": "not mine"})
    place = data.draw(st.integers(0, len(mine) - 1))
    edited = _edit(wire, mine, place)
    second = fit_in(session, history, mine)
    assume(second is not None)
    assert_sound(history, second, budget, mine)
    assert not reads(second.messages, "not mine")
    if edited and place >= len(mine) - 1:
        assert reads(second.messages, "edited by the caller")


def _edit(wire, messages, place):
    """Rewrite the text of a user message in place; returns whether there was one."""
    message = messages[place]
    key = "parts" if wire == "gemini" else "content"
    if message.get("role") != "user" or not message.get(key):
        return False
    if isinstance(message[key], str):
        message[key] = "edited by the caller"
        return True
    for block in message[key]:
        if "text" in block:
            block["text"] = "edited by the caller"
            return True
    return False


@per_wire
@given(data=st.data())
@law(20)
def test_a_fork_or_a_rewind_does_not_confuse_the_session(wire, data):
    history, budget = data.draw(tasks(wire))
    other = data.draw(histories(wire))
    session = session_for(history, budget)
    fit_in(session, history)
    shared = history.messages[: data.draw(st.sampled_from(history.cuts))]
    again = fit_in(session, history, shared)
    if again is not None:
        assert_sound(history, again, budget, shared)
    fitted = fit_in(session, other)
    if fitted is not None:
        assert_sound(other, fitted, budget)
    back = fit_in(session, history)
    if back is not None:
        assert_sound(history, back, budget)


@per_wire
@given(data=st.data())
@law(15)
def test_a_session_on_its_first_call_is_fresh_after_a_failure(wire, data):
    """State commits last: a call that raised leaves nothing behind."""
    history, budget = data.draw(tasks(wire))
    session = session_for(history, budget)
    system = history.system
    with pytest.raises((JettisonError, ValueError, TypeError)):
        session.fit([{"role": object()}], system=system, tools=history.tools)
    one, two = fit_in(session, history), fit_once(history, budget)
    assert (one is None) == (two is None)
    assert one is None or same(one.messages, two.messages)


@per_wire
@given(data=st.data())
@law(15)
def test_the_same_history_again_gives_the_same_output(wire, data):
    history, budget = data.draw(tasks(wire))
    session = session_for(history, budget)
    one = fit_in(session, history)
    two = fit_in(session, history)
    assert (one is None) == (two is None)
    if one is not None and two is not None:
        assert same(one.messages, two.messages)
        assert two.report.cache.epoch == "none"


@per_wire
@given(data=st.data())
@law(15)
def test_async_is_the_same_logic(wire, data):
    history, budget = data.draw(tasks(wire))
    one, two = session_for(history, budget), session_for(history, budget)

    async def run(prefix):
        return await two.afit(prefix, system=history.system, tools=history.tools)

    for prefix in history.prefixes():
        expected = fit_in(one, history, prefix)
        if expected is None:
            with pytest.raises(CannotFit):
                asyncio.run(run(prefix))
        else:
            assert same(asyncio.run(run(prefix)).messages, expected.messages)
