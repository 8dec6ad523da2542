"""One made-up run in every format that the readers know: a clerk looks an order up, refunds it, and says so."""

from __future__ import annotations

import json
from typing import Any

SYSTEM, GOAL, DONE = "You are a careful clerk.", "Верни деньги за последний заказ.", "The refund is done."
FOUND, PAID = '{"order": "ORD-77310", "status": "open"}', '{"refund": "RF-20418"}'
CALLS = (("c1", "find_order", {"customer": "anna"}, FOUND), ("c2", "refund", {"order": "ORD-77310"}, PAID))
NEEDED = {"ord-77310"}


def chat() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": GOAL}]
    for call_id, name, arguments, result in CALLS:
        function = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": call_id, "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": result})
    return [*messages, {"role": "assistant", "content": DONE}]


def anthropic() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": GOAL}]
    for call_id, name, arguments, result in CALLS:
        messages.append(
            {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]}
        )
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result}]}
        )
    return [*messages, {"role": "assistant", "content": [{"type": "text", "text": DONE}]}]


def responses() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": GOAL}]}
    ]
    for call_id, name, arguments, result in CALLS:
        items.append({"type": "function_call", "call_id": call_id, "name": name, "arguments": json.dumps(arguments)})
        items.append({"type": "function_call_output", "call_id": call_id, "output": result})
    return [
        *items,
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": DONE}]},
    ]


