"""Writes src/jettison/models.json from the installed `genai-prices`, with corrections and additions.

    .venv/bin/python tools/make_models.py            # write
    .venv/bin/python tools/make_models.py --print    # and show what is corrected

Windows and prices are genai-prices'. Largest replies and input limits it does not have: they are here, as are
the windows that it has wrong or lacks, each with its source. Checked 2026-11.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
from collections.abc import Iterator
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices import data

from jettison.models import bare_name, candidates

TARGET = Path(__file__).parents[1] / "src" / "jettison" / "models.json"
COLUMNS = ["window", "max_output", "max_input", "input", "cached", "write", "output"]

# Which providers' own rows are taken, and what a name must begin with to be a chat model of that family.
FAMILIES = {
    "openai": r"gpt-|chatgpt-|o\d|codex-",
    "anthropic": r"claude-",
    "google": r"gemini-",
    "mistral": r"mistral-|ministral-|codestral|devstral|magistral|open-mi|pixtral|mixtral",
    "meta": r"llama|muse-",
    "deepseek": r"deepseek",
    "x-ai": r"grok-",
}
# Open models have no provider of their own in the table: these rows of OpenRouter's are taken.
OPEN = re.compile(r"^(?:meta-llama/llama|qwen/q|mistralai/|deepseek/)")
NOT_CHAT = re.compile(
    r"audio|realtime|transcri|tts|image|embed|ocr|live|voice|robotics|whisper|guard|omni|banana|vision|search"
    r"|cyber|rosalind|[: ]|-(?:0|2025)$"
)

# (pattern on the bare name, window) where genai-prices is wrong or silent.
WINDOWS: list[tuple[str, int]] = [
    # 1,047,576, genai-prices rounds to 1,000,000. vercel.com/ai-gateway/models/gpt-4.1-fast, litellm 1.110.
    (r"gpt-4\.1(-mini|-nano)?$", 1_047_576),
    # The chat aliases are 128k models with 16k replies, not 400k ones. litellm 1.110; labring/fastgpt-plugin PR 297.
    (r"gpt-5(\.[123])?-chat$", 128_000),
    # 1,050,000, genai-prices has 1,000,000. docs.oxen.ai …/gpt-5-5-2026-04-23 (also -pro), litellm 1.110.
    (r"gpt-5\.5", 1_050_000),
    # Retired snapshots with 4,096, which would be taken for the later 16k ones. OpenAI's deprecations page.
    (r"gpt-3\.5-turbo-0(?:301|613)$", 4_096),
    # 32,768 (genai-prices: 32,000). OpenAI's GPT-4 page.
    (r"gpt-4-32k$", 32_768),
    # 2,097,152 input tokens, where genai-prices has 1,000,000 (and 2,000,000 under another name). Google, 2024-06.
    (r"gemini-1\.5-pro$|gemini-pro-1\.5$", 2_097_152),
    # Google states 1,048,576 input tokens for all of these; genai-prices rounds, or has nothing.
    # docs.uipath.com "Supported models and limits" (2.5 Pro), litellm 1.110 (2.5 and 3.x).
    (
        r"gemini-(?:1\.5|2\.0|2\.5|3|3\.\d)-(?:pro|flash)|gemini-(?:pro|flash|flash-lite)-latest$|gemini-flash-1\.5",
        1_048_576,
    ),
    # Meta's model cards: Llama 3 8k; 3.1, 3.2 and 3.3 128k; Llama 4 Maverick 1M, Scout 10M. Hosts often serve less.
    (r"llama-3-", 8_192),
    (r"llama-3\.[123]-", 131_072),
    (r"llama-4-maverick", 1_048_576),
    (r"llama-4-scout", 10_000_000),
    # litellm 1.110; they were 64k until V3.1 (2025-08).
    (r"deepseek-(?:chat|reasoner)$", 131_072),
    # 128k until late 2025, 256k since: litellm 1.110 (the dated names, and mistral/…-latest).
    (r"mistral-large-2402$|mistral-medium-2312$", 32_768),
    (r"mistral-(?:large-24|medium-25|small-25)", 131_072),
    (r"mistral-(?:large|medium|small)$", 262_144),
]
# (pattern, max_output, max_input): litellm 1.110 unless said otherwise.
LIMITS: list[tuple[str, int | None, int | None]] = [
    (r"gpt-4o-2024-05-13$|gpt-4-turbo|gpt-4-\d{4}-preview|gpt-3\.5", 4_096, None),
    (r"gpt-4o|chatgpt-4o", 16_384, None),
    (r"gpt-4\.1", 32_768, None),
    (r"gpt-4$", 4_096, None),
    (r"o1-(?:mini|preview)$", 65_536, None),
    (r"o[134](?:$|-mini|-pro)", 100_000, None),
    (r"codex-mini", 100_000, None),
    (r"gpt-5(?:\.[123])?-chat$|gpt-5\.3$", 16_384, None),
    (r"gpt-5-pro$", 272_000, None),
    # OpenAI's model pages: "400,000 context window, 128,000 max output tokens", and 272,000 of input.
    (
        r"gpt-5(?:\.[12])?(?:-codex(?:-mini|-max)?|-mini|-nano|-pro)?$|gpt-5\.3-codex$|gpt-5\.4-(?:mini|nano)$",
        128_000,
        272_000,
    ),
    # "1,050,000 context window, maximum input tokens 922,000, 128,000 max output tokens":
    # developers.openai.com/api/docs/models/gpt-6.2-sol; wavespeed.ai gpt-5.4 "(922K input, 128K output)".
    (r"gpt-5\.[4-9]|gpt-6", 128_000, 922_000),
    (r"claude-(?:opus|sonnet|haiku)-3$", 4_096, None),
    (r"claude-(?:sonnet|haiku)-3-5$", 8_192, None),
    (r"claude-sonnet-3-7$|claude-(?:sonnet|haiku|opus)-4-5$|claude-sonnet-4$", 64_000, None),
    (r"claude-opus-4(?:-1)?$", 32_000, None),
    # platform.claude.com: "1M token context window and up to 128k output tokens" (Opus, Sonnet 5 …, Haiku 5.5).
    (r"claude-(?:opus|sonnet)-4-[678]$|claude-[a-z]+-5", 128_000, None),
    # Google's limits are input and output apart; Gemini 4 has one limit for both (docs.cloud.google.com, 4 Carbon).
    (r"gemini-1\.5-pro$|gemini-pro-1\.5$", 8_192, 2_097_152),
    (r"gemini-(?:1\.5|2\.0|flash-1\.5)", 8_192, 1_048_576),
    (r"gemini-(?:2\.5|3)|gemini-(?:pro|flash|flash-lite)-latest$", 65_536, 1_048_576),
    (r"gemini-4", 65_536, None),
    (r"deepseek-chat$", 8_192, None),
    (r"deepseek-reasoner$", 65_536, None),
    (r"qwen3-max$", 65_536, None),
]
# Rows that genai-prices 0.2.3 does not have: window, max_output, max_input, input, cached, write, output.
ADDED: dict[str, list[float | None]] = {
    # developers.openai.com/api/docs/models/gpt-6.2-sol
    "gpt-6.2-sol": [1_050_000, 128_000, 922_000, 2, 0.1, 2.5, 10],
    # vercel.com/ai-gateway/models/gpt-6.2-astra; LiteLLM discussion 52347
    "gpt-6.2-astra": [1_050_000, 128_000, 922_000, 8, None, None, 40],
    # docs.aws.amazon.com Bedrock model cards: 1M window, 128K output; the prices of Fable 5 and 5.1 (Claude docs)
    "claude-mythos-5": [1_000_000, 128_000, None, 10, 1, 12.5, 50],
    "claude-mythos-5-1": [1_000_000, 128_000, None, 10, 0.25, 12.5, 50],
    # docs.cloud.google.com …/models/gemini/4-carbon: one limit of 1,048,576 for input and output; price from 2026-12
    "gemini-4-carbon": [1_048_576, 65_536, None, 4, 0.2, None, 20],
}


def names(model: Any) -> Iterator[str]:
    """The id of a row and the names it matches literally or by their beginning."""
    yield model.id
    clauses = [model.match]
    while clauses:
        clause = clauses.pop()
        clauses += getattr(clause, "or_", [])
        for kind in ("equals", "starts_with"):
            if text := getattr(clause, kind, None):
                yield text.rstrip("-")


def price(prices: Any, column: str) -> float | None:
    value = getattr(prices, column, None)
    value = getattr(value, "base", value)
    return None if value is None else float(Decimal(value))


def rows(as_of: datetime.datetime) -> Iterator[tuple[str, list[float | None]]]:
    """(bare name, columns) of every chat model that genai-prices knows, providers' own rows first."""
    for provider in sorted(data.providers, key=lambda p: p.id == "openrouter"):
        wanted = OPEN if provider.id == "openrouter" else re.compile(FAMILIES.get(provider.id, r"(?!)"))
        for model in provider.models:
            prices = model.get_prices(as_of)
            columns = [price(prices, c) for c in ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")]
            for name in names(model):
                if wanted.match(name) and not NOT_CHAT.search(name):
                    yield bare_name(name).removesuffix("-instruct"), [model.context_window, None, None, *columns]


def correct(name: str, row: list[float | None]) -> list[float | None]:
    """The row with the tables above applied: the first pattern that fits the name, or the name without its date."""
    forms = list(candidates(name))

    def first(patterns: list[Any]) -> Any:
        return next((entry[1:] for entry in patterns if any(re.match(entry[0], form) for form in forms)), None)

    row[:1] = first(WINDOWS) or row[:1]
    row[1:3] = first(LIMITS) or row[1:3]
    return [int(value) if value is not None and value == int(value) else value for value in row]


def build(as_of: str) -> dict[str, Any]:
    """The whole table with prices as of noon UTC on an ISO date (at night some are lower)."""
    table: dict[str, list[float | None]] = {}
    for name, row in rows(datetime.datetime.fromisoformat(f"{as_of}T12:00:00+00:00")):
        row = correct(name, row)
        if row[0] is not None:
            table.setdefault(name, row)
    for name, row in ADDED.items():
        table.setdefault(name, row)
    source = f"genai-prices {version('genai-prices')}, tools/make_models.py"
    return {
        "source": source,
        "as_of": as_of,
        "columns": COLUMNS,
        "models": dict(sorted(without_repeats(table).items())),
    }


def without_repeats(table: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
    """Without the dated names whose row says the same as the name that `lookup` would fall back to."""

    def fallback(name: str) -> list[float | None] | None:
        return next((table[form] for form in list(candidates(name))[1:] if form in table), None)

    return {name: row for name, row in table.items() if row != fallback(name)}


def render(table: dict[str, Any]) -> str:
    """JSON with one model a line, so that a change of the table can be read as a diff."""
    lines = [f"  {json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in table["models"].items()]
    head = ",\n".join(f" {json.dumps(key)}: {json.dumps(table[key])}" for key in ("source", "as_of", "columns"))
    return "{\n" + head + ',\n "models": {\n' + ",\n".join(lines) + "\n }\n}\n"


if __name__ == "__main__":
    built = build(datetime.date.today().isoformat())
    TARGET.write_text(render(built), "utf-8")
    print(f"{len(built['models'])} models written to {TARGET}")
    if "--print" in sys.argv:
        for key, row in built["models"].items():
            print(key, *row)
