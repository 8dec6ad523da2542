"""Budget: reserves, marks, refusals, known models."""

import pytest

from jettison.budget import Budget
from jettison.errors import ConfigError
from jettison.models import lookup


def test_limit_is_the_window_minus_both_reserves():
    assert Budget(200_000, reserve_output=8_000, reserve_tools=4_000).limit == 188_000


def test_defaults_reserve_nothing():
    budget = Budget(4_096)
    assert (budget.limit, budget.high_water, budget.low_water) == (4_096, 1.0, 0.7)


def test_of_takes_an_int_as_a_limit_and_a_budget_as_it_is():
    budget = Budget(1_000, reserve_output=100)
    assert Budget.of(budget) is budget
    assert Budget.of(900).limit == 900


@pytest.mark.parametrize(
    "settings",
    [
        {"window": 0},
        {"window": -1},
        {"window": 1.5},
        {"window": True},
        {"window": "8000"},
        {"window": None},
        {"window": 100, "reserve_output": -1},
        {"window": 100, "reserve_tools": -1},
        {"window": 100, "reserve_output": 60, "reserve_tools": 40},
        {"window": 100, "low_water": 0},
        {"window": 100, "low_water": 0.9, "high_water": 0.8},
        {"window": 100, "high_water": 1.01},
        {"window": 100, "low_water": float("nan")},
        {"window": 100, "high_water": float("nan")},
    ],
)
def test_what_cannot_work_is_a_config_error(settings):
    with pytest.raises(ConfigError):
        Budget(**settings)


def test_the_error_names_the_numbers():
    with pytest.raises(ConfigError, match=r"4096.*4096.*0"):
        Budget(4_096, reserve_output=4_096)


def test_a_budget_is_frozen_and_comparable():
    assert Budget(10) == Budget(10)
    assert hash(Budget(10)) == hash(Budget(10))
    with pytest.raises(AttributeError):
        Budget(10).window = 20  # type: ignore[misc]


def test_equal_marks_are_allowed():
    assert Budget(10, high_water=0.5, low_water=0.5).low_water == 0.5


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o", "claude-haiku-3-5", "anthropic/claude-haiku-3-5"])
def test_for_model_reserves_a_reply(name):
    budget = Budget.for_model(name)
    model = lookup(name)
    assert model is not None
    assert budget.window == model.window
    assert 0 < budget.reserve_output <= model.window // 4
    assert Budget.for_model(name, reserve_output=10, reserve_tools=5).limit == model.window - 15


def test_for_model_refuses_what_is_not_on_record():
    with pytest.raises(ConfigError, match="no-such-model"):
        Budget.for_model("no-such-model-9")
