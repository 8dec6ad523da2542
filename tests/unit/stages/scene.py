"""One call as the stages see it, made from messages the way a session makes it. A token is a character."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from jettison.compressors.cut import handle_for
from jettison.flow.dependencies import Flow
from jettison.flow.task_state import TaskReader
from jettison.history import History
from jettison.items import Fidelity, Item, Unit
from jettison.plan import Decision, Locks, Plan, Protection, View
from jettison.policy import Policy
from jettison.ranking import Ranking
from jettison.stages.rank import rank
from jettison.task import Task
from jettison.tokens import CountCache
from jettison.wire import wire_named


@dataclass
class Scene:
    view: View
    flow: Flow
    task: Task
    locks: Locks = field(default_factory=lambda: Locks(()))
    plan: Plan = field(default_factory=Plan)

    def item(self, name: str) -> Item:
        """By message and part: `2.0`."""
        return next(item for item in self.view.items if item.id.startswith(f"{name}-"))

    def unit_of(self, name: str) -> Unit:
        return next(unit for unit in self.view.units if unit.index == self.item(name).unit)

    def locked(self, *spans: tuple[str, str]) -> Scene:
        """With protections: (item, span of its text; empty: the whole item)."""
        made = []
        for name, text in spans:
            item = self.item(name)
            start = item.text.index(text) if text else 0
            made.append(Protection(item.id, "test", "never: test", text, start=start, end=start + len(text)))
        return replace(self, locks=Locks(tuple(made)))

    def decided(self, name: str, fidelity: Fidelity, text: str = "", segments: tuple[int, ...] = ()) -> Scene:
        """With an earlier decision on an item."""
        item = self.item(name)
        after = self.view.cost(replace(item, text=text, fidelity=fidelity)) if fidelity else 0
        made = Decision(item.id, fidelity, "earlier", self.view.cost(item), after, text, segments=segments)
        return replace(self, plan=self.plan.merged([made]))

    def rank(self, *names: str, frozen: tuple[int, ...] = ()) -> Ranking:
        """The ranking of the units of these items; of all units without names."""
        units = [self.unit_of(name) for name in names] if names else list(self.view.units)
        scores = Policy().evaluate(self.view, self.flow)
        return rank(self.view, self.flow, scores, self.locks, self.plan, units, frozen=frozen)

    def tokens(self, *names: str) -> int:
        return sum(self.view.cost(item) for name in names for item in self.unit_of(name).items)


def scene(messages: list[dict[str, Any]], wire: str = "openai-chat", limit: int = 100_000) -> Scene:
    taken = History().take(wire_named(wire), messages, None, False, False)
    task, costs, flow = Task(), CountCache(len), Flow()
    flow.learn(taken.units)
    state = TaskReader().read(taken.units, task)
    view = View(
        taken.items,
        taken.units,
        state,
        taken.step,
        limit,
        0,
        cost=costs.cost,
        count=costs.count,
        handle=handle_for,
    )
    return Scene(view, flow, task)
