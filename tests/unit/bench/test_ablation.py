"""The ablation takes one thing away and puts it back."""

from __future__ import annotations

from typing import Any

import pytest
from bench import ablation
from bench.ablation import VARIANTS, Variant, patched, report
from bench.metrics import Call
from bench.replay import Replay
from bench.synthetic import history
from bench.traces import Trajectory


def state() -> list[Any]:
    paths = {path for variant in VARIANTS for path in variant.names or ()} | {f"{ablation.FLOW}:WORTH"}
    return [getattr(*ablation._place(path)) for path in sorted(paths)]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_patching_changes_something_and_restores_it(variant: Variant) -> None:
    before = state()
    with patched(variant):
        assert (state() != before) == (variant is not VARIANTS[0])
    assert state() == before


def test_an_error_inside_restores_too() -> None:
    before = state()
    with pytest.raises(RuntimeError), patched(VARIANTS[1]):
        raise RuntimeError
    assert state() == before


def test_a_name_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AttributeError), patched(Variant("typo", names={"jettison.epoch:TALE": 0})):
        pass


def test_every_variant_runs() -> None:
    run = Trajectory("run", "made-up", "task", history(30, seed=2))
    names = [variant.name for variant in VARIANTS]
    results = ablation._work(names, 0.25, run)
    assert [result.policy for result in results] == names
    assert not any(call.invalid for result in results for call in result.calls)


def test_the_table_shows_changes() -> None:
    def made(name: str, kept: int) -> Replay:
        call = Call(5, 10, 100, 0, sent=10, needed=4, kept=kept)
        return Replay("made-up", "run", "task", name, 0.25, 10, 0.0, [call])

    table = report([made(VARIANTS[0].name, 4), made(VARIANTS[1].name, 3)])
    assert "100.0 · 100.0" in table
    assert "-25.0 · -100.0" in table
