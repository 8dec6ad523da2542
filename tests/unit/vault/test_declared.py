"""Secrets in schemas of tools, in keys of data, in what the caller declares, and in system prompts."""

import json

import pytest
from bench.secrets import made

from jettison import Budget, Session
from jettison.vault import Vault

TOKEN, KEY, PASSWORD = made("github", "declared"), made("stripe", "declared"), made("password", "declared")
NAME = "{{secret:github-token:1}}"

PROPERTIES = {
    "repo": {"type": "string", "description": "which one"},
    "token": {"type": "string", "default": TOKEN},
    "password": {"type": "string", "examples": [PASSWORD], "enum": [PASSWORD, "none"]},
}
CHAT = [
    {
        "type": "function",
        "function": {
            "name": "push",
            "description": f"Pushes. Use {KEY} for payments.",
            "parameters": {"type": "object", "properties": PROPERTIES, "required": ["repo"]},
        },
    }
]
ANTHROPIC = [{"name": "push", "description": KEY, "input_schema": {"type": "object", "properties": PROPERTIES}}]
GEMINI = [{"functionDeclarations": [{"name": "push", "description": KEY, "parameters": {"properties": PROPERTIES}}]}]


def session(wire="openai-chat", **settings):
    return Session(Budget(window=100_000), wire=wire, vault=Vault(rule_sets=(), **settings))


@pytest.mark.parametrize(("wire", "tools"), [("openai-chat", CHAT), ("anthropic", ANTHROPIC), ("gemini", GEMINI)])
def test_schemas_are_sent_without_secrets(wire, tools):
    one = session(wire)
    message = {"parts": [{"text": "go"}]} if wire == "gemini" else {"content": "go"}
    before = json.dumps(tools)
    fitted = one.fit([{"role": "user", **message}], tools=tools)
    sent = json.dumps(fitted.tools)
    assert json.dumps(tools) == before
    assert not [value for value in (TOKEN, KEY, PASSWORD) if value in sent]
    assert sent.count("{{secret:password:1}}") == 2
    assert '"name": "push"' in sent
    assert one.fit([{"role": "user", **message}], tools=tools).tools == fitted.tools
    back = one.rehydrate({"name": "push", "input": {"token": NAME}})
    assert back["input"]["token"] == TOKEN


def test_a_request_body_too_and_its_response_schema():
    one = session()
    schema = {"type": "json_schema", "json_schema": {"schema": {"properties": {"api_key": {"const": KEY}}}}}
    body = one.fit_request({"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": CHAT})
    assert TOKEN not in json.dumps(body)
    fitted = one.fit([{"role": "user", "content": "go"}], response_schema=schema)
    assert KEY not in repr(fitted)


def test_schemas_without_secrets_stay_the_same_object():
    tools = [{"type": "function", "function": {"name": "password_reset", "parameters": {"properties": {"token": {}}}}}]
    assert session().fit([{"role": "user", "content": "go"}], tools=tools).tools is tools


def test_what_is_declared():
    one = session()
    one.task.goal = f"Push with {TOKEN}"
    one.task.constrain(f"the password is {PASSWORD}, never print it")
    op = one.task.begin("push", needs=[TOKEN, "ORD-9913"])
    one.task.pin(f"pinned: {KEY}")
    fitted = one.fit([{"role": "user", "content": f"Push order ORD-9913 with {TOKEN}"}])
    told = repr(one.task) + repr(fitted) + str(fitted.report.to_dict()) + repr(one._state)
    assert not [value for value in (TOKEN, KEY, PASSWORD) if value in told]
    assert one.task.goal == f"Push with {NAME}"
    assert one.task.operations[op].needs == (NAME, "ORD-9913")
    assert fitted.messages[0]["content"] == f"Push order ORD-9913 with {NAME}"


def test_keys_of_data():
    one = session()
    call = {"id": "1", "type": "function", "function": {"name": "t", "arguments": json.dumps({TOKEN: 1})}}
    text = json.dumps({"scopes": {TOKEN: ["repo"]}})
    chat = one.fit(
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": text},
        ]
    )
    assert TOKEN not in json.dumps(chat.messages)
    assert json.loads(chat.messages[1]["tool_calls"][0]["function"]["arguments"]) == {NAME: 1}
    use = {"type": "tool_use", "id": "1", "name": "t", "input": {"scopes": {TOKEN: 1}}}
    done = {"type": "tool_result", "tool_use_id": "1", "content": "ok"}
    two = session("anthropic").fit(
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [done]},
        ]
    )
    assert two.messages[1]["content"][0]["input"] == {"scopes": {NAME: 1}}


def test_system_prompts_on_every_wire():
    for wire, system in (("anthropic", f"Use {TOKEN}."), ("gemini", {"parts": [{"text": f"Use {TOKEN}."}]})):
        message = {"parts": [{"text": "go"}]} if wire == "gemini" else {"content": "go"}
        assert TOKEN not in repr(session(wire).fit([{"role": "user", **message}], system=system))
    chat = session().fit([{"role": "system", "content": f"Use {TOKEN}."}, {"role": "user", "content": "go"}])
    assert chat.messages[0]["content"] == f"Use {NAME}."


def test_a_call_that_failed_is_no_excuse():
    """A password becomes known in a call that comes to nothing: at the next one the older message is mended all the
    same."""
    one = session()
    history = [{"role": "user", "content": "try swordfish77x"}, {"role": "assistant", "content": "no"}]
    one.fit(history)
    told = [*history, {"role": "user", "content": "the password is swordfish77x"}]
    broken = [*told, {"role": "tool", "tool_call_id": "nope", "content": "x"}]
    with pytest.raises(Exception, match="nope"):
        one.fit(broken)
    assert "swordfish77x" not in json.dumps(one.fit(told).messages)
