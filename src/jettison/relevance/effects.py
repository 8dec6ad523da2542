"""What the cascade wants done by others, and what comes of it: one logic for sync and async, and for replay.

`embedded` and `judged` carry an effect out; a recorded run sends the recorded answers instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jettison.errors import ArchiveError
from jettison.protocols import Embedder, Judge, Question, VectorCache
from jettison.relevance.vectors import checked, packed, unpacked
from jettison.waiting import Waited, failure_of, waited, waited_async

__all__ = [
    "Embed",
    "Judging",
    "Keep",
    "LookUp",
    "Vectors",
    "Verdict",
    "embedded",
    "embedded_async",
    "judged",
    "judged_async",
    "kept",
    "looked_up",
]


@dataclass(frozen=True, slots=True)
class Embed:
    """Effect: turn these texts into vectors."""

    embedder: Embedder
    texts: tuple[str, ...]
    seconds: float
    """After which there is no answer."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """What came of an `Embed`: a row a text, or why there is none."""

    rows: list[Any] = field(default_factory=list)
    failure: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Judging:
    """Effect: ask the judge."""

    judge: Judge
    question: Question
    seconds: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a `Judging`: its text, or why there is none."""

    text: str = ""
    failure: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class LookUp:
    """Effect: the vectors that an earlier session left in the archive, by content hash."""

    embedder: str
    """Its `identity`."""
    keys: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Effect: leave these for later sessions. Its answer is why it failed, empty when it did not."""

    embedder: str
    vectors: Mapping[bytes, Any]


def looked_up(effect: LookUp, cache: VectorCache) -> Vectors:
    """What is there, in the order of the keys, None where there is none. A cache that fails knows nothing."""
    try:
        found = cache.vectors(effect.embedder, effect.keys)
        return Vectors([unpacked(found[key]) if key in found else None for key in effect.keys])
    except (ArchiveError, ValueError) as error:
        return Vectors(failure=failure_of(error, 0))


def kept(effect: Keep, cache: VectorCache, conversation: str) -> str:
    """Keep them for the conversation."""
    try:
        cache.put_vectors(effect.embedder, {key: packed(row) for key, row in effect.vectors.items()}, conversation)
    except ArchiveError as error:
        return failure_of(error, 0)
    return ""


def embedded(effect: Embed) -> Vectors:
    """Carry it out, waiting no longer than `effect.seconds`."""
    return _vectors(effect, waited(_call(effect), (list(effect.texts),), effect.seconds))


async def embedded_async(effect: Embed) -> Vectors:
    """`embedded` for an event loop."""
    return _vectors(effect, await waited_async(_call(effect), (list(effect.texts),), effect.seconds))


def judged(effect: Judging) -> Verdict:
    """Carry it out, waiting no longer than `effect.seconds`."""
    return _verdict(effect, waited(effect.judge, (effect.question,), effect.seconds))


async def judged_async(effect: Judging) -> Verdict:
    """`judged` for an event loop."""
    return _verdict(effect, await waited_async(effect.judge, (effect.question,), effect.seconds))


def _call(effect: Embed) -> Callable[[list[str]], Any]:
    return effect.embedder


def _vectors(effect: Embed, outcome: Waited) -> Vectors:
    if outcome.error is not None:
        return Vectors(failure=failure_of(outcome.error, effect.seconds), seconds=outcome.seconds)
    try:
        return Vectors(checked(outcome.given, len(effect.texts)), seconds=outcome.seconds)
    except ValueError as error:
        return Vectors(failure=failure_of(error, effect.seconds), seconds=outcome.seconds)


def _verdict(effect: Judging, outcome: Waited) -> Verdict:
    if outcome.error is not None:
        return Verdict(failure=failure_of(outcome.error, effect.seconds), seconds=outcome.seconds)
    if not isinstance(outcome.given, str):
        return Verdict(failure=f"the answer is {type(outcome.given).__name__}, not text", seconds=outcome.seconds)
    return Verdict(outcome.given, seconds=outcome.seconds)
