"""What embeddings and a judge are asked in a call: at epochs, and by choice in the background before them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from jettison.epoch import Request, Run
from jettison.flow.dependencies import Flow
from jettison.items import Fidelity, Kind
from jettison.plan import Semantic
from jettison.policy import Policy
from jettison.protocols import Embedder
from jettison.relevance.ahead import Job, TakeIn, added, taken_in
from jettison.relevance.cascade import Consulted, consult
from jettison.relevance.effects import Embed, Judging, Keep, LookUp
from jettison.state import Kit

__all__ = ["Consulting", "Effects"]

Effects = Embed | Judging | LookUp | Keep | TakeIn


class Consulting:
    """One call's questions about prose; nothing is asked where neither an epoch is due nor one is near."""

    job: Job | None = None
    """What is to be asked beside the calls, once this one is done."""

    def __init__(self, kit: Kit, policy: Policy, observe: bool) -> None:
        self.kit, self.policy, self.observe = kit, policy, observe

    def said(self, request: Request, embedder: Embedder) -> Generator[Effects, Any, Semantic]:
        """What they say, where an epoch is due."""
        run, limits = Run(self.policy, request), self.policy.judge_limits
        ahead = self.policy.judge is not None and limits.ahead < 1 and not self.observe
        if not run.due():
            if ahead and self.near(run, limits.ahead) and self.kit.memory.calls < limits.calls:
                self.job = self.asked_ahead(request, embedder)
            return Semantic()
        found = (yield TakeIn()) if ahead else None
        if found is not None:
            fresh = taken_in(found, self.kit.memory)
            if self.kit.kept and fresh:
                yield Keep(self.kit.kept, fresh)
        semantic = yield from consult(self.asking(run, request, embedder, not ahead), self.kit.memory)
        return semantic if found is None else added(semantic, found)

    def asking(self, run: Run, request: Request, embedder: Embedder, ask: bool) -> Consulted:
        """Whom to ask about what may be evicted, and how much."""
        policy, view, plan = self.policy, request.view, request.plan
        run.learn()
        far = {unit.index for unit in run.far}
        units = [unit for unit in view.units[:-1] if unit.index >= 0 and unit.index not in far]
        items = [item for unit in units for item in unit.items if plan.fidelity(item.id) > Fidelity.STUB]
        target = int(run.first_mark * run.room())
        asked = Consulted(view, request.flow, items, run.scores, run.locks, target, embedder, policy.judge)
        asked = replace(asked, embed_limits=policy.embed_limits, judge_limits=policy.judge_limits)
        return replace(asked, ask=ask, kept="" if self.observe else self.kit.kept)

    def near(self, run: Run, share: float) -> bool:
        """Whether the history has come this share of the way to the next epoch."""
        evictable = run.total() - run.view.fixed - run.hard()
        return evictable >= share * self.policy.size.high_water * run.room()

    def asked_ahead(self, request: Request, embedder: Embedder) -> Job:
        """The question of the next epoch as it is now. It learns the history anew, apart from the session's own."""
        said = [item.id for item in request.view.items if item.kind is Kind.USER]

        def begin() -> Consulted:
            apart = replace(request, flow=Flow())
            return replace(self.asking(Run(self.policy, apart), apart, embedder, True), kept="")

        return Job((request.sealed, len(request.plan.decisions), said[-1:] and said[-1]), begin, self.kit.memory.copy())
