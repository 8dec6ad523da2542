"""Stand-in for the model that writes summaries: an extract, so that no model is asked and every run is the same.

It keeps whole lines, those with the most distinct names, numbers and paths a token first, in their order, up to a
tenth of the budget at three characters a token. A model writes better prose; few copy more identifiers
into so few tokens.
"""

from __future__ import annotations

import re

from bench.peers.contract import Given

__all__ = ["Extractive"]

SHARE = 0.1
LEAST, LINE, CHARACTERS = 100, 400, 3
_VALUE = re.compile(r"[\w./@#:+-]*(?:\d|[./@_])[\w./@#:+-]*\w")
_LOGGED = re.compile(r"\\n|\n")


class Extractive:
    """Callable: a summary of a text. `spent` is what a model would have read and written, in tokens."""

    def __init__(self, given: Given) -> None:
        self.counter = given.counter
        self.most = max(LEAST, int(SHARE * given.budget))
        self.spent = 0

    def __call__(self, text: str) -> str:
        lines = [line.strip()[:LINE] for line in _LOGGED.split(text)]
        ranked = []
        for at, line in enumerate(lines):
            values = set(_VALUE.findall(line))
            if values:
                ranked.append((len(values) / (4 + len(line) / 4), at))
        taken: set[int] = set()
        seen: set[str] = set()
        room = self.most  # a model does not count its tokens: CHARACTERS each
        for _, at in sorted(ranked, key=lambda pair: (-pair[0], -pair[1])):
            size = len(lines[at]) // CHARACTERS + 1
            if size <= room and lines[at] not in seen:
                taken.add(at)
                seen.add(lines[at])
                room -= size
        summary = "\n".join(lines[at] for at in sorted(taken)) or "(nothing to keep)"
        self.spent += self.counter.text(text) + self.counter.text(summary)
        return summary
