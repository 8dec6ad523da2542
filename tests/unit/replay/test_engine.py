"""Sums equal the metrics they replace; nothing is lost or counted twice whatever happens to workers or the run."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import random
import signal
import time
import tracemalloc
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from bench.synthetic import history

from jettison.errors import ConfigError
from jettison.replay import engine
from jettison.replay import summary as summary_module
from jettison.replay.engine import BASELINES, Chunk, Setup, WorkerLost, measured
from jettison.replay.measure.metrics import Call, summary
from jettison.replay.measure.run import case_of, replay
from jettison.replay.measure.tally import SHARES, Tally, difference, spread
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.parts import Parts
from jettison.replay.totals import Result, Totals

SETUP = Setup(("jettison", "window"), (0.5, 0.25))


def runs(count: int = 20) -> list[Trajectory]:
    return [Trajectory(f"r{at}", "made-up", f"made-up/t{at % 7}", history(14, seed=at % 5)) for at in range(count)]


def call(draw: random.Random) -> Call:
    made = Call(4, 100, draw.randint(50, 200), draw.randint(0, 50), draw.randint(0, 120), draw.randint(0, 50))
    made.before, made.needed = draw.choice([0, 60]), draw.randint(0, 4)
    made.kept = draw.randint(0, made.needed)
    made.bound = draw.randint(0, made.kept)
    made.recorded, made.oversize = draw.randint(0, made.bound), draw.random() < 0.3
    if draw.random() < 0.2:
        made.raised, made.lost_anyway = "StateBroken", draw.random() < 0.5
    made.invalid = ["x"] if draw.random() < 0.1 else []
    return made


@pytest.mark.parametrize("seed", range(30))
def test_sums_give_the_metrics_of_the_calls(seed: int) -> None:
    draw = random.Random(seed)
    groups = [[call(draw) for _ in range(draw.randint(0, 9))] for _ in range(5)]
    whole = Tally()
    for group in groups:
        whole.add(Tally.of(group))
    assert whole.trajectories == 5
    expected = summary([one for group in groups for one in group])
    assert whole.figures() == {name: pytest.approx(value) for name, value in expected.items()}


def test_an_interval_draws_tasks_and_needs_two() -> None:
    good, bad = Tally(needed=10, kept=10), Tally(needed=10, kept=0)
    assert spread([good], "strict") is None
    assert spread([good] * 5, "strict") == (1.0, 1.0)
    low, high = spread([good, bad] * 5, "strict") or (0, 0)
    assert 0 < low < 0.5 < high < 1
    assert difference([good, bad], [bad, bad], "strict") == (0.5, (0.0, 1.0))
    assert difference([bad], [bad], "strict") is None
    assert all(spread([Tally(), Tally()], name) is None for name in SHARES)


def sums(totals: Totals) -> dict[Any, Any]:
    """What must not change, to the last bit; seconds do."""
    return {key: tally.figures() for key, tally in totals.tasks.items()}


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_adding_changes_no_bit(seed: int) -> None:
    draw = random.Random(seed)
    results = [
        Result("s", f"t{at % 3}", f"r{at}", "p", 0.25, Tally.of([call(draw) for _ in range(7)])) for at in range(60)
    ]
    whole, mixed = Totals(), Totals()
    whole.add(results)
    draw.shuffle(results)
    for result in results:
        mixed.add([result])
    assert sums(whole) == sums(mixed)
    assert whole.trajectories == mixed.trajectories == 60


@pytest.mark.parametrize("sets", [1, 2])
def test_lines_are_made_once(sets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = summary_module.lines

    def counted(totals: Totals, setup: Setup, set_name: str = "") -> list[summary_module.Line]:
        made.append(set_name)
        return real(totals, setup, set_name)

    totals, setup = Totals(), Setup(("p",))
    totals.add(Result(f"s{at % sets}", f"t{at}", "r", "p", 0.25, Tally(1, needed=9, kept=at)) for at in range(8))
    expected = {name: real(totals, setup, name) for name in ("", *totals.sets)}
    monkeypatch.setattr(summary_module, "lines", counted)
    compared = summary_module.Compared(totals, setup)
    assert {name: compared.of(name) for name in ("", *totals.sets) * 2} == expected
    assert made == ["", "s0", "s1"][: 1 if sets == 1 else 3]


def test_totals_by_set_and_their_memory() -> None:
    totals = Totals()
    tracemalloc.start()
    for at in range(6_000):
        found = Tally(**{name.name: 1000 + at for name in fields(Tally)})
        totals.add([Result(f"s{at % 3}", f"t{at // 3}", "r", "p", share, found) for share in (0.5, 0.25, 0.1)])
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 18_000 * 500
    assert totals.sets == ["s0", "s1", "s2"]
    assert [len(totals.of("p", 0.25, name)) for name in (None, "s1", "s9")] == [6000, 2000, 0]
    assert [one.kept for one in totals.of("p", 0.1, "s0")[:3]] == [1000, 1003, 1030]  # t0, t1, t10
    assert totals.of("p", 0.3) == totals.of("q", 0.25) == []


@pytest.fixture(scope="module")
def plain() -> Totals:
    return measured(runs(), SETUP)


@pytest.mark.parametrize("name", ["jettison", "jettison-economy", "window", "clairvoyant"])
def test_the_product_and_the_bench_give_the_same_figures(name: str) -> None:
    run = Trajectory("r", "made-up", "made-up/t", history(30, seed=2))
    case = case_of(run)
    expected = summary(replay(case, name, 0.25).calls)
    found = measured([run], Setup((name,))).of(name, 0.25)[0]
    assert found.figures() == {key: pytest.approx(value) for key, value in expected.items()}


def test_one_process(plain: Totals) -> None:
    assert plain.trajectories == 20
    assert len(plain.of("window", 0.25)) == 7
    assert sum(task.trajectories for task in plain.of("window", 0.25)) == 20
    assert plain.sets == ["made-up"]


def test_two_processes_give_the_same(plain: Totals) -> None:
    found = measured(runs(), SETUP, jobs=2)
    assert (found.trajectories, found.tasks.keys()) == (20, plain.tasks.keys())
    assert {key: tally.figures() for key, tally in found.tasks.items()} == sums(plain)


def killing_work(chunk: Chunk, setup: Setup) -> list[Result]:
    flag = Path(os.environ["KILL_FLAG"])
    if chunk.number == 1 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return REAL(chunk, setup)


def deadly_work(chunk: Chunk, setup: Setup) -> list[Result]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


REAL = engine.work


def test_a_killed_worker_changes_no_figure(plain: Totals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILL_FLAG", str(tmp_path / "killed"))
    monkeypatch.setattr(engine, "work", killing_work)
    found = measured(runs(), SETUP, jobs=2)
    assert (tmp_path / "killed").exists()
    assert found.trajectories == 20
    assert {key: tally.figures() for key, tally in found.tasks.items()} == sums(plain)


def test_a_worker_that_dies_every_time_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "work", deadly_work)
    with pytest.raises(WorkerLost, match="r0"):
        measured(runs(8), SETUP, jobs=2)


def orphaned_work(chunk: Chunk, setup: Setup) -> list[Result]:
    """Holds a lock as long as it lives, kills the process that began it, and never ends by itself."""
    with open(os.environ["ORPHAN"], "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3_600)
    return []


def orphaning() -> None:
    engine.work = orphaned_work
    measured(runs(8), SETUP, jobs=2)


def test_workers_end_with_the_process_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORPHAN", str(tmp_path / "alive"))
    process = multiprocessing.get_context("spawn").Process(target=orphaning)
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    with (tmp_path / "alive").open() as file:
        for _ in range(300):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.1)
    pytest.fail("the worker is still there, half a minute after its parent was killed")


def test_a_run_goes_on_where_it_was_stopped(plain: Totals, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    url, run = str(tmp_path / "parts"), {"paths": ["x"]}
    with pytest.raises(KeyboardInterrupt):
        measured(runs(), SETUP, parts=Parts(url, run), tell=stop)
    first = Parts(url, run)
    assert list(first.done()) == [0]
    told: list[int] = []
    found = measured(runs(), SETUP, parts=first, tell=lambda number, results: told.append(number))
    assert sorted(told) == [0, 8, 16]
    assert {key: tally.figures() for key, tally in found.tasks.items()} == sums(plain)
    pytest.importorskip("duckdb")
    added = first.totals()
    assert added.trajectories == 20
    assert {key: tally.figures() for key, tally in added.tasks.items()} == sums(plain)
    with pytest.raises(ConfigError, match="another run"):
        Parts(url, {"paths": ["y"]})


def test_parts_that_are_there_do_not_wait_in_memory(plain: Totals, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    events: list[tuple[str, int]] = []

    class Told(Parts):
        def read(self, chunk: int) -> list[Result] | None:
            events.append(("read", chunk * engine.CHUNK))
            return super().read(chunk)

    measured(runs(), SETUP, parts=Parts(str(tmp_path), {}))
    for jobs in (1, 2):
        events.clear()
        again = measured(
            runs(), SETUP, jobs=jobs, parts=Told(str(tmp_path), {}), tell=lambda n, _: events.append(("told", n))
        )
        assert events == [(what, first) for first in (0, 8, 16) for what in ("read", "told")]
        assert sums(again) == sums(plain)


def stop(number: int, results: Any) -> None:
    raise KeyboardInterrupt


def test_parts_on_any_fsspec_path(plain: Totals) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("duckdb")
    parts = Parts("memory://run-7/parts", {})
    measured(runs(), SETUP, parts=parts)
    again = Parts("memory://run-7/parts", {})
    assert sorted(again.done()) == [0, 1, 2]
    again.write(1, again.read(1) or [])
    assert {key: tally.figures() for key, tally in again.totals().tasks.items()} == sums(plain)


def test_a_budget_in_tokens_and_every_baseline() -> None:
    found = measured(runs(3), Setup((*BASELINES, "jettison-economy"), tokens=900))
    assert {key[:2] for key in found.tasks} == {(name, 0.0) for name in (*BASELINES, "jettison-economy")}
