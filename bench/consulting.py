"""The library with embeddings and a judge on recorded trajectories, and what they took."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from bench.traces import Message
from bench.units import Case
from jettison.relevance.passages import digest
from jettison.replay.measure.library import Library

__all__ = ["Consulting", "Remembering", "Took"]

BATCH = 64
"""Texts whose time is taken together, as `EmbedLimits` asks for them."""


@dataclass
class Took:
    """Of one replay."""

    texts: int = 0
    embed_seconds: float = 0.0
    judge_calls: int = 0
    judge_tokens: int = 0


class Remembering:
    """The local embedder; a text that was embedded before is not computed again, but its time is told.

    Vectors and times are kept in a file outside of the repository: $JETTISON_BENCH_CACHE, or one in the folder for
    temporary files. Without the file the first run computes all of it.
    """

    known: ClassVar[dict[str, tuple[Any, float]]] = {}
    kept: ClassVar[VectorFile | None] = None

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, texts: list[str]) -> list[Any]:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            if Remembering.kept is None or Remembering.kept.process != os.getpid():
                Remembering.kept = VectorFile()
            self.known.update(Remembering.kept.get(new))
            if new := [text for text in new if text not in self.known]:
                found = _computed(new)
                self.known.update(found)
                Remembering.kept.put(found)
        self.seconds += sum(self.known[text][1] for text in texts)
        return [self.known[text][0] for text in texts]


def _computed(texts: list[str]) -> dict[str, tuple[Any, float]]:
    """Vectors, and the seconds of this process that each text took."""
    from jettison.relevance.local import LocalEmbedder

    embedder = LocalEmbedder()
    embedder(texts[:1])  # loading the model is not counted
    found: dict[str, tuple[Any, float]] = {}
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        started = time.process_time()
        rows = embedder(batch)
        taken = time.process_time() - started
        whole = sum(map(len, batch)) or 1
        found.update((text, (row, taken * len(text) / whole)) for text, row in zip(batch, rows, strict=True))
    return found


class VectorFile:
    """Vectors of texts by content hash, with the time they took, for all processes of a run and for later runs."""

    def __init__(self) -> None:
        given = os.environ.get("JETTISON_BENCH_CACHE")
        path = Path(given) if given else Path(tempfile.gettempdir()) / "jettison-bench-vectors.db"
        self.process = os.getpid()
        self.base = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, seconds REAL, vector BLOB)")

    def get(self, texts: list[str]) -> dict[str, tuple[Any, float]]:
        import numpy

        found = {}
        for text in texts:
            row = self.base.execute("SELECT seconds, vector FROM vectors WHERE key = ?", (digest(text),)).fetchone()
            if row is not None:
                found[text] = (numpy.frombuffer(row[1], dtype=numpy.float32), row[0])
        return found

    def put(self, found: Mapping[str, tuple[Any, float]]) -> None:
        import numpy

        rows = [(digest(text), took, numpy.float32(row).tobytes()) for text, (row, took) in found.items()]
        self.base.execute("BEGIN IMMEDIATE")
        self.base.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
        self.base.execute("COMMIT")


class Consulting(Library):
    """`jettison` with another relevance setting. The judge is an oracle: it knows what later calls use."""

    took = Took()
    """Of the replay that is running; whoever reads it sets a new one before the next."""

    def __init__(self, case: Case, relevance: str) -> None:
        self.embedder = Remembering()
        self.case, self.now = case, 0
        more: dict[str, Any] = {"judge": self.judge} if relevance == "full" else {}
        super().__init__(profile="safe", relevance=relevance, embedder=self.embedder, **more)

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        self.now, self.report = len(messages), None
        before = self.embedder.seconds
        try:
            return super().fit(messages, budget)
        finally:
            took = Consulting.took
            took.embed_seconds += self.embedder.seconds - before
            if self.report is not None:
                took.texts += self.report.spent.embedded
                took.judge_calls += self.report.spent.judge_calls
                took.judge_tokens += self.report.spent.judge_tokens

    def judge(self, question: Any) -> str:
        """Useful is what holds a value that a coming turn uses."""
        wanted = {need.value for t, needs in self.case.needs.items() if t >= self.now for need in needs}
        answers = {}
        for entry in question.passages:
            low = " ".join(entry.text.lower().split())
            answers[entry.id] = {"usefulness": float(any(value in low for value in wanted)), "reason": ""}
        return json.dumps(answers)
