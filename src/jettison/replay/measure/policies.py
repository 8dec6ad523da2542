"""What is compared: bounds, baselines and the library, by name."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Sequence

from jettison.replay.measure.formula import PlainFormula
from jettison.replay.measure.library import Library
from jettison.replay.measure.trajectory import Message, tokens
from jettison.replay.measure.units import BenchPolicy, Case, WholeUnits

__all__ = ["POLICIES", "make"]

CLEARED = "[Old tool result content cleared]"
KEEP_RESULTS = 3


class KeepAll:
    """No budget."""

    def start(self, head: Sequence[Message]) -> None:
        pass

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        return messages


class Window(WholeUnits):
    """The newest units, as many as fit in a row."""

    stop_at_first = True

    def order(self, messages: list[Message], units: list[range], sizes: list[int]) -> Sequence[int]:
        return range(len(units) - 1, -1, -1)


class Chance(WholeUnits):
    """Units in random order, drawn anew at every step from a fixed seed."""

    def __init__(self, seed: str) -> None:
        self.seed = seed

    def order(self, messages: list[Message], units: list[range], sizes: list[int]) -> Sequence[int]:
        order = list(range(len(units)))
        random.Random(zlib.crc32(f"{self.seed}:{len(messages)}".encode())).shuffle(order)
        return order


class ClearResults:
    """Over budget, every tool result but the last three is replaced by a mark. May stay over budget."""

    def start(self, head: Sequence[Message]) -> None:
        self.cleared: set[int] = set()

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        request = [dict(m, content=CLEARED) if i in self.cleared else m for i, m in enumerate(messages)]
        if sum(map(tokens, request)) <= budget:
            return request
        results = [i for i, message in enumerate(messages) if message["role"] == "tool"]
        self.cleared.update(results[:-KEEP_RESULTS])
        return [dict(m, content=CLEARED) if i in self.cleared else m for i, m in enumerate(messages)]


class Clairvoyant(WholeUnits):
    """Knows what the coming turn needs: greedy cover of those values by whole units, most values a token first."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def order(self, messages: list[Message], units: list[range], sizes: list[int]) -> Sequence[int]:
        texts = self.case.texts
        wanted = {need.value for need in self.case.needs.get(len(messages), ())}
        holds = []
        for unit in units:
            sources = [texts(messages[j]) for j in unit if messages[j]["role"] in ("user", "tool")]
            holds.append({value for value in wanted if any(text.find(value) for text in sources)})
        order: list[int] = []
        left = set(range(len(units)))
        while wanted and left:
            best = max(left, key=lambda i: (len(holds[i] & wanted) / max(1, sizes[i]), i))
            if not holds[best] & wanted:
                break
            order.append(best)
            left.discard(best)
            wanted -= holds[best]
        return order + sorted(left, reverse=True)


POLICIES: dict[str, Callable[[Case], BenchPolicy]] = {
    "keep-all": lambda case: KeepAll(),
    "clairvoyant": Clairvoyant,
    "random": lambda case: Chance(case.trajectory.id),
    "window": lambda case: Window(),
    "clear-results": lambda case: ClearResults(),
    "plain-formula": lambda case: PlainFormula(),
    "plain-fill": lambda case: PlainFormula(fill=True),
    "jettison": lambda case: Library(profile="safe"),
    "jettison-economy": lambda case: Library(profile="economy"),
}


def make(name: str, case: Case) -> BenchPolicy:
    """The named policy, fresh, for one trajectory."""
    return POLICIES[name](case)
