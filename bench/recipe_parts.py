"""What the recipe of the study works on: units with their texts, and the statistics of values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.traces import Message, calls_of, count, text_of, tokens
from jettison.flow.dependencies import is_keyish
from jettison.flow.segments import Segmented, segment
from jettison.flow.values import argument_values, segment_values, shape, text_values

__all__ = ["Statistics", "Text", "Unit", "companions"]

SHAPES = {
    "letters_digits": 2.0,
    "dotted": 2.0,
    "date": 2.0,
    "snake": 1.5,
    "snake_number": 1.5,
    "email": 1.0,
    "hex": 1.0,
    "path": 0.5,
}
"""Log-odds by shape. All numbers of this file are those of algorithm.md ("Worth", "Select")."""
BIAS, FADE = -6.0, 10.0
PAIR, LABELLED = 15, 80
GAP, CUT = "…", "[cut]"
_INDEX = re.compile(r"\[\d+\]")
_HEADING = re.compile(r"\s*(?:def |class |async def |function |func |#+ )")


@dataclass(slots=True, eq=False)
class Text:
    """A user message or a result: its segments, their values and sizes, and what is left of them."""

    message: Message
    parts: Segmented
    values: list[list[str]]
    sizes: list[int]
    kept: set[int]

    @classmethod
    def of(cls, message: Message) -> Text:
        parts = segment(text_of(message))
        values = [list(segment_values(part)) for part in parts.segments]
        sizes = [1 + count(f"{part.key}: {part.text}" if part.key else part.text) for part in parts.segments]
        return cls(message, parts, values, sizes, set(range(len(sizes))))

    def key(self, at: int) -> str:
        """Tool, record path without indices and key of a leaf."""
        part = self.parts.segments[at]
        return f"{self.message.get('name')}|{_INDEX.sub('', part.record)}|{part.key}" if part.key else ""

    def rendered(self, kept: set[int]) -> str:
        """`record: key: value, key: value`, a record a line; or the lines; gaps marked."""
        return "\n".join(_records(self.parts, sorted(kept)) if self.parts.structured else _lines(self.parts, kept))


def _records(parts: Segmented, order: list[int]) -> Iterator[str]:
    last, line = -1, ""
    for at in order:
        here = parts.segments[at]
        said = f"{here.key}: {here.text}" if here.key else here.text
        if last >= 0 and parts.segments[last].line == here.line:
            line += f", {said}"
        else:
            yield from [line] if line else []
            yield from [GAP] if at > last + 1 else []
            line = f"{here.record}: {said}" if here.record else said
        last = at
    yield line
    yield from [GAP] if last + 1 < len(parts.segments) else []


def _lines(parts: Segmented, kept: set[int]) -> Iterator[str]:
    gap = False
    for at, part in enumerate(parts.segments):
        if at in kept:
            yield from [GAP] if gap else []
            yield part.text
        gap = at not in kept
    yield from [GAP] if gap else []


def companions(text: Text, at: int) -> Iterator[int]:
    """What comes with a segment: the label of a leaf's record and a short leaf of it, the heading above a line."""
    segments = text.parts.segments
    if not text.parts.structured:
        above = range(at - 1, max(-1, at - 1 - LABELLED), -1)
        yield from [one for one in above if _HEADING.match(segments[one].text)][:1]
        return
    low = high = at
    while low > 0 and segments[low - 1].line == segments[at].line:
        low -= 1
    while high + 1 < len(segments) and segments[high + 1].line == segments[at].line:
        high += 1
    others = [one for one in range(low, high + 1) if one != at]
    label = [one for one in others if is_keyish(segments[one].key)][:1]
    yield from label
    yield from [one for one in others if one not in label and text.sizes[one] <= PAIR][:1]


