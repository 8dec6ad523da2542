"""The compressor that stands alone: any text, a target in characters, spans to keep; no history and no task."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

from jettison.compressors.cut import cut, handle_for, is_synthetic
from jettison.compressors.json import compact
from jettison.compressors.kinds import outline_of
from jettison.compressors.outline import Outline
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
        small = compact(text)
        if small is not None and len(small) <= target and all(span in small for span in spans):
            return small
    forced = _forced(parts, text, keep)
    if forced is None:
        parts = as_lines(text)
        forced = _overlapping(parts.segments, keep)
    best = _filled(parts, outline_of(parts), target, forced, handle_for(text))
    kept = len(best) < len(text) and all(span in best for span in spans)
    return best if kept else text


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


def _filled(parts: Segmented, outline: Outline | None, target: int, forced: set[int], handle: str) -> str:
    """The cut that comes closest to the target from below, or with the forced segments alone above it."""
    order, label = _order(parts, outline)
    room = target - HEAD
    for _ in range(TRIES):
        chosen = _choose(parts, order, label, room, forced)
        result = cut(parts, chosen, handle)
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
    """Segments, the weightiest first; of equals the earlier, but the ends of the text before its middle."""
    size = len(parts.segments)
    if outline is None:
        return sorted(range(size), key=lambda index: min(index, 2 * (size - 1 - index))), {}
    weight = list(outline.weight)
    for index, heavy in outline.near.items():
        weight[index] = max(weight[index], BESIDE * weight[heavy])
    return sorted(range(size), key=weight.__getitem__, reverse=True), outline.label


def _choose(
    parts: Segmented, order: Sequence[int], label: Mapping[int, int], room: int, forced: Collection[int]
) -> set[int]:
    """Fill the room: the forced ones first, each with its label, then by weight whatever still fits."""
    chosen: set[int] = set()
    records: set[str] = set()
    segments = parts.segments
    for index in (*sorted(forced), *order):
        if index in chosen:
            continue
        if room <= 0 and index not in forced:
            break
        group = [index]
        while (other := label.get(group[-1])) is not None and other not in chosen and other not in group:
            group.append(other)
        cost = sum(len(segments[one].text) + len(segments[one].key) + 2 for one in group)
        if parts.structured:
            if segments[index].record not in records:
                cost += len(segments[index].record) + 2
        elif index - 1 not in chosen and index + 1 not in chosen:
            cost += MARK
        if cost > room and index not in forced:
            continue
        room -= cost
        chosen.update(group)
        records.update(segments[one].record for one in group)
    return chosen
