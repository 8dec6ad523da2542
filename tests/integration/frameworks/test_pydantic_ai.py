"""Pydantic AI: its own agent loop, a scripted function model, real tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import pytest

from canary import CANARY, found_in
from integration.frameworks import login
from integration.frameworks.programs import check_program
from integration.frameworks.task import (
    CALLS,
    GOALS,
    SYSTEM,
    TOOLS,
    Call,
    Script,
    World,
    chat_text,
    openai_tools,
    outcome,
    page,
    parameters,
    quarter,
    window,
)  # fmt: skip
from jettison import CannotFit
from jettison.tokens import o200k

pytest.importorskip("pydantic_ai", reason="needs jettison[pydantic-ai]")

from pydantic import StringConstraints
from pydantic_ai import Agent, BinaryContent, Tool, UsageLimits
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.exceptions import ModelContextWindowExceededError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage

from jettison.integrations.common import Conversation
from jettison.integrations.pydantic_ai import Jettison, NothingSafeFits, history_processor
from jettison.integrations.pydantic_ai_messages import from_fitted, to_wire

BUDGET = quarter()
WINDOW = window(BUDGET)
LIMITS = UsageLimits(request_limit=200)


def refused(text: str) -> Exception:
    return ModelContextWindowExceededError("scripted", text)


def model(script: Script, spied: Callable[[list[ModelMessage], Any], None] = lambda *given: None) -> FunctionModel:
    """Pydantic AI's own test double around the script. `spied`: is shown all that the model is given."""

    def texts(messages: list[ModelMessage], info: Any) -> list[str]:
        spied(messages, info)
        return [chat_text(message) for message in to_wire(messages, info.instructions).messages]

    def answer(messages: list[ModelMessage], info: Any) -> ModelResponse:
        action = script.next(texts(messages, info))
        used = RequestUsage(input_tokens=script.sizes[-1], output_tokens=9)
        if isinstance(action, str):
            return ModelResponse([TextPart(action)], usage=used)
        step = len(script.sizes)
        parts = [ToolCallPart(call.name, call.arguments, tool_call_id=f"c{step}_{n}") for n, call in enumerate(action)]
        return ModelResponse(parts, usage=used)

    async def stream(messages: list[ModelMessage], info: Any) -> AsyncIterator[Any]:
        action = script.next(texts(messages, info))
        if isinstance(action, str):
            yield action[:5]
            yield action[5:]
            return
        step = len(script.sizes)
        yield {
            n: DeltaToolCall(call.name, json.dumps(call.arguments), tool_call_id=f"c{step}_{n}")
            for n, call in enumerate(action)
        }

    return FunctionModel(answer, stream_function=stream)


def agent(script: Script, world: World, *capabilities: Any) -> Agent[None, str]:
    def made(name: str) -> Tool[None]:
        def call(**given: Any) -> str:
            return world.run(name, given)

        return Tool.from_schema(call, name, TOOLS[name][0], parameters(name))

    return Agent(
        model(script), instructions=SYSTEM, tools=[made(name) for name in TOOLS], capabilities=list(capabilities)
    )


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_gets_the_token_that_the_provider_never_sees(stream: bool) -> None:
    script, desk = login.LoggingIn(), login.Desk()
    told: list[str] = []

    def made(name: str) -> Tool[None]:
        def call(**given: Any) -> str:
            return desk.run(name, given)

        return Tool.from_schema(call, name, f"{login.TOOLS[name][0]} For tests: {CANARY}", login.parameters(name))

    def spied(messages: list[ModelMessage], info: Any) -> None:
        told.append(f"{messages} {info}")

    tools = [made(name) for name in login.TOOLS]
    capability = Jettison(3_000, vault=login.vault())
    graph = Agent(model(script, spied), instructions=login.SYSTEM, tools=tools, capabilities=[capability])

    async def run() -> list[ModelMessage]:
        if not stream:
            return (await graph.run(login.GOAL)).all_messages()
        async with graph.run_stream(login.GOAL) as result:
            await result.get_output()
            return result.all_messages()

    messages = asyncio.run(run())
    login.check(script, desk)
    assert not any(map(found_in, told))
    # The run has what tools said; the calls in it have their placeholders.
    assert CANARY in str(messages)
    assert not found_in([part for message in messages for part in message.parts if isinstance(part, ToolCallPart)])


def test_arguments_of_a_type_are_checked_with_their_real_values() -> None:
    script, desk = login.LoggingIn(), login.Desk()
    capability = Jettison(3_000, vault=login.vault())
    graph: Agent[None, str] = Agent(model(script), instructions=login.SYSTEM, capabilities=[capability])

    @graph.tool_plain(name="login")
    def log_in(token: Annotated[str, StringConstraints(pattern="^Bearer ghp_")]) -> str:
        return desk.login(token)

    graph.tool_plain(desk.get_token)
    graph.tool_plain(desk.send_mail)
    graph.run_sync(login.GOAL)
    login.check(script, desk)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str) -> None:
    script, world, capability = Script(window=WINDOW), World(), Jettison(BUDGET)
    result = agent(script, world, capability).run_sync(GOALS[language], usage_limits=LIMITS)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert sum(isinstance(message, ModelResponse) for message in result.all_messages()) == CALLS
    assert "[cut" not in str(result.all_messages())
    assert capability.session is not None
    assert capability.session._ratio != 1.0  # the provider's count came back


