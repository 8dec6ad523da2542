"""The history of a session: what is compared, what is parsed anew, and what is refused."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.errors import InvalidInput
from jettison.history import History, copied, schemas
from jettison.items import Kind
from jettison.wire import wire_named
from strategies import histories, law
from unit.flow.reading import call, join, says, user

CHAT = wire_named("openai-chat")
MESSAGES = join(user("Hi."), call("run", {"cmd": "ls"}, "a b"), says("Two."), user("Go on."), call("run", {}, "c"))


def take(messages, history=None, wire=CHAT, system=None, repair=False, remote=False):
    return (history or History()).take(wire, messages, system, repair, remote)


def test_a_history_is_read_into_items_and_units():
    taken = take(MESSAGES)
    assert [item.kind for item in taken.items] == [
        Kind.USER,
        Kind.CALL,
        Kind.RESULT,
        Kind.ASSISTANT,
        Kind.USER,
        Kind.CALL,
        Kind.RESULT,
    ]
    assert [len(unit.items) for unit in taken.units] == [1, 2, 1, 1, 2]
    assert (taken.common, taken.step, taken.first_new_unit) == (0, 3, 0)


def test_only_what_is_new_is_parsed_again():
    first = take(MESSAGES[:4])
    second = take(MESSAGES, first.taken())
    assert second.common == 4
    assert all(one is two for one, two in zip(first.items, second.items, strict=False))
    assert all(one is two for one, two in zip(first.units[:3], second.units, strict=False))
    assert second.first_new_unit == second.units[3].index


def test_a_unit_that_grows_is_made_anew():
    cut = MESSAGES[:2]
    first = take(cut)
    assert first.pending
    second = take(MESSAGES[:3], first.taken())
    assert [len(unit.items) for unit in second.units] == [1, 2]
    assert second.units[0] is first.units[0]


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini"])
@given(data=st.data())
@law(25)
def test_growing_step_by_step_is_reading_at_once(wire, data):
    made = data.draw(histories(wire))
    known = History()
    for prefix in [*made.prefixes(), made.messages]:
        if prefix:
            known = (last := take(prefix, known, wire_named(wire), made.system)).taken()
    once = take(made.messages, None, wire_named(wire), made.system)
    assert (last.items, last.units, last.step) == (once.items, once.units, once.step)


@given(st.integers(0, len(MESSAGES) - 1))
@law(20)
def test_an_edit_is_seen_where_it_was_made(at):
    known = take(MESSAGES).taken()
    edited = copy.deepcopy(MESSAGES)
    edited[at]["content"] = "edited"
    second = take(edited, known)
    assert second.common == at
    assert (second.items, second.units) == (take(edited).items, take(edited).units)


def test_a_history_that_was_rewound_is_read_as_it_is_now():
    known = take(MESSAGES).taken()
    second = take(MESSAGES[:4], known)
    assert (second.items, second.units) == (take(MESSAGES[:4]).items, take(MESSAGES[:4]).units)


def test_the_callers_later_changes_do_not_reach_the_snapshot():
    given_ = copy.deepcopy(MESSAGES)
    known = take(given_).taken()
    given_[1]["tool_calls"][0]["function"]["arguments"] = "{}"
    given_[0]["content"] = "something else"
    assert known.raw == MESSAGES
    assert take(given_, known).common == 0


def test_nothing_given_is_changed():
    given_ = copy.deepcopy(MESSAGES)
    take(given_, repair=True)
    assert given_ == MESSAGES


@pytest.mark.parametrize("bad", ["a string", b"bytes", None, {"role": "user"}, 17])
def test_what_is_no_list_of_messages_is_refused(bad):
    with pytest.raises(InvalidInput, match="messages must be a list"):
        take(bad)


def test_an_empty_history_is_refused():
    with pytest.raises(InvalidInput, match="empty"):
        take([])


def test_an_object_that_is_no_message_is_refused_with_its_place():
    with pytest.raises(InvalidInput, match=r"messages\[1\].*int"):
        take([*user("Hi."), 17])


class Message:
    def __init__(self, data):
        self.data = data

    def model_dump(self, mode, exclude_unset):
        return dict(self.data)


def test_sdk_objects_are_read_like_dicts():
    assert take([Message(message) for message in MESSAGES]).items == take(MESSAGES).items


def test_a_hole_is_refused_and_can_be_repaired():
    broken = [*MESSAGES[:2], *user("Still there?")]
    with pytest.raises(InvalidInput) as caught:
        take(broken)
    assert caught.value.problems
    mended = take(broken, repair=True)
    assert mended.repaired
    assert len(mended.messages) == len(broken) + 1


def test_an_unanswered_last_call_is_pending_not_refused():
    assert len(take(MESSAGES[:2]).pending) == 1
    assert take(MESSAGES).pending == ()


def test_lone_surrogates_are_replaced_noted_once_and_remembered():
    broken = [*user("bad \ud800 text"), *says("Yes?")]
    first = take(broken)
    assert first.items[0].text == "bad \ufffd text"
    assert first.mended == {0}
    assert any("surrogate" in note for note in first.notes)
    second = take([*broken, *user("Go on.")], first.taken())
    assert second.common == 2
    assert second.mended == {0}
    assert second.items[0] is first.items[0]
    assert first.taken().sent(0)["content"] == "bad \ufffd text"


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_of_a_mended_message_nothing_is_the_callers_any_more(wire):
    """Only the part with the half character was made anew; a change of the other one reached what had been sent."""
    kind, field = ("input_text" if wire == "openai-responses" else "text"), "parts" if wire == "gemini" else "content"
    parts = [{"text": text} if wire == "gemini" else {"type": kind, "text": text} for text in ("bad \ud800", "part")]
    message = {"role": "user", field: parts}
    known = take([message], wire=wire_named(wire)).taken()
    parts[1]["text"] = "something else"
    assert [part["text"] for part in known.sent(0)[field]] == ["bad \ufffd", "part"]
    assert known.messages[0] == known.sent(0)


def test_own_marks_are_recognised_when_they_come_back():
    stub = call("run", {}, "[cut 90 tokens, ref badugisona]")
    assert [item.synthetic for item in take(join(user("Hi."), stub)).items] == [False, False, True]


def test_the_system_field_comes_first_and_is_compared_too():
    wire = wire_named("anthropic")
    first = take(user("Hi."), wire=wire, system="Be brief.")
    assert [(item.kind, item.message) for item in first.items] == [(Kind.INSTRUCTION, -1), (Kind.USER, 0)]
    again = take([*user("Hi."), *says("Yes?")], first.taken(), wire, "Be brief.")
    assert again.system is first.system
    other = take(user("Hi."), first.taken(), wire, "Be long.")
    assert other.items[0].text == "Be long."
    assert other.units[0].index == -1


@given(
    st.recursive(st.one_of(st.text(max_size=3), st.integers()), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
@law(50)
def test_a_copy_is_equal_and_shares_no_container(value):
    made = copied(value)
    assert made == value
    if isinstance(value, dict | list):
        assert made is not value


def test_schemas_of_every_shape():
    chat = {"type": "function", "function": {"name": "run", "parameters": {}}}
    flat = {"type": "function", "name": "read", "parameters": {}}
    google = {"functionDeclarations": [{"name": "a"}, {"name": "b"}]}
    found, text = schemas([chat, flat, google], None)
    assert [name for name, _ in found] == ["run", "read", "a", "b"]
    assert all(name in text for name in ("run", "read"))
    assert schemas(None, None) == ((), "")
    assert schemas([], {"type": "object"})[1] == '{"type": "object"}'


class Block:
    """An object of an SDK inside of a plain message: `{"role": "assistant", "content": response.content}`."""

    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self, **_):
        return dict(self.fields)


def with_blocks():
    call_ = Block(type="tool_use", id="t1", name="read", input={"p": 1})
    return [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [Block(type="text", text="Let me read."), call_]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x" * 40}]},
    ]


def test_sdk_objects_inside_plain_messages_are_read_like_dicts():
    wire, given = wire_named("anthropic"), with_blocks()
    taken = take(given, wire=wire)
    assert [item.kind for item in taken.items] == [Kind.USER, Kind.ASSISTANT, Kind.CALL, Kind.RESULT]
    assert taken.given[1] is given[1], "what is not changed is handed out as the caller's own"
    more = [*given, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks."}]
    again = take(more, taken.taken(), wire=wire)
    assert again.common == 3
    assert type(again.messages[1]["content"][0]) is dict


def test_so_are_those_of_a_call():
    function = Block(name="read", arguments="{}")
    message = {"role": "assistant", "content": None, "tool_calls": [Block(id="c1", type="function", function=function)]}
    taken = take([{"role": "user", "content": "Hi"}, message, {"role": "tool", "tool_call_id": "c1", "content": "x"}])
    assert [item.kind for item in taken.items] == [Kind.USER, Kind.CALL, Kind.RESULT]
    assert take([{"role": "user", "content": "Hi"}, message], repair=True).items[0].kind is Kind.USER


def test_half_characters_in_the_keys_of_a_message_are_replaced_too():
    taken = take([{"role": "user", "content": "Hi", "x\ud800": 1}])
    assert taken.notes == ("messages[0]: 1 lone surrogate(s) replaced by U+FFFD",)
    str(taken.messages).encode()
