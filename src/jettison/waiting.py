"""Waits for somebody else's code (a summariser, an embedder, a judge), sync or async, and never longer than allowed."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

__all__ = ["Waited", "failure_of", "waited", "waited_async"]

LONGEST = 200
"""Characters of an error that go into the report."""


@dataclass(frozen=True, slots=True)
class Waited:
    """What came of a call."""

    given: Any
    error: BaseException | None
    seconds: float


def waited(call: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> Waited:
    """`call(*arguments)`, or a TimeoutError after `seconds`. What is awaitable gets a loop of its own.

    It runs in a thread of its own, which is left behind when it hangs: a call cannot be ended from outside.
    """
    began = time.monotonic()
    outcome: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def work() -> Any:
        given = call(*arguments)
        return asyncio.run(_awaited(given, seconds)) if inspect.isawaitable(given) else given

    _start(work, lambda given, error: outcome.put((given, error)))
    try:
        given, error = outcome.get(timeout=seconds)
    except Empty:
        given, error = None, TimeoutError()
    return Waited(given, error, time.monotonic() - began)


async def waited_async(call: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> Waited:
    """`waited` for an event loop: an async callable runs in it, a sync one in a thread of its own."""
    began = time.monotonic()
    given, error = None, None
    try:
        async with asyncio.timeout(seconds):
            given = await _given(call, arguments)
    except Exception as raised:  # noqa: BLE001 - it is the answer: the report names it
        error = raised
    return Waited(given, error, time.monotonic() - began)


def failure_of(error: BaseException, seconds: float) -> str:
    """An error in one line, for the report; `seconds` is what was allowed."""
    if isinstance(error, TimeoutError):
        return str(error)[:LONGEST] or f"no answer within {seconds:.3g} s"
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    return " ".join(said[:LONGEST].split())


async def _given(call: Any, arguments: tuple[Any, ...]) -> Any:
    if inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None)):  # noqa: B004
        return await call(*arguments)
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

    _start(lambda: call(*arguments), done)
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

    threading.Thread(target=run, name="jettison-waiting", daemon=True).start()
