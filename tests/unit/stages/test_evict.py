"""Evict: within the room by estimate, forced picks always, then the newest units whole, then stubs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import fit
from jettison.stages.evict import evict
from strategies import law
from unit.flow.reading import call, join, says, user
from unit.stages.scene import scene


def rows(mark, count=12):
    return [{"order_id": f"{mark}-{n:03}", "note": f"{mark} some words beside the number {n}"} for n in range(count)]


SEEN = scene(
    join(
        user("Look through the orders."),
        call("list", {"page": 1}, rows("ORD")),
        call("list", {"page": 2}, rows("RMA"), number=1),
        says("Two pages read, and a few words of prose about them that nobody needs. " * 3),
        call("list", {"page": 3}, rows("SPR"), number=2),
        user("Go on."),
    )
)
NAMES = ("1.0", "3.0", "5.0", "6.0")
ALL = SEEN.tokens(*NAMES)


def spent(ranking, selection):
    """What the selection costs by the estimate of its picks, companions and paths aside."""
    opened = {pick.unit for pick in selection.taken}
    tokens = sum(pick.tokens for pick in selection.taken if pick.item and pick.unit not in selection.full)
    for index, candidate in ranking.candidates.items():
        if index in selection.full:
            tokens += candidate.tokens
        elif index in opened or index in selection.stubs:
            tokens += candidate.overhead
    return tokens


@given(st.integers(0, ALL + 50))
@law(200)
def test_the_room_is_respected(room):
    ranking = SEEN.rank(*NAMES)
    assert spent(ranking, evict(ranking, room)) <= room


@given(st.integers(0, ALL))
@law(50)
def test_nothing_is_taken_twice_and_labels_are_of_the_same_record(room):
    ranking = SEEN.rank(*NAMES)
    selection = evict(ranking, room)
    taken = [(pick.unit, pick.item, pick.segment) for pick in selection.taken]
    assert len(set(taken)) == len(taken)
    assert not set(selection.full) & set(selection.stubs)
    for pick, labels in zip(selection.taken, selection.labels, strict=True):
        for label in labels:
            segments = SEEN.flow.sources[pick.item].parts.segments
            assert segments[label].record == segments[pick.segment].record


@given(st.integers(0, 300))
@law(50)
def test_forced_picks_are_taken_whatever_the_room(room):
    seen = SEEN.locked(("2.0", "some words beside the number 7"), ("7.0", "SPR-004"))
    selection = evict(seen.rank(*NAMES), room)
    taken = {(pick.item, pick.segment) for pick in selection.taken if pick.item}
    assert {(seen.item("2.0").id, 15), (seen.item("7.0").id, 8)} <= taken


def test_no_room_takes_nothing():
    selection = evict(SEEN.rank("1.0", "3.0"), 0)
    assert (selection.taken, selection.full, selection.stubs) == ([], [], [])


def test_room_for_all_restores_all_newest_first():
    ranking = SEEN.rank(*NAMES)
    assert evict(ranking, 2 * ALL).full == [SEEN.item(name).unit for name in reversed(NAMES)]


def test_the_newest_unit_is_restored_first():
    """Three equal pages and room for a little more than one."""
    pages = [call("list", {"page": n}, rows(mark), number=n) for n, mark in enumerate(("AAA", "BBB", "CCC"))]
    seen = scene(join(user("Look."), *pages, user("Go on.")))
    selection = evict(seen.rank("1.0", "3.0", "5.0"), int(seen.tokens("1.0") * 1.2))
    assert not set(selection.full) - {seen.item("5.0").unit}


def test_units_without_a_kept_segment_are_stubbed_newest_first():
    blank = "\n".join(["- - -"] * 60)
    pages = [call("look", {"page": n}, blank, number=n) for n in range(4)]
    seen = scene(join(user("Look."), *pages, user("Go on.")))
    ranking = seen.rank("1.0", "3.0", "5.0", "7.0")
    overhead = ranking.candidates[seen.item("1.0").unit].overhead
    selection = evict(ranking, 2 * overhead)
    kept = {pick.unit for pick in selection.taken} | set(selection.stubs)
    assert kept == {seen.item("5.0").unit, seen.item("7.0").unit}


def test_a_frozen_unit_is_never_stubbed():
    unit = SEEN.item("1.0").unit
    for room in range(0, SEEN.tokens("1.0"), 50):
        selection = evict(SEEN.rank("1.0", frozen=(unit,)), room)
        assert (selection.taken, selection.full, selection.stubs) == ([], [], [])


def ticks(lines, minute=0):
    return "\n".join(
        f"09:{minute:02}:{at:02} INFO  worker.tick batch={at * 7 + minute} took={at * 13 + minute}ms"
        for at in range(lines)
    )


def asked(result, question):
    call = {"id": "a", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "cat log"}'}}
    return [
        {"role": "user", "content": "Find the failing host in the log."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": result},
        {"role": "user", "content": question},
    ]


@pytest.mark.parametrize(
    ("alarm", "named"),
    [
        ("09:01:00 ERROR host=db-17 disk full", "db-17"),
        ("java.io.IOException: disk full on db-17", "db-17"),
        ("09:01:00 ОШИБКА узел=db-17 диск переполнен", "db-17"),
    ],
)
@pytest.mark.parametrize("budget", [150, 170, 190, 210, 230, 250])
def test_what_gives_most_is_kept_where_only_its_neighbours_do_not_fit(alarm, named, budget):
    fitted = fit(asked(f"{ticks(30)}\n{alarm}\n{ticks(30, 2)}", "Which host failed?"), budget=budget, counter="o200k")
    assert named in fitted.messages[2]["content"]


@pytest.mark.parametrize("budget", [130, 150, 170])
def test_a_text_that_was_cut_is_weighed_as_it_is(budget):
    """It took the room of the newest result, by the size that it had before."""
    tool = {
        "name": "run",
        "description": "Run",
        "input_schema": {"type": "object", "properties": {"cmd": {"type": "string"}}},
    }
    result = {"type": "tool_result", "tool_use_id": "q2", "content": f"7 of 8 stuck\n{ticks(6, 0)}"}
    history = [
        {"role": "user", "content": f"Watch the workers, they hang.\n{ticks(9)}"},
        {"role": "assistant", "content": "Seen."},
        {"role": "user", "content": "Why is the drain slow?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "q2", "name": "run", "input": {"cmd": "workers"}}],
        },
        {"role": "user", "content": [result]},
    ]
    fitted = fit(history, wire="anthropic", tools=[tool], budget=budget, counter="o200k")
    assert "worker.tick" in fitted.messages[-1]["content"][0]["content"]
    assert budget - fitted.report.after < 30
