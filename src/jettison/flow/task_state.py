"""What the task is, read from the messages: the goal and hard constraints, as verbatim spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from jettison.flow.operations import OperationReader
from jettison.flow.patterns import compiled
from jettison.items import Item, Kind, Unit
from jettison.task import Constraint, Operation, Span, Task, TaskState

__all__ = ["TaskReader", "is_data", "sentences"]

LONGEST_CONSTRAINT = 400
"""Characters; a longer "sentence" is pasted text or a document, and is cut to the clause around its cue."""
GOAL_PROSE = 1_200
"""Characters of prose kept of a goal that is too large to keep whole: its first and its last half of that.
In the recorded sets 9 of 10 user turns are shorter (tau-airline: 95 %); the request stands first or last."""

_BREAK = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|\n+")
_DATA = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|[{}\[\]<|]|#include|import\s|from\s\w+\simport|def\s|class\s|return\b|"
    r"\w+\s*[=(].*[;)]$|at\s\S+\(|File\s\")|[A-Za-z0-9+/=]{60,}|(?:\w+=\S+\s+){2,}"
)
_WORDY = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_ENGLISH = (
    r"\b(?:must(?:n't)?|never|cannot|shall(?: not)?|do not|don['’]t|(?:is|are) not (?:allowed|permitted)|"
    r"not allowed to|"
    r"forbidden|prohibited|under no circumstances|at all costs|mandatory|is required|are required|make sure|be sure|"
    r"ensure|always|only|no more than|at most|no later than|without (?:my|our|asking|approval|permission|confirm\w*)|"
    r"ask (?:me |us )?(?:first|before)|(?:confirm|check) with (?:me|us)|until i (?:say|confirm|approve)|"
    r"before \w[^.]{0,80}\b(?:ask|confirm|check|tell)\b|ask before|avoid|refrain|not before|"
    r"leave \w+ (?:alone|untouched))\b"
)
_RUSSIAN = (
    r"(?:\b(?:нельзя|обязательно|только|никогда|запрещ\w+|недопустим\w+|ни в коем случае|ни при каких|строго|"
    r"должн[аоы]?|не должн\w+|всегда|не надо|не нужно|не более|не позднее|не раньше|исключительно|лишь|"
    r"спрос\w+ (?:меня|у меня)|сначала спроси\w*|без (?:моего|нашего|согласования|разрешения|подтверждения|спроса)|"
    r"пока я не|убедись|убедитесь|избегай\w*)\b|\bне\s+(?:\w+\s+){0,6}без\b|\bперед\b[^.]{0,80}\bспро\w+|"
    r"\bне\s+\w+(?:йте|ите|ьте|ай|уй|яй|ей|ди|жи|ши|ли|ни|ри|си|ти|ги|ки|ми|пи|чи|дь|вь|нь|сь|ть|жь|шь)\b)"
)
_OTHERS = (
    r"不要|请勿|请不|禁止|必须|不得|不许|只能|务必|切勿|一定要|ないでください|しないで|てはいけ|必ず|だけに|"
    r"하지 ?마|지 ?마세요|지 ?마십시오|금지|반드시|\b(?:nunca|no debes?|prohibido|solamente|niemals|auf keinen fall|"
    r"darf nicht|nur wenn|verboten|unbedingt|jamais|interdit|il ne faut pas|uniquement|nur nach|sólo si)\b"
)
_CUE = f"{_ENGLISH}|{_RUSSIAN}|{_OTHERS}"
# One of these stands in every ASCII text that has a cue: looked for first, at a twentieth of the price.
_CUE_STEMS = (
    *("must", "never", "cannot", "shall", "do not", "don'", "not allowed", "not permitted", "forbidden", "prohibited"),
    *("circumstances", "at all costs", "mandatory", "required", "sure", "always", "only", "no more", "at most"),
    *("no later", "without", "ask ", "with me", "with us", "until i", "before", "avoid", "refrain", "leave "),
    *("nunca", "no debe", "prohibido", "solamente", "niemals", "auf keinen", "darf nicht", "nur wenn", "verboten"),
    *("unbedingt", "jamais", "interdit", "il ne faut", "uniquement", "nur nach"),
)
# A speaker talking of himself or asking does not bind the agent.
_SELF = (
    r"\b(?:i|we|he|she|they|it|i['’]?(?:m|ve|d|ll))\s+(?:\w+\s+)?$|"
    r"(?:^|\s)(?:я|мы|он|она|они|мне|у меня)\s+(?:\w+\s+)?$"
)
_CONTINUE = (
    r"^\W*(?:please\s+)?(?:go on|go ahead|continue|proceed|carry on|next|start|ok(?:ay)?|yes|no|sure|thanks?|thank you|"
    r"продолжай\w*|дальше|давай\w*|да|нет|хорошо|ок|спасибо|начинай\w*|继续|続けて|계속)\b[\W]*$"
)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each sentence or line, white space trimmed."""
    start = 0
    for match in _BREAK.finditer(text):
        yield from _trimmed(text, start, match.start())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end


def is_data(line: str) -> bool:
    """Whether a line is pasted data (log, code, JSON, table, base64) and not something said."""
    if _DATA.search(line):
        return True
    letters = sum(map(str.isalpha, line))
    return letters < 0.5 * len(line) or not _WORDY.search(line)


