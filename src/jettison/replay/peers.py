"""Other libraries beside the policies of a replay: adapters of a source checkout, which the package does not ship."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from jettison.errors import ConfigError
from jettison.replay.measure.units import BenchPolicy

__all__ = ["is_peer", "peer_names", "peer_policy"]

PREFIX = "peer: "
CHECKOUT = Path(__file__).resolve().parents[3]


def is_peer(name: str) -> bool:
    """Whether a policy's name is that of a peer."""
    return name.startswith(PREFIX)


def peer_names() -> list[str]:
    """Names of the peers that are installed. Raises ConfigError outside a checkout, or when there is none."""
    beside = _beside()
    try:
        return [PREFIX + name for name in beside.installed()]
    except import_module("bench.peers.environments").NotInstalled as missing:
        raise ConfigError(str(missing)) from missing


def peer_policy(name: str) -> BenchPolicy:
    """The named peer, for one trajectory."""
    policy: BenchPolicy = _beside().policy(name.removeprefix(PREFIX))
    return policy


def _beside() -> Any:
    if not (CHECKOUT / "bench" / "peers" / "beside.py").exists():
        raise ConfigError(
            "--peers needs a source checkout of Jettison: the adapters of other libraries are in its bench/peers, "
            "not in the package. There, run `make bench-peers` once and `jettison replay … --peers`"
        )
    if str(CHECKOUT) not in sys.path:
        sys.path.append(str(CHECKOUT))
    return import_module("bench.peers.beside")
