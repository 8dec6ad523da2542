"""Choosing settings: the choice is judged on tasks it was not made on, and no gain is claimed that is not shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.synthetic import history

from jettison.errors import ConfigError, InvalidInput
from jettison.policy import Policy
from jettison.replay.engine import Setup
from jettison.replay.measure.tally import Tally
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.search import Candidate, Found, _judged, candidates, search, to_toml

TRIED = candidates()
USED, OTHER = TRIED[0], TRIED[3]
Sums = dict[tuple[str, str], dict[Candidate, Tally]]


def tally(kept: int, sent: int) -> Tally:
    return Tally(trajectories=1, needed=100, kept=kept, sent=sent, full=1000)


def judged(sums: Sums, aim: str = "support", by: str = "task") -> Found:
    return _judged(sums, TRIED, aim, by, 5, Setup(), len(sums))


def made(used: list[tuple[int, int]], other: list[tuple[int, int]], sets: int = 1) -> Sums:
    """Tasks at which the settings in use and one candidate differ; all others are bad."""
    sums: Sums = {}
    for at, (mine, theirs) in enumerate(zip(used, other, strict=True)):
        entry = {candidate: tally(0, 900) for candidate in TRIED}
        sums[f"s{at % sets}", f"t{at:02}"] = entry | {USED: tally(*mine), OTHER: tally(*theirs)}
    return sums


def test_the_settings_in_use_come_first_and_are_the_defaults() -> None:
    default = Policy()
    assert USED.policy == default
    assert len(set(TRIED)) == len(TRIED) == 9
    assert len(set(candidates(wide=True))) == 25
    assert set(TRIED) < set(candidates(wide=True))


def test_a_gain_that_every_task_shows_is_claimed(tmp_path: Path) -> None:
    found = judged(made([(50, 500)] * 12, [(60, 500)] * 12))
    assert found.better
    assert found.chosen == OTHER
    assert found.gain == pytest.approx(0.1)
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(found, ["a.jsonl"]), encoding="utf-8")
    assert Policy.from_file(path) == OTHER.policy
    assert "gains +10.00 points" in path.read_text(encoding="utf-8")


def test_a_gain_of_one_task_is_not(tmp_path: Path) -> None:
    found = judged(made([(50, 500)] * 12, [(95, 500), *[(49, 500)] * 11]))
    assert not found.better
    assert found.chosen == USED
    assert "no gain shown" in found.verdict
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(found, ["a.jsonl"]), encoding="utf-8")
    assert Policy.from_file(path) == Policy()


def test_noise_is_not_a_gain() -> None:
    """Candidates that differ by chance: the best of them on all tasks is no better on tasks it was not chosen on."""
    import random

    claims = 0
    for seed in range(40):
        draw = random.Random(seed)
        sums: Sums = {
            ("s", f"t{at:02}"): {candidate: tally(draw.randint(30, 70), 500) for candidate in TRIED} for at in range(15)
        }
        claims += judged(sums).better
    assert claims <= 3


def test_support_is_not_bought_with_cost_nor_cost_with_support() -> None:
    assert judged(made([(50, 500)] * 12, [(60, 600)] * 12)).chosen == USED
    cheaper = judged(made([(50, 500)] * 12, [(50, 400)] * 12), "cost")
    assert (cheaper.better, cheaper.chosen) == (True, OTHER)
    assert cheaper.gain == pytest.approx(0.1)
    assert judged(made([(50, 500)] * 12, [(40, 400)] * 12), "cost").chosen == USED


def test_folds_can_be_whole_sets() -> None:
    both = made([(50, 500)] * 12, [(60, 500)] * 12, sets=3)
    assert judged(both, by="file").folds == 3
    with pytest.raises(InvalidInput, match="two at least"):
        judged(made([(50, 500)] * 3, [(60, 500)] * 3), by="file")


def test_nothing_to_judge_by_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="needed values"):
        search([Trajectory("r", "s", "s/t", history(6, seed=1))])
    with pytest.raises(ConfigError, match="aim="):
        search([], aim="fame")
