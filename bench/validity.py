"""The second opinion on a request's rules, shared with `jettison replay`."""

from __future__ import annotations

from jettison.replay.measure.validity import broken_rules

__all__ = ["broken_rules"]
