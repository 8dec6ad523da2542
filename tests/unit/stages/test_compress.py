"""Compress: decisions with their text, counted for real, within the room, and never more than before."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.cut import is_synthetic
from jettison.items import Fidelity
from jettison.plan import apply
from jettison.stages.compress import compress
from jettison.stages.evict import evict
from strategies import code_text, law, log_text, rows_text
from unit.flow.reading import call, join, says, user
from unit.stages.scene import scene

SEEN = scene(
    join(
        user("Find the slow module."),
        call("run", {"cmd": "tail log"}, log_text(1, 2_500)),
        call("list", {"page": 1}, rows_text(2, 2_000), number=1),
        says("The log and the list are read."),
        call("read", {"path": "src/a.py"}, code_text(3, 2_000), number=2),
        user("Go on."),
    )
)
NAMES = ("1.0", "3.0", "5.0", "6.0")
ALL = SEEN.tokens(*NAMES)
LINE = SEEN.item("2.0").text.split("\n")[9]


def reduced(seen, room, names=NAMES):
    ranking = seen.rank(*names)
    return compress(seen.view, ranking, evict(ranking, room), seen.plan, room, 1)


def taken(seen, decisions, names=NAMES):
    """Tokens of the units as they are after the decisions, counted anew."""
    items = [item for name in names for item in seen.unit_of(name).items]
    return sum(seen.view.cost(item) for item in apply(items, seen.plan.merged(decisions)))


@given(st.integers(0, ALL + 100))
@law(100)
def test_what_is_left_fits_the_room(room):
    assert taken(SEEN, reduced(SEEN, room)) <= room


@given(st.integers(0, ALL))
@law(100)
def test_each_decision_says_what_it_takes(room):
    for decision in reduced(SEEN, room):
        item = next(item for item in SEEN.view.items if item.id == decision.item)
        assert decision.before == SEEN.view.cost(item)
        assert decision.reason
        if decision.fidelity is Fidelity.GONE:
            assert (decision.after, decision.text, decision.segments) == (0, "", ())
        else:
            left = replace(item, text=decision.text, fidelity=decision.fidelity)
            assert decision.after == SEEN.view.cost(left) < decision.before
            assert is_synthetic(decision.text)
            assert decision.handle in decision.text
            assert (decision.fidelity is Fidelity.COMPRESSED) == bool(decision.segments)


@given(st.integers(200, ALL), st.integers(0, ALL))
@law(100)
def test_a_second_epoch_only_takes_away(first, second):
    once = reduced(SEEN, first)
    seen = replace(SEEN, plan=SEEN.plan.merged(once))
    for decision in reduced(seen, second):
        before = seen.plan.decisions.get(decision.item)
        if before is not None:
            assert decision.fidelity <= before.fidelity
            assert set(decision.segments) <= set(before.segments)
            assert decision.after < before.after


@given(st.integers(0, ALL))
@law(50)
def test_a_protected_span_is_there_word_for_word(room):
    seen = SEEN.locked(("2.0", LINE))
    plan = seen.plan.merged(reduced(seen, room))
    (left,) = apply([seen.item("2.0")], plan)
    assert LINE in left.text


def test_ample_room_changes_nothing():
    assert reduced(SEEN, 2 * ALL) == []


def test_no_room_drops_calls_with_their_results():
    decisions = reduced(SEEN, 0)
    assert {decision.item for decision in decisions} == {item.id for n in NAMES for item in SEEN.unit_of(n).items}
    assert {decision.fidelity for decision in decisions} == {Fidelity.GONE}


@given(st.integers(0, ALL))
@law(50)
def test_a_call_goes_only_with_its_result(room):
    plan = SEEN.plan.merged(reduced(SEEN, room))
    for name in ("1.0", "3.0", "6.0"):
        assert len({plan.fidelity(item.id) is Fidelity.GONE for item in SEEN.unit_of(name).items}) == 1


@given(st.integers(0, ALL))
@law(50)
def test_a_frozen_unit_is_as_it_was_or_gone(room):
    ranking = SEEN.rank(*NAMES, frozen=(SEEN.item("1.0").unit,))
    decisions = compress(SEEN.view, ranking, evict(ranking, room), SEEN.plan, room, 1)
    ids = {item.id for item in SEEN.unit_of("1.0").items}
    assert {decision.fidelity for decision in decisions if decision.item in ids} <= {Fidelity.GONE}


def test_what_is_gone_is_not_decided_again():
    seen = SEEN.decided("5.0", Fidelity.GONE)
    assert seen.item("5.0").id not in {decision.item for decision in reduced(seen, 0)}


def test_a_turn_of_one_text_that_is_gone_has_no_rest():
    seen = scene(
        join(user("A ticket, please."), says("Where to?" * 9), user("Go on."), says("When?" * 9), user("Go on."))
    )
    reasons = {one.reason for one in reduced(seen, 0, ("1.0", "3.0"))}
    assert reasons == {"no room: other parts give more for their tokens"}
