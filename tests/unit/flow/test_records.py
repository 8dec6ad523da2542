"""Records of a JSON result: what each is known by, and what it says of its state."""

import json

import pytest

from jettison.flow.records import LONGEST_JSON, prose_of, statements
from jettison.flow.status_words import State


def told(value):
    return [(one.state, one.handle) for one in statements(json.dumps(value, ensure_ascii=False)) or ()]


@pytest.mark.parametrize(
    ("record", "handle"),
    [
        ({"order_id": "ORD-1", "ticket": "RF-1", "status": "pending"}, "RF-1"),
        ({"region": "eu-west-1", "ip": "10.0.0.12", "pod": "web-7f9c", "status": "pending"}, "web-7f9c"),
        ({"created_at": "2024-05-01", "size": "10mb", "version": "v1.2.3", "status": "pending"}, ""),
        ({"note": "see exp-1 for more", "status": "pending"}, ""),
        ({"name": "My export", "uuid": "a-17", "status": "pending"}, "a-17"),
    ],
)
def test_work_comes_before_things_and_neither_is_a_date_or_a_place(record, handle):
    assert told(record) == [(State.OPEN, handle)]


def test_each_record_speaks_for_itself_and_an_envelope_for_none():
    assert told({"status": "success", "data": {"progress": 40}}) == [(State.ENVELOPE, ""), (State.STARTED, "")]
    jobs = [{"id": "j-1", "state": "done"}, {"id": "j-2", "state": "running"}]
    assert told({"jobs": jobs}) == [(State.DONE, "j-1"), (State.OPEN, "j-2")]
    assert told({"status": "done", "job": {"id": "j-1"}}) == [(State.DONE, "j-1")]
    assert told({"id": "j-1", "run": {"status": "done"}}) == [(State.DONE, "j-1")]


def test_a_content_part_is_read_through_and_no_json_is_none():
    inner = json.dumps({"ticket": "exp-1", "status": "queued"})
    assert told([{"type": "text", "text": inner}]) == [(State.OPEN, "exp-1")]
    assert statements("{broken") is None
    assert statements(json.dumps({"status": "queued", "x": "y" * LONGEST_JSON})) == ()


def test_deep_nesting_ends():
    value = {"status": "queued"}
    for _ in range(300):
        value = {"data": value}
    assert told(value) == []


def test_what_a_record_says_in_words():
    assert prose_of('{"ok": true, "message": "Export exp-1 is queued"}') == "Export exp-1 is queued"
    assert prose_of('{"message": "ok", "log": "a b"}') == ""
    assert prose_of('["a b"]') == ""
