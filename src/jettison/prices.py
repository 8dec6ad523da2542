"""What tokens cost, and when a rewrite of the prompt has paid for itself.

A rewrite makes the provider read everything behind its first change at the price of new tokens, once; from then on each
call is shorter. Only the ratios of the prices matter for that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from jettison.errors import ConfigError
from jettison.models import lookup

__all__ = ["DEFAULT", "Prices", "Rewrite", "prices_for"]


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens, in any one currency, or as ratios. Raises ConfigError for what is no price.

    Providers bill an input token that is in the prompt cache at `cached`, one that is written to it at `write`.
    """

    input: float = 1.0
    cached: float | None = None
    """None: a tenth of `input`, as for 89 of the 182 models in `models.json` with such a price (a quarter: 30)."""
    write: float | None = None
    """None: as `input`; where `models.json` has such a price (45 models) it is 1.25 times as much, give or take .05."""
    output: float | None = None

    def __post_init__(self) -> None:
        for name in ("input", "cached", "write", "output"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
                raise ConfigError(f"{name} must be a price >= 0, not {value!r}")
        if not self.input:
            raise ConfigError("input must be above 0: all other prices are set in relation to it")

    @property
    def cached_ratio(self) -> float:
        """Price of a cached token to that of another one."""
        return 0.1 if self.cached is None else self.cached / self.input

    @property
    def write_ratio(self) -> float:
        return 1.0 if self.write is None else self.write / self.input


DEFAULT = Prices(1.0, cached=0.1, write=1.25)
"""Where neither the caller nor the table knows: Anthropic's ratios, under which a rewrite costs most."""


def prices_for(model: str | None) -> Prices:
    """The prices on record for a model (`models.json`), `DEFAULT` where there are none."""
    found = lookup(model) if model else None
    if found is None or not found.input:
        return DEFAULT
    # A model without a price for cached tokens has no cache: every token costs the same at every call.
    cached = found.input if found.cached is None else found.cached
    return Prices(found.input, cached, found.write, found.output)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A request whose beginning is not that of the last one. All in tokens."""

    last: int
    """The last request."""
    new: int
    """What has come since."""
    kept: int
    """Of this request: before the first change, in the cache still."""
    again: int
    """… and behind it."""

    @property
    def removed(self) -> int:
        """By how much this and every later request is shorter; below 0 where it is longer."""
        return self.last + self.new - self.kept - self.again

    def extra(self, prices: Prices) -> float:
        """What this request costs more than without the rewrite, in uncached input tokens; below 0: it is cheaper."""
        cached, write = prices.cached_ratio, prices.write_ratio
        return self.kept * cached + self.again * write - self.last * cached - self.new * write

    def pays_back(self, prices: Prices) -> int | None:
        """Calls after this one until the rewrite has paid for itself; None: never."""
        extra, each = self.extra(prices), self.removed * prices.cached_ratio
        if extra <= 0:
            return 0
        return math.ceil(extra / each - 1e-9) if each > 0 else None
