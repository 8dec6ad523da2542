"""Borders: what stands by itself, and what only inside a longer word."""

import pytest

from jettison.flow.borders import found, holds, says_as
from jettison.flow.places import PlaceReader
from jettison.items import Item, Kind, Unit


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Refund ORD-1.", "ORD-1"),
        ('{"order":"ORD-1"}', "ORD-1"),
        ('{"log":"first\\nORD-1\\nlast"}', "ORD-1"),
        ("/orders/ORD-1/items", "ORD-1"),
        ("_ORD-1_ and **ORD-1**", "ORD-1"),
        ("ORD-17, then ORD-1", "ORD-1"),
        ("[48213,48214]", "48214"),
        ("[48213,48214]", "48213"),
        ("заказ «ЗВ-1»", "ЗВ-1"),
        ("订单ORD-1已发货", "ORD-1"),
        ("5kg (net)", "(net)"),
    ],
)
def test_a_value_that_stands_by_itself(text, value):
    at, alone = found(text, value)
    assert alone
    assert text[at : at + len(value)] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ORD-17", "ORD-1"),
        ("ORD-1-B", "ORD-1"),
        ("ORD-1_b", "ORD-1"),
        ("PRE-ORD-1", "ORD-1"),
        ("ЗВ-10", "ЗВ-1"),
        ("notes.python", "notes.py"),
        ("10.0.0.12", "10.0.0.1"),
        ("1,042 rows", "042"),
        ("20kg", "20"),
    ],
)
def test_a_value_inside_a_longer_one_is_found_and_not_by_itself(text, value):
    assert not holds(text, value)
    assert found(text, value) == (text.index(value), False)
    assert not says_as(f"{value} x", value)(text)
    assert says_as(text, value)(text), "a fragment of its source is looked for as a fragment"


def test_a_long_line_of_look_alikes_is_read_in_one_go():
    assert found("ORD-17 " * 15_000, "ORD-1") == (0, False)
    assert found("ORD-17 " * 15_000 + "ORD-1", "ORD-1") == (7 * 15_000, True)


def placed(value, *texts):
    units = [Unit(n, (Item(str(n), kind, text, n, 0, n, n),)) for n, (kind, text) in enumerate(texts)]
    at_once, stepwise = PlaceReader(), PlaceReader()
    at_once.settle(units[:-1])
    for unit in units[:-1]:
        stepwise.find([value], [unit])
        stepwise.settle([unit])
    place = at_once.find([value], units[-1:]).get(value)
    assert stepwise.find([value], units[-1:]).get(value) == place
    return place and (place.item, place.start)


def test_the_value_itself_is_placed_before_a_newer_longer_one():
    assert placed("ORD-1", (Kind.RESULT, "ORD-1"), (Kind.RESULT, "ORD-17")) == ("0", 0)
    assert placed("ORD-1", (Kind.CALL, "ORD-1"), (Kind.RESULT, "ORD-17"), (Kind.RESULT, "ORD-18")) == ("0", 0)
    assert placed("ORD-1", (Kind.RESULT, "ORD-1"), (Kind.RESULT, "ORD-17, ORD-1")) == ("1", 8)
    assert placed("ЗВ-1", (Kind.USER, "Верни ЗВ-1"), (Kind.RESULT, "ЗВ-10 и ЗВ-1а")) == ("0", 6)


def test_a_fragment_is_placed_where_it_stands():
    assert placed("20", (Kind.RESULT, "20kg"), (Kind.RESULT, "none")) == ("0", 0)
    assert placed("ORD-1", (Kind.RESULT, "none"), (Kind.RESULT, "none")) is None
