"""What the caller declares about the task."""

import pytest

from jettison.task import Operation, Task, TaskState


def test_an_operation_is_open_until_completed():
    task = Task()
    op = task.begin("refund", needs=["ORD-9913"])
    assert task.operations[op].open
    assert task.operations[op].needs == ("ORD-9913",)
    task.complete(op)
    assert not task.operations[op].open
    assert task.operations[op].closed


def test_ids_are_distinct_and_in_order():
    task = Task()
    ids = [task.begin("a"), task.begin("a"), task.begin("b")]
    assert len(set(ids)) == 3
    assert list(task.operations) == ids


def test_completing_what_was_inferred_releases_it():
    task = Task()
    task.complete("call:7", "seen in the log")
    assert "call:7" in task.released


def test_needs_is_a_list_not_a_string():
    with pytest.raises(TypeError):
        Task().begin("refund", needs="ORD-9913")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_constraint_needs_text(text):
    with pytest.raises(ValueError):
        Task().constrain(text)


def test_release_lifts_a_constraint_word_for_word():
    task = Task()
    task.constrain("never push to main")
    task.constrain("ask first")
    task.release("never push to main")
    assert task.constraints == ["ask first"]
    assert "never push to main" in task.released


def test_pins_come_and_go():
    task = Task()
    task.pin("3.0-abc")
    task.pin("3.0-abc")
    assert task.pins == {"3.0-abc"}
    task.unpin("3.0-abc")
    task.unpin("never pinned")
    assert task.pins == set()


def test_tasks_share_nothing():
    one, two = Task(), Task()
    one.constrain("x")
    one.pin("y")
    one.begin("z")
    assert (two.constraints, two.pins, two.operations) == ([], set(), {})


def test_open_operations_leave_out_the_closed():
    a, b = Operation("op-1", "refund"), Operation("op-2", "export", closed="answer seen")
    assert TaskState(operations=(a, b)).open_operations == (a,)
