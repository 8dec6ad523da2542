"""Calls in answers, whole and streamed in any pieces: the same values, refused calls with their placeholders."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench.secrets import made
from hypothesis import given
from hypothesis import strategies as st

from jettison.integrations.answers import Refill, filled
from jettison.integrations.common import Conversation
from jettison.integrations.refusals import told
from jettison.vault import Grant, Vault

TOKEN = made("github", "answers")
NAME = "{{secret:github-token:1}}"
WIRES = ["chat", "responses", "anthropic"]


def conversation() -> Conversation:
    vault = Vault(rule_sets=(), grants=[Grant("github-token", ["login"], hosts=["github.com"])])
    session = Conversation(10_000, wire="openai-chat", vault=vault)
    session.fit([{"role": "user", "content": f"My token is {TOKEN}"}])
    return session


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def events(wire: str, calls: list[tuple[str, str]], cuts: list[int]) -> list[Any]:
    """The stream of an answer with these calls, (tool, arguments), cut there."""
    out: list[Any] = []
    for at, (tool, text) in enumerate(calls):
        if wire == "chat":
            first = {"index": at, "id": f"c{at}", "type": "function", "function": {"name": tool, "arguments": ""}}
            deltas = [first, *({"index": at, "function": {"arguments": piece}} for piece in pieces(text, cuts))]
            out += [
                {"id": "a", "choices": [{"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": None}]}
                for delta in deltas
            ]
        elif wire == "anthropic":
            block = {"type": "tool_use", "id": f"c{at}", "name": tool, "input": {}}
            out.append({"type": "content_block_start", "index": at, "content_block": block})
            for piece in pieces(text, cuts):
                delta = {"type": "input_json_delta", "partial_json": piece}
                out.append({"type": "content_block_delta", "index": at, "delta": delta})
            out.append({"type": "content_block_stop", "index": at})
        else:
            item = {"type": "function_call", "call_id": f"c{at}", "name": tool, "arguments": ""}
            out.append({"type": "response.output_item.added", "output_index": at, "item": item})
            kind = "response.function_call_arguments"
            out += [{"type": f"{kind}.delta", "output_index": at, "delta": piece} for piece in pieces(text, cuts)]
            out.append({"type": f"{kind}.done", "output_index": at, "arguments": text})
            out.append({"type": "response.output_item.done", "output_index": at, "item": {**item, "arguments": text}})
    if wire == "chat":
        out.append({"id": "a", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return out


def written(stream: list[Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in stream) + b"data: [DONE]\n\n"


def read(wire: str, data: bytes) -> list[str]:
    """The arguments of the calls in a stream, as an SDK puts them together."""
    texts: dict[int, str] = {}
    whole: dict[int, set[str]] = {}
    for block in data.split(b"\n\n"):
        lines = [line[5:] for line in block.splitlines() if line.startswith(b"data:")]
        if not lines or lines[0].strip() == b"[DONE]":
            continue
        event = json.loads(lines[0])
        if wire == "chat":
            for delta in event["choices"][0]["delta"].get("tool_calls", ()):
                texts[delta["index"]] = texts.get(delta["index"], "") + delta["function"]["arguments"]
        elif event["type"] == "content_block_delta":
            texts[event["index"]] = texts.get(event["index"], "") + event["delta"]["partial_json"]
        elif event["type"].endswith("arguments.delta"):
            texts[event["output_index"]] = texts.get(event["output_index"], "") + event["delta"]
        elif event["type"].endswith("done"):
            text = event.get("arguments") or event["item"]["arguments"]
            whole.setdefault(event["output_index"], set()).add(json.dumps(json.loads(text)))
    for at, said in whole.items():
        assert said == {json.dumps(json.loads(texts[at]))}
    return [texts[at] for at in sorted(texts)]


ARGUMENTS = st.sampled_from(
    [
        {"token": f"Bearer {NAME}"},
        {"url": f"https://github.com/x?t={NAME}", "note": 'a "quote" \n ключ'},
        {"a": NAME, "b": [NAME, "{{secret:", "{{"]},
        {"text": "nothing here {{ }}"},
        {"token": NAME, "to": "https://evil.test/"},
    ]
)


@pytest.mark.parametrize("wire", WIRES)
@given(
    calls=st.lists(st.tuples(st.sampled_from(["login", "send_mail"]), ARGUMENTS), min_size=1, max_size=3),
    cuts=st.lists(st.integers(0, 200), max_size=8),
    chunks=st.lists(st.integers(0, 5_000), max_size=8),
)
def test_streamed_in_any_pieces_it_is_what_the_whole_answer_is(
    wire: str, calls: list[tuple[str, Any]], cuts: list[int], chunks: list[int]
) -> None:
    texts = [(tool, json.dumps(arguments)) for tool, arguments in calls]
    session, other = conversation(), conversation()
    refill = Refill(session, "text/event-stream")
    data = written(events(wire, texts, cuts)).decode("latin-1")
    out = b"".join(refill.take(part.encode("latin-1")) for part in pieces(data, chunks)) + refill.end()
    whole = {
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {"id": f"c{at}", "type": "function", "function": {"name": tool, "arguments": text}}
                        for at, (tool, text) in enumerate(texts)
                    ]
                }
            }
        ]
    }
    changed = filled(other, whole)
    expected = [call["function"]["arguments"] for call in whole["choices"][0]["message"]["tool_calls"]]
    assert [json.loads(text) for text in read(wire, out)] == [json.loads(text) for text in expected]
    assert session.refusals == other.refusals
    assert changed == (TOKEN in json.dumps(expected))
    for at, (tool, arguments) in enumerate(calls):
        refused = NAME in json.dumps(arguments) and (tool != "login" or "evil" in json.dumps(arguments))
        assert (f"c{at}" in session.refusals) == refused
        assert not refused or TOKEN not in expected[at]


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_without_placeholders_is_passed_byte_for_byte(wire: str) -> None:
    data = written(events(wire, [("login", '{"a": "ж"}')], [3]))
    refill = Refill(conversation(), "text/event-stream; charset=utf-8")
    assert refill.take(data[:50]) + refill.take(data[50:]) + refill.end() == data


def test_a_stream_that_breaks_off_keeps_what_was_held_back() -> None:
    data = written(events("chat", [("login", json.dumps({"token": NAME}))], [])[:-1]).replace(b"data: [DONE]\n\n", b"")
    refill = Refill(conversation(), "text/event-stream")
    (text,) = read("chat", refill.take(data) + refill.end())
    assert json.loads(text) == {"token": TOKEN}


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"null", b'{"choices": [{}]}', b'{"content": "text"}'])
def test_what_is_no_answer_is_passed_byte_for_byte(data: bytes) -> None:
    refill = Refill(conversation(), "application/json")
    assert refill.take(data) + refill.end() == data


def test_gemini_calls_without_ids_are_told_apart() -> None:
    session = conversation()
    call = {"functionCall": {"name": "login", "args": {"token": NAME, "to": "https://evil.test/"}}}
    good = {"functionCall": {"name": "login", "args": {"token": NAME}}}
    answer: Any = {"candidates": [{"content": {"role": "model", "parts": [call, good]}}]}
    assert filled(session, answer)
    parts = answer["candidates"][0]["content"]["parts"]
    assert [part["functionCall"]["args"]["token"] for part in parts] == [NAME, TOKEN]
    results = [{"functionResponse": {"name": "login", "response": {"result": text}}} for text in ("no", "yes")]
    body = {"contents": [{"role": "model", "parts": parts}, {"role": "user", "parts": results}]}
    said = told(body, session.refusals)["contents"][1]["parts"]
    assert "was not put into the call of 'login'" in said[0]["functionResponse"]["response"]["refused"]
    assert said[1] is results[1]


@pytest.mark.parametrize(
    ("field", "message", "place"),
    [
        ("messages", {"role": "tool", "tool_call_id": "c1", "content": "no"}, "content"),
        ("messages", {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "no"}]}, "content"),
        ("input", {"type": "function_call_output", "call_id": "c1", "output": "no"}, "output"),
    ],
)
def test_the_agent_reads_why_in_front_of_the_result(field: str, message: Any, place: str) -> None:
    body = {field: [{"role": "user", "content": "hi"}, message]}
    said = told(body, {"c1": "refused"})
    assert json.dumps(said[field][1][place]).index("refused") < json.dumps(said[field][1][place]).index("no")
    assert told(body, {"c2": "refused"}) is body
    assert told(body, {}) is body
