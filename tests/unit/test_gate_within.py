"""A session called by what it waits for: where that would never end, and where it is only a matter of waiting."""

import asyncio
import contextvars
import threading

import pytest

from jettison import Policy, Session, SessionBusy
from jettison.archive import MemoryArchive
from jettison.driving import Effect, Turn, drive, drive_async
from jettison.gate import Gate

HISTORY = [{"role": "user", "content": "Start."}]
for number in range(30):
    HISTORY.append({"role": "assistant", "content": f"Answer {number}: " + "what was found in the queue, " * 12})
    HISTORY.append({"role": "user", "content": f"Question {number}?"})
SECONDS = 20
"""After which a test that would hang has failed."""


async def in_a_group(made):
    async with asyncio.TaskGroup() as group:
        task = group.create_task(made)
    return task.result()


async def in_a_task_in_a_task(made):
    async def inner():
        return await asyncio.create_task(made)

    return await asyncio.create_task(inner())


WAITS = {
    "await": lambda session: session.afit(HISTORY[:1]),
    "body": lambda session: session.afit_request({"messages": HISTORY[:1]}),
    "task": lambda session: asyncio.create_task(session.afit(HISTORY[:1])),
    "task in a task": lambda session: in_a_task_in_a_task(session.afit(HISTORY[:1])),
    "gather": lambda session: asyncio.gather(session.afit(HISTORY[:1]), asyncio.sleep(0)),
    "group": lambda session: in_a_group(session.afit(HISTORY[:1])),
    "wait_for": lambda session: asyncio.wait_for(session.afit(HISTORY[:1]), SECONDS),
    "thread": lambda session: asyncio.to_thread(session.fit, HISTORY[:1]),
    "commit": lambda session: session.acommit(),
    "loop in a thread": lambda session: asyncio.to_thread(lambda: asyncio.run(session.afit(HISTORY[:1]))),
}


def busy_in(error):
    """The SessionBusy in an error, or in a group of them."""
    return error if isinstance(error, SessionBusy) else error.exceptions[0]


class Asking:
    """An async summariser that has something done first, and keeps what came of it."""

    def __init__(self, first):
        self.first, self.found = first, []

    async def __call__(self, prompt, max_tokens):
        try:
            self.found.append(await self.first())
        except (SessionBusy, ExceptionGroup) as error:
            self.found.append(busy_in(error))
        return "The queue was looked at."


def made(asking, **more):
    return Session(Policy(budget=1_000, summarizer=asking), **more)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, SECONDS))


def all_busy(found):
    return found and all(isinstance(one, SessionBusy) and "waits for the one that calls" in str(one) for one in found)


@pytest.mark.parametrize("how", WAITS)
@pytest.mark.parametrize("sync", [False, True])
def test_a_summariser_that_awaits_its_own_session_is_told_at_once(how, sync):
    """`fit` gives an async summariser a loop in another thread."""
    asking = Asking(lambda: WAITS[how](session))
    session = made(asking)
    fitted = session.fit(HISTORY) if sync else run(session.afit(HISTORY))
    assert all_busy(asking.found)
    assert "[summary of" in str(fitted.messages)
    assert session.fit(HISTORY).messages == fitted.messages, "the gate is open again"


@pytest.mark.parametrize("sync", [False, True])
def test_so_is_one_that_is_no_coroutine(sync):
    found = []

    def summarizer(prompt, max_tokens):
        for call in (lambda: session.fit(HISTORY[:1]), lambda: asyncio.run(session.afit(HISTORY[:1]))):
            with pytest.raises(SessionBusy) as caught:
                call()
            found.append(caught.value)
        return "The queue was looked at."

    session = made(summarizer)
    fitted = session.fit(HISTORY) if sync else run(session.afit(HISTORY))
    assert all_busy(found)
    assert "[summary of" in str(fitted.messages)


def test_what_it_lets_through_is_in_the_report():
    async def summarizer(prompt, max_tokens):
        await session.afit(HISTORY[:1])

    session = made(summarizer)
    notes = " ".join(run(session.afit(HISTORY)).report.notes)
    assert "SessionBusy: this session waits for the one that calls it" in notes


def test_an_archive_that_calls_its_session_is_told():
    class Calling(MemoryArchive):
        def put_many(self, texts, conversation="", *, release=()):
            asyncio.run(session.afit(HISTORY[:1]))

    session = Session(Policy(budget=1_000), archive=Calling(), conversation="chat")
    session._shelf.waits = True
    with pytest.raises(SessionBusy):
        run(session.afit(HISTORY))


