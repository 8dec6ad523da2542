"""What a content type knows of a text by itself: which lines say most, and which must come together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from jettison.flow.segments import Segmented

__all__ = ["Outline", "Outliner"]


@dataclass(frozen=True, slots=True)
class Outline:
    """How much each segment of a text says, whatever the task is. The task's own needs come on top, in `rank`."""

    kind: str
    """Name of the content type, as reports show it: `log`, `code`, `table` …"""
    weight: Sequence[float]
    """0..1 for each segment: 1 an error among hundreds of routine rows, a signature; 0 a repeated or empty line."""
    label: Mapping[int, int] = field(default_factory=dict)
    """With this segment, that one must come: the header of a table's row, the definition around a line of code."""
    near: Mapping[int, int] = field(default_factory=dict)
    """Segments that explain a heavy one and should come with it while there is room: (neighbour → heavy one)."""
    about: Callable[[Sequence[int]], str] | None = None
    """One short line on the segments that were cut, in the source's own unit (`412 lines INFO, 3 errors kept`);
    empty when there is nothing to say."""
    alarms: frozenset[int] = frozenset()
    """Segments that nobody wants to lose, whatever values are in them: the few errors among routine rows."""


Outliner = Callable[[Segmented], "Outline | None"]
"""A content type: the outline of a text, None for a text of another type. Linear in the text; never raises."""
