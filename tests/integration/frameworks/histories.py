"""Histories of any framework: drawn once, built by each test of its own message types, and held to two properties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from jettison import CannotFit
from jettison.integrations.common import Conversation

_LINES = (
    "the parcel left depot 7",
    "status: ok",
    "посылка ORD-{n} повреждена",
    "id=RF-{n} pending",
    '{{"sku": "SKU-{n}"}}',
)


@dataclass(frozen=True)
class Step:
    """One turn of the model: what it says (maybe nothing), its calls with their arguments and answers, and what the
    user says then."""

    said: str
    calls: tuple[tuple[dict[str, Any], str], ...]
    then: str
    ids: bool
    """Whether the calls have ids of their own; some models give none."""


def _texts(most: int) -> st.SearchStrategy[str]:
    line = st.builds(lambda text, n: text.format(n=n), st.sampled_from(_LINES), st.integers(1000, 1100))
    return st.lists(line, max_size=most).map("\n".join)


_CALLS = st.lists(
    st.tuples(st.dictionaries(st.sampled_from(["id", "запрос"]), _texts(1), max_size=2), _texts(60)), max_size=3
).map(tuple)


def histories() -> st.SearchStrategy[list[Step]]:
    """Steps after a first user message; one without calls is followed by the user's."""
    step = st.builds(Step, _texts(4), _CALLS, _texts(4), st.booleans())
    return st.lists(step, min_size=1, max_size=9)


def check_history(
    messages: Sequence[Any], through: Callable[[Conversation, Sequence[Any]], list[Any]], wire: str
) -> None:
    """With room for all, each message comes back as the same object; what is cut to fit is valid, and does fit.

    `through`: messages to the wire's, fitted, and back.
    """
    whole = Conversation(1_000_000, wire=wire)
    back = through(whole, messages)
    assert len(back) == len(messages)
    assert all(mine is theirs for mine, theirs in zip(back, messages, strict=True))
    assert whole.report is not None
    limit = whole.report.before * 2 // 3
    try:
        left = through(Conversation(limit, wire=wire), messages)
    except CannotFit:  # one message that must stay is most of it
        return
    again = Conversation(1_000_000, wire=wire)
    through(again, left)  # raises InvalidInput for what its wire refuses
    assert again.report is not None
    assert again.report.before <= limit
