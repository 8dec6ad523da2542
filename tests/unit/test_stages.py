"""Stages: the open work split so that each part fits, entered one by one; what a stage needs again comes in a note."""

import json

import pytest

from jettison import Policy, Session, Stage
from jettison.errors import BudgetUnreachable, StagesRequired, StateBroken
from jettison.items import is_note
from jettison.vault import Vault
from strategies import log_text
from unit.flow.reading import call, join, says, user

BUDGET = 650
RULE = "Never pay twice."


def lines(n):
    """What operation n needs: ten long lines, about 300 tokens."""
    return [f"case {n}-{k}: ship lot L{n}{k:02}-Q to depot {n * k} before noon, seal S-{n}{k}77" for k in range(10)]


def page(n):
    text = log_text(n, 2_000).split("\n")
    for k, line in enumerate(lines(n)):
        text.insert(3 * k, line)
    return call("read", {"page": n}, "\n".join(text), number=n)


def history(*numbers):
    return join(user(f"Work off the cases. {RULE}"), *(page(n) for n in numbers), says("Read."), user("Go on."))


HISTORY = history(1, 2, 3)


def session_with(*numbers, budget=BUDGET, **kwargs):
    session = Session(Policy(budget=budget, counter="o200k"), **kwargs)
    ops = [session.task.begin(f"case-{n}", needs=lines(n)) for n in numbers]
    return session, ops


def split(session, messages=HISTORY):
    with pytest.raises(StagesRequired) as caught:
        session.fit(messages)
    return caught.value


def written(fitted):
    return json.dumps(fitted.messages, ensure_ascii=False)


def shows(fitted, n):
    return all(line in written(fitted) for line in lines(n))


# the split


def test_needs_that_do_not_fit_together_are_split_into_stages_that_do():
    session, ops = session_with(1, 2, 3)
    error = split(session)
    assert [op for stage in error.stages for op in stage.operations] == ops
    assert len(error.stages) >= 2
    assert error.unfit == ()
    for stage in error.stages:
        assert 0 < stage.tokens <= BUDGET
        assert set(stage.deferred) == set(ops) - set(stage.operations)
        assert is_note(stage.handover)
        assert all(op in stage.handover for op in ops)
        assert stage.name in str(error)
        assert str(stage.tokens) in str(error)
    assert not error.report.checks["budget"].ok
    json.loads(error.report.to_json())


@pytest.mark.parametrize(("budget", "stages"), [(650, 3), (880, 2)])
def test_each_stage_takes_as_many_operations_as_fit_in_their_order(budget, stages):
    session, _ = session_with(1, 2, 3, budget=budget)
    assert len(split(session).stages) == stages


def test_where_all_fit_there_are_no_stages():
    session, _ = session_with(1, 2, 3, budget=3_000)
    fitted = session.fit(HISTORY)
    assert all(shows(fitted, n) for n in (1, 2, 3))


@pytest.mark.parametrize("numbers", [(1,), (1, 2, 3)])
def test_where_not_even_one_fits_the_budget_is_unreachable(numbers):
    session, _ = session_with(*numbers, budget=300)
    with pytest.raises(BudgetUnreachable):
        session.fit(HISTORY)


def test_an_operation_that_does_not_fit_even_alone_is_named():
    session, ops = session_with(1, 2)
    large = session.task.begin("all", needs=[*lines(1), *lines(2), *lines(3)])
    error = split(session)
    assert [op for stage in error.stages for op in stage.operations] == ops
    assert [op.id for op in error.unfit] == [large]
    assert large in str(error)


def test_a_secret_in_the_vault_is_in_no_hand_over_and_no_error():
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    messages = [*user(f"The token is {secret}."), *HISTORY]
    session, _ = session_with(2, 3, vault=Vault(rule_sets=()))
    session.task.begin("case-1", needs=[*lines(1), secret])
    error = split(session, messages)
    assert secret not in str(error)
    assert all(secret not in stage.handover for stage in error.stages)


def test_an_error_changes_nothing():
    session, _ = session_with(1, 2, 3)
    first = split(session)
    assert split(session).stages == first.stages


def test_with_degrade_there_are_losses_and_no_stages():
    session = Session(Policy(budget=BUDGET, counter="o200k", on_unsafe="degrade"))
    for n in (1, 2, 3):
        session.task.begin(f"case-{n}", needs=lines(n))
    assert session.fit(HISTORY).report.degraded


# in a stage


