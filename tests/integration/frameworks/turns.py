"""Random histories for the round trip: framework messages → dicts → framework messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hypothesis import strategies as st

from integration.frameworks.task import chat_text
from jettison import CannotFit
from jettison.integrations.common import Conversation
from jettison.plan import Fitted

_WORDS = st.sampled_from(["parcel", "refund", "заказ", "ORD-9913", "{", "[1]", '"', "\n", "not found", "склад", "ok"])
TEXT = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join).filter(lambda text: bool(text.strip()))
LONG = st.builds(
    lambda text, times: "\n".join(f"{n}: {text}" for n in range(times)), TEXT, st.integers(min_value=0, max_value=60)
)


@dataclass(frozen=True)
class Turn:
    """What was said, by the user or the agent; the agent's may have calls, each with its answer."""

    user: bool
    said: str
    calls: tuple[tuple[dict[str, Any], str], ...] = ()


_SAID = st.one_of(TEXT, LONG.filter(bool))
_CALL = st.tuples(st.dictionaries(st.sampled_from(["at", "id", "text"]), _SAID, max_size=2), LONG)
_USER = st.builds(Turn, st.just(True), TEXT)
_AGENT = st.builds(
    Turn, st.just(False), _SAID, st.one_of(st.just(()), st.lists(_CALL, min_size=1, max_size=3).map(tuple))
)


@st.composite
def histories(draw: st.DrawFn) -> list[Turn]:
    """It begins with the user and ends with the user or with answers."""
    turns = [draw(_USER), *draw(st.lists(st.one_of(_USER, _AGENT), max_size=8))]
    return turns if turns[-1].user or turns[-1].calls else [*turns, draw(_USER)]


def check_round_trip(
    messages: Sequence[Any],
    to_dicts: Callable[[Sequence[Any]], list[dict[str, Any]]],
    back: Callable[[Fitted, Sequence[Any]], list[Any]],
    small: int = 250,
) -> None:
    """With room each message comes back as it is; without, what comes back says what was to be sent."""
    whole = Conversation(1_000_000).fit(to_dicts(messages))
    same = back(whole, messages)
    assert len(same) == len(messages)
    assert all(mine is theirs for mine, theirs in zip(same, messages, strict=True))
    try:
        fitted = Conversation(small).fit(to_dicts(messages))
    except CannotFit:
        return
    assert _read(to_dicts(back(fitted, messages))) == _read(fitted.messages)


def _read(messages: Sequence[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Whose turn it is, and all words: smolagents has no border between two turns of the agent."""
    words = [word for message in messages for word in chat_text(message).partition(":")[2].split()]
    return [role for role, _ in groupby(message["role"] for message in messages)], words
