"""What the caller declares about the task."""

import pytest

from jettison import Session
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


@pytest.mark.parametrize("bad", [5, None, b"ORD-1", ["ORD-1"]])
def test_what_is_declared_is_text(bad):
    """It is looked for in the history at every later call: what is no text would stop them all."""
    task = Task()
    for declare in (task.constrain, task.pin, lambda value: task.begin("x", needs=[value])):
        with pytest.raises(TypeError, match="is text as it stands in the history"):
            declare(bad)
    if bad is not None:
        with pytest.raises(TypeError, match="a goal is text"):
            task.goal = bad
    assert task == Task()


def test_an_empty_need_is_refused():
    with pytest.raises(ValueError, match="a need is a value"):
        Task().begin("x", needs=[" "])


def test_a_stage_is_one_that_was_offered():
    session = Session(1_000)
    with pytest.raises(TypeError, match=r"StagesRequired\.stages"):
        session.enter("stage 1 of 2")
    session.fit([{"role": "user", "content": "go"}])


def test_slips_of_the_pen_are_named():
    session = Session(10_000)
    session.task.pin("ORD-7701X")
    session.task.pin("ORD-7701")
    session.task.complete("op-99")
    done = session.task.begin("refund", needs=["ORD-7701"])
    session.task.complete(done)
    notes = session.fit([{"role": "user", "content": "Refund ORD-7701."}]).report.notes
    assert [note.split(":")[0] for note in notes] == [
        "complete('op-99')",
        "the pin 'ORD-7701X' is no item id and stands nowhere in the history",
    ]


LINES = "\n".join(f"09:{n % 60:02} order ORD-{n:04} packed" for n in range(100))


def worked(reads):
    out = [{"role": "user", "content": "Handle."}]
    for n in range(reads):
        function = {"name": "read", "arguments": f'{{"p":{n}}}'}
        out += [
            {"role": "assistant", "tool_calls": [{"id": f"c{n}", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": LINES.replace("ORD-", f"ORD-{n}")},
        ]
    return [*out, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "go on"}]


@pytest.mark.parametrize("how", ["constrain", "pin", "steps", "begin"])
def test_what_is_declared_too_late_comes_back_in_a_note(how):
    session, text = Session(4_000), "order ORD-00037 packed"
    for reads in range(1, 7):
        fitted = session.fit(worked(reads))
    assert text not in str(fitted.messages)
    task = session.task
    {
        "constrain": lambda: task.constrain(text),
        "pin": lambda: task.pin(text),
        "steps": lambda: task.pin(text, steps=2),
        "begin": lambda: task.begin("refund", needs=[text]),
    }[how]()
    fitted = session.fit(worked(6))
    assert text in str(fitted.messages)
    assert "from the archive" in str(fitted.messages[-1])
    again = session.fit([*worked(6), {"role": "assistant", "content": "ok"}, {"role": "user", "content": "and?"}])
    assert again.messages[: len(fitted.messages)] == fitted.messages


def test_a_pinned_item_that_is_gone_is_named():
    session = Session(4_000)
    for reads in range(1, 7):
        fitted = session.fit(worked(reads))
    gone = next(row.item for row in fitted.report.rows if row.decision == "gone")
    session.task.pin(gone)
    report = session.fit(worked(6)).report
    assert any(gone in note and "evicted before" in note for note in report.notes)


@pytest.mark.parametrize("loaded", [False, True])
def test_ids_and_pins_go_on_after_a_load(loaded):
    session = Session(20_000)
    first = session.task.begin("refund", needs=["ORD-00037"])
    session.task.pin("ORD-00038", steps=1)
    for reads in (1, 2, 3):
        session.fit(worked(reads))
    if loaded:
        session = Session.load(session.save(), 20_000)
    second = session.task.begin("ship", needs=["ORD-10041"])
    session.task.unpin("ORD-00038")
    session.task.pin("ORD-00038", steps=5)
    task = session.fit(worked(4)).report.task
    assert (first, second) == ("op-1", "op-3"), "pins are numbered as well"
    assert [op.name for op in task.open_operations] == ["refund", "ship"]
    assert [pin.what for pin in task.pins] == ["ORD-00038"]
