"""Has a summariser answer: the sync and the async driver of `summarise`. Any summariser serves in both.

Failures become the answer's `failure`: what is done about them is decided where the text is at hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from queue import Empty, SimpleQueue
from typing import Any

from jettison.compressors.summary import Answer, Ask, Steps
from jettison.compressors.summary_text import Refused, Summary
from jettison.errors import CutAnswer

__all__ = ["answered", "answered_async", "summarised", "summarised_async"]

LONGEST = 200
"""Characters of an error that go into the report."""


def summarised(steps: Steps) -> Summary | Refused:
    """Run `summarise` to its end, waiting for each answer."""
    try:
        ask = next(steps)
        while True:
            ask = steps.send(answered(ask))
    except StopIteration as stop:
        found: Summary | Refused = stop.value
        return found


async def summarised_async(steps: Steps) -> Summary | Refused:
    """Run `summarise` to its end without blocking the event loop."""
    try:
        ask = next(steps)
        while True:
            ask = steps.send(await answered_async(ask))
    except StopIteration as stop:
        found: Summary | Refused = stop.value
        return found


def answered(ask: Ask) -> Answer:
    """The answer, or why there is none within `ask.seconds`. An async summariser gets a loop of its own.

    The summariser runs in a thread of its own, which is left behind when it hangs: a call cannot be ended from outside.
    """
    began = time.monotonic()
    outcome: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def call() -> Any:
        given = ask.summarizer(ask.prompt, ask.max_tokens)
        return asyncio.run(_awaited(given, ask.seconds)) if inspect.isawaitable(given) else given

    _start(call, lambda given, error: outcome.put((given, error)))
    try:
        given, error = outcome.get(timeout=ask.seconds)
    except Empty:
        given, error = None, TimeoutError()
    return _answer(ask, given, error, time.monotonic() - began)


async def answered_async(ask: Ask) -> Answer:
    """`answered` for an event loop: an async summariser runs in it, a sync one in a thread of its own."""
    began = time.monotonic()
    given, error = None, None
    try:
        async with asyncio.timeout(ask.seconds):
            given = await _given(ask)
    except Exception as raised:  # noqa: BLE001 - it is the answer: the report names it
        error = raised
    return _answer(ask, given, error, time.monotonic() - began)


async def _given(ask: Ask) -> Any:
    call: Any = ask.summarizer
    if inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None)):  # noqa: B004
        return await call(ask.prompt, ask.max_tokens)
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(given: Any, error: BaseException | None) -> None:
        if future.done():  # nobody waits any more
            return
        if error is None:
            future.set_result(given)
        else:
            future.set_exception(error)

    def done(given: Any, error: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended without us
            loop.call_soon_threadsafe(settle, given, error)

    _start(lambda: call(ask.prompt, ask.max_tokens), done)
    given = await future
    return await given if inspect.isawaitable(given) else given


async def _awaited(given: Awaitable[Any], seconds: float) -> Any:
    async with asyncio.timeout(seconds):
        return await given


def _start(call: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
    context = contextvars.copy_context()

    def run() -> None:
        try:
            given = context.run(call)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits for it
            done(None, error)
        else:
            done(given, None)

    threading.Thread(target=run, name="jettison-summarizer", daemon=True).start()


def _answer(ask: Ask, given: Any, error: BaseException | None, seconds: float) -> Answer:
    if isinstance(error, CutAnswer):
        return Answer(cut=True, seconds=seconds)
    if isinstance(error, TimeoutError):
        return Answer(failure=str(error)[:LONGEST] or f"no answer within {ask.seconds:.3g} s", seconds=seconds)
    if error is not None:
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        return Answer(failure=" ".join(said[:LONGEST].split()), seconds=seconds)
    if not isinstance(given, str):
        return Answer(failure=f"the answer is {type(given).__name__}, not text", seconds=seconds)
    return Answer(given, seconds=seconds)
