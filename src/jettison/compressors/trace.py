"""Stack traces of Python, Java, JavaScript, Go and Rust: the exception, its causes and the frames of one's own code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jettison.compressors.outline import Outline
from jettison.flow.segments import Segment, Segmented

__all__ = ["outline", "trace_weights"]

LEAST = 0.4
"""Share of the lines that must belong to traces for the text to be one; a log with a trace in it stays a log."""
MESSAGE_LINES = 3
"""Lines of a message that count as the exception's own."""
OWN_FRAMES = 3
"""Frames of one's own code nearest to the error that count most."""

# Any trace holds one of these: looked for first, so that other texts cost a few scans in C.
_CUES = (
    *("Traceback (most recent", "\n    at ", "\n\tat ", "\n  at ", "goroutine ", "panicked at", "stack backtrace"),
    *("Caused by: ", "Exception in thread"),
)
_HEAD = re.compile(
    r"\s*[|+ ]*(?:Traceback \(most recent call last\)|Exception in thread|panic: |goroutine \d+ \[|"
    r"stack backtrace:|thread '.*' (?:\(\d+\) )?panicked at|fatal error: |\+ Exception Group Traceback)"
)
_CAUSE = re.compile(
    r"\s*(?:Caused by: |Suppressed: |The above exception was|During handling of the above|\[cause\]: )", re.IGNORECASE
)
_FRAME = re.compile(
    r"[\s|]*File \".*\", line \d+|\s+at (?:async |new )?[\w$.<>/@\[\] -]{1,200}\(|\s+at (?:\w+://|/|\w:\\|node:)\S+:\d+|"
    r"\s+\S+\.go:\d+|\s{1,4}\d+: +\S|\s{6,}at \S+:\d+|\s+\.\.\. \d+ (?:more|common frames)"
)
_GO_CALL = re.compile(r"[\w./*()\[\]-]{1,200}\.[\w.*()\[\]-]{1,100}\(.*\)$|created by ")
_THROWN = re.compile(
    r"[|\s]*(?:Uncaught )?(?:[\w$]{1,60}\.){0,12}\w{0,60}(?:Error|Exception|Warning|Interrupt|Exit|Throwable|Fault)\b"
)
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[/\\]lib[/\\]python|<frozen|node_modules|node:|internal/|/rustc/|\.cargo/|"
    r"/usr/(?:local/)?(?:go|lib)|"
    r"at (?:java|javax|jdk|sun|com\.sun|kotlin|scala|org\.(?:apache|spring\w*|junit|hibernate))[./]|"
    r"\d: (?:<?(?:std|core|alloc|tokio)::|rust_begin|_?main$|__libc)|runtime[./]|\.\.\. \d+"
)


def outline(parts: Segmented) -> Outline | None:
    """The outline of a text that is mostly stack traces."""
    if parts.structured:
        return None
    found = trace_weights(parts)
    if len(found) < 3:
        return None
    lines = sum([bool(segment.text) and not segment.text.isspace() for segment in parts.segments])
    if len(found) < LEAST * lines:
        return None
    weights = [found.get(index, 0.3 if segment.text else 0.0) for index, segment in enumerate(parts.segments)]
    head = next((index for index in sorted(found) if found[index] >= 1.0), None)
    near = {} if head is None else {index: head for index, weight in found.items() if 0.3 <= weight < 0.9}

    def about(cut: Sequence[int]) -> str:
        frames = sum(_FRAME.match(parts.segments[index].text) is not None for index in cut)
        return f"{frames} frames cut" if frames else ""

    return Outline("trace", weights, _labels(parts.segments, found), near, about)


def trace_weights(parts: Segmented) -> dict[int, float]:
    """Ordinal → weight of the lines that belong to a stack trace; empty where there is none. One pass."""
    if not any(cue in parts.text for cue in _CUES):
        return {}
    weights: dict[int, float] = {}
    block = _Block()
    for index, segment in enumerate(parts.segments):
        block.line(index, segment.text, weights)
    block.close(weights)
    return weights


class _Block:
    """The trace that is being read."""

    def __init__(self) -> None:
        self.frames: list[tuple[int, bool]] = []
        """(ordinal, whether it is one's own code), in order."""
        self.heads: list[int] = []
        self.python = False
        self.after = 0
        """Lines of a message still to come."""
        self.inside = False
        self.last = ""

    def line(self, index: int, text: str, weights: dict[int, float]) -> None:
        if text[:1] in (" ", "\t", "|") and _FRAME.match(text):
            if not self.frames and not self.inside and _THROWN.match(self.last):
                weights[index - 1] = 1.0
            self.inside, self.after = True, 0
            self.frames.append((index, _LIBRARY.search(text) is None))
        elif _CAUSE.match(text):
            self.close(weights)
            self.inside, weights[index] = True, 0.95
        elif _HEAD.match(text):
            self.close(weights)
            self.inside, self.python = True, "Traceback" in text
            opening = self.python or "goroutine" in text or "backtrace" in text
            self.after = 0 if opening else MESSAGE_LINES - 1
            weights[index] = 0.7 if opening else 1.0
        elif self.inside:
            self._within(index, text, weights)
        self.last = text

    def _within(self, index: int, text: str, weights: dict[int, float]) -> None:
        """A line that is neither head, cause nor frame: code below a frame, the exception, its message, or the end."""
        if self.python and self.frames and text[:1] in (" ", "|") and text.strip():
            weights[index] = 0.0 if index - self.frames[-1][0] > 1 else -1.0  # set with its frame
        elif self.python and self.frames and text.strip():
            weights[index], self.after = 1.0, MESSAGE_LINES - 1
            self.close(weights, keep=True)
        elif self.after > 0 and text.strip():
            weights[index], self.after = 0.8, self.after - 1
        elif _GO_CALL.match(text):
            weights[index] = 0.15 if _LIBRARY.search(text) else 0.5
        elif text.strip() and not text[0].isspace():
            self.close(weights)
            if _THROWN.match(text):
                weights[index] = 1.0

    def close(self, weights: dict[int, float], keep: bool = False) -> None:
        """Weigh the frames: of one's own code those nearest to the error count most, and the one where it began."""
        order = list(reversed(self.frames)) if self.python else self.frames
        own = 0
        entry = next((index for index, mine in reversed(order) if mine), -1)
        for place, (index, mine) in enumerate(order):
            own += mine
            if mine:
                weights[index] = 0.9 if own == 1 else 0.8 if index == entry else 0.7 if own <= OWN_FRAMES else 0.4
            else:
                weights[index] = 0.3 if place == 0 else 0.1
            if weights.get(index + 1) == -1.0:
                weights[index + 1] = weights[index] * 0.95
        self.frames, self.python, self.inside = [], False, keep


def _labels(segments: Sequence[Segment], weights: dict[int, float]) -> dict[int, int]:
    """A line of code comes with the `File …` line above it."""
    return {
        index: index - 1
        for index in weights
        if index and segments[index].text.startswith("    ") and segments[index - 1].text.lstrip().startswith("File ")
    }
