"""A summariser behind any OpenAI-compatible endpoint, sync and async."""

from __future__ import annotations

from typing import Any

from jettison.errors import ConfigError
from jettison.integrations.endpoint import Endpoint, chat_text

__all__ = ["AsyncOpenAISummarizer", "OpenAISummarizer"]


class _Summarizing(Endpoint):
    """What both summarisers share."""

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
        if window <= 0:
            raise ConfigError("timeout and window must be above 0")
        super().__init__(base_url, model, api_key, timeout=timeout, **{"temperature": 0, **settings})
        self.window = window


class OpenAISummarizer(_Summarizing):
    """A `Summarizer`: `OpenAISummarizer("http://localhost:8000/v1", "small-model", window=32_000)`.

    `base_url`: up to and with `/v1`. `timeout`: seconds for the whole answer. `window`: tokens that the model takes,
    prompt and answer together. Other keywords go into the request body as they are; None takes a field out of it
    (`temperature=None`). Raises ConfigError for settings that cannot work, CutAnswer when the model stopped at its
    limit, TimeoutError, CompressionFailed for a response that is none, and else what httpx raises.
    """

    def __call__(self, prompt: str, max_tokens: int) -> str:
        return chat_text(self.post(self.chat(prompt, max_tokens)))


class AsyncOpenAISummarizer(_Summarizing):
    """`OpenAISummarizer` for an event loop."""

    async def __call__(self, prompt: str, max_tokens: int) -> str:
        return chat_text(await self.apost(self.chat(prompt, max_tokens)))
