"""One POST to an OpenAI-compatible endpoint, sync and async, bounded in size and time; what adapters share."""

from __future__ import annotations

import json
import time
from types import ModuleType
from typing import Any

from jettison.errors import CompressionFailed, ConfigError, CutAnswer

__all__ = ["Endpoint", "chat_text"]

MOST_BYTES = 4_000_000
"""Of a response that are read: a hundred times what the longest summary takes, 64 vectors of 3,072 numbers twice."""


class Endpoint:
    """Address, key and limits of one model behind `base_url`; `post` and `apost` give the parsed JSON.

    Raises ConfigError for settings that cannot work; see `post` for the rest.
    """

    path = "/chat/completions"
    extra = "summary"
    """What to install for it."""

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, *, timeout: float, **settings: Any
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigError(f"base_url is an http(s) address, not {base_url!r}")
        if timeout <= 0:
            raise ConfigError("timeout must be above 0")
        self._httpx = _httpx(type(self).__name__, self.extra)
        self._url = base_url.rstrip("/") + self.path
        self._key, self._settings = api_key, settings
        self.name, self.timeout = model, timeout

    def __repr__(self) -> str:
        """Without the key."""
        return f"{type(self).__name__}({self._url!r}, {self.name!r})"

    def post(self, body: dict[str, Any]) -> Any:
        """The JSON of the response. Raises TimeoutError, CompressionFailed for a response that is none, and else what
        httpx raises."""
        reading = _Reading(self.timeout)
        try:
            with self._client("Client") as client, client.stream(**self._request(body)) as response:
                for piece in response.iter_bytes():
                    reading.take(piece)
        except self._httpx.TimeoutException as error:
            raise reading.late() from error
        return reading.value(response.status_code)

    async def apost(self, body: dict[str, Any]) -> Any:
        """`post` for an event loop."""
        reading = _Reading(self.timeout)
        try:
            async with self._client("AsyncClient") as client, client.stream(**self._request(body)) as response:
                async for piece in response.aiter_bytes():
                    reading.take(piece)
        except self._httpx.TimeoutException as error:
            raise reading.late() from error
        return reading.value(response.status_code)

    def chat(self, prompt: str, max_tokens: int) -> dict[str, Any]:
        """The body of a chat completion."""
        return {"messages": [{"role": "user", "content": prompt}], "max_tokens": max_tokens}

    def _request(self, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        whole = {"model": self.name} | body | self._settings
        sent = {key: value for key, value in whole.items() if value is not None}
        return {"method": "POST", "url": self._url, "headers": headers, "json": sent}

    def _client(self, kind: str) -> Any:
        # The limit of httpx is for each read: a server that drips is stopped by the clock in `_Reading`.
        return getattr(self._httpx, kind)(timeout=self.timeout)


class _Reading:
    """The body of one response, bounded in size and time."""

    def __init__(self, timeout: float) -> None:
        self.timeout, self.end = timeout, time.monotonic() + timeout
        self.data = bytearray()

    def take(self, piece: bytes) -> None:
        self.data += piece
        if time.monotonic() > self.end:
            raise self.late()
        if len(self.data) > MOST_BYTES:
            raise CompressionFailed(f"the response is larger than {MOST_BYTES:,} bytes")

    def late(self) -> TimeoutError:
        return TimeoutError(f"the endpoint gave no whole answer within {self.timeout:g} s")

    def value(self, status: int) -> Any:
        shown = bytes(self.data[:120]).decode("utf-8", "replace")
        if status != 200:
            raise CompressionFailed(f"the endpoint answered {status}: {shown}")
        try:
            return json.loads(bytes(self.data))
        except (ValueError, RecursionError) as error:
            raise CompressionFailed(f"the response is no chat completion: {shown}") from error


def chat_text(value: Any) -> str:
    """The text of the first choice. Raises CutAnswer when the model stopped at its limit, else CompressionFailed."""
    shown = json.dumps(value, ensure_ascii=False)[:120]
    try:
        choice = value["choices"][0]
        text, reason = choice["message"]["content"], choice.get("finish_reason")
    except (LookupError, TypeError, AttributeError) as error:
        raise CompressionFailed(f"the response is no chat completion: {shown}") from error
    if reason == "length":
        raise CutAnswer("finish_reason is length")
    if reason == "content_filter" or not isinstance(text, str):
        raise CompressionFailed(f"the model gave no text (finish_reason {reason})")
    return text


def _httpx(who: str, extra: str) -> ModuleType:
    try:
        import httpx
    except ImportError as error:
        raise ImportError(f"{who} needs httpx: pip install 'jettison[{extra}]'") from error
    return httpx
