"""Semantic Kernel: its own agent, function calling loop and OpenAI service against a scripted server, real tools."""

from __future__ import annotations

import asyncio
import copy
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings

from canary import found_in
from integration.frameworks import login
from integration.frameworks.programs import Reading, check_program
from integration.frameworks.server import Server, serving
from integration.frameworks.task import (
    CALLS,
    GOALS,
    SYSTEM,
    TOOLS,
    Call,
    Script,
    World,
    outcome,
    page,
    quarter,
    window,
)  # fmt: skip
from integration.frameworks.turns import Turn, check_round_trip, histories
from jettison import CannotFit, ConfigError

pytest.importorskip("semantic_kernel", reason="needs jettison[semantic-kernel]")

from openai import AsyncOpenAI
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.connectors.ai import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatHistoryTruncationReducer,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
    ImageContent,
    TextContent,
)
from semantic_kernel.contents.reasoning_content import ReasoningContent
from semantic_kernel.exceptions import KernelException
from semantic_kernel.exceptions.service_exceptions import ServiceResponseException
from semantic_kernel.functions import KernelPlugin, kernel_function

from jettison.integrations.common import Conversation
from jettison.integrations.semantic_kernel import NothingSafeFits, recall_plugin, rehydrating, session_of, wrap
from jettison.integrations.semantic_kernel_messages import from_fitted, to_wire

BUDGET = quarter()
WINDOW = window(BUDGET)


