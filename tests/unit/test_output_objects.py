"""Cache marks in the objects of an SDK: found, counted and placed as in plain dicts."""

import copy
from collections import deque

import pytest

from jettison import InvalidInput, Policy, Session
from jettison.history import nested
from jettison.output import marks_seen
from jettison.wire.base import plain

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
TOOL = {"name": "page", "input_schema": {"type": "object"}, "cache_control": MARK}


class Model:
    """As the SDKs have them: attributes, and what was set of them as plain data."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def model_dump(self, *, mode, exclude_unset):
        assert (mode, exclude_unset) == ("json", True)
        return nested(dict(self.__dict__))


def blocks(message):
    """A plain message of objects, results with objects in them."""
    out = []
    for block in message["content"]:
        inner = block.get("content")
        if isinstance(inner, list):
            block = {**block, "content": [Model(**one) for one in inner]}
        out.append(Model(**block))
    return {**message, "content": out}


def results(message):
    """Only what stands in results is of an SDK."""
    out = [
        {**block, "content": [Model(**one) for one in block["content"]]} if block["type"] == "tool_result" else block
        for block in message["content"]
    ]
    return {**message, "content": out}


KINDS = {"messages": lambda message: Model(**message), "blocks": blocks, "results": results}


def kinds(*names):
    return pytest.mark.parametrize("kind", [KINDS[name] for name in names or KINDS], ids=names or list(KINDS))


def pages(turns):
    out = [{"role": "user", "content": [{"type": "text", "text": "Read all pages."}]}]
    for turn in range(turns):
        text = "\n".join(f"row {n} says {(turn + 1) * n * 7919}" for n in range(40))
        use = {"type": "tool_use", "id": f"c{turn}", "name": "page", "input": {"n": turn}}
        out.append({"role": "assistant", "content": [use]})
        text = [{"type": "text", "text": text}]
        out.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{turn}", "content": text}]})
    return out


def with_marks(messages, *places, mark=MARK, inside=False):
    out = copy.deepcopy(messages)
    for at in places:
        block = out[at]["content"][-1]
        (block["content"][-1] if inside else block)["cache_control"] = mark
    return out


def written(fitted):
    return [nested(plain(message)) for message in fitted.messages]


@kinds()
@pytest.mark.parametrize("inside", [False, True])
def test_placed_they_are_where_they_are_in_dicts(kind, inside):
    """The caller moves marks of its own at each call, of which none is left."""
    policy, messages, epochs = Policy(budget=2_500, place_cache_marks=True), pages(10), 0
    ours, plain_ones = Session(policy, wire="anthropic"), Session(policy, wire="anthropic")
    for turn in range(1, 11):
        at = 2 * turn + 1
        own = {at - 1, max(2, at - 3)} if turn % 2 else ()
        given = with_marks(messages[:at], *own, mark=HOUR, inside=inside)
        want = plain_ones.fit(given)
        fitted = ours.fit(list(map(kind, given)))
        assert written(fitted) == want.messages
        assert fitted.report.to_dict() == want.report.to_dict()
        assert next(marks_seen(fitted.messages)) == (HOUR if own else MARK)
        epochs += want.report.cache.epoch != "none"
    assert epochs >= 2


@kinds()
def test_more_than_four_of_the_callers_give_way_where_they_are_placed(kind):
    given = list(map(kind, with_marks(pages(6), 2, 4, 6, 8, 10)))
    fitted = Session(Policy(budget=50_000, place_cache_marks=True), wire="anthropic").fit(given)
    assert [at for at, message in enumerate(fitted.messages) if any(marks_seen(message))] == [12]


def test_what_gets_no_mark_stays_the_callers_object():
    given = [Model(**message) for message in pages(3)]
    fitted = Session(Policy(budget=50_000, place_cache_marks=True), wire="anthropic").fit(given)
    assert all(new is old for new, old in zip(fitted.messages[:-1], given[:-1], strict=True))
    assert not any(marks_seen(given))


def test_a_mark_that_is_an_object_is_placed_as_plain_data():
    given = with_marks(pages(3), 2, mark=Model(**HOUR))
    fitted = Session(Policy(budget=50_000, place_cache_marks=True), wire="anthropic").fit(given)
    assert fitted.messages[-1]["content"][-1]["cache_control"] == HOUR


def test_those_of_any_sequence_are_seen():
    given = deque(with_marks(pages(3), 2, mark=HOUR))
    fitted = Session(Policy(budget=50_000, place_cache_marks=True), wire="anthropic").fit(given)
    assert list(marks_seen(fitted.messages)) == [HOUR]


@kinds("messages", "blocks", "results")
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("tool", [TOOL, Model(**TOOL)])
def test_they_count_towards_the_four(kind, inside, tool):
    given = list(map(kind, with_marks(pages(6), 4, 6, 8, 10, inside=inside)))
    with pytest.raises(InvalidInput, match="tools, system and messages, here are 5"):
        Session(50_000, wire="anthropic").fit(given, tools=[tool])
    session = Session(50_000, wire="anthropic")
    assert session.fit(given[:9], tools=[tool]).messages == given[:9]
    with pytest.raises(InvalidInput, match="tools, system and messages, here are 5"):
        session.fit([*given[:4], kind(with_marks(pages(2), 4)[4]), *given[5:]], tools=[tool])


@pytest.mark.parametrize("system", [[Model(type="text", text="You read.", cache_control=MARK) for _ in range(2)]])
@pytest.mark.parametrize("tool", [TOOL, Model(**TOOL)])
def test_those_of_system_and_tools_take_their_room(system, tool):
    for places, fits in (((2,), True), ((2, 4), False)):
        session = Session(50_000, wire="anthropic")
        if fits:
            session.fit(with_marks(pages(3), *places), system=system, tools=[tool])
        else:
            with pytest.raises(InvalidInput, match="here are 5"):
                session.fit(with_marks(pages(3), *places), system=system, tools=[tool])
    mended = Session(50_000, wire="anthropic").fit(with_marks(pages(3), 2, 4), system=system, tools=[tool], repair=True)
    assert [at for at, message in enumerate(mended.messages) if any(marks_seen(message))] == [4]
    placing = Session(Policy(budget=50_000, place_cache_marks=True), wire="anthropic")
    assert not any(marks_seen(placing.fit(pages(3), system=system, tools=[tool, tool]).messages))


def test_those_of_a_system_field_alone_can_be_too_many():
    system = [Model(type="text", text="You read.", cache_control=MARK) for _ in range(5)]
    with pytest.raises(InvalidInput, match="here are 5"):
        Session(50_000, wire="anthropic").fit(pages(1), system=system)


@kinds()
@pytest.mark.parametrize("inside", [False, True])
def test_one_of_a_message_that_was_cut_is_on_what_is_left_of_it(kind, inside):
    given = with_marks(pages(8), 4, 8, 10, inside=inside)
    want = Session(Policy(budget=1_800), wire="anthropic").fit(given).messages
    fitted = Session(Policy(budget=1_800), wire="anthropic").fit(list(map(kind, given)))
    assert written(fitted) == want
    cut = [at for at, source in enumerate(fitted.sources) if source in (8, 10)]
    assert all(len(str(want[at])) < len(str(given[fitted.sources[at]])) for at in cut)
    assert [len(list(marks_seen(want[at]))) for at in cut] == [1, 1]
