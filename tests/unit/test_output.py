"""The output of one call: what the report says of the provider's cache."""

import copy

import pytest

from jettison import Policy, Session
from jettison.store import MemoryStore
from jettison.wire import wire_named
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, Script, log_text

MARK = {"type": "ephemeral"}


def grown(wire, rounds):
    turns = []
    for n in range(rounds):
        read = Call("read_file", {"path": f"m{n}"}, log_text(n, 900))
        turns += [Say(f"Read module {n}."), Act((read,)), Reply("Hm.")]
    return render(Script("You review code.", (*turns, Say(f"Read module {rounds}."))), wire)


def asked(wire, rounds, **more):
    history = grown(wire, rounds)
    given = {"messages": history.messages, "tools": history.tools}
    if wire != "openai-chat":
        given["system"] = history.system
    return {**given, **more}


def changed(wire, what):
    """Arguments of a call of which the caller changed what is sent in front of the messages."""
    given = asked(wire, 3)
    if what == "system":
        return {**given, "system": "Today is 2026-12-01."}
    if what == "tools":
        return {**given, "tools": given["tools"][:-1] if wire != "gemini" else [{"googleSearch": {}}]}
    if what == "order":
        return {**given, "tools": given["tools"][::-1]} if wire != "gemini" else {**given, "tools": []}
    return {**given, "response_schema": {"type": "json_schema", "json_schema": {"name": "answer"}}}


def same(wire, what):
    given = copy.deepcopy(asked(wire, 3))
    if what == "marks":
        given["tools"][-1]["cache_control"] = MARK
        if wire == "anthropic":
            given["system"] = [{"type": "text", "text": given["system"], "cache_control": MARK}]
    return given


@pytest.fixture(params=["one", "one a request", "loaded"])
def sessions(request):
    """The session of each call: one that lives on, a new one on the same store, or one that was loaded."""

    def made(policy, wire, model=None):
        store, known = MemoryStore(), Session(policy, wire=wire, model=model)
        while True:
            if request.param == "loaded":
                known = Session.load(known.save(), policy, model=model)
            fresh = request.param == "one a request"
            yield Session(policy, wire=wire, model=model, store=store, conversation="chat") if fresh else known

    return made


@pytest.mark.parametrize(
    ("wire", "what"),
    [
        (wire, what)
        for wire in WIRES
        for what in ("system", "tools", "order", "response schema")
        if (wire, what) != ("openai-chat", "system")  # there it is a message
    ],
)
def test_what_the_caller_changes_in_front_is_billed_anew(sessions, wire, what):
    made = sessions(20_000, wire)
    first = next(made).fit(**asked(wire, 2)).report.cache
    assert (first.first_changed, first.rebilled) == (None, 0)
    given = changed(wire, what)
    fitted = next(made).fit(**given)
    cache = fitted.report.cache
    assert fitted.messages == given["messages"], "it changes nothing of what is sent"
    assert (cache.epoch, cache.first_changed, cache.rebilled, cache.kept) == ("none", 0, fitted.report.after, 0)
    again = next(made).fit(**{**given, "messages": asked(wire, 4)["messages"]}).report.cache
    assert (again.first_changed, again.rebilled) == (None, 0), "once"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("what", ["copies", "marks"])
def test_what_says_the_same_in_front_is_cached(sessions, wire, what):
    made = sessions(20_000, wire)
    next(made).fit(**asked(wire, 2))
    cache = next(made).fit(**same(wire, what)).report.cache
    assert (cache.first_changed, cache.rebilled) == (None, 0)


def test_a_call_that_changed_nothing_but_observed_leaves_what_was_sent():
    session = Session(20_000, wire="anthropic")
    session.fit(**asked("anthropic", 2))
    session.fit(**changed("anthropic", "system"), observe=True)
    assert session.fit(**asked("anthropic", 3)).report.cache.first_changed is None