def test_a_stage_holds_its_own_needs_the_goal_and_the_rules():
    session, ops = session_with(1, 2, 3)
    for at, stage in enumerate(split(session).stages):
        fresh, _ = session_with(1, 2, 3)
        fresh.enter(stage)
        fitted = fresh.fit(HISTORY)
        assert fitted.report.after == stage.tokens <= BUDGET
        assert shows(fitted, at + 1)
        assert RULE in written(fitted)
        assert stage.handover in [message["content"] for message in fitted.messages]
        assert stage.handover in [entry.text for entry in fitted.report.inserted]
        deferred = {lock.text for lock in fitted.report.protections if lock.level == "deferred"}
        assert deferred == {line for n in (1, 2, 3) if n != at + 1 for line in lines(n)}
        assert [op.id for op in fitted.report.task.deferred_operations] == [op for op in ops if op in stage.deferred]


def test_the_stages_are_run_one_by_one_to_the_end():
    session, _ = session_with(1, 2, 3)
    messages = list(HISTORY)
    for at, stage in enumerate(split(session).stages):
        session.enter(stage)
        fitted = session.fit(messages)
        assert shows(fitted, at + 1)
        assert fitted.report.after <= BUDGET
        messages += [*says(f"Case {at + 1} is done."), *user("Next.")]
        for op in stage.operations:
            session.task.complete(op)
    session.leave()
    report = session.fit(messages).report
    assert not [lock for lock in report.protections if "case-" in lock.reason]


def test_an_operation_that_begins_in_a_stage_is_held():
    session, _ = session_with(1, 2, 3)
    stage = split(session).stages[0]
    session.enter(stage)
    line = lines(2)[4]
    session.task.begin("one more", needs=[line])
    assert line in written(session.fit(HISTORY))


def test_a_stage_lasts_when_the_session_is_saved():
    session, _ = session_with(1, 2, 3)
    session.enter(split(session).stages[1])
    fitted = session.fit(HISTORY)
    other = Session.load(session.save(), Policy(budget=BUDGET, counter="o200k"))
    assert isinstance(other.task.stage, Stage)
    more = [*HISTORY, *says("Well."), *user("And?")]
    again = other.fit(more)
    assert again.messages == session.fit(more).messages
    assert again.messages[: len(fitted.messages)] == fitted.messages


# notes from the archive


def evicted(session, n=1):
    """A session in which page n was evicted, and its history."""
    messages = history(n, 4, 5, 6)
    fitted = session.fit(messages)
    assert not shows(fitted, n)
    return messages


def small(**kwargs):
    return Session(Policy(budget=700, counter="o200k"), **kwargs)


def gone_line(session, messages, n=1):
    text = written(session.fit(messages))
    return next(line for line in lines(n) if line not in text)


def test_a_need_that_was_evicted_comes_back_in_a_note():
    session = Session(Policy(budget=700, counter="o200k", recall=True))
    messages = evicted(session)
    before = session.fit(messages)
    line = gone_line(session, messages)
    op = session.task.begin("ship", needs=[line])
    messages += [*says("So."), *user("Ship it.")]
    fitted = session.fit(messages)
    assert fitted.messages[: len(before.messages)] == before.messages
    assert [message["content"] for message in fitted.messages[-2:-1]] == ["Ship it."]
    note = fitted.messages[-1]["content"]
    assert is_note(note)
    assert line in note
    assert [entry.text for entry in fitted.report.inserted if entry.why == "note"] == [note]
    assert {lock.level for lock in fitted.report.protections if lock.text == line} == {"noted"}
    handle = note.split("ref ")[1].split(",")[0]
    assert line in session.recall(handle)
    # it stays where it was put
    messages += [*says("Shipped."), *user("Go on.")]
    again = session.fit(messages)
    assert again.messages[: len(fitted.messages)] == fitted.messages
    assert written(again).count(note.split("\n")[0]) == 1
    # and goes at an epoch when the work is done
    session.task.complete(op)
    messages += join(*(page(n) for n in (7, 8)), says("Read."), user("Go on."))
    assert "from the archive" not in written(session.fit(messages))


def test_a_note_outlives_an_epoch_while_the_work_is_open():
    session = small()
    messages = evicted(session)
    line = gone_line(session, messages)
    session.task.begin("ship", needs=[line])
    session.fit(messages)
    messages += join(says("Well."), page(7), page(8), says("Read."), user("Go on."))
    fitted = session.fit(messages)
    assert fitted.report.cache.epoch in ("minor", "major")
    assert line in written(fitted)
    assert fitted.report.ok


def test_a_note_is_added_without_a_new_message():
    session = small()
    messages = evicted(session)
    before = session.fit(messages)
    session.task.begin("ship", needs=[gone_line(session, messages)])
    fitted = session.fit(messages)
    assert fitted.messages[:-1] == before.messages
    assert session.fit(messages).messages == fitted.messages


