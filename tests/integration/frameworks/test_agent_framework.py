"""Microsoft Agent Framework: its own agent and OpenAI client against a scripted server on loopback, real tools."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from hypothesis import given, settings

from canary import found_in
from integration.frameworks import login
from integration.frameworks.histories import Step, check_history, histories
from integration.frameworks.programs import check_program
from integration.frameworks.recalling import Recalling
from integration.frameworks.server import Server, serving
from integration.frameworks.task import (
    CALLS,
    GOALS,
    SYSTEM,
    TOOLS,
    Script,
    World,
    outcome,
    page,
    parameters,
    quarter,
    window,
)  # fmt: skip
from jettison import CannotFit, ConfigError

pytest.importorskip("agent_framework", reason="needs jettison[agent-framework]")
pytest.importorskip("agent_framework_openai", reason="needs agent-framework-openai")

from agent_framework import (
    Agent,
    ChatContext,
    ChatMiddleware,
    Content,
    ContextWindowCompactionStrategy,
    FunctionTool,
    Message,
    apply_compaction,
)
from agent_framework.exceptions import ChatClientException, ChatClientInvalidRequestException
from agent_framework.openai import OpenAIChatCompletionClient
from pydantic import BaseModel

from jettison.integrations.agent_framework import (
    JettisonCompaction,
    JettisonMiddleware,
    NothingSafeFits,
    Rehydrating,
    _fit,
    recall_tool,
)
from jettison.integrations.agent_framework_messages import from_fitted, to_tools, to_wire
from jettison.integrations.common import Conversation

BUDGET = quarter()
WINDOW = window(BUDGET)


def tools(world: World) -> list[Any]:
    return [
        FunctionTool(name=name, description=said, func=getattr(world, name), input_model=parameters(name))
        for name, (said, _) in TOOLS.items()
    ]


def agent(server: Server, world: World, *more: Any, **given: Any) -> Any:
    client = OpenAIChatCompletionClient(
        "gpt-4o",
        api_key="none",
        base_url=f"{server.url}/v1",
        function_invocation_configuration={"max_iterations": 100},
    )
    return Agent(client, SYSTEM, tools=[*tools(world), *more], **given)


def run(office: Any, language: str = "en", stream: bool = False) -> tuple[Any, list[Any]]:
    """The result, and what the session keeps."""

    async def go() -> Any:
        session = office.create_session()
        if stream:
            updates = office.run(GOALS[language], stream=True, session=session)
            assert len([update async for update in updates]) > CALLS
            result = await updates.get_final_response()
        else:
            result = await office.run(GOALS[language], session=session)
        return result, session.state["in_memory"]["messages"]

    return asyncio.run(go())


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_gets_the_token_that_the_provider_never_sees(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    login.into(monkeypatch, __name__)
    monkeypatch.setattr(sys.modules[__name__], "CALLS", 3)
    script, desk = login.LoggingIn(), login.Desk()
    middleware = JettisonMiddleware(3_000, vault=login.vault())
    with serving(script) as server:
        _, stored = run(agent(server, desk, middleware=[Rehydrating(middleware), middleware]), stream=stream)
        assert not found_in(server.seen)
    login.check(script, desk)
    calls = [content for message in stored for content in message.contents if content.type == "function_call"]
    assert len(calls) == 3
    assert not any(found_in(str(call.arguments)) for call in calls)


def test_a_vault_needs_the_history_here() -> None:
    middleware = JettisonMiddleware(3_000, vault=login.vault())
    context = ChatContext(client=None, messages=[Message("user", ["hi"])], options={"conversation_id": "c"})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="store=False"):
        asyncio.run(middleware.process(context, _never))


async def _never() -> None:
    raise AssertionError


@pytest.mark.parametrize(("language", "stream"), [("en", False), ("ru", True)])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, stream: bool) -> None:
    script, world, middleware = Script(window=WINDOW), World(), JettisonMiddleware(BUDGET)
    with serving(script) as server:
        result, stored = run(agent(server, world, middleware=[middleware]), language, stream)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    # The result and the session keep everything.
    assert sum(message.role == "assistant" for message in stored) == CALLS
    assert len(stored) == len(result.messages) + 1
    assert "[cut" not in str([message.to_dict() for message in stored])
    assert middleware.session is not None
    assert middleware.session._ratio != 1.0  # the provider's count came back


def test_a_strategy_keeps_the_session_full_too() -> None:
    script, world = Script(window=WINDOW), World()
    strategy = JettisonCompaction(BUDGET, system=SYSTEM, tools=tools(world), model="gpt-4o")
    with serving(script) as server:
        _, stored = run(agent(server, world, compaction_strategy=strategy))
    assert outcome(script, world).done, outcome(script, world)
    assert sum(message.role == "assistant" for message in stored) == CALLS
    assert "[cut" not in str([message.to_dict() for message in stored])


def test_decisions_survive_between_calls() -> None:
    script, kept = Script(), []

    class Watching(JettisonMiddleware):
        async def process(self, context: Any, call_next: Any) -> None:
            await super().process(context, call_next)
            assert self.session is not None
            assert self.session.report is not None
            kept.append(self.session.report.cache.epoch)

    with serving(script) as server:
        run(agent(server, World(), middleware=[Watching(BUDGET)]))
    assert len(kept) == CALLS
    assert kept.count("none") > 0.75 * CALLS, kept


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name in ("no trimming", "ContextWindowCompactionStrategy", "JettisonCompaction", "JettisonMiddleware"):
        script, world = Script(window=WINDOW), World()
        given: dict[str, Any] = {}
        if name == "ContextWindowCompactionStrategy":
            own = ContextWindowCompactionStrategy(max_context_window_tokens=BUDGET, max_output_tokens=0)
            given = {"compaction_strategy": own}
        elif name == "JettisonCompaction":
            mine = JettisonCompaction(BUDGET, system=SYSTEM, tools=tools(world), model="gpt-4o")
            given = {"compaction_strategy": mine}
        elif name == "JettisonMiddleware":
            given = {"middleware": [JettisonMiddleware(BUDGET)]}
        error: Exception | None = None
        with serving(script) as server:
            try:
                run(agent(server, world, **given))
            except ChatClientException as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    page("Agent Framework", rows)
    assert [row.done for row in rows.values()] == [False, False, True, True]


@pytest.mark.parametrize("stream", [False, True])
def test_after_an_overflow_it_tries_once_more_and_tighter(stream: bool) -> None:
    script, world, middleware = Script(window=WINDOW), World(), JettisonMiddleware(BUDGET * 2)  # told too large a one
    with serving(script) as server:
        run(agent(server, world, middleware=[middleware]), stream=stream)
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2
    assert middleware.session is not None
    assert middleware.session.overflows == script.overflows


@pytest.mark.parametrize("stream", [False, True])
def test_an_overflow_that_cannot_be_mended_is_handed_on(stream: bool) -> None:
    script = Script(window=10)
    with serving(script) as server, pytest.raises(ChatClientException, match="context length is 10 tokens") as raised:
        run(agent(server, World(), middleware=[JettisonMiddleware(BUDGET)]), stream=stream)
    assert script.overflows <= 2
    assert isinstance(raised.value.__cause__, CannotFit)


@pytest.mark.parametrize("given", ["middleware", "strategy"])
def test_an_error_is_both_frameworks_own(given: str) -> None:
    script = Script()
    tight: dict[str, Any] = (
        {"middleware": [JettisonMiddleware(50)]}
        if given == "middleware"
        else {"compaction_strategy": JettisonCompaction(20)}
    )
    with serving(script) as server, pytest.raises(NothingSafeFits) as raised:
        run(agent(server, World(), **tight))
    assert isinstance(raised.value, ChatClientInvalidRequestException)
    assert isinstance(raised.value, CannotFit)
    assert not raised.value.report.ok
    assert script.step == 0


def test_the_agent_can_recall() -> None:
    script, world, middleware = Recalling(), World(), JettisonMiddleware(BUDGET)
    with serving(script) as server:
        run(agent(server, world, recall_tool(middleware), middleware=[middleware]))
    assert outcome(script, world).done
    assert script.recalled


def test_a_stream_that_is_left_early_is_closed() -> None:
    script, closed = Script(), []
    middleware = JettisonMiddleware(BUDGET)

    class Seeing(ChatMiddleware):
        async def process(self, context: Any, call_next: Any) -> None:
            await call_next()
            context.result.with_cleanup_hook(lambda: closed.append(True))

    async def go(office: Any) -> None:
        updates = office.run(GOALS["en"], stream=True)
        async for _ in updates:
            break
        await updates.close()

    with serving(script) as server:
        asyncio.run(go(agent(server, World(), middleware=[middleware, Seeing()])))
    assert closed == [True]


def test_what_goes_on_from_the_server_is_not_touched() -> None:
    messages, called = [Message("user", ["long " * 900])], []
    context = ChatContext(None, list(messages), {"conversation_id": "c1"})  # type: ignore[arg-type]

    async def call_next() -> None:
        called.append(context.messages)

    asyncio.run(JettisonMiddleware(100).process(context, call_next))
    assert called == [messages]


# the strategy, by itself


def chat(turns: int) -> list[Any]:
    messages = []
    for n in range(turns):
        messages.append(Message("user", [f"What about ORD-{n}? " + "It rains a lot in this town. " * 12]))
        messages.append(Message("assistant", [f"ORD-{n} is on its way. " + "Have a nice day. " * 12]))
    return messages


def test_a_strategy_decides_each_time_from_the_full_history() -> None:
    strategy, messages = JettisonCompaction(700), chat(6)
    before = list(messages)

    async def compacted() -> list[Any]:
        return await apply_compaction(messages, strategy=strategy)

    first = asyncio.run(compacted())
    assert len(first) < len(before)
    assert [message for message in messages if message in before] == before
    assert [message.text for message in asyncio.run(compacted())] == [message.text for message in first]
    assert asyncio.run(strategy(messages)) is False
    messages += chat(8)[-4:]
    asyncio.run(compacted())
    assert strategy.session is not None
    assert strategy.session.report is not None
    assert strategy.session.report.before > 16 * 50
    assert strategy.session.report.after <= 700
    # With room for it all again, by another strategy, nothing is excluded any more.
    room = asyncio.run(apply_compaction(messages, strategy=JettisonCompaction(100_000)))
    assert room[:12] == before


def test_a_strategy_leaves_what_others_excluded() -> None:
    messages = chat(3)
    messages[0].additional_properties.update({"_excluded": True, "_exclude_reason": "other"})
    given = asyncio.run(apply_compaction(messages, strategy=JettisonCompaction(100_000)))
    assert given == messages[1:]
    assert asyncio.run(JettisonCompaction(100)([])) is False


def test_a_cut_result_stands_behind_the_message_that_it_is_of() -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    messages = looking(long)
    given = asyncio.run(apply_compaction(messages, strategy=JettisonCompaction(900)))
    assert [message.role for message in given] == ["user", "assistant", "tool"]
    assert messages[2].contents[0].result == long
    assert messages[3] is given[2]
    assert len(given[2].contents[0].result) < len(long)


# messages and back

PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
CALLED = [
    Content.from_function_call("c1", "look", arguments={"at": "ж"}),
    Content.from_function_call("c2", "look", arguments="{}"),
]
ALL = [
    Message("system", ["Be brief."]),
    Message("user", ["Look", Content.from_uri(PNG, media_type="image/png"),
                     Content.from_uri("https://example.com/case.pdf", media_type="application/pdf")],
            author_name="anna", message_id="m1", additional_properties={"own": 1}),
    Message("assistant", [Content.from_text_reasoning(text="hm", protected_data="c2ln"), "I look.", *CALLED,
                          Content.from_error(message="odd")]),
    Message("tool", [Content.from_function_result("c1", result="one"),
                     Content.from_function_result("c2", result=[Content.from_text("two"),
                                                                Content.from_uri(PNG, media_type="image/png")])]),
    Message("assistant", ["Done."]),
]  # fmt: skip


def looking(text: Any) -> list[Any]:
    return [
        Message("user", ["Look at it."]),
        Message("assistant", CALLED),
        Message(
            "tool",
            [
                Content.from_function_result("c1", result=text, additional_properties={"own": 1}),
                Content.from_function_result("c2", result="two"),
            ],
            message_id="m3",
        ),
    ]


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    wire = to_wire(ALL, "Be brief.")
    back = from_fitted(Conversation(100_000).fit(wire.messages), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def built(steps: list[Step]) -> list[Any]:
    messages = [Message("system", ["Be brief."]), Message("user", ["Look into ORD-1001."])]
    for n, step in enumerate(steps):
        own = [f"c{n}_{at}" if step.ids else "look" for at in range(3)]
        calls = [Content.from_function_call(own[at], "look", arguments=args) for at, (args, _) in enumerate(step.calls)]
        answers = [Content.from_function_result(own[at], result=text) for at, (_, text) in enumerate(step.calls)]
        messages.append(Message("assistant", [step.said, *calls]))
        messages.append(Message("tool", answers) if answers else Message("user", [step.then]))
    return messages


def through(session: Conversation, messages: Any) -> list[Any]:
    wire = to_wire(messages)
    return from_fitted(session.fit(wire.messages), wire, messages)


@settings(max_examples=25, deadline=None)
@given(histories())
def test_any_history_comes_back_as_it_is_or_valid_and_smaller(steps: list[Step]) -> None:
    check_history(built(steps), through, "openai-chat")


@pytest.mark.parametrize("parts", [False, True])
def test_a_changed_message_keeps_what_is_not_its_text(parts: bool) -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    picture = Content.from_uri(PNG, media_type="image/png")
    messages = looking([Content.from_text(long), picture] if parts else long)
    wire = to_wire(messages)
    back = from_fitted(Conversation(1_500).fit(wire.messages), wire, messages)
    assert back[0] is messages[0]
    assert back[1] is messages[1]
    assert (back[2].message_id, back[2].role) == ("m3", "tool")
    cut, same = back[2].contents
    assert (cut.call_id, cut.additional_properties) == ("c1", {"own": 1})
    assert len(cut.result) == len(cut.items[0].text) < len(long)
    assert same is messages[2].contents[1]
    assert messages[2].contents[0].items[0].text == long


def test_what_goes_with_the_messages_is_counted() -> None:
    class Answer(BaseModel):
        found: bool

    (tool,) = to_tools(tools(World())[0])
    assert tool["function"]["parameters"] == parameters("get_order")
    assert to_tools([{"type": "web_search"}]) == [{"type": "web_search"}]
    session = Conversation(10_000)
    plain: list[int] = []
    for options in ({}, {"instructions": SYSTEM}, {"tools": tools(World())}, {"response_format": Answer}):
        asyncio.run(_fit(session, chat(1), options))
        assert session.report is not None
        plain.append(session.report.before)
    assert all(size > plain[0] for size in plain[1:]), plain


def test_the_program_of_the_docs_runs() -> None:
    check_program("Microsoft Agent Framework")
