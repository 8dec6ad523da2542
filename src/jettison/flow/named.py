"""Identifiers that the task names: what is said of them elsewhere belongs to it."""

from __future__ import annotations

from itertools import chain

from jettison.flow.dependencies import NAMES
from jettison.flow.values import shape, text_values
from jettison.items import Kind
from jettison.plan import View

__all__ = ["named"]

_IDENTIFIERS = NAMES | {"number"}
"""Shapes of values that name one thing. Words, paths and phrases of the goal stand everywhere: where their records are
worth more (`NAMED` in gains.py), mcpmark loses 2.2 points of strict support at 25 %, toolathlon .6."""


def named(view: View) -> set[str]:
    """Identifiers in the goal, in the user's latest turn, and of the operations that are open."""
    task = view.task
    latest = next((item.text for item in reversed(view.items) if item.kind is Kind.USER), "")
    known = chain.from_iterable((op.handle, *op.needs) for op in task.open_operations)
    texts = (*(span.text for span in task.goals), task.declared_goal or "", latest, *known)
    return {value for text in texts for value in text_values(text) if shape(value) in _IDENTIFIERS}
