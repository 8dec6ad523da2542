"""A session as bytes, and what several that share a store declare."""

import pytest

from jettison import Session
from jettison.errors import StoreConflict
from jettison.store import MemoryStore
from jettison.task import Stage, Task

HISTORY = [{"role": "user", "content": "Refund ORD-17. Do not ship ORD-18."}]
STAGE = Stage("stage 1 of 2", ("op-1",), (), 0, ("op-2",), "[hand-over of stage 1 of 2, a note from the session]")


@pytest.fixture(params=["one", "one a request"])
def session(request):
    """The session of the next request: the one that lives on, or a new one on the same store."""
    store = MemoryStore()
    known = [Session(5_000, store=store, conversation="chat")]

    def next_one():
        return known[0] if request.param == "one" else Session(5_000, store=store, conversation="chat")

    return next_one


def declared(session):
    task = session.fit(HISTORY).report.task
    return {
        "open": [op.name for op in task.open_operations],
        "rules": [rule.text for rule in task.constraints],
        "pins": {pin.what: pin.until for pin in task.pins},
        "goal": task.declared_goal,
    }


def test_what_was_declared_is_lifted_at_a_later_request(session):
    first = session()
    ops = [first.task.begin(name, needs=["ORD-17"]) for name in ("refund", "ship")]
    first.task.constrain("Refund ORD-17.")
    first.task.pin("ORD-17")
    first.task.goal = "Refund ORD-17."
    everything = {"open": ["refund", "ship"], "pins": {"ORD-17": "unpinned by the caller"}, "goal": "Refund ORD-17."}
    assert declared(first) == {**everything, "rules": ["Do not ship ORD-18.", "Refund ORD-17."]}
    second = session()
    second.task.complete(ops[0], "the money is back")
    second.task.release(ops[1])
    second.task.release("Refund ORD-17.")
    second.task.release("Do not ship ORD-18.")
    second.task.unpin("ORD-17")
    second.task.goal = None
    nothing = {"open": [], "rules": [], "pins": {}, "goal": None}
    assert declared(second) == nothing
    third = session()
    assert declared(third) == nothing
    assert [op.closed for op in third.task.operations.values()] == ["the money is back", "completed by the caller"]


def test_what_was_lifted_holds_again_when_it_is_declared_again(session):
    for _ in range(2):
        one = session()
        one.task.constrain("Refund ORD-17.")
        one.task.pin("ORD-17", steps=5)
        assert declared(one)["rules"] == ["Do not ship ORD-18.", "Refund ORD-17."]
        one = session()
        one.task.pin("ORD-17")
        assert declared(one)["pins"] == {"ORD-17": "unpinned by the caller"}, "no longer for 5 steps"
        one = session()
        one.task.release("Refund ORD-17.")
        one.task.unpin("ORD-17")
        assert declared(one)["rules"] == ["Do not ship ORD-18."]
        assert not one.task.pins


def test_a_stage_is_left_at_a_later_request(session):
    first = session()
    first.enter(STAGE)
    first.fit(HISTORY)
    second = session()
    second.commit()
    assert second.task.stage == STAGE, "it is not left by itself"
    second.leave()
    second.fit(HISTORY)
    third = session()
    third.refresh()
    assert third.task.stage is None


def test_who_never_saw_it_lifts_it_also_where_another_worker_is_faster():
    class Racing(MemoryStore):
        """Another worker saves between a load and the save after it, once."""

        rival = None

        def save(self, conversation, data, expected=0):
            if self.rival is not None:
                rival, self.rival = self.rival, None
                rival.commit()
                raise StoreConflict(conversation)
            return super().save(conversation, data, expected)

    store = Racing()
    first, other, second = (Session(5_000, store=store, conversation="chat") for _ in range(3))
    op = first.task.begin("refund", needs=["ORD-17"])
    first.task.pin("ORD-17")
    first.fit(HISTORY)
    other.task.constrain("Refund ORD-17.")
    store.rival = other
    second.task.complete(op)
    second.task.unpin("ORD-17")
    assert declared(second) == {
        "open": [],
        "rules": ["Do not ship ORD-18.", "Refund ORD-17."],
        "pins": {},
        "goal": None,
    }
    other.refresh()
    assert not other.task.operations[op].open
    assert not other.task.pins


def test_lifted_once_it_can_be_declared_by_another_worker():
    """What was lifted is not lifted again with every later request of the one that did it."""
    store = MemoryStore()
    one, two = (Session(5_000, store=store, conversation="chat") for _ in range(2))
    one.task.release("Refund ORD-17.")
    one.task.unpin("ORD-17")
    one.fit(HISTORY)
    two.task.constrain("Refund ORD-17.")
    two.task.pin("ORD-17")
    two.fit(HISTORY)
    assert declared(one) == declared(two)
    assert one.task.pins == {"ORD-17"}
    assert one.task.constraints == ["Refund ORD-17."]
    one.task.release("Refund ORD-17.")
    assert declared(one)["rules"] == ["Do not ship ORD-18."]


def test_an_id_that_was_completed_by_mistake_does_not_close_what_begins_later():
    session = Session(5_000)
    session.task.complete("op-1")
    assert session.task.begin("refund", needs=["ORD-17"]) == "op-1"
    again = Session.load(session.save(), 5_000)
    assert declared(again)["open"] == ["refund"]


def test_what_is_told_is_no_part_of_a_task():
    one, two = Task(), Task()
    one.pin("ORD-17")
    one.unpin("ORD-17")
    assert one == two
    assert repr(one) == repr(two)
