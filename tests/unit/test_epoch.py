"""Epochs: when one is due, how far it goes, what it leaves alone, and what happens when nothing safe fits."""

import pytest

import jettison.epoch
from jettison import Budget, Policy, Session
from jettison.epoch import Outcome, Request
from jettison.errors import BudgetUnreachable, StateBroken
from jettison.flow.dependencies import Flow
from jettison.items import Fidelity
from jettison.plan import Plan
from strategies import code_text, log_text
from unit.flow.reading import call, join, says, user
from unit.stages.scene import scene

ASKED = user("Find out why the batch fails.")


def loop(pages, size=600):
    """A tool loop: one log a turn."""
    return join(ASKED, *(call("run", {"cmd": f"tail {n}"}, log_text(n, size), number=n) for n in range(pages)))


def weight(messages):
    return sum(map(scene(messages).view.cost, scene(messages).view.items))


def decide(messages, budget, last=None, sent=0, **policy):
    """The policy's decision on one call, a character a token; `last`: the outcome of the call before."""
    settings = Policy(budget=budget, **policy)
    seen = scene(messages, limit=settings.size.limit)
    plan, sealed = (last.plan, last.sealed) if last else (Plan(), 0)
    return settings.decide(Request(seen.view, seen.task, Flow(), plan, sealed, sent))


def room_of(messages, budget):
    """What of the budget is not taken by hard protections."""
    held = {lock.item for lock in decide(messages, 10 * budget).locks.protections}
    view = scene(messages).view
    return budget - sum(view.cost(item) for item in view.items if item.id in held)


# when


def test_while_the_request_fits_nothing_is_decided():
    messages = loop(6)
    out = decide(messages, weight(messages))
    assert (out.epoch, out.fresh, out.tokens) == ("none", (), weight(messages))


def test_one_token_less_and_an_epoch_is_due():
    messages = loop(6)
    out = decide(messages, weight(messages) - 1)
    assert out.epoch == "major"
    assert out.fresh