def test_another_session_may_be_called_unless_it_calls_back():
    back, there = Asking(lambda: session.afit(HISTORY[:1])), []
    other = made(back)

    async def first():
        there.append((await other.afit(HISTORY)).messages)

    asking = Asking(first)
    session = made(asking)
    run(session.afit(HISTORY))
    assert "[summary of" in str(there)
    assert all_busy(back.found)
    assert not any(asking.found)


class Slow(MemoryArchive):
    """Takes its time to store, and says when it begins."""

    def __init__(self):
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def put_many(self, texts, conversation="", *, release=()):
        self.begun.set()
        assert self.go.wait(SECONDS)
        super().put_many(texts, conversation, release=release)


def test_a_task_that_outlives_the_summariser_waits_for_the_rest_of_the_call():
    started, archive = [], Slow()

    async def first():
        started.append(asyncio.create_task(session.afit(HISTORY)))

    session = made(Asking(first), archive=archive, conversation="chat")
    session._shelf.waits = True

    async def both():
        call = asyncio.create_task(session.afit(HISTORY))
        await asyncio.to_thread(archive.begun.wait, SECONDS)
        while not session._gate._queue:
            await asyncio.sleep(0.001)
        assert not started[0].done()
        archive.go.set()
        return await call, await started[0]

    one, two = run(both())
    assert one.messages == two.messages
    assert (one.report.call, two.report.call) == (1, 2)


@pytest.mark.parametrize("thread", [False, True])
def test_a_worker_that_was_started_in_a_summariser_may_call_later(thread):
    """Also while the session is at work again, for a call that does not wait for it."""
    begin, workers, asked = asyncio.Event(), [], []

    async def work():
        await begin.wait()
        longer = [*HISTORY, {"role": "assistant", "content": "Hm."}]
        return await (asyncio.to_thread(session.fit, longer) if thread else session.afit(longer))

    async def first():
        asked.append(session._state.call)
        if not workers:
            workers.append(asyncio.create_task(work()))
        elif session._state.call:
            begin.set()
            while not session._gate._queue:
                await asyncio.sleep(0.001)

    session = made(Asking(first))

    async def both():
        return await session.afit(HISTORY[:41]), await session.afit(HISTORY), await workers[0]

    one, two, three = run(both())
    assert {0, 1} <= set(asked)
    assert [one.report.call, two.report.call, three.report.call] == [1, 2, 3]


def test_others_wait_while_a_summariser_is_at_work():
    asked = asyncio.Event()

    async def first():
        asked.set()
        while len(session._gate._queue) < 2:
            await asyncio.sleep(0.001)

    session = made(Asking(first))

    async def both():
        call = asyncio.create_task(session.afit(HISTORY))
        await asked.wait()
        beside = asyncio.create_task(session.afit(HISTORY))
        return await asyncio.gather(call, beside, asyncio.to_thread(session.fit, HISTORY))

    fitted = run(both())
    assert {one.report.call for one in fitted} == {1, 2, 3}
    assert fitted[0].messages == fitted[1].messages == fitted[2].messages


@pytest.mark.parametrize("sync", [False, True])
def test_what_a_finished_call_starts_is_nothing_that_it_waits_for(sync):
    """As a judge in the background is started: while the gate is held, by the context of the call."""
    gate, order = Gate(), []

    def work():
        try:
            with gate.held():
                order.append("work")
        except SessionBusy:
            order.append("busy")

    def commit(value):
        thread = threading.Thread(target=contextvars.copy_context().run, args=(work,))
        thread.start()
        while not gate._queue and not order:
            thread.join(0.001)
        order.append(value)
        return thread

    def steps():
        return (yield Effect(lambda: "call"))

    def begin():
        return Turn(steps(), commit, lambda: None)

    thread = drive(gate, begin) if sync else run(drive_async(gate, begin, lambda: False))
    thread.join(SECONDS)
    assert order == ["call", "work"]
    assert gate._holder is None


def steps_that_wait():
    yield Effect(lambda: None, True, lambda: asyncio.get_running_loop().create_future())


def waiting(gate):
    return drive_async(gate, lambda: Turn(steps_that_wait(), lambda value: value, lambda: None), lambda: False)


def test_whoever_cancels_a_call_may_call_again():
    gate = Gate()

    async def both():
        task = asyncio.create_task(waiting(gate))
        while gate._holder is None:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await gate.enter()
        gate.leave()

    run(both())
    assert gate._holder is None


def test_a_call_may_be_closed_from_another_context():
    """As the interpreter does with what is left of a loop."""
    gate = Gate()
    call = waiting(gate)

    async def begin():
        call.send(None)

    run(begin())
    assert gate._holder is not None
    call.close()
    assert gate._holder is None
