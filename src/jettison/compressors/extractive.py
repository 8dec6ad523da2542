"""The summary without a model: sentences and lines of the source, verbatim, in their order, with gaps marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from jettison.compressors.summary_text import Part, Source, holds
from jettison.flow.constraints import constraint_cue
from jettison.flow.patterns import compiled
from jettison.flow.prose import is_data, sentences
from jettison.flow.segments import grapheme_cut
from jettison.flow.values import text_values

__all__ = ["extract", "unfinished"]

PIECE = 240
"""Characters of a piece at most: a longer "sentence" is data, and is cut at white space. About 60 tokens."""
GAP = "…"
"""Stands, on a line of its own, for what was left out there."""
FRAME = 4
"""Tokens that a piece takes beside its text: a label, a line break, the mark of a gap."""
MISSES = 100
"""Pieces in a row that do not fit, after which no other is counted."""
INDENT = "  "
"""Before each further line of a part: text that looks like `user: …` cannot pass for a speaker."""

_UNFINISHED = (
    r"\bnot\b[^.;!?\n]{0,40}\byet\b|n['’]t\b[^.;!?\n]{0,40}\byet\b|\b(?:still|yet) (?:to|not|need\w*|waiting|open)\b|"
    r"\bnot (?:been )?(?:done|started|finished|pressed|sent|confirmed|submitted|completed?)\b|\bto ?do\b|"
    r"\b(?:pending|waiting|awaiting|in progress|unfinished|remain(?:s|ing)|left to do|next (?:step|week|i will))\b|"
    r"\bещ[её] не\b|\bпока не\b|\bне (?:готов|сделан|завершен|завершён|отправлен|подтвержд[её]н|начат)\w*|"
    r"\b(?:жд[уеё]м?|ожида\w+|в процессе|в работе|в очереди|осталось|незаверш\w+|предстоит|нужно ещ[её])\b|"
    r"还没|尚未|等待|まだ|아직"
)
_DECIDED = (
    r"\b(?:decided|agreed|we(?:['’]ll| will) use|let['’]s|going with|chose|chosen|approved|settled on|the plan is|"
    r"instead|prefer\w*|confirmed|because)\b|"
    r"\b(?:решил\w*|решено|договорил\w*|выбрал\w*|выбран\w*|будем|остановил\w* на|согласован\w*|утвержд\w+|"
    r"вместо|предпоч\w+|потому что|подтверд\w+)\b"
)
_NEWS = (
    r"\b(?:done|complete[d]?|finished|failed|failure|error|exception|cancel+ed|refunded|succeeded|fixed|merged|created)\b|"
    r"\b(?:готов\w*|сделан\w*|заверш\w+|выполнен\w*|ошибк\w*|не удалось|отмен\w+|возвращ\w+|исправ\w+|создан\w*)\b"
)
# One of these stands in every text that the pattern matches: looked for first, at a twentieth of its price.
_STEMS = {
    _UNFINISHED: "yet|still|not |todo|to do|pending|wait|in progress|unfinished|remain|left to do|next |"
    "ещ|пока не|не |жду|жде|ждё|ожида|в процессе|в работе|в очереди|осталось|незаверш|предстоит|"
    "还没|尚未|等待|まだ|아직",
    _DECIDED: "decided|agreed|will use|ll use|let's|let’s|going with|chose|approved|settled|plan is|instead|prefer|"
    "confirmed|because|решил|решено|договорил|выбра|будем|остановил|согласован|утвержд|вместо|предпоч|потому|"
    "подтверд",
    _NEWS: "done|complete|finished|failed|failure|error|exception|cancel|refunded|succeeded|fixed|merged|created|"
    "готов|сделан|заверш|выполнен|ошибк|не удалось|отмен|возвращ|исправ|создан",
}
_TURNS = r"^\W*(?:but|however|though|although|except|only|still|yet|но|однако|хотя|правда|кроме|зато)\b"
_LABEL = re.compile(r"(user|assistant|document|instruction|call \S+|result \S+|Done|Open|Facts|Decisions): ?", re.ASCII)
_WORD = re.compile(r"[^\W_]{4,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a line or a piece of one, with what must not be told without it; where it stands."""

    part: int
    who: str
    text: str
    glue: str | None = None
    """What stands between it and the unit before it in the same line; None: it begins a line."""


