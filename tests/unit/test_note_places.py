"""Where a note goes on each wire when no message is new, and beside a summary: as the provider would see it."""

import json

import pytest

from cases.checker import problems
from jettison import Policy, Session, StateBroken
from jettison.items import SUMMARY_SLOT, is_note, is_summary
from jettison.notes import Note, placed
from jettison.summing import Rolling, inserted
from jettison.wire import wire_named
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, Script, log_text

ENDS = ("user", "results", "assistant")
per_wire = pytest.mark.parametrize("wire", WIRES)
per_end = pytest.mark.parametrize("end", ENDS)
MERGES = ("anthropic", "gemini")
"""Two user messages in a row are refused or merged: a note becomes a part of the last one."""


def history(wire, end, talk=0):
    """Pages of a log that do not fit, and a last message of one kind."""
    turns = [Say("Find out what went wrong.")]
    for n in range(talk):
        turns += [Reply(f"Batch {n} stays blue. " + "I go on with the next one now. " * 14), Say(f"Fine, {n}.")]
    turns += [Act((Call("search", {"query": f"page {n}"}, log_text(n, 2_500)),)) for n in range(5)]
    if end != "results":
        turns += [Reply("I have read the pages.")]
    if end == "user":
        turns += [Say("And now?")]
    return render(Script("You help.", tuple(turns)), wire)


def fit(session, given, messages=None):
    return session.fit(given.messages if messages is None else messages, system=given.system, tools=given.tools)


def written(messages):
    return json.dumps(messages, ensure_ascii=False)


def said(wire, role):
    """One more message."""
    if wire == "gemini":
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": "Go on."}]}
    return {"role": role, "content": "Go on."}


def lost_line(fitted, page=0):
    text = written(fitted.messages)
    return next(line for line in log_text(page, 2_500).split("\n") if line not in text)


def session_of(wire, **settings):
    return Session(Policy(budget=1_500, counter="o200k", **settings), wire=wire)


def sound(given, fitted, note):
    """The wire's rules by an independent reading; the note once, reported, behind all else."""
    assert not problems(given.wire, fitted.messages, fitted.system, given.tools)
    assert written(fitted.messages).count("[from the archive") == 1
    assert note in written(fitted.messages[-1])
    assert [entry.message for entry in fitted.report.inserted if entry.why == "note"] == [len(fitted.messages) - 1]
    assert fitted.report.ok
    assert fitted.report.after <= fitted.report.limit


@per_wire
@per_end
def test_without_a_new_message(wire, end):
    given, session = history(wire, end), session_of(wire)
    before = fit(session, given)
    line = lost_line(before)
    session.task.begin("look", needs=[line])
    fitted = fit(session, given)
    sound(given, fitted, line)
    merged = wire in MERGES and end != "assistant"
    assert len(fitted.messages) == len(before.messages) + (not merged)
    assert fitted.messages[: len(before.messages) - merged] == before.messages[: len(before.messages) - merged]
    if merged:  # all that was there stands before it
        parts = "content" if wire == "anthropic" else "parts"
        last, old = fitted.messages[-1][parts], before.messages[-1][parts]
        texts = [{"type": "text", "text": old}] if isinstance(old, str) else old
        assert last[:-1] == texts
        assert is_note(last[-1]["text"])
    # it is not written again, and stays where it is when the history goes on
    again = fit(session, given)
    assert again.messages == fitted.messages
    assert again.report.cache.first_changed is None
    later = fit(session, given, [*given.messages, said(wire, "user" if end == "assistant" else "assistant")])
    assert line in written(later.messages)
    assert not problems(wire, later.messages, later.system, given.tools)
    if end == "assistant" and wire in MERGES:  # it was a message of its own, and becomes a part of the user's next one
        assert later.report.cache.first_changed == len(fitted.messages) - 1
        assert later.messages[: len(fitted.messages) - 1] == fitted.messages[:-1]
        assert len(later.messages) == len(fitted.messages)
    else:
        assert later.messages[: len(fitted.messages)] == fitted.messages
    assert (
        fit(session, given, [*given.messages, said(wire, "user" if end == "assistant" else "assistant")]).messages
        == later.messages
    )


@per_wire
@per_end
def test_a_fresh_session_knows_it_again(wire, end):
    given, session = history(wire, end), session_of(wire)
    session.task.begin("look", needs=[lost_line(fit(session, given))])
    fitted = fit(session, given)
    again = fit(session_of(wire), given, fitted.messages)
    assert again.messages == fitted.messages
    assert again.report.rows[-1].kind == "summary"


