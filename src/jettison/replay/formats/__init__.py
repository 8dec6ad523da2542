"""What people have on disk, one module a format. The first format that claims a file's first row reads it."""

from __future__ import annotations

from jettison.replay.formats import (
    agents,
    claude_code,
    codex,
    items,
    langchain,
    langfuse,
    litellm,
    messages,
    otel,
    requests,
    swe_agent,
    tau,
)
from jettison.replay.formats.base import Named, Row, Skipped

__all__ = ["FORMATS", "Named", "Skipped", "format_of"]

# The more special before the more general: a LiteLLM row is a request log too, and that a row with messages.
FORMATS = (
    Named("claude-code", claude_code, single=True),
    Named("codex", codex, single=True),
    Named("swe-agent", swe_agent, single=True),
    Named("tau-bench", tau),
    Named("openai-agents", agents),
    Named("opentelemetry", otel),
    Named("langfuse", langfuse),
    Named("litellm", litellm),
    Named("langchain", langchain),
    Named("request-log", requests),
    Named("messages", messages),
    Named("message-list", items, single=True),
)


def format_of(row: Row) -> Named | None:
    """The format of a file that begins with this row; None: no format knows it."""
    return next((named for named in FORMATS if named.format.claims(row)), None)
