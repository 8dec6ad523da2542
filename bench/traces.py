"""Recorded trajectories: reading them, head and body, and what a message weighs."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

__all__ = ["Message", "Trajectory", "count", "forget", "load", "parts", "sets", "text_of", "tokens", "traces_dir"]

Message = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
FRAMING = 4
PRIMING = 3
# The tokenizer refuses more than 1,000,000 characters.
_PIECE = 48_000
_counts: dict[str, int] = {}


@dataclass(frozen=True)
class Trajectory:
    """One recorded run. `head` is the number of messages before the first assistant turn."""

    id: str
    set: str
    task: str
    messages: list[Message]

    @cached_property
    def head(self) -> int:
        roles = [message["role"] for message in self.messages]
        return roles.index("assistant") if "assistant" in roles else len(roles)

    @property
    def turns(self) -> list[int]:
        """Index of every assistant turn: a request is made before each."""
        return [t for t, message in enumerate(self.messages) if message["role"] == "assistant"]

    def budget(self, fraction: float) -> int:
        """`B = tokens(head) + f·tokens(body) + 3`."""
        head = sum(map(tokens, self.messages[: self.head]))
        body = sum(map(tokens, self.messages[self.head :]))
        return int(head + fraction * body + PRIMING)


def traces_dir() -> Path:
    """$JETTISON_TRACES, or ../shared/traces beside the repository."""
    given = os.environ.get("JETTISON_TRACES")
    return Path(given) if given else ROOT.parent / "shared" / "traces"


def sets() -> list[str]:
    """Names of the recorded sets: file stems."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in traces_dir().glob("*.jsonl.gz"))


def load(name: str, limit: int | None = None) -> list[Trajectory]:
    """The trajectories of a set; with a limit an even sample over the file, so that tasks stay mixed."""
    path = traces_dir() / f"{name}.jsonl.gz"
    if not path.exists():
        raise SystemExit(f"no such set: {path} (set JETTISON_TRACES to the folder of the *.jsonl.gz files)")
    # Not splitlines(): tool output holds U+2028.
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
    rows = [line for line in lines if line.strip()]
    if limit is not None and limit < len(rows):
        rows = [rows[i * len(rows) // limit] for i in range(limit)]
    return [_trajectory(name, json.loads(row)) for row in rows]


def _trajectory(name: str, row: dict[str, Any]) -> Trajectory:
    return Trajectory(str(row["id"]), name, f"{name}/{row['task']}", row["messages"])


@lru_cache(maxsize=1)
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding("o200k_base")


def count(text: str) -> int:
    """o200k tokens of a text, cached."""
    if not text:
        return 0
    known = _counts.get(text)
    if known is None:
        encode = _encoding().encode_ordinary
        known = sum(len(encode(text[at : at + _PIECE])) for at in range(0, len(text), _PIECE))
        _counts[text] = known
    return known


def forget() -> None:
    """Drop the cached counts (between trajectories, to bound memory)."""
    _counts.clear()


def parts(message: Message) -> Iterator[str]:
    """The texts of a message's content: a string, a list of parts, or nothing."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str):
                yield text


def text_of(message: Message) -> str:
    """The whole content text of a message."""
    content = message.get("content")
    return content if isinstance(content, str) else "\n".join(parts(message))


def calls_of(message: Message) -> Sequence[Message]:
    """The tool calls of a message: `[{"id", "function": {"name", "arguments"}}, …]`."""
    return message.get("tool_calls") or ()


def tokens(message: Message) -> int:
    """Content text and each call's name and arguments, plus 4 for the message."""
    total = FRAMING + sum(map(count, parts(message)))
    for call in calls_of(message):
        function = call.get("function") or {}
        total += count(str(function.get("name") or "")) + count(str(function.get("arguments") or ""))
    return total
