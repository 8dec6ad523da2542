"""The peers as policies of `jettison replay --peers`: what is installed, each at its fair setting."""

from __future__ import annotations

import atexit
from collections.abc import Sequence

from bench.peers.catalog import PEERS, peer_of
from bench.peers.contract import Message
from bench.peers.environments import FOLDER, NotInstalled, python_of
from bench.peers.process import OutOfTime, PeerFailed, PeerPolicy, PeerProcess
from bench.units import Raised

__all__ = ["installed", "policy"]

RUN_SECONDS = 60.0
"""Processor time that a peer may take for a trajectory; its later calls end in an error."""
_processes: dict[str, PeerProcess] = {}
"""By peer, of this process: a worker has its own."""


def installed() -> list[str]:
    """The peers whose environments are there. Raises NotInstalled when there is none."""
    rows = []
    for peer in PEERS:
        try:
            python_of(peer, FOLDER)
        except NotInstalled:
            continue
        rows.append(peer.name)
    if not rows:
        raise NotInstalled(f"no peer is installed in {FOLDER}: run `make bench-peers`, or name them in JETTISON_PEERS")
    return rows


def policy(name: str) -> Beside:
    """The named peer for one trajectory."""
    return Beside(name)


class Beside:
    """A peer that refuses, like any policy, when its process is late or gone; the next trajectory gets a new one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._gone = ""

    def start(self, head: Sequence[Message]) -> None:
        self._policy = PeerPolicy(_process(self.name), RUN_SECONDS)
        self._policy.start(head)

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        if self._gone:
            raise Raised("Gone", self._gone, None)
        try:
            return self._policy.fit(messages, budget)
        except (OutOfTime, PeerFailed) as error:
            self._gone = str(error)
            raise Raised(type(error).__name__, self._gone, None) from error


def _process(name: str) -> PeerProcess:
    known = _processes.get(name)
    if known is not None and not known.alive:
        known.close()
    if known is None or not known.alive:
        peer, setting = peer_of(f"{name} (fair)")
        known = _processes[name] = PeerProcess(python_of(peer, FOLDER), peer.module, setting)
    return known


@atexit.register
def _close() -> None:
    for process in _processes.values():
        process.close()
