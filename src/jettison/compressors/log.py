"""Logs: every error and warning, the first and the last line, and rare kinds of lines say most; routine says little."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from jettison.compressors.outline import Outline
from jettison.compressors.trace import trace_weights
from jettison.compressors.trouble import trouble
from jettison.flow.segments import Segmented

__all__ = ["FEW", "RARE", "beside", "outline", "stamped", "templates"]

FEWEST = 6
"""Lines below which a text is no log."""
LEAST = 0.5
"""Share of lines with a time or a level at their beginning."""
ALIKE = 0.2
"""… or at most this many kinds of lines a line, …"""
MANY = 20
"""… of at least so many lines with words in them."""
RARE = 0.02
"""Share of the lines that may be called rare; where more are, there is no routine to stand out from."""
NEAR = 2
"""Neighbours of an error on each side that explain it."""
FEW = 3
"""Errors (or a `RARE` share of the lines) up to which each comes with the lines around it, whatever they say."""
PIECES = 6
"""Pieces (of 160 characters) on each side of a severe one that count as its line."""
REPEATED = 0.75
"""Weight of an error that is neither the first nor the last of its kind, of its full weight."""
SHOWN, SHOWN_WIDTH = 3, 48
"""Kinds of cut lines that are named, and characters of each."""
_SAMPLE = 200
_PREFIX_WIDTH = 32

_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|FATAL|CRIT(?:ICAL)?|SEVERE|ОШИБКА|ИНФО|ПРЕДУПРЕЖДЕНИЕ)"
_PREFIX = re.compile(
    rf"\s{{0,8}}(?:\d{{1,7}}[:\t] ?)?(?:[\[(<\"]?\d{{4}}[-/.]\d\d[-/.]\d\d|"
    rf"[\[(]?\d\d[-/.]\d\d[-/.]\d{{2,4}}[ T]\d\d:\d\d|"
    rf"[\[(]?\d\d:\d\d:\d\d|[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d|\[?\d{{10}}(?:\.\d+|\d{{3}})?[\]\s]|[IWEF]\d{{4}} \d\d:|"
    rf"\d{{1,3}}(?:\.\d{{1,3}}){{3}} \S+ \S+ \[|\[?{_LEVEL}\b|\[\w+\] {_LEVEL}\b|time=|level=|"
    r"\{\"(?:@?time\w*|ts|level|severity|date|msg|message|logger)\")"
)
_CALM = re.compile(r"\b(?:INFO|DEBUG|TRACE|NOTICE|ИНФО|info|debug|trace|level=info)\b")
# Each alternative begins at a word's first character, so a failed attempt costs one walk over one word.
_VARIABLE = re.compile(
    r"\b\w*\d[\w.:+\-]*|(?:/[\w.\-]+){2,}|\b[0-9a-f]{12,}\b|(?<==)[^\s,;\"&]+|'[^'\n]{1,80}'|\"[^\"\n]{1,80}\""
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_NO_DIGITS = str.maketrans("", "", "0123456789")
_LEADING = re.compile(r"^[\W_*]+")


def outline(parts: Segmented) -> Outline | None:
    """The outline of a log: many lines that begin with a time or a level, or many lines of few kinds."""
    if parts.structured or len(parts.segments) < FEWEST:
        return None
    lines = [segment.text for segment in parts.segments]
    whole = _beginnings(parts)
    timed = len(whole) >= FEWEST and stamped(whole)
    if not timed and (len(whole) < MANY or not _alike(whole)):
        return None
    kinds = templates(lines)
    counts = Counter(kinds)
    if not timed and len(counts) > ALIKE * len(lines):
        return None
    severe = _severity(lines)
    weights = _weights(parts, kinds, counts, severe)
    errors = [index for index, severity in severe.items() if weights[index] >= 0.5]
    few = errors if len(errors) <= max(FEW, RARE * len(lines)) else []
    near, about = _near(errors, len(lines)), _About(kinds, frozenset(errors))
    return Outline("log", weights, beside(few, len(lines)), near, alarms=frozenset(few), about=about)


def _beginnings(parts: Segmented) -> list[str]:
    """The first piece of each line: a long line is cut into several."""
    if parts.segments[-1].line + 1 == len(parts.segments):
        return [segment.text for segment in parts.segments]
    last, out = -1, []
    for segment in parts.segments:
        if segment.line != last:
            last = segment.line
            out.append(segment.text)
    return out


def _sample(lines: Sequence[str]) -> list[str]:
    return [line for line in lines[:: max(1, len(lines) // _SAMPLE)] if line and not line.isspace()]


def stamped(lines: Sequence[str]) -> bool:
    """Whether most lines of a sample begin with a time or a level."""
    sample = _sample(lines)
    return len(sample) >= FEWEST // 2 and sum(_PREFIX.match(line) is not None for line in sample) >= LEAST * len(sample)


def _alike(lines: Sequence[str]) -> bool:
    """Whether a sample has few kinds of lines, with words in the kinds (a list of paths or numbers has none)."""
    sample = _sample(lines)
    kinds = templates(sample)
    worded = sum([len(_WORD.findall(kind)) > 1 for kind in kinds])
    return len(sample) >= MANY and len(set(kinds)) <= ALIKE * 2 * len(sample) and worded >= 0.8 * len(sample)


def templates(lines: Sequence[str]) -> list[str]:
    """The kind of each line: the line with numbers, ids, paths, values and quoted texts masked as `*`.

    Where that leaves most lines of a kind of their own, the kind is the beginning of the masked line.
    """
    if not lines:
        return []
    whole = "\n".join(lines)
    if whole.isascii():
        bare = whole.translate(_NO_DIGITS).split("\n")
        example = dict(zip(bare, lines, strict=True))  # lines that differ in digits alone are masked once
        short = _VARIABLE.sub("*", "\n".join(example.values())).split("\n")
        kind = dict(zip(example, short, strict=True))
        masked = [kind[line] for line in bare]
    else:  # there `translate` looks up each character
        masked = _VARIABLE.sub("*", whole).split("\n")
    if len(set(masked)) > 0.3 * len(masked):
        masked = [line[:_PREFIX_WIDTH] for line in masked]
    return masked


def _severity(lines: Sequence[str]) -> dict[int, float]:
    """Errors and warnings; where the line's own level says that all is well, less."""
    return {
        index: severity * (0.6 if _CALM.search(lines[index], 0, 80) else 1.0)
        for index, severity in sorted(trouble(lines).items())
    }


