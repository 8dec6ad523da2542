"""One call at a time in a session, whether it comes from a thread or from a task; and work beside the event loop."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from jettison.errors import SessionBusy

__all__ = ["Aside", "Gate"]

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Ticket:
    """Who holds the gate, or waits for it."""

    thread: int
    task: bool
    wake: Callable[[], None]
    """Called once, by whoever hands the gate over. Raises RuntimeError where nobody is there to be woken."""


def _asleep() -> None:
    """Whoever found the gate open does not wait."""


@dataclass(eq=False, slots=True)
class _Work:
    """What the holder of a gate waits for: somebody else's code, which may come to the gate from a task or thread."""

    gate: Gate
    over: bool = False


_works: ContextVar[tuple[_Work, ...]] = ContextVar("jettison_works", default=())
"""Those that this context is part of, of several gates where one session calls another. Tasks and threads that are
started in one inherit it, and may outlive it."""


@dataclass(slots=True)
class Gate:
    """Those who come are let in one after another, in their order; a waiting thread sleeps, a waiting task yields.

    Raises SessionBusy where waiting would never end: in a thread that holds the gate itself, or whose event loop
    runs a task that holds it or is to have it before; and in what the holder waits for (`inside`).
    """

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _holder: _Ticket | None = None
    _queue: deque[_Ticket] = field(default_factory=deque)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it in this thread."""
        woken = threading.Event()
        ticket = _Ticket(threading.get_ident(), False, woken.set)
        if not self._enter(ticket):
            try:
                woken.wait()
            except BaseException:  # KeyboardInterrupt
                self._give_up(ticket)
                raise
        try:
            yield
        finally:
            self.leave()

    async def enter(self) -> None:
        """Hold it from here to `leave`. Cancelled while waiting, it holds nothing."""
        import asyncio  # a fifth of the import time of the package, which sync users need not pay

        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            loop.call_soon_threadsafe(lambda: None if woken.done() else woken.set_result(None))

        ticket = _Ticket(threading.get_ident(), True, wake)
        if self._enter(ticket):
            return
        try:
            await woken
        except BaseException:
            self._give_up(ticket)
            raise

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The holder waits for what runs in here, and for the tasks and threads that it starts.

        Of those nobody can tell which it awaits: until it has ended they all count as awaited, and then none does.
        """
        work = _Work(self)
        token = _works.set((*_works.get(), work))
        try:
            yield
        finally:
            work.over = True
            with suppress(ValueError):  # a task that was never finished is closed from anywhere
                _works.reset(token)

    def detach(self) -> None:
        """The holder has no thread that could be blocked by waiting for it."""
        with self._lock:
            if self._holder is not None:
                self._holder.thread = 0

    def leave(self) -> None:
        """Let the next one in. From any thread."""
        with self._lock:
            self._next()

    def _enter(self, ticket: _Ticket) -> bool:
        with self._lock:
            if self._holder is None:
                self._holder = ticket
                return True
            before = (self._holder, *self._queue)
            mine = [one for one in before if one.thread == ticket.thread]
            if any(not one.task for one in mine) or (mine and not ticket.task):
                raise SessionBusy(
                    "this session is at work in this very thread: from a scorer, counter or archive of its own it "
                    "cannot be called, and while afit() is under way in an event loop use afit() there, not fit()"
                )
            if any(work.gate is self and not work.over for work in _works.get()):
                raise SessionBusy(
                    "this session waits for the one that calls it here: a summariser, judge, embedder, archive or "
                    "store cannot call the session that it works for, nor can the tasks and threads that it has started"
                )
            self._queue.append(ticket)
            return False

    def _give_up(self, ticket: _Ticket) -> None:
        with self._lock:
            if self._holder is ticket:
                self._next()
            elif ticket in self._queue:
                self._queue.remove(ticket)

    def _next(self) -> None:
        self._holder = None
        while self._queue:
            ticket = self._queue.popleft()
            try:
                ticket.wake()
            except RuntimeError:  # its event loop was closed
                continue
            self._holder = ticket
            return


class Aside:
    """Runs blocking functions in threads for one async call.

    A thread cannot be stopped: when the call is cancelled, `close` leaves it running, and `after` is called once the
    last one has ended, so that nobody else works on the same things before.
    """

    def __init__(self, after: Callable[[], None]) -> None:
        self._after = after
        self._lock = threading.Lock()
        self._running, self._closed = 0, False

    async def run(self, function: Callable[[], T]) -> T:
        """Its result, or its exception; never StopIteration, which a future cannot carry."""
        import asyncio
        from contextvars import copy_context

        context = copy_context()

        def work() -> T:
            try:
                return context.run(function)
            finally:
                self._ended()

        with self._lock:
            self._running += 1
        try:
            future = asyncio.get_running_loop().run_in_executor(None, work)
        except BaseException:  # the loop is closing: nothing was begun
            self._ended()
            raise
        future.add_done_callback(lambda done: done.cancelled() or done.exception())  # if nobody waits any more
        return await asyncio.shield(future)

    def close(self, left: Callable[[], None]) -> None:
        """Call `after` now, or when the last function has ended; then `left` is called now."""
        with self._lock:
            self._closed = True
            last = not self._running
            if not last:
                left()
        if last:
            self._after()

    def _ended(self) -> None:
        with self._lock:
            self._running -= 1
            last = self._closed and not self._running
        if last:
            self._after()
