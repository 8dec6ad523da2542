"""Shrink: any text to about a target, the kept spans verbatim, gaps marked, nothing longer than it was."""

import json
import random
import re

import pytest
from bench.compressors import ADVERSARIAL, INPUTS
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.cut import is_synthetic
from jettison.compressors.kinds import OUTLINERS, outline_of
from jettison.compressors.shrink import shrink
from jettison.compressors.tabular import restore
from jettison.flow.segments import as_lines, segment
from jettison.protocols import Compressor
from strategies import law

lines = st.sampled_from(
    [
        "2026-11-30T05:00:01Z INFO job 17 done",
        "2026-11-30T05:00:02Z ERROR job 18 failed",
        "Traceback (most recent call last):",
        '  File "/app/a.py", line 3, in f',
        "    call()",
        "ValueError: 7",
        "Caused by: java.io.IOException: x",
        "\tat a.b.C.d(C.java:7)",
        "goroutine 1 [running]:",
        "thread 'main' panicked at a.rs:1:2:",
        "a,b,c",
        "1,2,3",
        "| a | b |",
        "|---|---|",
        "NAME   READY   AGE",
        "",
        "   ",
        "Итого,1,2",
        "prose of a sentence or two. " * 12,
        '{"ts": 1, "level": "error"}',
        "👩‍💻 ошибка",
        "\r",
        "\u0130İ error",
    ]
)
documents = st.lists(lines | st.text(max_size=40), max_size=60).map("\n".join)
leaves = st.none() | st.integers() | st.text(max_size=60) | documents | st.sampled_from(["failed", "active", ""])
objects = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=12) | st.dictionaries(st.sampled_from(["id", "a", "status"]) | st.text(), inner)
    ),
    max_leaves=40,
)
texts = documents | objects.map(json.dumps) | st.text(max_size=400)


@given(texts, st.integers(0, 600))
@law(400)
def test_never_longer_and_never_in_between(text, target):
    short = shrink(text, target)
    assert short == text or len(short) < len(text)
    if len(text) <= target:
        assert short == text


@given(st.data(), texts, st.integers(0, 600))
@law(400)
def test_spans_to_keep_stand_verbatim(data, text, target):
    bounds = data.draw(st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, len(text))), max_size=3))
    keep = [(min(pair), max(pair)) for pair in bounds]
    short = shrink(text, target, keep)
    assert all(text[start:end] in short for start, end in keep)


@given(texts)
@law(400)
def test_every_outline_fits_its_text(text):
    for parts in (segment(text), as_lines(text)):
        for outliner in (*OUTLINERS, outline_of):
            found = outliner(parts)
            if found is None:
                continue
            size = len(parts.segments)
            assert len(found.weight) == size
            assert all(0 <= weight <= 1 for weight in found.weight)
            for one, other in (*found.label.items(), *found.near.items()):
                assert 0 <= one < size
                assert 0 <= other < size
                assert one != other
            if found.about is not None:
                assert isinstance(found.about(range(size)), str)
                assert "\n" not in found.about(range(0, size, 2))


@given(texts, st.integers(100, 400))
@law(200)
def test_what_was_cut_is_not_cut_again(text, target):
    short = shrink(text, target)
    if short != text and is_synthetic(short):
        assert shrink(short, 50) == short


def test_it_is_a_compressor():
    assert isinstance(shrink, type(lambda: 0))
    typed: Compressor = shrink
    assert typed("short", 100) == "short"


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("share", [0.5, 0.25, 0.1, 0.02])
def test_levels_are_targets(name, share):
    text = INPUTS[name](60_000)
    target = int(share * len(text))
    assert 0.5 * target <= len(shrink(text, target)) <= 1.1 * target


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_a_megabyte_of_anything(name):
    text = ADVERSARIAL[name](1_000_000)
    short = shrink(text, 20_000)
    assert len(short) <= 22_000 or short == text


def test_two_hundred_thousand_short_lines():
    text = "\n".join(str(n) for n in range(200_000))
    assert len(shrink(text, 10_000)) <= 11_000


def test_json_that_fits_without_loss_stays_json():
    rows = [{"id": n, "name": f"user {n}"} for n in range(50)]
    text = json.dumps(rows, indent=4)
    assert json.loads(shrink(text, len(json.dumps(rows)))) == rows
    assert json.loads(restore(shrink(text, 1_200))) == rows


def test_cut_json_says_so_in_its_first_line():
    rows = [{"id": n, "name": f"user {n}", "status": "active"} for n in range(300)]
    rows[77]["status"] = "failed"
    first, *rest = shrink(json.dumps(rows), 900).split("\n")
    assert re.match(r"\[partial \d+/900 fields\] json: \d+ of 300 records like \[\*\] cut, 1 of 1 unusual", first)
    assert any('"id":77,' in line and '"status":"failed"' in line for line in rest)


def test_a_log_inside_json_is_read_as_a_log():
    dice = random.Random(5)
    rows = [f"2026-11-30T05:00:{n % 60:02d}Z INFO job {dice.randint(1, 9999)} done" for n in range(400)]
    rows[222] = "2026-11-30T05:00:42Z ERROR job 7 lost its lease"
    short = shrink(json.dumps({"exit_code": 0, "stdout": "\n".join(rows)}), 1_500)
    assert "\n".join(rows[220:225]) in short
    assert "1 of 1 errors and warnings kept" in short
    assert '"exit_code":0' in short


def test_a_span_of_json_syntax_is_kept_in_a_cut_of_lines():
    rows = [{"id": n, "name": f"user {n}"} for n in range(200)]
    text = json.dumps(rows, indent=1)
    start = text.index('"id": 77')
    short = shrink(text, 600, [(start, start + 30)])
    assert text[start : start + 30] in short
    assert len(short) < 700


def test_a_row_brings_its_header():
    text = INPUTS["CSV"](30_000)
    row = text.index("\n500,") + 1
    short = shrink(text, 300, [(row, row + 8)])
    assert "id,name,amount,city" in short
