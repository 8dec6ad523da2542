"""A file that is one message list: a JSON array, or a message a line (chat, Responses items, Gemini contents)."""

from __future__ import annotations

from collections.abc import Iterator

from jettison.errors import InvalidInput
from jettison.replay.formats.base import Row, Rows, Skipped
from jettison.replay.readers import Recorded, recorded_of

__all__ = ["claims", "histories"]


def claims(row: Row) -> bool:
    return "role" in row or "parts" in row or ("type" in row and bool({"call_id", "content", "summary"} & row.keys()))


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a file."""
    messages = []
    for number, row in rows:
        if claims(row):
            messages.append(row)
        else:
            yield Skipped(f"{name} row {number}", "no message: neither `role` nor `parts` nor an item's `type`")
    try:
        yield recorded_of({"messages": messages}, None, name, [])
    except InvalidInput as error:
        yield Skipped(name, str(error))
