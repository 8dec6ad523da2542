"""The two drivers of a session's call: one for threads, one for tasks. What they drive is the same generator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from jettison.errors import StoreConflict
from jettison.gate import Aside, Gate

__all__ = ["Effect", "Turn", "drive", "drive_async"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call has to do outside of itself. Its result is sent back, a StoreConflict thrown in."""

    function: Callable[[], Any]
    blocks: bool = True
    """It may wait for a disk or a network."""
    awaited: Callable[[], Awaitable[Any]] | None = None
    """The same for a task, where it knows better than to run in a thread."""


class Turn:
    """One call: its steps, how it is committed once they are done, and how it is undone if that never happens."""

    def __init__(self, steps: Generator[Effect, Any, T], commit: Callable[[T], Any], undo: Callable[[], None]) -> None:
        self.steps, self._commit, self._undo = steps, commit, undo

    def commit(self, result: Any) -> Any:
        """Make what the steps came to the session's state. Last, and with nothing to wait for."""
        value = self._commit(result)
        self._undo = _nothing
        return value

    def end(self) -> None:
        """Whatever was not committed leaves nothing behind."""
        self.steps.close()
        self._undo()

    def advance(self, value: Any, error: StoreConflict | None) -> tuple[bool, Any]:
        """One step further: (it was the last one, the next effect or the result)."""
        try:
            return False, self.steps.send(value) if error is None else self.steps.throw(error)
        except StopIteration as stop:
            return True, stop.value


def _nothing() -> None:
    pass


def drive(gate: Gate, begin: Callable[[], Turn]) -> Any:
    """Run a call in this thread."""
    with gate.held():
        turn = begin()
        try:
            done, result = _inside(gate, turn.advance, None, None)
            while not done:
                value, error = None, None
                try:
                    value = _inside(gate, result.function)
                except StoreConflict as conflict:
                    error = conflict
                done, result = _inside(gate, turn.advance, value, error)
            return turn.commit(result)
        finally:
            turn.end()


async def drive_async(gate: Gate, begin: Callable[[], Turn], heavy: Callable[[], bool]) -> Any:
    """Run a call in this task: what blocks, and all of it where it is `heavy`, in threads.

    Cancelled, it leaves the session as it was; the next call begins when the thread that was at work is done.
    """
    await gate.enter()
    try:
        turn = begin()
        apart = heavy()
    except BaseException:
        gate.leave()
        raise

    def end() -> None:
        try:
            turn.end()
        finally:
            gate.leave()

    aside = Aside(end)
    try:
        done, result = await _run(gate, aside, apart, turn.advance, None, None)
        while not done:
            value, error = None, None
            try:
                if result.awaited is not None:
                    with gate.inside():
                        value = await result.awaited()
                else:
                    value = await _run(gate, aside, result.blocks or apart, result.function)
            except StoreConflict as conflict:
                error = conflict
            done, result = await _run(gate, aside, apart, turn.advance, value, error)
        return turn.commit(result)
    finally:
        aside.close(gate.detach)


def _inside(gate: Gate, function: Callable[..., T], *arguments: Any) -> T:
    with gate.inside():
        return function(*arguments)


async def _run(gate: Gate, aside: Aside, apart: bool, function: Callable[..., T], *arguments: Any) -> T:
    """Here, or apart in a thread."""
    work = partial(_inside, gate, function, *arguments)
    return await aside.run(work) if apart else work()
