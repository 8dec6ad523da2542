"""Baselines and the replay, on a synthetic history and a made-up policy."""

from __future__ import annotations

import pytest
from bench.metrics import summary
from bench.needs import Texts, needs_of
from bench.policies import POLICIES, make
from bench.replay import Replay, replay
from bench.synthetic import history
from bench.tables import losses, quality_tables
from bench.traces import Message, Trajectory, tokens
from bench.units import Case, Raised
from bench.validity import broken_rules

BASELINES = [name for name in POLICIES if not name.startswith("jettison")]
BOUNDED = [name for name in BASELINES if name not in ("keep-all", "clear-results")]


@pytest.fixture(scope="module")
def case() -> Case:
    messages = history(60, seed=5)
    # What the made-up turns ask for is random: let the last ones use an id that an old result showed.
    seen = next(m["content"] for m in messages if m["role"] == "tool" and '"id"' in m["content"])
    wanted = seen.split('"id": "')[1].split('"')[0]
    for message in [m for m in messages if m.get("tool_calls")][-5:]:
        message["tool_calls"][0]["function"]["arguments"] = f'{{"id": "{wanted}"}}'
    run = Trajectory("run", "made-up", "task", messages)
    texts = Texts()
    return Case(run, needs_of(run, texts), texts)


@pytest.mark.parametrize("name", BOUNDED)
def test_baselines_stay_valid_and_within_budget(name: str, case: Case) -> None:
    run = case.trajectory
    policy, limit = make(name, case), run.budget(0.25)
    policy.start(run.messages[: run.head])
    for t in run.turns:
        request = policy.fit(run.messages[:t], limit)
        assert sum(map(tokens, request)) <= limit
        assert not broken_rules(request, run.messages)
        assert request[: run.head] == run.messages[: run.head]


def test_keep_all_loses_nothing_and_costs_one(case: Case) -> None:
    figures = summary(replay(case, "keep-all", 0.25).calls)
    assert (figures["strict"], figures["complete"], figures["cost"], figures["reuse"]) == (1, 1, 1, 1)


def test_the_clairvoyant_is_at_least_as_good_as_every_other(case: Case) -> None:
    support = {name: summary(replay(case, name, 0.25).calls)["strict"] or 0.0 for name in BOUNDED}
    assert support["clairvoyant"] == 1
    assert support["window"] < 1


def test_clear_results_keeps_the_last_three(case: Case) -> None:
    run, policy = case.trajectory, make("clear-results", case)
    policy.start(run.messages[: run.head])
    request = policy.fit(run.messages, run.budget(0.1))
    results = [i for i, m in enumerate(run.messages) if m["role"] == "tool"]
    assert [i for i in results if request[i] is run.messages[i]] == results[-3:]


class Refuses:
    def start(self, head: list[Message]) -> None:
        pass

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        raise Raised("StateBroken", "too small", messages)


def test_errors_are_counted_apart(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "refuses", lambda case: Refuses())
    result = replay(case, "refuses", 0.25)
    figures = summary(result.calls)
    assert figures["raised"] == len(result.calls)
    assert (figures["silent"], figures["strict"], figures["alarm"]) == (0, 0.0, 0.0)


def test_tables_name_every_policy_and_losses_every_value(case: Case) -> None:
    results: list[Replay] = [replay(case, name, 0.25) for name in ("clairvoyant", "random", "window")]
    text = quality_tables(results)
    assert all(f"| {name} |" in text for name in ("clairvoyant", "random", "window"))
    assert losses(results, "window")
    assert not losses(results, "clairvoyant")
