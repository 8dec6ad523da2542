"""A command with everything it starts: wall time, processor time, and the peak memory of each process (Linux)."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Process", "Watched", "watch"]

EVERY = 0.1
"""Seconds between two looks. What a process does after the last look at it is not seen."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Process:
    """One process as it was last seen."""

    pid: int
    name: str
    """Its command line; a Ray worker writes there what it works on."""
    cpu: float = 0.0
    """Seconds, user and system."""
    peak: float = 0.0
    """Most resident memory so far, MB."""


@dataclass(slots=True)
class Watched:
    """What a command took. `main` is the process that was started, `others` what it started, by pid."""

    code: int = 0
    wall: float = 0.0
    main: Process = field(default_factory=lambda: Process(0, ""))
    others: dict[int, Process] = field(default_factory=dict)
    output: str = ""

    @property
    def cpu(self) -> float:
        """Processor seconds of all of them."""
        return self.main.cpu + sum(other.cpu for other in self.others.values())


def watch(command: Sequence[str], seen: Callable[[Watched], None] = lambda found: None) -> Watched:
    """Run it to its end. `seen` is called at every look, and may kill what it sees."""
    started, found = time.monotonic(), Watched()
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while child.poll() is None:
            found.main = _look(child.pid) or found.main
            for pid in _below(child.pid):
                found.others[pid] = _look(pid) or found.others.get(pid, Process(pid, ""))
            seen(found)
            time.sleep(EVERY)
        found.code, found.wall = child.returncode, time.monotonic() - started
        output.seek(0)
        found.output = output.read()
    return found


def _look(pid: int) -> Process | None:
    """The process as it is; None when it is gone."""
    try:
        name = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        values = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    except OSError:
        return None
    if "VmHWM" not in status:  # it has ended, nobody has asked for its result yet
        return None
    return Process(pid, name, (int(values[11]) + int(values[12])) / _TICKS, int(status["VmHWM"].split()[0]) / 1024)


def _below(root: int) -> list[int]:
    """All processes started by this one, by those, and so on."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                parent = int(Path(f"/proc/{entry.name}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, left = [], [root]
    while left:
        inner = children.get(left.pop(), [])
        found += inner
        left += inner
    return found
