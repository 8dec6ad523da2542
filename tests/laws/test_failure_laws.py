"""Law 13, and broken input: a failure inside never yields an over-budget or incomplete request."""

import copy

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cases.checker import problems, recount
from jettison import fit
from jettison.errors import CannotFit, InvalidInput, JettisonError
from jettison.tokens import o200k
from laws.support import assert_sound, broken, fit_once, items_of, same, session_for, tasks, weight
from strategies import WIRES, histories, law

per_wire = pytest.mark.parametrize("wire", WIRES)


class Down(RuntimeError):
    """What a back end raises."""


class Flaky:
    """o200k that fails from its `after`-th call on, until it is mended."""

    name = "flaky"
    error = "exact while it works"

    def __init__(self, after: int) -> None:
        self.left = after
        self.mended = False

    def __call__(self, text: str) -> int:
        self.left -= 1
        if self.left < 0 and not self.mended:
            raise Down("counter is down")
        return o200k(text)


@per_wire
@given(data=st.data())
@law()
def test_13_a_counter_that_fails(wire, data):
    history, budget = data.draw(tasks(wire))
    counter = Flaky(data.draw(st.integers(0, 60)))
    session = session_for(history, budget, counter=counter)
    try:
        fitted = session.fit(history.messages, system=history.system, tools=history.tools)
    except (Down, JettisonError):
        pass
    else:
        assert_sound(history, fitted, budget)
        assert counter.left >= 0 or fitted.report.notes
    counter.mended = True
    expected = fit_once(history, budget, counter=Flaky(10**9))
    try:
        again = session.fit(history.messages, system=history.system, tools=history.tools)
    except CannotFit:
        assert expected is None
    else:
        assert expected is not None
        assert same(again.messages, expected.messages)


class BrokenArchive:
    """An archive that stores nothing."""

    def put(self, *args, **kwargs):
        raise Down("disk full")

    get = search = put


@per_wire
@given(data=st.data())
@law(20)
def test_13_an_archive_that_fails(wire, data):
    """No stub is written for what could not be stored."""
    history, budget = data.draw(tasks(wire))
    session = session_for(history, budget, archive=BrokenArchive())
    try:
        fitted = session.fit(history.messages, system=history.system, tools=history.tools)
    except (Down, JettisonError):
        return
    assert_sound(history, fitted, budget)
    assert not [row for row in fitted.report.rows if row.handle]


@per_wire
@given(data=st.data())
@law()
def test_a_history_with_a_hole_is_refused_or_repaired(wire, data):
    """One message is missing: calls or results lost their partner. Named with place, rule and repair; or repaired.

    Not the first: that a history opens with a user turn is not what `repair` is for.
    """
    history = data.draw(histories(wire))
    assume(len(history.messages) > 1)
    place = data.draw(st.integers(1, len(history.messages) - 1))
    holed = copy.deepcopy(history.messages)
    del holed[place]
    assume(holed)
    options = {"budget": 3 * weight(history) + 20_000, "wire": wire, "system": history.system, "tools": history.tools}
    before = copy.deepcopy(holed)
    try:
        fitted = fit(holed, counter="o200k", **options)
    except InvalidInput as error:
        if not all(problem.position and problem.rule and problem.repair for problem in error.problems):
            raise AssertionError(f"a problem without place, rule or repair: {error.problems}") from error
    else:
        unsound = broken(wire, before, fitted.messages, fitted.system, history.tools)
        assert not unsound or not fitted.report.sendable
    try:
        mended = fit(holed, repair=True, counter="o200k", **options)
    except InvalidInput as error:
        if any(problem.call_id for problem in error.problems):
            raise AssertionError(f"calls were not repaired: {error.problems}") from error
        return
    assert not broken(wire, before, mended.messages, mended.system, history.tools)
    assert (
        all("in a row" in text for text in problems(wire, before)) or mended.report.repaired or mended.report.inserted
    )
    assert holed == before


@per_wire
@given(data=st.data())
@law(20)
def test_a_repaired_history_is_fitted_like_any(wire, data):
    history, budget = data.draw(tasks(wire))
    assume(len(history.messages) > 1)
    place = data.draw(st.integers(1, len(history.messages) - 1))
    holed = history.messages[:place] + history.messages[place + 1 :]
    assume(holed)
    try:
        fitted = fit(
            holed, budget=budget, wire=wire, system=history.system, tools=history.tools, repair=True, counter="o200k"
        )
    except (CannotFit, InvalidInput):
        return
    assert not broken(wire, holed, fitted.messages, fitted.system, history.tools)
    assert recount(wire, fitted.messages, fitted.system, history.tools) <= budget
    assert all(check.ok for check in fitted.report.checks.values())


@per_wire
def test_lone_surrogates_are_replaced_and_reported(wire):
    from rendering import render
    from strategies import Act, Call, Say, Script

    bad = "ok \ud83d tail \udc00 end"
    call = Call("run", {"cmd": "cat blob"}, bad)
    history = render(Script("Be exact.", (Say("Show it."), Act((call,)), Say("What was that?"))), wire)
    fitted = fit_once(history, 5_000)
    assert not problems(wire, fitted.messages, fitted.system, history.tools)
    assert fitted.report.notes
    assert items_of(history)
