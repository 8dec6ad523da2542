"""Fitting the weights: features agree with what is used, and no gain is claimed that is not there."""

from __future__ import annotations

import gzip
import json
import random
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")

from jettison.cli import main
from jettison.cli.tuning import to_toml
from jettison.errors import ConfigError, InvalidInput
from jettison.flow.dependencies import Flow, topic_of
from jettison.items import units_of
from jettison.replay import Recorded, read_all
from jettison.replay.rows import FEATURES, features, needed_values, rows_of, shipped
from jettison.replay.tune import Tuned, collect, tune
from jettison.wire import wire_named


def messages(seed: int, turns: int = 14) -> list[dict[str, Any]]:
    """An agent that lists orders and then opens one of the ids it was just shown."""
    draw = random.Random(seed)
    out: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a clerk."},
        {"role": "user", "content": "Check the delayed_parcel orders of ann@example.com, please."},
    ]
    shown = "AB-1000"
    for turn in range(turns):
        arguments = json.dumps({"order_id": shown, "page": turn})
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "get_order", "arguments": arguments}}
        rows = [
            {"order_id": f"AB-{draw.randrange(1000, 9999)}", "status": "sent", "note": f"delayed_parcel {turn}-{k}x"}
            for k in range(5)
        ]
        shown = draw.choice(rows)["order_id"]
        out += [
            {"role": "assistant", "content": f"Looking at {shown} next.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": json.dumps(rows)},
        ]
    return out


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "runs.jsonl.gz"
    rows = [{"id": f"r{n}", "task": n // 2, "messages": messages(n)} for n in range(12)]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return path


@pytest.fixture(scope="module")
def tuned(file: Path) -> Tuned:
    return tune(collect([str(file)]))


def test_features_add_up_to_what_rank_uses() -> None:
    weights = dict(zip(FEATURES, shipped(), strict=True))
    flow, compared = Flow(topic=topic_of(["Check the delayed_parcel orders"])), 0
    records, _ = wire_named("openai-chat").parse(messages(3))
    for unit in units_of(item for record in records for item in record):
        flow.learn([unit])
        now = len(flow.learnt) + 2
        for source in flow.sources.values():
            for index, numbers in enumerate(source.values):
                for value in map(flow.vocabulary.texts.__getitem__, numbers):
                    found = features(flow, value, source, index, now)
                    total = sum(weights[name] * amount for name, amount in found.items())
                    assert total == pytest.approx(flow.odds(value, now) + flow.key_odds(source, index))
                    compared += len(found) > 4
    assert compared > 100


def test_every_weight_in_use_is_fitted(tuned: Tuned) -> None:
    assert [weight.name for weight in tuned.weights] == list(FEATURES)
    assert [weight.shipped for weight in tuned.weights] == list(shipped())
    assert all(weight.error >= 0 for weight in tuned.weights)


def test_a_row_is_needed_when_a_later_call_uses_the_value() -> None:
    history = Recorded("openai-chat", messages(1))
    rows = list(rows_of(history))
    assert {row.needed for row in rows} == {True, False}
    assert list(rows_of(history)) == rows, "the same rows every time"
    assert list(rows_of(replace(history, messages=history.messages[:2]))) == []


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("AB-1234", {"ab-1234"}),
        ("cat src/app/main.py", {"cat src/app/main.py"}),
        ("x" * 50 + " see src/app/main.py and Notable words", {"src/app/main.py"}),
        (1500, {"1500"}),
        (999, set()),
        (True, set()),
    ],
)
def test_needed_values_are_those_of_the_bench(argument: object, expected: set[str]) -> None:
    assert needed_values(json.dumps({"a": argument})) == expected


def test_a_file_of_several_runs_is_read_whole(file: Path) -> None:
    histories = read_all(str(file))
    assert len(histories) == 12
    assert histories[3].name == "runs.jsonl.gz row 4"
    assert len({history.task for history in histories}) == 6


def test_a_real_gain_is_claimed(tuned: Tuned) -> None:
    # Every needed value of these runs has one shape and was shown in the unit before: easy to learn.
    assert tuned.low <= tuned.gain <= tuned.high
    assert tuned.better
    assert "predict better: held-out" in tuned.verdict


@pytest.mark.parametrize(
    ("low", "high", "said"), [(-0.1, 0.2, "no gain shown"), (-0.2, -0.1, "weights in use predict")]
)
def test_no_gain_is_claimed_when_the_interval_does_not_show_it(
    tuned: Tuned, low: float, high: float, said: str
) -> None:
    unclear = replace(tuned, gain=(low + high) / 2, low=low, high=high)
    assert not unclear.better
    assert said in unclear.verdict
    assert "fitted weights predict better" not in unclear.verdict
    assert said in to_toml(unclear)


def test_a_strong_pull_leaves_the_weights_and_no_gain_to_claim(file: Path) -> None:
    held = tune(collect([str(file)]), l2=1e12)
    assert all(weight.fitted == pytest.approx(weight.shipped, abs=1e-3) for weight in held.weights)
    assert abs(held.gain) < 1e-6


def test_toml_holds_every_weight_and_its_evidence(tuned: Tuned) -> None:
    text = to_toml(tuned)
    assert text.startswith("# Written by `jettison tune`: fitted weights, and no policy file.\n")
    assert "--policy mine.toml" in text
    parsed = tomllib.loads(text)
    assert len(parsed["worth"]) + len(parsed["shapes"]) == len(FEATURES)
    assert "standard error" in text
    assert "log-loss" in text


def test_settings_and_inputs_that_cannot_work(file: Path) -> None:
    runs = collect([str(file)])
    with pytest.raises(ConfigError):
        tune(runs, by="weather")
    with pytest.raises(ConfigError):
        tune(runs, folds=1)
    with pytest.raises(InvalidInput, match="too few"):
        tune(runs[:1])


def test_command(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "weights.json"
    assert main(["tune", str(file), "--json", str(out), "--toml", str(tmp_path / "weights.toml")]) == 0
    shown = capsys.readouterr().out
    assert "Verdict: " in shown
    assert "used_recent" in shown
    assert len(json.loads(out.read_text("utf-8"))["weights"]) == len(FEATURES)
    assert main(["tune"]) == 64
    assert main(["tune", str(file), "--by", "weather"]) == 64
    assert main(["tune", str(tmp_path / "none.jsonl")]) == 3
    small = tmp_path / "small.json"
    small.write_text(json.dumps(messages(1)), "utf-8")
    assert main(["tune", str(small)]) == 3


def test_without_numpy_the_extra_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.delitem(sys.modules, "jettison.replay.logistic", raising=False)
    monkeypatch.delattr("jettison.replay.logistic", raising=False)
    assert main(["tune", str(file)]) == 70
    assert "jettison[tune]" in capsys.readouterr().err
