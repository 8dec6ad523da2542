"""Recorded runs: reading them (`read`), and replaying them call by call (`steps`)."""

from __future__ import annotations

from jettison.replay.readers import Recorded, read, read_all, read_bytes
from jettison.wire.guess import WIRES, guess_wire

__all__ = ["WIRES", "Recorded", "guess_wire", "read", "read_all", "read_bytes"]
