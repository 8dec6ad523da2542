"""How a provider says that the prompt is larger than its window. A table of texts and names, nothing else."""

from __future__ import annotations

import re

from jettison.errors import JettisonError

__all__ = ["is_overflow", "says_overflow"]

_NAMES = ("ContextOverflow", "ContextWindow", "ContextLength")
"""Class names: LangChain's ContextOverflowError, LiteLLM's ContextWindowExceededError, and the like."""
_TEXT = re.compile(
    r"context_length_exceeded|context_window_exceeded|maximum context length"  # OpenAI, vLLM, Mistral, DeepSeek
    r"|exceeds? the (?:model'?s? )?(?:context window|context length|available context size)"  # OpenAI, llama.cpp
    r"|prompt is too long|input length and `?max_tokens`? exceed context limit"  # Anthropic
    r"|input token count.{0,40}exceeds the maximum number of tokens"  # Gemini
    r"|input is too long for requested model|too many (?:input )?tokens for (?:this )?model"  # Bedrock
    r"|context window of this model|exceed(?:s|ed)? context window",  # OpenAI, several gateways
    re.IGNORECASE,
)
_STATUS = (400, 413, 422, 500)
"""What it comes with; some gateways turn it into a 500. A 429 (tokens per minute) is no overflow."""


def is_overflow(error: BaseException) -> bool:
    """Whether the provider refused the request because its prompt is too long."""
    if isinstance(error, JettisonError):
        return False
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(status, int) and status not in _STATUS:
        return False
    if any(name in cls.__name__ for cls in type(error).__mro__ for name in _NAMES):
        return True
    return says_overflow(str(error))


def says_overflow(text: str) -> bool:
    """Whether a provider's error text says that the prompt is too long. Its first 4,000 characters are read."""
    return _TEXT.search(text[:4_000]) is not None
