"""What the agent is doing: goal, hard constraints, operations; inferred from the history, or declared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

__all__ = ["Constraint", "Fact", "Limit", "Operation", "Pin", "Span", "Stage", "Task", "TaskState"]

COMPLETED = "completed by the caller"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of an item's text: `text == item.text[start:end]`."""

    item: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """A hard constraint in the words it was given in."""

    text: str
    span: Span | None = None
    """Where it stands; None when the caller declared it."""
    role: str = "user"


@dataclass(frozen=True, slots=True)
class Operation:
    """Work that has begun: open until its completion is seen, or the caller says so."""

    id: str
    name: str
    needs: tuple[str, ...] = ()
    """Values that must stay in the context, verbatim, until it is done."""
    span: Span | None = None
    """Where it was detected; None when the caller declared it."""
    step: int = 0
    closed: str | None = None
    """Why it is no longer open; None while it is."""
    call: str | None = None
    """Item id of the call that began it."""
    handle: str = ""
    """The value it is known by (ticket, job id); empty when it has none."""
    deferred: bool = False
    """It belongs to another stage than the one that was entered: what it needs is not held now."""

    @property
    def open(self) -> bool:
        return self.closed is None


@dataclass(frozen=True, slots=True)
class Stage:
    """A share of the open operations whose context fits: enter it with `session.enter(stage)`."""

    name: str
    """`stage 1 of 2`."""
    operations: tuple[str, ...]
    """Ids of its operations."""
    needs: tuple[str, ...]
    """What they need, verbatim."""
    tokens: int
    """What a request takes in this stage, the hand-over included."""
    deferred: tuple[str, ...]
    """Ids of the operations that wait for other stages."""
    handover: str
    """What is open now, what comes next, by which identifiers; English, the first line marks it as a note."""


@dataclass(frozen=True, slots=True)
class Fact:
    """State that stands in one item of the history and that no later message repeats: a todo list, a revealed tool."""

    item: str
    reason: str
    until: str
    span: Span | None = None
    """The piece of the item that says it; None: the whole item."""
    gives_way: bool = False
    """It is not held where what is protected does not fit."""


@dataclass(frozen=True, slots=True)
class Limit:
    """When a pin ends by itself; `number` tells a pin from an earlier one of the same text."""

    number: int
    steps: int | None = None
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """What the caller pinned and is still in force."""

    what: str
    until: str


@dataclass(frozen=True, slots=True)
class TaskState:
    """What is known of the task at one call. Every inferred fact points at its span."""

    goals: tuple[Span, ...] = ()
    """Spans of the original goal, then of the current one where it changed."""
    constraints: tuple[Constraint, ...] = ()
    operations: tuple[Operation, ...] = ()
    declared_goal: str | None = None
    facts: tuple[Fact, ...] = ()
    places: Mapping[str, Span] = field(default_factory=dict)
    """Where declared texts and needed values stand: the newest place in results and user text, else anywhere."""
    pins: tuple[Pin, ...] = ()
    """Pins that are in force at this call."""
    notes: tuple[str, ...] = ()
    """What the caller should know: declared texts that stand nowhere, operations that timed out."""

    @property
    def open_operations(self) -> tuple[Operation, ...]:
        """What is under way and held now; the operations of other stages are not among them."""
        return tuple(op for op in self.operations if op.open and not op.deferred)

    @property
    def deferred_operations(self) -> tuple[Operation, ...]:
        """What is open and belongs to another stage than the one that was entered."""
        return tuple(op for op in self.operations if op.open and op.deferred)

    def deferring(self, names: Collection[str]) -> TaskState:
        """The state with the operations of these ids deferred, and no others."""
        return replace(self, operations=tuple(replace(op, deferred=op.id in names) for op in self.operations))