def gemini() -> Any:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": GOAL}]}]
    for _, name, arguments, result in CALLS:
        contents.append({"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]})
        response = {"name": name, "response": json.loads(result)}
        contents.append({"role": "user", "parts": [{"functionResponse": response}]})
    contents.append({"role": "model", "parts": [{"text": DONE}]})
    return {"systemInstruction": {"parts": [{"text": SYSTEM}]}, "contents": contents}


def requests(messages: list[dict[str, Any]]) -> list[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """(messages of the request, its answer) of each call."""
    return [(messages[:at], m) for at, m in enumerate(messages) if m.get("role") == "assistant"]


def openai_log() -> list[Any]:
    return [
        {"request": {"model": "gpt-x", "messages": asked}, "response": {"choices": [{"message": said}]}}
        for asked, said in requests(chat())
    ]


def anthropic_log() -> list[Any]:
    return [
        {
            "body": {"model": "claude-x", "max_tokens": 9, "system": SYSTEM, "messages": asked},
            "response": {"type": "message", "role": "assistant", "content": said["content"]},
        }
        for asked, said in requests(anthropic())
    ]


def litellm_log() -> list[Any]:
    return [
        {
            "id": f"call-{at}",
            "trace_id": "t1",
            "call_type": "acompletion",
            "status": "success",
            "model": "gpt-x",
            "messages": asked,
            "response": {"choices": [{"message": said}]},
            "model_parameters": {"tools": [{"type": "function", "function": {"name": "refund"}}]},
        }
        for at, (asked, said) in enumerate(requests(chat()))
    ]


def claude_code() -> list[Any]:
    rows: list[Any] = []
    for at, message in enumerate(anthropic()):
        inner = {**message, "id": f"m{at}"} if message["role"] == "assistant" else message
        parent = f"u{at - 1}" if at else None
        rows.append({"type": message["role"], "uuid": f"u{at}", "parentUuid": parent, "message": inner})
    return rows


def codex() -> list[Any]:
    meta = {"id": "s1", "cwd": "/home/user", "instructions": SYSTEM}
    rows: list[Any] = [
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": meta},
        {"timestamp": "2026-01-01T00:00:00Z", "type": "turn_context", "payload": {"model": "gpt-x-codex"}},
    ]
    for item in responses():
        rows.append({"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": item})
        rows.append({"timestamp": "2026-01-01T00:00:01Z", "type": "event_msg", "payload": {"type": "token_count"}})
    return rows


def swe_agent() -> Any:
    history: list[dict[str, Any]] = []
    for message in chat():
        entry = {**message, "agent": "main", "message_type": "observation"}
        if message["role"] == "tool":
            entry["tool_call_ids"] = [entry.pop("tool_call_id")]
            entry["content"] = [{"type": "text", "text": message["content"]}]
        history.append(entry)
    return {"environment": "main", "trajectory": [], "history": history, "info": {"exit_status": "submitted"}}


def tau() -> list[Any]:
    return [{"task_id": 7, "trial": 0, "reward": 1.0, "info": {}, "traj": chat()}]


def tau2() -> Any:
    messages: list[dict[str, Any]] = []
    for message in chat()[1:]:
        calls = [
            {
                "id": call["id"],
                "name": call["function"]["name"],
                "arguments": json.loads(call["function"]["arguments"]),
                "requestor": "assistant",
            }
            for call in message.get("tool_calls", ())
        ]
        entry = {"role": message["role"], "content": message["content"], "tool_calls": calls or None, "cost": 0.0}
        if message["role"] == "tool":
            entry.update(id=message["tool_call_id"], requestor="assistant", error=False)
        messages.append(entry)
    messages.insert(1, {"role": "tool", "id": "u1", "requestor": "user", "content": "signal: none"})
    info = {"environment_info": {"policy": SYSTEM}, "agent_info": {"llm": "gpt-x"}}
    return {"info": info, "tasks": [], "simulations": [{"id": "r1", "task_id": "7", "messages": messages}]}


def agents_trace() -> list[Any]:
    spans = [
        {
            "object": "trace.span",
            "id": f"span_{at}",
            "trace_id": "trace_1",
            "span_data": {"type": "generation", "model": "gpt-x", "input": asked, "output": [said]},
        }
        for at, (asked, said) in enumerate(requests(chat()))
    ]
    return [{"object": "trace", "id": "trace_1", "workflow_name": "refunds"}, *spans]


def _langchain() -> list[tuple[str, dict[str, Any]]]:
    kinds = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}
    made = []
    for message in chat():
        data: dict[str, Any] = {"content": message["content"] or "", "additional_kwargs": {}}
        if message.get("tool_calls"):
            inner = message["tool_calls"][0]
            arguments = json.loads(inner["function"]["arguments"])
            call = {"name": inner["function"]["name"], "args": arguments, "id": inner["id"], "type": "tool_call"}
            data["tool_calls"] = [call]
            data["content"] = [{"type": "tool_use", "id": inner["id"], "name": call["name"], "input": arguments}]
        if message["role"] == "tool":
            data["tool_call_id"] = message["tool_call_id"]
        made.append((kinds[message["role"]], data))
    return made


def langchain_dict() -> list[Any]:
    return [{"type": kind, "data": {**data, "type": kind}} for kind, data in _langchain()]


def langchain_dumpd() -> Any:
    names = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    return {
        "messages": [
            {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", names[kind]], "kwargs": data}
            for kind, data in _langchain()
        ]
    }


def langgraph_state() -> list[Any]:
    return [{"thread_id": "th1", "values": {"messages": [{"type": kind, **data} for kind, data in _langchain()]}}]


def _parts(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        response = {"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}
        return {"role": "tool", "parts": [response]}
    parts: list[dict[str, Any]] = [{"type": "text", "content": message["content"]}] if message["content"] else []
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = json.loads(function["arguments"])
        parts.append({"type": "tool_call", "id": call["id"], "name": function["name"], "arguments": arguments})
    return {"role": message["role"], "parts": parts}


def otlp() -> Any:
    spans = []
    for at, (asked, said) in enumerate(requests(chat())):
        held = {
            "gen_ai.request.model": "gpt-x",
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": SYSTEM}]),
            "gen_ai.input.messages": json.dumps([_parts(message) for message in asked[1:]]),
            "gen_ai.output.messages": json.dumps([{**_parts(said), "finish_reason": "stop"}]),
        }
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in held.items()]
        spans.append({"traceId": "aa", "spanId": str(at), "startTimeUnixNano": str(9 + at), "attributes": attributes})
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans[::-1]}]}]}


def otel_events() -> list[Any]:
    spans = []
    for asked, said in requests(chat()):
        events = [
            {
                "name": f"gen_ai.{message['role']}.message",
                "attributes": {
                    "content": message["content"],
                    "id": message.get("tool_call_id"),
                    "tool_calls": json.dumps(message.get("tool_calls", [])),
                },
            }
            for message in asked
        ]
        choice = {"message": json.dumps({"content": said["content"], "tool_calls": said.get("tool_calls", [])})}
        events.append({"name": "gen_ai.choice", "attributes": choice})
        attributes = {"gen_ai.operation.name": "chat"}
        spans.append({"name": "chat", "context": {"trace_id": "0xaa"}, "attributes": attributes, "events": events})
    return spans


