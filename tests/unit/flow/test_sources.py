"""The vocabulary: each value has one number, and what is known by number is what is known of the value."""

import math

import pytest
from hypothesis import given

from jettison.flow.dependencies import Flow, topic_of
from jettison.flow.segments import segment
from jettison.flow.sources import FEW, Source, Vocabulary
from jettison.items import Item, Kind
from strategies import law
from unit.flow.test_dependencies import HISTORIES, call, learnt, result, unit


def source(text="ORD-1"):
    return Source(Item("0.0-r", Kind.RESULT, text, 0, 0, 0, 0), segment(text), [], 0)


def test_values_are_numbered_as_they_come_and_once():
    words, text = Vocabulary(), source()
    assert words.numbered(["ord-1", "rma-2", "ord-1"]) == (0, 1, 0)
    words.hold(text, (0, 1))
    assert words.numbered(["rma-2", "spr-3"]) == (1, 2)
    words.hold(text, (2,))
    assert list(words.texts) == ["ord-1", "rma-2", "spr-3"]


def test_to_ask_for_a_value_does_not_number_it():
    words = Vocabulary()
    assert words.holder("ord-1") is None
    assert tuple(words.bound_to("ord-1")) == ()
    assert list(words.known(["ord-1"])) == []
    assert words.numbered(["rma-2"]) == (0,)


def test_the_newest_holder_counts():
    words, old, new = Vocabulary(), source("ORD-1"), source("ORD-1 and RMA-2")
    words.hold(old, words.numbered(["ord-1"]))
    words.hold(new, words.numbered(["ord-1", "rma-2"]))
    assert words.holder("ord-1") is new


def test_a_value_is_bound_to_each_key_once_however_many_there_are():
    words = Vocabulary()
    words.hold(source(), words.numbered(["ord-1"]))
    names = [f"tool||key{n}" for n in range(3 * FEW)]
    assert all(words.bind(0, name) for name in names)
    assert not any(words.bind(0, name) for name in names)
    assert sorted(words.bound_to("ord-1")) == sorted(names)


def test_values_that_are_bound_alike_share_their_keys():
    words = Vocabulary()
    words.hold(source(), words.numbered(["ord-1", "rma-2"]))
    for number in (0, 1):
        words.bind(number, "tool||id")
    assert words.keys[0] is words.keys[1]


@given(HISTORIES)
@law(100)
def test_odds_by_number_are_those_of_the_value(history):
    flow = learnt(*(unit(index, *entries) for index, entries in enumerate(history)))
    flow.about(topic_of(["the path of the order"]))
    now, numbers = len(flow.learnt), range(len(flow.vocabulary.texts))
    found = flow.improbable(set(numbers), now)
    for number, value in enumerate(flow.vocabulary.texts):
        assert found[number] == pytest.approx(math.exp(-flow.odds(value, now)))


def test_only_what_is_asked_for_is_worked_out():
    flow = learnt(unit(0, result("ORD-1 RMA-2")))
    number = flow.vocabulary.numbers["rma-2"]
    found = flow.improbable({number}, 1)
    assert [at for at, one in enumerate(found) if one] == [number]


def test_another_topic_is_another_worth():
    flow = Flow()
    flow.learn([unit(0, result("delayed_parcel")), unit(1, call("{}"))])
    number = flow.vocabulary.numbers["delayed_parcel"]
    before = flow.improbable({number}, 2)[number]
    flow.about(topic_of(["Find every delayed parcel."]))
    assert flow.improbable({number}, 2)[number] < before
