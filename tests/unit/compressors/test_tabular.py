"""Compact JSON is the same JSON: equal data, equal literals, and only where it is worth it."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.tabular import compact, minified, restore
from strategies import law

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30)
)
flat = st.dictionaries(st.text(max_size=5), scalars, max_size=4)
uniform = st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True).flatmap(
    lambda keys: st.lists(st.fixed_dictionaries(dict.fromkeys(keys, scalars)), min_size=2, max_size=8)
)
values = st.recursive(
    scalars | uniform, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=20
)


def read(text):
    """Data with the literals of its numbers: `1.0` is not `1`."""
    return json.loads(text, parse_int=lambda digits: ("int", digits), parse_float=lambda digits: ("float", digits))


@given(st.lists(values | flat, min_size=1, max_size=5), st.sampled_from([None, 1, 4]), st.booleans())
@law(300)
def test_compact_is_lossless(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    short = compact(text)
    if short is not None:
        assert len(short) <= 0.92 * len(text)
        assert read(restore(short)) == read(text)
        json.loads(short)


@given(st.text(max_size=200))
@law(200)
def test_any_text_is_taken(text):
    short = compact(text)
    assert short is None or read(restore(short)) == read(text)


@given(st.lists(values, min_size=1, max_size=5))
@law(100)
def test_minified_changes_white_space_only(value):
    text = json.dumps(value, indent=3)
    assert minified(text) == json.dumps(value, separators=(",", ":"))


def test_uniform_records_become_one_header_and_rows():
    rows = [{"id": n, "name": f"user {n}", "on": n % 2 == 0} for n in range(3)]
    assert compact(json.dumps({"items": rows})) == (
        '{"items":{"columns":["id","name","on"],"rows":[[0,"user 0",true],[1,"user 1",false],[2,"user 2",true]]}}'
    )


@pytest.mark.parametrize(
    "literal", ["1.0", "1", "1e400", "-0", "-0.0", "12345678901234567890123456789", "1E5", "0.1000"]
)
def test_literals_of_numbers_stay(literal):
    text = "[" + ", ".join(f'{{"a key": {literal}, "b": "x"}}' for _ in range(5)) + "]"
    short = compact(text)
    assert short.count(f"[{literal},") == 5
    assert read(restore(short)) == read(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        '"a string"',
        "[1,2",
        '{"a":1,"a":2,          "b":3}',
        '{"columns":["a"],       "rows":[[1]]}',
        '{"short":"already"}',
        "[" * 100_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000,
    ],
)
def test_what_cannot_be_won_is_refused(text):
    assert compact(text) is None


def test_half_a_surrogate_stays_escaped():
    text = json.dumps([{"name": "\ud83d", "b": 1}] * 5)
    assert compact(text).encode()
    assert read(restore(compact(text))) == read(text)


def test_decimals_survive():
    text = json.dumps([{"amount": 0.1, "of": n} for n in range(9)], indent=2)
    assert json.loads(restore(compact(text)), parse_float=Decimal)[0]["amount"] == Decimal("0.1")
