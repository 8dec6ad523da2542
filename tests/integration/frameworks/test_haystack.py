"""Haystack: its own agent and OpenAI generator against a scripted server on loopback, real tools."""

from __future__ import annotations

import asyncio
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
from jettison import CannotFit, ConfigError, Policy

pytest.importorskip("haystack", reason="needs jettison[haystack]")

from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, FileContent, ImageContent, TextContent
from haystack.dataclasses.chat_message import ToolCall, ToolCallResult
from haystack.hooks import hook
from haystack.hooks.compaction import CompactionHook, SlidingWindowCompactor
from haystack.token_counters import ApproximateTokenCounter
from haystack.tools import Tool
from haystack.utils import Secret
from openai import BadRequestError
from pydantic import BaseModel

from jettison.integrations.common import Conversation
from jettison.integrations.haystack import JettisonChatGenerator, JettisonCompactor, NothingSafeFits, recall_tool
from jettison.integrations.haystack_messages import from_fitted, to_tools, to_wire

BUDGET = quarter()
WINDOW = window(BUDGET)
pytestmark = pytest.mark.filterwarnings("ignore::Warning")


def plain(server: Server, **given: Any) -> Any:
    key = Secret.from_token("none")
    return OpenAIChatGenerator(key, model="gpt-4o", api_base_url=f"{server.url}/v1", max_retries=0, **given)


def tools(world: World) -> list[Any]:
    return [Tool(name, TOOLS[name][0], parameters(name), getattr(world, name)) for name in TOOLS]


def agent(generator: Any, world: World, *more: Any, **given: Any) -> Any:
    made = [*tools(world), *more]
    return Agent(chat_generator=generator, tools=made, system_prompt=SYSTEM, max_agent_steps=100, **given)


def start(language: str = "en") -> list[Any]:
    return [ChatMessage.from_user(GOALS[language])]


