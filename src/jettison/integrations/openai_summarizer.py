"""A summariser behind any OpenAI-compatible endpoint, sync and async."""

from __future__ import annotations

import json
import time
from types import ModuleType
from typing import Any

from jettison.errors import CompressionFailed, ConfigError, CutAnswer

__all__ = ["AsyncOpenAISummarizer", "OpenAISummarizer"]

MOST_BYTES = 4_000_000
"""Of a response that are read: a hundred times what the longest summary takes."""


class _Endpoint:
    """What both summarisers share: settings, the request, and what the response says."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        window: int = 8_000,
        **settings: Any,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigError(f"base_url is an http(s) address, not {base_url!r}")
        if timeout <= 0 or window <= 0:
            raise ConfigError("timeout and window must be above 0")
        self._httpx = _httpx()
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key = api_key
        self._settings = {"temperature": 0, **settings}
        self.name, self.timeout, self.window = model, timeout, window

    def __repr__(self) -> str:
        """Without the key."""
        return f"{type(self).__name__}({self._url!r}, {self.name!r}, window={self.window})"

    def _request(self, prompt: str, max_tokens: int) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        body = {"model": self.name, "messages": [{"role": "user", "content": prompt}], "max_tokens": max_tokens}
        sent = {key: value for key, value in (body | self._settings).items() if value is not None}
        return {"method": "POST", "url": self._url, "headers": headers, "json": sent}

    def _client(self, kind: str) -> Any:
        # The limit of httpx is for each read: a server that drips is stopped by the clock in `_Reading`.
        return getattr(self._httpx, kind)(timeout=self.timeout)


class OpenAISummarizer(_Endpoint):
    """A `Summarizer`: `OpenAISummarizer("http://localhost:8000/v1", "small-model", window=32_000)`.

    `base_url`: up to and with `/v1`. `timeout`: seconds for the whole answer. `window`: tokens that the model takes,
    prompt and answer together. Other keywords go into the request body as they are; None takes a field out of it
    (`temperature=None`). Raises ConfigError for settings that cannot work, CutAnswer when the model stopped at its
    limit, TimeoutError, CompressionFailed for a response that is none, and else what httpx raises.
    """

    def __call__(self, prompt: str, max_tokens: int) -> str:
        reading = _Reading(self.timeout)
        try:
            with (
                self._client("Client") as client,
                client.stream(**self._request(prompt, max_tokens)) as response,
            ):
                for piece in response.iter_bytes():
                    reading.take(piece)
        except self._httpx.TimeoutException as error:
            raise reading.late() from error
        return reading.answer(response.status_code)


class AsyncOpenAISummarizer(_Endpoint):
    """`OpenAISummarizer` for an event loop."""

    async def __call__(self, prompt: str, max_tokens: int) -> str:
        reading = _Reading(self.timeout)
        try:
            async with (
                self._client("AsyncClient") as client,
                client.stream(**self._request(prompt, max_tokens)) as response,
            ):
                async for piece in response.aiter_bytes():
                    reading.take(piece)
        except self._httpx.TimeoutException as error:
            raise reading.late() from error
        return reading.answer(response.status_code)


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

    def answer(self, status: int) -> str:
        """The text of the first choice; see `OpenAISummarizer` for errors."""
        shown = bytes(self.data[:120]).decode("utf-8", "replace")
        if status != 200:
            raise CompressionFailed(f"the endpoint answered {status}: {shown}")
        try:
            choice = json.loads(bytes(self.data))["choices"][0]
            text, reason = choice["message"]["content"], choice.get("finish_reason")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise CompressionFailed(f"the response is no chat completion: {shown}") from error
        if reason == "length":
            raise CutAnswer("finish_reason is length")
        if reason == "content_filter" or not isinstance(text, str):
            raise CompressionFailed(f"the model gave no text (finish_reason {reason})")
        return text


def _httpx() -> ModuleType:
    try:
        import httpx
    except ImportError as error:
        raise ImportError("OpenAISummarizer needs httpx: pip install 'jettison[summary]'") from error
    return httpx
