"""What the agent is doing: goal, hard constraints, operations; inferred from the history, or declared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

__all__ = ["Constraint", "Operation", "Span", "Task", "TaskState"]


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

    @property
    def open(self) -> bool:
        return self.closed is None


@dataclass(frozen=True, slots=True)
class TaskState:
    """What is known of the task at one call. Every inferred fact points at its span."""

    goals: tuple[Span, ...] = ()
    """Spans of the original goal, then of the current one where it changed."""
    constraints: tuple[Constraint, ...] = ()
    operations: tuple[Operation, ...] = ()
    declared_goal: str | None = None

    @property
    def open_operations(self) -> tuple[Operation, ...]:
        return tuple(op for op in self.operations if op.open)


@dataclass(slots=True)
class Task:
    """What the caller declares; it adds to what is inferred and overrides it."""

    goal: str | None = None
    """The current goal in the caller's words; None: inferred from the user's text."""
    constraints: list[str] = field(default_factory=list)
    operations: dict[str, Operation] = field(default_factory=dict)
    pins: set[str] = field(default_factory=set)
    """Item ids or exact pieces of text that are kept until `unpin`."""
    released: set[str] = field(default_factory=set)
    """Inferred constraints or operations (by id or text) that the caller lifted."""
    _count: int = 0

    def constrain(self, text: str) -> None:
        """Keep this text, wherever it stands in the history, until `release`."""
        if not text.strip():
            raise ValueError("a constraint needs text")
        self.constraints.append(text)

    def begin(self, name: str, needs: list[str] | tuple[str, ...] = ()) -> str:
        """Open an operation; the values it `needs` are kept verbatim until `complete`. Returns its id."""
        if isinstance(needs, str):
            raise TypeError("needs is a list of values, not one string")
        self._count += 1
        op = Operation(id=f"op-{self._count}", name=name, needs=tuple(needs))
        self.operations[op.id] = op
        return op.id

    def complete(self, op: str, reason: str = "completed by the caller") -> None:
        """Close a declared operation or an inferred one, by its id. Its protections are lifted."""
        known = self.operations.get(op)
        if known is not None:
            self.operations[op] = replace(known, closed=reason)
        self.released.add(op)

    def release(self, what: str) -> None:
        """Lift an inferred or declared constraint or operation, by its text or id."""
        self.constraints = [text for text in self.constraints if text != what]
        self.released.add(what)

    def pin(self, what: str) -> None:
        """Keep an item (by id) or an exact piece of text until `unpin`."""
        self.pins.add(what)

    def unpin(self, what: str) -> None:
        self.pins.discard(what)
