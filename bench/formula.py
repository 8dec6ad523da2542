"""The plain formula of the field: one implementation, shared with `jettison replay`."""

from __future__ import annotations

from jettison.replay.measure.formula import PlainFormula

__all__ = ["PlainFormula"]
