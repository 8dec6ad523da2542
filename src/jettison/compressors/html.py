"""HTML sources: how much each segment says. What a page says as a whole is read as its visible text (`flow.pages`);
these are the sources that are not a page from their first character on, or of which that would win nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from jettison.compressors.outline import Outline
from jettison.flow.pages import FORMS, HEADINGS, is_page, tokens
from jettison.flow.segments import Segmented

__all__ = ["outline"]

TITLE, HEADING, FORM, LINK, TEXT, SHORT = 1.0, 0.9, 0.7, 0.5, 0.4, 0.2
"""Weights, by judgement: what a page is about, how it is divided, what can be done on it, then its text."""
WORDS = 24
"""Characters below which a text says little: menu entries, counters, dots."""


def outline(parts: Segmented) -> Outline | None:
    """The outline of an HTML source, None where the text is not HTML. Linear."""
    if parts.structured or not parts.segments or not is_page(parts.text):
        return None
    segments = parts.segments
    weight = [0.0] * len(segments)
    label: dict[int, int] = {}
    at, heading, inside, linked = 0, -1, "", False
    for start, end, tag, _ in tokens(parts.text):
        if tag:
            name = tag.lstrip("/")
            if name in HEADINGS:
                inside = "" if tag[0] == "/" else name
            elif name == "a":
                linked = tag[0] != "/"
            elif name in FORMS and tag[0] != "/":
                at = _advance(parts, at, start)
                weight[at] = max(weight[at], FORM)
            continue
        said = parts.text[start:end].lstrip()
        if not said:
            continue
        first = end - len(said)
        worth = TITLE if inside == "title" else HEADING if inside else LINK if linked else TEXT
        at = _advance(parts, at, first)
        if inside:
            heading = at
        reach = at
        while reach < len(segments) and segments[reach].start < end:
            size = min(end, segments[reach].end) - max(first, segments[reach].start)
            weight[reach] = max(weight[reach], worth if size >= WORDS or worth > TEXT else SHORT if size > 0 else 0.0)
            if heading >= 0 and reach != heading:
                label[reach] = heading
            reach += 1
        at = reach - 1 if reach > at else at
    for index, part in enumerate(segments):
        if not part.text or part.text.isspace():
            weight[index] = 0.0
    return Outline("html", weight, label, {}, partial(_about, parts, weight))


def _advance(parts: Segmented, at: int, offset: int) -> int:
    """The segment at an offset, looked for from `at` on."""
    segments = parts.segments
    while at + 1 < len(segments) and segments[at + 1].start <= offset:
        at += 1
    return at


def _about(parts: Segmented, weight: Sequence[float], cut: Sequence[int]) -> str:
    """What was cut, with how much of it nobody sees."""
    if not cut:
        return ""
    seen = sum(len(parts.segments[index].text) for index in cut if weight[index])
    total = sum(len(parts.segments[index].text) for index in cut)
    return f"{total} characters of the page cut, {total - seen} of them markup"
