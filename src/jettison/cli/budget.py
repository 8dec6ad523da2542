"""`--budget`: 8k, 8_000, 200k, 1.5m, 25%."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jettison.errors import ConfigError

__all__ = ["Wanted", "parse_budget"]

_FORM = re.compile(r"(\d[\d_,]*)(\.\d+)?\s*([km%]?)", re.IGNORECASE)
_UNIT = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A budget as it was asked for: tokens, or a share of the request."""

    tokens: int = 0
    share: float = 0.0

    def of(self, request: int) -> int:
        """Tokens, when the whole request takes `request`."""
        return self.tokens or max(1, int(request * self.share))


def parse_budget(text: str) -> Wanted:
    """Read a budget. Raises ConfigError, with examples, for anything else or for nothing."""
    match = _FORM.fullmatch(text.strip())
    if match is None or (match[2] and not match[3]):
        raise ConfigError(f"budget {text!r} is not a number of tokens: write 8000, 8k, 200k, 1m, or 25% of the request")
    unit = match[3].lower()
    number = float(match[1].replace("_", "").replace(",", "") + (match[2] or ""))
    wanted = Wanted(share=number / 100) if unit == "%" else Wanted(tokens=int(number * _UNIT[unit]))
    if wanted == Wanted():
        raise ConfigError(f"budget {text!r} leaves nothing to send: give at least one token")
    return wanted
