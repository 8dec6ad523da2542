"""What is compared: one implementation, shared with `jettison replay`."""

from __future__ import annotations

from jettison.replay.measure.policies import POLICIES, make

__all__ = ["POLICIES", "make"]
