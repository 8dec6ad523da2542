"""Support, binding, cost and the rest, on tiny hand-made histories."""

from __future__ import annotations

from typing import Any

import pytest
from bench.metrics import Call, interval, judge, regret, summary
from bench.needs import Need, Text
from bench.units import Raised, units_of
from bench.validity import broken_rules

SOURCE = '{"id": "A-100", "name": "Annabel", "n": 3}'
NEED = Need("a-100", frozenset({SOURCE}), frozenset({"id"}), ((("name", "annabel"), ("n", "3")),))


def scores(*kept: str) -> tuple[int, int, int]:
    found = judge([NEED], [Text(text) for text in kept])
    return found.kept, found.bound, found.recorded


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("nothing of it", (0, 0, 0)),
        ("A-1000", (0, 0, 0)),
        ("bag: A-100, B-200", (1, 0, 0)),
        ("id: A-100", (1, 1, 0)),
        ("id: A-100, name: Annabel", (1, 1, 1)),
        ("id: A-100, n: 3", (1, 1, 1)),
        ("id: A-100, 3", (1, 1, 0)),
        ("id: A-100" + " x" * 300 + " name: Annabel", (1, 1, 0)),
        ("id" + " x" * 100 + " A-100", (1, 0, 0)),
        ("A-100" + " x" * 40 + " id", (1, 0, 0)),
        (SOURCE, (1, 1, 1)),
    ],
)
def test_support_binding_and_record_binding(kept: str, expected: tuple[int, int, int]) -> None:
    assert scores(kept) == expected


def test_the_best_of_several_texts_counts() -> None:
    assert scores("A-100", "id: A-100, name: Annabel") == (1, 1, 1)
    assert judge([NEED], []).missing == ["a-100"]


def made(**values: Any) -> Call:
    return Call(**{"t": 4, "limit": 100, "full": 200, "full_hit": 150, "sent": 100, **values})


def test_only_pressured_calls_count_for_support() -> None:
    figures = summary([made(needed=4, kept=3), made(full=90, sent=90, needed=4, kept=0)])
    assert figures["strict"] == 0.75
    assert figures["silent"] == 1
    assert figures["pressured"] == 1


def test_completeness_is_over_calls_that_need_something() -> None:
    figures = summary([made(needed=2, kept=2), made(needed=2, kept=1), made(), made()])
    assert figures["complete"] == 0.5
    assert figures["complete_all"] == 0.75


def test_errors_are_no_silent_losses_and_count_as_unsupported() -> None:
    figures = summary([made(needed=1, raised="StateBroken: x", lost_anyway=True), made(raised="StateBroken: y")])
    assert (figures["strict"], figures["silent"], figures["raised"], figures["alarm"]) == (0.0, 0, 2, 0.5)
    assert figures["cost"] is None


def test_over_budget_has_two_percent_of_slack() -> None:
    assert summary([made(sent=102), made(sent=103)])["over"] == 1


def test_cost_is_relative_to_sending_everything() -> None:
    everything = 0.1 * 150 + 1.25 * 50
    assert summary([made(sent=100, hit=60)])["cost"] == pytest.approx((0.1 * 60 + 1.25 * 40) / everything)


def test_prefix_reuse_starts_with_the_second_request() -> None:
    assert summary([made(), made(hit=50, before=100), made(hit=100, before=100)])["reuse"] == 0.75


def test_regret_is_0_for_the_clairvoyant_and_1_for_random() -> None:
    assert regret(0.9, 0.9, 0.5) == 0
    assert regret(0.5, 0.9, 0.5) == 1
    assert regret(0.5, 0.5, 0.5) is None


def test_the_interval_draws_whole_tasks() -> None:
    low, high = interval({"a": [made(needed=1, kept=1)] * 9, "b": [made(needed=1, kept=0)]}) or (0, 0)
    assert (low, high) == (0.0, 1.0)
    assert interval({"a": [made()]}) is None


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TURN: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": ""},
]


def test_units_hold_a_call_with_its_results() -> None:
    messages = [*TURN, {"role": "user", "content": "and"}]
    assert units_of(messages, 1) == [range(1, 3), range(3, 4)]


def test_valid_requests_pass_and_given_content_is_not_judged() -> None:
    assert broken_rules(TURN, TURN) == []


def test_what_the_history_gave_is_not_a_fault() -> None:
    raw = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
    given = [TURN[0], {"role": "assistant", "content": "a long text", "tool_calls": [raw]}]
    cut = [TURN[0], {**given[1], "content": "a …"}]
    assert broken_rules(cut, given) == []
    assert broken_rules([*cut, TURN[2]], TURN) == ["messages[1]: arguments that do not parse: ''"]


@pytest.mark.parametrize(
    ("request_", "rule"),
    [
        (TURN[:2], "unanswered at the end"),
        ([TURN[0], TURN[2]], "answers no call"),
        ([*TURN, TURN[2]], "second answer"),
        ([*TURN[:2], TURN[0], TURN[2]], "calls before it are unanswered"),
        ([{"role": "user", "content": " "}], "empty user message"),
        ([{"role": "bot", "content": "x"}], "unknown role"),
        ([{"role": "user", "content": "\ud800"}], "lone surrogates"),
        ([], "no messages"),
    ],
)
def test_broken_requests_are_named(request_: list[dict[str, Any]], rule: str) -> None:
    assert any(rule in problem for problem in broken_rules(request_, TURN))


def test_raised_carries_what_the_replay_needs() -> None:
    error = Raised("StateBroken", "gone", None)
    assert (error.kind, str(error), error.best) == ("StateBroken", "StateBroken: gone", None)
