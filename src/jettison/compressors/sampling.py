"""A few lines of a text, spread evenly: enough to tell what type of text it is, however long it is."""

from __future__ import annotations

from jettison.flow.segments import Segment, Segmented

__all__ = ["sample"]

BLOCK = 20
"""Segments in a row: neighbours matter for types that are told by their order."""


CHARACTERS, LEAST = 16_000, 100
"""A sample of long segments is shorter: about so many characters (as 400 lines of code have), but so many segments."""


def sample(parts: Segmented, most: int = 400) -> list[Segment]:
    """At most `most` segments that are not blank, in blocks spread over the text. Looks at 2·`most` at most."""
    segments = parts.segments
    if len(parts.text) > CHARACTERS:
        most = min(most, max(LEAST, CHARACTERS * len(segments) // len(parts.text)))
    if len(segments) <= 2 * most:
        return [part for part in segments if part.text and not part.text.isspace()][:most]
    stride = len(segments) * BLOCK // most
    blocks = (segments[at : at + BLOCK] for at in range(0, len(segments) - BLOCK, stride))
    return [part for block in blocks for part in block if part.text and not part.text.isspace()]
