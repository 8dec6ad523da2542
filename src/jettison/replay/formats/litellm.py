"""LiteLLM's StandardLoggingPayload, as its S3, GCS and file loggers write it, a JSON object a call.

Fields by https://docs.litellm.ai/docs/proxy/logging_spec: `messages` and `response` are those of chat completions
whatever provider was called, `model_parameters` holds the tools, `trace_id` joins the calls of one request chain.
Spend logs of the proxy have `proxy_server_request` and `response` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from jettison.errors import InvalidInput
from jettison.replay.formats.base import Row, Rows, Skipped, opened
from jettison.replay.formats.chat import answer
from jettison.replay.formats.conversations import Conversations, key_of
from jettison.replay.readers import Recorded, recorded_of

__all__ = ["claims", "histories"]


def claims(row: Row) -> bool:
    row = _payload(row)
    return "proxy_server_request" in row or ("call_type" in row and "response" in row and "messages" in row)


def _payload(row: Row) -> Row:
    inner = row.get("standard_logging_object")
    return inner if isinstance(inner, dict) else row


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a trace, and a branch of it."""
    open_ = Conversations()
    for number, row in rows:
        where, row = f"{name} row {number}", _payload(row)
        asked = opened(row.get("messages"))
        sent = opened(row.get("proxy_server_request"))
        body = {"messages": asked} if asked else sent if isinstance(sent, dict) else {}
        body = body.get("body", body)
        settings = opened(row.get("model_parameters"))
        tools = settings.get("tools") if isinstance(settings, dict) else None
        try:
            found = recorded_of({"tools": tools, "model": row.get("model"), **body}, None, where, [])
        except InvalidInput as error:
            status = f" (status {row['status']})" if row.get("status") not in (None, "success") else ""
            yield Skipped(where, f"{error}{status}")
            continue
        key = str(row.get("trace_id") or row.get("session_id") or "") or key_of(found)
        yield from open_.add(key, found, answer(found.wire, opened(row.get("response"))))
    yield from open_.rest()
