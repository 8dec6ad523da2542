"""How many input tokens a request may take, and when an epoch starts and ends."""

from __future__ import annotations

from dataclasses import dataclass

from jettison.errors import ConfigError
from jettison.models import lookup

__all__ = ["Budget"]


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `limit` = window − reserve_output − reserve_tools input tokens are ever sent.

    Raises ConfigError when a number is negative, the marks are not 0 < low ≤ high ≤ 1, or nothing is left.
    """

    window: int
    """The model's context window, tokens."""
    reserve_output: int = 0
    """Kept free for the reply, tokens."""
    reserve_tools: int = 0
    """Kept free for tool calls and results that are still to come, tokens."""
    high_water: float = 1.0
    """Share of the evictable room (limit − instructions − schemas − hard protections) above which an epoch
    starts. 1.0: as late as possible, since every rewrite re-bills the prefix (algorithm.md: evicting to the
    brim at every step costs .78–1.09 of no eviction, rare epochs .47–.83)."""
    low_water: float = 0.7
    """Share of the evictable room an epoch goes down to, up to .35 less deep where the oldest units are worth more as a
    cached prefix. 0.7: algorithm.md, recipe SAFE."""

    def __post_init__(self) -> None:
        for name in ("window", "reserve_output", "reserve_tools"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigError(f"Budget.{name} must be a whole number of tokens >= 0, not {value!r}")
        if self.limit <= 0:
            raise ConfigError(
                f"Budget leaves no room: window {self.window} - reserve_output {self.reserve_output} "
                f"- reserve_tools {self.reserve_tools} = {self.limit}"
            )
        if not 0 < self.low_water <= self.high_water <= 1:
            raise ConfigError(
                f"Budget marks must be 0 < low_water <= high_water <= 1, not {self.low_water} and {self.high_water}"
            )

    @property
    def limit(self) -> int:
        """Most input tokens that are ever sent."""
        return self.window - self.reserve_output - self.reserve_tools

    @classmethod
    def of(cls, budget: Budget | int) -> Budget:
        """A Budget as it is; an int is a limit without reserves."""
        return budget if isinstance(budget, Budget) else cls(window=budget)

    @classmethod
    def for_model(cls, name: str, *, reserve_output: int | None = None, reserve_tools: int = 0) -> Budget:
        """The budget of a known model: its window, with its largest reply reserved (at most a quarter of the window).

        Raises ConfigError for a model that is not in the table (`jettison.models`).
        """
        model = lookup(name)
        if model is None:
            raise ConfigError(f"no window is on record for model {name!r}: give Budget(window=...) yourself")
        if reserve_output is None:
            reserve_output = min(model.max_output or model.window // 4, model.window // 4)
        # Some windows hold more than may be sent (gpt-5: 400,000, of which 272,000 input).
        reserve_output = max(reserve_output, model.window - (model.max_input or model.window))
        return cls(model.window, reserve_output, reserve_tools)