def test_a_rewrite_is_free_where_the_caller_has_changed_what_stands_in_front():
    """Nothing is cached then, whatever the rewrite does."""

    def rewritten(**more):
        session = Session(Policy(budget=2_000), wire="anthropic", model="claude-opus-4-1")
        for rounds in range(1, 5):
            session.fit(**asked("anthropic", rounds))
        cache = session.fit(**asked("anthropic", 5, **more)).report.cache
        assert cache.epoch in ("minor", "major")
        return cache

    alone, beside = rewritten(), rewritten(system="Today is 2026-12-01.")
    assert alone.extra > 0
    assert alone.pays_back > 0
    assert beside.kept == 0
    assert beside.removed > 0
    assert beside.extra < 0
    assert beside.pays_back == 0


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def thinking(turns, running=False):
    """Finished turns of thinking, and a new one that has begun, or runs with a call and its result."""
    messages = []
    for n in range(turns):
        messages.append({"role": "user", "content": f"Question {n}?"})
        messages.append({"role": "assistant", "content": [THOUGHT, {"type": "text", "text": f"Answer {n}."}]})
    messages.append({"role": "user", "content": f"Question {turns}?"})
    if running:
        use = {"type": "tool_use", "id": "t1", "name": "run", "input": {}}
        messages.append({"role": "assistant", "content": [THOUGHT, use]})
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Ok."}]})
    return messages


def thoughts(fitted):
    return str(fitted.messages).count("signature")


RUN = [{"name": "run", "input_schema": {"type": "object"}}]
FRONTS = [
    {"system": "Today is 2026-12-01.", "tools": RUN},
    {"system": "You help.", "tools": [*RUN, {"name": "grep", "input_schema": {"type": "object"}}]},
]


@pytest.mark.parametrize("front", FRONTS)
def test_reasoning_behind_a_changed_front_goes_where_the_model_refuses_it(sessions, front):
    made = sessions(5_000, "anthropic", "claude-fable-5-1")
    next(made).fit(thinking(3), system="You help.", tools=RUN)
    fitted = next(made).fit(thinking(4), **front)
    assert thoughts(fitted) == 0
    assert fitted.report.cache.reasoning_lost == 4
    assert not wire_named("anthropic").check(fitted.messages, system=front["system"])
    later = next(made).fit(thinking(5), **front)
    assert thoughts(later) == 1, "what was thought since stands behind what is sent now"
    assert (later.report.cache.first_changed, later.report.cache.reasoning_lost) == (None, 0)


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(
    ("model", "drop", "lost"),
    [("claude-opus-4-1", False, 0), ("claude-fable-5-1", True, 4), (None, False, 0), ("claude-opus-4-1", True, 0)],
)
def test_elsewhere_it_stays(front, model, drop, lost):
    """Where the provider drops it, it is counted."""
    session = Session(Policy(budget=5_000, reasoning_drop=drop), wire="anthropic", model=model)
    session.fit(thinking(3), system="You help.", tools=RUN)
    for turns, gone in ((4, lost), (5, 0)):
        fitted = session.fit(thinking(turns), **front)
        assert thoughts(fitted) == turns
        assert fitted.report.cache.reasoning_lost == gone


@pytest.mark.parametrize("front", FRONTS)
def test_in_a_running_turn_it_goes_back_with_a_note_until_the_turn_has_ended(sessions, front):
    made = sessions(5_000, "anthropic", "claude-fable-5-1")
    next(made).fit(thinking(2), system="You help.", tools=RUN)
    fitted = next(made).fit(thinking(2, running=True), **front)
    assert thoughts(fitted) == 1, "what the running turn began with"
    assert fitted.report.cache.reasoning_lost == 2
    assert [note for note in fitted.report.notes if "running turn was changed" in note]
    done = [*thinking(2, running=True), {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "Done."}]}]
    ended = next(made).fit([*done, {"role": "user", "content": "Thanks. Next?"}], **front)
    assert thoughts(ended) == 1, "of the same turn, behind the change"
    assert ended.report.cache.reasoning_lost == 1
    assert not ended.report.notes
