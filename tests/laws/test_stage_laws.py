"""Stages and notes: what an open operation needs is in the output, or an error names it, or a stage lists it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.errors import BudgetUnreachable, CannotFit, StagesRequired
from jettison.items import is_note
from laws.support import assert_sound, items_of, reads, session_for, tasks
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, law, log_text, scripts

per_wire = pytest.mark.parametrize("wire", WIRES)


@st.composite
def needs_of(draw, history, most=4):
    """Lines that stand in the history, for one operation."""
    spoken = [item.text for item in items_of(history).values() if item.text.strip() and item.kind != "reasoning"]
    found = {line.strip() for text in spoken for line in text.split("\n")}
    # What a server tool did is rendered as it came, whatever text it is read as.
    lines = sorted(line for line in found if len(line) >= 4 and reads(history.messages, line))
    return draw(st.lists(st.sampled_from(lines), min_size=1, max_size=most, unique=True)) if lines else []


def lines(n):
    """What operation n needs: about 250 tokens."""
    return [f"case {n}-{k}: ship lot L{n}{k:02}-Q to depot {n * k} before noon, seal S-{n}{k}77" for k in range(10)]


def page(n):
    """A turn that reads what operation n needs, between lines of a log."""
    log = log_text(n, 1_500).split("\n")
    for k, line in enumerate(lines(n)):
        log.insert(2 * k, line)
    return Act((Call("search", {"query": f"page {n}"}, "\n".join(log)),))


@st.composite
def with_pages(draw, wire, most=3, pending=True):
    """Any history, with pages read in it that operations need; and what each needs."""
    script = draw(scripts(pending=pending))
    count = draw(st.integers(2, most))
    last = max(n for n, turn in enumerate(script.turns) if isinstance(turn, Say) and turn.role == "user")
    pages = tuple(turn for n in range(1, count + 1) for turn in (page(n), Reply("Read."), Say("Go on.")))
    at = draw(st.sampled_from([n for n, turn in enumerate(script.turns) if n <= last and is_user(turn)]))
    turns = (*script.turns[: at + 1], *pages, *script.turns[at + 1 :])
    return render(replace(script, turns=turns), wire), [lines(n) for n in range(1, count + 1)]


def is_user(turn):
    return isinstance(turn, Say) and turn.role == "user"


@st.composite
def open_work(draw, wire, **kwargs):
    """(history, budget, needs by operation): anything, or work that all but fits together."""
    if draw(st.booleans()):
        history, budget = draw(tasks(wire, **kwargs))
        return history, budget, [draw(needs_of(history, most=8)) for _ in range(draw(st.integers(1, 4)))]
    history, work = draw(with_pages(wire, **kwargs))
    return history, int(smallest(history, work) * draw(st.floats(0.6, 1.1))), work


def smallest(history, work=()):
    """The smallest budget that works for all together."""
    session = session_for(history, 1)
    begun(session, work)
    try:
        fit(session, history)
    except BudgetUnreachable as error:
        return error.smallest
    raise AssertionError("no request fits into one token")


def begun(session, work):
    """The operations, by id."""
    return {session.task.begin(f"work-{n}", needs=needs): needs for n, needs in enumerate(work)}


def named(error, need):
    listed = [n for stage in getattr(error, "stages", ()) for n in stage.needs]
    listed += [n for op in getattr(error, "unfit", ()) for n in op.needs]
    held = [lock.text or lock.item for lock in error.report.protections]
    whole = [item for item in error.report.rows if need in item.preview]
    return need in listed or any(need in text for text in held) or need in str(error) or bool(whole)


def fit(session, history, messages=None):
    given = history.messages if messages is None else messages
    return session.fit(given, system=history.system, tools=history.tools)


def tried(session, history, messages=None):
    """(fitted, None), or (None, the error)."""
    try:
        return fit(session, history, messages), None
    except CannotFit as error:
        return None, error


@per_wire
@given(data=st.data())
@law(15)
def test_needs_are_in_the_output_or_named_or_in_a_stage(wire, data):
    history, budget, work = data.draw(open_work(wire))
    session = session_for(history, budget)
    ops = begun(session, work)
    fitted, error = tried(session, history)
    if error is not None:
        for op, needs in ops.items():
            assert all(named(error, need) for need in needs), op
        for stage in getattr(error, "stages", ()):
            there = fit(session_of(session, history, budget, stage), history)
            assert there.report.after == stage.tokens <= there.report.limit
            assert_sound(history, there, budget)
            for op in stage.operations:
                assert all(reads(there.messages, need) or in_system(history, need) for need in ops.get(op, ()))
        if isinstance(error, StagesRequired):
            split = [op for stage in error.stages for op in stage.operations] + [op.id for op in error.unfit]
            assert len(set(split)) == len(split)
            assert set(split) >= set(ops)
        return
    assert_sound(history, fitted, budget)
    for needs in ops.values():
        assert all(reads(fitted.messages, need) or in_system(history, need) for need in needs)


def session_of(session, history, budget, stage):
    """A session of its own in a stage."""
    other = session_for(history, budget)
    other.task.operations.update(session.task.operations)
    other.enter(stage)
    return other


def in_system(history, need):
    return history.system is not None and reads(history.system, need)


@per_wire
@given(data=st.data())
@law(20)
def test_a_need_that_is_declared_late_comes_back_in_its_place_or_is_named(wire, data):
    history, work = data.draw(with_pages(wire))
    budget = int((smallest(history) + 300) * data.draw(st.floats(1.0, 2.0)))
    session = session_for(history, budget)
    prefixes = history.prefixes()
    begins = data.draw(st.integers(0, len(prefixes) - 1))
    chosen = data.draw(
        st.lists(st.sampled_from([line for needs in work for line in needs]), min_size=1, max_size=4, unique=True)
    )
    needs, last = [], None
    for at, prefix in enumerate(prefixes):
        if at == begins:
            needs = [need for need in chosen if stands(history, prefix, need)]
            session.task.begin("late", needs=needs)
        fitted, error = tried(session, history, prefix)
        if error is not None:
            assert all(named(error, need) for need in needs)
            last = None
            continue
        assert_sound(history, fitted, budget, prefix)
        assert all(reads(fitted.messages, need) or in_system(history, need) for need in needs)
        report = fitted.report
        assert len([entry for entry in report.inserted if entry.why == "note"]) <= at + 1
        assert all(is_note(entry.text) for entry in report.inserted if entry.why == "note")
        if last is not None and report.cache.first_changed is None:
            assert fitted.messages[: len(last)] == last
        last = fitted.messages


def stands(history, prefix, need):
    return any(need in item.text for item in items_of(history, prefix).values())


@per_wire
@given(data=st.data())
@law(10)
def test_stages_are_run_one_by_one_in_one_session(wire, data):
    history, budget, work = data.draw(open_work(wire, pending=False))
    session = session_for(history, budget)
    ops = begun(session, work)
    _, error = tried(session, history)
    for stage in getattr(error, "stages", ()):
        session.enter(stage)
        fitted, error = tried(session, history)
        if error is not None:
            assert all(named(error, need) for op in stage.operations for need in ops.get(op, ()))
            continue
        assert_sound(history, fitted, budget)
        for op in stage.operations:
            assert all(reads(fitted.messages, need) or in_system(history, need) for need in ops.get(op, ()))
            session.task.complete(op)
