"""Ids of calls, where a framework leaves them out or repeats them."""

from __future__ import annotations

from jettison.integrations.calls import CallIds


def test_ids_of_its_own_are_kept() -> None:
    ids = CallIds()
    assert ids.calls([("a", "look"), ("b", "look")]) == ["a", "b"]
    assert [ids.answer("b"), ids.answer("a")] == ["b", "a"]
    assert ids.calls([("a", "look")]) == ["a"]  # in another turn it may come again


def test_missing_ids_are_made_up_and_answered_by_tool_and_in_order() -> None:
    ids = CallIds()
    assert ids.calls([(None, "look"), ("", "find"), (None, "look")]) == ["call_1_0", "call_1_1", "call_1_2"]
    assert ids.answer(None, "find") == "call_1_1"
    assert [ids.answer("look"), ids.answer(None)] == ["call_1_0", "call_1_2"]  # the tool's name for an id


def test_one_id_for_two_calls_of_a_turn() -> None:
    ids = CallIds()
    assert ids.calls([("x", "look"), ("x", "look")]) == ["x", "call_1_1"]
    assert [ids.answer("x"), ids.answer("x")] == ["x", "call_1_1"]


def test_a_result_of_no_call_keeps_its_id() -> None:
    ids = CallIds()
    ids.calls([("a", "look")])
    assert ids.answer("z", "find") == "z"
    assert [ids.answer("a"), ids.answer("a", "look"), ids.answer(None, "look")] == ["a", "a", "look"]
