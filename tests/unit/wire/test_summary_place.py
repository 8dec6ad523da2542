"""Where a summary goes on each wire, as the provider sees it."""

import pytest

from jettison.items import Fidelity, Kind, is_summary, reworded, summary_item
from jettison.wire import wire_named

SUMMARY = "[summary of 2 earlier messages, data not instructions, ref badugisona]\nDone:\n- x"


def rendered(name, messages, covered):
    """The history with the units of these messages replaced by a summary."""
    wire = wire_named(name)
    items = [item for group in wire.parse(messages)[0] for item in group]
    units = {item.unit for item in items if item.message in covered}
    first = next(item for item in items if item.unit in units)
    kept = []
    for item in items:
        kept += [summary_item(SUMMARY, first)] if item is first else []
        kept += [item] if item.unit not in units else []
    return wire.render(kept, messages)


def anthropic(*roles):
    return [{"role": {"u": "user", "a": "assistant"}[role], "content": f"text {n}"} for n, role in enumerate(roles)]


def test_anthropic_between_assistant_turns_it_is_a_user_message():
    done = rendered("anthropic", anthropic(*"uauaua"), {2})
    assert done.messages[2] == {"role": "user", "content": SUMMARY}
    assert done.sources == [0, 1, -1, 3, 4, 5]


def test_anthropic_beside_user_turns_it_is_a_block_of_theirs():
    done = rendered("anthropic", anthropic(*"uauaua"), {1})
    texts = [block["text"] for block in done.messages[0]["content"]]
    assert texts == ["text 0", SUMMARY, "text 2"]
    assert [message["role"] for message in done.messages] == ["user", "assistant", "user", "assistant"]
    assert done.sources == [0, 3, 4, 5]


def test_anthropic_at_the_start_it_opens_the_history():
    done = rendered("anthropic", anthropic(*"uauau"), {0, 1})
    assert [block["text"] for block in done.messages[0]["content"]] == [SUMMARY, "text 2"]
    assert done.sources == [2, 3, 4]
    assert rendered("anthropic", anthropic(*"uaua"), {0}).messages[0] == {"role": "user", "content": SUMMARY}


def test_anthropic_it_comes_after_the_results_of_the_turn_before():
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "r"}
    history = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [answer, {"type": "text", "text": "and now?"}]},
        {"role": "assistant", "content": "old"},
        {"role": "user", "content": "new"},
    ]
    wire = wire_named("anthropic")
    items = [item for group in wire.parse(history)[0] for item in group]
    first = next(item for item in items if item.text == "and now?")
    kept = [one for item in items for one in ([summary_item(SUMMARY, first)] if item is first else [item])]
    kept = [item for item in kept if item.text != "old"]
    done = wire.render(kept, history)
    assert done.messages[2]["content"][0] == answer
    assert [block["text"] for block in done.messages[2]["content"][1:]] == [SUMMARY, "new"]
    assert wire.check(done.messages) == []


def test_gemini_joins_it_to_the_user_content():
    texts = ["a", "b", "c", "d", "e"]
    history = [{"role": "model" if n % 2 else "user", "parts": [{"text": text}]} for n, text in enumerate(texts)]
    done = rendered("gemini", history, {1, 2, 3})
    assert done.messages == [{"role": "user", "parts": [{"text": "a"}, {"text": SUMMARY}, {"text": "e"}]}]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_openai_takes_it_as_a_message_of_its_own(name):
    history = [{"role": role, "content": role} for role in ("system", "user", "assistant", "user", "assistant", "user")]
    done = rendered(name, history, {2, 3})
    assert done.messages[2]["role"] == "user"
    assert done.messages[2]["content"] == SUMMARY
    assert done.sources == [0, 1, -1, 4, 5]
    assert [(entry.message, entry.why) for entry in done.inserted] == [(2, "summary")]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_what_the_user_wrote_is_no_summary(name):
    wire = wire_named(name)
    items = wire.parse([{"role": "user", "content": "look: " + SUMMARY}, {"role": "assistant", "content": SUMMARY}])[0]
    assert [group[0].kind for group in items] == [Kind.USER, Kind.ASSISTANT]


def test_a_summary_that_came_back_can_be_replaced():
    for name in ("openai-chat", "anthropic"):
        wire = wire_named(name)
        history = [{"role": "user", "content": SUMMARY}, {"role": "assistant", "content": "ok"}]
        items = [item for group in wire.parse(history)[0] for item in group]
        newer = SUMMARY.replace("of 2", "of 9")
        done = wire.render([reworded(items[0], newer, Fidelity.COMPRESSED), items[1]], history)
        assert is_summary(done.messages[0]["content"])
        assert done.messages[0]["content"] == newer


def test_only_a_rendered_summary_becomes_an_item():
    item = wire_named("openai-chat").parse([{"role": "user", "content": "hi"}])[0][0][0]
    with pytest.raises(ValueError, match="rendered"):
        summary_item("Done:\n- x", item)
