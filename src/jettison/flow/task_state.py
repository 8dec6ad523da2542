"""What the task is, read from the messages: the goal and hard constraints, as verbatim spans, and what is under way."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from jettison.flow.exchanges import Exchanges
from jettison.flow.goals import Turn, acknowledges, asks_for, dropped, is_only_about, turn_of
from jettison.flow.operations import OperationReader
from jettison.flow.places import PlaceReader
from jettison.flow.prose import is_label, rules_of
from jettison.flow.quoting import asides
from jettison.flow.standing import StandingReader
from jettison.items import Item, Kind, Unit
from jettison.task import Constraint, Operation, Pin, Span, Task, TaskState

__all__ = ["TaskReader"]

SPOKEN = (Kind.INSTRUCTION, Kind.USER)
GOAL_PROSE = 1_200
"""Characters of prose kept of a goal that is too large to keep whole: its first and its last half of that.
In the recorded sets 9 of 10 user turns are shorter (tau-airline: 95 %); the request stands first or last."""


@dataclass(frozen=True, slots=True)
class _Reading:
    prose: tuple[tuple[int, int], ...]
    constraints: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Said:
    """What some units said, in order."""

    original: Unit | None = None
    """The turn with the goal that the task began with, or that replaced it."""
    firm: Turn = Turn.EMPTY
    """What that turn was: one that only asked, nudged or pasted data gives way to the first request."""
    turned: Unit | None = None
    """The latest turn that changed the course."""
    latest: Unit | None = None
    """The newest turn that says more than "go on"."""
    asked: Unit | None = None
    """A question or an order in passing, newer than that."""
    constraints: list[Constraint] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)
    """Results by tool."""
    spoken: list[Unit] = field(default_factory=list)
    """Units with instructions or a user's words."""
    waiting: list[Unit] = field(default_factory=list)
    """Units with calls that are not answered."""
    exchanges: Exchanges = field(default_factory=Exchanges)
    step: int = 0

    def copy(self) -> _Said:
        parts = (self.original, self.firm, self.turned, self.latest, self.asked)
        lists = list(self.spoken), list(self.waiting)
        return _Said(*parts, list(self.constraints), dict(self.answered), *lists, self.exchanges.copy(), self.step)

    def held(self) -> list[Unit]:
        """The requests that hold, each once."""
        turns = dict.fromkeys((self.original, self.turned, self.latest, self.asked))
        return [unit for unit in turns if unit is not None]

    def turn(self, unit: Unit, turn: Turn, firm: bool = False) -> None:
        """Take in a user turn. `firm`: the first thing that is asked for does not give way to the next."""
        if turn is Turn.EMPTY or (turn < Turn.SAYS and self.firm > Turn.PASTED):
            if turn is Turn.ASKS or turn is Turn.LEANS:
                self.asked = unit
            if turn is Turn.LEANS:
                self.firm = Turn.SAYS  # "fix it": the question it leans on was the task
            return
        if turn is Turn.PASTED and self.original is not None:
            return
        self.asked = None
        if turn is Turn.REPLACES:
            # "Forget that" speaks of the goal at hand: the original falls only where nothing else was asked since.
            self.original = unit if self.latest is self.original else self.original
            self.turned = unit
        elif turn is Turn.CHANGES:
            self.turned = unit
        if self.original is None or self.firm < Turn.SAYS:
            self.original, self.firm = unit, min(turn, Turn.SAYS)
            if turn > Turn.PASTED and (firm or _names_a_number(unit)):
                self.firm = Turn.SAYS
        self.latest = unit

    def drop(self, given_up: Callable[[Unit], bool], unit: Unit) -> None:
        """Let goals go that a turn gave up by name; what it asks for takes their place."""
        if self.original is not None and self.original is not unit and given_up(self.original):
            self.original = unit
        if self.turned is not None and self.turned is not unit and given_up(self.turned):
            self.turned = unit