def otel_numbered() -> list[Any]:
    spans = []
    for asked, said in requests(chat()):
        held: dict[str, Any] = {}
        for which, messages in (("prompt", asked), ("completion", [said])):
            for at, message in enumerate(messages):
                start = f"gen_ai.{which}.{at}"
                held[f"{start}.role"] = message["role"]
                held[f"{start}.content"] = message["content"]
                if message["role"] == "tool":
                    held[f"{start}.tool_call_id"] = message["tool_call_id"]
                for number, call in enumerate(message.get("tool_calls", ())):
                    held[f"{start}.tool_calls.{number}.id"] = call["id"]
                    held[f"{start}.tool_calls.{number}.name"] = call["function"]["name"]
                    held[f"{start}.tool_calls.{number}.arguments"] = call["function"]["arguments"]
        spans.append({"trace_id": "aa", "attributes": held})
    return spans


def langfuse_rows() -> list[Any]:
    rows: list[Any] = [{"id": "s", "trace_id": "t1", "type": "SPAN", "input": None, "output": None}]
    for at, (asked, said) in enumerate(requests(chat())):
        rows.append(
            {
                "id": f"o{at}",
                "trace_id": "t1",
                "type": "GENERATION",
                "provided_model_name": "gpt-x",
                "input": json.dumps({"messages": asked, "tools": []}),
                "output": json.dumps(said),
            }
        )
    return rows


def langfuse_trace() -> Any:
    rows = [
        {"id": f"o{at}", "type": "GENERATION", "startTime": f"2026-01-01T00:00:0{at}Z", "input": asked, "output": said}
        for at, (asked, said) in enumerate(requests(chat()))
    ]
    return {"id": "t1", "name": "refund", "observations": rows[::-1]}


SAMPLES: dict[str, tuple[Any, str, str]] = {
    "rows": ([{"id": "r1", "task": "7", "messages": chat()}], "messages", "openai-chat"),
    "body": ({"model": "gpt-x", "messages": chat()}, "messages", "openai-chat"),
    "batch": ([{"custom_id": "b1", "method": "POST", "body": {"messages": chat()}}], "messages", "openai-chat"),
    "chat list": (chat(), "message-list", "openai-chat"),
    "responses list": (responses(), "message-list", "openai-responses"),
    "anthropic body": ({"max_tokens": 9, "system": SYSTEM, "messages": anthropic()}, "messages", "anthropic"),
    "gemini body": (gemini(), "messages", "gemini"),
    "openai log": (openai_log(), "request-log", "openai-chat"),
    "anthropic log": (anthropic_log(), "request-log", "anthropic"),
    "litellm": (litellm_log(), "litellm", "openai-chat"),
    "claude code": (claude_code(), "claude-code", "anthropic"),
    "codex": (codex(), "codex", "openai-responses"),
    "swe-agent": (swe_agent(), "swe-agent", "openai-chat"),
    "tau": (tau(), "tau-bench", "openai-chat"),
    "tau2": (tau2(), "tau-bench", "openai-chat"),
    "agents trace": (agents_trace(), "openai-agents", "openai-chat"),
    "langchain dict": (langchain_dict(), "langchain", "openai-chat"),
    "langchain dumpd": (langchain_dumpd(), "langchain", "openai-chat"),
    "langgraph state": (langgraph_state(), "langchain", "openai-chat"),
    "otlp": (otlp(), "opentelemetry", "openai-chat"),
    "otel events": (otel_events(), "opentelemetry", "openai-chat"),
    "otel numbered": (otel_numbered(), "opentelemetry", "openai-chat"),
    "langfuse rows": (langfuse_rows(), "langfuse", "openai-chat"),
    "langfuse trace": (langfuse_trace(), "langfuse", "openai-chat"),
}
"""By name: (the file's value or rows, its format, the wire of what it holds)."""
