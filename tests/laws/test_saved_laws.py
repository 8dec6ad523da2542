"""What lasts: a session that was saved and loaded, or whose call came to nothing, goes on as if it had not been."""

import asyncio
import copy
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import Policy, Session
from jettison.archive import MemoryArchive
from jettison.errors import ArchiveError, BudgetUnreachable, JettisonError
from jettison.store import MemoryStore
from laws.support import assert_sound, fit_in, fit_once, same, session_for, tasks, weight
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, Script, histories, law, log_text, rows_text

per_wire = pytest.mark.parametrize("wire", WIRES)


def working(wire, rounds=14, seed=3):
    """A history with several epochs in a third of its size."""
    turns = [Say("Find the slow module. Never delete files under assets/.")]
    for n in range(rounds):
        make = rows_text if n % 3 == 0 else log_text
        turns.append(Act((Call("read_file", {"path": f"src/m{n}.py"}, make(seed + n, 700 + 311 * (n % 5))),)))
        if n % 4 == 3:
            turns += [Reply(f"m{n} is fine."), Say("Go on with the next ones.")]
    return render(Script("You review code.", tuple(turns)), wire)


def both(one, two, history, prefix):
    """The same outcome of both, byte for byte; what it is."""
    first, second = fit_in(one, history, prefix), fit_in(two, history, prefix)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert same(first.messages, second.messages)
        assert same(first.system, second.system)
        left, right = first.report.to_dict(), second.report.to_dict()
        assert left == right
    return first


@per_wire
@given(data=st.data())
@law()
def test_loaded_for_each_request_a_session_gives_the_same_bytes(wire, data):
    history, budget = data.draw(tasks(wire))
    long, saved = session_for(history, budget), session_for(history, budget).save()
    for prefix in history.prefixes():
        short = Session.load(saved, Policy(budget=budget, counter="o200k"))
        both(long, short, history, prefix)
        saved = short.save()
        assert Session.load(saved, long.policy).save() == saved


@per_wire
@pytest.mark.parametrize("profile", ["safe", "economy"])
def test_also_over_many_epochs(wire, profile):
    history = working(wire)
    budget = weight(history) // 3
    policy = Policy(budget=budget, counter="o200k", profile=profile)
    long = Session(policy, wire=wire, archive=MemoryArchive(), conversation="chat")
    store, archive, epochs = MemoryStore(), MemoryArchive(), []
    for prefix in history.prefixes():
        short = Session(policy, wire=wire, store=store, archive=archive, conversation="chat")
        want = long.fit(prefix, system=history.system, tools=history.tools)
        # What comes back from a database has its keys in another order.
        given = json.loads(json.dumps(prefix, sort_keys=wire == "openai-chat"))
        got = short.fit(given, system=history.system, tools=history.tools)
        assert got.messages == want.messages
        epochs.append(got.report.cache.epoch)
        for row in got.report.rows:
            assert row.handle is None or short.recall(row.handle)
    assert sum(epoch in ("minor", "major") for epoch in epochs) >= 3


@per_wire
@given(data=st.data())
@law(20)
def test_a_loaded_session_takes_edits_rewinds_and_forks_as_the_long_one_does(wire, data):
    history, budget = data.draw(tasks(wire))
    other = data.draw(histories(wire))
    long = session_for(history, budget)
    shorts = [session_for(history, budget)]
    cut = data.draw(st.sampled_from(history.cuts))
    edited = copy.deepcopy(history.messages)
    place = data.draw(st.integers(0, len(edited) - 1))
    branches = [
        history.messages[:cut],
        history.messages,
        history.messages[:cut],
        other.messages,
        history.messages,
        edited[:place] + history.messages[place:],
        [*history.messages[:cut], *other.messages],
        history.messages,
    ]
    for branch in data.draw(st.permutations(branches)):
        shorts.append(Session.load(shorts[-1].save(), long.policy))
        try:
            want = long.fit(branch, system=history.system, tools=history.tools)
        except JettisonError as error:
            with pytest.raises(type(error)):
                shorts[-1].fit(branch, system=history.system, tools=history.tools)
            continue
        got = shorts[-1].fit(branch, system=history.system, tools=history.tools)
        assert same(got.messages, want.messages)
        assert got.report.to_dict() == want.report.to_dict()