@dataclass
class TaskReader:
    """Reads each item once and remembers what it said. What is settled, all but the newest unit, is not read again."""

    _readings: dict[str, _Reading] = field(default_factory=dict)
    _operations: OperationReader = field(default_factory=OperationReader)
    _places: PlaceReader = field(default_factory=PlaceReader)
    _units: list[Unit] = field(default_factory=list)
    _said: _Said = field(default_factory=_Said)
    _limits: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """By pin: step and count of calls when it was first seen."""

    def __post_init__(self) -> None:
        self.spoken: Sequence[Unit] = ()
        """Of the history that was read last: its units with instructions or a user's words."""
        self.waiting: Sequence[Unit] = ()
        """… and those with calls that are not answered."""
        self.sought: Collection[str] = frozenset()
        """The texts that were looked for in it: those without a place in the state stand nowhere."""
        self._standing = StandingReader(lambda item: self.reading(item).constraints)

    def read(self, units: Sequence[Unit], task: Task, tools: Collection[str] = ()) -> TaskState:
        """The state of the task after these units, with what the caller declared. `tools`: names of declared tools."""
        if len(self._units) > len(units) or not all(map(is_, self._units, units)):
            self._units, self._said = [], _Said()
            for reader in (self._operations, self._places, self._standing):
                reader.restart()
        last = max(len(self._units), len(units) - 1)
        settled, newest = units[len(self._units) : last], units[last:]
        self._units += settled
        for reader in (self._operations, self._places, self._standing):
            reader.settle(settled)
        self._take(settled, self._said)
        said = self._said.copy()
        self._take(newest, said)
        self.spoken, self.waiting = said.spoken, said.waiting
        operations: tuple[Operation, ...] = (
            *task.operations.values(),
            *(_released(op, task) for op in self._operations.read(newest, said.step)),
        )
        if task.deferred:
            operations = tuple(replace(op, deferred=True) if op.id in task.deferred else op for op in operations)
        pins = tuple(self._pins(task, said))
        needs = [need for op in operations if op.open for need in op.needs]
        declared = [*task.constraints, *([task.goal] if task.goal else [])]
        self.sought = frozenset((*needs, *declared, *(pin.what for pin in pins)))
        places = self._places.find((*needs, *declared, *(pin.what for pin in pins)), newest)
        return TaskState(
            goals=tuple(self._goals(said, task, places)),
            constraints=tuple(_in_force(said.constraints, task, places)),
            operations=operations,
            declared_goal=task.goal,
            facts=tuple(
                fact
                for fact in (*self._standing.read(newest, said.step, tools), *said.exchanges.facts(said.held()))
                if fact.item not in task.released
            ),
            places=places,
            pins=pins,
            notes=(*_notes(task, operations, places), *_unknown(pins, places, units)),
        )

    def _take(self, units: Sequence[Unit], said: _Said) -> None:
        for unit in units:
            if not unit.kinds.isdisjoint(SPOKEN):
                said.spoken.append(unit)
            if any(unit.unanswered()):
                said.waiting.append(unit)
            spoke = False
            for item in unit.items:
                kind = item.kind
                if item.step > said.step:
                    said.step = item.step
                if kind is Kind.USER or kind is Kind.INSTRUCTION:
                    spoke = spoke or kind is Kind.USER
                    said.constraints += self._constraints(item)
                elif kind is Kind.RESULT and item.name:
                    said.answered[item.name] = said.answered.get(item.name, 0) + 1
            if spoke:
                self._heard(unit, said)
            else:
                said.exchanges.said(unit)

    def _heard(self, unit: Unit, said: _Said) -> None:
        """A user turn: what it does to the goal, and which goals it gives up by their names."""
        lines = self._lines(unit)
        turn, before = self._turn(unit, lines), said.latest
        said.turn(unit, turn, firm=turn is Turn.LEANS and any(map(asks_for, lines)))
        if turn is Turn.REPLACES:
            said.exchanges.dropped()
        said.exchanges.heard(unit, lines, turn, before if said.latest is not before else None)
        words = dropped(lines) if turn >= Turn.SAYS else None
        if words:
            said.drop(lambda goal: is_only_about(self._lines(goal), words), unit)

    def _lines(self, unit: Unit) -> list[str]:
        return [item.text[start:end] for item in unit.of(Kind.USER) for start, end in self.reading(item).prose]

    def _turn(self, unit: Unit, lines: list[str]) -> Turn:
        if lines and all(map(is_label, lines)) and self._pastes(unit):
            return Turn.PASTED
        if not lines:
            said = [item.text for item in unit.of(Kind.USER) if item.text.strip()]
            return Turn.EMPTY if all(acknowledges(text) or _only_asides(text) for text in said) else Turn.PASTED
        return turn_of(lines)

    def _pastes(self, unit: Unit) -> bool:
        """Whether there is more in a user turn than its prose, or data on the line of a label."""
        for item in unit.of(Kind.USER):
            prose, at = self.reading(item).prose, 0
            for start, end in prose:
                if item.text[at:start].strip() or not item.text[start:end].endswith(":"):
                    return True
                at = end
            if item.text[at:].strip():
                return True
        return False

    def _constraints(self, item: Item) -> Iterator[Constraint]:
        for start, end in self.reading(item).constraints:
            text = item.text[start:end]
            yield Constraint(text, Span(item.id, start, end, text), item.role or item.kind.value)

    def reading(self, item: Item) -> _Reading:
        """The prose and the binding pieces of an item, read once."""
        known = self._readings.get(item.id)
        if known is None:
            parts, beside = tuple(rules_of(item.text)), asides(item.text)
            said = ((start, end) for start, end, binds in parts if not binds)
            prose = tuple(span for span in said if not any(start < span[1] and span[0] < end for start, end in beside))
            known = _Reading(prose, tuple((start, end) for start, end, binds in parts if binds))
            self._readings[item.id] = known
        return known

    def _goals(self, said: _Said, task: Task, places: dict[str, Span]) -> Iterator[Span]:
        """Spans of the original goal, then of the current one: the declared where it stands in the history."""
        place = places.get(task.goal) if task.goal else None
        turns = [said.original, *([] if place else [said.turned, said.latest, said.asked])]
        for unit in dict.fromkeys(turns):
            if unit is not None:
                yield from self._goal_spans(unit)
        if place is not None:
            yield place

    def _goal_spans(self, unit: Unit) -> Iterator[Span]:
        for item in unit.of(Kind.USER):
            prose = self.reading(item).prose or ((0, min(len(item.text), GOAL_PROSE)),)
            spans = [span for span in prose if not acknowledges(item.text[slice(*span)])]
            room = GOAL_PROSE
            chosen: set[tuple[int, int]] = set()
            for start, end in (*spans[:3], *reversed(spans), *spans):
                if (start, end) not in chosen and (end - start <= room or not chosen):
                    chosen.add((start, end))
                    room -= end - start
            for start, end in sorted(chosen):
                if end > start:
                    yield Span(item.id, start, end, item.text[start:end])

    def _pins(self, task: Task, said: _Said) -> Iterator[Pin]:
        """Pins in force, with what ends each."""
        for what in sorted(task.pins):
            limit = task.limits.get(what)
            if limit is None:
                yield Pin(what, "unpinned by the caller")
                continue
            calls = said.answered.get(limit.call or "", 0)
            step, before = self._limits.setdefault((what, limit.number), (said.step, calls))
            if limit.steps is not None and said.step - step >= limit.steps:
                continue
            if limit.call is not None and calls > before:
                continue
            ends = [f"{limit.steps} steps from step {step} have passed"] if limit.steps is not None else []
            ends += [f"{limit.call} has answered"] if limit.call is not None else []
            yield Pin(what, " or ".join(ends))


