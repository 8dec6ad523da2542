"""LlamaIndex: its own workflow agent and OpenAI class against a scripted server on loopback, real tools."""

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
    FIXED,
    GOALS,
    SYSTEM,
    TOOLS,
    Script,
    World,
    outcome,
    page,
    quarter,
    window,
)  # fmt: skip
from jettison import CannotFit, ConfigError

pytest.importorskip("llama_index.core", reason="needs jettison[llama-index]")
pytest.importorskip("llama_index.llms.openai", reason="needs llama-index-llms-openai")

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from llama_index.llms.openai import OpenAI
from openai import BadRequestError

from jettison.integrations.common import Conversation
from jettison.integrations.llama_index import JettisonLLM, JettisonMemory, NothingSafeFits, recall_tool
from jettison.integrations.llama_index_messages import from_fitted, to_wire

BUDGET = quarter()
WINDOW = window(BUDGET)


def plain(server: Server) -> Any:
    return OpenAI("gpt-4o", api_key="none", api_base=f"{server.url}/v1", max_retries=0)


def tools(world: World) -> list[Any]:
    return [FunctionTool.from_defaults(getattr(world, name), name=name, description=TOOLS[name][0]) for name in TOOLS]


def agent(llm: Any, world: World, *more: Any, stream: bool = True) -> Any:
    return FunctionAgent(name="office", llm=llm, system_prompt=SYSTEM, tools=[*tools(world), *more], streaming=stream)


def run(graph: Any, language: str = "en", **given: Any) -> Any:
    async def go() -> Any:
        return await graph.run(GOALS[language], max_iterations=100, **given)

    return asyncio.run(go())


