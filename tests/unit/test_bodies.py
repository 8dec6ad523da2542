"""Whole request bodies: what a session reads from them beside the messages."""

import pytest

from jettison import Policy, Session, StateBroken, fit_request
from jettison.prices import Rewrite, prices_for
from jettison.store import MemoryStore
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, Script, log_text

BINDING = {"anthropic": "claude-fable-5-1", "openai-responses": "gpt-6.2"}
LOOSE = {"anthropic": "claude-opus-4-1", "openai-responses": "gpt-4o"}


def body(wire, model, history, messages=None):
    """A request, as the wire has it."""
    field = {"openai-responses": "input", "gemini": "contents"}.get(wire, "messages")
    system = {"anthropic": "system", "openai-responses": "instructions", "gemini": "systemInstruction"}.get(wire)
    made = {"model": model, field: history.messages if messages is None else messages}
    return made if system is None or history.system is None else {**made, system: history.system}


def running_turn(wire, rounds):
    """Finished turns, then one that runs, of thinking and calls."""
    turns = []
    for n in range(9):
        turns += [Say(f"Read module {n}. " + "Look at the queue of the workers. " * 6), Reply("Read, as asked. " * 20)]
    turns += [Say("Find why the drain is slow.")]
    turns += [Act((Call("read_file", {"path": f"m{n}"}, log_text(n, 900)),), thinking="Next.") for n in range(rounds)]
    return render(Script("You review code.", tuple(turns)), wire)


def outcomes(session, wire, model):
    """What comes of a turn that grows until it does not fit."""
    found = []
    for rounds in range(1, 9):
        try:
            out = session.fit_request(body(wire, model, running_turn(wire, rounds)))
        except StateBroken as error:
            return [*found, str(error)]
        found.append((out["messages" if wire == "anthropic" else "input"], out.report.after, out.report.cache))
    return found


@pytest.mark.parametrize("wire", BINDING)
@pytest.mark.parametrize("own", [None, "loose", "binding"])
def test_the_model_of_the_body_says_whether_reasoning_is_bound(wire, own):
    """Whatever the session was made for: it is the one that is asked."""
    own = {"loose": LOOSE, "binding": BINDING}.get(own, {}).get(wire)
    policy = Policy(budget=2_500, counter="o200k")
    models = (BINDING[wire], LOOSE[wire])
    bound, free = (outcomes(Session(policy, wire=wire, model=asked), wire, asked) for asked in models)
    assert bound != free
    assert [outcomes(Session(policy, wire=wire, model=own), wire, asked) for asked in models] == [bound, free]


def test_a_deployment_of_any_name_is_the_model_of_the_session():
    policy = Policy(budget=2_500, counter="o200k")
    bound = outcomes(Session(policy, wire="anthropic", model="claude-fable-5-1"), "anthropic", "claude-fable-5-1")
    named = outcomes(Session(policy, wire="anthropic", model="claude-fable-5-1"), "anthropic", "prod-east-2")
    assert named == bound


def test_a_rewrite_costs_what_the_model_of_the_body_costs():
    session = Session(Policy(budget=2_500, counter="o200k"), wire="anthropic", model="claude-opus-4-1")
    history = running_turn("anthropic", 0)
    session.fit_request(body("anthropic", "gpt-4", history))
    used, grown = session._state.tokens, running_turn("anthropic", 8)
    report = session.fit_request(body("anthropic", "gpt-4", grown)).report
    cache, come = report.cache, report.before - used
    assert cache.first_changed is not None
    made = Rewrite(used, come, cache.kept, cache.rebilled)
    assert prices_for("gpt-4").cached_ratio == 1, "it has no cache"
    assert cache.extra == round(made.extra(prices_for("gpt-4")), 1)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("model", ["claude-opus-5", "claude-3-haiku", "gpt-4o", "llama-3.1-70b", "gemini-2.5-pro"])
def test_a_session_without_a_model_counts_as_its_first_request_says(wire, model):
    history = running_turn(wire, 3)
    asked = body(wire, model, history)
    once = fit_request(asked, budget=90_000, wire=wire).report
    report = Session(90_000, wire=wire).fit_request(asked).report
    assert (report.after, report.counter, report.notes) == (once.after, once.counter, once.notes)


def test_a_session_keeps_its_counter_and_says_so():
    history = running_turn("openai-chat", 3)
    asked = [body("openai-chat", model, history) for model in ("claude-opus-5", "gpt-4o", "claude-opus-5")]
    session = Session(90_000)
    reports = [session.fit_request(one).report for one in asked]
    assert {report.counter for report in reports} == {"claude-4.7"}
    assert {report.after for report in reports} == {reports[0].after}
    assert [bool(report.notes) for report in reports] == [False, True, False]
    assert "gpt-4o are those of o200k, and were counted as claude-4.7" in reports[1].notes[0]
    given = Session(90_000, model="gpt-4o").fit_request(asked[0]).report
    assert (given.counter, len(given.notes)) == ("o200k", 1)
    assert not Session(Policy(budget=90_000, counter="o200k")).fit_request(asked[0]).report.notes


def test_a_request_that_failed_does_not_say_how_the_next_is_counted():
    session = Session(40)
    with pytest.raises(Exception, match="tokens"):
        session.fit_request(body("openai-chat", "claude-opus-5", running_turn("openai-chat", 1)))
    assert session.fit([{"role": "user", "content": "Hello."}]).report.counter == "o200k"


def test_with_a_store_the_first_request_of_all_says_how_they_are_counted():
    def requests(sessions):
        for rounds, model in ((1, "claude-opus-5"), (2, "claude-opus-5"), (3, "gpt-4o")):
            report = next(sessions).fit_request(body("openai-chat", model, running_turn("openai-chat", rounds))).report
            yield report.counter, report.after, report.notes

    def anew():
        while True:
            yield Session(90_000, store=store, conversation="chat")

    def saved():
        data = Session(90_000).save()
        while True:
            session = Session.load(data, 90_000)
            yield session
            data = session.save()

    def living():
        session = Session(90_000)
        while True:
            yield session

    store = MemoryStore()
    first = Session(90_000, store=store, conversation="chat")
    first.task.begin("refund")
    first.commit()  # before anything is counted
    expected = list(requests(living()))
    assert [counter for counter, *_ in expected] == ["claude-4.7"] * 3
    assert list(requests(anew())) == list(requests(saved())) == expected