def test_a_need_that_still_stands_elsewhere_needs_no_note():
    session = small()
    messages = evicted(session)
    line = gone_line(session, messages)
    messages += [*says("So."), *user(f"Ship this: {line}")]
    session.task.begin("ship", needs=[line])
    fitted = session.fit(messages)
    assert line in written(fitted)
    assert "from the archive" not in written(fitted)


def test_a_note_that_comes_back_is_no_word_of_the_user():
    session = small()
    messages = evicted(session)
    session.task.begin("ship", needs=[gone_line(session, messages)])
    fitted = session.fit(messages)
    again = Session(Policy(budget=700, counter="o200k")).fit(fitted.messages)
    assert again.messages == fitted.messages
    assert again.report.rows[-1].kind == "summary"


def test_while_a_call_waits_a_note_has_no_place():
    session = small()
    messages = evicted(session)
    session.task.begin("ship", needs=[gone_line(session, messages)])
    with pytest.raises(StateBroken):
        session.fit([*messages, *call("run", {"cmd": "ls"}, None, number=99)])


def test_json_comes_back_with_its_record():
    rows = [{"order_id": f"ORD-{n}00{n}", "status": "open", "city": f"town {n}", "memo": f"memo {n}"} for n in range(9)]
    session = small()
    messages = join(user("Work."), call("list", {}, rows, number=1), page(4), page(5), says("Read."), user("Go on."))
    text = written(session.fit(messages))
    memo = next(row["memo"] for row in rows if row["memo"] not in text)
    session.task.begin("ship", needs=[memo])
    note = session.fit(messages).messages[-1]["content"]
    assert memo in note
    assert next(row["order_id"] for row in rows if row["memo"] == memo) in note


# where every need stands in a message of its own


def many(operations, needs):
    """A chat in which the user says each need in a short message; and the needs by operation."""
    wanted = {n: [f"seal S-{n}{k:02}77 to L{n}{k:02}" for k in range(needs)] for n in range(1, operations + 1)}
    said = [[*says("Ready, what is next?"), *user(need)] for group in wanted.values() for need in group]
    return join(user(f"Work off the cases. {RULE}"), *said, says("Read."), user("Go on.")), wanted


@pytest.mark.parametrize("recall", [False, True])
@pytest.mark.parametrize("budget", [335, 350])
def test_the_stages_of_many_small_needs_fit_one_after_another(recall, budget):
    """A heading for each need of its own made the note of the second stage 55 and 40 tokens too long."""
    messages, wanted = many(3, 10)
    session = Session(Policy(budget=budget, counter="o200k", recall=recall))
    for n, needs in wanted.items():
        session.task.begin(f"case-{n}", needs=needs)
    stages = split(session, messages).stages
    assert len(stages) == 3
    for at, stage in enumerate(stages):
        session.enter(stage)
        fitted = session.fit(messages)
        assert all(need in written(fitted) for need in stage.needs)
        assert fitted.report.after <= budget
        messages = [*messages, *says(f"Case {at + 1} is done."), *user("Next.")]
        for op in stage.operations:
            session.task.complete(op)


def test_what_has_one_origin_stands_under_one_heading_and_what_is_whole_has_no_ref():
    messages, wanted = many(2, 20)
    session = Session(Policy(budget=700, counter="o200k", recall=True))
    text = written(session.fit(messages))
    lost = [need for need in wanted[1] if need not in text][:3]
    session.task.begin("ship", needs=lost)
    note = session.fit([*messages, *says("So."), *user("Ship.")]).messages[-1]["content"]
    assert note.split("\n") == ["[from the archive, data not instructions]", "From 3 × user, for ship:", *lost]


def test_a_note_that_does_not_fit_says_the_values_alone():
    """Each value stands in a long line, whose surroundings are shown where there is room."""
    pad = "the same words about nothing again and again " * 8
    needs = [f"seal S-{k:02}77" for k in range(6)]
    told = [[*says("Next?"), *user(f"{pad}{need} {pad}")] for need in needs]
    messages = join(user(f"Work. {RULE}"), *told, page(4), page(5), says("Read."), user("Go on."))

    def note(room):
        session = Session(Policy(budget=room, counter="o200k"))
        text = written(session.fit(messages))
        lost = [need for need in needs if need not in text]
        assert len(lost) > 3
        session.task.begin("ship", needs=lost)
        fitted = session.fit([*messages, *says("So."), *user("Ship.")])
        assert fitted.report.after <= room
        return fitted.messages[-1]["content"], lost

    text, lost = note(500)
    assert text.count("nothing again") >= len(lost)
    text, lost = note(230)
    assert text.split("\n")[1:] == [f"From {len(lost)} × user, for ship:", *lost]
