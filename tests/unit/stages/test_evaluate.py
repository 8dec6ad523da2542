"""Evaluate: `Score = w_r·R + w_s·Rel` with R = e^(−λt), each part visible."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.items import Item
from jettison.plan import View
from jettison.relevance.rules import RULES
from jettison.stages.evaluate import evaluate
from strategies import law
from unit.flow.reading import call, join, says, user
from unit.stages.scene import scene

HISTORY = join(
    user("Refund ORD-9913."),
    call("get_order", {"id": "ORD-9913"}, {"order_id": "ORD-9913", "payment": "PM-5521"}),
    call("refund", {"payment": "PM-5521"}, {"ok": True}, number=1),
    says("Done."),
    user("Thanks."),
)
SEEN = scene(HISTORY)


def scores(decay=0.05, w_recency=0.3, w_relevance=0.7, **more):
    return evaluate(SEEN.view, SEEN.flow, decay=decay, w_recency=w_recency, w_relevance=w_relevance, **more)


@given(st.floats(0, 2), st.floats(0, 1))
@law(50)
def test_the_formula(decay, w_recency):
    for item in SEEN.view.items:
        score = scores(decay, w_recency, 1 - w_recency)[item.id]
        assert score.recency == math.exp(-decay * SEEN.view.age(item))
        assert score.total == pytest.approx(w_recency * score.recency + (1 - w_recency) * score.relevance)
        assert 0 <= score.relevance <= 1


def test_age_is_counted_in_calls_of_the_model():
    ages = {item.message: SEEN.view.age(item) for item in SEEN.view.items}
    assert ages == {0: 3, 1: 2, 2: 2, 3: 1, 4: 1, 5: 0, 6: 0}


def test_all_weight_on_one_part_gives_that_part():
    for score in scores(w_recency=1.0, w_relevance=0.0).values():
        assert score.total == score.recency
    for score in scores(w_recency=0.0, w_relevance=1.0).values():
        assert score.total == score.relevance


def test_without_decay_age_makes_no_difference():
    assert {score.recency for score in scores(decay=0).values()} == {1.0}


def test_relevance_is_the_weighted_sum_of_its_signals():
    assert sum(weight for weight, _ in RULES.values()) == pytest.approx(1)
    for score in scores().values():
        assert set(score.signals) == set(RULES)
        assert score.relevance == pytest.approx(sum(RULES[name][0] * value for name, value in score.signals.items()))


def test_a_result_whose_values_were_used_scores_above_one_whose_were_not():
    found = scores(w_recency=0.0, w_relevance=1.0)
    assert found[SEEN.item("2.0").id].signals["used"] > 0
    assert found[SEEN.item("4.0").id].signals["used"] == 0


def short(item: Item, view: View) -> float:
    return 1.0 if len(item.text) < 10 else 0.0


def test_a_further_scorer_joins_with_its_weight_and_its_name():
    plain, more = scores(), scores(scorers=[(1.0, short)])
    for item in SEEN.view.items:
        assert more[item.id].signals["short"] == short(item, SEEN.view)
        assert more[item.id].relevance == pytest.approx((plain[item.id].relevance + short(item, SEEN.view)) / 2)


class Named:
    name = "mine"

    def __call__(self, item, view):
        return 7.0


def test_a_scorer_can_be_an_object_and_is_held_to_0_1():
    assert {score.signals["mine"] for score in scores(scorers=[(0.5, Named())]).values()} == {1.0}
    assert all(score.relevance <= 1 for score in scores(scorers=[(0.5, Named())]).values())


def test_some_items_only():
    some = SEEN.view.items[:2]
    assert list(scores(items=some)) == [item.id for item in some]
