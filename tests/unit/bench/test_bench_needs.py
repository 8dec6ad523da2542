"""Needed values of a turn, on tiny hand-made histories."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench.needs import Need, Text, Texts, argument_values, needs_of, positions
from bench.traces import Trajectory


def call(**arguments: Any) -> dict[str, Any]:
    function = {"name": "act", "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def tool(content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c", "content": content}


def needs(*body: dict[str, Any], head: str = "do it") -> dict[int, list[Need]]:
    messages = [{"role": "user", "content": head}, *body]
    return needs_of(Trajectory("1", "set", "task", messages), Texts())


def values(*body: dict[str, Any], head: str = "do it") -> list[str]:
    return [need.value for found in needs(*body, head=head).values() for need in found]


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("ORD-9913", ["ord-9913"]),
        ("  Two\t Words ", ["two words"]),
        ("abc", []),
        (999, []),
        (1000, ["1000"]),
        (-2500, ["-2500"]),
        (1500.0, ["1500"]),
        (True, []),
        (None, []),
        ("none", []),
        ("NULL", []),
        ({"a": ["deep", {"b": "deeper"}]}, ["deep", "deeper"]),
        ("x" * 60, ["x" * 60]),
        ("see /src/app/main.py\nand foo_bar, ab_1 or v1.2.30 now", ["/src/app/main.py", "foo_bar", "v1.2.30"]),
        ("word " * 30 + "ticket12345.", ["ticket12345"]),
    ],
)
def test_values_of_one_argument(argument: Any, expected: list[str]) -> None:
    assert argument_values(call(x=argument)) == expected


def test_long_strings_give_at_most_forty_pieces() -> None:
    assert len(argument_values(call(x=" ".join(f"name_{i}" for i in range(100))))) == 40


def test_unparsable_arguments_need_nothing() -> None:
    message = call()
    message["tool_calls"][0]["function"]["arguments"] = '{"x": '
    assert argument_values(message) == []


def test_only_values_seen_earlier_in_the_body_count() -> None:
    assert values(call(x="hello"), tool("id ORD-1 here"), call(x="ORD-1", y="unseen")) == ["ord-1"]


def test_values_of_the_head_do_not_count() -> None:
    assert values(call(), tool("ORD-1"), call(x="ORD-1"), head="refund ord-1 please") == []


def test_assistant_text_is_no_source() -> None:
    assert values({"role": "assistant", "content": "ORD-1"}, {"role": "user", "content": "yes"}, call(x="ORD-1")) == []


def test_occurrence_is_bounded_by_non_alphanumerics() -> None:
    assert positions("ord-1", "ord-12 word-1 ord-1") == [14]
    assert values(call(), tool("ORD-12"), call(x="ORD-1")) == []


def test_the_context_word_is_the_one_before_in_the_same_line() -> None:
    (need,) = needs(call(), tool("first line\nticket TCK-77 open"), call(x="TCK-77"))[3]
    assert need.words == {"ticket"}


def test_a_value_alone_in_its_line_has_no_context_word() -> None:
    (need,) = needs(call(), tool("src/a_1.py\nsrc/b_2.py"), call(x="src/b_2.py"))[3]
    assert not need.words


def test_a_json_leaf_has_its_key_and_its_siblings() -> None:
    rows = json.dumps(
        {"rows": [{"id": "A-100", "name": "Ann", "ok": True, "tags": ["x"]}, {"id": "B-200", "name": "Bob"}]}
    )
    (need,) = needs(call(), tool(rows), call(x="A-100"))[3]
    assert need.words == {"id"}
    assert need.records == ((("name", "ann"), ("ok", "true")),)


def test_json_inside_a_string_leaf_is_opened() -> None:
    wrapped = json.dumps({"type": "text", "text": json.dumps([{"sha": "abc1234", "by": "Eve"}])})
    assert Text(wrapped).leaves["abc1234"] == [("sha", (("by", "eve"),))]


def test_folded_and_lined_text_are_aligned() -> None:
    text = Text("  A\t b \n\n c\\nd\u2028e ")
    assert len(text.folded) == len(text.lined)
    assert text.folded == "a b c\\nd e"
