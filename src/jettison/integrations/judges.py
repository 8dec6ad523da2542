"""Judges behind a model: an OpenAI-compatible endpoint, or a client of Anthropic's SDK. Any callable is one as well."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Any

from jettison.integrations.endpoint import Endpoint, chat_text
from jettison.protocols import Question

__all__ = ["AnthropicJudge", "AsyncOpenAIJudge", "OpenAIJudge"]


class _Judging(Endpoint):
    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, *, timeout: float = 30.0, **settings: Any
    ) -> None:
        super().__init__(base_url, model, api_key, timeout=timeout, **{"temperature": 0, **settings})


class OpenAIJudge(_Judging):
    """A `Judge`: `OpenAIJudge("http://localhost:8000/v1", "small-model")`. Arguments and errors are those of
    `OpenAISummarizer`; an answer cut at its limit raises, as half of a JSON object says nothing. A back end that can
    force JSON is told so by `response_format={"type": "json_object"}`."""

    def __call__(self, question: Question) -> str:
        return chat_text(self.post(self.chat(question.prompt, question.max_tokens)))


class AsyncOpenAIJudge(_Judging):
    """`OpenAIJudge` for an event loop."""

    async def __call__(self, question: Question) -> str:
        return chat_text(await self.apost(self.chat(question.prompt, question.max_tokens)))


class AnthropicJudge:
    """A `Judge` with a client you have: `AnthropicJudge(anthropic.Anthropic(), "claude-…")`, or an `AsyncAnthropic`.

    Other keywords go to `messages.create` as they are. Raises what the client raises; its own time-out and retries are
    its own, the deadline of the policy holds beside them.
    """

    def __init__(self, client: Any, model: str, **settings: Any) -> None:
        self.client, self.name, self.settings = client, model, settings

    def __call__(self, question: Question) -> str | Awaitable[str]:
        given = self.client.messages.create(
            model=self.name,
            max_tokens=question.max_tokens,
            messages=[{"role": "user", "content": question.prompt}],
            **self.settings,
        )
        return _later(given) if inspect.isawaitable(given) else _text(given)


async def _later(given: Awaitable[Any]) -> str:
    return _text(await given)


def _text(message: Any) -> str:
    """The text blocks of a message; thinking and other blocks are left out."""
    return "".join(block.text for block in message.content if getattr(block, "type", "") == "text")
