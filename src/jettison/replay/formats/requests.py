"""Logs of requests and responses as the APIs have them (OpenAI, Anthropic, Gemini): `{"request": …, "response": …}`.

`body` or `kwargs` may stand for `request`, `output` or `completion` for `response`. What the request says decides the
wire. Requests that continue one another become one history, with the last answer at its end.
"""

from __future__ import annotations

from collections.abc import Iterator

from jettison.errors import InvalidInput
from jettison.replay.formats.base import Row, Rows, Skipped, opened
from jettison.replay.formats.chat import answer
from jettison.replay.formats.conversations import Conversations, key_of
from jettison.replay.readers import Recorded, recorded_of, request_in

__all__ = ["claims", "histories"]

_RESPONSES = ("response", "response_body", "completion", "output")
_KEYS = ("conversation_id", "session_id", "trace_id", "thread_id")


def claims(row: Row) -> bool:
    return request_in(_open(row)) is not None and any(isinstance(opened(row.get(key)), dict) for key in _RESPONSES)


def _open(row: Row) -> Row:
    """The row with a request that was stored as JSON text opened."""
    wrapped: Row = {key: opened(row[key]) for key in ("request", "body", "kwargs", "request_body") if key in row}
    if "request_body" in wrapped:
        wrapped["request"] = wrapped.pop("request_body")
    return {**row, **wrapped}


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a conversation."""
    open_ = Conversations()
    for number, row in rows:
        where = f"{name} row {number}"
        try:
            found = recorded_of(_open(row), None, where, [])
        except InvalidInput as error:
            yield Skipped(where, str(error))
            continue
        response = next((opened(row[key]) for key in _RESPONSES if row.get(key) is not None), None)
        key = next((str(row[key]) for key in _KEYS if row.get(key)), "") or key_of(found)
        yield from open_.add(key, found, answer(found.wire, response))
    yield from open_.rest()