@lru_cache(maxsize=8_192)
def unfinished(text: str) -> bool:
    """Whether a sentence says that something is not done yet."""
    return _says(text, _UNFINISHED)


@cache
def _stems(pattern: str) -> tuple[str, ...]:
    return tuple(_STEMS[pattern].split("|"))


def _says(text: str, pattern: str) -> bool:
    low = text.lower()
    return any(map(low.__contains__, _stems(pattern))) and compiled(pattern).search(text) is not None


def extract(source: Source, max_tokens: int, count: Callable[[str], int]) -> str:
    """A body of at most `max_tokens` tokens, made of pieces of the source; empty when what must be kept takes more.

    First the pieces with a value of `must_keep` or an open operation, then the last word on what is done, what is
    unfinished, what binds or was decided, news of what was done or failed, what has identifiers, the beginnings, the
    rest; words of the task and newer pieces first. The order is a choice, not a measurement. That something is
    pending is left out where it is done by now. No model; linear in the source for a given list of values. It takes 5
    to 9 times as long as counting the text of the recorded sets, 20 times that of talk in which every sentence says
    that something waits or is done: each is read by patterns for what it does. That is paid once for what is
    summarised, half a second for 100,000 tokens of talk.
    """
    units = list(_units(source))
    needed = _needed(units, [*source.must_keep, *source.open])
    ranks, stale = _ranks(units, source.about), set[int]()
    for value in source.done:
        having = _having(units, value)
        stale |= {n for n in having[1:] if unfinished(units[n].text)}
        for n in having[:1]:
            ranks[n] = (-1, -n)
    order = sorted((n for n in range(len(units)) if n not in needed and n not in stale), key=ranks.__getitem__)
    cost = cache(lambda text: count(text) + FRAME)
    chosen, left = set(needed), max_tokens - sum(cost(units[n].text) for n in needed)
    added: list[int] = []
    misses = 0
    for n in order:
        if misses == MISSES or left <= FRAME:
            break
        if cost(units[n].text) > left:
            misses += 1
            continue
        left, misses = left - cost(units[n].text), 0
        chosen.add(n)
        added.append(n)
    text = _written(units, sorted(chosen))
    while count(text) > max_tokens:  # counts do not add up to the token
        if not added:
            return ""
        for _ in range(1 + len(added) // 10):
            chosen.discard(added.pop())
        text = _written(units, sorted(chosen))
    return text


def _units(source: Source) -> Iterator[Unit]:
    values = tuple(dict.fromkeys([*source.must_keep, *source.open, *source.done]))
    for number, part in enumerate([*_earlier(source), *source.parts]):
        yield from _pieces(part, number, values)


def _earlier(source: Source) -> Iterator[Part]:
    """The last summary as parts again: its labels and sections are who speaks; its gap marks go."""
    who, lines = "summary", list[str]()
    for line in source.previous.text.split("\n") if source.previous else ():
        match = _LABEL.match(line)
        if match or line.strip() == GAP:
            if lines:
                yield Part(who, "\n".join(lines))
            who, lines = (match[1] if match else who), []
            line = line[match.end() :] if match else ""
        if line.strip():
            lines.append(line.strip())
    if lines:
        yield Part(who, "\n".join(lines))


def _pieces(part: Part, number: int, values: Sequence[str]) -> Iterator[Unit]:
    text = part.text
    places = [(at, at + len(value)) for value in values if (at := text.rfind(value)) >= 0]
    short = [piece for span in sentences(text) for piece in _short(text, *span)]
    spans = _together(text, short, places)
    for n, (start, end) in enumerate(spans):
        between = text[spans[n - 1][1] : start] if n else "\n"
        yield Unit(number, part.who, text[start:end], None if "\n" in between else between)


def _short(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A span as pieces of at most `PIECE` characters, cut at white space where there is some, never in a grapheme."""
    while end - start > PIECE:
        cut = max(text.rfind(mark, start + PIECE // 2, start + PIECE) for mark in " ,;\t") + 1
        cut = cut or start + max(1, grapheme_cut(text[start : start + PIECE + 64], PIECE))
        yield start, cut
        start = cut
    if text[start:end].strip():
        yield start, end


def _together(text: str, spans: Sequence[tuple[int, int]], places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Joins a sentence that takes back or limits the one before it ("… not confirmed yet", "But …") to that one, and
    pieces between which a value would be cut."""
    out: list[tuple[int, int]] = []
    for start, end in spans:
        said = text[start:end]
        near = bool(out) and "\n" not in text[out[-1][1] : start] and end - out[-1][0] <= 2 * PIECE
        bound = bool(out) and any(at < start and out[-1][1] < stop for at, stop in places if out[-1][0] <= at)
        if bound or (near and (unfinished(said) or compiled(_TURNS).match(said))):
            out[-1] = out[-1][0], end
        else:
            out.append((start, end))
    return out


def _needed(units: Sequence[Unit], values: Sequence[str]) -> set[int]:
    """The newest piece with each value; a piece that has several serves for all of them."""
    chosen: set[int] = set()
    for value in dict.fromkeys(values):
        having = _having(units, value)
        if having and chosen.isdisjoint(having):
            spoken = [n for n in having if unfinished(units[n].text)]
            chosen.add((spoken or having)[0])
    return chosen


def _having(units: Sequence[Unit], value: str) -> list[int]:
    """The pieces with a value, newest first."""
    return [n for n in range(len(units) - 1, -1, -1) if value in units[n].text and holds(units[n].text, value)]


def _ranks(units: Sequence[Unit], about: str) -> list[tuple[int, ...]]:
    words = {word[:6] for word in _WORD.findall(about.lower())}
    seen: set[str] = set()
    ranks: list[tuple[int, ...]] = []
    for n, unit in enumerate(units):
        first = n == 0 or units[n - 1].part != unit.part
        place = 9 if unit.text in seen else _class(unit, first=first)
        seen.add(unit.text)
        shared = len(words & {word[:6] for word in _WORD.findall(unit.text.lower())}) if words else 0
        ranks.append((4 if 4 <= place <= 6 else place, -shared, place, -n))
    return ranks


def _class(unit: Unit, *, first: bool) -> int:
    spoken = unit.who in ("user", "assistant", "Open", "Decisions")
    data = is_data(unit.text)
    if not data:
        if unit.who == "Open" or unfinished(unit.text):
            return 0
        if unit.who in ("user", "Decisions") and constraint_cue(unit.text) is not None:
            return 1
        if spoken and _says(unit.text, _DECIDED):
            return 2
    if _says(unit.text, _NEWS):
        return 3
    named = next(text_values(unit.text), None) is not None
    if spoken and not data:
        return 4 if named else 5 if first else 6
    return 6 if first else 7 if named else 8


def _written(units: Sequence[Unit], order: Sequence[int]) -> str:
    """The chosen pieces in order, each part behind who said it; `…` where something was left out."""
    out: list[str] = []
    last = -1
    for n in order:
        unit = units[n]
        gap = n > last + 1
        same = last >= 0 and units[last].part == unit.part
        if gap:
            out.append(GAP)
        if same and not gap:
            if unit.glue is not None:
                out[-1] += unit.glue + unit.text
            else:
                out.append(INDENT + unit.text)
        else:
            out.append(f"{unit.who}: {unit.text}")
        last = n
    if order and last < len(units) - 1:
        out.append(GAP)
    return "\n".join(out)
