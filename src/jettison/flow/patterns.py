"""Large patterns, compiled when first used: the import of the package shall not pay for them."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["compiled"]


@cache
def compiled(source: str) -> re.Pattern[str]:
    """The pattern, which ignores case."""
    return re.compile(source, re.IGNORECASE)
