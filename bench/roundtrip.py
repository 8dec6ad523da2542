"""Every stub of every replay against its original, byte for byte: the recall tool and the session, before and after a
save."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bench.traces import Trajectory, load
from jettison import Policy, Session
from jettison.errors import ArchiveError, CannotFit
from jettison.items import Fidelity
from jettison.recall import recall_answer

__all__ = ["roundtrip", "table"]

_REF = re.compile(r"\bref ([a-z]{10,})")
LARGE = 1 << 40
"""Characters of an answer: no text is given in parts."""
COLUMNS = ("calls", "errors", "reduced", "named", "wrong", "lost")


def roundtrip(sets: Sequence[str], fraction: float, limit: int | None = None) -> dict[str, Counter[str]]:
    """By set: calls fitted, calls that raised, reduced items of all calls with a text, marks that name a handle, and of
    both those whose handle gave other bytes (`wrong`) or nothing (`lost`)."""
    return {name: sum((_trajectory(one, fraction) for one in load(name, limit)), Counter()) for name in sets}


def _trajectory(trajectory: Trajectory, fraction: float) -> Counter[str]:
    messages, found = trajectory.messages, Counter[str]()
    session = Session(Policy(budget=trajectory.budget(fraction), counter="o200k", recall=True, summarizer="extractive"))
    for turn in range(trajectory.head, len(messages)):
        if messages[turn]["role"] != "assistant":
            continue
        try:
            fitted = session.fit(messages[:turn])
        except CannotFit:
            found["errors"] += 1
            continue
        found["calls"] += 1
        found.update(_checked(session, fitted.messages))
    loaded = Session.load(session.save(), session.policy)
    try:
        fitted = loaded.fit(messages)
    except CannotFit:
        return found
    found.update(_checked(loaded, fitted.messages))
    return found


def _checked(session: Session, sent: Sequence[Any]) -> Iterator[str]:
    """What happened to each reduced item, and to each handle that the model can see."""
    texts = {item.id: item.text for item in session._state.history.items}
    for decision in session._state.plan.decisions.values():
        if decision.handle and decision.fidelity is not Fidelity.FULL:
            yield "reduced"
            yield from _compared(session, decision.handle, texts.get(decision.item))
    for handle in _REF.findall(json.dumps(sent, ensure_ascii=False)):
        if handle in session._shelf.texts:  # else a word of the trajectory itself
            yield "named"
            yield from _compared(session, handle, session._shelf.texts[handle])


def _compared(session: Session, handle: str, original: str | None) -> Iterator[str]:
    try:
        answers = {session.recall(handle), recall_answer(session, {"handle": handle}, limit=LARGE)}
    except ArchiveError:
        yield "lost"
        return
    if answers != {original}:
        yield "wrong"


def table(results: dict[str, Counter[str]]) -> str:
    """Rows as a Markdown table."""
    lines = ["| set | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    lines += [
        f"| {name} | " + " | ".join(f"{found[key]:,}" for key in COLUMNS) + " |" for name, found in results.items()
    ]
    return "\n".join(lines)
