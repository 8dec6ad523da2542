"""Claude Code sessions: `~/.claude/projects/<project>/<session>.jsonl`; the rules are in `replay.claude_code`."""

from __future__ import annotations

from collections.abc import Iterator

from jettison.errors import InvalidInput
from jettison.replay.claude_code import conversation, is_session
from jettison.replay.formats.base import Row, Rows, Skipped
from jettison.replay.readers import Recorded

__all__ = ["claims", "histories"]

_TYPES = (
    "user",
    "assistant",
    "system",
    "attachment",
    "progress",
    "summary",
    "file-history-snapshot",
    "queue-operation",
)


def claims(row: Row) -> bool:
    return is_session([row]) or (row.get("type") in _TYPES and ("sessionId" in row or "leafUuid" in row))


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """The session's live path."""
    try:
        messages, model, notes = conversation([row for _, row in rows], name)
    except InvalidInput as error:
        yield Skipped(name, str(error))
        return
    yield Recorded("anthropic", messages, model=model, name=name, notes=tuple(notes))
