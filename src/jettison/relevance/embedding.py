"""Relevance by embedding: how near a passage is to the current task, 0..1, calibrated for the embedder in use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jettison.items import Item, Kind
from jettison.plan import View
from jettison.relevance.anchors import RELATED, UNRELATED
from jettison.relevance.vectors import centred, cosines, mean

__all__ = ["Query", "Scale", "anchors", "nearness", "queries", "scale_of"]

QUERY = 400
"""Characters of a query that are embedded: its first and last half of that."""
STEPS = 2
"""Latest units beside the latest user turn that say what is being done now."""
# What each part of the task weighs. The request is often half of a question ("now book it") and the goal is the other
# half, so both together come first. Constraints are protected themselves, so that what is only near to them weighs
# less. Set by hand, not fitted.
WEIGHTS = {"task": 1.0, "latest": 0.9, "goal": 0.9, "operation": 0.9, "step": 0.7, "constraint": 0.5}


@dataclass(frozen=True, slots=True)
class Query:
    """One part of the current task."""

    part: str
    text: str

    @property
    def weight(self) -> float:
        return WEIGHTS[self.part]


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the cosines of an embedder lie: `p = 1 / (1 + e^−k(cosine − middle))`."""

    middle: float
    steep: float
    centre: Any = field(default=None, compare=False)
    """The middle of the anchors' vectors."""

    def __call__(self, cosine: float) -> float:
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, self.steep * (cosine - self.middle)))))


def queries(view: View) -> list[Query]:
    """The current task in parts: goal and latest turn together and each alone, open operations, latest steps and
    constraints; no text twice."""
    task = view.task
    latest = _latest(view, Kind.USER, 1)
    goals = [text for text in [task.declared_goal or "", *(span.text for span in task.goals)] if text]
    found = [Query("task", f"{_short(goals[0], QUERY // 2)} {_short(text, QUERY // 2)}") for text in latest if goals]
    found += [Query("latest", text) for text in latest]
    found += [Query("goal", text) for text in goals]
    found += [Query("operation", " ".join((op.name, *op.needs))) for op in task.open_operations]
    found += [Query("step", text) for text in _steps(view)]
    found += [Query("constraint", constraint.text) for constraint in task.constraints]
    out: dict[str, Query] = {}
    for query in found:
        text = _short(query.text)
        if text and text not in out:
            out[text] = Query(query.part, text)
    return list(out.values())[:MOST]


MOST = 16
"""Queries; the latest turn and the goal come first."""


def _latest(view: View, kind: Kind, count: int) -> list[str]:
    items = [item for item in reversed(view.items) if item.kind is kind and item.text and not item.synthetic]
    return [item.text for item in items[:count]]


def _steps(view: View) -> list[str]:
    """What the latest units say or call; their results are many things."""
    units = [unit for unit in view.units if unit.index >= 0][-STEPS:]
    texts = []
    for unit in reversed(units):
        said = [_said(item) for item in unit.items if item.kind in (Kind.ASSISTANT, Kind.CALL)]
        texts.append(" ".join(filter(None, said)))
    return texts


def _said(item: Item) -> str:
    return f"{(item.name or '').replace('_', ' ')} {item.text}" if item.kind is Kind.CALL else item.text


def _short(text: str, most: int = QUERY) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most // 2]} {text[-most // 2 :]}"


def anchors() -> list[str]:
    """Texts whose cosines tell where an embedder puts the related and the unrelated; embedded once a session."""
    return [text for pair in (*RELATED, *UNRELATED) for text in pair]


def scale_of(vectors: Mapping[str, object]) -> Scale:
    """The scale of an embedder from its vectors of the anchors: related pairs come out at .88, unrelated at .12.

    One that puts unrelated pairs as near as related ones gets a scale that is flat: it says .5 of everything.
    """
    texts = anchors()
    centre = mean([vectors[text] for text in texts])
    rows = dict(zip(texts, centred([vectors[text] for text in texts], centre), strict=True))
    means = []
    for pairs in (UNRELATED, RELATED):
        found = [cosines([rows[a]], [rows[b]])[0][0] for a, b in pairs]
        means.append(sum(found) / len(found))
    low, high = means
    return Scale((low + high) / 2, 4 / (high - low) if high - low > 0.02 else 0.0, centre)


def nearness(rows: Sequence[object], query_rows: Sequence[object], parts: Sequence[Query], scale: Scale) -> list[float]:
    """For each passage, the best weighted nearness to a part of the task.

    All are seen from the middle of what is compared, the anchors with it where the passages are few: in a history that
    is about one thing all is near to all, and what tells one passage from the others is what lies beside that.
    """
    if not rows:
        return []
    share = len(rows) / (len(rows) + len(anchors()))
    middle = share * mean(rows) + (1 - share) * scale.centre
    out = []
    for found in cosines(centred(rows, middle), centred(query_rows, middle)):
        out.append(max((query.weight * scale(cosine) for query, cosine in zip(parts, found, strict=True)), default=0.0))
    return out
