"""Wire formats: each in one file, all behind the `Wire` protocol of `base`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from jettison.errors import ConfigError
from jettison.wire.base import Wire

__all__ = ["TRAITS", "Traits", "wire_named"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What the rest needs to know of a wire beside its format."""

    module: str
    cls: str
    family: str
    """Tokenizer family when no model is named: the newest of its provider."""
    voids: bool = False
    """Reasoning blocks are bound to what stands before them, and refused or dropped after an edit."""
    merges: bool = False
    """Two messages of one role in a row are merged, or refused: never produced."""
    marks: bool = False
    """Requests carry cache marks, of which there may be so many (`marks.py`)."""
    cached_apart: bool = False
    """The provider's input_tokens leave out what was read from or written to its cache."""


TRAITS = {
    "openai-chat": Traits("openai_chat", "OpenAIChat", "o200k"),
    "openai-responses": Traits("openai_responses", "OpenAIResponses", "o200k"),
    "anthropic": Traits("anthropic", "Anthropic", "claude-4.7", voids=True, merges=True, marks=True, cached_apart=True),
    "gemini": Traits("gemini", "Gemini", "gemini", merges=True),
}


def wire_named(name: str) -> Wire:
    """The wire of that name. Raises ConfigError, listing the known ones."""
    traits = TRAITS.get(name)
    if traits is None:
        raise ConfigError(f"wire={name!r} is not known: use one of {', '.join(TRAITS)}")
    wire: Wire = getattr(import_module(f"jettison.wire.{traits.module}"), traits.cls)()
    return wire
