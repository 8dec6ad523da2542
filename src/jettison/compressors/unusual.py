"""The odd ones of a column: what a reader of hundreds of like rows would stop at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

__all__ = ["ENOUGH", "unusual"]

ENOUGH = 8
"""Rows below which nothing can be called unusual."""
WORDS = 20
"""Different values up to which a column is one of words (a status, a city), where a rare one stands out."""
SHARE = 0.02
"""At most this share of a column is unusual by one rule (one row at least); more is how the column is."""
FAR = 3.0
"""Interquartile ranges beyond the quartiles: Tukey's outer fence ("far out"), Exploratory Data Analysis, 1977."""
LONG = 4
"""A text this many times as long as three quarters of its column is unusual."""
_SAMPLE = 24


def unusual(column: Sequence[str]) -> set[int]:
    """Ordinals of the values that deviate: a rare word, empty among full ones, an outlier, another type, a long text.

    Texts as they stand in the source. At most two in a hundred by each rule. O(n log n) comparisons in C.
    """
    size = len(column)
    if size < ENOUGH:
        return set()
    most = max(1, int(SHARE * size))
    counts = Counter(column)
    if len(counts) == 1:
        return set()
    found: set[int] = set()
    if len(counts) <= max(2, min(WORDS, size // 4)):
        found |= _rare(column, counts, most)
    elif _looks_numeric(column):
        found |= _far_out(column, most)
    else:
        found |= _empty(column, counts, most) | _long(column, most)
    return found


def _rare(column: Sequence[str], counts: Counter[str], most: int) -> set[int]:
    """Holders of the rarest values, while all of them together are few."""
    words: set[str] = set()
    total = 0
    for value, count in reversed(counts.most_common()):
        total += count
        if total > most or count * 4 > counts.most_common(1)[0][1]:
            break
        words.add(value)
    if not words or len({value for value in counts if counts[value] == counts[next(iter(words))]} - words):
        return set()  # as rare as others that did not fit: not rare here
    return {index for index, value in enumerate(column) if value in words}


def _looks_numeric(column: Sequence[str]) -> bool:
    step = max(1, len(column) // _SAMPLE)
    sample = column[::step]
    return sum(_number(value) is not None for value in sample) * 10 >= len(sample) * 8


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _far_out(column: Sequence[str], most: int) -> set[int]:
    """Outliers of a column of numbers, and what is no number in it."""
    values: Sequence[float | None]
    try:
        numbers = list(map(float, column))
        values = numbers if all(map(math.isfinite, numbers)) else list(map(_number, column))
    except ValueError:
        values = list(map(_number, column))
    ordered = sorted([value for value in values if value is not None])
    low, high = _quartile(ordered, 0.25), _quartile(ordered, 0.75)
    low, high = low - FAR * (high - low), high + FAR * (high - low)
    odd = {index for index, value in enumerate(values) if value is None}
    if len(odd) > most:
        odd = set()
    if low <= ordered[0] and ordered[-1] <= high:
        return odd
    far = {index for index, value in enumerate(values) if value is not None and not low <= value <= high}
    return odd | far if len(far) <= most else odd


def _quartile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _empty(column: Sequence[str], counts: Counter[str], most: int) -> set[int]:
    blanks = [value for value in ("", "null", "None", "-", "NaN") if value in counts]
    if not blanks or sum(counts[value] for value in blanks) > most:
        return set()
    return {index for index, value in enumerate(column) if value in blanks}


def _long(column: Sequence[str], most: int) -> set[int]:
    sizes = [len(value) for value in column]
    fence = LONG * max(8, sorted(sizes)[(3 * len(sizes)) // 4])
    far = {index for index, size in enumerate(sizes) if size > fence}
    return far if len(far) <= most else set()