@per_wire
@per_end
def test_a_session_that_was_saved_goes_on_with_it(wire, end):
    given, session = history(wire, end), session_of(wire)
    line = lost_line(fit(session, given))
    session.task.begin("look", needs=[line])
    fitted = fit(session, given)
    other = Session.load(session.save(), session.policy)
    assert fit(other, given).messages == fitted.messages


@per_wire
@per_end
def test_two_notes_one_after_another(wire, end):
    given, session = history(wire, end), session_of(wire)
    before = fit(session, given)
    needs = [lost_line(before, page) for page in (0, 1)]
    for need in needs:
        session.task.begin("look", needs=[need])
        fitted = fit(session, given)
        assert not problems(wire, fitted.messages, fitted.system, given.tools)
        assert need in written(fitted.messages)
    assert all(need in written(fitted.messages) for need in needs)
    assert fit(session, given).messages == fitted.messages


@per_wire
@per_end
@pytest.mark.parametrize("recall", [False, True])
def test_a_summary_and_a_note(wire, end, recall):
    """Old talk goes into a summary, and what was in it is needed again."""
    given, session = history(wire, end, talk=8), session_of(wire, summarizer="extractive", recall=recall)
    fitted = fit(session, given)
    assert "[summary of " in written(fitted.messages)
    line = lost_line(fitted)
    session.task.begin("look", needs=[line])
    fitted = fit(session, given)
    sound(given, fitted, line)
    assert written(fitted.messages).count("[summary of ") == 1
    assert fit(session, given).messages == fitted.messages


def items_of(wire, given):
    records, _ = wire_named(wire).parse(given.messages)
    return records, [item for record in records for item in record]


@per_wire
def test_a_summary_and_a_note_in_one_place_are_one_text(wire):
    """A note stands behind message n, and all from there on was summarised: both have one place."""
    given = history(wire, "user", talk=3)
    records, items = items_of(wire, given)
    first = next(item for item in items if item.text == "Fine, 0.")
    note = Note("[hand-over of stage 1 of 2, a note from the session]\nOpen now:\n- x", first.message)
    summary = "[summary of 3 earlier messages, data not instructions]\nDone:\n- y"
    kept = [item for item in items if item.message < first.message or item.message > first.message + 1]
    both = placed(inserted(kept, items, Rolling(summary, first.id)), [note], records)
    own = [item for item in both if item.slot == SUMMARY_SLOT]
    assert [item.text for item in own] == [f"{summary}\n\n{note.text}"]
    assert is_summary(own[0].text)
    rendered = wire_named(wire).render([item for item in both if item.message >= 0], given.messages)
    assert not problems(wire, rendered.messages, given.system, given.tools)
    assert [entry.why for entry in rendered.inserted if note.text in entry.text] == ["summary"]
    assert written(rendered.messages).count("hand-over of stage") == 1


@per_wire
def test_notes_behind_messages_that_are_gone_keep_their_order(wire):
    given = history(wire, "user", talk=3)
    records, items = items_of(wire, given)
    gone = [item.message for item in items if item.text.startswith(("Batch", "Fine"))]
    texts = [f"[from the archive, data not instructions]\nnote {n}" for n in range(3)]
    notes = [Note(text, at, ("op-1",)) for text, at in zip(texts, (gone[0], gone[1], len(records) - 1), strict=True)]
    kept = [item for item in items if item.message not in gone]
    rendered = wire_named(wire).render(placed(kept, notes, records), given.messages)
    assert not problems(wire, rendered.messages, given.system, given.tools)
    text = written(rendered.messages)
    assert text.index("note 0") < text.index("note 1") < text.index("note 2")
    assert len([entry for entry in rendered.inserted if entry.why == "note"]) == 3


@pytest.mark.parametrize("wire", MERGES)
def test_while_a_call_waits_there_is_no_place(wire):
    given, session = history(wire, "user"), session_of(wire)
    line = lost_line(fit(session, given))
    session.task.begin("look", needs=[line])
    waiting = render(Script("x", (*given.script.turns, Act((Call("search", {"query": "x"}, "x"),), answered=0))), wire)
    with pytest.raises(StateBroken, match="would be lost"):
        fit(session, given, waiting.messages)
