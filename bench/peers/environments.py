"""An environment for each peer: their dependencies do not agree with one another, nor with ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.peers.catalog import Peer

__all__ = ["FOLDER", "NotInstalled", "install", "python_of"]

FOLDER = Path(os.environ.get("JETTISON_PEERS") or Path(__file__).resolve().parents[2] / ".venv-peers")
"""Where the environments are: $JETTISON_PEERS, or .venv-peers in the checkout."""
COUNTER = "bpe-openai>=0.1.4,<0.2"
INSTALL_SECONDS = 900


class NotInstalled(Exception):
    """A peer has no environment; `args[0]` says why."""


def python_of(peer: Peer, folder: Path = FOLDER) -> Path:
    """The interpreter of a peer's environment. Raises NotInstalled."""
    if not peer.environment:
        return Path(sys.executable)
    python, stamp = folder / peer.environment / "bin" / "python", folder / peer.environment / "installed"
    if not stamp.exists() or stamp.read_text() != _wanted(peer):
        raise NotInstalled(f"{peer.name} is not installed in {folder}: run `make bench-peers`")
    return python


def install(peer: Peer, folder: Path = FOLDER) -> Path:
    """Make a peer's environment if it is not there, or of other versions. Raises NotInstalled with pip's last words."""
    try:
        return python_of(peer, folder)
    except NotInstalled:
        where = folder / peer.environment
    base = _interpreter(peer.python)
    print(f"installing {peer.name} into {where}", file=sys.stderr, flush=True)
    shutil.rmtree(where, ignore_errors=True)
    _run([base, "-m", "venv", str(where)])
    python = where / "bin" / "python"
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", COUNTER, *peer.requires])
    (where / "installed").write_text(_wanted(peer))
    return python


def _wanted(peer: Peer) -> str:
    return " ".join((COUNTER, *peer.requires))


def _interpreter(least: tuple[int, int]) -> str:
    """This Python, or another on the path that is new enough."""
    if sys.version_info >= least:
        return sys.executable
    for minor in range(least[1], 16):
        found = shutil.which(f"python3.{minor}")
        # Run, not only found: a pyenv shim may be there for a version that is not active.
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    raise NotInstalled(f"it needs Python {least[0]}.{least[1]}, and none was found on the path")


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"installing took more than {INSTALL_SECONDS} s") from None
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise NotInstalled((last or [f"exit {done.returncode}"])[-1][:200])
