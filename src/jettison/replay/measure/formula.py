"""The plain formula of the field: recency and lexical relevance on whole units."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from jettison.replay.measure.trajectory import Message, calls_of, text_of
from jettison.replay.measure.units import WholeUnits

__all__ = ["PlainFormula"]


class PlainFormula(WholeUnits):
    """`w_r·R + w_s·Rel` on whole units: R = e^(−λ·age in steps), Rel = BM25 against the goal and the latest unit.

    The lowest score goes first until the rest fits; with `fill` the room left over takes what fits of the others.
    """

    # Best mean support at 25 % over the four sets, of λ .01 … .3 and w_r .3 … .9; all lie within 5 points.
    decay, w_recency = 0.1, 0.9
    k1, b = 1.2, 0.75

    def __init__(self, fill: bool = False) -> None:
        self.stop_at_first = not fill

    def start(self, head: Sequence[Message]) -> None:
        super().start(head)
        self.goal = Counter(term for message in head if message["role"] == "user" for term in _terms(message))
        self.bags: list[Counter[str]] = []

    def order(self, messages: list[Message], units: list[range], sizes: list[int]) -> Sequence[int]:
        for unit in units[max(0, len(self.bags) - 1) :]:
            bag = Counter(term for j in unit for term in _terms(messages[j]))
            if unit == units[len(self.bags) - 1] and self.bags:
                self.bags[-1] = bag
            else:
                self.bags.append(bag)
        relevance = self._bm25(set(self.goal) | set(self.bags[-1]))
        age, scores = 0, [0.0] * len(units)
        for i in range(len(units) - 1, -1, -1):
            recency = math.exp(-self.decay * age)
            scores[i] = self.w_recency * recency + (1 - self.w_recency) * relevance[i]
            age += messages[units[i][0]]["role"] == "assistant"
        return sorted(range(len(units)), key=lambda i: (-scores[i], -i))

    def _bm25(self, query: set[str]) -> list[float]:
        """Scores divided by the largest, so that they lie in 0..1."""
        bags = self.bags
        mean = sum(sum(bag.values()) for bag in bags) / len(bags) or 1.0
        frequency = {term: sum(term in bag for bag in bags) for term in query}
        weight = {t: math.log(1 + (len(bags) - n + 0.5) / (n + 0.5)) for t, n in frequency.items() if n}
        scores = []
        for bag in bags:
            norm = self.k1 * (1 - self.b + self.b * sum(bag.values()) / mean)
            scores.append(sum(w * bag[t] * (self.k1 + 1) / (bag[t] + norm) for t, w in weight.items() if t in bag))
        top = max(scores) or 1.0
        return [score / top for score in scores]


_TERM = re.compile(r"\w{2,}")


def _terms(message: Message) -> list[str]:
    calls = " ".join(str((call.get("function") or {}).get("arguments") or "") for call in calls_of(message))
    return _TERM.findall(f"{text_of(message)} {calls}".lower())
