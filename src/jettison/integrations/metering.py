"""The provider's own token count, read from a response as it passes by: JSON, or a stream of server-sent events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jettison.session import Session

__all__ = ["Meter", "counted", "feed"]

_MOST = 16_000_000
"""Bytes of a JSON body, or of one event, that are looked at."""


class Meter:
    """Takes the chunks of a body and tells the session what the provider counted. None: nobody is told."""

    def __init__(self, session: Session | None) -> None:
        self._session, self._buffer = session, bytearray()

    def take(self, chunk: bytes) -> None:
        if self._session is None or len(self._buffer) + len(chunk) > _MOST:
            return
        self._buffer += chunk
        if bytes(self._buffer[:16]).lstrip().startswith((b"{", b"[")):  # one document, whole at the end
            return
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            self._line(bytes(line))

    def end(self) -> None:
        """The body is over."""
        if self._session is None:
            return
        if bytes(self._buffer[:16]).lstrip().startswith((b"{", b"[")):
            self._read(bytes(self._buffer))
        else:
            self._line(bytes(self._buffer))

    def _line(self, line: bytes) -> None:
        if line.startswith(b"data:") and (b'"usage"' in line or b'"usageMetadata"' in line):
            self._read(line[5:])

    def _read(self, text: bytes) -> None:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):  # cut short, or no JSON: the SDK will say so
            return
        if isinstance(data, dict) and self._session is not None:
            feed(self._session, data)


def feed(session: Session, data: Mapping[str, Any]) -> None:
    """Hand the usage in a response, or in one of its events, to the session; nothing when there is none."""
    for outer in (data, data.get("response"), data.get("message")):
        if not isinstance(outer, Mapping):
            continue
        usage = outer.get("usage") or outer.get("usageMetadata")
        if isinstance(usage, Mapping) and (count := _first(usage, "prompt_tokens", "input_tokens", "promptTokenCount")):
            read, written = _first(usage, "cache_read_input_tokens"), _first(usage, "cache_creation_input_tokens")
            session.usage(input_tokens=count, cache_read_tokens=read, cache_write_tokens=written)
            return


def counted(usage: Any) -> int:
    """The input tokens in a usage as frameworks hand it on, a mapping or an SDK's object; 0 where there are none.

    Anthropic alone counts apart what was read from its cache or written to it.
    """

    def read(name: str) -> int:
        found = usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)
        return found if isinstance(found, int) else 0

    if count := read("input_tokens"):
        return count + read("cache_read_input_tokens") + read("cache_creation_input_tokens")
    return read("prompt_tokens") or read("prompt_token_count")


def _first(usage: Mapping[str, Any], *names: str) -> int:
    return next((usage[name] for name in names if isinstance(usage.get(name), int)), 0)
