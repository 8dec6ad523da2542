"""Relevance by rules on item type, metadata and task state; each a small function with its own signal name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from jettison.flow.dependencies import Flow
from jettison.items import Item, Kind
from jettison.plan import View

__all__ = ["RULES", "Words", "relevance"]

_WORD = re.compile(r"[^\W_]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
SAMPLE = 4_000
"""Characters of an item that are compared with the task: its first and last half of that. Enough to see what it
is about; overlap alone has an AUC of .45–.63 (algorithm.md), so more of it is not worth its time."""

# How much each kind of item is worth to a later step, all else equal. Order from algorithm.md: a value in a user
# message is worth +0.5 log-odds (−8.1 points on tau-airline without); assistant text of old units is dropped first.
PRIOR = {
    Kind.INSTRUCTION: 1.0,
    Kind.USER: 0.9,
    Kind.SUMMARY: 0.8,
    Kind.RESULT: 0.5,
    Kind.DOCUMENT: 0.5,
    Kind.CALL: 0.5,
    Kind.ASSISTANT: 0.4,
    Kind.MEDIA: 0.4,
    Kind.OPAQUE: 0.4,
    Kind.REASONING: 0.2,
}


@lru_cache(maxsize=8_192)
def _words(text: str) -> frozenset[str]:
    sample = text if len(text) <= SAMPLE else text[: SAMPLE // 2] + text[-SAMPLE // 2 :]
    # Six letters stand for a word: a crude stem that serves English and Russian endings alike.
    return frozenset(word[:6] for word in _WORD.findall(sample.lower()))


class Words:
    """Words of the current task: goal, constraints, the latest user turn and the latest unit."""

    def __init__(self, view: View) -> None:
        self.goal: frozenset[str] = frozenset().union(*(_words(span.text) for span in view.task.goals))
        if view.task.declared_goal:
            self.goal |= _words(view.task.declared_goal)
        latest = [item for unit in view.units[-2:] for item in unit.items if item.kind is not Kind.INSTRUCTION]
        self.latest: frozenset[str] = frozenset().union(*(_words(item.text) for item in latest))


def _overlap(item: Item, words: frozenset[str]) -> float:
    if not words or not item.text:
        return 0.0
    return min(1.0, len(_words(item.text) & words) / min(12, len(words)))


def kind(item: Item, view: View, flow: Flow, words: Words) -> float:
    """What kind of item it is."""
    return PRIOR[item.kind]


def goal(item: Item, view: View, flow: Flow, words: Words) -> float:
    """Words shared with the goal."""
    return _overlap(item, words.goal)


def latest(item: Item, view: View, flow: Flow, words: Words) -> float:
    """Words shared with the latest turn."""
    return _overlap(item, words.latest)


def used(item: Item, view: View, flow: Flow, words: Words) -> float:
    """Values of it that later calls used, saturating at about four."""
    return 1 - 0.5 ** flow.produced.get(item.id, 0)


Rule = Callable[[Item, View, Flow, Words], float]
# Weights sum to 1. "Its values were used before" alone reaches 74–92 % support, lexical relevance 21–87 %
# (algorithm.md).
RULES: dict[str, tuple[float, Rule]] = {
    "used": (0.5, used),
    "kind": (0.3, kind),
    "goal": (0.1, goal),
    "latest": (0.1, latest),
}


def relevance(item: Item, view: View, flow: Flow, words: Words) -> dict[str, float]:
    """Every signal of an item, each 0..1."""
    return {name: rule(item, view, flow, words) for name, (_, rule) in RULES.items()}
