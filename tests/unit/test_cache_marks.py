"""Cache marks: kept, moved, limited, and no reason to take a history for another one."""

import copy
import json

import pytest

from jettison import InvalidInput, Policy, Session
from jettison.wire.anthropic import Anthropic
from jettison.wire.marks import limited, marked, marks_in, unmarked

MARK = {"type": "ephemeral"}
SYSTEM = [{"type": "text", "text": "You read pages.", "cache_control": MARK}]


def pages(turns, thinking=False):
    out = [{"role": "user", "content": [{"type": "text", "text": "Read all pages."}]}]
    for turn in range(turns):
        text = "\n".join(f"row {n} says {(turn + 1) * n * 7919}" for n in range(40))
        use = {"type": "tool_use", "id": f"c{turn}", "name": "page", "input": {"n": turn}}
        think = [{"type": "thinking", "thinking": "Next page.", "signature": f"s{turn}"}] * thinking
        out.append({"role": "assistant", "content": [*think, use]})
        out.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{turn}", "content": text}]})
    return out


def with_marks(messages, *places):
    out = copy.deepcopy(messages)
    for at in places:
        out[at]["content"][-1]["cache_control"] = MARK
    return out


def places(messages):
    return [at for at, message in enumerate(messages) if marks_in(message)]


def test_callers_move_their_marks_and_it_stays_the_same_history():
    """As agents do: a mark on the last message and one on the last of the call before."""
    moved = Session(Policy(budget=2_500), wire="anthropic")
    plain = Session(Policy(budget=2_500), wire="anthropic")
    messages, epochs, before = pages(14), 0, []
    for turn in range(1, 15):
        at = 2 * turn + 1
        given = with_marks(messages[:at], *{at - 1, max(0, at - 3)})
        one, two = moved.fit(given, system=SYSTEM), plain.fit(messages[:at], system=SYSTEM)
        assert list(map(unmarked, one.messages)) == two.messages
        assert one.report.to_dict() == two.report.to_dict()
        assert 1 <= marks_in(one.messages) <= 2
        assert marks_in(one.messages[-1]) == 1
        epochs += two.report.cache.epoch != "none"
        if two.report.cache.first_changed is None:
            assert list(map(unmarked, one.messages))[: len(before)] == before
        before = list(map(unmarked, one.messages))
    assert epochs >= 3


def test_a_mark_of_a_message_that_was_cut_is_on_what_is_left_of_it():
    messages = with_marks(pages(8), 4, 6)
    fitted = Session(Policy(budget=1_800), wire="anthropic").fit(messages)
    assert json.dumps(fitted.messages) != json.dumps(messages)
    assert marks_in(fitted.messages) <= 2
    assert not [p for p in Anthropic().check(fitted.messages, system=None) if "mark" in p.rule]


def asked(turns):
    """A goal, then short questions with long answers: where answers go, the user's messages are joined."""
    out = [{"role": "user", "content": "Fix the drain. " + "Look at all of the queues. " * 4}]
    for turn in range(turns):
        out.append({"role": "assistant", "content": f"Answer {turn}: " + "what was found in the queue, " * 12})
        out.append({"role": "user", "content": [{"type": "text", "text": f"Question {turn}?"}]})
    return out


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("budget", [200, 230, 260, 300, 400])
def test_a_mark_stays_where_messages_were_joined(budget, loaded):
    """Of those that became one message the newest one's, on the last block, for as long as the caller has it there."""
    session = Session(Policy(budget=budget, on_unsafe="degrade"), wire="anthropic", model="claude-opus-4-1")
    messages, joined = asked(12), 0
    for end in range(15, len(messages) + 1, 2):
        given = with_marks(messages[:end], end - 1, end - 3)
        fitted = session.fit(given)
        last = fitted.messages[-1]
        assert last["content"][-1] == given[-1]["content"][-1]
        assert "cache_control" in last["content"][-1]
        joined += len(fitted.sources) < 3
        before = [message for message in fitted.messages[:-1] if given[end - 3]["content"][0]["text"] in str(message)]
        assert all(marks_in(message) == 1 for message in before)
        assert marks_in(fitted.messages) == 1 + len(before)
        assert not [p for p in Anthropic().check(fitted.messages, system=None) if p.kind == "structure"]
        if loaded:
            session = Session.load(session.save(), session.policy)
    assert joined or budget == 400


def test_too_many_are_an_error_or_the_oldest_are_taken_off():
    messages = with_marks(pages(6), 2, 4, 6, 8, 10)
    tools = [{"name": "page", "description": "A page.", "input_schema": {"type": "object"}, "cache_control": MARK}]
    with pytest.raises(InvalidInput, match="at most 4 cache_control"):
        Session(50_000, wire="anthropic").fit(messages, system=SYSTEM)
    with pytest.raises(InvalidInput, match="tools, system and messages, here are 5"):
        Session(50_000, wire="anthropic").fit(with_marks(pages(6), 2, 4, 6), system=SYSTEM, tools=tools)
    fitted = Session(50_000, wire="anthropic").fit(messages, system=SYSTEM, tools=tools, repair=True)
    assert places(fitted.messages) == [8, 10]
    assert fitted.report.repaired == ("3 cache marks taken off, the oldest: 2 are left for the messages",)
    body = {"model": "claude-sonnet-4-5", "messages": messages, "system": SYSTEM, "tools": tools, "cache_control": MARK}
    whole = Session(50_000, wire="anthropic").fit_request(body, repair=True)
    assert places(whole["messages"]) == [10]


