"""What embeddings and a judge may cost, and how far they reach: every number of the cascade."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from jettison.errors import ConfigError

__all__ = ["EmbedLimits", "JudgeLimits"]


@dataclass(frozen=True, slots=True)
class EmbedLimits:
    """Of one call at which an epoch is due; other calls embed nothing."""

    chars: int = 2_000
    """Characters embedded of one item. The local model takes 36 ms for 500 tokens (dependencies.md)."""
    texts: int = 256
    """New texts a call, the newest items first. About 2 s of the local model; what is left out has no signal."""
    batch: int = 64
    """Texts asked for at once."""
    seconds: float = 10.0
    """For all of them together; what came until then counts."""
    share: float = 0.5
    """Of the room at most, for prose that is kept for what it says; values have the rest. It gets no more than prose
    takes of what is there: .03 to .13 where agents work with tools, .6 in conversations (docs/relevance.md)."""

    def __post_init__(self) -> None:
        _positive(self)
        if self.share > 1:
            raise ConfigError("share of prose is at most 1")


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """Of the judge."""

    passages: int = 16
    """Asked about at one call."""
    tokens: int = 2_000
    """Of these passages together; the prompt has about 300 more, the answer 32 a passage."""
    calls: int = 20
    """A session. At most one at an epoch; set by hand."""
    seconds: float = 8.0
    """The deadline of one answer. The request waits for it, so it is short beside an agent's own call."""
    band: float = 0.3
    """Passages whose cheap score is within this of the cut are uncertain; the others are settled without a judge."""
    least: int = 12
    """Tokens under which a passage is not worth a question."""
    bound: float = 0.5
    """How far one answer can move a score, up or down."""
    ahead: float = 1.0
    """Below 1: the judge is asked in the background, once between two epochs and for each user turn, from this share of
    the way to the next epoch on; an epoch takes what was answered until then and waits for no judge. 1: it is asked at
    epochs, which wait. With .8 an agent whose steps take 2 % of the room has ten steps of time."""

    def __post_init__(self) -> None:
        _positive(self)
        if self.band > 1 or self.bound > 1 or self.ahead > 1:
            raise ConfigError("band, bound and ahead of a judge are at most 1")


def _positive(limits: EmbedLimits | JudgeLimits) -> None:
    for field in fields(limits):
        value = getattr(limits, field.name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise ConfigError(f"{type(limits).__name__}.{field.name} must be a number above 0, not {value!r}")