@per_wire
@given(data=st.data())
@law(20)
def test_a_call_that_failed_leaves_no_trace(wire, data):
    """Between the calls of one of two sessions another branch is tried, and fails at the archive."""
    history, budget = data.draw(tasks(wire))
    other = data.draw(histories(wire))
    archive = Moody()
    one, two = session_for(history, budget), session_for(history, budget, archive=archive)
    one._shelf.private = False  # the same handles
    for prefix in history.prefixes():
        archive.broken = True
        for branch in ([*prefix, *other.messages], prefix, other.messages):
            before = two.save()
            try:
                two.fit(branch, system=history.system, tools=history.tools)
            except JettisonError:
                assert two.save() == before
            else:
                break  # nothing was to be stored: this call has succeeded
        else:
            archive.broken = False
            both(one, two, history, prefix)
            continue
        return


class Moody:
    """An archive that fails when told to."""

    def __init__(self):
        self.broken, self.inner = False, MemoryArchive()

    def put(self, handle, text):
        if self.broken:
            raise ArchiveError("no")
        self.inner.put(handle, text)

    def get(self, handle):
        return self.inner.get(handle)

    def search(self, query, limit=10):
        return self.inner.search(query, limit)


@per_wire
@given(data=st.data())
@law(20)
def test_a_branch_that_was_only_looked_at_does_no_harm(wire, data):
    history, budget = data.draw(tasks(wire))
    other = data.draw(histories(wire))
    session = session_for(history, budget)
    for prefix in history.prefixes():
        for branch in (other.messages, [*prefix[:-1], *other.messages]):
            try:
                session.fit(branch, system=history.system, tools=history.tools, observe=True)
            except JettisonError:  # what cannot be sent cannot be looked at either
                continue
        fitted = fit_in(session, history, prefix)
        if fitted is not None:
            assert_sound(history, fitted, budget, prefix)


@per_wire
@given(data=st.data())
@law(15)
def test_fit_is_the_first_call_of_a_fresh_session(wire, data):
    history, budget = data.draw(tasks(wire))
    one, store = fit_once(history, budget), MemoryStore()
    policy = Policy(budget=budget, counter="o200k")
    two = Session(policy, wire=wire, store=store, conversation="chat", archive=MemoryArchive())
    two._shelf.private = True  # the same handles
    got = fit_in(two, history)
    assert (one is None) == (got is None)
    assert one is None or same(one.messages, got.messages)


@per_wire
@pytest.mark.parametrize("large", [False, True])
def test_cancelled_at_any_await_a_session_is_as_it_was(wire, large, monkeypatch):
    """Each call is cancelled at its first await, then at its second …, until it gets through."""
    monkeypatch.setattr(Session, "_heavy", lambda self, call: large)
    history = working(wire, rounds=9)
    policy = Policy(budget=weight(history) // 3, counter="o200k")
    plain = Session(policy, wire=wire, archive=MemoryArchive(), conversation="chat")
    archive = MemoryArchive()
    session = Session(policy, wire=wire, archive=archive, conversation="chat")
    session._shelf.waits = True
    cancelled = 0

    async def run():
        nonlocal cancelled
        for prefix in history.prefixes():
            want = plain.fit(prefix, system=history.system, tools=history.tools)
            for steps in range(100):
                before = session._state
                task = asyncio.ensure_future(session.afit(prefix, system=history.system, tools=history.tools))
                for _ in range(steps):
                    await asyncio.sleep(0)
                if task.done() or not task.cancel():
                    got = await task
                    break
                try:
                    got = await task
                except asyncio.CancelledError:
                    cancelled += 1
                    assert session._state is before
                    while session._gate._holder is not None:  # a thread that was at work
                        await asyncio.sleep(0.001)
                    continue
                break
            else:
                got = await session.afit(prefix, system=history.system, tools=history.tools)
            assert same(got.messages, want.messages)
            assert got.report.call == want.report.call

    asyncio.run(run())
    assert cancelled >= 5


def test_budgets_that_cannot_be_met_leave_no_trace_either():
    history = working("anthropic")
    budget = weight(history) // 3
    policy = Policy(budget=budget, counter="o200k")
    one, two = Session(policy, wire="anthropic"), Session(policy, wire="anthropic")
    rng = random.Random(5)
    for prefix in history.prefixes():
        size = rng.randrange(2, 40)
        two.policy = Policy(budget=size, counter="o200k")
        before = two._state
        with pytest.raises(BudgetUnreachable):
            two.fit(prefix, system=history.system, tools=history.tools)
        assert two._state is before
        two.policy = policy
        both(one, two, history, prefix)
