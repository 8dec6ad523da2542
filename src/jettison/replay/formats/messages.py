"""Rows with `messages` (or `input`, `contents`): chat JSONL, data sets, request bodies, batch input lines."""

from __future__ import annotations

from collections.abc import Iterator

from jettison.errors import InvalidInput
from jettison.replay.formats.base import Row, Rows, Skipped
from jettison.replay.readers import Recorded, recorded_of, request_in

__all__ = ["claims", "histories"]


def claims(row: Row) -> bool:
    return request_in(row) is not None


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a row."""
    for number, row in rows:
        where = f"{name} row {number}"
        try:
            yield recorded_of(row, None, where, [])
        except InvalidInput as error:
            yield Skipped(where, str(error))
