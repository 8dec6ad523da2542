"""OpenTelemetry spans with GenAI attributes, as JSON: OTLP files, and spans dumped one by one.

By https://opentelemetry.io/docs/specs/semconv/gen-ai/: `gen_ai.input.messages`, `gen_ai.output.messages`,
`gen_ai.system_instructions` and `gen_ai.tool.definitions` hold JSON; a message is `{"role", "parts"}` with parts of
type `text`, `reasoning`, `tool_call` and `tool_call_response`. Older instrumentations write events
(`gen_ai.user.message`, …, `gen_ai.choice`) or numbered attributes (`gen_ai.prompt.0.role`); both are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jettison.replay.formats.base import Row, Rows, Skipped, opened, text_in
from jettison.replay.formats.chat import Message, assistant, call, said, tool
from jettison.replay.formats.conversations import Conversations
from jettison.replay.readers import Recorded

__all__ = ["claims", "histories"]

_NUMBERED = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(.+)")
_CALL = re.compile(r"tool_calls\.(\d+)\.(id|name|arguments)")
_ENVELOPES = ("resourceSpans", "scopeSpans", "spans", "batches", "instrumentationLibrarySpans")


def claims(row: Row) -> bool:
    return any(isinstance(row.get(key), list) for key in _ENVELOPES) or (
        "attributes" in row and ("traceId" in row or "context" in row or "trace_id" in row)
    )


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a conversation (`gen_ai.conversation.id`, else the trace), and a branch of it."""
    open_ = Conversations()
    for number, row in rows:
        where = f"{name} row {number}"
        for span in _spans(row):
            held = _attributes(span.get("attributes"))
            if not any(str(key).startswith("gen_ai.") for key in held):
                continue
            asked, answered = _history(held, span)
            if not asked:
                continue
            tools = opened(held.get("gen_ai.tool.definitions"))
            model = held.get("gen_ai.response.model") or held.get("gen_ai.request.model")
            found = Recorded("openai-chat", asked, tools=_tools(tools), model=model, name=where)
            yield from open_.add(_key(held, span), found, answered)
    yield from open_.rest()


def _key(held: Row, span: Row) -> str:
    context = span.get("context")
    inner = context.get("trace_id") if isinstance(context, dict) else None
    return str(held.get("gen_ai.conversation.id") or span.get("traceId") or span.get("trace_id") or inner)


def _spans(row: Any) -> Iterator[Row]:
    """The spans of an envelope, however deep; in the order of their start where a list has several."""
    if not isinstance(row, dict):
        return
    inner = [entry for key in _ENVELOPES for entry in row.get(key) or () if isinstance(entry, dict)]
    if not inner and "attributes" in row:
        yield row
    for entry in sorted(inner, key=_start):
        yield from _spans(entry)


def _start(span: Row) -> tuple[int, str]:
    start = str(span.get("startTimeUnixNano") or span.get("start_time") or "")
    return len(start), start


def _attributes(given: Any) -> Row:
    """Attributes as a plain object; OTLP writes them as a list of typed values."""
    if isinstance(given, dict):
        return given
    pairs = [pair for pair in given or () if isinstance(pair, dict)]
    return {str(pair.get("key")): _value(pair.get("value")) for pair in pairs}


def _value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "arrayValue" in value:
        return [_value(inner) for inner in (value["arrayValue"] or {}).get("values") or ()]
    if "kvlistValue" in value:
        return _attributes((value["kvlistValue"] or {}).get("values"))
    return next(iter(value.values()), None)


def _history(held: Row, span: Row) -> tuple[list[Message], list[Message]]:
    """(what was asked, what was answered)."""
    events = [(str(e.get("name")), _attributes(e.get("attributes"))) for e in span.get("events") or ()]
    for _, inside in events:  # the content may be on an event of the span instead of the span
        held = {**{key: value for key, value in inside.items() if str(key).startswith("gen_ai.")}, **held}
    if "gen_ai.input.messages" in held:
        system = opened(held.get("gen_ai.system_instructions"))
        head = [said("system", text_in(system))] if system else []
        asked = [made for entry in _list(held["gen_ai.input.messages"]) for made in _message(entry)]
        return head + asked, [m for entry in _list(held.get("gen_ai.output.messages")) for m in _message(entry)][:1]
    if any(_NUMBERED.match(str(key)) for key in held):
        return _numbered(held, "prompt"), _numbered(held, "completion")[:1]
    asked, answered = [], []
    for name, data in events:
        if name == "gen_ai.choice":
            inner = opened(data.get("message"))
            answered += _event("assistant", inner if isinstance(inner, dict) else data)
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            asked += _event(name.split(".")[1], data)
    return asked, answered[:1]


def _list(value: Any) -> list[Row]:
    value = opened(value)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _message(entry: Row) -> list[Message]:
    """The chat messages of one `{"role", "parts"}`: each result is a message of its own."""
    role = str(entry.get("role"))
    parts = [part for part in entry.get("parts") or () if isinstance(part, dict)]
    results = [part for part in parts if part.get("type") == "tool_call_response"]
    made = [tool(str(p.get("id") or ""), text_in(p.get("response", p.get("result")))) for p in results]
    text = "\n".join(str(part.get("content") or "") for part in parts if part.get("type") == "text")
    calls = [
        call(str(part.get("id") or ""), str(part.get("name") or ""), part.get("arguments"))
        for part in parts
        if part.get("type") == "tool_call"
    ]
    if role == "assistant":
        return [assistant(text, calls), *made]
    return [*made, said(role, text)] if text and role != "tool" else made


def _event(role: str, data: Row) -> list[Message]:
    text = text_in(data.get("content"))
    if role == "tool":
        return [tool(str(data.get("id") or ""), text)]
    if role != "assistant":
        return [said(role, text)]
    return [assistant(text, [c for c in _list(data.get("tool_calls")) if isinstance(c.get("function"), dict)])]


def _numbered(held: Row, which: str) -> list[Message]:
    found: dict[int, Row] = {}
    for key, value in held.items():
        match = _NUMBERED.match(str(key))
        if match and match[1] == which:
            found.setdefault(int(match[2]), {})[match[3]] = value
    messages = []
    for _, data in sorted(found.items()):
        calls: dict[int, Row] = {}
        for key, value in data.items():
            match = _CALL.fullmatch(key)
            if match:
                calls.setdefault(int(match[1]), {})[match[2]] = value
        made = [call(str(c.get("id") or ""), str(c.get("name")), c.get("arguments")) for _, c in sorted(calls.items())]
        role, text = str(data.get("role") or "assistant"), text_in(opened(data.get("content")))
        if role == "tool":
            messages.append(tool(str(data.get("tool_call_id") or ""), text))
        else:
            messages.append(assistant(text, made) if role == "assistant" else said(role, text))
    return messages


def _tools(given: Any) -> Any:
    """Tool definitions in the form of chat completions."""
    if not isinstance(given, list):
        return None
    listed = [entry for entry in map(opened, given) if isinstance(entry, dict)]
    return [entry if "function" in entry else {"type": "function", "function": entry} for entry in listed] or None
