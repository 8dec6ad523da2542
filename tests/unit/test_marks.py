"""Marks of cuts name a handle where the agent has the recall tool, and nowhere else; the cut can be had in any case."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import Policy, Session
from jettison.compressors.arguments import clip
from jettison.compressors.cut import cut, is_synthetic, stub
from jettison.compressors.summary_text import Summary, opened, render
from jettison.errors import CannotFit
from jettison.flow.segments import segment
from jettison.items import is_note, is_summary
from jettison.recall import NAME, recall_answer, recall_tool
from laws.support import session_for, tasks
from strategies import WIRES, law, log_text
from unit.flow.reading import call, join, says, user

HANDLE = re.compile(r"\brefs? [a-z]{10,}")
SCRIPT = "\n".join(f"print('step {n} of the migration')" for n in range(60))


def history(turns=6):
    """Results to cut, one with a long argument of its call, and talk that goes."""
    told = [says(f"Batch {n} stays blue. " + "I go on with the next one. " * 12) + user(f"Yes, {n}.") for n in range(8)]
    turns = [call("read", {"page": n}, log_text(n, 2_500), number=n) for n in range(turns)]
    script = call("write", {"path": "a.py", "text": SCRIPT}, "written", number=90)
    return join(user("Find what went wrong."), *told, script, *turns, says("Read."), user("And?"))


MESSAGES = history()


def fitted(session, messages=MESSAGES, **kwargs):
    done = session.fit(messages, **kwargs)
    assert done.report.cache.epoch in ("minor", "major")
    return done, json.dumps(done.messages, ensure_ascii=False)


def session_with(**settings):
    return Session(Policy(budget=2_000, counter="o200k", **settings))


def test_without_the_recall_tool_no_mark_names_a_handle():
    session = session_with(summarizer="extractive")
    done, text = fitted(session)
    assert "[partial " in text or "[cut " in text
    assert "[summary of " in text
    assert not HANDLE.search(text)
    rows = [row for row in done.report.rows if row.decision in ("compressed", "stub")]
    assert rows
    given = {item.id: item.text for item in session._state.history.items}
    assert all(session.recall(row.handle) == given[row.item] for row in rows)


@pytest.mark.parametrize("name", [NAME, f"mcp__recall__{NAME}", f"recall-{NAME}"])
def test_with_it_all_of_them_do(name):
    tool = recall_tool()
    tool["function"]["name"] = name
    session = session_with(summarizer="extractive")
    _, text = fitted(session, tools=[tool])
    marks = re.findall(r"\[(?:partial|cut|summary of) [^\]\n]*\]", text)
    assert marks
    assert all(HANDLE.search(mark) for mark in marks)
    for mark in marks:
        assert recall_answer(session, {"handle": mark}) == session.recall(HANDLE.search(mark)[0].split()[1])


@pytest.mark.parametrize(("setting", "tools"), [(True, None), (False, [recall_tool()])])
def test_the_policy_can_say_so(setting, tools):
    _, text = fitted(session_with(recall=setting), tools=tools)
    assert bool(HANDLE.search(text)) is setting


def test_a_clipped_argument():
    arguments = json.dumps({"path": "a.py", "text": SCRIPT})
    assert json.loads(clip(arguments, ""))["text"].endswith(" characters]")
    assert json.loads(clip(arguments, "badugisona"))["text"].endswith(" characters, ref badugisona]")


@pytest.mark.parametrize("recall", [False, True])
def test_a_note(recall):
    session = session_with(recall=recall)
    _, text = fitted(session)
    line = next(line for line in log_text(0, 2_500).split("\n") if line not in text)
    session.task.begin("look", needs=[line])
    note = session.fit(MESSAGES).messages[-1]["content"]
    assert is_note(note)
    assert line in note
    assert bool(HANDLE.search(note)) is recall


def test_the_recall_tool_is_not_dropped_as_unused():
    used = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
    spare = {"type": "function", "function": {"name": "spare", "parameters": {"type": "object"}}}
    done, text = fitted(session_with(drop_unused_tools=2), tools=[used, recall_tool(), spare])
    assert HANDLE.search(text)
    assert [tool["function"]["name"] for tool in done.tools] == ["read", NAME]


def test_marks_stay_as_they_are_when_the_tool_comes_later():
    session = session_with()
    first, _ = fitted(session)
    again = session.fit([*MESSAGES, *says("Well."), *user("Go on.")], tools=[recall_tool()])
    if again.report.cache.epoch == "none":
        assert again.messages[: len(first.messages)] == first.messages


@pytest.mark.parametrize("recall", [False, True])
def test_a_session_that_was_saved_goes_on_alike(recall):
    session = session_with(recall=recall, summarizer="extractive")
    before, _ = fitted(session)
    other = Session.load(session.save(), session.policy)
    messages = [*MESSAGES, *says("Well."), *user("Go on.")]
    there, here = other.fit(messages), session.fit(messages)
    assert there.messages == here.messages
    assert here.messages[: len(before.messages)] == before.messages
    for row in here.report.rows:
        assert row.handle is None or other.recall(row.handle) == session.recall(row.handle)


@pytest.mark.parametrize("recall", [False, True])
def test_what_comes_back_is_known_for_what_it_is(recall):
    done, _ = fitted(session_with(recall=recall, summarizer="extractive"))
    again = session_with(recall=recall).fit(done.messages)
    assert again.messages == done.messages
    kinds = {row.kind for row in again.report.rows}
    assert "summary" in kinds


@pytest.mark.parametrize("handle", ["", "badugisona"])
def test_every_mark_is_recognised(handle):
    text = "\n".join(f"line {n}" for n in range(50))
    for mark in (
        stub(812, handle),
        cut(segment(text), {3, 4, 9}, handle),
        cut(segment("word " * 200), {0}, handle),
        cut(segment('[{"a": 1}, {"a": 2}]'), {1}, handle),
    ):
        assert is_synthetic(mark)
        assert ("ref" in mark) is bool(handle)
    summary = render(Summary("Done:\n- x", 3), handle)
    assert is_summary(summary)
    assert opened(summary) == (Summary("Done:\n- x", 3), handle)


@pytest.mark.parametrize("text", ["[cut 5 tokens] of wood", "[cut 5 tokens", "[partial] x", "[cut five tokens]"])
def test_what_only_looks_like_a_mark_is_none(text):
    assert not is_synthetic(text)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@law(15)
def test_on_every_wire_handles_stand_where_the_tool_is(wire, data):
    history, budget = data.draw(tasks(wire))
    with_tool = data.draw(st.booleans())
    tools = [*(history.tools or []), recall_tool(wire)] if with_tool else history.tools
    session = session_for(history, budget + (300 if with_tool else 0))
    try:
        done = session.fit(history.messages, system=history.system, tools=tools)
    except CannotFit:
        return
    inserted = [entry.text for entry in done.report.inserted if entry.why in ("stub", "gap", "summary", "note")]
    named = [text for text in inserted if any(handle in text for handle in session._shelf.texts)]
    assert with_tool or not named
    cuts = [text for text in inserted if is_synthetic(text)]
    assert not with_tool or all(HANDLE.search(text.split("\n")[0]) for text in cuts)
    assert all(session.recall(row.handle) for row in done.report.rows if row.handle)
