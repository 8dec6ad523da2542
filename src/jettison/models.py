"""Facts about models: window, largest reply, prices, tokenizer family, whether reasoning is bound to the prefix.

The numbers are in `models.json`, written by `tools/make_models.py`, where each source is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Model", "binds_reasoning", "family_of", "lookup", "on_record"]


@dataclass(frozen=True, slots=True)
class Model:
    """One row of the table. Windows and replies in tokens, prices in USD per million tokens, without the
    surcharges for long prompts; None where nothing is on record."""

    name: str
    window: int
    """Input and reply together, unless `max_input` equals it: there the reply comes on top."""
    max_output: int | None = None
    """The longest reply."""
    max_input: int | None = None
    """The longest prompt, where the provider states one apart from the window."""
    input: float | None = None
    """Price of an input token that is not cached."""
    cached: float | None = None
    """… read from the prompt cache."""
    write: float | None = None
    """… written to the prompt cache, where that costs extra."""
    output: float | None = None


# openai/gpt-4o, models/gemini-2.5-pro, accounts/…/models/…, us.anthropic.claude-…, ft:gpt-4o-…:org::id
_VENDOR = re.compile(r"^(?:[a-z-]+\.)?(?:anthropic|openai|google|meta|mistral|deepseek|qwen|xai)\.(?=[a-z])")
_SUFFIX = re.compile(
    r"-(?:\d{8}|\d{4}-\d\d-\d\d|\d\d-\d\d(?:-\d{4})?|\d{4}|00\d|v\d|latest|preview|exp|instruct|instant|versatile)$"
)
_CLAUDE = re.compile(r"claude-(?:([a-z]+)-)?(\d)(?:[-.](\d{1,2})(?!\d))?(?:-([a-z]+))?")
_GPT = re.compile(r"(?<![a-z])gpt-(\d)(?:[.-]?(\d)(?!\d))?(?![\dk])")
_OPENAI = re.compile(r"(?<![a-z])(?:chatgpt|gpt-(?:\d|oss|chat)|codex)|(?<![a-z0-9])o[1-9](?:-|$)")


def bare_name(name: str) -> str:
    """A model name in lower case without provider, region, fine-tune and deployment marks."""
    low = name.strip().lower().rsplit("/", 1)[-1].removeprefix("ft:")
    low = _VENDOR.sub("", re.split(r"[@:\[]", low, maxsplit=1)[0])
    if match := _CLAUDE.match(low):
        before, major, minor, after = match.groups()
        rest = low[match.end() :] if after is None or before is None else f"-{after}{low[match.end() :]}"
        minor = "" if minor in (None, "0") else f"-{minor}"
        low = f"claude-{before or after or ''}-{major}{minor}{rest}".replace("--", "-")
    low = re.sub(r"^gpt-3-?5(?=-)", "gpt-3.5", re.sub(r"^gpt-(\d)-(\d)(?=-|$)", r"gpt-\1.\2", low))
    return re.sub(r"^(?:meta-)?llama-?v?(\d)(?:[-.p](\d)(?=-|$))?", _llama, low)


def _llama(match: re.Match[str]) -> str:
    return f"llama-{match[1]}.{match[2]}" if match[2] else f"llama-{match[1]}"


def candidates(name: str) -> Iterator[str]:
    """The name and what remains of it when dates, versions and `-latest` are taken off the end, longest first."""
    low = bare_name(name)
    while low:
        yield low
        shorter = _SUFFIX.sub("", low)
        if shorter == low:
            return
        low = shorter


@lru_cache(maxsize=1)
def _table() -> dict[str, list[float | None]]:
    """`models.json`: columns are the fields of `Model` after `name`. Read on first use."""
    import json
    from importlib.resources import files

    rows: dict[str, list[float | None]] = json.loads(files("jettison").joinpath("models.json").read_text("utf-8"))[
        "models"
    ]
    return rows


def lookup(name: str) -> Model | None:
    """The model of that name, with or without a provider prefix and a date; None when it is not on record."""
    table = _table()
    for low in candidates(name):
        row = table.get(low)
        if row is not None:
            window, max_output, max_input, *prices = row
            return Model(low, int(window or 0), _int(max_output), _int(max_input), *prices)
    return None


def on_record(name: str) -> bool:
    """Whether anything is known of a model of that name: a deployment may have any."""
    return family_of(name) is not None or lookup(name) is not None


def _int(value: float | None) -> int | None:
    return None if value is None else int(value)


def _claude_version(low: str) -> tuple[int, int] | None:
    match = _CLAUDE.search(low)
    return (int(match[2]), int(match[3] or 0)) if match else None


def family_of(model: str | None) -> str | None:
    """The key in `tokens.FACTORS` for a model name, None when its tokenizer family is not known."""
    if not model:
        return None
    low = model.lower()
    if "claude" in low:
        # The tokenizer changed with 4.7. A Claude without a version is taken for a new one: that counts more.
        version = _claude_version(low)
        return "claude" if version is not None and version < (4, 7) else "claude-4.7"
    if "gemini" in low:
        return "gemini"
    if re.search(r"llama-?v?3(?!\d)", low):
        return "llama-3"
    # gpt-4, gpt-4-turbo and gpt-3.5 use cl100k: within a few per cent of o200k on English text and code.
    return "o200k" if _OPENAI.search(low) else None


# Anthropic, "Preserved thinking": "Starting with Claude Fable 5.1 … the API checks … nothing before the thinking
# block has changed." The pages "What's new in …" say the same of Opus 5.5, Sonnet 5.5, Haiku 5.5, Fable 5.2 and
# Mythos 5.2 ("thinking blocks are tied to the model and the conversation"); Mythos 5.1 checks it on the Claude API
# and not on Bedrock (Bedrock user guide, "Preserved thinking"). Later versions are taken to check it too.
# https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
_CLAUDE_BINDS = (5, 1)
# OpenAI, "Using GPT-6.2": "Starting with GPT-6.2, the Responses API drops reasoning items after mid-conversation
# edits to the conversation history (prefix edits)". https://developers.openai.com/api/docs/guides/latest-model
_GPT_BINDS = (6, 2)


def binds_reasoning(model: str | None) -> bool | None:
    """Whether the model checks that everything before a reasoning block is unchanged; None when not known.

    Known for Claude and for OpenAI's numbered models; nothing is documented for other providers.
    """
    if not model:
        return None
    low = bare_name(model)
    if "claude" in low:
        version = _claude_version(low)
        return None if version is None else version >= _CLAUDE_BINDS
    if match := _GPT.search(low):
        return (int(match[1]), int(match[2] or 0)) >= _GPT_BINDS
    return False if re.match(r"o[1-9](?:-|$)", low) else None