def test_no_secret_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Haystack has no hook that changes what a tool gets: tools get placeholders."""
    login.into(monkeypatch, __name__)
    script, desk = login.LoggingIn(), login.Desk()
    with serving(script) as server:
        agent(JettisonChatGenerator(plain(server), 3_000, vault=login.vault()), desk).run(start())
        assert not found_in(server.seen)
    login.check(script, desk, hook=False)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        generator = JettisonChatGenerator(plain(server), BUDGET)
        result = agent(generator, world).run(start(language))
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    # The agent's state keeps everything.
    assert sum(message.is_from("assistant") for message in result["messages"]) == CALLS
    assert "[cut" not in str(result["messages"])
    assert generator.session is not None
    assert generator.session._ratio != 1.0  # the provider's count came back


def test_the_same_asynchronously_and_streamed() -> None:
    script, world, pieces = Script(window=WINDOW), World(), []

    async def see(piece: Any) -> None:
        pieces.append(piece)

    with serving(script) as server:
        generator = JettisonChatGenerator(plain(server), BUDGET)
        asyncio.run(agent(generator, world).run_async(start(), see))
    assert outcome(script, world).done, outcome(script, world)
    assert len(pieces) > CALLS


def test_the_same_in_a_pipeline() -> None:
    script, world = Script(window=WINDOW), World()
    pipeline = Pipeline()
    with serving(script) as server:
        pipeline.add_component("agent", agent(JettisonChatGenerator(plain(server), BUDGET), world))
        pipeline.run({"agent": {"messages": start()}})
    assert outcome(script, world).done, outcome(script, world)


def test_a_generator_that_is_not_asynchronous() -> None:
    class Sync:
        seen: list[str] = []  # noqa: RUF012

        def warm_up(self) -> None:
            self.seen.append("warm")

        def close(self) -> None:
            self.seen.append("closed")

        def run(self, messages: Any) -> Any:
            return {"replies": [ChatMessage.from_assistant(messages[-1].text)]}

    async def go() -> Any:
        generator = JettisonChatGenerator(Sync(), 1_000)
        await generator.warm_up_async()
        result = await generator.run_async("Hello")
        await generator.close_async()
        return result

    assert asyncio.run(go())["replies"][0].text == "Hello"
    assert Sync.seen == ["warm", "closed"]


def test_its_resources_are_those_of_the_generator() -> None:
    async def go(generator: Any) -> None:
        await generator.warm_up_async()
        assert generator.chat_generator.async_client is not None
        await generator.close_async()
        assert generator.chat_generator.async_client is None

    with serving(Script()) as server:
        asyncio.run(go(JettisonChatGenerator(plain(server), 1_000)))


def test_decisions_survive_between_calls() -> None:
    script, kept = Script(), []
    with serving(script) as server:
        generator = JettisonChatGenerator(plain(server), BUDGET)

        @hook
        def watch(state: State) -> None:
            assert generator.session is not None
            assert generator.session.report is not None
            kept.append(generator.session.report.cache.epoch)

        agent(generator, World(), hooks={"before_tool": [watch]}).run(start())
    assert len(kept) == CALLS - 1
    assert kept.count("none") > 0.75 * CALLS, kept


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name in (
        "no trimming",
        "CompactionHook(SlidingWindowCompactor)",
        "CompactionHook(JettisonCompactor)",
        "JettisonChatGenerator",
    ):
        script, world = Script(window=WINDOW), World()
        error: Exception | None = None
        hooks: dict[Any, list[Any]] = {}
        if name.startswith("CompactionHook"):
            compactor: Any = SlidingWindowCompactor() if "Sliding" in name else JettisonCompactor()
            hooks = {"before_llm": [CompactionHook(compactor, context_window=BUDGET)]}
        with serving(script) as server:
            generator = plain(server)
            if name == "JettisonChatGenerator":
                generator = JettisonChatGenerator(generator, BUDGET)
            try:
                agent(generator, world, hooks=hooks).run(start())
            except BadRequestError as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    page("Haystack", rows)
    assert [row.done for row in rows.values()] == [False, False, True, True]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_after_an_overflow_it_tries_once_more_and_tighter(asynchronous: bool) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        generator = JettisonChatGenerator(plain(server), BUDGET * 2)  # we were told a window that is too large
        office = agent(generator, world)
        if asynchronous:
            asyncio.run(office.run_async(start()))
        else:
            office.run(start())
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2
    assert generator.session is not None
    assert generator.session.overflows == script.overflows


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Script(window=10)
    with (
        serving(script) as server,
        pytest.raises(BadRequestError, match="maximum context length is 10 tokens") as raised,
    ):
        agent(JettisonChatGenerator(plain(server), BUDGET), World()).run(start())
    assert script.overflows <= 2
    assert isinstance(raised.value.__cause__, CannotFit)


def test_an_error_is_a_runtime_error_too() -> None:
    script = Script()
    with serving(script) as server, pytest.raises(NothingSafeFits) as raised:
        agent(JettisonChatGenerator(plain(server), 50), World()).run(start())
    assert isinstance(raised.value, RuntimeError)
    assert isinstance(raised.value, CannotFit)
    assert not raised.value.report.ok
    assert script.step == 0


@pytest.mark.parametrize("compacting", [False, True])
def test_the_agent_can_recall(compacting: bool) -> None:
    script, world = Recalling(), World()
    with serving(script) as server:
        if compacting:
            compactor = JettisonCompactor()
            hooks: Any = {"before_llm": [CompactionHook(compactor, context_window=BUDGET)]}
            agent(plain(server), world, recall_tool(compactor), hooks=hooks).run(start())
        else:
            generator = JettisonChatGenerator(plain(server), BUDGET)
            agent(generator, world, recall_tool(generator)).run(start())
    assert outcome(script, world).done
    assert script.recalled


# the compactor


def chat(turns: int) -> list[Any]:
    messages = [ChatMessage.from_system("Be brief.")]
    for n in range(turns):
        messages.append(ChatMessage.from_user(f"What about ORD-{n}? " + "It rains a lot in this town. " * 12))
        messages.append(ChatMessage.from_assistant(f"ORD-{n} is on its way. " + "Have a nice day. " * 12))
    return messages


def test_a_compactor_keeps_the_rules_of_its_protocol() -> None:
    counter, compactor, messages = ApproximateTokenCounter(), JettisonCompactor(), chat(12)
    before = list(messages)
    left = compactor.compact(messages, 700, counter)
    assert left is not None
    assert counter.count(left) <= 700
    assert messages == before
    assert left[0] is messages[0]
    assert left[-1] is messages[-1]
    assert compactor.compact(messages, 100_000, counter) is None
    smallest = compactor.compact(messages, 1, counter)  # not to be reached: as small as is safe
    assert smallest is not None
    assert counter.count(smallest) < counter.count(left)
    assert compactor.compact(smallest, 1, counter) is None


# messages and back

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CALL = ToolCall("look", {"at": "ж"}, id="c1", extra={"sealed": "x"})
OTHER = ToolCall("look", {}, id="c2")
ALL = [
    ChatMessage.from_system("Be brief.", meta={"own": 1}),
    ChatMessage.from_user(
        content_parts=["Look", ImageContent(PNG), FileContent("JVBERi0=", "application/pdf", "case.pdf")], name="anna"
    ),
    ChatMessage.from_assistant("I look.", tool_calls=[CALL, OTHER], reasoning="hm", meta={"usage": {}}),
    ChatMessage.from_tool("one", CALL),
    ChatMessage.from_tool([TextContent("two"), ImageContent(PNG)], OTHER, error=True, meta={"own": 2}),
    ChatMessage.from_assistant("Done."),
]


def both(content: list[Any]) -> list[Any]:
    """A history whose two tool results are in one message."""
    return [ChatMessage.from_user("Look at it."), ChatMessage.from_assistant(tool_calls=[CALL, OTHER]),
            ChatMessage(ALL[3].role, content, None, {"own": 1})]  # fmt: skip


@pytest.mark.parametrize(
    "messages", [ALL, both([ToolCallResult("one", CALL, False), ToolCallResult("two", OTHER, True)])]
)
def test_messages_come_back_as_they_are_when_nothing_is_evicted(messages: list[Any]) -> None:
    wire = to_wire(messages)
    back = from_fitted(Conversation(100_000).fit(wire.messages), wire, messages)
    assert all(mine is theirs for mine, theirs in zip(back, messages, strict=True))


def built(steps: list[Step]) -> list[Any]:
    messages = [ChatMessage.from_system("Be brief."), ChatMessage.from_user("Look into ORD-1001.")]
    for n, step in enumerate(steps):
        calls = [
            ToolCall("look", args, id=f"c{n}_{at}" if step.ids else None) for at, (args, _) in enumerate(step.calls)
        ]
        messages.append(ChatMessage.from_assistant(step.said, tool_calls=calls))
        messages += [ChatMessage.from_tool(text, call) for call, (_, text) in zip(calls, step.calls, strict=True)]
        if not calls:
            messages.append(ChatMessage.from_user(step.then))
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
    said: Any = [TextContent(long), ImageContent(PNG)] if parts else long
    messages = both([ToolCallResult(said, CALL, True), ToolCallResult("two", OTHER, False)])
    wire = to_wire(messages)
    back = from_fitted(Conversation(1_500).fit(wire.messages), wire, messages)
    assert back[:2] == messages[:2]
    assert back[2].meta == {"own": 1}
    cut, same = back[2].tool_call_results
    assert (cut.origin, cut.error) == (CALL, True)
    assert len(cut.result[0].text if parts else cut.result) < len(long)
    assert same == ToolCallResult("two", OTHER, False)
    assert messages[2].tool_call_result.result is said


def test_what_goes_with_the_messages_is_counted() -> None:
    class Answer(BaseModel):
        found: bool

    assert to_tools(tools(World())[:1]) == [
        {"type": "function", "function": {"name": "get_order", "description": "Look up an order.",
                                          "parameters": parameters("get_order")}}
    ]  # fmt: skip
    inner = OpenAIChatGenerator(Secret.from_token("none"), generation_kwargs={"response_format": Answer})
    _, about = JettisonChatGenerator(inner, 1_000)._of(start(), {})
    assert about["response_schema"]["title"] == "Answer"


def test_it_is_serialised_with_its_plain_settings() -> None:
    inner = OpenAIChatGenerator(model="gpt-4o")
    made = JettisonChatGenerator.from_dict(JettisonChatGenerator(inner, 3_000, conversation="c").to_dict())
    assert made._settings["policy"] == 3_000
    assert made.chat_generator.model == "gpt-4o"
    assert isinstance(JettisonCompactor.from_dict(JettisonCompactor().to_dict()), JettisonCompactor)
    with pytest.raises(ConfigError, match="cannot be serialised"):
        JettisonChatGenerator(inner, Policy(budget=3_000)).to_dict()
    with pytest.raises(ConfigError, match="cannot be serialised"):
        JettisonCompactor(Policy(budget=3_000)).to_dict()


def test_the_program_of_the_docs_runs() -> None:
    check_program("Haystack")
