"""The figures of a replay: one implementation, shared with `jettison replay`."""

from __future__ import annotations

from jettison.replay.measure.metrics import Call, Interval, Kept, cost, interval, judge, regret, summary

__all__ = ["Call", "Interval", "Kept", "cost", "interval", "judge", "regret", "summary"]
