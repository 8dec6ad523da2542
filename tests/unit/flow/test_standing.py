"""What only the provider's own blocks say: found tools, compactions, and calls that are on its server."""

import json

import pytest

from jettison import Session, fit
from strategies import log_text

DEFERRED = {"name": "refund_order", "defer_loading": True, "input_schema": {"type": "object", "properties": {}}}
FIND = {"name": "find_tools", "input_schema": {"type": "object", "properties": {}}}
REFERENCES = [{"type": "tool_reference", "tool_name": "refund_order"}]
FUNCTION = {"type": "function", "name": "refund_order", "defer_loading": True, "parameters": {"type": "object"}}


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


SERVER_SEARCH = [
    {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_regex", "input": {"query": "refund"}},
            {
                "type": "tool_search_tool_result",
                "tool_use_id": "s1",
                "content": {"type": "tool_search_tool_search_result", "tool_references": REFERENCES},
            },
            {"type": "text", "text": "Found it."},
        ],
    }
]
CLIENT_SEARCH = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "find_tools", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": REFERENCES}]},
    said("Found it."),
]


def search_item(execution, tools=(FUNCTION,)):
    call_id = "c1" if execution == "client" else None
    both = {"call_id": call_id, "execution": execution, "status": "completed"}
    return [
        {"type": "tool_search_call", **both, "arguments": {"query": "refund"}},
        {"type": "tool_search_output", **both, "tools": list(tools)},
        said("Found it."),
    ]


def later():
    return [user(log_text(1, 1_500)), said(log_text(2, 1_200)), user("Go on with 20 EUR.")]


def held(fitted):
    return {(lock.reason, lock.until) for lock in fitted.report.protections}


NAMESPACE = {"type": "namespace", "name": "crm", "tools": [FUNCTION]}
SERVED, SPACED = search_item("server"), search_item("server", [NAMESPACE])


@pytest.mark.parametrize(
    ("wire", "search", "kept", "tools"),
    [
        ("anthropic", SERVER_SEARCH, SERVER_SEARCH[0]["content"][:2], [DEFERRED]),
        ("anthropic", CLIENT_SEARCH, [*CLIENT_SEARCH[0]["content"], *REFERENCES], [DEFERRED, FIND]),
        ("openai-responses", SERVED, SERVED[:2], [{"type": "tool_search"}, FUNCTION]),
        ("openai-responses", SPACED, SPACED[:2], [{"type": "tool_search"}, NAMESPACE]),
    ],
)
@pytest.mark.parametrize("budget", [400, 700])
def test_what_the_providers_tool_search_found_stays_while_the_tool_is_declared(wire, search, kept, tools, budget):
    messages = [user("Refund order 88."), *search, *later()]
    fitted = fit(messages, budget=budget, wire=wire, tools=tools)
    assert fitted.report.after < fitted.report.before
    assert all(json.dumps(part) in json.dumps(fitted.messages) for part in kept)
    assert any(reason.startswith("revealed tool") for reason, _ in held(fitted))
    without = fit(messages, budget=budget, wire=wire, tools=[{"type": "tool_search"}])
    assert not any(reason.startswith("revealed tool") for reason, _ in held(without))


def test_tools_that_the_clients_own_search_found_are_declared_nowhere_else():
    messages = [user("Refund order 88."), *search_item("client"), *later()]
    fitted = fit(messages, budget=400, wire="openai-responses", tools=[{"type": "tool_search", "execution": "client"}])
    assert messages[2] in fitted.messages
    assert ("revealed tool refund_order", "a later search finds the tool") in held(fitted)
    again = [*messages[:-1], *search_item("client"), messages[-1]]
    fitted = fit(again, budget=700, wire="openai-responses", tools=[{"type": "tool_search", "execution": "client"}])
    assert fitted.messages.count(messages[2]) == 1


RESPONSES_COMPACTION = [{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA" + "x7Q" * 60}]
ANTHROPIC_COMPACTION = [
    {
        "role": "assistant",
        "content": [
            {"type": "compaction", "content": "Plan B was chosen; ticket OPS-771 is open."},
            {"type": "text", "text": "Going on."},
        ],
    }
]


def compacted(compaction):
    before = [part for n in range(3) for part in (said(log_text(n, 600)), user(f"And then, step {n}?"))]
    after = [part for n in range(3) for part in (user(f"What of part {n}?"), said(log_text(10 + n, 300)))]
    return [user("Plan the move."), *before, *compaction, *after, user("Close the ticket now.")]


@pytest.mark.parametrize(
    ("wire", "compaction"), [("openai-responses", RESPONSES_COMPACTION), ("anthropic", ANTHROPIC_COMPACTION)]
)
@pytest.mark.parametrize("over", [20, 600, 800])
def test_a_compaction_is_held_and_what_it_stands_for_goes_first(wire, compaction, over):
    messages = compacted(compaction)
    fitted = fit(messages, budget=fit(messages, budget=9_000, wire=wire).report.after - over, wire=wire)
    text = json.dumps(fitted.messages)
    assert compaction[0] in fitted.messages or json.dumps(compaction[0]["content"][0]) in text
    assert not any(part["content"] in text for part in messages[1:6])
    assert ("compaction of what came before", "a later compaction") in held(fitted)
    if over == 20:
        assert fitted.messages[-7:] == messages[-7:]


@pytest.mark.parametrize(
    ("wire", "compaction"), [("openai-responses", RESPONSES_COMPACTION), ("anthropic", ANTHROPIC_COMPACTION)]
)
def test_only_the_latest_compaction_is_held(wire, compaction):
    session, messages = Session(700, wire=wire), compacted(compaction)
    newer = json.loads(json.dumps(compaction).replace("OPS-771", "OPS-772").replace("cmp_1", "cmp_2"))
    for end in range(1, len(messages) + 1):
        if messages[end - 1].get("role") == "user":
            session.fit(messages[:end])
    more = [*messages, *newer, user("Now the next one. " + log_text(30, 1_200)), said("Done."), user("Thanks, go on.")]
    text = json.dumps(session.fit(more).messages)
    old, new = ("OPS-771", "OPS-772") if wire == "anthropic" else ("cmp_1", "cmp_2")
    assert new in text
    assert old not in text


def test_a_result_of_the_legacy_form_answers_nothing_on_a_server():
    messages = [user("Go."), said("Hm."), {"role": "function", "name": "run", "content": "ok"}, user("And now?")]
    assert not any("server" in reason for reason, _ in held(fit(messages, budget=500)))