@dataclass(slots=True)
class Task:
    """What the caller declares; it adds to what is inferred and overrides it."""

    goal: str | None = None
    """The current goal in the caller's words; None: inferred from the user's text. Where these words stand in the
    history they are protected; where they do not, `report.notes` says so and the inferred goal is kept as well."""
    constraints: list[str] = field(default_factory=list)
    operations: dict[str, Operation] = field(default_factory=dict)
    pins: set[str] = field(default_factory=set)
    """Item ids or exact pieces of text that are kept until `unpin`, or as long as `pin` said."""
    released: set[str] = field(default_factory=set)
    """What the caller lifted: texts of constraints, ids or handles of operations, item ids, tool names."""
    limits: dict[str, Limit] = field(default_factory=dict)
    """When a pin ends by itself."""
    _count: int = 0
    stage: Stage | None = None
    """The stage that was entered (`Session.enter`)."""
    _told: dict[tuple[str, str], str | None] = field(default_factory=dict, repr=False, compare=False)
    """What was said since the last save, by (what, which one): why it was lifted; None: it holds. So a session that
    never saw a thing can lift it in the store."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "goal" and value is not None:
            _text(value, "goal")
        object.__setattr__(self, name, value)
        if name in ("goal", "stage") and hasattr(self, "_told"):  # the last field: before it is there, nothing was told
            self._told[name, ""] = None

    @property
    def deferred(self) -> frozenset[str]:
        """Ids of the operations that wait for another stage."""
        return frozenset(self.stage.deferred) if self.stage is not None else frozenset()

    def constrain(self, text: str) -> None:
        """Keep this text, wherever it stands in the history, until `release`; nowhere: `report.notes` says so."""
        if not _text(text, "constraint").strip():
            raise ValueError("a constraint needs text")
        self.released.discard(text)
        self._told["rule", text] = None
        if text not in self.constraints:
            self.constraints.append(text)

    def begin(self, name: str, needs: list[str] | tuple[str, ...] = ()) -> str:
        """Open an operation; the values it `needs` are kept verbatim until `complete`. Returns its id."""
        if isinstance(needs, str):
            raise TypeError("needs is a list of values, not one string")
        for need in needs:
            if not _text(need, "need").strip():
                raise ValueError("a need is a value as it stands in the history, not an empty text")
        self._count += 1
        op = Operation(id=f"op-{self._count}", name=name, needs=tuple(needs))
        self.released.discard(op.id)
        self.operations[op.id] = op
        return op.id

    def complete(self, op: str, reason: str = COMPLETED) -> None:
        """Close a declared operation or an inferred one, by its id. Its protections are lifted."""
        known = self.operations.get(op)
        if known is not None:
            self.operations[op] = replace(known, closed=reason)
        self.released.add(op)
        self._told["rule", op] = reason

    def release(self, what: str) -> None:
        """Lift a constraint (its text), an operation (id or handle), a fact (item id), or what a tool policy keeps
        (tool name or item id)."""
        self.constraints = [text for text in self.constraints if text != what]
        known = self.operations.get(what)
        if known is not None and known.open:
            self.operations[what] = replace(known, closed=COMPLETED)
        self.released.add(what)
        self._told["rule", what] = COMPLETED

    def pin(self, what: str, *, steps: int | None = None, call: str | None = None) -> None:
        """Keep an item (by id) or an exact piece of text until `unpin`.

        `steps`: for so many LLM calls, counted from the next fit. `call`: until the tool of that name has answered.
        """
        if steps is not None and steps < 1:
            raise ValueError("steps must be at least 1")
        self.pins.add(_text(what, "pin"))
        self._told["pin", what] = None
        self.limits.pop(what, None)
        if steps is not None or call is not None:
            self._count += 1
            self.limits[what] = Limit(self._count, steps, call)

    def unpin(self, what: str) -> None:
        """Keep it no longer."""
        self.pins.discard(what)
        self._told["pin", what] = ""
        self.limits.pop(what, None)


def _text(value: object, what: str) -> str:
    """The value, where it is text; later it is looked for in the history."""
    if not isinstance(value, str):
        raise TypeError(f"a {what} is text as it stands in the history, not {type(value).__name__} {value!r}")
    return value
