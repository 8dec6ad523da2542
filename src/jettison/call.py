"""What a session and the fitting of one call hand to one another: the arguments, and the effects to carry out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Call", "Store"]


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one fit."""

    messages: Sequence[Any]
    system: Any = None
    tools: Any = None
    response_schema: Any = None
    repair: bool = False
    observe: bool = False
    prior_tokens: int | None = None
    reasoning_drop: bool = False
    choice: frozenset[str] = frozenset()
    """Words of the request's tool choice."""
    marks: int = 0
    """Cache marks of the request outside of system, tools and messages."""
    model: str | None = None
    """Who is asked, as the request says."""


@dataclass(frozen=True, slots=True)
class Store:
    """Effect: these texts, by handle, must be in the archive before their stubs are sent."""

    texts: Mapping[str, str]
