"""Input nested too deeply is named; it ends in no RecursionError."""

import asyncio
import sys

import pytest

from jettison import Session, fit
from jettison.errors import InvalidInput

HI = {"role": "user", "content": "Go."}


def deep(levels):
    value = inner = {}
    for _ in range(levels):
        inner["a"] = inner = {}
    return value


def calling(arguments):
    use = {"type": "tool_use", "id": "t", "name": "run", "input": arguments}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    return [HI, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize("levels", [500, 3_000])
@pytest.mark.parametrize("repair", [False, True])
def test_a_tool_input_too_deep_is_named(levels, repair):
    with pytest.raises(InvalidInput, match=r"messages\[1\].*nested") as caught:
        fit(calling(deep(levels)), budget=500, wire="anthropic", repair=repair)
    assert [problem.message for problem in caught.value.problems] == [1]


def test_what_can_be_read_is():
    assert fit(calling(deep(300)), budget=5_000, wire="anthropic").messages == calling(deep(300))


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"tools": [{"name": "run", "input_schema": deep(3_000)}]}, "tools[0]"),
        ({"system": [{"type": "text", "text": "Be brief.", "more": deep(3_000)}]}, "system"),
        ({"response_schema": deep(3_000)}, "response_schema"),
    ],
)
def test_so_is_all_else_that_is_given(given, where):
    with pytest.raises(InvalidInput) as caught:
        fit([HI], budget=5_000, wire="anthropic", **given)
    assert [problem.position for problem in caught.value.problems] == [where]


def test_what_holds_itself_is_too_deep():
    ring = {}
    ring["a"] = ring
    with pytest.raises(InvalidInput, match=r"messages\[1\]"):
        fit(calling(ring), budget=500, wire="anthropic")


def test_the_session_goes_on_after_it():
    session = Session(500, wire="anthropic")
    session.fit([HI])
    with pytest.raises(InvalidInput, match="nested"):
        asyncio.run(session.afit(calling(deep(3_000))))
    assert session.fit(calling({"x": 1})).messages == calling({"x": 1})


def test_a_recursion_of_the_callers_own_is_no_matter_of_input():
    def count(text):
        return count(text)

    with pytest.raises(RecursionError):
        fit([HI], budget=500, counter=count)
    assert sys.getrecursionlimit() >= 1_000
