"""Schemas of tools long unused: left out at an epoch, by choice, and never one that is needed."""

import json

import pytest

from jettison import Policy, Session
from jettison.errors import ConfigError, InvalidInput
from jettison.tool_schemas import without
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, Script, log_text

MARK = {"type": "ephemeral"}


def schema(name):
    return {"type": "object", "properties": {"path": {"type": "string", "description": f"What {name} works on. " * 12}}}


def declared(wire, names):
    if wire == "openai-chat":
        return [{"type": "function", "function": {"name": name, "parameters": schema(name)}} for name in names]
    if wire == "openai-responses":
        return [{"type": "function", "name": name, "parameters": schema(name)} for name in names]
    if wire == "anthropic":
        return [{"name": name, "input_schema": schema(name)} for name in names]
    return [{"functionDeclarations": [{"name": name, "parameters": schema(name)} for name in names]}]


def names_in(tools):
    text = json.dumps(tools)
    return {name for name in NAMES if f'"{name}"' in text}


NAMES = ("read_file", "get_order", "refund", "deploy_site", "zip_folder")


def history(wire, rounds=20, first="get_order"):
    turns = [Say("Find the slow module."), Act((Call(first, {"path": "src/a.py"}, log_text(99, 1_500)),)), Reply("Hm.")]
    turns += [Say("And now?")]
    for n in range(rounds):
        turns.append(Act((Call("read_file", {"path": f"src/m{n}.py"}, log_text(n, 900)),)))
    return render(Script("You review code.", tuple(turns)), wire)


@pytest.mark.parametrize("wire", WIRES)
def test_at_an_epoch_what_was_long_unused_goes_and_stays_away(wire):
    told, tools = history(wire), declared(wire, NAMES)
    session = Session(Policy(budget=3_000, drop_unused_tools=6), wire=wire)
    before, gone_at = set(NAMES), None
    for number, prefix in enumerate(told.prefixes()):
        fitted = session.fit(prefix, system=told.system, tools=tools)
        left = names_in(fitted.tools)
        report = fitted.report
        assert left <= before
        assert left == {tool.name for tool in report.tools if not tool.dropped}
        assert names_in(fitted.messages) <= left
        assert report.after <= report.limit
        if left != before:
            assert report.cache.epoch in ("minor", "major")
            assert report.cache.first_changed == 0
            assert report.cache.rebilled == report.after
            gone_at = gone_at or number
        before = left
    assert gone_at
    assert before == {"read_file"}
    assert sum(tool.tokens for tool in report.tools) > 3 * report.schemas
    assert json.loads(report.to_json())["tools"][0]["name"] == "read_file"
    again = Session.load(session.save(), session.policy)
    assert names_in(again.fit(told.messages, system=told.system, tools=tools).tools) == {"read_file"}


@pytest.mark.parametrize("wire", WIRES)
def test_off_by_default_and_not_without_an_epoch(wire):
    told, tools = history(wire), declared(wire, NAMES)
    fitted = Session(Policy(budget=3_000), wire=wire).fit(told.messages, system=told.system, tools=tools)
    assert fitted.tools is tools
    fitted = Session(Policy(budget=300_000, drop_unused_tools=6), wire=wire).fit(told.messages, tools=tools)
    assert fitted.tools is tools
    watched = Session(Policy(budget=3_000, drop_unused_tools=6), wire=wire)
    assert watched.fit(told.messages, system=told.system, tools=tools, observe=True).tools is tools


@pytest.mark.parametrize("wire", WIRES)
def test_in_a_body_the_tools_are_where_they_were(wire):
    told, tools = history(wire), declared(wire, NAMES)
    field = {"openai-responses": "input", "gemini": "contents"}.get(wire, "messages")
    body = {field: told.messages, "tools": tools, "tool_choice": {"type": "function", "name": "zip_folder"}}
    session = Session(Policy(budget=3_000, drop_unused_tools=6), wire=wire)
    out = session.fit_request(body)
    assert names_in(out["tools"]) == {"read_file", "zip_folder"}
    assert names_in(tools) == set(NAMES)
    if wire == "gemini":
        out = Session(Policy(budget=3_000, drop_unused_tools=6), wire=wire).fit_request(
            {"contents": told.messages, "config": {"tools": tools, "temperature": 0}}
        )
        assert names_in(out["config"]["tools"]) == {"read_file"}
        assert out["config"]["temperature"] == 0
        assert "tools" not in out


