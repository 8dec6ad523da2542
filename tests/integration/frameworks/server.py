"""The scripted model behind the wire formats of the providers, on loopback, with and without streaming."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from integration.frameworks.task import Call, Overflow, Script

_IDS = frozenset({"type", "id", "call_id", "tool_call_id", "tool_use_id", "status", "role", "object"})


class Server(ThreadingHTTPServer):
    """Plays `script`; keeps each body it got in `seen`, with its path and headers."""

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.seen: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.factor = 1
        """What the provider says it counted, to what it did."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    server = Server(script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def flat(value: Any) -> str:
    """All text in a message, without ids and types."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(flat, value)))
    if isinstance(value, dict):
        return "\n".join(filter(None, (flat(inner) for key, inner in value.items() if key not in _IDS)))
    return "" if value is None else json.dumps(value)


def texts(body: dict[str, Any]) -> list[str]:
    """What the model reads: its instructions, then each message."""
    first = flat(body.get("instructions") or body.get("system") or body.get("systemInstruction"))
    history = body.get("messages") or body.get("input") or body.get("contents") or []
    messages = [history] if isinstance(history, str) else history
    return [*([first] if first else []), *map(flat, messages)]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server, path = self.server, self.path.partition("?")[0]
        server.seen.append(body)
        server.paths.append(path)
        server.headers.append({name.lower(): value for name, value in self.headers.items()})
        try:
            action = server.script.next(texts(body))
        except Overflow as error:
            self._send(400, _refused(path, str(error)))
            return
        answer = _answer(path, action, server.script, server.factor)
        if body.get("stream") or "streamGenerateContent" in path:
            self._stream(path, answer)
        else:
            self._send(200, answer)

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, path: str, answer: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in _events(path, answer):
            name = f"event: {event['type']}\n" if isinstance(event.get("type"), str) else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        if path.endswith("/chat/completions"):
            self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _refused(path: str, text: str) -> dict[str, Any]:
    if path.endswith("/messages"):
        return {"type": "error", "error": {"type": "invalid_request_error", "message": f"prompt is too long: {text}"}}
    if "enerateContent" in path:
        said = f"The input token count (1) exceeds the maximum number of tokens allowed (0). {text}"
        return {"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}
    code = "context_length_exceeded"
    return {"error": {"message": text, "type": "invalid_request_error", "param": "messages", "code": code}}


def _answer(path: str, action: list[Call] | str, script: Script, factor: int) -> dict[str, Any]:
    size, step = script.sizes[-1] * factor, len(script.sizes)
    calls = [] if isinstance(action, str) else [(f"call_{step}_{n}", call) for n, call in enumerate(action)]
    text = action if isinstance(action, str) else None
    if path.endswith("/chat/completions"):
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"id": name, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
                for name, c in calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        usage = {"prompt_tokens": size, "completion_tokens": 9, "total_tokens": size + 9}
        base = {"id": f"chat_{step}", "object": "chat.completion", "created": 1, "model": "gpt-4o"}
        return {**base, "choices": [choice], "usage": usage}
    if path.endswith("/responses"):
        return _response(calls, text, size, step)
    if path.endswith("/messages"):
        content: list[dict[str, Any]] = [
            {"type": "tool_use", "id": name, "name": c.name, "input": c.arguments} for name, c in calls
        ]
        usage = {"input_tokens": size // 10, "output_tokens": 9, "cache_read_input_tokens": size - size // 10}
        return {
            "id": f"msg_{step}", "type": "message", "role": "assistant", "model": "claude-opus-4-8",
            "content": content or [{"type": "text", "text": text}], "stop_sequence": None,
            "stop_reason": "tool_use" if calls else "end_turn", "usage": usage,
        }  # fmt: skip
    parts: list[dict[str, Any]] = [{"functionCall": {"name": c.name, "args": c.arguments}} for _, c in calls]
    content_part = {"role": "model", "parts": parts or [{"text": text}]}
    used = {"promptTokenCount": size, "candidatesTokenCount": 9, "totalTokenCount": size + 9}
    return {"candidates": [{"content": content_part, "finishReason": "STOP", "index": 0}], "usageMetadata": used}


def _response(calls: list[tuple[str, Call]], text: str | None, size: int, step: int) -> dict[str, Any]:
    output: list[dict[str, Any]] = [
        {
            "type": "function_call", "id": f"fc_{name}", "call_id": name, "name": c.name,
            "arguments": json.dumps(c.arguments), "status": "completed",
        }
        for name, c in calls
    ]  # fmt: skip
    if text is not None:
        said = {"type": "output_text", "text": text, "annotations": []}
        output = [
            {"type": "message", "id": f"msg_{step}", "role": "assistant", "status": "completed", "content": [said]}
        ]
    usage = {
        "input_tokens": size, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": size + 9,
    }  # fmt: skip
    return {
        "id": f"resp_{step}", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-4o",
        "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": usage,
        "error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "temperature": 1.0,
        "top_p": 1.0,
    }  # fmt: skip


def _events(path: str, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if path.endswith("/chat/completions"):
        yield from _chat_events(answer)
    elif path.endswith("/responses"):
        yield from _response_events(answer)
    elif path.endswith("/messages"):
        yield from _anthropic_events(answer)
    else:
        yield answer


def pieces(text: str, size: int = 9) -> list[str]:
    """A text in small pieces, as models write it."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def _chat_events(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    base = {"id": answer["id"], "object": "chat.completion.chunk", "created": 1, "model": answer["model"]}
    (choice,) = answer["choices"]
    message = choice["message"]
    calls = [{**call, "index": n} for n, call in enumerate(message.get("tool_calls", ()))]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": message["content"] or ""}]
    for call in calls:
        function = call["function"]
        deltas.append({"tool_calls": [{**call, "function": {**function, "arguments": ""}}]})
        for text in pieces(function["arguments"]):
            deltas.append({"tool_calls": [{"index": call["index"], "function": {"arguments": text}}]})
    for delta in deltas:
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield {**base, "choices": [], "usage": answer["usage"]}


def _response_events(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for place, item in enumerate(answer["output"]):
        events += _item_events(place, item)
    events.append({"type": "response.completed", "response": answer})
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}


def _item_events(place: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    at = {"output_index": place, "item_id": item["id"]}
    call = item["type"] == "function_call"
    begun = {**item, "arguments": "", "status": "in_progress"} if call else item
    yield {"type": "response.output_item.added", "output_index": place, "item": begun}
    if call:
        for text in pieces(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": text}
        done = {"arguments": item["arguments"], "name": item["name"]}
        yield {"type": "response.function_call_arguments.done", **at, **done}
    yield {"type": "response.output_item.done", "output_index": place, "item": item}


def _anthropic_events(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    for place, block in enumerate(answer["content"]):
        if block["type"] == "text":
            empty, deltas = {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        else:
            empty = {**block, "input": {}}
            texts = pieces(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": text} for text in texts]
        yield {"type": "content_block_start", "index": place, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
    stopped = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}
