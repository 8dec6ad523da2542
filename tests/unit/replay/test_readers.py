"""Readers: every shape of file the command accepts, and what is said of the ones it does not."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jettison.errors import ConfigError, InvalidInput
from jettison.replay.readers import Recorded, read, read_bytes
from jettison.wire.guess import guess_wire

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "line\u2028separator"}]


def parse(value: Any, **options: Any) -> Recorded:
    data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    return read_bytes(data, name="f.json", **options)


def lines(*rows: Any) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows).encode()


# --- shapes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: b"\xef\xbb\xbf" + data])
def test_message_list(indent: int | None, pack: Any) -> None:
    found = parse(pack(json.dumps(CHAT, indent=indent).encode()))
    assert found.messages == CHAT
    assert (found.wire, found.body, found.name) == ("openai-chat", None, "f.json")


def test_utf16_with_a_byte_order_mark() -> None:
    assert parse(json.dumps(CHAT, ensure_ascii=False).encode("utf-16")).messages == CHAT


def test_body_comes_back_whole() -> None:
    tools = [{"name": "run", "input_schema": {"type": "object"}}]
    body = {"model": "claude-x", "max_tokens": 9, "system": "Be brief.", "tools": tools, "messages": CHAT[1:]}
    found = parse(body)
    assert found == Recorded("anthropic", CHAT[1:], "Be brief.", tools, "claude-x", body, "f.json")


def test_responses_body_with_a_string_as_input() -> None:
    found = parse({"model": "gpt-5", "input": "hello", "instructions": "Be brief."})
    assert found.wire == "openai-responses"
    assert found.system == "Be brief."
    assert found.messages == [{"role": "user", "content": "hello"}]
    assert found.body is not None
    assert found.body["input"] == found.messages


@pytest.mark.parametrize("field", ["systemInstruction", "system_instruction"])
def test_gemini_body(field: str) -> None:
    found = parse({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], field: {"parts": [{"text": "s"}]}})
    assert (found.wire, found.system) == ("gemini", {"parts": [{"text": "s"}]})


def test_batch_line_and_log_entry() -> None:
    body = {"model": "m", "messages": CHAT}
    assert parse({"custom_id": "1", "method": "POST", "body": body}).body == body
    assert parse(lines({"id": 1, "request": body}, {"id": 2, "request": body}), row=2).messages == CHAT


def test_trajectories() -> None:
    rows = lines({"id": "a", "messages": CHAT[:1]}, "", {"id": "b", "model": "m", "messages": CHAT})
    first = parse(rows)
    assert first.messages == CHAT[:1]
    assert "holds 2 histories" in first.notes[0]
    second = parse(rows + b"\n", row=2)
    assert (second.messages, second.model, second.notes, second.name) == (CHAT, "m", (), "f.json row 2")
    assert parse(json.dumps([{"messages": CHAT[:1]}, {"messages": CHAT}]).encode(), row=2).messages == CHAT


def test_columns_that_hold_json_text() -> None:
    row = {"messages": json.dumps(CHAT), "tools": json.dumps([{"type": "function", "function": {"name": "f"}}])}
    found = parse(lines(row, row))
    assert found.messages == CHAT
    assert found.tools[0]["function"]["name"] == "f"


def test_one_message_a_line() -> None:
    found = parse(lines(*CHAT))
    assert found.messages == CHAT
    items = [
        {"type": "message", "role": "user", "content": "x"},
        {"type": "custom_tool_call", "call_id": "c", "name": "n", "input": "text"},
    ]
    assert parse(lines(*items)).messages == items
    assert parse(items).wire == "openai-responses"


def test_a_single_line_with_a_record() -> None:
    assert parse(lines({"messages": CHAT})).messages == CHAT


def test_files_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.json.gz"
    path.write_bytes(gzip.compress(json.dumps(CHAT).encode()))
    assert read(str(path)).name == "history.json.gz"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    assert read("-").messages == CHAT


# --- the wire ----------------------------------------------------------------------------------------------


def one(role: str, *blocks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "hi"}, {"role": role, "content": list(blocks)}]


@pytest.mark.parametrize(
    ("messages", "body", "wire"),
    [
        (CHAT, {}, "openai-chat"),
        ([{"role": "user", "content": "hi"}], {"model": "claude-x"}, "openai-chat"),
        ([{"role": "user", "content": "hi"}], {"model": "claude-x", "max_tokens": 1}, "anthropic"),
        (CHAT, {"model": "claude-x", "max_tokens": 1}, "openai-chat"),
        ([{"role": "tool", "content": "x", "tool_call_id": "1"}], {}, "openai-chat"),
        (one("user", {"type": "image_url", "image_url": {}}), {}, "openai-chat"),
        (one("assistant", {"type": "tool_use", "id": "1", "name": "f", "input": {}}), {}, "anthropic"),
        (one("user", {"type": "image", "source": {"type": "url"}}), {}, "anthropic"),
        (one("assistant", {"type": "web_search_tool_result"}), {}, "anthropic"),
        (one("user", {"type": "input_text", "text": "x"}), {}, "openai-responses"),
        ([{"role": "user", "content": "x"}, {"type": "function_call", "call_id": "1"}], {}, "openai-responses"),
        ([{"role": "user", "content": "x"}], {"input": []}, "openai-responses"),
        ([{"role": "user", "content": "x"}], {"instructions": "s"}, "openai-responses"),
        ([{"role": "user", "parts": [{"text": "x"}]}], {}, "gemini"),
        ([{"role": "user", "content": "x"}], {"tools": [{"input_schema": {}}]}, "anthropic"),
        ([{"role": "user", "content": "x"}], {"tools": [{"type": "function", "function": {}}]}, "openai-chat"),
        ([{"role": "user", "content": "x"}], {"tools": [{"type": "function", "name": "f"}]}, "openai-responses"),
        ([{"role": "user", "content": "x"}], {"tools": [{"functionDeclarations": []}]}, "gemini"),
    ],
)
def test_guess(messages: list[dict[str, Any]], body: dict[str, Any], wire: str) -> None:
    assert guess_wire(messages, body) == wire


def test_cases_are_guessed_right() -> None:
    names = {"openai-chat", "openai-responses", "anthropic", "gemini"}
    for path in sorted((Path(__file__).parents[2] / "cases" / "data").glob("*.json")):
        case = json.loads(path.read_bytes())
        assert case["format"] in names
        parts = {key: case[key] for key in ("tools", "system", "instructions") if key in case}
        messages = next(case[key] for key in ("messages", "input", "contents") if key in case)
        words = ("tool_use", "parts", "tool_calls", "source")
        bare = not any(f'"{word}"' in json.dumps(messages) for word in words)
        assert guess_wire(messages, parts) in (case["format"], "openai-chat" if bare else None), path.name
        assert read(str(path)).wire == case["format"]


def test_given_and_recorded_wires_win() -> None:
    assert parse(CHAT, wire="anthropic").wire == "anthropic"
    assert parse({"messages": CHAT[1:], "format": "anthropic"}).wire == "anthropic"


# --- what cannot be read -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (b"{", r"f.json, line 1, column 2: not JSON"),
        (b"hello\nworld", r"line 1, column 1: not JSON"),
        (b'[\n {"role": "user",\n  "content": oops}\n]', r"line 3, column 14: not JSON"),
        (lines(CHAT[0], "{broken", CHAT[1]), r"line 2, column 2: not JSON .* every line is one JSON value"),
        (lines(CHAT[0], '{"role": "us'), r"line 2, column 10: not JSON"),
        (b"[]", "holds no messages"),
        (b"5", "entry 1 is a number"),
        (b'["a"]', "entry 1 is a string"),
        (b'[{"role": "user", "content": "x"}, null]', "entry 2 is null"),
        (b'{"a": 1, "b": 2}', r"no messages \(its keys: a, b\)"),
        (b'[{"a": 1}]', r"no message \(its keys: a\)"),
        (b'{"messages": []}', "`messages` is empty"),
        (b'{"messages": [1]}', r"messages\[0\] is a number"),
        (b'{"messages": "text"}', "`messages` is a string"),
        (b'{"contents": ["x"]}', r"contents\[0\] is a string"),
        (b'[{"role": "user",\n "content": "\xff"}]', "line 2: byte 31 is not UTF-8"),
        (gzip.compress(b"[]" * 99, mtime=0)[:-9], "not a whole gzip"),
        (b"[" * 200_000, "cannot be read as JSON"),
        (b'[{"role": "user", "content": ' + b"9" * 5_000 + b"}]", "cannot be read as JSON"),
        (lines({"messages": CHAT}, {"other": 1}), None),
    ],
)
def test_broken_input_says_where(data: bytes, says: str | None) -> None:
    if says is None:
        with pytest.raises(InvalidInput, match="row 2 has no messages"):
            parse(data, row=2)
        return
    with pytest.raises(InvalidInput, match=says):
        parse(data)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InvalidInput, match="cannot read"):
            read(str(path))


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (lines({"messages": CHAT}, {"messages": CHAT}), {"row": 3}),
        (lines({"messages": CHAT}, {"messages": CHAT}), {"row": 0}),
        (lines(*CHAT), {"row": 2}),
        (json.dumps({"messages": CHAT}).encode(), {"row": 2}),
        (lines(*CHAT), {"wire": "openai"}),
    ],
)
def test_wrong_options(data: bytes, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        parse(data, **options)