def causes(error: BaseException | None) -> list[BaseException]:
    """The error and what it came from: a workflow may wrap it."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def test_no_secret_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """LlamaIndex has no hook before a tool: tools get placeholders."""
    login.into(monkeypatch, __name__)
    script, desk = login.LoggingIn(), login.Desk()
    with serving(script) as server:
        run(agent(JettisonLLM(plain(server), 3_000, vault=login.vault()), desk, stream=False))
        assert not found_in(server.seen)
    login.check(script, desk, hook=False)


@pytest.mark.parametrize(("language", "stream"), [("en", True), ("ru", False)])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, stream: bool) -> None:
    script, world = Script(window=WINDOW), World()
    memory = Memory.from_defaults(token_limit=1_000_000)
    with serving(script) as server:
        llm = JettisonLLM(plain(server), BUDGET)
        run(agent(llm, world, stream=stream), language, memory=memory)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    # The memory keeps everything.
    kept = memory.get_all()
    assert sum(message.role == "assistant" for message in kept) == CALLS
    assert "[cut" not in str(kept)
    assert llm.session is not None
    assert llm.session._ratio != 1.0  # the provider's count came back


def test_the_same_in_a_workflow_of_agents() -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        run(AgentWorkflow(agents=[agent(JettisonLLM(plain(server), BUDGET), world)]))
    assert outcome(script, world).done, outcome(script, world)


@pytest.mark.parametrize("stream", [False, True])
def test_the_same_synchronously(stream: bool) -> None:
    script, world = Script(window=WINDOW), World()
    messages = [ChatMessage(role="system", content=SYSTEM), ChatMessage(role="user", content=GOALS["en"])]
    with serving(script) as server:
        llm = JettisonLLM(plain(server), BUDGET)
        given: Any = {"chat_history": messages, "allow_parallel_tool_calls": True}
        while True:
            if stream:
                *_, response = llm.stream_chat_with_tools(tools(world), **given)
            else:
                response = llm.chat_with_tools(tools(world), **given)
            messages.append(response.message)
            calls = llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
            for call in calls:
                text, extra = world.run(call.tool_name, call.tool_kwargs), {"tool_call_id": call.tool_id}
                messages.append(ChatMessage(role="tool", content=text, additional_kwargs=extra))
            if not calls:
                break
    assert outcome(script, world).done, outcome(script, world)


def test_decisions_survive_between_calls() -> None:
    script, kept = Script(), []

    class Watching(JettisonLLM):
        async def astream_chat(self, messages: Any, **given: Any) -> Any:
            pieces = await super().astream_chat(messages, **given)
            assert self.session is not None
            assert self.session.report is not None
            kept.append(self.session.report.cache.epoch)
            return pieces

    with serving(script) as server:
        run(agent(Watching(plain(server), BUDGET), World()))
    assert kept.count("none") > 0.75 * CALLS, kept


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name in ("no trimming", "Memory(token_limit)", "JettisonLLM"):
        script, world = Script(window=WINDOW), World()
        error: BaseException | None = None
        given = {"memory": Memory.from_defaults(token_limit=BUDGET)} if name.startswith("Memory") else {}
        with serving(script) as server:
            llm = JettisonLLM(plain(server), BUDGET) if name == "JettisonLLM" else plain(server)
            try:
                run(agent(llm, world), **given)
            except Exception as raised:
                error = next((cause for cause in causes(raised) if isinstance(cause, BadRequestError)), None)
                if error is None:
                    raise
        rows[name] = outcome(script, world, error)
    page("LlamaIndex", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


@pytest.mark.parametrize("stream", [False, True])
def test_after_an_overflow_it_tries_once_more_and_tighter(stream: bool) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        llm = JettisonLLM(plain(server), BUDGET * 2)  # we were told a window that is too large
        run(agent(llm, world, stream=stream))
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2
    assert llm.session is not None
    assert llm.session.overflows == script.overflows


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Script(window=10)
    with serving(script) as server, pytest.raises(Exception, match="maximum context length is 10 tokens") as raised:
        run(agent(JettisonLLM(plain(server), BUDGET), World()))
    assert script.overflows <= 2
    assert any(isinstance(cause, BadRequestError) for cause in causes(raised.value))


def test_an_error_is_a_value_error_too() -> None:
    script = Script()
    with serving(script) as server, pytest.raises(Exception, match="smallest safe request needs") as raised:
        run(agent(JettisonLLM(plain(server), 50), World()))
    found = next(cause for cause in causes(raised.value) if isinstance(cause, NothingSafeFits))
    assert isinstance(found, ValueError)
    assert isinstance(found, CannotFit)
    assert not found.report.ok
    assert script.step == 0


def test_the_agent_can_recall() -> None:
    script, world = Recalling(), World()
    with serving(script) as server:
        llm = JettisonLLM(plain(server), BUDGET)
        run(agent(llm, world, recall_tool(llm)))
    assert outcome(script, world).done
    assert script.recalled


class Reasoning(Script):
    """Reads the log of a service twice, in the words of a ReAct agent."""

    def next(self, seen: Any) -> Any:
        self._count(list(seen))
        self.step += 1
        if self.step < 3:
            return 'Thought: I look.\nAction: read_log\nAction Input: {"service": "billing"}'
        return f"Thought: I know.\nAnswer: {'full' if 'E-4711 disk full' in ' '.join(seen) else 'lost'}"


def read_log(service: str) -> str:
    """The log of a service."""
    lines = [f"12:{n % 60:02} {service} request {n} served in {n % 7} ms" for n in range(400)]
    return "\n".join([*lines, "12:59 ERROR E-4711 disk full"])


def test_an_agent_without_native_tools() -> None:
    script = Reasoning()
    with serving(script) as server:
        llm = JettisonLLM(plain(server), 11_000)  # a tool's answer is a user message here: the latest is kept whole
        result = run(ReActAgent(llm=llm, tools=[read_log]))
    assert str(result) == "full"
    assert llm.session is not None
    assert llm.session.report is not None
    assert llm.session.report.after < llm.session.report.before


# the memory


def test_a_memory_gives_what_fits_and_stores_everything() -> None:
    memory = JettisonMemory.from_defaults(policy=700)
    for n in range(12):
        memory.put(ChatMessage(role="user", content=f"What about ORD-{n}? " + "It rains a lot in this town. " * 12))
        memory.put(ChatMessage(role="assistant", content=f"ORD-{n} is on its way. " + "Have a nice day. " * 12))
    given = memory.get()
    assert len(memory.get_all()) == len(memory.chat_store.get_messages("chat_history")) == 24
    assert memory.session.report is not None
    assert memory.session.report.after <= 700
    assert given[-1] is memory.get_all()[-1]
    assert asyncio.run(memory.aget()) == given
    assert sum(len(str(message.content)) for message in memory.get(initial_token_count=300)) < sum(
        len(str(message.content)) for message in given
    )
    memory.reset()
    assert memory.get() == []


class Chatting(Script):
    """Tells the number of the order that the chat began with."""

    def next(self, seen: Any) -> Any:
        self._count(list(seen))
        self.step += 1
        return "It is ORD-1. " * 40 if "ORD-1" in "\n".join(seen) else "I do not know."


def test_a_chat_engine_and_an_agent_take_the_memory() -> None:
    script, memory = Chatting(window=FIXED + 750), JettisonMemory.from_defaults(policy=700)
    with serving(script) as server:
        engine = SimpleChatEngine.from_defaults(llm=plain(server), memory=memory, system_prompt="Be brief.")
        engine.chat("My order is ORD-1. Keep that.")
        for _ in range(8):
            said = str(engine.chat("Which order is mine? " + "It rains here. " * 20))
        assert "ORD-1" in said
        assert str(run(FunctionAgent(llm=plain(server)), memory=memory))
    assert script.overflows == 0
    assert len(memory.get_all()) == 20


def test_a_memory_needs_a_budget() -> None:
    with pytest.raises(ConfigError, match="policy= or llm="):
        JettisonMemory.from_defaults()
    with pytest.raises(ConfigError, match="from_defaults"):
        JettisonMemory(chat_store=SimpleChatStore(store={"chat_history": [ALL[0]]})).get()
    memory = JettisonMemory.from_defaults(llm=OpenAI("gpt-4o", api_key="none"))
    assert memory.session.policy.size.window == 128_000


# messages and back

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
ALL = [
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(
        role="user",
        blocks=[
            TextBlock(text="Look"),
            ImageBlock(image=PNG, image_mimetype="image/png"),
            ImageBlock(url="https://example.com/p.png"),
            DocumentBlock(data=b"%PDF-1.4", document_mimetype="application/pdf", title="case"),
        ],
        additional_kwargs={"own": 1},
    ),
    ChatMessage(
        role="assistant",
        blocks=[
            ThinkingBlock(content="hm", additional_information={"signature": "c2ln"}),
            TextBlock(text="I look."),
            ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"at": "ж"}),
            ToolCallBlock(tool_call_id="c2", tool_name="look", tool_kwargs="{}"),
        ],
    ),
    ChatMessage(role="tool", content="one", additional_kwargs={"tool_call_id": "c1", "name": "look"}),
    ChatMessage(role="tool", content="two", additional_kwargs={"tool_call_id": "c2"}),
    ChatMessage(
        role="assistant",
        additional_kwargs={
            "tool_calls": [{"id": "c3", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
        },
    ),
    ChatMessage(role="tool", content="three", additional_kwargs={"tool_call_id": "c3"}),
    ChatMessage(role="assistant", content="Done."),
]


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    wire = to_wire(ALL)
    back = from_fitted(Conversation(100_000).fit(wire), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def built(steps: list[Step]) -> list[Any]:
    messages = [
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(role="user", content="Look into ORD-1001."),
    ]
    for n, step in enumerate(steps):
        calls = [
            ToolCallBlock(tool_call_id=f"c{n}_{at}" if step.ids else None, tool_name="look", tool_kwargs=args)
            for at, (args, _) in enumerate(step.calls)
        ]
        messages.append(ChatMessage(role="assistant", blocks=[TextBlock(text=step.said), *calls]))
        for at, (_, text) in enumerate(step.calls):
            extra = {"tool_call_id": f"c{n}_{at}" if step.ids else "look"}
            messages.append(ChatMessage(role="tool", content=text, additional_kwargs=extra))
        if not step.calls:
            messages.append(ChatMessage(role="user", content=step.then))
    return messages


def through(session: Conversation, messages: Any) -> list[Any]:
    wire = to_wire(messages)
    return from_fitted(session.fit(wire), wire, messages)


@settings(max_examples=25, deadline=None)
@given(histories())
def test_any_history_comes_back_as_it_is_or_valid_and_smaller(steps: list[Step]) -> None:
    check_history(built(steps), through, "openai-chat")


def test_a_changed_message_keeps_what_is_not_its_text() -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    call = ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={})
    messages = [
        ChatMessage(role="user", content="Look at it."),
        ChatMessage(role="assistant", blocks=[call]),
        ChatMessage(
            role="tool",
            blocks=[TextBlock(text=long), ImageBlock(image=PNG, image_mimetype="image/png")],
            additional_kwargs={"tool_call_id": "c1", "own": 1},
        ),
    ]
    wire = to_wire(messages)
    back = from_fitted(Conversation(2_500).fit(wire), wire, messages)
    assert back[0] is messages[0]
    assert back[1] is messages[1]
    assert back[2].additional_kwargs == {"tool_call_id": "c1", "own": 1}
    assert len(back[2].blocks[0].text) < len(long)
    assert messages[2].blocks[0].text == long


def test_it_is_the_model_that_it_wraps() -> None:
    inner = OpenAI("gpt-4o", api_key="none", system_prompt="Be brief.")
    llm = JettisonLLM(inner, 1_000)
    assert llm.metadata == inner.metadata
    assert llm.system_prompt == "Be brief."
    assert isinstance(Context(FunctionAgent(llm=llm)), Context)


def test_the_program_of_the_docs_runs() -> None:
    check_program("LlamaIndex")
