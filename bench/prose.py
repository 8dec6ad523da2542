"""`python -m bench prose`: what is kept of things said in prose, by each relevance setting and beside the bounds.

Two ways: `one call` fits the whole history once, with the request in it; `session` fits before every assistant turn,
so that what is needed has to survive while nobody asks for it yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.consulting import Remembering
from bench.formula import PlainFormula
from bench.prose_set import History, histories
from bench.traces import Message, text_of, tokens
from bench.units import BenchPolicy, WholeUnits
from jettison.replay.measure.policies import Window

__all__ = ["SETTINGS", "Oracle", "Tried", "report", "run"]

SHARE = 0.25


class Oracle:
    """A scripted judge that knows what is needed: the upper bound of what a judge can do within its limits."""

    name = "oracle"

    def __init__(self, needed: str) -> None:
        self.needed = needed

    def __call__(self, question: Any) -> str:
        answers = {
            entry.id: {
                "usefulness": 1.0 if self.needed in entry.text or entry.text in self.needed else 0.0,
                "reason": "",
            }
            for entry in question.passages
        }
        return json.dumps(answers)


class Knowing(WholeUnits):
    """Clairvoyant: the unit that holds what is needed first, then the newest."""

    def __init__(self, needed: str) -> None:
        self.needed = needed

    def order(self, messages: list[Message], units: list[range], sizes: list[int]) -> Sequence[int]:
        newest = list(range(len(units) - 1, -1, -1))
        return sorted(newest, key=lambda at: not any(self.needed in text_of(messages[j]) for j in units[at]))


class Fitted:
    """The library with one relevance setting."""

    def __init__(self, share: float = 0.5, **settings: Any) -> None:
        from jettison.relevance.limits import EmbedLimits

        self.settings = {"embed_limits": EmbedLimits(share=share), **settings}
        self.embedder = Remembering()
        if "relevance" in settings:
            self.settings["embedder"] = self.embedder
        self.session: Any = None
        self.judge_tokens = 0
        self.seconds = 0.0

    def start(self, head: Sequence[Message]) -> None:
        self.session = None

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        from jettison import Policy, Session

        if self.session is None:
            self.session = Session(Policy(budget=budget, **self.settings))
        fitted = self.session.fit(messages)
        spent = fitted.report.spent
        self.judge_tokens += spent.judge_tokens
        self.seconds = self.embedder.seconds
        return list(fitted.messages)


SETTINGS: dict[str, Callable[[History], Any]] = {
    "window": lambda history: Window(),
    "BM25 (plain formula)": lambda history: PlainFormula(fill=True),
    "clairvoyant, whole units": lambda history: Knowing(history.needed),
    "rules": lambda history: Fitted(),
    "rules+embeddings": lambda history: Fitted(relevance="rules+embeddings"),
    "rules+embeddings, share .2": lambda history: Fitted(relevance="rules+embeddings", share=0.2),
    "full, oracle judge": lambda history: Fitted(relevance="full", judge=Oracle(history.needed)),
    "full, oracle judge, share .2": lambda history: Fitted(relevance="full", judge=Oracle(history.needed), share=0.2),
}


@dataclass(frozen=True)
class Tried:
    """One history under one setting."""

    history: History
    setting: str
    session: bool
    kept: bool
    sent: int
    """Tokens of the last request."""
    judge_tokens: int = 0
    seconds: float = 0.0
    """Time in the embedder."""


def tried(history: History, setting: str, session: bool, fraction: float = SHARE) -> Tried:
    """Fit it and look whether what is needed is there to the letter."""
    policy: BenchPolicy = SETTINGS[setting](history)
    messages, budget = history.messages, history.budget(fraction)
    policy.start(messages[: history.head])
    ends = [at for at in range(history.head, len(messages)) if messages[at]["role"] == "assistant"] if session else []
    request: list[Message] = []
    for end in [*ends, len(messages)]:
        request = policy.fit(messages[:end], budget)
    kept = any(history.needed in text_of(message) for message in request)
    sent = sum(map(tokens, request))
    return Tried(
        history, setting, session, kept, sent, getattr(policy, "judge_tokens", 0), getattr(policy, "seconds", 0.0)
    )


def run(which: str = "prose", settings: Sequence[str] = (), fraction: float = SHARE) -> list[Tried]:
    """Every history under every setting, both ways."""
    found = []
    for setting in settings or SETTINGS:
        for session in (False, True):
            found += [tried(history, setting, session, fraction) for history in histories(which)]
    return found


def report(results: Sequence[Tried]) -> str:
    """Kept by language, and by kind and place of what was said; tokens and time of embedder and judge a history."""
    groups: list[tuple[str, Callable[[History], bool]]] = [
        ("all", lambda history: True),
        ("English", lambda history: history.language == "en"),
        ("Russian", lambda history: history.language == "ru"),
        ("rule", lambda history: history.kind == "rule"),
        ("decision", lambda history: history.kind == "decision"),
        ("fact", lambda history: history.kind == "fact"),
        ("by user", lambda history: history.place == "user"),
        ("by assistant", lambda history: history.place == "assistant"),
        ("in a result", lambda history: history.place == "tool"),
    ]
    lines = []
    for session in (False, True):
        chosen = [result for result in results if result.session is session]
        lines += ["", f"{'session' if session else 'one call'}:", ""]
        lines.append(f"| kept | {' | '.join(name for name, _ in groups)} | judge tokens | embedder ms |")
        lines.append(f"|{'---|' * (len(groups) + 3)}")
        for setting in dict.fromkeys(result.setting for result in chosen):
            mine = [result for result in chosen if result.setting == setting]
            cells = [_share([r for r in mine if of(r.history)]) for _, of in groups]
            tokens_each = sum(r.judge_tokens for r in mine) / len(mine)
            ms = 1000 * sum(r.seconds for r in mine) / len(mine)
            lines.append(f"| {setting} | {' | '.join(cells)} | {tokens_each:.0f} | {ms:.0f} |")
    return "\n".join(lines[1:])


def _share(results: Sequence[Tried]) -> str:
    return f"{sum(result.kept for result in results)}/{len(results)}"
