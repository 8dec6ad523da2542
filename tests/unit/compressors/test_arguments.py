"""Clipped arguments: the shape stays, long strings are cut and marked."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.arguments import KEPT, LONG, clip

HANDLE = "badugisona"
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=2 * LONG),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def test_a_long_string_keeps_its_beginning_and_says_what_was_cut():
    source = json.dumps({"path": "src/app.py", "content": "x = 1\n" * 200, "overwrite": True})
    assert json.loads(clip(source, HANDLE)) == {
        "path": "src/app.py",
        "content": ("x = 1\n" * 200)[:KEPT] + f"… [cut {1_200 - KEPT} characters, ref {HANDLE}]",
        "overwrite": True,
    }


def test_what_is_short_or_no_object_is_left_alone():
    assert clip(json.dumps({"query": "x" * LONG}), HANDLE) is None
    assert clip("ls -la " * 100, HANDLE) is None
    assert clip('{"content": "' + "x" * 900, HANDLE) is None
    assert clip(json.dumps(["x" * 900]), HANDLE) is None


def test_no_grapheme_is_torn():
    family = "👩‍👩‍👧‍👦" * 200
    assert json.loads(clip(json.dumps({"text": family}), HANDLE))["text"].split("…")[0].count("👩‍👩‍👧‍👦") * 7 <= KEPT
    kept = json.loads(clip(json.dumps({"text": family}), HANDLE))["text"].split("…")[0]
    assert family.startswith(kept)
    assert len(kept) % len("👩‍👩‍👧‍👦") == 0


@given(st.dictionaries(st.text(max_size=8), values, max_size=5))
def test_shape_and_short_values_stay_and_twice_is_once(arguments):
    source = json.dumps(arguments)
    short = clip(source, HANDLE)
    if short is not None:
        assert len(short) < len(source)
        assert [*json.loads(short)] == [*arguments]
        assert clip(short, HANDLE) is None

        def agree(old, new):
            if isinstance(old, str) and len(old) > LONG:
                assert new.endswith(f"characters, ref {HANDLE}]")
            elif isinstance(old, dict):
                assert [*old] == [*new]
                for key in old:
                    agree(old[key], new[key])
            elif isinstance(old, list):
                for one, other in zip(old, new, strict=True):
                    agree(one, other)
            else:
                assert old == new

        agree(arguments, json.loads(short))
