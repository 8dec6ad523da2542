"""The Ray engine on a real Ray of this machine: the same figures, also when workers are killed over their chunk.

Ray is not among the development packages (it takes 300 MB): without it these tests are skipped. JETTISON_REQUIRE_RAY=1
makes that a failure.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from jettison.replay.engine import Setup, WorkerLost, measured
from jettison.replay.parts import Parts
from unit.replay.test_engine import SETUP, runs, sums

if find_spec("ray") is None and not os.environ.get("JETTISON_REQUIRE_RAY"):
    pytest.skip("ray is not installed: pip install 'jettison[ray]'", allow_module_level=True)

# Ray warns of its own deprecations and leaves sockets of its daemons to the interpreter.
pytestmark = pytest.mark.filterwarnings("ignore")


class Deadly(Parts):
    """Kills the worker once before it writes chunk 0, and once just after it wrote chunk 1."""

    def write(self, chunk: int, results: Any) -> None:
        before, after = Path(self.root, "killed-before"), Path(self.root, "killed-after")
        if chunk == 0 and not before.exists():
            before.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        super().write(chunk, results)
        if chunk == 1 and not after.exists():
            after.touch()
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import ray

    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - 15 if not said: on a busy machine such workers wait for minutes
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield ray
    ray.shutdown()


def test_killed_workers_change_no_figure(cluster: Any, tmp_path: Path) -> None:
    from jettison.replay.cluster import measured_on_ray

    plain = measured(runs(), SETUP)
    told: list[int] = []
    found = measured_on_ray(runs(), SETUP, Deadly(str(tmp_path), {}), tell=lambda first, results: told.append(first))
    assert {path.name for path in tmp_path.glob("killed-*")} == {"killed-before", "killed-after"}
    assert sorted(told) == [0, 8, 16]
    assert found.trajectories == 20
    assert {key: tally.figures() for key, tally in found.tasks.items()} == sums(plain)


class Fatal(Parts):
    """Kills every worker that has measured chunk 0."""

    def write(self, chunk: int, results: Any) -> None:
        if chunk == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        super().write(chunk, results)


def test_a_worker_that_dies_every_time_is_an_error(cluster: Any, tmp_path: Path) -> None:
    from jettison.replay.cluster import measured_on_ray

    with pytest.raises(WorkerLost, match="6 times over the same trajectories: r0, r1"):
        measured_on_ray(runs(8), Setup(("window",)), Fatal(str(tmp_path), {}))


def test_parts_that_are_there_are_taken(cluster: Any, tmp_path: Path) -> None:
    from jettison.replay.cluster import measured_on_ray

    first = measured_on_ray(runs(), SETUP, Parts(str(tmp_path), {}))
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("part-*")}
    (tmp_path / "part-00000001.parquet").unlink()
    again = measured_on_ray(runs(), SETUP, Parts(str(tmp_path), {}))
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("part-*")}
    assert sum(kept[path] == stamps[path] for path in stamps) == 2
    assert {key: tally.figures() for key, tally in again.tasks.items()} == sums(first)


def test_the_example_is_a_valid_cluster() -> None:
    import yaml
    from ray.autoscaler._private.util import prepare_config, validate_config

    path = Path(__file__).parents[2] / "examples" / "cluster.yaml"
    validate_config(prepare_config(yaml.safe_load(path.read_text(encoding="utf-8"))))
