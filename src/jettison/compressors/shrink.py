"""The compressor that stands alone: any text, a target in characters, spans to keep; no history and no task."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

from jettison.compressors.cut import cut, is_synthetic
from jettison.compressors.kinds import outline_of
from jettison.compressors.outline import Outline
from jettison.compressors.tabular import compact, minified
from jettison.flow.segments import Segment, Segmented, as_lines, segment

__all__ = ["shrink"]

HEAD = 60
"""Characters of the first line, without what it says of the text."""
MARK = 6
"""Characters of a gap's mark, a line break included."""
TRIES = 3
"""Fillings until the length is about the target; what is told of the cut is only known after one."""
CLOSE = 1.02
"""A result up to this many times the target is near enough."""
MISSES = 100
"""Segments in a row that do not fit, after which no other is tried."""
TABULAR = 0.25
"""Share of minified JSON that a table of it may come down to; where the target is lower, it is not tried."""
BESIDE = 0.8
"""Weight of a neighbour, of the weight of what it explains."""


def shrink(text: str, target: int, keep: Sequence[tuple[int, int]] = (), /) -> str:
    """A text of about `target` characters: the segments that say most, in their order, with every gap marked.

    Each span of `keep` ((start, end) offsets in `text`) stands in the result verbatim, whatever the target. JSON that
    fits without loss comes back as JSON; cut JSON is a list of its fields that says so in its first line. What would
    not get shorter, and what was cut before, comes back unchanged. Smaller targets are the harder levels.
    """
    if len(text) <= target or is_synthetic(text):
        return text
    spans = [text[start:end] for start, end in keep]
    parts = segment(text)
    if parts.structured:
        small = _lossless(text, target)
        if small is not None and all(span in small for span in spans):
            return small
    forced = _forced(parts, text, keep)
    if forced is None:
        parts = as_lines(text)
        forced = _overlapping(parts.segments, keep)
    best = _filled(parts, outline_of(parts), target, forced)
    kept = len(best) < len(text) and all(span in best for span in spans)
    return best if kept else text


def _lossless(text: str, target: int) -> str | None:
    """The same JSON within the target: minified, which leaves each value beside its key, else with tables."""
    tight = len(text) - sum(map(text.count, " \n\r\t"))
    if tight > target and TABULAR * tight > target:
        return None
    try:
        small = minified(text)
    except (ValueError, RecursionError):  # the text only holds the JSON, in a wrapper
        return None
    if len(small) <= target or TABULAR * len(small) > target:
        return small if len(small) <= target else None
    table = compact(text)
    return table if table is not None and len(table) <= target else None


def _forced(parts: Segmented, text: str, keep: Sequence[tuple[int, int]]) -> set[int] | None:
    """Segments that hold the spans; None where a span is not in one of them as it stands (JSON syntax, escapes)."""
    if not parts.structured and parts.text == text:
        return _overlapping(parts.segments, keep)
    if not keep:
        return set()
    texts = [part.text for part in parts.segments]
    joined, starts = "\0".join(texts), [0, *accumulate([len(part) + 1 for part in texts])]
    found = set()
    for start, end in keep:
        at = joined.find(text[start:end])
        if at < 0:
            return None
        found.add(bisect_right(starts, at) - 1)
    return found


def _overlapping(segments: Sequence[Segment], keep: Sequence[tuple[int, int]]) -> set[int]:
    starts = [part.start for part in segments]
    found = set()
    for start, end in keep:
        index = max(0, bisect_right(starts, start) - 1)
        while index < len(segments) and segments[index].start < end:
            if segments[index].end > start or not segments[index].text:
                found.add(index)
            index += 1
    return found


def _filled(parts: Segmented, outline: Outline | None, target: int, forced: set[int]) -> str:
    """The cut that comes closest to the target from below, or with the forced segments alone above it."""
    order, label = _order(parts, outline)
    room = target - HEAD
    for _ in range(TRIES):
        chosen = _with_blanks(parts, _choose(parts, order, label, room, forced), forced)
        result = cut(parts, chosen, "")  # there is no archive behind it
        told = _told(parts, outline, chosen)
        if told:
            first, _, rest = result.partition("\n")
            result = f"{first} {told}\n{rest}"
        if len(result) <= CLOSE * target or len(chosen) == len(forced):
            return result
        room -= len(result) - target
    return result


def _told(parts: Segmented, outline: Outline | None, chosen: Collection[int]) -> str:
    """What the first line says besides how much is left: the content type, and what was cut in its own unit."""
    if outline is None:
        return ""
    cut_ones = [index for index in range(len(parts.segments)) if index not in chosen]
    about = outline.about(cut_ones) if outline.about else ""
    return f"{outline.kind}: {about}" if about else outline.kind


def _order(parts: Segmented, outline: Outline | None) -> tuple[list[int], Mapping[int, int]]:
    """Segments, the weightiest first, of equals the earlier; of a text of no known type from both ends."""
    size = len(parts.segments)
    if outline is None:
        third = size // 3  # two segments of the beginning for one of the end
        pairs = [one for at in range(third) for one in (2 * at, 2 * at + 1, size - 1 - at)]
        return [*pairs, *range(2 * third, size - third)], {}
    weight = list(outline.weight)
    for index, heavy in outline.near.items():
        weight[index] = max(weight[index], BESIDE * weight[heavy])
    return sorted(range(size), key=weight.__getitem__, reverse=True), outline.label


def _with_blanks(parts: Segmented, chosen: set[int], forced: Collection[int]) -> set[int]:
    """The chosen ones, with the empty line between two of them, which is shorter than the mark of its gap, and without
    empty lines at a gap."""
    if parts.structured:
        return chosen
    texts = [part.text for part in parts.segments]
    said = {index for index in chosen if index in forced or not (texts[index].isspace() or not texts[index])}
    between = (index + 1 for index in said if index + 2 in said and index + 1 not in said)
    return said.union(index for index in between if not texts[index] or texts[index].isspace())


def _choose(
    parts: Segmented, order: Sequence[int], label: Mapping[int, int], room: int, forced: Collection[int]
) -> set[int]:
    """Fill the room: the forced ones first, each with its label, then by weight whatever still fits."""
    chosen: set[int] = set()
    records: set[str] = set()
    segments = parts.segments
    misses = 0
    for index in (*sorted(forced), *order):
        if index in chosen:
            continue
        if index not in forced and (room < MARK or misses > MISSES):
            break
        here = segments[index]
        group = {index}
        cost = len(here.text) + len(here.key) + 2
        other = label.get(index)
        while other is not None and other not in chosen and other not in group and (cost <= room or index in forced):
            group.add(other)
            cost += len(segments[other].text) + len(segments[other].key) + 2
            other = label.get(other)
        if parts.structured:
            if here.record not in records:
                cost += len(here.record) + 2
        elif index - 1 not in chosen and index + 1 not in chosen:
            cost += MARK
        if cost > room and index not in forced:
            misses += 1
            continue
        room, misses = room - cost, 0
        chosen.update(group)
        records.update([segments[one].record for one in group])
    return chosen
