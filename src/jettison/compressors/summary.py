"""A rolling summary of old history: asked of a summariser in pieces it can read, checked, or extracted.

`summarise` is a generator: it yields what is to be asked and receives the answers, so that one logic serves sync and
async callers, and a recorded run can be replayed. `asking` has the two drivers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

from jettison.compressors.extractive import extract
from jettison.compressors.summary_checks import Objection, Why, checked
from jettison.compressors.summary_prompt import REFUSAL, prompt_for
from jettison.compressors.summary_text import Refused, Source, Summary, head_tokens, holds
from jettison.flow.segments import grapheme_cut
from jettison.protocols import Summarizer

__all__ = ["Answer", "Ask", "Limits", "Steps", "summarise"]

WINDOW = 8_000
"""Tokens that a summariser can take when it does not say: all models on record but two of 2023 read 8,192 or more."""


TRIM = 24
"""Tokens of an answer that do not come into the summary: its last line, headings of sections without an entry."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a summary may cost."""

    seconds: float = 60.0
    """For all answers together. What is left of it is given to each question."""
    chunks: int = 8
    """Pieces of the summariser's window that are read. A longer source is first reduced by extraction, and a note
    says so; with the merging that is at most 15 questions and as many second attempts."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Effect: have `summarizer` answer this prompt."""

    summarizer: Summarizer
    prompt: str
    max_tokens: int
    """Of the answer, with its headings and last line."""
    seconds: float
    """After which there is no answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an `Ask`."""

    text: str = ""
    cut: bool = False
    """It was cut at its limit."""
    failure: str = ""
    """Why there is none: the error or time-out, in one line."""
    seconds: float = 0.0
    """How long it took."""


Steps = Generator[Ask, Answer, "Summary | Refused"]
_Asking = Generator[Ask, Answer, "str | Objection"]


class _Failed(Exception):
    """The summariser cannot go on: it failed, is out of time, or cannot read enough."""


def summarise(
    source: Source,
    *,
    max_tokens: int,
    count: Callable[[str], int],
    summarizer: Summarizer | None = None,
    limits: Limits = Limits(),
) -> Steps:
    """A summary of at most `max_tokens` as rendered, which replaces `source.previous`, or why there is none.

    Without a summariser, and when it fails or is refused twice, the text is extracted; `Summary.notes` says so.
    Refused when the values to keep do not fit, or a summary would not be shorter than what it stands for.
    """
    if not source.text.strip() or source.covered < 1:
        return Refused("there is nothing to summarise")
    source = replace(source, open=tuple(value for value in source.open if holds(source.text, value)))
    room = max_tokens - head_tokens(source.covered, count)
    whole = count(source.text)
    absent = [value for value in source.must_keep if not holds(source.text, value)]
    if absent:
        return Refused(f"must be kept and is not in the text: {', '.join(absent)}")
    if whole <= max_tokens:
        return Refused(f"a summary would not be shorter: the text has {whole} tokens, {max_tokens} are allowed")
    notes: tuple[str, ...] = ()
    calls = 0
    if summarizer is not None:
        work = _Work(source, room, whole, count, summarizer, limits)
        name = _name(summarizer)
        try:
            body = yield from work.written()
        except _Failed as failed:
            body, why = None, str(failed)
        else:
            why = f"refused twice, {body}" if isinstance(body, Objection) else ""
        calls, notes = work.calls, tuple(work.notes)
        if isinstance(body, str):
            return _summary(body, source, count, name, calls, notes)
        notes = (*notes, f"no summary by {name} ({why}): extracted from the text instead")
    body = extract(source, room, count) if room > 0 else ""
    if not body or not all(holds(body, value) for value in source.must_keep):
        return Refused(f"what must be kept does not fit in {max_tokens} tokens", notes, calls)
    return _summary(body, source, count, "extractive", calls, notes)


def _summary(
    body: str, source: Source, count: Callable[[str], int], by: str, calls: int, notes: tuple[str, ...]
) -> Summary:
    tokens = head_tokens(source.covered, count) + count(body)
    return Summary(body, source.covered, tokens, by, calls, notes)


def _name(summarizer: Summarizer) -> str:
    return str(getattr(summarizer, "name", None) or getattr(summarizer, "__name__", type(summarizer).__name__))


