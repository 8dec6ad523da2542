"""The words of a status, in several languages and spellings."""

import pytest

from jettison.flow.status_words import State, partly, state_of


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("IN_PROGRESS", State.OPEN),
        ("inProgress", State.OPEN),
        ("requires_action", State.OPEN),
        ("awaiting_user_input", State.OPEN),
        ("partially_completed", State.OPEN),
        ("NotReady", State.OPEN),
        ("done: 3 of 10", State.OPEN),
        ("ожидает оплаты", State.OPEN),
        ("не готово", State.OPEN),
        ("готово на 40%", State.OPEN),
        ("处理中", State.OPEN),
        ("accepted", State.STARTED),
        ("создана", State.STARTED),
        ("COMPLETED", State.DONE),
        ("timed_out", State.DONE),
        ("done: 10 of 10", State.DONE),
        ("отклонено", State.DONE),
        ("已完成", State.DONE),
        ("success", State.ENVELOPE),
        ("error", State.ENVELOPE),
        ("active", None),
        ("open", None),
        ("готовность склада", None),
        ("running " * 20, None),
    ],
)
def test_values(word, state):
    assert state_of(word) is state


def test_shares_that_are_less_than_all():
    assert all(map(partly, ("3 of 10", "7/10", "40%", "99,5 %", "3 из 10")))
    assert not any(map(partly, ("10 of 10", "100%", "4 files", "v1.2", "")))
