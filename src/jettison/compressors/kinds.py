"""Which content type a text is: the first that knows it gives the outline.

Segments, outline and cut of a log, a table, traces, code or prose take two to three times as long as counting the
tokens. JSON, also such that is nested dozens of levels deep, and texts whose lines have fewer than eight characters
take four to eleven times: a line, a leaf or a level is an object in Python (.3 to .6 µs, and as much for the garbage
collector that looks at it), while the tokenizer, compiled, has one or two tokens of it in .1 µs; and JSON is parsed
once to be cut and once to be shown. So do single lines of 100 KB whose tokens repeat, which the tokenizer counts at
50 MB/s. `python -m bench compressors` has all of these (docs/benchmarks.md); each is linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jettison.compressors import code, diff, html, json, log, table, testrun, text, trace
from jettison.compressors.outline import Outline, Outliner
from jettison.flow.segments import Segment, Segmented

__all__ = ["OUTLINERS", "outline_of"]

OUTLINERS: tuple[Outliner, ...] = (
    json.outline,
    testrun.outline,
    trace.outline,
    table.outline,
    log.outline,
    diff.outline,
    html.outline,
    code.outline,
    text.outline,
)
"""Asked in this order; the strictest first. Rows under a header are a table even where they begin with a time;
prose last: it takes code and logs with many words for its own."""
INNER = 8
"""Lines of a long JSON string from which it is looked at as a text of its own (`{"stdout": "…a log…"}`)."""


def outline_of(parts: Segmented) -> Outline | None:
    """What its content type knows of a text, None where none knows it. Linear; never raises."""
    found = next((found for outliner in OUTLINERS if (found := outliner(parts)) is not None), None)
    if found is None or not parts.structured:
        return found
    return _with_inner(parts, found)


def _with_inner(parts: Segmented, outer: Outline) -> Outline:
    """The outline of a JSON text, with the texts that stand in its long leaves outlined as what they are."""
    inner = [(start, found) for start, lines in _texts(parts) if (found := outline_of(lines)) is not None]
    if not inner:
        return outer
    weight, label, near, alarms = list(outer.weight), dict(outer.label), dict(outer.near), set(outer.alarms)
    for start, found in inner:
        weight[start : start + len(found.weight)] = found.weight
        label.update({start + one: start + other for one, other in found.label.items()})
        near.update({start + one: start + other for one, other in found.near.items()})
        alarms.update(start + one for one in found.alarms)

    def about(cut: Sequence[int]) -> str:
        told = [outer.about(cut)] if outer.about else []
        for start, found in inner:
            end = start + len(found.weight)
            if found.about:
                told.append(found.about([index - start for index in cut if start <= index < end]))
        return "; ".join(filter(None, told))

    return Outline(outer.kind, weight, label, near, about, frozenset(alarms))


def _texts(parts: Segmented) -> Iterator[tuple[int, Segmented]]:
    """(first ordinal, lines) of the runs of lines that one long string leaf was cut into."""
    start = 0
    segments = parts.segments
    if "" not in {segment.key for segment in segments}:
        return
    while start < len(segments):
        end = start + 1
        while (
            end < len(segments)
            and segments[start].key == segments[end].key == ""
            and (segments[start].record == segments[end].record)
        ):
            end += 1
        if end - start >= INNER:
            yield start, _as_text([segment.text for segment in segments[start:end]])
        start = end


def _as_text(lines: list[str]) -> Segmented:
    at, out = 0, []
    for number, line in enumerate(lines):
        out.append(Segment(line, "", "", at, number))
        at += len(line) + 1
    return Segmented(tuple(out), False, "\n".join(lines))
