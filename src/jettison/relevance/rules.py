"""Relevance by rules on item type, metadata and task state; each a small function with its own signal name.

Each gives 0..1 and says what it rests on. "Not measured" is meant: the recordings carry no tool schemas and no
annotations, and strict support counts values, which these signals do not rank (segments do, see stages/rank).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from jettison.flow.dependencies import Flow
from jettison.items import Item, Kind
from jettison.plan import View
from jettison.relevance.context import CHOICES, Context, keys_of

__all__ = ["RULES", "WEIGHTS", "Context", "relevance"]

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
FADE = 10
"""Steps after which a use has faded to 1/e, as for values (flow/weights)."""


def _overlap(item: Item, words: frozenset[int], context: Context) -> float:
    if not words or not item.text:
        return 0.0
    return min(1.0, len(words & context.shared(item.text)) / min(12, len(words)))


def kind(item: Item, view: View, flow: Flow, context: Context) -> float:
    """What kind of item it is (order from algorithm.md; the numbers between are not measured)."""
    return PRIOR[item.kind]


def used(item: Item, view: View, flow: Flow, context: Context) -> float:
    """Values of it that later calls used, saturating at about four ("used before" alone: 74–92 % support)."""
    return 1 - 0.5 ** flow.produced.get(item.id, 0)


def lately(item: Item, view: View, flow: Flow, context: Context) -> float:
    """How long ago a call last used a value of it (a recent use is worth +1.0 log-odds, algorithm.md)."""
    last = context.last_use.get(item.id)
    return 0.0 if last is None else math.exp(-max(0, view.step - last) / FADE)


def arguments(item: Item, view: View, flow: Flow, context: Context) -> float:
    """Keys in it that are names of arguments in a schema or a call seen (key statistics: −7.4 on tau without)."""
    if item.kind not in (Kind.RESULT, Kind.DOCUMENT):
        return 0.0
    keys = keys_of(item.text)
    if produced := view.policies.of(item.name).produces:
        keys = keys.union(map(str.lower, produced))
    return min(1.0, len(keys & context.needed) / 3)


def goal(item: Item, view: View, flow: Flow, context: Context) -> float:
    """Words shared with the goal (lexical relevance alone: 21–87 % support)."""
    return _overlap(item, context.goal, context)


def latest(item: Item, view: View, flow: Flow, context: Context) -> float:
    """Words shared with the latest turns (as for the goal)."""
    return _overlap(item, context.latest, context)


def current(item: Item, view: View, flow: Flow, context: Context) -> float:
    """0 for a result that the same call gave anew or whose file was written since (not measured as a rule)."""
    return 0.0 if item.id in context.superseded else 1.0


def unresolved(item: Item, view: View, flow: Flow, context: Context) -> float:
    """0 for an error after which the same tool succeeded on the same target (not measured)."""
    return 0.0 if item.id in context.resolved else 1.0


def choice(item: Item, view: View, flow: Flow, context: Context) -> float:
    """0 for a list from which a choice was made: one of its values was used (not measured; "used" says the opposite
    of the value that was chosen, and weighs more)."""
    if item.kind is not Kind.RESULT or not flow.produced.get(item.id):
        return 1.0
    source = flow.sources.get(item.id)
    if source is None or not source.parts.structured:
        return 1.0
    records = {segment.record for segment in source.parts.segments}
    return 0.0 if len(records) > CHOICES and flow.produced[item.id] < len(records) / 2 else 1.0


def irreplaceable(item: Item, view: View, flow: Flow, context: Context) -> float:
    """0 where the same call gives the same again, 1 where it must not be called again (tool policy or annotations;
    not measured), between where nothing is known."""
    refetchable = view.policies.of(item.name).refetchable if item.kind is Kind.RESULT else None
    return 0.5 if refetchable is None else 0.0 if refetchable else 1.0


Rule = Callable[[Item, View, Flow, Context], float]
# Weights sum to 1. Uses and kind carry what was measured; the rest breaks ties between whole items and prose.
RULES: dict[str, tuple[float, Rule]] = {
    "used": (0.35, used),
    "lately": (0.1, lately),
    "kind": (0.25, kind),
    "arguments": (0.06, arguments),
    "goal": (0.08, goal),
    "latest": (0.08, latest),
    "current": (0.03, current),
    "unresolved": (0.02, unresolved),
    "choice": (0.01, choice),
    "irreplaceable": (0.02, irreplaceable),
}
WEIGHTS = {name: weight for name, (weight, _) in RULES.items()}


def relevance(item: Item, view: View, flow: Flow, context: Context) -> dict[str, float]:
    """Every signal of an item, each 0..1."""
    return {name: rule(item, view, flow, context) for name, (_, rule) in RULES.items()}
