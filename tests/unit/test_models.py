"""The table of models: names in every spelling, windows, tokenizer families, bound reasoning."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from jettison.models import Model, binds_reasoning, family_of, lookup
from jettison.tokens import FACTORS

TABLE = json.loads(Path(__file__).parents[2].joinpath("src/jettison/models.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "window", "max_output"),
    [
        ("gpt-4o", 128_000, 16_384),
        ("gpt-4o-mini", 128_000, 16_384),
        ("gpt-4.1", 1_047_576, 32_768),
        ("gpt-4", 8_192, 4_096),
        ("gpt-4-1106-preview", 128_000, 4_096),
        ("gpt-3.5-turbo", 16_385, 4_096),
        ("o1", 200_000, 100_000),
        ("o3", 200_000, 100_000),
        ("o4-mini", 200_000, 100_000),
        ("gpt-5", 400_000, 128_000),
        ("gpt-5-chat-latest", 128_000, 16_384),
        ("gpt-5.5", 1_050_000, 128_000),
        ("gpt-6.2-sol", 1_050_000, 128_000),
        ("claude-3-haiku-20240307", 200_000, 4_096),
        ("claude-sonnet-4-5", 200_000, 64_000),
        ("claude-opus-4-6", 1_000_000, 128_000),
        ("claude-haiku-4-5", 200_000, 64_000),
        ("claude-fable-5-2", 1_000_000, 128_000),
        ("gemini-2.5-pro", 1_048_576, 65_536),
        ("gemini-1.5-pro", 2_097_152, 8_192),
        ("gemini-4-carbon", 1_048_576, 65_536),
        ("deepseek-chat", 131_072, 8_192),
        ("llama-3.3-70b-instruct", 131_072, None),
        ("llama-3-8b-instruct", 8_192, None),
        ("mistral-large-2407", 131_072, None),
        ("qwen3-max", 262_144, 65_536),
        ("grok-4", 256_000, None),
    ],
)
def test_windows_of_the_main_models(name: str, window: int, max_output: int | None) -> None:
    model = lookup(name)
    assert model is not None
    assert (model.window, model.max_output) == (window, max_output)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("openai/gpt-4o", "gpt-4o"),
        ("azure/GPT-4o", "gpt-4o"),
        (" gpt-4o-2024-08-06 ", "gpt-4o"),
        ("ft:gpt-4o-2024-08-06:my-org::abc123", "gpt-4o"),
        ("gpt-35-turbo", "gpt-3.5-turbo"),
        ("gpt-5-4-2026-03-05", "gpt-5.4"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("claude-4-sonnet", "claude-sonnet-4"),
        ("claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-sonnet-3-5"),
        ("claude-3-5-sonnet-latest", "claude-sonnet-3-5"),
        ("claude-opus-4-1-20250805", "claude-opus-4-1"),
        ("claude-sonnet-4-0", "claude-sonnet-4"),
        ("claude-fable-5-1", "claude-fable-5-1"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("google/gemini-2.5-pro-preview-06-05", "gemini-2.5-pro"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("projects/p/locations/l/publishers/google/models/gemini-2.5-flash", "gemini-2.5-flash"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama-3.1-70b"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b"),
        ("accounts/fireworks/models/llama-v3p1-8b-instruct", "llama-3.1-8b"),
        ("groq/llama-3.3-70b-versatile", "llama-3.3-70b"),
        ("openrouter/deepseek/deepseek-chat:free", "deepseek-chat"),
        ("mistral-large-latest", "mistral-large"),
        ("x-ai/grok-4-0709", "grok-4"),
    ],
)
def test_a_name_is_found_in_every_spelling(spelling: str, name: str) -> None:
    model = lookup(spelling)
    assert model is not None
    assert model.name == name


@pytest.mark.parametrize(
    "name", ["", "my-model", "gpt-99", "gpt-4o-realtime-preview", "text-embedding-3-large", "claude-", "/", "-2024"]
)
def test_what_is_not_on_record_is_none(name: str) -> None:
    assert lookup(name) is None


def test_input_limits_and_prices() -> None:
    gpt = lookup("gpt-5")
    assert gpt is not None
    assert gpt.max_input == 272_000, "the window of 400,000 is input and reply together"
    claude = lookup("claude-sonnet-4-5")
    assert claude is not None
    assert (claude.input, claude.cached, claude.write, claude.output) == (3, 0.3, 3.75, 15)


def test_every_row_is_sound() -> None:
    for name, row in TABLE["models"].items():
        model = lookup(name)
        assert model is not None
        assert model.name == name
        assert len(row) == len(TABLE["columns"]) == 7
        assert 4_000 <= model.window <= 10_000_000, name
        assert model.max_output is None or 1_000 <= model.max_output <= model.window, name
        assert model.max_input is None or model.max_output is None or model.max_input <= model.window, name
        assert model.cached is None or model.input is None or model.cached <= model.input, name


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o", "o200k"),
        ("gpt-4", "o200k"),
        ("gpt-3.5-turbo", "o200k"),
        ("chatgpt-4o-latest", "o200k"),
        ("openai/o3-mini", "o200k"),
        ("gpt-oss-20b", "o200k"),
        ("codex-mini-latest", "o200k"),
        ("claude-3-opus-20240229", "claude"),
        ("claude-2.1", "claude"),
        ("claude-3-5-sonnet-20241022", "claude"),
        ("claude-sonnet-4-20250514", "claude"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "claude"),
        ("claude-opus-4.6", "claude"),
        ("claude-opus-4-7", "claude-4.7"),
        ("claude-opus-4-8", "claude-4.7"),
        ("claude-sonnet-5", "claude-4.7"),
        ("claude-haiku-5-5", "claude-4.7"),
        ("claude-mythos-preview", "claude-4.7"),
        ("models/gemini-2.5-pro", "gemini"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama-3"),
        ("Llama-3.3-70B-Instruct", "llama-3"),
        ("llama-4-scout", None),
        ("codellama-34b", None),
        ("mistral-large", None),
        ("deepseek-chat", None),
        ("gpt-j-6b", None),
        ("", None),
        (None, None),
    ],
)
def test_families(name: str | None, family: str | None) -> None:
    assert family_of(name) == family
    assert family is None or family in FACTORS


@pytest.mark.parametrize(
    ("name", "binds"),
    [
        ("claude-fable-5-1", True),
        ("anthropic.claude-fable-5-2-20261109-v1:0", True),
        ("claude-opus-5-5", True),
        ("claude-sonnet-5.5", True),
        ("claude-haiku-5-5", True),
        ("claude-opus-5", False),
        ("claude-opus-5-20260901", False),
        ("claude-sonnet-4-20250514", False),
        ("claude-3-7-sonnet-latest", False),
        ("gpt-6.2-sol", True),
        ("gpt-6-2-astra-2026-11-17", True),
        ("gpt-6.1-sol", False),
        ("gpt-6-luna", False),
        ("openai/gpt-5", False),
        ("gpt-4o-2024-08-06", False),
        ("o3", False),
        ("gpt-oss-120b", None),
        ("chat-latest", None),
        ("gemini-2.5-pro", None),
        ("claude-latest", None),
        (None, None),
    ],
)
def test_bound_reasoning(name: str | None, binds: bool | None) -> None:
    assert binds_reasoning(name) is binds


def test_the_table_is_read_on_first_use_only() -> None:
    size = "m._table.cache_info().currsize"
    code = f"import jettison.models as m; assert not {size}; m.lookup('gpt-4o'); assert {size}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_table_is_what_the_tool_writes() -> None:
    installed = f"genai-prices {version('genai-prices')},"
    if not TABLE["source"].startswith(installed):
        pytest.skip(f"{installed} is not what the table was made from: {TABLE['source']}")
    from tools.make_models import build

    assert build(TABLE["as_of"]) == TABLE


def test_a_model_is_a_plain_record() -> None:
    assert Model("x", 1_000) == Model(name="x", window=1_000, max_output=None)
