"""Langfuse exports: observation rows (blob storage, UI, API), and the JSON of one trace.

By https://langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields: a row is an observation with
`trace_id`, `type`, `start_time`, `input`, `output` and the model; the API writes the same names in camel case. Those of
type GENERATION hold a request: `input` is its messages, or an object with `messages` and `tools`, as JSON or as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jettison.errors import InvalidInput
from jettison.replay.formats.base import Row, Rows, Skipped, opened
from jettison.replay.formats.chat import answer
from jettison.replay.formats.conversations import Conversations
from jettison.replay.readers import Recorded, recorded_of

__all__ = ["claims", "histories"]


def claims(row: Row) -> bool:
    return isinstance(row.get("observations"), list) or (
        ("traceId" in row or "trace_id" in row) and "type" in row and "input" in row and "output" in row
    )


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a session or trace, and a branch of it."""
    open_ = Conversations()
    for where, row in _observations(rows, name):
        if str(row.get("type")).upper() != "GENERATION":
            continue
        asked = opened(row.get("input"))
        body = asked if isinstance(asked, dict) else {"messages": asked}
        model = next((row[key] for key in ("model", "provided_model_name", "providedModelName") if row.get(key)), None)
        try:
            found = recorded_of({"model": model, **body}, None, where, [])
        except InvalidInput as error:
            yield Skipped(where, str(error))
            continue
        key = str(row.get("sessionId") or row.get("session_id") or row.get("traceId") or row.get("trace_id"))
        yield from open_.add(key, found, answer(found.wire, opened(row.get("output"))))
    yield from open_.rest()


def _observations(rows: Rows, name: str) -> Iterator[tuple[str, Row]]:
    for number, row in rows:
        inner: Any = row.get("observations")
        if isinstance(inner, list):
            held = [entry for entry in inner if isinstance(entry, dict)]
            for at, entry in enumerate(sorted(held, key=_start), 1):
                yield f"{name} observation {at}", {"traceId": row.get("id"), **entry}
        else:
            yield f"{name} row {number}", row


def _start(row: Row) -> str:
    return str(row.get("startTime") or row.get("start_time") or "")
