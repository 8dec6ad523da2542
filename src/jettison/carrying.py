"""Carry out what a call asks of others: embeddings, a judge's verdict, a summariser's answer."""

from __future__ import annotations

from typing import Any

from jettison.compressors.asking import answered, answered_async
from jettison.compressors.summary import Ask
from jettison.relevance.effects import Embed, Judging, embedded, embedded_async, judged, judged_async

__all__ = ["carried", "carried_async"]


def carried(effect: Embed | Judging | Ask) -> Any:
    """The answer to an effect, in this thread. A failure or time-out is an answer as well."""
    if isinstance(effect, Embed):
        return embedded(effect)
    return judged(effect) if isinstance(effect, Judging) else answered(effect)


async def carried_async(effect: Embed | Judging | Ask) -> Any:
    """`carried` in this task: what is async is awaited, what is not runs in a thread."""
    if isinstance(effect, Embed):
        return await embedded_async(effect)
    return await judged_async(effect) if isinstance(effect, Judging) else await answered_async(effect)