@pytest.mark.parametrize("high", [0.3, 0.6, 0.9])
def test_the_high_mark_is_a_share_of_the_evictable_room(high):
    messages = loop(8)
    for budget in range(weight(messages), 4 * weight(messages), weight(messages) // 7):
        room = room_of(messages, budget)
        evictable = weight(messages) - (budget - room)
        out = decide(messages, Budget(budget, high_water=high, low_water=high / 2))
        assert (out.epoch != "none") == (evictable > high * room), budget


@pytest.mark.parametrize("low", [0.2, 0.4, 0.6])
def test_an_epoch_goes_down_to_the_low_mark(low):
    messages = loop(20)
    budget = weight(messages) // 2
    out = decide(messages, Budget(budget, low_water=low))
    room = room_of(messages, budget)
    assert out.tokens <= budget - room + low * room + 1
    assert out.tokens == sum(weight_of(messages, out).values())


def weight_of(messages, out: Outcome):
    """Tokens of each item under an outcome."""
    view = scene(messages).view
    return {
        item.id: out.plan.decisions[item.id].after if item.id in out.plan.decisions else view.cost(item)
        for item in view.items
    }


# what it leaves alone


def replay(messages, budget, step=2, **policy):
    """The outcomes of a session's calls, each with the one before."""
    last, sent = None, 0
    for end in range(1, len(messages) + 1, step):
        out = decide(messages[:end], budget, last, sent, **policy)
        yield last, out
        last, sent = out, len(scene(messages[:end]).view.units)


def first_change(messages, out):
    """Index of the first item that an outcome changes."""
    return next(at for at, item in enumerate(scene(messages).view.items) if item.id in {d.item for d in out.fresh})


def test_a_first_call_keeps_more_than_the_first_epoch_of_a_running_session():
    messages = loop(40)
    sent = len(scene(messages).view.units) - 1
    first, running = (decide(messages, weight(messages) // 2, sent=sent) for sent in (0, sent))
    room = room_of(messages, weight(messages) // 2)
    profile = Policy().marks
    assert (first.epoch, running.epoch) == ("major", "major")
    assert running.tokens < first.tokens
    assert first.tokens - running.tokens == pytest.approx((profile.first_call - profile.first) * room, rel=0.5)


def test_an_epoch_spares_the_oldest_units_where_little_is_lost_by_it(monkeypatch):
    """Four short results that all later calls take ids from, then logs."""
    spared, budget, last = 0, 5_000, None
    ids = [f"ORD-{n}17{n}" for n in range(12)]
    used = [call("list", {"page": n}, "\n".join(ids[3 * n : 3 * n + 3]), number=n) for n in range(4)]
    logs = [call("run", {"order": ids[n % 12]}, log_text(n, 600), number=n) for n in range(4, 60)]
    for end in range(3, 121, 2):
        messages = join(ASKED, *used, *logs)[:end]
        sent = len(scene(messages).view.units) - 1
        out = decide(messages, budget, last, sent)
        with monkeypatch.context() as patch:
            patch.setattr(jettison.epoch, "SPARED", -1.0)
            plain = decide(messages, budget, last, sent)
        last = out
        assert (out.epoch == "none") == (plain.epoch == "none")
        if out.epoch == "none":
            continue
        assert plain.tokens <= out.tokens <= min(budget, plain.tokens + jettison.epoch.SPARED * budget)
        assert first_change(messages, out) >= first_change(messages, plain)
        spared += first_change(messages, out) > first_change(messages, plain)
    assert spared


@pytest.mark.parametrize(("sealed", "kind"), [(1, "minor"), (16, "major")])
def test_an_epoch_that_changes_nothing_sealed_is_minor(sealed, kind):
    messages = loop(20)
    last = Outcome(Plan(), decide(messages, 10 * weight(messages)).locks, 0, sealed=sealed)
    out = decide(messages, weight(messages) * 2 // 3, last)
    old = {item.id for unit in scene(messages).view.units if unit.index < sealed for item in unit.items}
    assert bool(old & {decision.item for decision in out.fresh}) == (kind == "major")
    assert out.epoch == kind
    assert out.sealed > sealed


def test_epochs_are_rare():
    kinds = [out.epoch for *_, out in replay(loop(60), 5_000)]
    assert kinds.count("none") > 1.5 * (len(kinds) - kinds.count("none"))  # a unit here is 13 % of the budget


@pytest.mark.parametrize("profile", ["safe", "economy"])
def test_a_loop_never_goes_over_and_fidelity_only_goes_down(profile):
    for last, out in replay(loop(30), 4_000, profile=profile):
        assert out.tokens <= 4_000
        assert all(
            out.plan.fidelity(item) <= last.plan.fidelity(item) for item in (last.plan.decisions if last else ())
        )


def test_the_newest_unit_and_the_users_words_are_not_touched():
    messages = loop(20)
    out = decide(messages, weight(messages) // 3)
    view = scene(messages).view
    assert not {item.id for item in (*view.units[-1].items, view.items[0])} & set(out.plan.decisions)


# admission

BIG = join(ASKED, call("run", {"cmd": "all"}, log_text(7, 6_000)))


def test_safe_shows_an_oversize_result_whole_while_it_fits():
    assert decide(BIG, 8_000).epoch == "none"


def test_economy_cuts_an_oversize_result_on_arrival():
    out = decide(BIG, 8_000, profile="economy")
    assert out.epoch == "arrival"
    assert [decision.fidelity for decision in out.fresh] == [Fidelity.COMPRESSED]
    assert out.tokens < 0.5 * 8_000


@pytest.mark.parametrize(("before", "least", "most"), [(900, 0.25, 0.4), (3_600, 0.1, 0.2)])
def test_an_oversize_result_is_cut_to_a_share_of_what_is_free_or_of_the_room(before, least, most):
    messages = join(
        ASKED, call("run", {"cmd": "tail"}, log_text(1, before)), call("run", {"cmd": "head"}, log_text(2, 6_000))
    )
    out = decide(messages, 5_000, None, 2)
    result = scene(messages).view.items[-1]
    assert out.epoch == "arrival"
    assert least * 5_000 < out.plan.decisions[result.id].after <= most * 5_000


def test_economy_leaves_alone_what_is_not_oversize():
    assert decide(BIG, 40_000, profile="economy").epoch == "none"


def test_economy_leaves_alone_what_was_sent_before():
    assert decide(BIG, 8_000, sent=99, profile="economy").epoch == "none"


@pytest.mark.parametrize("profile", ["safe", "economy"])
def test_a_result_that_does_not_fit_is_cut_on_arrival(profile):
    out = decide(BIG, 3_000, profile=profile)
    assert out.epoch == "arrival"
    assert out.tokens <= 3_000
    levels = {lock.level for lock in out.locks.protections if lock.reason == "latest unit"}
    assert levels == {"verbatim", "present"}, "the call as it was, the result as far as it fits"


# a long history, a long goal


def test_beyond_the_horizon_a_first_call_drops_whole_units_but_what_is_protected():
    messages = loop(120)
    out = decide(messages, weight(messages) // 40)
    far = [decision for decision in out.fresh if decision.reason.startswith("older than the newest")]
    assert len(far) > 100
    assert {decision.fidelity for decision in far} == {Fidelity.GONE}
    assert scene(messages).view.items[0].id not in out.plan.decisions
    assert out.tokens <= weight(messages) // 40


def test_what_lies_beyond_the_horizon_is_counted_when_somebody_asks():
    messages, counted = loop(120), []

    def count(text):
        counted.append(text)
        return len(text)

    session = Session(Policy(budget=weight(messages) // 40, counter=count))
    report = session.fit(messages).report
    far = [row for row in messages if row["role"] == "tool" and row["content"] not in counted]
    assert len(far) > 100
    assert report.after <= weight(messages) // 40
    assert report.before == 3 + weight(messages)
    assert sum(row.before for row in report.rows) == weight(messages)
    again = session.fit(messages).report
    assert (again.before, again.after) == (report.before, report.after)


def test_what_went_beyond_the_horizon_is_not_read_by_later_epochs_either():
    messages = loop(160)
    session = Session(Policy(budget=weight(messages) // 40, counter=len))
    session.fit(messages[:241])
    far = {
        row.item for row in session.fit(messages[:241]).report.rows if row.reason.startswith("older than the newest")
    }
    epochs = [session.fit(messages[:end]).report.cache.epoch for end in range(243, len(messages) + 1, 2)]
    assert {"minor", "major"}.intersection(epochs)
    assert len(far) > 100
    assert far.isdisjoint(session._state.flow.sources)


def test_a_text_that_is_guessed_at_nothing_goes_like_the_rest():
    said = [{"type": "text", "text": "0"}] * 5  # of a message's later parts only the text is counted
    turns = [[{"role": "user", "content": said}, {"role": "assistant", "content": log_text(n, 90)}] for n in range(80)]
    messages = [*(message for turn in turns for message in turn), {"role": "user", "content": "Go on."}]
    report = Session(Policy(budget=400), wire="anthropic").fit(messages).report
    assert report.ok
    assert report.after <= 400


def test_many_characters_that_are_few_tokens_are_counted_at_once():
    messages, counted = loop(60), []

    def count(text):
        counted.append(text)
        return len(text) // 20

    session = Session(Policy(budget=weight(messages) // 20 // 4, counter=count))
    report = session.fit(messages).report
    assert all(row["content"] in counted for row in messages if row["role"] == "tool")
    assert not any(row.reason.startswith("older than the newest") for row in report.rows)


def test_a_goal_that_does_not_fit_keeps_its_request():
    words = "Why does the ledger drain stop at night? "
    messages = join(user(words + "\n```\n" + code_text(3, 9_000) + "\n```"), loop(4)[1:], user("Go on."))
    out = decide(messages, 4_000)
    goal = out.plan.decisions[scene(messages).view.items[0].id]
    assert goal.fidelity is Fidelity.COMPRESSED
    assert words.strip() in goal.text
    assert out.tokens <= 4_000


# nothing safe fits


def test_the_numbers_of_the_error_add_up():
    messages = loop(6)
    with pytest.raises(BudgetUnreachable) as caught:
        decide(messages, Budget(90, reserve_output=40, reserve_tools=10))
    error = caught.value
    assert error.available == 40 < error.needed
    assert error.smallest == error.needed + 50
    assert error.biggest[0][2] == max(entry[2] for entry in error.biggest)
    assert all(why for *_, why in error.biggest)
    assert any("degrade" in hint for hint in error.hints)
    assert f"{error.smallest:,}" in str(error)


def test_reserves_are_named_only_where_they_would_help():
    def hints(budget):
        with pytest.raises(BudgetUnreachable) as caught:
            decide(loop(3), budget)
        return " ".join(caught.value.hints)

    assert "reserves" in hints(Budget(5_000, reserve_output=4_960))
    assert "reserves" not in hints(40)


def test_the_smallest_budget_of_the_error_works_and_one_less_does_not():
    messages = loop(6)
    with pytest.raises(BudgetUnreachable) as caught:
        decide(messages, 40)
    assert decide(messages, caught.value.smallest).tokens <= caught.value.smallest
    with pytest.raises(BudgetUnreachable):
        decide(messages, caught.value.smallest - 1)


def degraded(budget):
    """What is given up of a history with a pin, a constraint and a goal."""
    session = Session(Policy(budget=budget, counter=len, on_unsafe="degrade"))
    first = "Fix the failing batch of tonight. " + "It matters to us a lot. " * 5 + "Never push to main."
    messages = join(user(first), call("run", {"cmd": "env"}, log_text(1, 900)), says("Seen."), user("Go on, please."))
    session.task.pin(log_text(1, 900).split("\n")[3])
    try:
        return [loss.split(":")[0] for loss in session.fit(messages).report.degraded]
    except BudgetUnreachable:
        return None


def test_protections_are_given_up_least_binding_first_and_each_is_named():
    order, seen = ["pinned", "goal", "constraint", "latest user turn"], []
    for budget in range(700, 20, -10):
        lost = degraded(budget)
        if lost is None:
            break
        kinds = list(dict.fromkeys(next(name for name in order if reason.startswith(name)) for reason in lost))
        assert kinds == order[: len(kinds)]
        assert len(kinds) >= len(seen), "a smaller budget never gives up less"
        seen = kinds
    assert seen[:3] == order[:3]


# signed reasoning


def thought(text, number, tool=True):
    """An Anthropic turn with signed thinking: a call and its result, or an answer."""
    block = {"type": "thinking", "thinking": text, "signature": f"sig{number}"}
    if not tool:
        return [{"role": "assistant", "content": [block, {"type": "text", "text": "Done."}]}]
    use = {"type": "tool_use", "id": f"t{number}", "name": "run", "input": {"cmd": f"tail {number}"}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": log_text(number, 900)}
    return [{"role": "assistant", "content": [block, use]}, {"role": "user", "content": [result]}]


EARLIER = join(user("Look at the logs."), thought("hm one", 1), thought("hm two", 2), thought("hm", 3, tool=False))
RUNNING = join(user("And now the others."), thought("hm four", 4), thought("hm five", 5))


def anthropic(budget, model="claude-fable-5-2", **policy):
    return Session(Policy(budget=budget, counter=len, **policy), wire="anthropic", model=model)


def thinking(messages):
    return [
        block["thinking"]
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "thinking"
    ]


def test_reasoning_of_earlier_turns_that_an_edit_voids_is_removed():
    session = anthropic(2_600)
    assert thinking(session.fit(EARLIER).messages) == ["hm one", "hm two", "hm"]
    later = session.fit(join(EARLIER, user("Go on. " * 120)))
    assert later.report.cache.epoch == "major"
    assert "hm" not in thinking(later.messages), "it stands behind the edit"
    assert later.report.cache.reasoning_lost >= 1


FITS = Session(Policy(budget=100_000, counter=len), wire="anthropic").fit(join(EARLIER, RUNNING)).report.before


def grown(session):
    """A running turn that was sent, and then grows over the budget."""
    assert session.fit(join(EARLIER, RUNNING)).report.cache.epoch == "none"
    return session.fit(join(EARLIER, RUNNING, thought("hm six", 6)))


def test_a_model_that_binds_reasoning_refuses_an_edit_before_the_running_turn():
    with pytest.raises(StateBroken, match=r"Policy\(reasoning_drop=True\)") as caught:
        grown(anthropic(FITS))
    assert caught.value.missing
    assert caught.value.report is not None


def test_with_the_drop_setting_the_edit_is_made():
    fitted = grown(anthropic(FITS, reasoning_drop=True))
    assert fitted.report.cache.epoch == "major"
    assert thinking(fitted.messages)[-1] == "hm six"


def test_a_model_that_does_not_bind_reasoning_needs_no_setting():
    fitted = grown(anthropic(FITS, model="claude-sonnet-4-5"))
    assert fitted.report.cache.epoch == "major"
    assert thinking(fitted.messages)[-1] == "hm six"