def test_what_the_task_the_user_or_a_pending_call_names_stays():
    tools = declared("openai-chat", NAMES)
    told = history("openai-chat")
    call = {"id": "p", "type": "function", "function": {"name": "deploy_site", "arguments": "{}"}}
    pending = [*told.messages, {"role": "assistant", "content": None, "tool_calls": [call]}]
    session = Session(Policy(budget=3_000, drop_unused_tools=6))
    session.task.begin("refund")
    asked = [{**m, "content": "And now zip_folder?"} if m.get("content") == "And now?" else m for m in pending]
    assert names_in(session.fit(asked, tools=tools).tools) == {"read_file", "refund", "zip_folder", "deploy_site"}


def anthropic_round(n):
    served = [
        {"type": "server_tool_use", "id": f"s{n}", "name": "web_search", "input": {"query": f"libfoo {n}"}},
        {"type": "web_search_tool_result", "tool_use_id": f"s{n}", "content": []},
    ]
    use = {"type": "tool_use", "id": f"t{n}", "name": "read_file", "input": {"path": f"m{n}.py"}}
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": log_text(n, 900)}
    return [{"role": "assistant", "content": [*served, use]}, {"role": "user", "content": [result]}]


def responses_round(n):
    read = {"type": "function_call", "call_id": f"c{n}", "name": "read_file", "arguments": "{}"}
    issues = {"type": "mcp_call", "id": f"m{n}", "server_label": "tracker", "name": "list_issues", "arguments": "{}"}
    return [
        {"type": "web_search_call", "id": f"w{n}", "status": "completed", "action": {"type": "search", "query": "q"}},
        {**issues, "output": "none"},
        read,
        {"type": "function_call_output", "call_id": f"c{n}", "output": log_text(n, 900)},
    ]


@pytest.mark.parametrize(
    ("wire", "own", "one", "used"),
    [
        ("anthropic", [{"type": "web_search_20250305", "name": "web_search"}], anthropic_round, {"web_search": 20}),
        (
            "openai-responses",
            [{"type": "web_search"}, {"type": "mcp", "server_label": "tracker"}, {"type": "file_search"}],
            responses_round,
            {"web_search": 20, "tracker": 20, "file_search": 0},
        ),
    ],
)
def test_tools_that_the_provider_runs_stay(wire, own, one, used):
    """They are not called by the client: web search at every step is no tool that was long unused."""
    tools = [*declared(wire, NAMES), *own]
    told = [{"role": "user", "content": "Track the releases."}, *(item for n in range(20) for item in one(n))]
    fitted = Session(Policy(budget=3_000, drop_unused_tools=6), wire=wire).fit(told, tools=tools)
    assert names_in(fitted.tools) == {"read_file"}
    assert fitted.tools[-len(own) :] == own
    assert {tool.name: tool.calls for tool in fitted.report.tools if tool.name in used} == used


def test_a_branch_that_calls_a_dropped_tool_has_it_again():
    tools, told = declared("openai-chat", NAMES), history("openai-chat")
    session = Session(Policy(budget=3_000, drop_unused_tools=6))
    assert names_in(session.fit(told.messages, tools=tools).tools) == {"read_file"}
    call = {"id": "p", "type": "function", "function": {"name": "deploy_site", "arguments": "{}"}}
    more = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    more.append({"role": "tool", "tool_call_id": "p", "content": "done"})
    assert names_in(session.fit([*told.messages, *more], tools=tools).tools) == {"read_file", "deploy_site"}


def test_a_new_tool_has_its_time():
    told = history("openai-chat")
    session = Session(Policy(budget=3_000, drop_unused_tools=6))
    prefixes = told.prefixes()
    for prefix in prefixes[:-3]:
        session.fit(prefix, tools=declared("openai-chat", NAMES[:3]))
    for prefix in prefixes[-3:]:
        fitted = session.fit(prefix, tools=declared("openai-chat", NAMES))
    assert {"deploy_site", "zip_folder"} <= names_in(fitted.tools)


def test_never_all_of_them():
    tools, told = declared("openai-chat", NAMES[2:]), history("openai-chat")
    fitted = Session(Policy(budget=3_000, drop_unused_tools=6)).fit(told.messages, tools=tools)
    assert len(names_in(fitted.tools)) == 1