def test_the_same_streamed() -> None:
    script, world = Script(window=WINDOW), World()

    async def run() -> str:
        async with agent(script, world, Jettison(BUDGET)).run_stream(GOALS["en"], usage_limits=LIMITS) as result:
            return await result.get_output()

    assert "RF-58213" in asyncio.run(run())
    assert outcome(script, world).done, outcome(script, world)


def test_the_history_processor_keeps_the_run_small_too() -> None:
    script, world = Script(window=WINDOW), World()
    process = ProcessHistory(history_processor(BUDGET, tools=openai_tools()))
    result = agent(script, world, process).run_sync(GOALS["en"], usage_limits=LIMITS)
    assert outcome(script, world).done, outcome(script, world)
    kept = to_wire(result.all_messages()).messages
    assert sum(o200k(chat_text(message)) for message in kept) < BUDGET


def test_what_is_lost_without_it() -> None:
    rows = {}

    def newest(messages: list[ModelMessage]) -> list[ModelMessage]:
        """The documentation's own example: the newest messages, from a response on, and the first."""
        tail = messages[-15:] if len(messages) > 16 else messages[1:]
        while tail and not isinstance(tail[0], ModelResponse):
            tail = tail[1:]
        return [messages[0], *tail]

    for name, capabilities in (
        ("no trimming", ()),
        ("ProcessHistory, newest messages", (ProcessHistory(newest),)),
        ("Jettison", (Jettison(BUDGET),)),
    ):
        script, world = Script(window=WINDOW, overflow=refused), World()
        error: Exception | None = None
        try:
            agent(script, world, *capabilities).run_sync(GOALS["en"], usage_limits=LIMITS)
        except ModelContextWindowExceededError as raised:
            error = raised
        rows[name] = outcome(script, world, error)
    page("Pydantic AI", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


@pytest.mark.parametrize("stream", [False, True])
def test_after_an_overflow_it_tries_once_more_and_tighter(stream: bool) -> None:
    script, world = Script(window=WINDOW, overflow=refused), World()
    graph = agent(script, world, Jettison(BUDGET * 2))

    async def run() -> None:
        async with graph.run_stream(GOALS["en"], usage_limits=LIMITS) as result:
            await result.get_output()

    if stream:
        asyncio.run(run())
    else:
        graph.run_sync(GOALS["en"], usage_limits=LIMITS)
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Script(window=10, overflow=refused)
    with pytest.raises(ModelContextWindowExceededError, match="maximum context length is 10 tokens"):
        agent(script, World(), Jettison(BUDGET)).run_sync(GOALS["en"])
    assert script.overflows <= 2


def test_an_error_is_both_frameworks_own() -> None:
    script = Script()
    with pytest.raises(NothingSafeFits) as raised:
        agent(script, World(), Jettison(50)).run_sync(GOALS["en"])
    assert isinstance(raised.value, ModelContextWindowExceededError)
    assert isinstance(raised.value, CannotFit)
    assert script.step == 0
    assert not raised.value.report.ok


class Recalling(Script):
    """Asks for the first mark it sees once something was cut."""

    answer: str = ""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        import re

        if self.answer == "asked":
            self.answer = seen[-1]
        if not self.answer and (match := re.search(r"ref ([a-z]{10,})", "\n".join(seen[2:]))):
            self.answer = "asked"
            self._count(list(seen))
            return [Call("recall_context", {"handle": match.group(1)})]
        return super().next(seen)


def test_the_agent_can_recall() -> None:
    script, world = Recalling(), World()
    agent(script, world, Jettison(BUDGET, recall=True)).run_sync(GOALS["en"], usage_limits=LIMITS)
    assert outcome(script, world).done
    assert "page" in script.answer
    assert "Nothing is kept" not in script.answer


ALL: list[ModelMessage] = [
    ModelRequest(
        [SystemPromptPart("Be brief."), UserPromptPart(["Look", BinaryContent(b"\x89PNG", media_type="image/png")])]
    ),
    ModelResponse(
        [ThinkingPart("hm", signature="c2ln"), TextPart("I look.", id="t"), ToolCallPart("look", {"at": "ж"}, "c1"),
         ToolCallPart("look", '{"at": 1}', "c2")],
        provider_response_id="r1", provider_details={"k": 1},
    ),
    ModelRequest([UserPromptPart("And?"), ToolReturnPart("look", {"a": [1]}, "c2", metadata={"m": 1}),
                  ToolReturnPart("look", "one", "c1")], metadata={"own": 1}),
    ModelResponse([TextPart("Done.")]),
    ModelRequest([UserPromptPart("Thanks.")]),
]  # fmt: skip


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    wire = to_wire(ALL, "Instructions.")
    back = from_fitted(Conversation(100_000).fit(wire.messages), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def test_a_changed_message_keeps_what_is_not_its_text() -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    messages: list[ModelMessage] = [
        ModelRequest([UserPromptPart("Look at it.")]),
        ModelResponse([ToolCallPart("look", {}, "c1")], provider_response_id="r1"),
        ModelRequest([ToolReturnPart("look", long, "c1", metadata={"m": 1})], metadata={"own": 1}),
    ]
    before = replace(messages[2])
    wire = to_wire(messages)
    back = from_fitted(Conversation(900).fit(wire.messages), wire, messages)
    assert back[:2] == messages[:2]
    part = back[2].parts[0]
    assert len(part.content) < len(long)
    assert (part.metadata, part.tool_call_id, back[2].metadata) == ({"m": 1}, "c1", {"own": 1})
    assert messages[2] == before


def test_the_program_of_the_docs_runs() -> None:
    check_program("Pydantic AI")
