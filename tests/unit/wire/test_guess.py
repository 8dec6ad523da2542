"""A history in another wire's format is an error that says which wire it looks like, never taken for text."""

import itertools

import pytest

from jettison import fit
from jettison.errors import InvalidInput
from jettison.wire.guess import marked_wire

HISTORIES = {
    "openai-chat": [
        {"role": "user", "content": "Where is ORD-1?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "in Kazan"},
    ],
    "openai-responses": [
        {"role": "user", "content": "Where is ORD-1?"},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "in Kazan"},
    ],
    "anthropic": [
        {"role": "user", "content": "Where is ORD-1?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "in Kazan"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Where is ORD-1?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"place": "Kazan"}}}]},
    ],
}


@pytest.mark.parametrize(("written", "named"), list(itertools.permutations(HISTORIES, 2)))
def test_the_wrong_wire_is_named_with_the_right_one(written, named):
    with pytest.raises(InvalidInput, match=f"looks like a history of the wire '{written}'"):
        fit(HISTORIES[written], budget=5_000, wire=named)


@pytest.mark.parametrize("wire", HISTORIES)
def test_the_right_wire_is_told_by_its_marks(wire):
    assert marked_wire(HISTORIES[wire]) == wire
    assert fit(HISTORIES[wire], budget=5_000, wire=wire).messages == HISTORIES[wire]


def test_text_alone_tells_nothing():
    assert marked_wire([{"role": "user", "content": "hi"}, "what", {"role": "assistant", "content": "yes"}]) is None


def test_blocks_that_a_framework_keeps_beside_the_same_calls_are_no_error():
    """LangChain's messages of an Anthropic model carry its blocks, and the calls."""
    history = [dict(message) for message in HISTORIES["openai-chat"]]
    history[1]["content"] = [{"type": "tool_use", "id": "c1", "name": "find", "input": {}}]
    assert fit(history, budget=5_000).messages == history


def test_repair_is_advised_only_where_it_helps():
    orphan = [*HISTORIES["openai-chat"], {"role": "tool", "tool_call_id": "gone", "content": "what?"}]
    with pytest.raises(InvalidInput, match="pass repair=True"):
        fit(orphan, budget=5_000)
    assert fit(orphan, budget=5_000, repair=True).messages == HISTORIES["openai-chat"]
    for bad in (5, {"role": "judge", "content": "guilty"}, {"role": "user", "content": {"text": "hi"}}):
        with pytest.raises(InvalidInput) as caught:
            fit([*HISTORIES["openai-chat"], bad], budget=5_000)
        assert "repair=True" not in str(caught.value)


def test_a_rule_is_not_worded_as_what_is_wrong():
    with pytest.raises(InvalidInput, match="does not meet the rule `content is not empty`: drop the message"):
        fit([{"role": "user", "content": ""}], budget=5_000)
