"""A text cut by its outline alone: heaviest segments first, each with its labels, up to a share of the size.

The ranking does the same with the worth of values on top. A blank line between two lines that stay is kept: it is
shorter than the mark of its gap.
"""

from __future__ import annotations

from collections.abc import Callable

from jettison.compressors.cut import cut
from jettison.compressors.outline import Outline, Outliner
from jettison.flow.segments import Segmented, segment

HANDLE = "badugisona"


def chosen(parts: Segmented, outline: Outline, share: float) -> set[int]:
    segments = parts.segments
    room = share * sum(len(part.text) + 1 for part in segments)
    taken: set[int] = set()
    for index in sorted(range(len(segments)), key=lambda at: (-outline.weight[at], at)):
        new, at = [], index
        while at is not None and at not in taken:
            new.append(at)
            at = outline.label.get(at)
        size = sum(len(segments[at].text) + 1 for at in new)
        if outline.weight[index] > 0 and size <= room:
            taken.update(new)
            room -= size
    blank = [at for at, part in enumerate(segments) if not part.text.strip() and {at - 1, at + 1} <= taken]
    return taken | set(blank)


def view(text: str, outliner: Outliner, share: float = 0.25) -> str:
    parts = segment(text)
    outline = outliner(parts)
    assert outline is not None
    return cut(parts, chosen(parts, outline, share), HANDLE)


def lawful(text: str, outliner: Outliner, read: Callable[[str], Segmented] = segment) -> None:
    """What holds for every outline of every text."""
    parts = read(text)
    outline = outliner(parts)
    if outline is None:
        return
    count = len(parts.segments)
    assert len(outline.weight) == count
    assert all(0 <= weight <= 1 for weight in outline.weight)
    for pairs in (outline.label, outline.near):
        assert all(0 <= index < count and 0 <= other < count and index != other for index, other in pairs.items())
    for index in outline.label:
        seen, at = set(), index
        while at in outline.label:
            assert at not in seen, "labels lead in a circle"
            seen.add(at)
            at = outline.label[at]
    assert all(not outline.weight[at] for at, part in enumerate(parts.segments) if not part.text.strip())
    assert outline.about is not None
    assert outline.about([]) == ""
    assert "\n" not in outline.about(range(count))
    assert outliner(parts).weight == outline.weight
