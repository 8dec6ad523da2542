"""Has a summariser answer: the sync and the async driver of `summarise`. Any summariser serves in both.

Failures become the answer's `failure`: what is done about them is decided where the text is at hand.
"""

from __future__ import annotations

from jettison.compressors.summary import Answer, Ask, Steps
from jettison.compressors.summary_text import Refused, Summary
from jettison.errors import CutAnswer
from jettison.waiting import Waited, failure_of, waited, waited_async

__all__ = ["answered", "answered_async", "summarised", "summarised_async"]


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
    """The answer, or why there is none within `ask.seconds`. An async summariser gets a loop of its own."""
    return _answer(ask, waited(ask.summarizer, (ask.prompt, ask.max_tokens), ask.seconds))


async def answered_async(ask: Ask) -> Answer:
    """`answered` for an event loop: an async summariser runs in it, a sync one in a thread of its own."""
    return _answer(ask, await waited_async(ask.summarizer, (ask.prompt, ask.max_tokens), ask.seconds))


def _answer(ask: Ask, outcome: Waited) -> Answer:
    if isinstance(outcome.error, CutAnswer):
        return Answer(cut=True, seconds=outcome.seconds)
    if outcome.error is not None:
        return Answer(failure=failure_of(outcome.error, ask.seconds), seconds=outcome.seconds)
    if not isinstance(outcome.given, str):
        return Answer(failure=f"the answer is {type(outcome.given).__name__}, not text", seconds=outcome.seconds)
    return Answer(outcome.given, seconds=outcome.seconds)
