"""Runs one job at a time beside the calls of a session, in a thread or as a task; nobody waits for it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Generator, Hashable
from typing import Any

from jettison.carrying import carried, carried_async
from jettison.plan import Semantic
from jettison.relevance.ahead import Found, Job
from jettison.relevance.cascade import consult
from jettison.waiting import failure_of

__all__ = ["Background"]


class Background:
    """`start` and `start_task` return at once; what was found waits for `taken`. Safe between threads.

    A job that fails is a note of what it found. One that hangs is over when its embedder and judge are out of time; it
    holds up no call and no end of the process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._key: Hashable = None
        self._found: list[Found] = []
        self._task: asyncio.Task[None] | None = None

    def start(self, job: Job) -> None:
        """Run it in a thread."""
        if self._begun(job):
            context = contextvars.copy_context()
            threading.Thread(target=context.run, args=(self._run, job), name="jettison-ahead", daemon=True).start()

    def start_task(self, job: Job) -> None:
        """Run it as a task of the running event loop: async clients stay on the loop that they belong to."""
        if self._begun(job):
            self._task = asyncio.get_running_loop().create_task(self._arun(job), name="jettison-ahead")

    def taken(self) -> Found | None:
        """What was found since the last time."""
        with self._lock:
            return self._found.pop(0) if self._found else None

    def wait(self, seconds: float) -> bool:
        """Whether no job is at work, within these seconds. Not in the event loop that runs it."""
        return self._idle.wait(seconds)

    def _begun(self, job: Job) -> bool:
        with self._lock:
            if not self._idle.is_set() or self._found or job.key == self._key:
                return False
            self._idle.clear()
            self._key = job.key
            return True

    def _ended(self, found: Found | None) -> None:
        with self._lock:
            if found is not None:
                self._found.append(found)
            self._idle.set()

    def _run(self, job: Job) -> None:
        found = None
        try:
            steps, effect = _begin(job)
            while not isinstance(effect, Semantic):
                effect = _next(steps, carried(effect))
            found = Found(job.memory, effect.spent, effect.notes)
        except Exception as error:  # noqa: BLE001 - it is the answer: the report of the call that takes it in names it
            found = Found(notes=(failure_of(error, 0),))
        finally:
            self._ended(found)

    async def _arun(self, job: Job) -> None:
        found = None
        try:
            steps, effect = await asyncio.to_thread(_begin, job)
            while not isinstance(effect, Semantic):
                effect = await asyncio.to_thread(_next, steps, await carried_async(effect))
            found = Found(job.memory, effect.spent, effect.notes)
        except Exception as error:  # noqa: BLE001 - as above; a cancelled job has found nothing
            found = Found(notes=(failure_of(error, 0),))
        finally:
            self._ended(found)


def _begin(job: Job) -> tuple[Generator[Any, Any, Semantic], Any]:
    steps = consult(job.begin(), job.memory)
    return steps, _next(steps, None)


def _next(steps: Generator[Any, Any, Semantic], answer: Any) -> Any:
    """The next effect, or at the end what the cascade says."""
    send: Callable[[Any], Any] = steps.send
    try:
        return send(answer)
    except StopIteration as stop:
        return stop.value
