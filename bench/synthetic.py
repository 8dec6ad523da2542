"""Made-up `openai-chat` histories for the speed runs: about 200 tokens a message, results of JSON, logs and code."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

from bench.traces import Message

__all__ = ["history"]

_VOCABULARY = (
    "retry request worker queue timeout index schema account invoice customer shipment refund order parser "
    "socket buffer handler session cluster replica backup migration deploy rollback metric alert ticket region"
)
_WORDS = _VOCABULARY.split()
_STATES = ("pending", "active", "failed", "closed", "queued")
_LEVELS = ("INFO", "INFO", "INFO", "WARN", "ERROR")
_ID = re.compile(r"(?:ORD|INV|TCK)-\d{5}")
_PATH = re.compile(r"src/\w+/\w+\.py")
REUSED = 0.8
"""Share of arguments taken from an earlier result, as in the recorded trajectories; the others are new."""


def history(messages: int, seed: int = 0) -> list[Message]:
    """System prompt, a task, then turns of one or two calls with their results; deterministic."""
    draw = random.Random(seed)
    made: list[Message] = [
        {"role": "system", "content": "You are an operations agent. Never delete data. " + _prose(draw, 120)},
        {"role": "user", "content": "Find why the nightly import fails and prepare a fix. " + _prose(draw, 60)},
    ]
    step, seen = 0, _Seen(draw)
    while len(made) < messages:
        step += 1
        if step % 40 == 0:
            made.append({"role": "user", "content": f"Also look at {_id(draw)}: " + _prose(draw, 100)})
        made += _turn(draw, step, 2 if step % 5 == 0 else 1, seen)
    return made


class _Seen:
    """Ids and paths that results have shown."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.ids: list[str] = []
        self.paths: list[str] = []

    def add(self, text: str) -> None:
        self.ids += _ID.findall(text)
        self.paths += _PATH.findall(text)

    def arguments(self) -> str:
        old_id, old_path = (known and self.draw.random() < REUSED for known in (self.ids, self.paths))
        path = self.draw.choice(self.paths[-60:]) if old_path else _path(self.draw)
        number = self.draw.choice(self.ids[-200:]) if old_id else _id(self.draw)
        return json.dumps({"path": path, "id": number, "limit": 20})


def _turn(draw: random.Random, step: int, calls: int, seen: _Seen) -> list[Message]:
    tools: list[tuple[str, Callable[[random.Random], str]]] = [("search", _records), ("logs", _log), ("read", _code)]
    picked = [tools[(step + i) % 3] for i in range(calls)]
    entries = [
        {
            "id": f"call_{step}_{i}",
            "type": "function",
            "function": {"name": name, "arguments": seen.arguments()},
        }
        for i, (name, _) in enumerate(picked)
    ]
    turn: list[Message] = [{"role": "assistant", "content": _prose(draw, 40), "tool_calls": entries}]
    for i, (_, make) in enumerate(picked):
        content = make(draw)
        seen.add(content)
        turn.append({"role": "tool", "tool_call_id": f"call_{step}_{i}", "content": content})
    return turn


def _prose(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(_WORDS, k=words)).capitalize() + "."


def _id(draw: random.Random) -> str:
    return f"{draw.choice(('ORD', 'INV', 'TCK'))}-{draw.randrange(10_000, 99_999)}"


def _path(draw: random.Random) -> str:
    return f"src/{draw.choice(_WORDS)}/{draw.choice(_WORDS)}_{draw.randrange(400)}.py"


def _records(draw: random.Random) -> str:
    rows = [
        {
            "id": _id(draw),
            "customer": f"{draw.choice(_WORDS)}.{draw.choice(_WORDS)}@example.com",
            "status": draw.choice(_STATES),
            "amount": round(draw.uniform(5, 5000), 2),
            "created_at": f"2026-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}T{draw.randrange(24):02}:15:00Z",
        }
        for _ in range(6)
    ]
    return json.dumps({"total": len(rows), "results": rows})


def _log(draw: random.Random) -> str:
    return "\n".join(
        f"2026-03-{draw.randrange(1, 29):02}T12:{draw.randrange(60):02}:01Z {draw.choice(_LEVELS)} "
        f"{draw.choice(_WORDS)}-{draw.randrange(100)} {_prose(draw, 5)} id={_id(draw)}"
        for _ in range(9)
    )


def _code(draw: random.Random) -> str:
    lines = [f"# {_path(draw)}", "import json", ""]
    for _ in range(6):
        name, other = draw.choice(_WORDS), draw.choice(_WORDS)
        lines += [
            f"def {name}_{other}({other}, limit={draw.randrange(5000)}):",
            f'    """{_prose(draw, 4)}"""',
            f"    {name} = load_{other}({other}, limit=limit)",
            f"    return [{name}.get('{draw.choice(_WORDS)}') for row in {name} if row.{other} > limit]",
            "",
        ]
    return "\n".join(lines)