def _only_asides(text: str) -> bool:
    """Whether a text is nothing but what a host put there."""
    at = 0
    for start, end in asides(text):
        if text[at:start].strip():
            return False
        at = end
    return at > 0 and not text[at:].strip()


def _names_a_number(unit: Unit) -> bool:
    """Whether a turn has a number: "where is ORD-17?" is the subject of what follows, "do you know CSV?" is not."""
    return any(map(str.isdigit, "".join(item.text for item in unit.of(Kind.USER))))


def _released(op: Operation, task: Task) -> Operation:
    """The operation, closed if the caller lifted it."""
    lifted = op.open and (op.id in task.released or any(need in task.released for need in op.needs))
    return replace(op, closed="completed by the caller") if lifted else op


def _in_force(constraints: Sequence[Constraint], task: Task, places: dict[str, Span]) -> Iterator[Constraint]:
    """Each constraint once, whatever its case and white space, less the released ones; then the declared ones.

    Said again it is held where it was said last: between the two it may have been lifted.
    """
    newest: dict[str, Constraint] = {}
    for constraint in constraints:
        if constraint.text not in task.released:
            key = " ".join(constraint.text.lower().split())
            newest.pop(key, None)
            newest[key] = constraint
    yield from newest.values()
    for text in task.constraints:
        yield Constraint(text, places.get(text), "declared")


def _notes(task: Task, operations: Sequence[Operation], places: dict[str, Span]) -> Iterator[str]:
    if task.goal and task.goal not in places:
        yield "the declared goal stands nowhere in the history in these words: the inferred goal is kept as well"
    for text in task.constraints:
        if text not in places:
            yield f"the declared constraint {text[:80]!r} stands nowhere in the history: nothing can be kept for it"
    known = {op.id for op in operations} | {op.handle for op in operations}
    for name in sorted(task.released):
        if re.fullmatch(r"op-\d+", name) and name not in known:
            yield f"complete({name!r}): there is no operation of that id"
    late = [op.id for op in operations if (op.closed or "").startswith("timed out")]
    if late:
        yield f"timed out without a word of completion, and no longer held: {', '.join(late[:10])}"


def _unknown(pins: Sequence[Pin], places: dict[str, Span], units: Sequence[Unit]) -> Iterator[str]:
    """What is pinned and stands nowhere: an item id of another history, or a slip of the pen."""
    lost = {pin.what for pin in pins if pin.what not in places}
    if lost:
        lost -= {item.id for unit in units for item in unit.items}
    for what in sorted(lost):
        yield f"the pin {what[:80]!r} is no item id and stands nowhere in the history: nothing can be kept for it"
