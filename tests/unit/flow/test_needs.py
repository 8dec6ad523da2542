"""Kinds of values: names of arguments against keys of results."""

import json

import pytest

from jettison import Policy, Session, fit
from jettison.flow.dependencies import Flow
from jettison.flow.needs import declared_arguments, kind, kinds_of
from jettison.flow.weights import WORTH
from jettison.items import Item, Kind, Unit


@pytest.mark.parametrize("name", ["order_id", "orderId", "order-ids", "ORDER_ID", "orderIds"])
def test_the_spellings_of_one_name_are_one_kind(name):
    assert kind(name) == "order_id"


def test_a_generic_key_takes_the_name_of_its_record():
    assert kinds_of("data.orders[3]", "id") == {"id", "order_id"}
    assert kinds_of("", "id") == {"id"}
    assert kinds_of("data.orders[3]", "reservationId") == {"reservation_id"}
    assert kinds_of("orders[0]", "") == frozenset()


def test_arguments_of_a_schema_are_found_at_every_level_and_garbage_has_none():
    schema = {"parameters": {"properties": {"orderId": {}, "to": {"items": {"properties": {"email": {}}}}}}}
    assert declared_arguments(json.dumps(schema)) == {"orderId", "to", "email"}
    assert declared_arguments("{not json") == frozenset()
    assert declared_arguments("[" * 5_000) == frozenset()


def test_a_value_of_a_needed_kind_is_worth_more_before_it_was_ever_used():
    flow = Flow()
    item = Item("0.0-r", Kind.RESULT, '{"orders": [{"id": "ORD-9913", "shelf": "SH-2041"}]}', 0, 0, 0, 0, name="list")
    flow.learn([Unit(0, (item,))])
    source = flow.sources[item.id]
    plain = [flow.key_odds(source, index) for index in range(2)]
    flow.about(frozenset(), ["orderId"])
    needed = [flow.key_odds(source, index) for index in range(2)]
    assert [round(new - old, 6) for new, old in zip(needed, plain, strict=True)] == [WORTH.key_needed, 0.0]


def _kept(tools):
    """How many codes of each sort are left of a list that is cut to a third."""
    sorts = {"shelf_code": "sh-4", "rack_code": "ra-5", "bin_code": "bi-6", "shipment_code": "zk-7"}
    rows = [{key: f"{start}{100 + n}-b" for key, start in sorts.items()} for n in range(60)]
    call = {"id": "c1", "type": "function", "function": {"name": "list_stock", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "What is in the hall?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(rows)},
        {"role": "assistant", "content": "I have the list."},
        {"role": "user", "content": "Go on."},
    ]
    sent = json.dumps(Session(Policy(budget=1_300)).fit(messages, tools=tools).messages)
    return {key: sent.count(start) for key, start in sorts.items()}


def test_what_a_declared_tool_takes_is_kept_first():
    schema = {"type": "object", "properties": {"shipmentCode": {"type": "string"}}}
    told = _kept([{"type": "function", "function": {"name": "track", "parameters": schema}}])
    untold = _kept(None)
    assert told["shipment_code"] == max(told.values())
    assert told["shipment_code"] > 3 * untold["shipment_code"]


@pytest.mark.parametrize(
    ("key", "argument"),
    [
        ("nextCursor", "cursor"),
        ("next_cursor", "cursor"),
        ("nextPageToken", "pageToken"),
        ("endCursor", "after"),
        ("NextToken", "NextToken"),
        ("LastEvaluatedKey", "ExclusiveStartKey"),
        ("NextMarker", "Marker"),
        ("continuationToken", "continuation_token"),
        ("last_id", "starting_after"),
        ("next", "cursor"),
    ],
)
def test_the_place_of_the_next_page_is_of_the_kind_that_its_argument_is(key, argument):
    assert kind(argument) in kinds_of("page", key)


@pytest.mark.parametrize("key", ["token", "start_offset", "last_name", "end_date", "next_steps", "key", "page"])
def test_other_leaves_are_no_place_of_a_page(key):
    assert "cursor" not in kinds_of("page", key)


@pytest.mark.parametrize(
    ("key", "argument"), [("nextCursor", "cursor"), ("nextPageToken", "pageToken"), ("endCursor", "after")]
)
@pytest.mark.parametrize("budget", [300, 500, 800])
def test_the_place_of_the_next_page_stays_in_a_cut_result(key, argument, budget):
    schema = {"type": "object", "properties": {argument: {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "list_invoices", "description": "List", "parameters": schema}}
    page = {"items": [{"id": f"inv_{at:04}", "cents": at} for at in range(120)], key: "tok_ABC123"}
    call = {"id": "l", "type": "function", "function": {"name": "list_invoices", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "List the invoices page by page."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "l", "content": json.dumps(page)},
        {"role": "user", "content": "Next page please."},
    ]
    fitted = fit(history, tools=[tool], budget=budget, counter="o200k")
    assert "tok_ABC123" in fitted.messages[2]["content"]
