"""How each wire declares a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jettison.errors import ConfigError

__all__ = ["tool_declaration"]


def tool_declaration(wire: str, name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """One entry of the `tools` list of a request. `parameters`: a JSON Schema of an object, as plain as Gemini takes it
    (no `additionalProperties`, no `$ref`). Raises ConfigError for an unknown wire."""
    said = {"name": name, "description": description}
    if wire == "openai-chat":
        return {"type": "function", "function": {**said, "parameters": dict(parameters)}}
    if wire == "openai-responses":
        return {"type": "function", **said, "parameters": dict(parameters), "strict": False}
    if wire == "anthropic":
        return {**said, "input_schema": dict(parameters)}
    if wire == "gemini":
        return {"functionDeclarations": [{**said, "parameters": dict(parameters)}]}
    raise ConfigError(f"wire={wire!r} is not known: use one of openai-chat, openai-responses, anthropic, gemini")
