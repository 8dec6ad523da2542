"""OpenAI Agents SDK: exported traces. (`result.to_input_list()` and stored session items are plain Responses items.)

An export is a line an object: `{"object": "trace", …}` and `{"object": "trace.span", "trace_id", "span_data"}`. Spans
of type `generation` hold `input` and `output` as chat messages; of type `response` they hold them only where the
exporter was asked to (`input`, `response.output`), else just an id: those are counted as skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jettison.errors import InvalidInput
from jettison.replay.formats.base import Row, Rows, Skipped
from jettison.replay.formats.chat import answer
from jettison.replay.formats.conversations import Conversations
from jettison.replay.readers import Recorded, recorded_of

__all__ = ["claims", "histories"]


def claims(row: Row) -> bool:
    return row.get("object") in ("trace", "trace.span") or isinstance(row.get("span_data"), dict)


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a trace, and a branch of it."""
    open_ = Conversations()
    for number, row in rows:
        data = row.get("span_data")
        if not isinstance(data, dict) or data.get("type") not in ("generation", "response"):
            continue
        where = f"{name} row {number}"
        made = _request(data)
        if made is None:
            yield Skipped(where, "a response span that holds only an id: export traces with their data")
            continue
        try:
            found = recorded_of(made[0], None, where, [])
        except InvalidInput as error:
            yield Skipped(where, str(error))
            continue
        yield from open_.add(str(row.get("trace_id")), found, answer(found.wire, made[1]))
    yield from open_.rest()


def _request(data: Row) -> tuple[Row, Any] | None:
    """(request, response) of a span."""
    given = data.get("input")
    if data["type"] == "generation":
        output = data.get("output")
        last = output[-1] if isinstance(output, list) and output else None
        return ({"messages": given, "model": data.get("model")}, last) if isinstance(given, list) else None
    response = data.get("response")
    if not isinstance(given, list | str) or not isinstance(response, dict):
        return None
    request = {"input": given, "model": response.get("model"), "instructions": response.get("instructions")}
    return {**request, "tools": response.get("tools")}, response
