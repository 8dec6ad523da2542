"""Sessions: the provider's own count, observing, recall, the two drivers, and errors that carry their report."""

import asyncio
import copy
import json
import operator
import pickle
from collections import deque
from collections.abc import Sequence
from functools import partial

import pytest

from jettison import Budget, Policy, Session, fit, fit_request
from jettison.archive import MemoryArchive
from jettison.errors import (
    ArchiveError,
    BudgetUnreachable,
    CannotFit,
    ConfigError,
    ContextInsufficient,
    InvalidInput,
    JettisonError,
)
from strategies import log_text
from unit.flow.reading import call, join, says, user

HISTORY = join(
    user("Find why ORD-9913 failed."),
    *(call("run", {"cmd": f"tail {n}"}, log_text(n, 2_000), number=n) for n in range(6)),
    says("Nothing so far."),
    user("Go on."),
)
TIGHT = 1_500


def fresh(budget=TIGHT, **policy):
    return Session(Policy(budget=budget, **policy))


# the provider's own count


def test_usage_scales_later_counts_and_the_report_says_so():
    session = fresh(100_000)
    ours = session.fit(HISTORY).report.after
    session.usage(input_tokens=ours * 3 // 2)
    report = session.fit(HISTORY).report
    assert report.limit == pytest.approx(100_000 / 1.5, rel=0.01)
    assert any("1.5" in note and "ratio" in note for note in report.notes)


def test_usage_can_make_an_epoch_due():
    session = fresh(6_000)
    ours = session.fit(HISTORY).report.after
    assert ours > 3_000
    session.usage(input_tokens=2 * ours)
    fitted = session.fit(HISTORY)
    assert fitted.report.cache.epoch == "major"
    assert fitted.report.after <= 3_000


@pytest.mark.parametrize(("factor", "ratio"), [(10, 2.0), (0.01, 1.0)])
def test_a_ratio_outside_one_half_to_two_is_not_believed(factor, ratio):
    """Anthropic's input_tokens without its cache counts looks like a tenth: it would allow twice the limit."""
    session = fresh(100_000)
    session.usage(input_tokens=int(session.fit(HISTORY).report.after * factor))
    report = session.fit(HISTORY).report
    assert report.limit == int(100_000 / ratio)
    assert any("usage() was told" in note for note in report.notes)
    session.usage(input_tokens=report.after)
    assert not any("usage() was told" in note for note in session.fit(HISTORY).report.notes)


@pytest.mark.parametrize("name", ["input_tokens", "cache_read_tokens", "cache_write_tokens"])
@pytest.mark.parametrize("value", [-5, "4", 1.5, None])
def test_usage_takes_whole_numbers(name, value):
    with pytest.raises(ConfigError, match=name):
        fresh(1_000).usage(**{"input_tokens": 1, name: value})


def test_usage_before_a_call_and_usage_of_nothing_change_nothing():
    session = fresh(100_000)
    session.usage(input_tokens=500)
    session.fit(HISTORY)
    session.usage(input_tokens=0)
    assert session.fit(HISTORY).report.limit == 100_000


@pytest.mark.parametrize(("wire", "counted"), [("anthropic", 2), ("openai-chat", 1)])
def test_cache_counts_are_added_where_the_provider_keeps_them_apart(wire, counted):
    session = Session(Policy(budget=100_000, counter=len), wire=wire)
    ours = session.fit(user("words " * 200)).report.after
    session.usage(input_tokens=ours, cache_read_tokens=ours)
    assert session.fit(user("words " * 200)).report.limit == 100_000 // counted


def test_negative_usage_is_refused():
    with pytest.raises(ConfigError, match="input_tokens"):
        fresh().usage(input_tokens=-1)


# observing


def test_observing_hands_back_what_was_given_and_says_what_it_would_do():
    given = copy.deepcopy(HISTORY)
    fitted = fresh().fit(given, observe=True)
    assert fitted.messages == HISTORY == given
    assert all(one is two for one, two in zip(fitted.messages, given, strict=True))
    assert fitted.report.observed
    assert fitted.report.after <= TIGHT < fitted.report.before
    assert {row.decision for row in fitted.report.rows} > {"full"}


def test_after_observing_the_session_decides_as_if_new():
    session = fresh()
    session.fit(HISTORY, observe=True)
    assert session.fit(HISTORY).messages == fresh().fit(HISTORY).messages


# recall


def test_whatever_was_cut_can_be_recalled_and_found():
    session = fresh()
    rows = session.fit(HISTORY).report.rows
    texts = {message["content"] for message in HISTORY if isinstance(message["content"], str)}
    handles = [row.handle for row in rows if row.kind == "result" and row.handle]
    assert handles
    assert all(session.recall(handle) in texts for handle in handles)
    line = session.recall(handles[0]).split("\n")[3]
    assert handles[0] in {handle for handle, _ in session.search(line)}
    assert len(session.search("INFO", limit=2)) == 2


def test_an_unknown_handle_is_an_error():
    with pytest.raises(ArchiveError, match="nosuch"):
        fresh().recall("nosuch")


def test_an_archive_of_ones_own_gets_the_texts():
    archive = MemoryArchive()
    session = Session(TIGHT, archive=archive)
    rows = session.fit(HISTORY).report.rows
    assert all(archive.get(row.handle) for row in rows if row.handle)


# copies


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("inside", [False, True], ids=["a session", "an agent with one"])
@pytest.mark.parametrize(
    "how", [copy.copy, copy.deepcopy, *(partial(pickle.dumps, protocol=number) for number in range(6))]
)
def test_a_session_that_is_copied_or_pickled_says_what_to_do_instead(how, inside, fitted):
    session = fresh()
    if fitted:
        session.fit(HISTORY)
    given = {"name": "researcher", "session": session} if inside else session
    if inside and how is copy.copy:
        assert how(given)["session"] is session
        return
    with pytest.raises(TypeError, match=r"session\.save\(\).*Session\.load\(data, policy\)"):
        how(given)
    again = Session.load(session.save(), session.policy)
    assert again.fit(HISTORY).messages == session.fit(HISTORY).messages


# the drivers


def test_async_is_sync():
    one, two = fresh(), fresh()
    for end in range(1, len(HISTORY) + 1, 2):
        first, second = one.fit(HISTORY[:end]), asyncio.run(two.afit(HISTORY[:end]))
        assert first.messages == second.messages
        assert first.report.to_dict() == second.report.to_dict()


class Kept(Sequence):
    """A history of the caller's own kind, without slices."""

    def __init__(self, messages):
        self.messages = list(messages)

    def __len__(self):
        return len(self.messages)

    def __getitem__(self, at):
        return self.messages[operator.index(at)]


def outcome(call):
    """What came of a call, to compare: the output, or the error in full."""
    try:
        fitted = call()
    except InvalidInput as error:
        return type(error), str(error)
    return fitted.messages, fitted.report.to_dict()


@pytest.mark.parametrize("known", [0, 3, len(HISTORY)])
@pytest.mark.parametrize("kind", [tuple, deque, Kept, iter, lambda messages: (one for one in messages)])
def test_async_takes_and_refuses_the_histories_that_sync_does(kind, known):
    one, two = fresh(), fresh()
    for session in (one, two):
        for end in range(1, known + 1, 2):
            session.fit(HISTORY[:end])
    first, second = outcome(lambda: one.fit(kind(HISTORY))), outcome(lambda: asyncio.run(two.afit(kind(HISTORY))))
    assert first == second
    assert (first[0] is InvalidInput) == (not isinstance(kind(HISTORY), Sequence))


@pytest.mark.parametrize("given", [None, 5, {}, {"role": "user", "content": "Go on."}, "Go on.", b"Go on.", {1, 2}])
@pytest.mark.parametrize("known", [0, 3])
def test_async_refuses_as_sync_does_what_is_no_history(given, known):
    one, two = fresh(), fresh()
    for session in (one, two) if known else ():
        session.fit(HISTORY[:known])
    first, second = outcome(lambda: one.fit(given)), outcome(lambda: asyncio.run(two.afit(given)))
    assert first == second
    assert first[0] is InvalidInput
    assert one.fit(HISTORY).messages == asyncio.run(two.afit(HISTORY)).messages, "nothing is left of it"


def test_async_bodies():
    body = {"model": "gpt-4o", "messages": HISTORY, "temperature": 0}
    assert asyncio.run(fresh().afit_request(body)) == fresh().fit_request(body)


def test_calls_of_one_session_wait_for_one_another():
    async def both(session):
        return await asyncio.gather(session.afit(HISTORY), session.afit(HISTORY))

    first, second = asyncio.run(both(fresh()))
    assert first.messages == second.messages
    assert {first.report.call, second.report.call} == {1, 2}


# errors


def test_an_error_carries_its_report_and_the_session_goes_on():
    session = fresh()
    before = session.fit(HISTORY[:3]).messages
    with pytest.raises(BudgetUnreachable) as caught:
        session.fit([*HISTORY, *user("ß" * 20_000)])
    report = caught.value.report
    assert not report.checks["budget"].ok
    assert report.rows
    json.loads(report.to_json())
    assert session.fit(HISTORY[:3]).messages == before


def test_a_declared_need_that_stands_nowhere_is_insufficient():
    session = fresh(100_000)
    op = session.task.begin("refund", needs=["PM-0000"])
    with pytest.raises(ContextInsufficient, match="PM-0000") as caught:
        session.fit(HISTORY)
    assert caught.value.report is not None
    session.task.complete(op)
    assert session.fit(HISTORY).report.ok


def test_every_error_but_of_settings_is_of_one_family():
    with pytest.raises(JettisonError):
        fresh().fit([])
    with pytest.raises(CannotFit):
        fresh(10).fit(HISTORY)


@pytest.mark.parametrize("wire", ["openai", "", "OpenAI-Chat"])
def test_an_unknown_wire_names_the_known_ones(wire):
    with pytest.raises(ConfigError, match="openai-responses"):
        Session(TIGHT, wire=wire)


def test_an_unknown_counter_is_refused():
    with pytest.raises(ConfigError, match="counter"):
        Session(Policy(counter="gpt2"))


def test_on_chat_the_system_text_is_in_the_messages():
    with pytest.raises(ConfigError, match="system="):
        fresh().fit(HISTORY, system="Be brief.")


@pytest.mark.parametrize(
    ("wire", "system"),
    [
        ("anthropic", "Be brief."),
        ("anthropic", [{"type": "text", "text": "Be brief."}]),
        ("openai-responses", "Be brief."),
        ("gemini", {"parts": [{"text": "Be brief."}]}),
    ],
)
def test_elsewhere_it_comes_back_in_its_shape(wire, system):
    messages = [{"role": "user", "parts": [{"text": "Hi."}]}] if wire == "gemini" else user("Hi.")
    assert fit(messages, budget=TIGHT, wire=wire, system=system).system == system


# histories on the server


def test_what_is_on_the_server_must_be_weighed():
    reference = [{"type": "item_reference", "id": "msg_1"}, *user("Go on.")]
    with pytest.raises(InvalidInput):
        fit(reference, budget=TIGHT, wire="openai-responses")
    report = fit(reference, budget=TIGHT, wire="openai-responses", prior_tokens=700).report
    assert report.after > 700
    assert any("700" in note for note in report.notes)
    with pytest.raises(BudgetUnreachable):
        fit(reference, budget=TIGHT, wire="openai-responses", prior_tokens=TIGHT)


@pytest.mark.parametrize("pointer", ["previous_response_id", "conversation"])
def test_a_body_that_points_at_the_server_is_refused(pointer):
    body = {"model": "gpt-5", "input": user("Go on."), pointer: "resp_1"}
    with pytest.raises(InvalidInput, match=pointer):
        fit_request(body, budget=TIGHT, wire="openai-responses")


def answers(*texts):
    return [{"type": "function_call_output", "call_id": f"c{n}", "output": text} for n, text in enumerate(texts)]


@pytest.mark.parametrize("repair", [False, True])
def test_answers_to_calls_on_the_server_are_sent(repair):
    given = answers("41", "42")
    with pytest.raises(InvalidInput, match="prior_tokens"):
        fit(given, budget=TIGHT, wire="openai-responses")
    fitted = fit(given, budget=TIGHT, wire="openai-responses", prior_tokens=700, repair=repair)
    assert fitted.messages == given
    assert fitted.report.sendable
    assert not fitted.report.repaired


def test_none_of_the_answers_to_calls_on_the_server_is_evicted():
    """The server refuses a call without its output: they are cut, and stay."""
    given = [*answers(*("\n".join(f"row {n}: {n * n}" for n in range(k, k + 90)) for k in (0, 200))), *user("Go on.")]
    fitted = fit(given, budget=900, wire="openai-responses", prior_tokens=400)
    assert [one.get("call_id") for one in fitted.messages] == ["c0", "c1", None]
    assert fitted.report.after <= 900
    reasons = {lock.reason for lock in fitted.report.protections}
    assert "answers a call on the server" in reasons


# bodies and settings


def test_a_body_keeps_all_else_as_it_was():
    tools = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}]
    body = {"model": "gpt-4o", "messages": HISTORY, "tools": tools, "temperature": 0, "stream": True}
    before = copy.deepcopy(body)
    fitted = fit_request(body, budget=TIGHT)
    assert body == before
    assert {key: value for key, value in fitted.items() if key != "messages"} == {
        key: value for key, value in body.items() if key != "messages"
    }
    assert fitted["messages"] == fit(HISTORY, budget=TIGHT, tools=tools, model="gpt-4o").messages
    assert fitted.report.ok
    json.dumps(fitted)


