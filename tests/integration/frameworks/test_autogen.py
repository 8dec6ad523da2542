"""AutoGen: its own assistant agent and OpenAI client against a scripted server on loopback, real tools."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings

from canary import found_in
from integration.frameworks import login
from integration.frameworks.programs import check_program
from integration.frameworks.server import Server, serving
from integration.frameworks.task import (
    CALLS,
    GOALS,
    SYSTEM,
    TOOLS,
    Call,
    Script,
    World,
    openai_tools,
    outcome,
    page,
    quarter,
    window,
)  # fmt: skip
from integration.frameworks.turns import Turn, check_round_trip, histories
from jettison.errors import BudgetUnreachable

pytest.importorskip("autogen_agentchat", reason="needs jettison[autogen]")

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import FunctionCall, Image
from autogen_core.model_context import HeadAndTailChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openai import BadRequestError
from PIL import Image as Picture

from jettison.integrations.autogen import JettisonClient, JettisonContext, recall_tool
from jettison.integrations.autogen_messages import from_fitted, to_wire
from jettison.integrations.common import Conversation

BUDGET = quarter()
WINDOW = window(BUDGET)
SCHEMAS = [tool["function"] for tool in openai_tools()]


def tools(world: World) -> list[Any]:
    return [FunctionTool(getattr(world, name), said, name=name) for name, (said, _) in TOOLS.items()]


def plain(server: Server) -> Any:
    return OpenAIChatCompletionClient(
        model="gpt-4o",
        base_url=f"{server.url}/v1",
        api_key="none",
        max_retries=0,
        stream_options={"include_usage": True},
    )


def agent(client: Any, world: World, *more: Any, context: Any = None, stream: bool = False) -> Any:
    return AssistantAgent(
        "office", client, tools=[*tools(world), *more], system_message=SYSTEM, model_context=context,
        max_tool_iterations=100, model_client_stream=stream,
    )  # fmt: skip


def run(graph: Any, language: str = "en", *, stream: bool = False) -> Any:
    async def go() -> Any:
        if not stream:
            return await graph.run(task=GOALS[language])
        events = [event async for event in graph.run_stream(task=GOALS[language])]
        assert any(type(event).__name__ == "ModelClientStreamingChunkEvent" for event in events)
        return events[-1]

    return asyncio.run(go())


def test_no_secret_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """AutoGen has no hook before a tool: tools get placeholders."""
    login.into(monkeypatch, __name__)
    script, desk = login.LoggingIn(), login.Desk()
    with serving(script) as server:
        run(agent(JettisonClient(plain(server), 3_000, vault=login.vault()), desk))
        assert not found_in(server.seen)
    login.check(script, desk, hook=False)


@pytest.mark.parametrize(("language", "stream"), [("en", False), ("ru", True)])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, stream: bool) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        client = JettisonClient(plain(server), BUDGET)
        graph = agent(client, world, stream=stream)
        result = run(graph, language, stream=stream)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert "RF-58213" in result.messages[-1].content
    # The model context keeps everything.
    stored = asyncio.run(graph.model_context.get_messages())
    assert sum(isinstance(message, AssistantMessage) for message in stored) == CALLS
    assert "[cut" not in str(stored)
    assert client.session is not None
    assert client.session._ratio != 1.0  # the provider's count came back


def test_a_context_does_it_too_and_stores_everything() -> None:
    script, world = Script(window=WINDOW), World()
    context = JettisonContext(BUDGET, system=SYSTEM, tools=SCHEMAS)
    with serving(script) as server:
        graph = agent(plain(server), world, context=context)
        run(graph)
        state = asyncio.run(graph.save_state())
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert len(state["llm_context"]["messages"]) == 2 * CALLS
    assert "[cut" not in str(state["llm_context"]["messages"])


def test_what_was_decided_is_saved_with_the_agent() -> None:
    """Interrupted half-way, loaded in another process: what it sends then is what it would have sent."""
    first, world = Script(window=WINDOW, until=40), World()
    with serving(first) as server:
        graph = agent(plain(server), world, context=JettisonContext(BUDGET, system=SYSTEM, tools=SCHEMAS))
        run(graph)
        state = json.loads(json.dumps(asyncio.run(graph.save_state())))
        sent = asyncio.run(graph.model_context.get_messages())
        other = agent(plain(server), world, context=JettisonContext(BUDGET, system=SYSTEM, tools=SCHEMAS))
        asyncio.run(other.load_state(state))
        again = asyncio.run(other.model_context.get_messages())
        fresh = JettisonContext(BUDGET, system=SYSTEM, tools=SCHEMAS)
        asyncio.run(fresh.load_state({"messages": state["llm_context"]["messages"]}))
        anew = asyncio.run(fresh.get_messages())
    assert again == sent
    assert "[partial " in str(sent)
    assert anew != sent  # nothing was known of the decisions
    asyncio.run(other.on_reset(None))
    assert asyncio.run(other.model_context.get_messages()) == []


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name in ("no trimming", "HeadAndTailChatCompletionContext", "JettisonClient"):
        script, world = Script(window=WINDOW), World()
        error: BaseException | None = None
        with serving(script) as server:
            client = JettisonClient(plain(server), BUDGET) if name == "JettisonClient" else plain(server)
            context = HeadAndTailChatCompletionContext(1, 14) if name.startswith("Head") else None
            try:
                run(agent(client, world, context=context))
            except BadRequestError as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    page("AutoGen", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


@pytest.mark.parametrize("stream", [False, True])
def test_after_an_overflow_it_tries_once_more_and_tighter(stream: bool) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        run(agent(JettisonClient(plain(server), BUDGET * 2), world, stream=stream), stream=stream)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 1


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Script(window=10)
    with serving(script) as server, pytest.raises(BadRequestError, match="maximum context length is 10 tokens"):
        run(agent(JettisonClient(plain(server), BUDGET), World()))
    assert script.overflows == 1


def test_an_error_ends_the_run() -> None:
    with serving(Script()) as server, pytest.raises(BudgetUnreachable, match="smallest safe request needs"):
        run(agent(JettisonClient(plain(server), 50), World()))
    assert server.seen == []


class Recalling(Script):
    """Asks for the first mark it sees once something was cut."""

    answer: str = ""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        if self.answer == "asked":
            self.answer = seen[-1]
        if not self.answer and (match := re.search(r"ref ([a-z]{10,})", "\n".join(seen[2:]))):
            self.answer = "asked"
            self._count(list(seen))
            return [Call("recall_context", {"handle": match.group(1)})]
        return super().next(seen)


@pytest.mark.parametrize("kind", ["client", "context"])
def test_the_agent_can_recall(kind: str) -> None:
    script, world = Recalling(), World()
    with serving(script) as server:
        source: Any = JettisonContext(BUDGET, system=SYSTEM, tools=SCHEMAS)
        context, client = source, plain(server)
        if kind == "client":
            context, client = None, JettisonClient(client, BUDGET)
            source = client
        run(agent(client, world, recall_tool(source), context=context))
    assert outcome(script, world).done, outcome(script, world)
    assert "page" in script.answer
    assert "Nothing is kept" not in script.answer


def test_agents_of_a_team_have_conversations_of_their_own() -> None:
    with serving(Script(until=1)) as server:
        client = plain(server)
        fitting = [JettisonClient(client, 4_000, conversation=name) for name in ("a", "b")]
        agents: Any = [
            AssistantAgent(name, each, system_message="Be brief.") for name, each in zip("ab", fitting, strict=True)
        ]
        team = RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(5))
        asyncio.run(team.run(task="Talk."))
    assert len(server.seen) == 4
    assert [each.session.report.call for each in fitting if each.session and each.session.report] == [2, 2]


ALL: list[Any] = [
    SystemMessage(content="Be brief."),
    UserMessage(content=["Look", Image(Picture.new("RGB", (8, 8)))], source="user"),
    AssistantMessage(content=[FunctionCall("c1", '{"at": "ж"}', "look"), FunctionCall("", "{}", "look"),
                              FunctionCall("", "{}", "look")], thought="I look.", source="office"),
    FunctionExecutionResultMessage(content=[
        FunctionExecutionResult(content="one", name="look", call_id="c1", is_error=False),
        FunctionExecutionResult(content="", name="look", call_id="", is_error=True),
        FunctionExecutionResult(content="three", name="look", call_id=""),
    ]),
    AssistantMessage(content="Done.", thought="hm", source="office"),
    UserMessage(content="Thanks.", source="user"),
]  # fmt: skip


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    wire = to_wire(ALL)
    back = from_fitted(Conversation(100_000).fit(wire.messages), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def messages_of(turns: Sequence[Turn]) -> list[Any]:
    out: list[Any] = [SystemMessage(content="Be brief.")]
    for at, turn in enumerate(turns):
        if turn.user:
            out.append(UserMessage(content=turn.said, source="user"))
        elif not turn.calls:
            out.append(AssistantMessage(content=turn.said, source="office"))
        else:
            names = [f"c{at}.{n}" for n in range(len(turn.calls))]
            calls = [
                FunctionCall(name, json.dumps(call[0]), "look") for name, call in zip(names, turn.calls, strict=True)
            ]
            results = [
                FunctionExecutionResult(content=call[1], name="look", call_id=name)
                for name, call in zip(names, turn.calls, strict=True)
            ]
            out.append(AssistantMessage(content=calls, thought=turn.said, source="office"))
            out.append(FunctionExecutionResultMessage(content=results))
    return out


@settings(max_examples=40, deadline=None)
@given(histories())
def test_any_history_makes_the_round_trip(turns: list[Turn]) -> None:
    messages = messages_of(turns)
    check_round_trip(
        messages,
        lambda given: to_wire(given).messages,
        lambda fitted, given: from_fitted(fitted, to_wire(given), given),
    )


def test_a_changed_message_keeps_what_is_not_its_text() -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    result = FunctionExecutionResult(content=long, name="look", call_id="c1", is_error=True)
    messages: list[Any] = [
        UserMessage(content="Look at it.", source="user"),
        AssistantMessage(content=[FunctionCall("c1", "{}", "look")], source="office"),
        FunctionExecutionResultMessage(content=[result]),
    ]
    wire = to_wire(messages)
    back = from_fitted(Conversation(900).fit(wire.messages), wire, messages)
    assert back[:2] == messages[:2]
    (changed,) = back[2].content
    assert "[partial " in changed.content
    assert (changed.name, changed.call_id, changed.is_error) == ("look", "c1", True)
    assert result.content == long


def test_a_call_with_other_arguments_keeps_its_id() -> None:
    call = FunctionCall("c1", json.dumps({"text": "long " * 9}), "write")
    messages: list[Any] = [
        UserMessage(content="Write it.", source="user"),
        AssistantMessage(content=[call, FunctionCall("c2", "{}", "look")], thought="Now.", source="office"),
    ]
    wire = to_wire(messages)
    cut = json.loads(json.dumps(wire.messages[1]))
    cut["tool_calls"][0]["function"]["arguments"] = '{"text": "l"}'
    fitted = Conversation(9_000).fit(wire.messages)
    fitted.messages[1] = cut
    back = from_fitted(fitted, wire, messages)
    assert back[1].content == [FunctionCall("c1", '{"text": "l"}', "write"), FunctionCall("c2", "{}", "look")]
    assert back[1].thought == "Now."


def test_the_program_of_the_docs_runs() -> None:
    check_program("AutoGen")
