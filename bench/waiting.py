"""`python -m bench waiting`: what embeddings, and a judge that hangs, add to a warm call with one new item.

60 messages of talk and one new result of about 500 tokens of prose. Medians over sessions, in milliseconds.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from bench import prose_en
from bench.traces import Message, count

__all__ = ["table"]

SESSIONS, SECONDS = 3, 0.5
LATER = 1_200
"""A budget of which the new item takes more than an epoch leaves free: one is due again."""


def _history(session: int) -> list[Message]:
    talk: list[Message] = [{"role": "user", "content": prose_en.CASES[0][2]}]
    for at in range(30):
        said = prose_en.STEPS[at % len(prose_en.STEPS)]
        asked = prose_en.CHAT[at % len(prose_en.CHAT)]
        talk.append({"role": "assistant", "content": f"{said} That was part {at} of session {session}."})
        talk.append({"role": "user", "content": f"{asked} It is about item {at}."})
    return talk


def _new(session: int) -> list[Message]:
    """One call and its result of some 500 tokens, none of which was seen before."""
    lines = [f"{text} (Note {at}, session {session}.)" for at, text in enumerate(prose_en.DOCS)]
    call = {"id": "call_1", "type": "function", "function": {"name": "read_page", "arguments": '{"page": 7}'}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "\n".join(lines)},
        {"role": "user", "content": "Thanks. What follows from that page for us?"},
    ]


def _hangs(question: Any) -> str:
    time.sleep(60)
    return ""


def _timed(budget: int, session: int, **settings: Any) -> tuple[float, float, Any]:
    """Milliseconds of the call with the new item, by the clock and of the processor, and its report."""
    from jettison import Policy, Session

    history = _history(session)
    live = Session(Policy(budget=budget, **settings))
    live.fit(history)
    started, worked = time.perf_counter(), time.process_time()
    fitted = live.fit([*history, *_new(session)])
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - worked), fitted.report


def table() -> str:
    """Rows: no epoch due, the first epoch of a session, a later one; columns: the settings."""
    from jettison.relevance.limits import JudgeLimits
    from jettison.relevance.local import LocalEmbedder

    LocalEmbedder()(["The model is loaded once a process."])
    embed: dict[str, Any] = {"relevance": "rules+embeddings"}
    hang: dict[str, Any] = {"relevance": "full", "judge": _hangs, "judge_limits": JudgeLimits(seconds=SECONDS)}
    weight = sum(count(str(message["content"])) + 4 for message in _history(0))
    new = count(str(_new(0)[1]["content"]))
    rows = (("no epoch due", 20 * weight), ("the first epoch", weight + 200), ("a later epoch", LATER))
    lines = [f"One new item of {new} tokens behind {weight:,}; the judge hangs, its deadline is {SECONDS:g} s.", ""]
    lines += [
        "| ms by the clock (of the processor) | rules | + embeddings | new texts | + a judge that hangs | waited |"
    ]
    lines += ["|---|---|---|---|---|---|"]
    for name, budget in rows:
        cells = [name]
        for settings in ({}, embed, hang):
            runs = [_timed(budget, at, **settings) for at in range(SESSIONS)]
            wall, cpu = (statistics.median(run[at] for run in runs) for at in (0, 1))
            cells.append(f"{wall:.0f} ({cpu:.0f})")
            if settings is embed:
                cells.append(str(runs[-1][2].spent.embedded))
        cells.append(f"{1000 * runs[-1][2].spent.judge_seconds:.0f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