@pytest.mark.parametrize(("model", "voids"), [("claude-fable-5-1", False), ("claude-sonnet-4-5", True)])
def test_not_where_that_would_void_reasoning(model, voids):
    """Of a model that checks its reasoning the tools change when none is left in the request."""
    turns = [Say("Find the slow module.")]
    for n in range(20):
        turns.append(Act((Call("read_file", {"path": f"src/m{n}.py"}, log_text(n, 900)),), thinking="Next."))
        turns += [Reply("Read."), Say("Next one.")]
    told = render(Script("You review code.", tuple(turns)), "anthropic")
    tools = declared("anthropic", NAMES)
    session = Session(Policy(budget=3_000, drop_unused_tools=6), wire="anthropic", model=model)
    before, changes, voided = tools, 0, 0
    for prefix in told.prefixes():
        fitted = session.fit(prefix, system=told.system, tools=tools)
        if fitted.tools != before:
            changes += 1
            voided += any("'thinking'" in str(message) for message in fitted.messages)
        before = fitted.tools
    assert changes
    assert bool(voided) == voids


@pytest.mark.parametrize("wire", WIRES)
def test_a_tool_that_comes_back_is_billed_like_any_edit_in_front(wire):
    told, tools = history(wire), declared(wire, NAMES)
    session = Session(Policy(budget=3_000, drop_unused_tools=6), wire=wire)
    assert names_in(session.fit(told.messages, system=told.system, tools=tools).tools) == {"read_file"}
    more = render(Script(told.script.system, (*told.script.turns, Reply("Read."), Say("Now deploy_site."))), wire)
    fitted = session.fit(more.messages, system=told.system, tools=tools)
    assert names_in(fitted.tools) == {"read_file", "deploy_site"}
    cache = fitted.report.cache
    assert (cache.epoch, cache.first_changed, cache.rebilled, cache.kept) == ("none", 0, fitted.report.after, 0)


def thought(number, text=None):
    """A call with signed reasoning and its result, or an answer."""
    block = {"type": "thinking", "thinking": "Hm.", "signature": f"s{number}"}
    if text is not None:
        return [{"role": "assistant", "content": [block, {"type": "text", "text": text}]}]
    use = {"type": "tool_use", "id": f"u{number}", "name": "read_file", "input": {"path": f"n{number}.py"}}
    result = {"type": "tool_result", "tool_use_id": f"u{number}", "content": "Ok."}
    return [{"role": "assistant", "content": [block, use]}, {"role": "user", "content": [result]}]


