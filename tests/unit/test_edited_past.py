"""The caller edits an earlier message: reasoning that was thought behind it is void where the model checks that."""

import json

import pytest

from jettison import Policy, Session

BINDS, LAX = "claude-fable-5-1", "claude-opus-4-1"


def thought(name):
    return {"type": "thinking", "thinking": "t", "signature": f"sig-{name}"}


def answer(name, *blocks):
    return {"role": "assistant", "content": [thought(name), *(blocks or [{"type": "text", "text": f"said {name}"}])]}


def user(text):
    return {"role": "user", "content": text}


def call(name):
    return {"type": "tool_use", "id": f"t-{name}", "name": "run", "input": {"cmd": name}}


def result(name):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t-{name}", "content": "ok"}]}


TALK = [user("Find A."), answer("a"), user("And?"), answer("b"), user("Now?")]


def signatures(fitted):
    return [name for name in "abcd" if f"sig-{name}" in json.dumps(fitted.messages)]


def stepped(model, history, kept=None, **policy):
    """A session that was asked at each turn of the user; saved and loaded before the last call where `kept` says so."""
    session = Session(Policy(budget=5_000, **policy), wire="anthropic", model=model)
    for end in range(1, len(history) + 1):
        if history[end - 1]["role"] == "user":
            session.fit(history[:end])
    return Session.load(session.save(), Policy(budget=5_000, **policy)) if kept == "loaded" else session


@pytest.mark.parametrize("kept", ["live", "loaded"])
@pytest.mark.parametrize("at", [0, 2])
def test_void_reasoning_of_finished_turns_goes_and_is_counted(kept, at):
    session = stepped(BINDS, TALK, kept)
    edited = [*TALK[:at], user("Something else."), *TALK[at + 1 :]]
    fitted = session.fit(edited)
    gone = 2 if at == 0 else 1
    assert signatures(fitted) == ["a", "b"][: 2 - gone]
    assert fitted.report.cache.reasoning_lost == gone
    assert fitted.report.cache.first_changed <= at
    further = session.fit([*edited, answer("c"), user("Go on.")])
    assert "c" in signatures(further)
    assert further.report.cache.reasoning_lost == 0


def test_where_nothing_is_checked_all_stays():
    for model, policy in ((LAX, {}), (BINDS, {"reasoning_drop": True})):
        fitted = stepped(model, TALK, **policy).fit([user("Find B."), *TALK[1:]])
        assert signatures(fitted) == ["a", "b"]


def test_what_a_branch_thought_itself_stays():
    session = stepped(BINDS, TALK)
    branch = [*TALK[:2], user("Rather this."), answer("c"), user("Now?")]
    fitted = session.fit(branch)
    assert signatures(fitted) == ["a", "c"]
    assert fitted.report.cache.reasoning_lost == 0


@pytest.mark.parametrize("kept", ["live", "loaded"])
def test_in_the_running_turn_it_goes_back_with_a_note_and_goes_when_the_turn_has_ended(kept):
    running = [*TALK[:3], answer("b", call("b")), result("b")]
    session = stepped(BINDS, running, kept)
    edited = [user("Find B."), *running[1:]]
    fitted = session.fit(edited)
    assert signatures(fitted) == ["b"]
    assert fitted.report.cache.reasoning_lost == 1  # the other goes back, as the note says
    assert any("running turn was changed" in note for note in fitted.report.notes)
    ended = session.fit([*edited, answer("c"), user("Next.")])
    assert signatures(ended) == ["c"]
    assert not any("running turn was changed" in note for note in ended.report.notes)
