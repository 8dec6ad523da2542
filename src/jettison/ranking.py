"""What `rank` hands to `evict` and `compress`: candidates, and the order in which their segments are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jettison.compressors.outline import Outline
from jettison.flow.dependencies import is_keyish
from jettison.flow.sources import Source
from jettison.items import Item, Unit
from jettison.plan import Decision

__all__ = ["HEADER", "WHOLE", "Candidate", "Order", "Part", "Pick", "Ranking", "Selection"]

WHOLE = -1
"""Segment number of a pick that takes its item whole; with an empty item, of one that opens its unit."""
HEADER = 17
"""Tokens of the line that marks a cut item: 14 of a stub or JSON, 19 of lines."""

NEAR = 12
"""Leaves before and after in which a companion is looked for; records of the recorded sets have 9 on average."""
PAIR_TOKENS = 15
"""A leaf up to this size comes along so that a value is not alone: record binding 78 → 94 (algorithm.md)."""
LABELS = 3
"""Labels above one segment that come with it: a line's function, its class, and one more (a heading's heading)."""


@dataclass(slots=True)
class Part:
    """A text of a unit that can be cut."""

    item: Item
    source: Source
    allowed: Collection[int]
    """Segments that are still there."""
    forced: frozenset[int]
    """Segments that hold a protected span."""
    sizes: Sequence[int]
    """Tokens of each segment, with its key and a line break."""
    outline: Outline | None = None
    """What its content type says of it; None of a short text, or of one of no known type."""
    held: bool = False
    """It stays present: where no segment of it is kept, its mark is."""
    written: dict[frozenset[int], tuple[Decision, ...]] = field(default_factory=dict)
    """What `compress` wrote of it, by the segments that were kept: most texts are cut alike when it tries again."""

    def labels(self, index: int, *, pair: bool = True) -> tuple[int, ...]:
        """The segments that come with one: what names its record; the function around a line, the heading above it."""
        if self.source.parts.structured:
            named = self._named(index, pair)
            return () if named == WHOLE else (named,)
        found: list[int] = []
        above = self.outline.label.get(index) if self.outline is not None else None
        while above is not None and above in self.allowed and len(found) < LABELS:
            found.append(above)
            above = self.outline.label.get(above) if self.outline is not None else None
        return tuple(found)

    def _named(self, index: int, pair: bool) -> int:
        """The leaf that names a leaf's record, else a short one beside it; WHOLE where there is none."""
        segments, allowed, sizes = self.source.parts.segments, self.allowed, self.sizes
        record, first = segments[index].line, index
        while first > 0 and index - first < NEAR and segments[first - 1].line == record:
            first -= 1
        short: list[int] = []
        for at in range(first, min(len(segments), index + NEAR + 1)):
            if segments[at].line != record:
                break
            if at != index and at in allowed:
                if is_keyish(segments[at].key):
                    return at
                if pair and sizes[at] <= PAIR_TOKENS:
                    short.append(at)
        return min(short, key=lambda at: (self.source.repeats(at), at), default=WHOLE)


@dataclass(slots=True)
class Candidate:
    """A unit that may be reduced."""

    unit: Unit
    tokens: int
    """As it stands now."""
    overhead: int
    """What stays of it while anything stays: framing, calls, reasoning; of each result the header."""
    parts: list[Part] = field(default_factory=list)
    texts: list[Item] = field(default_factory=list)
    """Items that are kept whole or dropped alone: prose of the assistant, small texts, media."""
    clips: list[tuple[Item, str, int]] = field(default_factory=list)
    """Calls whose arguments are clipped unless the unit stays as it is: call, arguments then, tokens then."""
    frozen: bool = False
    """Whole or gone: its reasoning must not see its results change."""
    must: bool = False
    """Something in it is protected: it cannot go."""
    score: float = 0.0


class Pick(NamedTuple):
    """One segment (or whole item, or the opening of a unit) to keep."""

    order: float
    """Minus its gain per token."""
    unit: int
    item: str
    segment: int
    tokens: int


class Order:
    """Picks, best first: worked out as far as somebody reads them. Can be read again."""

    def __init__(self, picks: Iterable[Pick]) -> None:
        self._known: list[Pick] = []
        self._rest = iter(picks)

    def __iter__(self) -> Iterator[Pick]:
        yield from self._known
        for pick in self._rest:
            self._known.append(pick)
            yield pick


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order in which what is left is kept: what is forced, then the rest, each best first."""

    candidates: Mapping[int, Candidate]
    """By unit index, oldest first."""
    forced: Sequence[Pick]
    """Those that hold a protected span."""
    rest: Iterable[Pick]
    least: int = 0
    """Tokens that each of the rest takes at least, but for opening a unit of which nothing else would stay."""


@dataclass(slots=True)
class Selection:
    """What is kept of the candidates."""

    taken: list[Pick] = field(default_factory=list)
    """In the order they were taken."""
    labels: list[tuple[int, ...]] = field(default_factory=list)
    """By place in `taken`: other segments of the text that come with it."""
    forced: int = 0
    """So many of the first taken hold a protected span."""
    full: list[int] = field(default_factory=list)
    """Units left as they are, in the order they were restored."""
    stubs: list[int] = field(default_factory=list)
    """Units of which only calls and stubs stay, in the order they were chosen."""