def _weights(parts: Segmented, kinds: Sequence[str], counts: Counter[str], severe: dict[int, float]) -> list[float]:
    rare = _rare(counts, len(kinds))
    weights = [0.7 if kind in rare else 0.1 for kind in kinds] if rare else [0.1] * len(kinds)
    if counts[""]:
        weights = [weight if segment.text else 0.0 for weight, segment in zip(weights, parts.segments, strict=True)]
    for index in dict(zip(reversed(kinds), range(len(kinds) - 1, -1, -1), strict=True)).values():
        if kinds[index] and counts[kinds[index]] > 1:
            weights[index] = max(weights[index], 0.3)  # the first of its kind
    for index in (0, len(kinds) - 1):
        weights[index] = max(weights[index], 0.6)
    last = {kinds[index]: index for index in severe}
    seen: set[str] = set()
    for index, severity in severe.items():
        edge = kinds[index] not in seen or last[kinds[index]] == index
        seen.add(kinds[index])
        weights[index] = max(weights[index], severity if edge else severity * REPEATED)
    for index in severe:
        _around(parts, index, weights)
    for index, weight in trace_weights(parts).items():
        weights[index] = max(0.0, weight)
    return weights


def _around(parts: Segmented, index: int, weights: list[float]) -> None:
    """What belongs to the line of a severe piece weighs nearly as much: its time and level, the rest of its message."""
    line = parts.segments[index].line
    for step in (-1, 1):
        at = index + step
        while 0 <= at < len(weights) and parts.segments[at].line == line and abs(at - index) <= PIECES:
            weights[at] = max(weights[at], weights[index] * 0.9)
            at += step


def _rare(counts: Counter[str], lines: int) -> set[str]:
    """The rarest kinds, while their lines together are few."""
    if len(counts) > 0.3 * lines:
        return set()
    few = max(1, int(RARE * lines))
    rare: set[str] = set()
    total = 0
    for kind, count in sorted(counts.items(), key=lambda entry: entry[1]):
        total += count
        if total > few or count * 10 > lines:
            break
        if kind:
            rare.add(kind)
    return rare


def _near(errors: Sequence[int], size: int) -> dict[int, int]:
    taken = set(errors)
    return {
        index: error
        for distance in range(NEAR, 0, -1)
        for error in errors
        for index in (error - distance, error + distance)
        if 0 <= index < size and index not in taken
    }


def beside(errors: Sequence[int], size: int, first: int = 0) -> dict[int, int]:
    """An error → the line after it → the line before it (from `first` on): what led to it and what came of it."""
    taken, label = set(errors), {}
    for error in errors:
        last = error
        for near in (error + 1, error - 1):
            if first <= near < size and near not in taken:
                taken.add(near)
                label[last] = last = near
    return label


class _About:
    """What the cut lines were: the commonest kinds with their counts, and how many errors are still there."""

    def __init__(self, kinds: Sequence[str], errors: frozenset[int]) -> None:
        self.kinds, self.errors = kinds, errors

    def __call__(self, cut: Sequence[int]) -> str:
        if not cut:
            return ""
        counts = Counter(_LEADING.sub("", self.kinds[index]) for index in cut)
        kept = len(self.errors) - sum(index in self.errors for index in cut)
        found = ", ".join(self._named(counts))
        tail = f"; {kept} of {len(self.errors)} errors and warnings kept" if self.errors else ""
        return f"{len(cut)} lines cut: {found}{tail}" if found else f"{len(cut)} lines cut{tail}"

    def _named(self, counts: Counter[str]) -> Iterator[str]:
        named = [(kind, count) for kind, count in counts.most_common(SHOWN) if count > 1 and kind.strip()]
        for kind, count in named:
            short = kind if len(kind) <= SHOWN_WIDTH else kind[:SHOWN_WIDTH].rstrip() + "…"
            yield f"{count} × {short}"
        rest = sum(counts.values()) - sum(count for _, count in named)
        if named and rest:
            yield f"{rest} other"