@dataclass(frozen=True, slots=True)
class _Reading:
    prose: tuple[tuple[int, int], ...]
    constraints: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Said:
    """What some units said, in order."""

    users: list[Unit] = field(default_factory=list)
    """Units with a user turn."""
    constraints: list[Constraint] = field(default_factory=list)
    step: int = 0

    def copy(self) -> _Said:
        return _Said(list(self.users), list(self.constraints), self.step)


@dataclass
class TaskReader:
    """Reads each item once and remembers what it said. What is settled, all but the newest unit, is not read again."""

    _readings: dict[str, _Reading] = field(default_factory=dict)
    _operations: OperationReader = field(default_factory=OperationReader)
    _units: list[Unit] = field(default_factory=list)
    _said: _Said = field(default_factory=_Said)

    def read(self, units: Sequence[Unit], task: Task) -> TaskState:
        """The state of the task after these units, with what the caller declared."""
        if len(self._units) > len(units) or not all(map(is_, self._units, units)):
            self._units, self._said = [], _Said()
            self._operations.restart()
        last = max(len(self._units), len(units) - 1)
        settled, newest = units[len(self._units) : last], units[last:]
        self._units += settled
        self._operations.settle(settled)
        self._take(settled, self._said)
        said = self._said.copy()
        self._take(newest, said)
        goals: list[Span] = []
        for unit in dict.fromkeys((*said.users[:1], *self._current(said.users))):
            goals += self._goal_spans(unit)
        found = (_released(op, task) for op in self._operations.read(newest, said.step))
        constraints = tuple(_in_force(said.constraints, task))
        return TaskState(tuple(goals), constraints, (*task.operations.values(), *found), task.goal)

    def _take(self, units: Sequence[Unit], said: _Said) -> None:
        for unit in units:
            spoke = False
            for item in unit.items:
                kind = item.kind
                if item.step > said.step:
                    said.step = item.step
                if kind is Kind.USER or kind is Kind.INSTRUCTION:
                    spoke = spoke or kind is Kind.USER
                    said.constraints += self._constraints(item)
            if spoke:
                said.users.append(unit)

    def _constraints(self, item: Item) -> Iterator[Constraint]:
        for start, end in self.reading(item).constraints:
            text = item.text[start:end]
            yield Constraint(text, Span(item.id, start, end, text), item.role or item.kind.value)

    def _current(self, users: Sequence[Unit]) -> list[Unit]:
        """The newest user turn that says more than "go on"."""
        for unit in reversed(users):
            text = " ".join(item.text for item in unit.of(Kind.USER))
            if not compiled(_CONTINUE).match(text):
                return [unit]
        return []

    def reading(self, item: Item) -> _Reading:
        known = self._readings.get(item.id)
        if known is None:
            known = self._readings[item.id] = _read(item.text)
        return known

    def _goal_spans(self, unit: Unit) -> Iterator[Span]:
        for item in unit.of(Kind.USER):
            spans = self.reading(item).prose
            room = GOAL_PROSE
            chosen: set[tuple[int, int]] = set()
            for start, end in (*spans[:3], *reversed(spans), *spans):
                if (start, end) not in chosen and (end - start <= room or not chosen):
                    chosen.add((start, end))
                    room -= end - start
            for start, end in sorted(chosen):
                yield Span(item.id, start, end, item.text[start:end])


def _released(op: Operation, task: Task) -> Operation:
    """The operation, closed if the caller lifted it."""
    lifted = op.open and (op.id in task.released or any(need in task.released for need in op.needs))
    return replace(op, closed="completed by the caller") if lifted else op


def _in_force(constraints: Sequence[Constraint], task: Task) -> Iterator[Constraint]:
    """Each constraint once, whatever its case and white space, less the released ones; then the declared ones."""
    said: set[str] = set()
    for constraint in constraints:
        key = " ".join(constraint.text.lower().split())
        if key not in said and constraint.text not in task.released:
            said.add(key)
            yield constraint
    for text in task.constraints:
        yield Constraint(text, None, "declared")


def _read(text: str) -> _Reading:
    prose, constraints = [], []
    for start, end in sentences(text):
        line = text[start:end]
        if is_data(line):
            continue
        prose.append((start, end))
        cue = _constraint_cue(line)
        if cue is not None:
            constraints.append(_clause(text, start, end, start + cue))
    return _Reading(tuple(prose), tuple(constraints))


def _constraint_cue(sentence: str) -> int | None:
    """Offset of the first cue that binds the agent, None without one."""
    if sentence.rstrip("\"') ").endswith(("?", "？")):
        return None
    if sentence.isascii() and not any(map(sentence.lower().__contains__, _CUE_STEMS)):
        return None
    for match in compiled(_CUE).finditer(sentence):
        if not compiled(_SELF).search(sentence[: match.start()]):
            return match.start()
    return None


def _clause(text: str, start: int, end: int, cue: int) -> tuple[int, int]:
    """The sentence, or of a very long one the part around its cue, cut at white space."""
    if end - start <= LONGEST_CONSTRAINT:
        return start, end
    left = max(start, cue - LONGEST_CONSTRAINT // 2)
    right = min(end, cue + LONGEST_CONSTRAINT // 2)
    while left > start and not text[left - 1].isspace():
        left -= 1
    while right < end and not text[right].isspace():
        right += 1
    return left, right