@dataclass
class _Work:
    """One summary by a summariser: cut to its window, asked, checked, merged."""

    source: Source
    room: int
    whole: int
    """Tokens of the source."""
    count: Callable[[str], int]
    summarizer: Summarizer
    limits: Limits
    calls: int = 0
    spent: float = 0.0
    notes: list[str] = field(default_factory=list)

    def written(self) -> Generator[Ask, Answer, str | Objection]:
        """Summarise piece by piece and merge the answers, until one piece is left. Raises _Failed."""
        data, pieces = self.sizes()
        chunks = self.packed(pieces, data)
        if len(chunks) > self.limits.chunks:
            self.notes.append(f"{len(chunks)} windows of text were first reduced by extraction to {self.limits.chunks}")
            chunks = self.reduced(data)
        while len(chunks) > 1:
            out = min(self.room, data // 3)
            answers = []
            for chunk in chunks:
                answers.append((yield from self.part(chunk, out)))
            fewer = self.packed(answers, data)
            if len(fewer) >= len(chunks):
                raise _Failed("its answers do not get fewer")
            chunks = fewer
        return (yield from self.asked(chunks[0], self.source, self.room, self.whole))

    def reduced(self, data: int) -> list[str]:
        """The source extracted to as many chunks as are allowed. Packing wastes room, so it may take a second try."""
        share = data * self.limits.chunks * 4 // 5
        while share > data // 2:
            body = extract(self.source, share, self.count)
            chunks = self.packed(body.split("\n"), data)
            if body and len(chunks) <= self.limits.chunks:
                return chunks
            share = share * 3 // 4
        raise _Failed(f"the text is longer than {self.limits.chunks} of its windows and cannot be reduced")

    def sizes(self) -> tuple[int, list[str]]:
        """(tokens of data that fit in a prompt, the source as pieces)."""
        window = int(getattr(self.summarizer, "window", None) or WINDOW)
        frame = self.count(prompt_for("", self.source, self.room)) + REFUSAL // 2 + TRIM + 16
        data = window - self.room - frame
        if data < max(64, self.room // 2):
            raise _Failed(f"its window of {window} tokens leaves {max(0, data)} for the text")
        earlier = [f"earlier summary:\n{self.source.previous.text}"] if self.source.previous else []
        return data, [*earlier, *map(str, self.source.parts)]

    def packed(self, pieces: Sequence[str], room: int) -> list[str]:
        """Pieces joined to chunks of at most `room` tokens, in order; what is longer is cut."""
        chunks: list[list[str]] = [[]]
        left = room
        for piece in (cut for whole in pieces for cut in self.split(whole, room)):
            cost = self.count(piece) + 1
            if cost > left and chunks[-1]:
                chunks.append([])
                left = room
            chunks[-1].append(piece)
            left -= cost
        return ["\n".join(chunk) for chunk in chunks if chunk]

    def split(self, text: str, room: int) -> list[str]:
        """The text in pieces of fewer than `room` tokens, cut at a line's end, white space, or between graphemes."""
        tokens = self.count(text)
        if tokens < room:
            return [text] if text.strip() else []
        if len(text) < 2:
            raise _Failed("its window is too small")
        size = max(1, len(text) * room * 3 // (4 * tokens))
        pieces = []
        start = 0
        while start < len(text):
            end = start + size
            if end < len(text):
                end = max(text.rfind("\n", start + size // 2, end), text.rfind(" ", start + size // 2, end)) + 1
                end = end or start + max(1, grapheme_cut(text[start : start + size + 64], size))
            piece = text[start:end]
            pieces += [piece] if self.count(piece) < room else self.split(piece, room)
            start = end
        return pieces

    def part(self, chunk: str, out: int) -> Generator[Ask, Answer, str]:
        """The summary of one piece: the piece itself if it is short, extracted if the answer is refused twice."""
        size = self.count(chunk)
        if size <= out:
            return chunk
        source = replace(
            self.source,
            parts=(),
            previous=Summary(chunk, 1),  # it is read as one: labels at the beginning of lines say who speaks
            must_keep=tuple(value for value in self.source.must_keep if holds(chunk, value)),
            open=tuple(value for value in self.source.open if holds(chunk, value)),
        )
        answer = yield from self.asked(chunk, source, out, size)
        if isinstance(answer, str):
            return answer
        self.notes.append(f"a part of the summary was extracted: refused twice, {answer}")
        body = extract(source, out, self.count)
        if not body or not all(holds(body, value) for value in source.must_keep):
            raise _Failed(f"what must be kept of a part does not fit in {out} tokens")
        return body

    def asked(self, chunk: str, source: Source, out: int, size: int) -> _Asking:
        """The checked answer to one piece, at the second attempt with the objection to the first. Raises _Failed."""
        objection: Objection | None = None
        for _ in range(2):
            prompt = prompt_for(chunk, source, out, objection)
            left = self.limits.seconds - self.spent
            if left <= 0:
                raise _Failed(f"no time left of {self.limits.seconds:g} s")
            self.calls += 1
            answer = yield Ask(self.summarizer, prompt, out + TRIM, left)
            self.spent += answer.seconds
            if answer.failure:
                raise _Failed(answer.failure)
            found = (
                Objection(Why.CUT, f"at {out} tokens")
                if answer.cut
                else checked(answer.text, source, out, self.count, input_tokens=size)
            )
            if isinstance(found, str):
                return found
            objection = found
        assert objection is not None
        return objection
