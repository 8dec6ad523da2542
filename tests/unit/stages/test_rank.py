"""Rank: forced picks first, then gain per token; what is held elsewhere is worth nothing."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import fit
from jettison.flow.segments import as_lines
from jettison.flow.sources import Source
from jettison.gains import KAPPA, NAMED, ROOMY
from jettison.items import Fidelity, Item, Kind
from jettison.plan import Locks, Protection
from jettison.ranking import WHOLE
from jettison.stages.rank import _forced
from strategies import law, log_text
from unit.flow.reading import call, join, says, user
from unit.stages.scene import scene

ROWS = [{"order_id": f"ORD-{n}913", "note": "kept for the reader " + "ab" * n} for n in range(1, 7)]
OTHER = [{"order_id": f"RMA-{n}513", "note": "something else here " + "cd" * n} for n in range(1, 7)]


def history(*results):
    made = [call("list", {"page": n}, result, number=n) for n, result in enumerate(results)]
    return join(user("Look through the orders."), *made, user("Go on."))


def picks(ranking):
    """All of them, the forced ones first."""
    return [*ranking.forced, *ranking.rest]


def gains(ranking, name):
    """Gain of each segment of an item."""
    return {pick.segment: -pick.order * pick.tokens for pick in picks(ranking) if pick.item.startswith(f"{name}-")}


def test_all_segments_of_all_candidates_are_ordered_once():
    seen = scene(history(ROWS, OTHER))
    ranking = seen.rank("1.0", "3.0")
    assert list(ranking.candidates) == [seen.item("1.0").unit, seen.item("3.0").unit]
    for name in ("2.0", "4.0"):
        assert sorted(gains(ranking, name)) == list(range(12))
    openings = [pick for pick in picks(ranking) if not pick.item]
    assert sorted(pick.unit for pick in openings) == list(ranking.candidates)


def test_the_best_gain_per_token_comes_first():
    orders = [pick.order for pick in picks(scene(history(ROWS, OTHER)).rank("1.0", "3.0"))]
    assert orders == sorted(orders)


def test_an_identifier_is_worth_more_than_prose():
    found = gains(scene(history(ROWS)).rank("1.0"), "2.0")
    assert found[0] > 5 * found[1]


def test_of_two_holders_of_a_value_only_one_is_paid():
    ranking = scene(history(ROWS, ROWS)).rank("1.0", "3.0")
    old, new = gains(ranking, "2.0"), gains(ranking, "4.0")
    for segment in range(0, 12, 2):
        assert min(old[segment], new[segment]) <= KAPPA
        assert max(old[segment], new[segment]) > KAPPA


def test_what_stays_anyway_is_worth_nothing_elsewhere():
    alone = gains(scene(history(ROWS, OTHER)).rank("1.0"), "2.0")
    held = gains(scene(history(ROWS, ROWS)).rank("1.0"), "2.0")
    assert all(5 * held[segment] < alone[segment] for segment in range(0, 12, 2))


def test_what_the_plan_already_dropped_covers_nothing():
    seen = scene(history(ROWS, ROWS)).decided("4.0", Fidelity.GONE)
    assert all(gain > KAPPA for segment, gain in gains(seen.rank("1.0"), "2.0").items() if segment % 2 == 0)


def test_values_of_the_instructions_are_worth_nothing():
    system = [{"role": "system", "content": " ".join(row["order_id"] for row in ROWS)}]
    found = gains(scene(system + history(ROWS)).rank("2.0"), "3.0")
    assert all(found[segment] <= KAPPA for segment in range(0, 12, 2))


def test_forced_segments_come_first():
    seen = scene(history(ROWS, OTHER)).locked(("2.0", "kept for the reader abababab"))
    ranking = seen.rank("1.0", "3.0")
    assert {(pick.item, pick.segment) for pick in ranking.forced} == {("", WHOLE), (seen.item("2.0").id, 7)}
    assert sorted(gains(ranking, "2.0")) == list(range(12)), "and they are not in the rest once more"
    assert seen.rank("1.0").candidates[seen.item("1.0").unit].must


def test_a_protected_span_over_several_lines_forces_each_of_them():
    lines = "\n".join(f"line {n} of the listing" for n in range(20))
    seen = scene(history(lines)).locked(("2.0", "3 of the listing\nline 4"))
    (part,) = seen.rank("1.0").candidates[seen.item("1.0").unit].parts
    assert part.forced == {3, 4}


def test_a_span_that_no_segment_holds_keeps_its_item_whole():
    """The span runs over the border of two leaves, so no cut gives it word for word."""
    seen = scene(history(ROWS)).locked(("2.0", json.dumps(ROWS[0])[5:40]))
    candidate = seen.rank("1.0").candidates[seen.item("1.0").unit]
    assert candidate.parts == []
    assert candidate.overhead == candidate.tokens


def test_a_protected_item_is_part_of_what_its_unit_costs():
    seen = scene(history(ROWS)).locked(("2.0", ""))
    candidate = seen.rank("1.0").candidates[seen.item("1.0").unit]
    assert (candidate.parts, candidate.must) == ([], True)


def test_a_frozen_unit_is_whole_or_gone():
    seen = scene(history(ROWS, OTHER))
    ranking = seen.rank("1.0", "3.0", frozen=(seen.item("1.0").unit,))
    candidate = ranking.candidates[seen.item("1.0").unit]
    assert candidate.frozen
    assert (candidate.parts, candidate.texts, candidate.overhead) == ([], [], seen.tokens("1.0"))
    (pick,) = [pick for pick in picks(ranking) if pick.unit == seen.item("1.0").unit]
    assert (pick.item, pick.segment) == ("", WHOLE)


def test_a_small_result_is_not_cut():
    assert scene(history("short")).rank("1.0").candidates.popitem()[1].parts == []


def test_what_an_earlier_epoch_left_is_all_there_is_to_choose_from():
    seen = scene(history(ROWS)).decided("2.0", Fidelity.COMPRESSED, "x" * 80, (0, 2, 4))
    ranking = seen.rank("1.0")
    assert sorted(gains(ranking, "2.0")) == [0, 2, 4]
    stubbed = scene(history(ROWS)).decided("2.0", Fidelity.STUB, "[cut 9 tokens, ref badugisona]")
    assert gains(stubbed.rank("1.0"), "2.0") == {}


def test_prose_of_the_assistant_can_go_alone():
    seen = scene(join(user("Hi."), says("A long answer. " * 20), user("Go on.")))
    candidate = seen.rank("1.0").candidates[seen.item("1.0").unit]
    assert candidate.texts == [seen.item("1.0")]


@pytest.mark.parametrize("seed", range(3))
def test_the_same_call_is_ranked_the_same(seed):
    first, again = (picks(scene(history(ROWS, OTHER)).rank("1.0", "3.0")) for _ in range(2))
    assert first == again


ORDERS = [{"order_id": f"ORD-{n}", "status": "sent" if n % 3 else "pending", "amount": 10.5 * n} for n in range(60)]
LINES = "\n".join(f"ORD-{n} {'sent' if n % 3 else 'pending'} since the week before last" for n in range(60))


def asked(request, result):
    return scene(join(user(request), call("list", {"page": 1}, result), says("Let me see."), user("Go on.")))


@pytest.mark.parametrize("request_", ["Refund ORD-17.", "Верни деньги за ORD-17."])
def test_what_is_said_of_an_identifier_that_the_task_names_is_worth_keeping(request_):
    """The identifier itself is in the goal, so it is worth nothing here: without this its record went first."""
    found = gains(asked(request_, ORDERS).rank("1.0"), "2.0")
    of_it, others = [found[at] for at in (51, 52, 53)], [gain for at, gain in found.items() if at not in (51, 52, 53)]
    assert min(of_it) >= NAMED
    assert sum(of_it) / 3 > 5 * sum(others) / len(others)


def test_so_is_its_line_of_a_text():
    found = gains(asked("Refund ORD-17.", LINES).rank("1.0"), "2.0")
    assert max(found, key=found.__getitem__) == 17


def test_an_identifier_that_stands_everywhere_says_nothing():
    rows = [{**row, "customer": "C-7781"} for row in ORDERS]
    found = gains(asked("What did C-7781 order?", rows).rank("1.0"), "2.0")
    assert max(found.values()) < NAMED


def test_nor_does_a_record_that_holds_the_whole_world():
    one = {"order_id": "ORD-17", **{f"field{n}": f"words about {n} of it" for n in range(40)}}
    found = gains(asked("Refund ORD-17.", one).rank("1.0"), "2.0")
    assert all(gain < NAMED for at, gain in found.items() if at)


def test_in_a_small_room_it_takes_no_place():
    seen = asked("Refund ORD-17.", ORDERS)
    small = replace(seen, view=replace(seen.view, limit=ROOMY - 1))
    assert max(gains(small.rank("1.0"), "2.0")[at] for at in (52, 53)) < NAMED


def test_what_the_user_corrected_outlives_lines_of_a_log():
    """A correction has no identifiers; the log has hundreds."""
    log = "\n".join(f"09:00:{n:02} INFO  ledger.flush batch=7{n:02} took=4{n}ms" for n in range(30))
    seen = scene(
        join(
            user("Book a table for 6."), says("Done."), user("Oh, there will be 8 of us, not 6."), call("run", {}, log)
        )
    )
    ranking = seen.rank()
    place = {(pick.item.split("-")[0], pick.segment): at for at, pick in enumerate(picks(ranking))}
    assert place["2.0", WHOLE] < min(place["4.0", line] for line in range(30))


def test_pasted_data_of_a_user_is_no_word_of_theirs():
    pasted = json.dumps({"took": 41, "ok": True})
    seen = scene(join(user("Book a table for 6."), says("Done."), user(pasted), user("Oh, 8 of us, not 6.")))
    order = {pick.item.split("-")[0]: pick.order for pick in seen.rank().rest if pick.item}
    assert order["3.0"] < order["2.0"]


@pytest.mark.parametrize("limit", [100_000, 300])
def test_rows_of_what_the_user_asks_about_are_not_held_by_the_question(limit):
    rows = "\n".join(f"deleted record user-{n * 13} created 201{n % 10}-05-0{n % 9 + 1}" for n in range(30))
    asked = user("Are user-130 and user-39 gone?")
    seen = scene(join(user("Delete what is older than 2020."), call("purge", {}, rows), asked), limit=limit)
    ranking = seen.rank("1.0", "2.0")
    lines = [pick.segment for pick in ranking.rest if pick.item.startswith("2.0-")]
    assert set(lines[:2]) == {10, 3}


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("I created the deployment 3f9c2e1a-77d4-4c0b-9a55-0d1f6f2f9b31.", "3f9c2e1a-77d4-4c0b-9a55-0d1f6f2f9b31"),
        ("Your reservation is RSV-88121-X; the room is on the third floor.", "RSV-88121-X"),
        ("Заказ ORD-5512-A создан, ссылка отправлена на anna.k@example.com.", "ORD-5512-A"),
    ],
)
@pytest.mark.parametrize("share", [0.8, 0.6, 0.4, 0.3])
def test_an_identifier_that_only_the_assistant_told_outlives_routine(told, name, share):
    def run(seed):
        call = {"name": "run", "arguments": json.dumps({"cmd": f"step {seed}"})}
        return [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{seed}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{seed}", "content": "\n".join(log_text(seed, 4_000).split("\n")[:8])},
            {"role": "assistant", "content": f"Step {seed} looked at."},
        ]

    work = [message for seed in range(10) for message in run(seed)]
    talk = [
        {"role": "user", "content": "Look after the services."},
        *work[:6],
        {"role": "assistant", "content": told},
        *work[6:],
    ]
    full = fit(talk, budget=100_000).report.before
    assert name in json.dumps(fit(talk, budget=int(share * full)).messages)


@law(60)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), max_size=12), st.integers(0, 99))
def test_the_segments_of_protected_spans_are_those_that_they_touch(places, seed):
    text = log_text(seed, 500)
    item = Item("0.0-a", Kind.RESULT, text, 0, 0, 0, 0, "tool")
    source = Source(item, as_lines(text), [], 0)
    ends = [(start, min(len(text), start + size)) for start, size in places if start < len(text)]
    locks = Locks(tuple(Protection(item.id, "goal", "never", text[a:b], start=a, end=b) for a, b in ends))
    touched = {
        at for at, part in enumerate(source.parts.segments) if any(part.start < b and part.end > a for a, b in ends)
    }
    assert _forced(source, locks, item) == touched
