"""All weights of the rules, each with the measurement behind it.

From algorithm.md: a logistic model of "this value will be a call argument", fitted on half of the tasks of
tau-airline, toolathlon, mcpmark, swe-claude4 and swe-lm32b, reported on the other half. Points are strict support
at 25 % of the body.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WORTH", "Worth"]


@dataclass(frozen=True, slots=True)
class Worth:
    """Log-odds."""

    bias: float = -6.0
    used: float = 0.5
    """Used before as an argument. Without use and mention together: −2.0 … −7.7 (each alone <= 2)."""
    used_recent: float = 1.0
    mentioned: float = 1.0
    """Mentioned by the assistant."""
    mentioned_recent: float = 1.5
    fade: float = 10.0
    """Units after which the effect of a use or mention has fallen to 1/e."""
    key_rate: float = 1.5
    """Share of the key's values that were ever used. Without key statistics: −7.4 on tau-airline, 0 elsewhere."""
    key_name: float = 0.5
    """The key reads like id, name, path, url, key, code, number, title, sha, ref, e-mail."""
    topic: float = 1.5
    """Words of the goal in a compound value."""
    stated: float = 0.5
    """It stands in a user message. Without: −8.1 on tau-airline, 0 elsewhere."""


WORTH = Worth()
