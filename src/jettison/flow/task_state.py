"""What the task is, read from the messages: the goal and hard constraints, as verbatim spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from jettison.flow.operations import OperationReader
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
_CUE = re.compile(f"{_ENGLISH}|{_RUSSIAN}|{_OTHERS}", re.IGNORECASE)
# A speaker talking of himself or asking does not bind the agent.
_SELF = re.compile(
    r"\b(?:i|we|he|she|they|it|i['’]?(?:m|ve|d|ll))\s+(?:\w+\s+)?$|"
    r"(?:^|\s)(?:я|мы|он|она|они|мне|у меня)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
_CONTINUE = re.compile(
    r"^\W*(?:please\s+)?(?:go on|go ahead|continue|proceed|carry on|next|start|ok(?:ay)?|yes|no|sure|thanks?|thank you|"
    r"продолжай\w*|дальше|давай\w*|да|нет|хорошо|ок|спасибо|начинай\w*|继续|続けて|계속)\b[\W]*$",
    re.IGNORECASE,
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


@dataclass
class TaskReader:
    """Reads each item once and remembers what it said."""

    _readings: dict[str, _Reading] = field(default_factory=dict)
    _reader: OperationReader = field(default_factory=OperationReader)

    def read(self, units: Sequence[Unit], task: Task) -> TaskState:
        """The state of the task after these units, with what the caller declared."""
        users = [unit for unit in units if any(item.kind is Kind.USER for item in unit.items)]
        goals: list[Span] = []
        for unit in dict.fromkeys((*users[:1], *self._current(users))):
            goals += self._goal_spans(unit)
        constraints = tuple(self._constraints(units, task))
        return TaskState(
            tuple(goals), constraints, (*task.operations.values(), *self._operations(units, task)), task.goal
        )

    def _operations(self, units: Sequence[Unit], task: Task) -> Iterator[Operation]:
        step = max((item.step for unit in units for item in unit.items), default=0)
        for op in self._reader.read(units, step):
            released = op.id in task.released or any(need in task.released for need in op.needs)
            yield replace(op, closed="completed by the caller") if op.open and released else op

    def _current(self, users: Sequence[Unit]) -> list[Unit]:
        """The newest user turn that says more than "go on"."""
        for unit in reversed(users):
            text = " ".join(item.text for item in unit.of(Kind.USER))
            if not _CONTINUE.match(text):
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

    def _constraints(self, units: Sequence[Unit], task: Task) -> Iterator[Constraint]:
        said: set[str] = set()
        for unit in units:
            for item in unit.of(Kind.INSTRUCTION, Kind.USER):
                for start, end in self.reading(item).constraints:
                    text = item.text[start:end]
                    key = " ".join(text.lower().split())
                    if key not in said and text not in task.released:
                        said.add(key)
                        yield Constraint(text, Span(item.id, start, end, text), item.role or item.kind.value)
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
    for match in _CUE.finditer(sentence):
        if not _SELF.search(sentence[: match.start()]):
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
