"""`jettison replay --peers`: from a checkout with the trivial peer, and what is said elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trivial_peer
from bench.peers import beside
from bench.peers.process import PeerProcess
from bench.synthetic import history

from jettison.cli.replaying import setup_of
from jettison.errors import ConfigError
from jettison.replay import peers
from jettison.replay.engine import Setup, measured, one
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.peers import is_peer, peer_names
from jettison.replay.summary import lines

HERE = Path(__file__).resolve().parent
NAME = "peer: strands"


@pytest.fixture
def trivial(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Every peer is the trivial one, and only strands has an environment."""

    def python_of(peer: object, folder: Path) -> Path:
        if getattr(peer, "name", "") != "strands":
            raise beside.NotInstalled("no")
        return Path(sys.executable)

    def process(python: Path, module: str, setting: str) -> PeerProcess:
        return PeerProcess(python, "trivial_peer", setting, paths=[HERE])

    monkeypatch.setattr(beside, "python_of", python_of)
    monkeypatch.setattr(beside, "PeerProcess", process)
    monkeypatch.setattr(beside, "_processes", {})
    yield
    beside._close()


@pytest.mark.usefixtures("trivial")
def test_installed_peers_stand_beside_the_policy() -> None:
    setup = setup_of("25%", [], baselines=False, peers=True)
    assert setup.policies == ("jettison", NAME)
    run = Trajectory("run", "made-up", "task", history(24, seed=3))
    found = {line.policy: line for line in lines(measured([run, run], setup), setup)}
    assert found["jettison"].ours
    assert not found[NAME].ours
    assert found[NAME].trajectories == 2
    assert found[NAME].figures["raised"] == 0
    assert 0 < (found[NAME].figures["cost"] or 0) != found["jettison"].figures["cost"]


@pytest.mark.usefixtures("trivial")
def test_a_peer_whose_process_dies_refuses_and_the_next_run_has_a_new_one() -> None:
    def failed(tokens: int) -> int:
        run = Trajectory("run", "made-up", "task", history(12, seed=3))
        (result,) = one(run, Setup((NAME,), tokens=tokens))
        assert result.tally.calls > 0
        return result.tally.raised - result.tally.calls

    assert failed(trivial_peer.DIES) == 0
    assert failed(trivial_peer.PRINTS) < 0


def test_without_an_environment_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(beside, "FOLDER", tmp_path)
    with pytest.raises(ConfigError, match="make bench-peers"):
        peer_names()


def test_outside_a_checkout_it_says_where_the_adapters_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(peers, "CHECKOUT", tmp_path)
    with pytest.raises(ConfigError, match="source checkout"):
        setup_of("25%", [], baselines=False, peers=True)


def test_a_policy_of_ones_own_is_no_peer() -> None:
    assert is_peer(NAME)
    assert not is_peer("jettison")
