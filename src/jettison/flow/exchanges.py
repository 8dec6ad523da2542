"""Exchanges: what was said to one another and means nothing alone. A short answer needs its question; a request that
stays held needs the word of how it ended, or it would be done again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jettison.flow.answers import says_yes_or_no
from jettison.flow.goals import Turn
from jettison.items import Item, Kind, Unit
from jettison.task import Fact, Span

__all__ = ["Exchanges"]

SHORT = 80
"""Characters of an answer that leans on its question. By judgement: what is longer names what it means."""
FEW, NAMED = 3, 30
"""Words and characters of an answer that names a thing, and nothing to do with it: "2", "the second one"."""
ASKED, OFFERED = 300, 800
"""Characters at the end of a text in which its question stands, and those that are held of it: a proposal, a list of
options, a plan of a few steps."""
CLOSING = 240
"""Characters held of the word of how a request ended: its first sentences."""
MOST = 3
"""Answered questions that are held. In the dialogues of tau-airline a held one is 60 tokens long (median)."""

_RUN = "\n" * 5
"""Empty lines of which some are cut in any case (`segments.lines_of`): nothing that is held may have them inside."""
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s|\n|(?<=[。！？])")


@dataclass(slots=True)
class Exchanges:
    """What some units said to one another, in order."""

    spoken: Item | None = None
    """The agent's text that no user turn has followed yet."""
    answered: tuple[tuple[Item, Item], ...] = ()
    """(question, short answer) of the user's latest answers."""
    ended: dict[int, Item] = field(default_factory=dict)
    """By the number of a request's unit: what the agent said last before the user asked for something else."""

    def copy(self) -> Exchanges:
        return Exchanges(self.spoken, self.answered, dict(self.ended))

    def said(self, unit: Unit) -> None:
        """Take in what the agent said; a text beside calls is none that waits for an answer."""
        if Kind.ASSISTANT in unit.kinds and Kind.CALL not in unit.kinds:
            self.spoken = next((item for item in reversed(unit.items) if item.kind is Kind.ASSISTANT), self.spoken)
        elif Kind.CALL in unit.kinds:
            self.spoken = None

    def heard(self, unit: Unit, lines: Sequence[str], turn: Turn, request: Unit | None) -> None:
        """Take in a user turn. `lines`: its own words; `request`: the one at hand that it asks for something else
        beside, if it does."""
        spoken, self.spoken = self.spoken, None
        if spoken is None:
            return
        if request is not None:
            self.ended[request.index] = spoken
        words = next(unit.of(Kind.USER), None)
        if words is not None and _leans(" ".join(lines) or words.text, turn, spoken.text):
            self.answered = (*self.answered[1 - MOST :], (spoken, words))

    def dropped(self) -> None:
        """The user has given the task up, and with it what was agreed on."""
        self.answered, self.ended = (), {}

    def facts(self, held: Sequence[Unit]) -> Iterator[Fact]:
        """What is held of all this. `held`: the requests that are."""
        until = f"the user has answered {MOST} newer questions, or drops the task"
        for question, answer in reversed(self.answered):
            for item, why in (question, "question that the user answered"), (answer, "the user's answer to a question"):
                yield Fact(item.id, why, until, _last(item, OFFERED), gives_way=True)
        for unit in held:
            spoken = self.ended.get(unit.index)
            if spoken is not None:
                yield Fact(
                    spoken.id, "how a request ended", "the request is dropped", _first(spoken, CLOSING), gives_way=True
                )


def _leans(reply: str, turn: Turn, said: str) -> bool:
    """Whether a user turn means nothing without what the agent said before it."""
    if not reply.strip() or len(reply) > SHORT or turn is Turn.ASKS:
        return False
    if turn in (Turn.NUDGES, Turn.LEANS) or says_yes_or_no(reply):
        return True
    if turn is not Turn.EMPTY and len(reply.split()) <= FEW and len(reply) <= NAMED:
        return True
    return any(mark in said[-ASKED:] for mark in "?？؟")


def _last(item: Item, most: int) -> Span:
    """The end of a text, from the beginning of a line where that is not far."""
    text, end = item.text, len(item.text.rstrip())
    start = max(0, end - most)
    if start:
        line = text.find("\n", start, end)
        start = line + 1 if 0 <= line < start + most // 2 else start
    start = max(start, text.rfind(_RUN, 0, end) + len(_RUN) if _RUN in text[:end] else 0)
    start = end - len(text[start:end].lstrip())
    return Span(item.id, start, end, text[start:end])


def _first(item: Item, most: int) -> Span:
    """The beginning of a text, to the end of a sentence where there is one."""
    text, start = item.text, len(item.text) - len(item.text.lstrip())
    end = len(text.rstrip())
    if end > start + most:
        ends = [match.start() for match in _SENTENCE_END.finditer(text, start, start + most)]
        end = ends[-1] if ends and ends[-1] > start + most // 3 else start + most
    run = text.find(_RUN, start, end)
    return Span(item.id, start, end if run < 0 else run, text[start : end if run < 0 else run])
