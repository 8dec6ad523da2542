"""The library with embeddings and a judge on recorded trajectories, and what they took."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any, ClassVar

from bench.traces import Message
from bench.units import Case
from jettison.replay.measure.library import Library

__all__ = ["Consulting", "Remembering", "Took"]


@dataclass
class Took:
    """Of one replay."""

    texts: int = 0
    embed_seconds: float = 0.0
    judge_calls: int = 0
    judge_tokens: int = 0


class Remembering:
    """The local embedder; a text that this process embedded before is not computed again, but its time is told."""

    known: ClassVar[dict[str, tuple[Any, float]]] = {}

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, texts: list[str]) -> list[Any]:
        from jettison.relevance.local import LocalEmbedder

        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            embedder = LocalEmbedder()
            embedder(new[:1])  # loading the model is not counted
            started = time.perf_counter()
            rows = embedder(new)
            each = (time.perf_counter() - started) / len(new)
            self.known.update((text, (row, each)) for text, row in zip(new, rows, strict=True))
        self.seconds += sum(self.known[text][1] for text in texts)
        return [self.known[text][0] for text in texts]


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
        from jettison import JettisonError

        self.now = len(messages)
        if self.session is None:
            self.session = self._session(budget)
        before = self.embedder.seconds
        try:
            fitted = self.session.fit(messages)
        except JettisonError:
            return super().fit(messages, budget)
        finally:
            Consulting.took.embed_seconds += self.embedder.seconds - before
        spent = fitted.report.spent
        Consulting.took.texts += spent.embedded
        Consulting.took.judge_calls += spent.judge_calls
        Consulting.took.judge_tokens += spent.judge_tokens
        return list(fitted.messages)

    def judge(self, question: Any) -> str:
        """Useful is what holds a value that a coming turn uses."""
        wanted = {need.value for t, needs in self.case.needs.items() if t >= self.now for need in needs}
        answers = {}
        for entry in question.passages:
            low = " ".join(entry.text.lower().split())
            answers[entry.id] = {"usefulness": float(any(value in low for value in wanted)), "reason": ""}
        return json.dumps(answers)