def test_a_response_schema_takes_room():
    schema = {"type": "json_schema", "json_schema": {"schema": {"properties": {f"key_{n}": {} for n in range(50)}}}}
    body = {"model": "gpt-4o", "messages": HISTORY}
    assert fit_request({**body, "response_format": schema}, budget=9_000).report.schemas > 100
    assert fit_request(body, budget=9_000).report.schemas == 0


def drop_settings():
    return {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def test_the_drop_setting_of_a_body_lets_a_running_turn_be_edited():
    def turn(number):
        block = {"type": "thinking", "thinking": "hm", "signature": f"sig{number}"}
        use = {"type": "tool_use", "id": f"t{number}", "name": "run", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": log_text(number, 900)}
        return [{"role": "assistant", "content": [block, use]}, {"role": "user", "content": [result]}]

    def body(turns, **more):
        messages = join(user("Read all logs."), *map(turn, range(turns)))
        return {"model": "claude-fable-5-2", "max_tokens": 100, "messages": messages, **more}

    def grown(**more):
        session = Session(Policy(budget=5_000, counter=len), wire="anthropic", model="claude-fable-5-2")
        session.fit_request(body(4, **more))
        return session.fit_request(body(8, **more))

    assert grown(thinking=drop_settings()).report.after <= 5_000
    with pytest.raises(CannotFit):
        grown(thinking={"type": "adaptive"})


def test_the_budget_of_a_model_is_looked_up():
    assert fit(user("Hi."), model="gpt-4o").report.limit == Budget.for_model("gpt-4o").limit
    with pytest.raises(ConfigError, match="budget="):
        fit(user("Hi."))
    with pytest.raises(ConfigError, match="no-such-model"):
        fit(user("Hi."), model="no-such-model")


def test_settings_stand_in_the_policy_or_beside_the_budget_not_both():
    assert fit(user("Hi."), budget=TIGHT, decay=0.2).report.ok
    assert fit(user("Hi."), policy=Policy(budget=9_999), budget=TIGHT).report.limit == TIGHT
    with pytest.raises(ConfigError, match="decay"):
        fit(user("Hi."), policy=Policy(), decay=0.2)


def test_dependencies_of_an_item():
    session = fresh(100_000)
    made = join(
        user("Refund it."),
        call("get_order", {"id": "ORD-9913"}, {"payment": "PM-5521"}),
        call("refund", {"payment": "PM-5521"}, {"ok": True}, number=1),
    )
    rows = {row.message: row for row in session.fit(made).report.rows}
    (edge,) = session.dependencies(rows[2].item)
    assert (edge.value, edge.producer, edge.consumer) == ("pm-5521", rows[2].item, rows[3].item)
    assert session.dependencies(rows[3].item) == (edge,)
    assert session.dependencies(rows[0].item) == ()


def test_what_a_caller_does_to_an_output_is_not_in_the_next_one():
    messages, session = HISTORY, fresh()
    first = session.fit(messages)
    cut = next(at for at, source in enumerate(first.sources) if first.messages[at] is not messages[source])
    before = copy.deepcopy(first.messages)
    again = session.fit(messages)
    assert again.messages == before
    again.messages[cut]["content"] = "changed"
    again.messages[cut]["more"] = [1]
    assert session.fit(messages).messages == before
    assert session.fit([*messages, *says("Done.")]).messages[: len(before)] == before


def test_after_an_edit_decisions_go_with_the_ordinal_among_equal_items_and_their_kind():
    """Equal texts, of which some were cut: the edited branch has the same ones cut, and never half of a pair."""
    page = log_text(1, 1_500)
    turns = [call("run", {"cmd": f"tail {n}"}, page, number=n) for n in range(4)]
    messages = join(user("Find why it failed."), *turns, says(page), user("Go on."))
    session = fresh()
    before = [row.decision for row in session.fit(messages).report.rows]
    assert {"gone", "full"} <= set(before)
    edited = join(user("Find why it fails."), messages[1:])
    after = [row.decision for row in session.fit(edited).report.rows]
    assert after == before
