"""Evaluate: `Score = w_r·R + w_s·Rel` of every item, with R(t) = e^(−λt)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from jettison.flow.dependencies import Flow
from jettison.items import Item, maker_of
from jettison.plan import Score, Semantic, View
from jettison.protocols import Scorer
from jettison.relevance.rules import WEIGHTS, Context, relevance

__all__ = ["evaluate"]

W_PROSE = 0.35
"""Weight of what embeddings or a judge say beside the rules, where an item has prose. Set by hand, not measured: what
decides about prose is the gain of its segments, in `rank`."""
_NOTHING: Mapping[int, float] = {}
_score = maker_of(Score)


def evaluate(
    view: View,
    flow: Flow,
    *,
    decay: float,
    w_recency: float,
    w_relevance: float,
    scorers: Sequence[tuple[float, Scorer]] = (),
    items: Sequence[Item] | None = None,
    semantic: Semantic = Semantic(),
) -> dict[str, Score]:
    """Scores by item id, each part visible. Time t is the item's age in steps (LLM calls).

    Further `scorers` (weight, scorer) join the rules; the weights are normalised to sum to 1. `semantic`: what
    embeddings and a judge say of prose; then Rel = (1 − W_PROSE)·rules + W_PROSE·prose.
    """
    asked = view.items if items is None else items
    context = Context(view, flow, None if items is None else {item.unit for item in items})
    whole = sum(WEIGHTS.values()) + sum(weight for weight, _ in scorers)
    out = {}
    for item in asked:
        parts = relevance(item, view, flow, context)
        total = 0.0
        for name, value in parts.items():
            total += WEIGHTS[name] * value
        for weight, scorer in scorers:
            name = str(getattr(scorer, "name", None) or getattr(scorer, "__name__", type(scorer).__name__))
            parts[name] = min(1.0, max(0.0, float(scorer(item, view))))
            total += weight * parts[name]
        recency, relevant = math.exp(-decay * view.age(item)), min(1.0, total / whole)
        if beyond := semantic.signals.get(item.id):
            parts.update(beyond)
            relevant += W_PROSE * (beyond.get("prose", relevant) - relevant)
        score = w_recency * recency + w_relevance * relevant
        near, why = semantic.prose.get(item.id, _NOTHING), semantic.why.get(item.id, "")
        out[item.id] = _score(recency, relevant, score, parts, near, why)
    return out
