"""The judge asked before it is needed: what is asked, and what comes of it.

A job runs the cascade on a copy of what the session knows. It finds vectors and verdicts by content hash, nothing else.
A call takes them in where an epoch is due, as the answer to an effect: from recorded answers a run is the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

from jettison.plan import Semantic, Spent
from jettison.relevance.cascade import Consulted, Memory

__all__ = ["Found", "Job", "TakeIn", "added", "taken_in"]


@dataclass(frozen=True, slots=True)
class Job:
    """One question to be asked beside the calls."""

    key: Hashable
    """What it is about: of two jobs in a row with one key the second is not begun."""
    begin: Callable[[], Consulted]
    """Reads the history: not on the path of a call."""
    memory: Memory
    """A copy."""


@dataclass(frozen=True, slots=True)
class TakeIn:
    """Effect: what was found since the last time. Its answer is a `Found`, or None; nothing is waited for."""


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a job."""

    memory: Memory = field(default_factory=Memory)
    spent: Spent = field(default_factory=Spent)
    notes: tuple[str, ...] = ()


def taken_in(found: Found, memory: Memory) -> dict[bytes, object]:
    """Take it into what the session knows. Returns the vectors that are new."""
    fresh = {key: row for key, row in found.memory.vectors.items() if key not in memory.vectors}
    memory.vectors.update(fresh)
    memory.verdicts.update(found.memory.verdicts)
    memory.calls += found.spent.judge_calls
    memory.scale = memory.scale or found.memory.scale
    return fresh


def added(semantic: Semantic, found: Found) -> Semantic:
    """A call's own, with what the jobs before it took."""
    mine, theirs = semantic.spent, found.spent
    total = Spent(
        mine.embedded + theirs.embedded,
        mine.embed_seconds + theirs.embed_seconds,
        mine.judged + theirs.judged,
        mine.judge_calls + theirs.judge_calls,
        mine.judge_tokens + theirs.judge_tokens,
        mine.judge_seconds + theirs.judge_seconds,
    )
    return replace(semantic, spent=total, notes=(*(f"ahead: {note}" for note in found.notes), *semantic.notes))
