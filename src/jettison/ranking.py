"""What `rank` hands to `evict` and `compress`: candidates, and the order in which their segments are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from jettison.flow.dependencies import Source
from jettison.items import Item, Unit

__all__ = ["HEADER", "WHOLE", "Candidate", "Part", "Pick", "Ranking", "Selection"]

WHOLE = -1
"""Segment number of a pick that takes its item whole; with an empty item, of one that opens its unit."""
HEADER = 12
"""Tokens of the line that marks a cut item (`[partial, 14/320 lines, ref kobarimule]` is 12–15)."""


@dataclass(slots=True)
class Part:
    """A text of a unit that can be cut."""

    item: Item
    source: Source
    allowed: Collection[int]
    """Segments that are still there."""
    forced: frozenset[int]
    """Segments that hold a protected span."""
    density: float
    """Tokens a character."""

    def tokens(self, index: int) -> int:
        """Estimate, with the key and the line break."""
        part = self.source.parts.segments[index]
        return 1 + int((len(part.text) + len(part.key)) * self.density)


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
    frozen: bool = False
    """Whole or gone: its reasoning must not see its results change."""
    must: bool = False
    """Something in it is protected: it cannot go."""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Pick:
    """One segment (or whole item) to keep."""

    density: float
    unit: int
    item: str
    index: int
    tokens: int
    forced: bool = False
    label: int = WHOLE
    """Another segment that must come with it: the record's name, the enclosing heading."""


@dataclass(frozen=True, slots=True)
class Ranking:
    candidates: Mapping[int, Candidate]
    """By unit index, oldest first."""
    picks: tuple[Pick, ...]
    """Forced ones first, then best first."""


@dataclass(slots=True)
class Selection:
    """What is kept of the candidates, as picks in the order they were taken."""

    taken: list[Pick] = field(default_factory=list)
    full: list[int] = field(default_factory=list)
    """Units left as they are, in the order they were restored."""
    stubs: list[int] = field(default_factory=list)
    """Units of which only calls and stubs stay, in the order they were chosen."""
