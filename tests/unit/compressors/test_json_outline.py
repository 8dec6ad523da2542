"""JSON: names before prose, and of many like records the edges and the odd ones."""

import json
import random

import pytest

from jettison.compressors.json import outline
from jettison.flow.segments import segment


def records(count=400):
    dice = random.Random(4)
    return [
        {
            "id": n,
            "name": f"user {n}",
            "status": dice.choice(["active", "idle"]),
            "amount": dice.randint(10, 99) / 10,
            "note": "a remark of some length that nobody will ever need again, but that is stored with every record",
        }
        for n in range(count)
    ]


def weights(value):
    """{(record, key): weight} and the outline."""
    parts = segment(json.dumps(value))
    found = outline(parts)
    assert len(found.weight) == len(parts.segments)
    return {(part.record, part.key): weight for part, weight in zip(parts.segments, found.weight, strict=True)}, found


def test_names_outweigh_values_and_values_outweigh_prose():
    found, _ = weights({"order_id": "A-17", "colour": "green", "empty": None, "text": "prose and more of it " * 8})
    order = [found["", key] for key in ("order_id", "colour", "text", "empty")]
    assert order == sorted(order, reverse=True)
    assert len(set(order)) == 4


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status", "suspended"),
        ("amount", 99_000.0),
        ("amount", "n/a"),
        ("name", None),
        ("status", "failed"),
        ("note", "an error was found here"),
        ("note", "long " * 600),
        ("extra", 1),
        ("status", "ошибка"),
    ],
)
def test_the_odd_record_stands_out(key, value):
    rows = records()
    rows[123][key] = value
    found, view = weights({"items": rows})
    inside = {at: weight for at, weight in found.items() if at[0] == "items[123]"}
    if (("items[123]", key)) in found:
        assert found["items[123]", key] >= 0.8
    assert inside["items[123]", "id"] == 0.9
    assert max(found["items[124]", name] for name in ("id", "status", "amount", "name")) < 0.2
    assert view.about([]) == ""


def test_a_record_that_lacks_a_key_stands_out():
    rows = records()
    del rows[123]["amount"]
    found, _ = weights(rows)
    assert found["[123]", "id"] == 0.9


def test_edges_of_a_list_keep_their_weight():
    found, _ = weights({"items": records()})
    assert [found[f"items[{n}]", "id"] for n in (0, 1, 399)] == [0.6] * 3
    assert found["items[2]", "id"] == 0.15


def test_a_leaf_of_a_list_comes_with_the_name_of_its_record():
    parts = segment(json.dumps(records(20)))
    found = outline(parts)
    for at, label in found.label.items():
        assert parts.segments[label].record == parts.segments[at].record
        assert parts.segments[label].key == "id"
    assert len(found.label) == 4 * 20


def test_lists_of_values_and_lists_inside_records():
    values = [1, 2, 3, 4] * 50
    values[50] = 100_000
    found, view = weights({"ports": values, "pages": [{"rows": records(60)}, {"rows": records(60)}]})
    assert found["ports", "[50]"] >= 0.9
    assert found["ports", "[71]"] == 0.1
    assert [found["ports", f"[{n}]"] for n in (0, 1, 199)] == [0.4] * 3
    assert view.about(range(60, 200)) == "140 of 200 values of ports[*] cut, 1 of 1 unusual kept"
    assert found["pages[1].rows[30]", "id"] == 0.15


def test_what_was_cut_is_told_in_records():
    rows = records()
    rows[123]["status"] = "suspended"
    parts = segment(json.dumps({"total": 400, "items": rows}))
    found = outline(parts)
    cut = [at for at, part in enumerate(parts.segments) if part.record not in ("", "items[0]", "items[123]")]
    assert found.about(cut) == "398 of 400 records like items[*] cut, 1 of 1 unusual kept"


def test_text_is_no_json():
    assert outline(segment("plain text\nof two lines")) is None


def test_records_of_a_thousand_keys_are_read_in_linear_time():
    """Each key is missing once: looking for it in every record would take a thousand times as long."""
    rows = [{f"k{key}": 1 for key in range(1_000) if key != n} for n in range(300)]
    parts = segment(json.dumps(rows))
    found = outline(parts)
    assert found.about(range(len(parts.segments))) == "300 of 300 records like [*] cut, 0 of 300 unusual kept"