class Plugged(Script):
    """Names its tools as Semantic Kernel does: plugin and function."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        return named(super().next(seen))


def named(action: list[Call] | str) -> list[Call] | str:
    return action if isinstance(action, str) else [Call(f"shop-{call.name}", call.arguments) for call in action]


def shop(world: World) -> KernelPlugin:
    functions = [
        kernel_function(name=name, description=said)(getattr(World, name)) for name, (said, _) in TOOLS.items()
    ]
    return KernelPlugin.from_object("shop", {function.__name__: function.__get__(world) for function in functions})


def plain(server: Server) -> Any:
    client = AsyncOpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0)
    return OpenAIChatCompletion(ai_model_id="gpt-4o", async_client=client)


def agent(service: Any, world: World, *more: KernelPlugin) -> Any:
    behavior = FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=100)
    return ChatCompletionAgent(
        service=service, name="office", instructions=SYSTEM, plugins=[shop(world), *more],
        function_choice_behavior=behavior,
    )  # fmt: skip


def run(graph: Any, language: str = "en", *, stream: bool = False, thread: Any = None) -> Any:
    async def go() -> Any:
        if not stream:
            return await graph.get_response(messages=GOALS[language], thread=thread)
        return [item async for item in graph.invoke_stream(messages=GOALS[language], thread=thread)][-1]

    return asyncio.run(go())


class PluggedLogin(login.LoggingIn):
    def next(self, seen: Sequence[str]) -> list[Call] | str:
        return named(super().next(seen))


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_gets_the_token_that_the_provider_never_sees(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    login.into(monkeypatch, __name__)
    monkeypatch.setattr(sys.modules[__name__], "World", login.Desk)
    script, desk, history = PluggedLogin(), login.Desk(), ChatHistory()
    with serving(script) as server:
        service = wrap(plain(server), 3_000, vault=login.vault())
        office = agent(service, desk)
        office.kernel.add_filter("function_invocation", rehydrating(service))
        run(office, stream=stream, thread=ChatHistoryAgentThread(chat_history=history))
        assert not found_in(server.seen)
    login.check(script, desk)
    calls = [item for message in history.messages for item in message.items if isinstance(item, FunctionCallContent)]
    assert len(calls) == 3
    assert not found_in(calls)


@pytest.mark.parametrize(("language", "stream"), [("en", False), ("ru", True)])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, stream: bool) -> None:
    script, world = Plugged(window=WINDOW), World()
    history = ChatHistory()
    thread = ChatHistoryAgentThread(chat_history=history)
    with serving(script) as server:
        service = wrap(plain(server), BUDGET)
        run(agent(service, world), language, stream=stream, thread=thread)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert server.seen[0].get("stream", False) is stream
    # The thread keeps everything.
    assert sum(message.role == AuthorRole.ASSISTANT for message in history.messages) == CALLS
    assert "[cut" not in history.serialize()
    session = session_of(service)
    assert session is not None
    assert session._ratio != 1.0  # the provider's count came back


async def loop(service: Any, world: World, history: Any) -> None:
    """The loop that is written by who wants a reducer between the calls."""
    kernel = Kernel()
    kernel.add_plugin(shop(world))
    behavior = FunctionChoiceBehavior.Auto(auto_invoke=False)
    settings = OpenAIChatPromptExecutionSettings(function_choice_behavior=behavior)
    history.add_user_message(GOALS["en"])
    while True:
        await history.reduce()
        answer = await service.get_chat_message_content(history, settings, kernel=kernel)
        history.add_message(answer)
        calls = [item for item in answer.items if isinstance(item, FunctionCallContent)]
        if not calls:
            return
        for call in calls:
            await kernel.invoke_function_call(call, history)


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name in ("no trimming", "ChatHistoryTruncationReducer", "wrap()"):
        script, world = Plugged(window=WINDOW), World()
        error: BaseException | None = None
        with serving(script) as server:
            service = plain(server)
            try:
                if name == "ChatHistoryTruncationReducer":
                    history = ChatHistoryTruncationReducer(target_count=14, system_message=SYSTEM)
                    asyncio.run(loop(service, world, history))
                else:
                    run(agent(wrap(service, BUDGET) if name == "wrap()" else service, world))
            except ServiceResponseException as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    page("Semantic Kernel", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


@pytest.mark.parametrize("stream", [False, True])
def test_after_an_overflow_it_tries_once_more_and_tighter(stream: bool) -> None:
    script, world = Plugged(window=WINDOW), World()
    with serving(script) as server:
        run(agent(wrap(plain(server), BUDGET * 2), world), stream=stream)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 1


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Plugged(window=10)
    with (
        serving(script) as server,
        pytest.raises(ServiceResponseException, match="maximum context length is 10 tokens") as raised,
    ):
        run(agent(wrap(plain(server), BUDGET), World()))
    assert isinstance(raised.value.__cause__, CannotFit)
    assert script.overflows == 1


def test_an_error_is_both_frameworks_own() -> None:
    with serving(Plugged()) as server, pytest.raises(NothingSafeFits, match="smallest safe request needs") as raised:
        run(agent(wrap(plain(server), 50), World()))
    assert isinstance(raised.value, ServiceResponseException | KernelException)
    assert isinstance(raised.value, CannotFit)
    assert not raised.value.report.ok
    assert server.seen == []


class Recalling(Plugged):
    """Asks for the first mark it sees once something was cut."""

    answer: str = ""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        if self.answer == "asked":
            self.answer = seen[-1]
        if not self.answer and (match := re.search(r"ref ([a-z]{10,})", "\n".join(seen[2:]))):
            self.answer = "asked"
            self._count(list(seen))
            return [Call("jettison-recall_context", {"handle": match.group(1)})]
        return super().next(seen)


@pytest.mark.parametrize("stream", [False, True])
def test_the_agent_can_recall(stream: bool) -> None:
    script, world = Recalling(), World()
    with serving(script) as server:
        service = wrap(plain(server), BUDGET)
        run(agent(service, world, recall_plugin(service)), stream=stream)
    assert outcome(script, world).done, outcome(script, world)
    assert "page" in script.answer
    assert "Nothing is kept" not in script.answer


def test_a_service_stays_what_it_was() -> None:
    with serving(Script()) as server:
        service = plain(server)
        wrapped = wrap(service, 1_000, conversation="chat")
        assert isinstance(wrapped, OpenAIChatCompletion)
        assert wrapped.service_id == service.service_id
        assert session_of(copy.copy(wrapped)) is None
    with pytest.raises(ConfigError, match="was not wrapped"):
        session_of(service)
    with pytest.raises(ConfigError, match="takes a chat completion service"):
        wrap("gpt-4o", 1_000)  # type: ignore[type-var]


def call(place: int, arguments: Any) -> FunctionCallContent:
    return FunctionCallContent(id=f"c{place}", name="shop-look", arguments=arguments, metadata={"k": place})


def result(place: int, text: Any) -> FunctionResultContent:
    return FunctionResultContent(id=f"c{place}", name="shop-look", result=text, metadata={"k": place})


ALL: list[Any] = [
    ChatMessageContent(role=AuthorRole.SYSTEM, content="Be brief."),
    ChatMessageContent(role=AuthorRole.USER, name="me", items=[
        TextContent(text="Look"), ImageContent(data="iVBORw==", data_format="base64", mime_type="image/png")]),
    ChatMessageContent(role=AuthorRole.ASSISTANT, metadata={"own": 1}, items=[
        ReasoningContent(text="hm", metadata={"id": "r1"}), call(1, '{"at": "ж"}'), call(2, {"at": 1}), call(3, ""),
        TextContent(text="I look.")]),
    ChatMessageContent(role=AuthorRole.TOOL, items=[result(1, "one"), result(2, {"a": 1})]),
    ChatMessageContent(role=AuthorRole.TOOL, items=[result(3, "")]),
    ChatMessageContent(role=AuthorRole.ASSISTANT, content="Done."),
    ChatMessageContent(role=AuthorRole.USER, content="Thanks."),
]  # fmt: skip


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    wire = to_wire(ALL)
    back = from_fitted(Conversation(100_000).fit(wire.messages), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def messages_of(turns: Sequence[Turn]) -> list[Any]:
    out: list[Any] = [ChatMessageContent(role=AuthorRole.SYSTEM, content="Be brief.")]
    for at, turn in enumerate(turns):
        if turn.user:
            out.append(ChatMessageContent(role=AuthorRole.USER, content=turn.said))
            continue
        items = [call(at * 10 + n, json.dumps(each[0])) for n, each in enumerate(turn.calls)]
        out.append(ChatMessageContent(role=AuthorRole.ASSISTANT, items=[*items, TextContent(text=turn.said)]))
        results = [result(at * 10 + n, each[1]) for n, each in enumerate(turn.calls)]
        if results:
            out.append(ChatMessageContent(role=AuthorRole.TOOL, items=results[:1]))
        if results[1:]:
            out.append(ChatMessageContent(role=AuthorRole.TOOL, items=results[1:]))
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
    messages: list[Any] = [
        ChatMessageContent(role=AuthorRole.USER, content="Look at it."),
        ChatMessageContent(role=AuthorRole.ASSISTANT, items=[call(1, "{}")]),
        ChatMessageContent(role=AuthorRole.TOOL, items=[result(1, long)], metadata={"own": 1}),
    ]
    wire = to_wire(messages)
    back = from_fitted(Conversation(900).fit(wire.messages), wire, messages)
    assert back[:2] == messages[:2]
    (item,) = back[2].items
    assert "[partial " in item.result
    assert (item.id, item.metadata, back[2].metadata) == ("c1", {"k": 1}, {"own": 1})
    assert messages[2].items[0].result == long


def test_a_message_with_less_keeps_the_rest() -> None:
    wire = to_wire(ALL)
    fitted = Conversation(100_000).fit(wire.messages)
    first, second, _ = wire.messages[2]["tool_calls"]
    cut = [{**each, "function": {**each["function"], "arguments": '{"at": 2}'}} for each in (first, second)]
    fitted.messages[2] = {"role": "assistant", "content": "I", "tool_calls": cut}
    text, image = wire.messages[1]["content"]
    fitted.messages[1] = {**wire.messages[1], "content": [{**text, "text": "L"}, image]}
    back = from_fitted(fitted, wire, ALL)
    assert back[1].items == [TextContent(text="L"), ALL[1].items[1]]
    one, two, said = back[2].items
    assert (one.arguments, two.arguments, said.text) == ('{"at": 2}', {"at": 2}, "I")
    assert (one.id, one.metadata, back[2].metadata) == ("c1", {"k": 1}, {"own": 1})


class Telling(Reading):
    """As the programs' script, with the names that Semantic Kernel gives."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        action = super().next(seen)
        return action if isinstance(action, str) else [Call(f"Logs-{call.name}", call.arguments) for call in action]


def test_the_program_of_the_docs_runs() -> None:
    check_program("Semantic Kernel", Telling())
