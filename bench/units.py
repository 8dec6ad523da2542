"""Baselines on whole units: one implementation, shared with `jettison replay`."""

from __future__ import annotations

from jettison.replay.measure.units import BenchPolicy, Case, Raised, WholeUnits, units_of

__all__ = ["BenchPolicy", "Case", "Raised", "WholeUnits", "units_of"]
