"""A process that fits one growing history after another and prints each result once it has it. To be killed.

python fitting_child.py FILE-OR-ADDRESS SEED
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["BUDGET", "canary", "originals", "steps"]

TURNS = 12
BUDGET = 2_500


def canary(seed: int) -> str:
    """A made-up token of a history."""
    return "ghp_" + "".join(
        random.Random(-seed - 1).choices("abcdefghkmnpqrstuvwxyzABCDEFGHKMNPQRSTUVWXYZ23456789", k=36)
    )


def steps(seed: int, secret: str | None = None) -> Iterator[list[dict[str, Any]]]:
    """One history, turn by turn. The same for the same seed. `secret`: stands in every third result."""
    draw = random.Random(seed)
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Find out what went wrong in run {seed}."}]
    for turn in range(TURNS):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "log", "arguments": f'{{"page": {turn}}}'}}
        lines = [
            f"12:{n // 60:02}:{n % 60:02} запись {draw.getrandbits(48):x} ok" for n in range(draw.randrange(20, 90))
        ]
        if secret is not None and turn % 3 == 1:
            lines.insert(len(lines) // 2, f"export GITHUB_TOKEN={secret}")
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": "\n".join(lines)})
        yield list(messages)


def originals(seed: int) -> list[str]:
    """All results of a history."""
    *_, last = steps(seed)
    return [message["content"] for message in last if message["role"] == "tool"]


def main(where: str, seed: int) -> None:
    from jettison import Policy, Session

    while True:
        # A counter of characters spares the vocabulary, and most of the start of the process.
        policy = Policy(budget=BUDGET, counter=lambda text: len(text) // 3, recall=True)
        session = Session(policy, archive=where, conversation=f"run-{seed}")
        for messages in steps(seed):
            print(json.dumps([seed, session.fit(messages).messages], ensure_ascii=False), flush=True)
        session.archive.close()  # type: ignore[attr-defined]
        seed += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
