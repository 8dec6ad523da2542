"""The recorded sets in `traces/`; what a trajectory is and weighs is `jettison.replay.measure.trajectory`."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

from jettison.replay.measure.trajectory import (
    FRAMING,
    PRIMING,
    Message,
    Trajectory,
    calls_of,
    count,
    forget,
    parts,
    text_of,
    tokens,
)

__all__ = [
    "FRAMING",
    "PRIMING",
    "Message",
    "Trajectory",
    "calls_of",
    "count",
    "forget",
    "load",
    "parts",
    "sets",
    "text_of",
    "tokens",
    "traces_dir",
]

ROOT = Path(__file__).resolve().parent.parent


def traces_dir() -> Path:
    """$JETTISON_TRACES, or ../shared/traces beside the repository."""
    given = os.environ.get("JETTISON_TRACES")
    return Path(given) if given else ROOT.parent / "shared" / "traces"


def sets() -> list[str]:
    """Names of the recorded sets: file stems."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in traces_dir().glob("*.jsonl.gz"))


def load(name: str, limit: int | None = None) -> list[Trajectory]:
    """The trajectories of a set; with a limit an even sample over the file, so that tasks stay mixed."""
    path = traces_dir() / f"{name}.jsonl.gz"
    if not path.exists():
        raise SystemExit(f"no such set: {path} (set JETTISON_TRACES to the folder of the *.jsonl.gz files)")
    # Not splitlines(): tool output holds U+2028.
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
    rows = [line for line in lines if line.strip()]
    if limit is not None and limit < len(rows):
        rows = [rows[i * len(rows) // limit] for i in range(limit)]
    return [_trajectory(name, json.loads(row)) for row in rows]


def _trajectory(name: str, row: dict[str, Any]) -> Trajectory:
    return Trajectory(str(row["id"]), name, f"{name}/{row['task']}", row["messages"])
