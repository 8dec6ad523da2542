"""The tool schemas of one call: what they weigh, which are sent, and which an epoch drops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jettison.call import Call
from jettison.epoch import Outcome
from jettison.history import Snapshot, schemas
from jettison.items import Item, Kind, turn_of
from jettison.models import binds_reasoning
from jettison.plan import Plan, ToolCost, View, apply
from jettison.policy import Policy
from jettison.recall import is_recall
from jettison.state import Kit, State
from jettison.task import TaskState
from jettison.tool_schemas import costs_of, hosted, listed, needed, unused, without
from jettison.wire.base import digest, encodes, json_text, plain, sanitise
from jettison.wire.marks import unmarked

__all__ = ["Tooling"]


class Tooling:
    """What is declared and what is sent. `tokens`: of all schemas that are sent, the response schema too."""

    def __init__(self, kit: Kit, call: Call, old: State, taken: Snapshot, plan: Plan) -> None:
        """`old`: what the last call left; `plan`: what of its decisions holds."""
        self.kit, self.call, self.old, self.taken = kit, call, old, taken
        listed(call.tools)
        self.tools, self.notes = call.tools, tuple[str, ...]()
        self.declared, schema = schemas(self.tools, call.response_schema)
        if not encodes(schema):
            self.tools, bad = sanitise([tool if isinstance(tool, str) else plain(tool) for tool in call.tools or ()])
            self.notes = (f"tools: {bad} lone surrogate(s) replaced by U+FFFD",) if bad else ()
            self.declared, schema = schemas(self.tools, call.response_schema)
        self.text = schema
        """Of all schemas that are sent, the response schema too."""
        self.given = self.tokens = kit.costs.text(schema)
        """Tokens as they were given."""
        self.returning: tuple[str, ...] = ()
        """Dropped ones that are asked for, and come back when the running turn has ended."""
        self.named, self.sent, self.dropped = self.declared, self.tools, self.still_dropped(plan)
        if self.dropped:
            self.weigh()

    def weigh(self) -> None:
        """What is left without those that are dropped."""
        self.sent = without(self.tools, self.dropped)
        self.named, self.text = schemas(self.sent, self.call.response_schema)
        self.tokens = self.kit.costs.text(self.text)

    @property
    def front(self) -> tuple[str, ...]:
        """Hashes of what is sent in front of the messages, cache marks aside: system field, tools, response schema."""
        old, system = self.old, self.taken.system
        known = old.front and system and system is old.history.system  # after a load it is not at hand
        said = old.front[0] if known else digest([(item.text, item.extra) for item in system])
        if self.text and self.text == old.schemas:
            return (said, *old.front[1:])
        tools = [tool if isinstance(tool, str) else unmarked(plain(tool)) for tool in self.sent or ()]
        return said, digest(tools), digest(self.call.response_schema)

    @property
    def response(self) -> int:
        """Tokens of the response schema alone."""
        schema = self.call.response_schema
        return self.kit.costs.text(json_text(schema)) if schema else 0

    def leave(self, fresh: tuple[str, ...]) -> int:
        """Drop these as well. Returns how many tokens that frees."""
        before = self.tokens
        self.dropped = (*self.dropped, *fresh)
        self.weigh()
        return before - self.tokens

    def costs(self) -> tuple[ToolCost, ...]:
        """What each schema costs, for the report."""
        return tuple(costs_of(self.declared, self.taken.items, self.dropped, self.kit.costs.text))

    def still_dropped(self, plan: Plan) -> tuple[str, ...]:
        """Tools that an earlier epoch dropped and nothing needs since: a branch may call one, or the user name it.

        One that comes back is an edit in front of all reasoning. Where the model would refuse that of the running turn,
        only those come back that the request asks for, or that were called in what a branch goes back to.
        """
        if not self.old.dropped:
            return ()
        names = [name for name, _ in self.declared if name in self.old.dropped]
        sent = apply(self.taken.items, plan)
        kept = needed(names, sent, TaskState(), self.call.choice) | hosted(self.tools).intersection(names)
        kept |= frozenset(self.old.returning).intersection(names)
        if kept and self.refuses(sent):
            back = self.taken.common < len(self.old.history.raw)
            calls = [item for item in sent if back and item.kind is Kind.CALL]
            must = needed(names, calls, TaskState(), self.call.choice)
            self.returning = tuple(name for name in names if name in kept - must)
            kept = must
        if self.returning:
            asked = ", ".join(self.returning)
            self.notes += (f"tools that were left out and are asked for come back when the turn has ended: {asked}",)
        if not kept and len(names) == len(self.declared):
            kept = frozenset(names[:1])  # the one that had stayed was withdrawn, and no list may be empty
        return tuple(name for name in names if name not in kept)

    def refuses(self, sent: Iterable[Item]) -> bool:
        """Whether the model refuses reasoning of the running turn in what is sent, once the tools are others."""
        lax = self.kit.policy.reasoning_drop or self.call.reasoning_drop or not binds_reasoning(self.kit.model)
        if lax or not self.kit.traits.voids:
            return False
        begun = turn_of(self.taken.units)
        turn = begun[-1].index if begun else -1
        return any(item.bound and item.unit > turn for item in sent)

    def unused(self, outcome: Outcome, policy: Policy, view: View) -> tuple[str, ...]:
        """Tools that this epoch drops: never where that would void reasoning, which is bound to the tools too."""
        after, items = policy.drop_unused_tools, self.taken.items
        if after is None or outcome.epoch not in ("minor", "major"):
            return ()
        sent = apply(items, outcome.plan)
        lax = policy.reasoning_drop or binds_reasoning(self.kit.model) is False
        if self.kit.traits.voids and not lax and any(item.bound for item in sent):
            return ()
        names = [name for name, _ in self.named]
        keep = needed(names, sent, view.task, self.call.choice) | hosted(self.tools)
        if view.named:
            keep |= frozenset(filter(is_recall, names))  # the marks speak of it
        return unused(names, items, view.step, after, self.since(), keep)

    def since(self) -> Mapping[str, int]:
        """The step at which each tool was first declared; 0 for those of the first call."""
        known, step = self.old.since, self.taken.step if self.old.call else 0
        new = {name: step for name, _ in self.declared if name not in known}
        return {**known, **new} if new else known
