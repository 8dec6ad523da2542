"""What a session remembers between calls, and what it works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jettison.flow.dependencies import Flow
from jettison.flow.task_state import TaskReader
from jettison.history import History, Snapshot
from jettison.ledger import NEVER, Stale
from jettison.notes import Note
from jettison.plan import Plan
from jettison.policy import Policy
from jettison.protocols import Embedder
from jettison.relevance.cascade import Memory
from jettison.summing import NO_SUMMARY, Rolling
from jettison.task import Task
from jettison.tokens import CountCache
from jettison.wire import Traits
from jettison.wire.base import Inserted, Message, Wire

if TYPE_CHECKING:
    from jettison.vault import Keeper

__all__ = ["Kit", "State"]


@dataclass(frozen=True, slots=True)
class State:
    """All that changes with a call; replaced as a whole, last."""

    history: History = field(default_factory=History)
    flow: Flow = field(default_factory=Flow)
    plan: Plan = field(default_factory=Plan)
    sealed: int = 0
    call: int = 0
    sources: tuple[int, ...] = ()
    """Of each message of the last output the message of the history that it is made of, -1 of one of ours."""
    merged: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By message of the last output: further ones that were joined to it."""
    own: tuple[Message | None, ...] = ()
    """Each message of the last output; None where it was sent as it came."""
    inserted: tuple[Inserted, ...] = ()
    extra: int = 0
    """Tokens of placeholders, less those of framing that merging saved."""
    tokens: int = 0
    weight: int | None = 0
    """Tokens of all items of `history`, as they came; None: some that were dropped at once were never counted."""
    held: int | None = None
    """Tokens of them as they were sent; None: not known (the state was loaded, or is of another branch)."""
    handed: tuple[Message | None, ...] = ()
    """What was handed out for the messages of `own`; None where it was sent as it came."""
    plain: bool = False
    """The last output is the history, message for message, as it came."""

    dropped: tuple[str, ...] = ()
    """Tools whose schemas are left out."""
    returning: tuple[str, ...] = ()
    """Those of them that come back when the running turn has ended."""
    notes: tuple[Note, ...] = ()
    """What stands behind the history in the last output, and where."""
    lapsed: tuple[tuple[Note, int], ...] = ()
    """Notes that were taken out, and at which call: in a branch that begins before they stand again."""
    since: Mapping[str, int] = field(default_factory=dict)
    """By tool the step at which it was first declared; 0: at the first call."""
    learnt: int = 0
    """How much of the log of `flow` belongs to this state."""
    summary: Rolling = NO_SUMMARY
    """Of what was dropped whole."""
    edits: tuple[tuple[int, int], ...] = ()
    """(call, messages there were) of the calls whose decisions are in force, or would be again in a branch."""
    forgone: frozenset[str] = frozenset()
    """What operations need, or the caller declared, and `on_unsafe="degrade"` gave up: no note brings it back."""
    front: tuple[str, ...] = ()
    """Hashes of what was sent in front of the messages: system field, tools, response schema. Empty: nothing was."""
    schemas: str = ""
    """The text of the schemas that were sent, to see without a hash that they are as they were; empty after a load."""
    stale: Stale = NEVER
    """Where reasoning is void, and still sent because its turn runs (`ledger.Stale`)."""

    def undo(self) -> None:
        """Take out of the statistics what a call that failed has added."""
        if len(self.flow.log) > self.learnt:
            self.flow.rewind(self.learnt, self.history.items)

    def awake(self, taken: Snapshot, costs: CountCache) -> State:
        """A state that was saved, now that its history is at hand again: the statistics are made when needed."""
        base = taken.base
        self.history.weigh(costs, base)
        flow = Flow.replayed(self.flow.log, base.items) if taken.common == len(base.raw) else Flow()
        return replace(self, history=base, flow=flow, learnt=len(flow.log))


@dataclass(frozen=True, slots=True)
class Kit:
    """What a session works with; all of it outlives a call."""

    policy: Policy
    wire: Wire
    traits: Traits
    model: str | None
    task: Task
    costs: CountCache
    reader: TaskReader
    handle: Callable[[str], str]
    ratio: float
    """The provider's last count to ours."""
    recalled: Callable[[str], str | None]
    """The handle of a text that was brought back from the archive."""
    embedder: Embedder | None = None
    """Of a policy whose relevance asks for one."""
    memory: Memory = field(default_factory=Memory)
    """What embedder and judge have answered."""
    kept: str = ""
    """Under which name the archive keeps vectors; empty: it does not."""
    vault: Keeper | None = None
    notes: tuple[str, ...] = ()
    """What the next report should say of what was told since the last call."""