@pytest.mark.parametrize("thinking", [False, True])
def test_placed_they_are_at_the_end_at_the_settled_border_and_where_the_last_request_ended(thinking):
    session = Session(Policy(budget=2_500, place_cache_marks=True), wire="anthropic", model="claude-sonnet-4-5")
    plain = Session(Policy(budget=2_500), wire="anthropic", model="claude-sonnet-4-5")
    messages, last, settled = pages(14, thinking), 0, 0
    for turn in range(1, 15):
        given = with_marks(messages[: 2 * turn + 1], 0, 2)
        fitted = session.fit(given, system=SYSTEM)
        want = plain.fit(messages[: 2 * turn + 1], system=SYSTEM)
        assert list(map(unmarked, fitted.messages)) == want.messages
        found = places(fitted.messages)
        assert found[-1] == len(fitted.messages) - 1
        assert len(found) <= 3
        assert not [p for p in Anthropic().check(fitted.messages, system=SYSTEM) if p.kind == "structure"]
        if want.report.cache.first_changed is None and last:
            assert last - 1 in found
        settled += len(found) == 3
        last = len(fitted.messages)
    assert settled >= 3 or thinking  # of a running turn with thinking nothing is settled
    assert not places(messages)


def test_placed_they_leave_room_for_those_of_system_and_tools():
    tools = [{"name": f"t{n}", "input_schema": {"type": "object"}, "cache_control": MARK} for n in range(3)]
    session = Session(Policy(budget=50_000, place_cache_marks=True), wire="anthropic")
    fitted = session.fit(with_marks(pages(6), 2, 4, 6, 8, 10), system=SYSTEM, tools=tools)
    assert places(fitted.messages) == []
    one = session.fit(pages(6), system=SYSTEM, tools=tools[:2])
    assert places(one.messages) == [12]


def test_on_a_wire_without_marks_nothing_is_placed():
    messages = [{"role": "user", "content": "Go on."}]
    assert Session(Policy(budget=500, place_cache_marks=True)).fit(messages).messages == messages


def test_where_a_mark_may_be():
    think = {"type": "thinking", "thinking": "x", "signature": "s"}
    assert marked({"role": "assistant", "content": [think]}, MARK) is None
    assert marked({"role": "user", "content": " "}, MARK) is None
    text = {"role": "user", "content": "Hello."}
    block = {"type": "text", "text": "Hello.", "cache_control": MARK}
    assert marked(text, MARK) == {"role": "user", "content": [block]}
    assert unmarked(text) is text
    nested = {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c",
                "content": [{"type": "text", "text": "x", "cache_control": MARK}],
            }
        ],
    }
    assert marks_in(nested) == 1
    assert marks_in(unmarked(nested)) == 0
    assert limited([nested, nested], 1)[1] is nested
    assert marks_in(limited([nested, nested], 1)) == 1


def test_marks_of_the_system_field_and_tools_alone_can_be_too_many():
    mark = {"type": "ephemeral"}
    tools = [
        {"name": f"t{n}", "description": "d", "input_schema": {"type": "object"}, "cache_control": mark}
        for n in range(3)
    ]
    system = [{"type": "text", "text": text, "cache_control": mark} for text in "AB"]
    for placed in (False, True):
        session = Session(Policy(budget=2_000, place_cache_marks=placed), wire="anthropic")
        with pytest.raises(InvalidInput, match="at most 4 cache_control marks"):
            session.fit([{"role": "user", "content": "hi"}], system=system, tools=tools)


def in_block(message, mark=None):
    """The message with its text as the one block that it stands for, as Anthropic's own examples hang a mark on it."""
    block = {"type": "text", "text": message["content"], **({"cache_control": mark} if mark else {})}
    return {**message, "content": [block]}


def talk(rounds, size=40):
    for at in range(rounds):
        yield {"role": "user", "content": f"Question {at}: " + "what of the import " * size}
        yield {"role": "assistant", "content": f"Answer {at}: " + "it is on its way " * size}


@pytest.mark.parametrize("kept", ["live", "loaded"])
@pytest.mark.parametrize("budget", [100_000, 1_500])
def test_a_text_that_becomes_a_block_for_its_mark_and_back_is_the_same_history(kept, budget):
    """The newest message of the user comes as a block with the mark, at the next call as the text that it was."""
    marked, plain = (Session(budget, wire="anthropic", conversation="chat") for _ in range(2))
    every, sent = list(talk(12)), []
    for end in range(1, len(every), 2):
        known = [*every[: end - 1], in_block(every[end - 1], MARK)]
        if kept == "loaded":
            marked = Session.load(marked.save(), budget)
        fitted, other = marked.fit(known), plain.fit(every[:end])
        cache = fitted.report.cache
        assert (cache.epoch, cache.first_changed, cache.rebilled) == (
            other.report.cache.epoch,
            other.report.cache.first_changed,
            other.report.cache.rebilled,
        )
        assert json.dumps(MARK) in json.dumps(fitted.messages[-1])
        assert [*fitted.messages[:-1]] == other.messages[:-1]
        sent.append(cache.epoch)
    assert ("major" in sent) == (budget == 1_500)


def test_a_block_with_more_in_it_is_another_message():
    first = {"role": "user", "content": "Look at the import."}
    for block in ({"citations": []}, {"text": "Look at the import!"}):
        session = Session(10_000, wire="anthropic")
        session.fit([first])
        other = {"role": "user", "content": [{"type": "text", "text": first["content"], **block}]}
        assert session.fit([other]).report.cache.first_changed == 0