@dataclass(slots=True, eq=False)
class Unit:
    """User message, assistant text, or call with its results: `full`, `cut`, `stub` or `gone`."""

    index: int
    messages: list[Message]
    texts: list[Text]
    state: str = "full"
    out: list[Message] = field(default_factory=list)
    size: int = 0
    """Tokens of `out`."""

    @classmethod
    def of(cls, index: int, messages: list[Message]) -> Unit:
        texts = [Text.of(message) for message in messages if message["role"] in ("user", "tool")]
        return cls(index, messages, texts, out=messages, size=sum(map(tokens, messages)))

    @property
    def overhead(self) -> int:
        """Tokens of the call with a stub for each result, or of what is left of another unit."""
        return sum(map(tokens, self.written({})))

    def written(self, kept: Mapping[int, set[int]]) -> list[Message]:
        """The messages with what is kept of each text, by its `id`."""
        out = {id(text.message): text for text in self.texts}
        made = []
        for message in self.messages:
            text = out.get(id(message))
            some = kept.get(id(text), set())
            whole = text is None or len(some) == len(text.sizes)
            made.append(
                message if whole or text is None else {**message, "content": text.rendered(some) if some else CUT}
            )
        return made

    def reduce(self, state: str, kept: Mapping[int, set[int]]) -> None:
        self.state = state
        for text in self.texts:
            text.kept = set(kept.get(id(text), ())) if state == "cut" else set()
        self.out = [] if state == "gone" else self.written(kept if state == "cut" else {})
        self.size = sum(map(tokens, self.out))


class Statistics:
    """What was used, mentioned, stated, and seen under which key."""

    def __init__(self, head: Sequence[Message]) -> None:
        parts = [part for message in head for part in segment(text_of(message)).segments]
        self.head = {value for part in parts for value in segment_values(part)}
        self.uses: dict[str, int] = {}
        self.mentions: dict[str, int] = {}
        self.stated: set[str] = set()
        self.seen: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.keys: dict[str, set[str]] = {}
        self.texts: list[Text] = []

    def learn(self, unit: Unit) -> None:
        for message in unit.messages:
            if message["role"] == "assistant":
                self.mentions.update(dict.fromkeys(text_values(text_of(message)), unit.index))
                for call in calls_of(message):
                    for _, value in argument_values(str((call.get("function") or {}).get("arguments") or "")):
                        self._use(value, unit.index)
        for text in unit.texts:
            self.texts.append(text)
            for at, values in enumerate(text.values):
                for value in values:
                    self._see(value, text.key(at))
                    if text.message["role"] == "user":
                        self.stated.add(value)

    def _see(self, value: str, key: str) -> None:
        keys = self.keys.setdefault(value, set())
        if key and key not in keys:
            keys.add(key)
            self.seen[key] = self.seen.get(key, 0) + 1
            self.used[key] = self.used.get(key, 0) + (value in self.uses)

    def _use(self, value: str, now: int) -> None:
        if value not in self.uses:
            for key in self.keys.get(value, ()):
                self.used[key] += 1
            if value not in self.keys and len(value) >= 5:
                self._search(value)
        self.uses[value] = now

    def _search(self, value: str) -> None:
        """A used argument that no pattern found becomes a value of the segments it stands in."""
        for text in self.texts:
            if value in text.parts.text.lower():
                for at, part in enumerate(text.parts.segments):
                    if value in part.text.lower():
                        text.values[at].append(value)

    def worth(self, value: str, text: Text, at: int, now: int) -> float:
        """How likely a later call needs the value of a segment."""
        z = BIAS + SHAPES.get(shape(value), 0.0) + 0.5 * (value in self.stated)
        if value in self.uses:
            z += 0.5 + math.exp(-(now - self.uses[value]) / FADE)
        if value in self.mentions:
            z += 1.0 + 1.5 * math.exp(-(now - self.mentions[value]) / FADE)
        if key := text.key(at):
            z += 1.5 * min(1.0, 5 * self.used.get(key, 0) / (1 + self.seen.get(key, 0)))
            z += 0.5 * is_keyish(text.parts.segments[at].key)
        return 1 / (1 + math.exp(-z))