def named(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


@pytest.fixture(params=[False, True])
def dropped(request):
    """(call at each of which the session goes on, whether or not it is loaded in between; the history so far): all but
    read_file are left out, and a turn with signed reasoning has ended since."""
    told, tools = history("anthropic"), declared("anthropic", NAMES)
    known = [Session(Policy(budget=3_500, drop_unused_tools=6), wire="anthropic", model="claude-fable-5-1")]

    def fit(messages, **more):
        if request.param:
            known[0] = Session.load(known[0].save(), known[0].policy)
        body = {"model": "claude-fable-5-1", "system": told.system, "messages": messages, "tools": tools, **more}
        return known[0].fit_request(body)

    told_so_far = [*told.messages, *render(Script("", (Reply("Read."), Say("Next."))), "anthropic").messages]
    assert names_in(fit(told_so_far)["tools"]) == {"read_file"}
    told_so_far += [*thought(1), *thought(2, "Done.")]
    return fit, told_so_far


def test_a_tool_that_is_named_between_turns_comes_back_without_the_reasoning_behind_it(dropped):
    fit, messages = dropped
    out = fit([*messages, named("Now deploy_site.")])
    assert names_in(out["tools"]) == {"read_file", "deploy_site"}
    assert "signature" not in str(out["messages"])
    assert (out.report.cache.first_changed, out.report.cache.reasoning_lost) == (0, 2)
    again = fit([*messages, named("Now deploy_site."), *thought(3)])
    assert names_in(again["tools"]) == {"read_file", "deploy_site"}
    assert str(again["messages"]).count("signature") == 1
    assert again.report.cache.first_changed is None


def test_a_tool_that_is_named_in_a_running_turn_comes_back_when_that_has_ended(dropped):
    fit, messages = dropped
    running = [*messages, named("Go on."), *thought(3)]
    running[-1]["content"].append({"type": "text", "text": "Then deploy_site."})
    for more in ([], thought(4)):
        running = [*running, *more]
        out = fit(running)
        assert names_in(out["tools"]) == {"read_file"}
        assert out.report.cache.first_changed is None
        assert [note for note in out.report.notes if "come back when the turn has ended: deploy_site" in note]
    ended = fit([*running, *thought(5, "Read."), named("Yes.")])
    assert names_in(ended["tools"]) == {"read_file", "deploy_site"}
    assert "signature" not in str(ended["messages"])
    assert (ended.report.cache.first_changed, ended.report.cache.reasoning_lost) == (0, 5)
    assert not ended.report.notes


def test_a_tool_that_must_be_called_comes_back_at_once(dropped):
    fit, messages = dropped
    running = [*messages, named("Go on."), *thought(3)]
    fit(running)
    out = fit([*running, *thought(4)], tool_choice={"type": "tool", "name": "deploy_site"})
    assert names_in(out["tools"]) == {"read_file", "deploy_site"}
    assert out.report.cache.first_changed == 0
    assert str(out["messages"]).count("signature") == 2, "those of the running turn have to go back"
    assert [note for note in out.report.notes if "this model refuses it" in note]


def test_a_mark_on_a_dropped_tool_moves():
    tools = declared("anthropic", NAMES)
    tools[-1]["cache_control"] = MARK
    left = without(tools, ("zip_folder", "refund"))
    assert [tool.get("cache_control") for tool in left] == [None, None, MARK]
    assert without(tools, ("other",)) is tools
    assert without(None, ("other",)) is None


@pytest.mark.parametrize("bad", [0, -1, True, "6", 1.5])
def test_a_number_of_steps(bad):
    with pytest.raises(ConfigError, match="drop_unused_tools"):
        Policy(drop_unused_tools=bad)


def chatter(rounds):
    out = [{"role": "user", "content": "go"}]
    for n in range(rounds):
        out += [
            {"role": "assistant", "content": f"Thinking {n} " + "blah " * 150},
            {"role": "user", "content": f"Next {n} " + "foo " * 60},
        ]
    return out


@pytest.mark.parametrize("tools", [None, [], ()])
def test_without_tools_there_is_nothing_to_drop(tools):
    session, epochs = Session(Policy(budget=2_000, drop_unused_tools=3)), 0
    for rounds in range(1, 20):
        epochs += session.fit(chatter(rounds), tools=tools).report.cache.epoch == "major"
    assert epochs


def test_one_stays_also_where_the_one_that_had_stayed_is_withdrawn():
    session = Session(Policy(budget=2_500, drop_unused_tools=3))
    for rounds in range(1, 20):
        session.fit(chatter(rounds), tools=declared("openai-chat", NAMES[:3]))
    (left,) = session.fit(chatter(20), tools=declared("openai-chat", NAMES[:3])).tools
    others = [name for name in NAMES[:3] if name != left["function"]["name"]]
    assert len(session.fit(chatter(21), tools=declared("openai-chat", others)).tools) == 1


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        ("f", "a list of tool declarations, not str"),
        ({"name": "f"}, "a list of tool declarations, not dict"),
        ([{"type": "function"}], r"tools\[0\] does not meet the rule `a function has a name`"),
        ([5], r"tools\[0\] .*it is int"),
        ([print], r"tools\[0\] .*it is builtin_function_or_method"),
    ],
)
def test_what_is_no_list_of_tools_is_refused(tools, says):
    with pytest.raises(InvalidInput, match=says):
        Session(5_000).fit(chatter(1), tools=tools)


def test_half_characters_in_a_schema_are_replaced_and_named():
    tools = [{"type": "function", "function": {"name": "f", "description": "a\ud800", "parameters": {"\ud801": 1}}}]
    given = json.dumps(tools)
    fitted = Session(5_000).fit(chatter(1), tools=tools)
    json.dumps(fitted.tools, ensure_ascii=False).encode()
    assert "tools: 2 lone surrogate(s) replaced by U+FFFD" in fitted.report.notes
    assert json.dumps(tools) == given
