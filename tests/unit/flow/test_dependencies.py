"""Value flow: which item produced a value, which call used it, and what that makes it worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.flow.dependencies import Flow, is_keyish
from jettison.flow.weights import WORTH
from jettison.items import Item, Kind, Unit
from strategies import law

FILLER = "nothing of note happened in this place"


def unit(index, *items):
    """A unit of (kind, text) or (kind, text, tool) entries."""
    made = [
        Item(f"{index}.{part}-{kind.value[0]}", kind, text, index, part, index, index, name=tool[0] if tool else None)
        for part, (kind, text, *tool) in enumerate(items)
    ]
    return Unit(index, tuple(made))


def call(text):
    return (Kind.CALL, text, "get_order")


def result(text):
    return (Kind.RESULT, text, "get_order")


def learnt(*units):
    flow = Flow()
    flow.learn(units)
    return flow


def test_an_edge_leads_from_the_producer_to_the_call():
    flow = learnt(unit(0, result('{"order_id": "ORD-9913"}')), unit(1, call('{"id": "ORD-9913"}')))
    (edge,) = flow.edges
    assert (edge.value, edge.producer, edge.consumer, edge.argument) == ("ord-9913", "0.0-r", "1.0-c", "id")
    assert flow.produced == {"0.0-r": 1}
    assert "id" in flow.arguments


def test_the_newest_holder_is_the_producer():
    flow = learnt(unit(0, result("ORD-9913")), unit(1, result("ORD-9913 again")), unit(2, call('{"id": "ORD-9913"}')))
    assert [edge.producer for edge in flow.edges] == ["1.0-r"]


def test_a_value_that_nobody_produced_makes_no_edge():
    flow = learnt(unit(0, result(FILLER)), unit(1, call('{"id": "ORD-9913"}')), unit(2, result("ORD-9913")))
    assert flow.edges == []
    assert flow.uses["ord-9913"].count == 1


def test_uses_and_mentions_are_counted_with_their_time():
    flow = learnt(
        unit(0, (Kind.USER, "see ORD-9913")),
        unit(1, call('{"id": "ORD-9913"}')),
        unit(2, (Kind.ASSISTANT, "ORD-9913 and ORD-9913 once more")),
        unit(3, call('{"id": "ORD-9913"}')),
    )
    use, mention = flow.uses["ord-9913"], flow.mentions["ord-9913"]
    assert (use.count, use.last) == (2, 3)
    assert (mention.count, mention.last) == (1, 2), "once an item"
    assert "ord-9913" in flow.stated


def test_a_used_or_mentioned_or_stated_value_is_worth_more_and_fades():
    plain = learnt(unit(0, result("ORD-9913")))
    used = learnt(unit(0, result("ORD-9913")), unit(1, call('{"id": "ORD-9913"}')))
    mentioned = learnt(unit(0, result("ORD-9913")), unit(1, (Kind.ASSISTANT, "it is ORD-9913")))
    stated = learnt(unit(0, (Kind.USER, "ORD-9913")))
    base = plain.odds("ord-9913", 2)
    assert used.odds("ord-9913", 2) > mentioned.odds("ord-9913", 2) > base
    assert stated.odds("ord-9913", 2) == pytest.approx(base + WORTH.stated)
    assert used.odds("ord-9913", 2) > used.odds("ord-9913", 50) > plain.odds("ord-9913", 50)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cloned into /srv/build/ledger-service/src/main", "/srv/build/ledger-service/"),
        ("The Blue Mountain Tent is in stock", "mountain tent is"),
        ("Склад: синий шатёр на двоих", "шатёр на двоих"),
    ],
)
def test_an_argument_that_is_part_of_a_text_is_found_by_search(text, value):
    flow = learnt(unit(0, result(f"{FILLER}\n{text}\n{FILLER}")), unit(1, call(f'{{"q": "{value}"}}')))
    edge = flow.edges[0]
    assert edge.producer == "0.0-r"
    number = flow.vocabulary.numbers[edge.value]
    assert any(number in values for values in flow.sources["0.0-r"].values), "it is a value of that text from now on"


def test_a_value_of_the_instructions_among_the_messages_is_not_searched():
    flow = learnt(
        unit(0, (Kind.INSTRUCTION, "the root is /srv/build/ledger")),
        unit(1, result("in /srv/build/ledger-service/src")),
        unit(2, call('{"q": "/srv/build/ledger"}')),
    )
    assert "srv/build/ledger" in flow.head
    assert flow.edges == []


def test_the_system_field_may_change_and_what_was_learnt_does_not_depend_on_it():
    first = unit(-1, (Kind.INSTRUCTION, "the root is /srv/build/ledger"))
    rest = (unit(0, result("in /srv/build/ledger-service/src")), unit(1, call('{"q": "/srv/build/ledger"}')))
    flow, bare = learnt(first, *rest), learnt(*rest)
    assert "srv/build/ledger" in flow.head
    assert flow.edges == bare.edges != []
    flow.learn([unit(-1, (Kind.INSTRUCTION, "the root is"), (Kind.INSTRUCTION, "/home/me/other"))])
    assert "srv/build/ledger" not in flow.head
    assert "home/me/other" in flow.head


def test_a_flow_is_made_again_from_its_log():
    units = [
        unit(0, (Kind.USER, "look at ORD-9913")),
        unit(1, call('{"id": "ORD-9913"}'), result('{"path": "/srv/a/b.py", "id": "ORD-7"}')),
        unit(2, call('{"path": "/srv/a/b.py"}')),
    ]
    flow = learnt(units[2])  # not in their order
    flow.learn(units)
    again = Flow.replayed(flow.log, [item for one in units for item in one.items])
    assert again.learnt == flow.learnt
    again.learn(units)
    assert again == flow
    flow.learn([unit(3, call('{"id": "ORD-7"}'))])
    assert flow != again
    flow.rewind(len(again.log), [item for one in units for item in one.items])
    flow.learn(units)
    assert flow == again


def test_keys_whose_values_are_used_are_worth_more():
    flow = learnt(
        unit(0, result('{"code": "AB-1111", "memo": "CD-2222"}')),
        unit(1, call('{"q": "AB-1111"}')),
        unit(2, result('{"code": "EF-3333", "memo": "GH-4444"}')),
    )
    source = flow.sources["2.0-r"]
    assert flow.key_odds(source, 0) > flow.key_odds(source, 1)
    assert flow.key_odds(learnt(unit(0, result("one line"))).sources["0.0-r"], 0) == 0.0


@pytest.mark.parametrize("key", ["id", "order_id", "orderId", "file-path", "urls", "customer.email"])
def test_keys_that_name(key):
    assert is_keyish(key)


@pytest.mark.parametrize("key", ["width", "paid", "idea", "tokenizer", ""])
def test_keys_that_do_not_name(key):
    assert not is_keyish(key)


LINES = st.sampled_from(
    [
        "ORD-9913",
        "see src/a/b.py",
        "sub/path/of/it",
        '{"id": "ORD-9913"}',
        '{"path": "src/a"}',
        '{"q": "path/of"}',
        FILLER,
    ]
)
ENTRIES = st.tuples(st.sampled_from([Kind.USER, Kind.ASSISTANT, Kind.CALL, Kind.RESULT, Kind.INSTRUCTION]), LINES)
HISTORIES = st.lists(st.lists(ENTRIES, min_size=1, max_size=4), min_size=1, max_size=8)


@given(HISTORIES, st.data())
@law(150)
def test_learning_step_by_step_is_learning_at_once(history, data):
    units = [unit(index, *entries) for index, entries in enumerate(history)]
    steps, end = Flow(), 0
    while end < len(units):
        end = data.draw(st.integers(end + 1, len(units)))
        steps.learn(units[:end])
    once = learnt(*units)
    assert steps == once


@given(HISTORIES)
@law(100)
def test_a_unit_that_grows_is_learnt_once(history):
    units = [unit(index, *entries) for index, entries in enumerate(history)]
    grown = Flow()
    for one in units:
        for size in range(1, len(one.items) + 1):
            grown.learn([Unit(one.index, one.items[:size])])
    assert grown == learnt(*units)


def test_a_value_holds_to_one_clock_of_units():
    flow = learnt(unit(4, result("ORD-9913")), unit(9, call('{"id": "ORD-9913"}')))
    assert flow.uses["ord-9913"].last == 1, "units learnt, not their numbers"
