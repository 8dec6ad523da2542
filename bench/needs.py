"""What a recorded turn needed: one implementation, shared with `jettison replay`."""

from __future__ import annotations

from jettison.replay.measure.needs import Need, Text, Texts, argument_values, needs_of, normalise, positions

__all__ = ["Need", "Text", "Texts", "argument_values", "needs_of", "normalise", "positions"]
