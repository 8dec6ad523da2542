"""One call at a time: order, threads beside tasks, cancellation, and where waiting would never end."""

import asyncio
import threading
import time

import pytest

from jettison import Policy, Session, SessionBusy
from jettison.archive import MemoryArchive
from jettison.gate import Aside, Gate

MESSAGES = [{"role": "user", "content": "Go on."}]


class Slow(MemoryArchive):
    """Takes its time to store, and says when it begins."""

    def __init__(self):
        super().__init__()
        self.begun, self.go, self.inside, self.most = threading.Event(), threading.Event(), 0, 0

    def put_many(self, texts, conversation="", *, release=()):
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.begun.set()
        assert self.go.wait(30)
        super().put_many(texts, conversation, release=release)
        self.inside -= 1


def long_history(turns=6):
    out = list(MESSAGES)
    for turn in range(turns):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "log", "arguments": f'{{"page": {turn}}}'}}
        out.append({"role": "assistant", "content": None, "tool_calls": [call]})
        text = "\n".join(f"row {n} says {(turn + 1) * n * 7919}" for n in range(60))
        out.append({"role": "tool", "tool_call_id": f"c{turn}", "content": text})
    return out


def slow_session():
    archive = Slow()
    session = Session(Policy(budget=1_200), archive=archive, conversation="chat")
    session._shelf.waits = True
    return session, archive


def test_those_who_come_are_let_in_in_their_order():
    gate, order, threads = Gate(), [], []

    def work(name):
        with gate.held():
            order.append(name)

    with gate.held():
        for name in range(8):
            threads.append(threading.Thread(target=work, args=(name,)))
            threads[-1].start()
            while len(gate._queue) <= name:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(8))
    assert gate._holder is None


def test_tasks_and_threads_wait_for_one_another():
    gate, inside, most = Gate(), 0, 0

    def enter():
        nonlocal inside, most
        inside += 1
        most = max(most, inside)

    def thread():
        nonlocal inside
        for _ in range(100):
            with gate.held():
                enter()
                inside -= 1

    async def task():
        nonlocal inside
        for _ in range(50):
            await gate.enter()
            enter()
            await asyncio.sleep(0)
            inside -= 1
            gate.leave()

    async def tasks():
        await asyncio.gather(*[task() for _ in range(5)])

    threads = [threading.Thread(target=thread) for _ in range(3)]
    threads += [threading.Thread(target=lambda: asyncio.run(tasks())) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert most == 1
    assert inside == 0
    assert gate._holder is None


def test_who_is_cancelled_while_waiting_holds_nothing():
    async def run():
        gate = Gate()
        await gate.enter()
        first, second = asyncio.ensure_future(gate.enter()), asyncio.ensure_future(gate.enter())
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        gate.leave()
        await second
        third = asyncio.ensure_future(gate.enter())
        await asyncio.sleep(0)
        gate.leave()  # it is third's turn …
        third.cancel()  # … which does not want it any more
        with pytest.raises(asyncio.CancelledError):
            await third
        assert gate._holder is None

    asyncio.run(run())


def test_a_task_whose_loop_was_closed_is_passed_over():
    gate = Gate()
    loop = asyncio.new_event_loop()
    with gate.held():
        waiting = loop.create_task(gate.enter())
        other = threading.Thread(target=lambda: loop.run_until_complete(asyncio.sleep(0.01)))
        other.start()
        other.join()
        assert len(gate._queue) == 1
        waiting._log_destroy_pending = False
        loop.close()
    assert gate._holder is None
    with gate.held():
        waiting.get_coro().close()
        assert gate._holder is not None


def test_a_session_called_from_within_itself_says_so():
    session = Session(Policy(budget=1_200, scorers=((1.0, lambda item, view: session.fit(MESSAGES) and 1.0),)))
    with pytest.raises(SessionBusy, match="this very thread"):
        session.fit(long_history())
    assert session.fit(MESSAGES).messages == MESSAGES


def test_fit_in_the_loop_of_an_afit_says_so():
    session, archive = slow_session()

    async def run():
        task = asyncio.ensure_future(session.afit(long_history()))
        await asyncio.to_thread(archive.begun.wait, 30)
        with pytest.raises(SessionBusy, match="use afit"):
            session.fit(MESSAGES)
        archive.go.set()
        await task
        return session.fit(long_history())

    assert asyncio.run(run()).messages != long_history()


@pytest.mark.parametrize("heavy", [False, True])
def test_the_loop_goes_on_while_a_call_waits_for_its_archive(heavy, monkeypatch):
    monkeypatch.setattr(Session, "_heavy", lambda self, call: heavy)
    session, archive = slow_session()

    async def run():
        task = asyncio.ensure_future(session.afit(long_history()))
        while not archive.begun.is_set():
            await asyncio.sleep(0.001)
        turns = 0
        for _ in range(50):
            await asyncio.sleep(0)
            turns += 1
        assert not task.done()
        archive.go.set()
        return (await task).messages, turns

    messages, turns = asyncio.run(run())
    assert turns == 50
    assert (
        messages
        == Session(Policy(budget=1_200), archive=MemoryArchive(), conversation="chat").fit(long_history()).messages
    )


def test_after_a_cancellation_the_next_call_waits_for_the_thread_at_work():
    session, archive = slow_session()

    async def run():
        before = session._state
        task = asyncio.ensure_future(session.afit(long_history()))
        await asyncio.to_thread(archive.begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert session._state is before
        again = asyncio.ensure_future(session.afit(long_history()))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not again.done()
        archive.go.set()
        fitted = await again
        assert fitted.report.call == 1
        return fitted

    fitted = asyncio.run(run())
    assert archive.most == 1
    assert all(session.recall(row.handle) for row in fitted.report.rows if row.handle)


def test_another_thread_may_wait_for_a_call_that_was_cancelled_in_this_one():
    session, archive = slow_session()
    loop = asyncio.new_event_loop()

    async def run():
        task = asyncio.ensure_future(session.afit(long_history()))
        await asyncio.to_thread(archive.begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    loop.run_until_complete(run())
    threading.Timer(0.05, archive.go.set).start()
    assert session.fit(long_history()).report.call == 1
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def test_what_runs_aside_is_over_before_the_end_is_told():
    told, go = [], threading.Event()

    async def run():
        aside = Aside(lambda: told.append("end"))
        task = asyncio.ensure_future(aside.run(lambda: go.wait(30) and told.append("work")))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        aside.close(lambda: told.append("left"))
        assert told == ["left"]
        go.set()

    asyncio.run(run())
    assert told == ["left", "work", "end"]


def test_messages_appended_during_a_fit_are_there_at_the_next():
    session, archive = slow_session()
    mine = long_history()

    def append():
        assert archive.begun.wait(30)
        mine.append({"role": "user", "content": "And this?"})
        archive.go.set()

    helper = threading.Thread(target=append)
    helper.start()
    first = session.fit(mine)
    helper.join()
    assert len(mine) == len(long_history()) + 1
    assert first.messages[-1]["role"] == "tool"
    assert session.fit(mine).messages == [*first.messages, {"role": "user", "content": "And this?"}]
