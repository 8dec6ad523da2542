"""Unified and git diffs: what was changed, under its file and its hunk; context says little."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from jettison.compressors.outline import Outline
from jettison.compressors.sampling import sample
from jettison.flow.segments import Segmented

__all__ = ["outline"]

CHANGED, FILE, NOTE, HUNK, MESSAGE, NEXT, CONTEXT, PAIR = 0.8, 0.9, 0.6, 0.5, 0.4, 0.2, 0.1, 0.05
"""Weights, by judgement: a change with its file and hunk can be understood; context beside a change more than other
context. `--- a/…` repeats what the line with both names says. A changed blank line, and `index` lines, say nothing."""

FEW = 8
"""Changed lines up to which none may be lost: a longer diff is many changes, and the task says which matter."""

_HUNK = re.compile(r"@@+ -\d+(?:,\d+)? .*\+\d+(?:,\d+)? @@|@@ ?$|\d+(?:,\d+)?[acd]\d+(?:,\d+)?$")
_FILE = re.compile(r"diff --(?:git|cc|combined) |Index: ")
_STATUS = re.compile(
    r"(?:new file|deleted file|old|new) mode |(?:rename|copy) (?:from|to) |similarity index |Binary files |"
    r"\*\*\* (?:Update|Add|Delete) File: |commit [0-9a-f]{7,40}"
)
_DULL = re.compile(r"index [0-9a-f]+\.\.|={20,}$|similarity index |\\ No newline")


def outline(parts: Segmented) -> Outline | None:
    """The outline of a diff, None where the text has no hunk. Linear."""
    if parts.structured or not _is_diff(parts):
        return None
    weight, label, near, changed = _walked(parts)
    changes = [index for index, change in enumerate(changed) if change and weight[index]]
    few = frozenset(changes) if len(changes) <= FEW else frozenset()
    return Outline("diff", weight, label, near, partial(_about, parts, changed), few)


def _is_diff(parts: Segmented) -> bool:
    """A hunk header that stands under a file header; context diffs are rare and are read as text."""
    text = parts.text
    if not ("@@ -" in text or text.startswith(("diff ", "Index: ", "*** Begin Patch"))):
        return False
    lines = [part.text for part in sample(parts)]
    if not any(_HUNK.match(line) or _FILE.match(line) for line in lines) and not text.startswith("*** Begin Patch"):
        return False
    fitting = sum(line[:1] in "+- @" or _FILE.match(line) is not None for line in lines)
    return fitting > 0.5 * len(lines)


def _walked(parts: Segmented) -> tuple[list[float], dict[int, int], dict[int, int], list[bool]]:
    weight: list[float] = []
    label: dict[int, int] = {}
    near: dict[int, int] = {}
    changed: list[bool] = []
    file = hunk = -1
    last = -1
    segments, top = parts.segments, len(parts.segments) - 1
    for index, (text, _, _, _, number) in enumerate(segments):
        change = False
        first = text[:1]
        pair = first == "-" and text.startswith("--- ") and segments[min(index + 1, top)].text.startswith("+++ ")
        if number == last:
            worth, change = weight[-1], changed[-1]
        elif hunk >= 0 and first == " ":
            worth = 0.0 if text.isspace() else CONTEXT
        elif hunk >= 0 and first and first in "+-<>" and not pair:
            worth, change = CHANGED if len(text.rstrip()) > 1 else 0.0, True
        elif _FILE.match(text):
            worth, file, hunk = FILE, index, -1
        elif text.startswith("*** ") and _STATUS.match(text):
            worth, file, hunk = FILE, index, index
        elif pair:
            worth = PAIR
            if file < 0 or hunk >= 0:
                file, hunk = index, -1
                worth = FILE
        elif text.startswith("+++ ") and hunk < 0:
            worth = PAIR if file >= 0 and segments[file].text.startswith("diff ") else FILE
        elif _HUNK.match(text):
            worth, hunk = HUNK, index
        elif _DULL.match(text) or not text or text.isspace():
            worth = 0.0
        elif _STATUS.match(text):
            worth = NOTE
            if text.startswith("commit "):
                file = hunk = -1
        else:
            worth = CONTEXT if hunk >= 0 else MESSAGE
        weight.append(worth)
        changed.append(change)
        last = number
        if index not in (file, hunk) and max(file, hunk) >= 0:
            label[index] = max(file, hunk)
        elif index == hunk and file >= 0 and file != hunk:
            label[index] = file
    _beside(weight, near, changed)
    return weight, label, near, changed


def _beside(weight: list[float], near: dict[int, int], changed: Sequence[bool]) -> None:
    """Context beside a change explains it."""
    for index, worth in enumerate(weight):
        if worth != CONTEXT:
            continue
        if index + 1 < len(changed) and changed[index + 1]:
            weight[index], near[index] = NEXT, index + 1
        elif index and changed[index - 1]:
            weight[index], near[index] = NEXT, index - 1


def _about(parts: Segmented, changed: Sequence[bool], cut: Sequence[int]) -> str:
    """What was cut, in changed lines and context."""
    if not cut:
        return ""
    lines = {parts.segments[index].line for index in cut}
    changes = {parts.segments[index].line for index in cut if changed[index]}
    return f"{len(lines)} line{'s' * (len(lines) > 1)} of the diff cut, {len(changes)} of them changes"
