"""Prices, and when a rewrite has paid for itself: checked against bills that are added up call by call."""

import json

import pytest

from jettison import Policy, Session
from jettison.errors import ConfigError
from jettison.prices import DEFAULT, Prices, Rewrite, prices_for


def bill(prices, read, written):
    return read * prices.cached_ratio + written * prices.write_ratio


@pytest.mark.parametrize("prices", [DEFAULT, Prices(3, 0.3, 3.75), Prices(2, 0.5), Prices(1, 0.02, 1.25), Prices(1, 1)])
@pytest.mark.parametrize(
    "rewrite",
    [
        Rewrite(100_000, 2_000, 10_000, 50_000),
        Rewrite(100_000, 2_000, 10_000, 90_000),
        Rewrite(100_000, 2_000, 0, 100_000),
        Rewrite(1_000, 500, 900, 100),
    ],
)
def test_it_pays_back_when_the_sum_of_the_bills_says_so(prices, rewrite):
    with_it = bill(prices, rewrite.kept, rewrite.again)
    without = bill(prices, rewrite.last, rewrite.new)
    assert rewrite.extra(prices) == pytest.approx(with_it - without)
    calls = 0
    while with_it > without + 1e-6 and calls < 5_000:
        with_it += (rewrite.kept + rewrite.again) * prices.cached_ratio
        without += (rewrite.last + rewrite.new) * prices.cached_ratio
        calls += 1
    assert rewrite.pays_back(prices) == calls


def test_what_saves_nothing_never_pays_back():
    assert Rewrite(1_000, 0, 0, 1_000).pays_back(DEFAULT) is None
    assert Rewrite(1_000, 100, 200, 1_000).pays_back(DEFAULT) is None
    assert Rewrite(1_000, 100, 200, 700).pays_back(Prices(1, 0.0)) is None


def test_where_nothing_is_cached_a_rewrite_pays_back_at_once():
    assert Rewrite(1_000, 100, 200, 700).pays_back(Prices(1, 1)) == 0


def test_prices_of_a_model_and_of_none():
    assert prices_for("claude-sonnet-4-5") == Prices(3, 0.3, 3.75, 15)
    assert prices_for("gpt-4").cached_ratio == 1.0  # no cache
    assert prices_for("gpt-5").write_ratio == 1.0  # no surcharge
    assert prices_for("no-such-model") is prices_for(None) is DEFAULT
    assert (DEFAULT.cached_ratio, DEFAULT.write_ratio) == (0.1, 1.25)
    assert (Prices(2).cached_ratio, Prices(2).write_ratio) == (0.1, 1.0)


@pytest.mark.parametrize("bad", [{"input": 0}, {"input": -1}, {"cached": float("nan")}, {"write": "1"}, {"output": -2}])
def test_what_is_no_price(bad):
    with pytest.raises(ConfigError):
        Prices(**bad)


def test_the_report_says_what_a_rewrite_costs_and_when_it_has_paid():
    messages = [{"role": "user", "content": "Read all pages."}]
    cheap = Session(Policy(budget=2_000, prices=Prices(1, 0.9)))
    dear = Session(Policy(budget=2_000, prices=Prices(1, 0.01, 1.25)))
    seen = []
    for turn in range(12):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "page", "arguments": f'{{"n": {turn}}}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        text = "\n".join(f"row {n} says {(turn + 1) * n * 7919}" for n in range(30))
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": text})
        one, two = cheap.fit(messages), dear.fit(messages)
        assert one.messages == two.messages
        left, right = one.report.cache, two.report.cache
        assert left.kept + left.rebilled == one.report.after
        assert json.loads(one.report.to_json())["cache"]["pays_back"] == left.pays_back
        if left.first_changed is None:
            assert (left.removed, left.extra, left.pays_back) == (0, 0.0, None)
        else:
            assert left.removed > 0
            assert left.extra < right.extra
            seen.append((left.pays_back, right.pays_back))
    assert len(seen) >= 2
    assert all(left < right for left, right in seen)
