"""What is compared: one implementation, shared with `jettison replay`."""

from __future__ import annotations

from collections.abc import Callable

from bench.consulting import Consulting
from bench.recipe import Recipe
from bench.units import BenchPolicy, Case
from jettison.replay.measure.policies import POLICIES

__all__ = ["MORE", "POLICIES", "REFERENCES", "make"]

MORE: dict[str, Callable[[Case], BenchPolicy]] = {
    "rules+embeddings": lambda case: Consulting(case, "rules+embeddings"),
    "full, oracle judge": lambda case: Consulting(case, "full"),
}
"""Compared by `bench relevance` only: they take minutes."""

REFERENCES: dict[str, Callable[[Case], BenchPolicy]] = {"recipe": lambda case: Recipe()}
"""Rows of `bench quality` where they are named."""


def make(name: str, case: Case) -> BenchPolicy:
    """The named policy, fresh, for one trajectory."""
    return (POLICIES | MORE | REFERENCES)[name](case)
