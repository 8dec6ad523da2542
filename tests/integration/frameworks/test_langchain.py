"""LangChain and LangGraph: their own agent loops, a scripted chat model, real tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest

from canary import CANARY
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
    outcome,
    page,
    parameters,
    quarter,
)  # fmt: skip
from jettison import CannotFit
from jettison.tokens import o200k

pytest.importorskip("langchain", reason="needs jettison[langchain]")

from langchain.agents import create_agent
from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from jettison.integrations.langchain import JettisonMiddleware, NothingSafeFits, pre_model_hook
from jettison.integrations.langchain_messages import from_fitted, to_wire

BUDGET = quarter()
CONFIG: Any = {"recursion_limit": 500, "configurable": {"thread_id": "case-1"}}


def said(message: Any) -> str:
    """A LangChain message as the scripted model reads it."""
    calls = [f"{call['name']}({json.dumps(call['args'])})" for call in getattr(message, "tool_calls", ())]
    return "\n".join([f"{message.type}: {message.text}", *calls])


class Scripted(BaseChatModel):
    """LangChain's model class around the script; it also counts tokens as a provider would."""

    script: Any
    model_name: str = "scripted"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **given: Any) -> Any:
        return self

    def answer(self, messages: Sequence[Any]) -> AIMessage:
        action = self.script.next([said(message) for message in messages])
        size = self.script.sizes[-1]
        used: Any = {"input_tokens": size, "output_tokens": 9, "total_tokens": size + 9}
        if isinstance(action, str):
            return AIMessage(action, usage_metadata=used)
        calls: Any = [
            {"name": call.name, "args": call.arguments, "id": f"call_{self.script.step}_{n}", "type": "tool_call"}
            for n, call in enumerate(action)
        ]
        return AIMessage("", tool_calls=calls, usage_metadata=used)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])


class Streaming(Scripted):
    """One that answers in pieces."""

    def pieces(self, messages: Sequence[Any]) -> Iterator[ChatGenerationChunk]:
        whole = self.answer(messages)
        for place, call in enumerate(whole.tool_calls):
            text = json.dumps(call["args"])
            for n, part in enumerate((text[:5], text[5:])):
                first: Any = {"name": call["name"], "id": call["id"]} if n == 0 else {"name": None, "id": None}
                yield _piece(tool_call_chunks=[{**first, "args": part, "index": place, "type": "tool_call_chunk"}])
        yield _piece(content=whole.content, usage_metadata=whole.usage_metadata)

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any) -> Any:
        yield from self.pieces(messages)

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for piece in self.pieces(messages):
            yield piece


def _piece(content: Any = "", **given: Any) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(content=content, **given))


def tools(world: World) -> list[StructuredTool]:
    return [
        StructuredTool(name=name, description=text, args_schema=parameters(name), func=getattr(world, name))
        for name, (text, _) in TOOLS.items()
    ]


def agent(script: Script, world: World, *middleware: Any, kind: Any = Scripted, saver: Any = None) -> Any:
    return create_agent(
        kind(script=script), tools(world), system_prompt=SYSTEM, middleware=list(middleware), checkpointer=saver
    )


def start(language: str = "en") -> dict[str, Any]:
    return {"messages": [HumanMessage(GOALS[language])]}


# secrets


def desk_tools(desk: login.Desk) -> list[StructuredTool]:
    return [
        StructuredTool(name=name, description=text, args_schema=login.parameters(name), func=getattr(desk, name))
        for name, (text, _) in login.TOOLS.items()
    ]


@pytest.mark.parametrize("how", ["sync", "async", "streamed", "async streamed"])
def test_a_tool_gets_the_token_that_the_provider_never_sees(how: str) -> None:
    script, desk = login.LoggingIn(), login.Desk()
    kind = Streaming if "streamed" in how else Scripted
    middleware = JettisonMiddleware(3_000, vault=login.vault())
    graph = create_agent(kind(script=script), desk_tools(desk), system_prompt=login.SYSTEM, middleware=[middleware])
    given: Any = {"messages": [HumanMessage(login.GOAL)]}
    state = asyncio.run(graph.ainvoke(given)) if "async" in how else graph.invoke(given)
    login.check(script, desk)
    # The state has what tools said; the calls in it have their placeholders.
    assert [message.status for message in state["messages"] if message.type == "tool"] == ["success"] * 2 + ["error"]
    assert all(CANARY not in json.dumps(message.tool_calls) for message in state["messages"] if message.type == "ai")


def test_what_a_message_says_twice_holds_no_secret_either() -> None:
    sent: list[Any] = []

    class Kept(Scripted):
        def answer(self, messages: Sequence[Any]) -> AIMessage:
            sent.extend(messages)
            return AIMessage("Done.")

        def bind_tools(self, tools: Sequence[Any], **given: Any) -> Any:
            sent.append(tools)
            return self

    args = {"token": CANARY}
    function = {"name": "login", "arguments": json.dumps(args)}
    asked = AIMessage(
        [{"type": "text", "text": "Now."}, {"type": "tool_use", "id": "c1", "name": "login", "input": args}],
        tool_calls=[{"name": "login", "args": args, "id": "c1", "type": "tool_call"}],
        additional_kwargs={"tool_calls": [{"id": "c1", "type": "function", "function": function}]},
    )
    history = [HumanMessage("Log me in."), asked, ToolMessage("OK", tool_call_id="c1"), HumanMessage("And now?")]
    shop = StructuredTool(
        name="shop", description=f"Ask the shop, with {CANARY}", args_schema=login.parameters("login"), func=str
    )
    graph = create_agent(Kept(script=None), [shop], middleware=[JettisonMiddleware(3_000, vault=login.vault())])
    graph.invoke({"messages": history})
    assert "{{secret:github-token:1}}" in repr(sent[1:])
    assert CANARY not in repr(sent)


# the task


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str) -> None:
    script, world, saver = Script(window=BUDGET), World(), InMemorySaver()
    graph = agent(script, world, JettisonMiddleware(BUDGET), saver=saver)
    state = graph.invoke(start(language), CONFIG)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert max(script.sizes) <= BUDGET
    # The thread and its checkpoint keep everything.
    assert [message.type for message in state["messages"]].count("ai") == CALLS
    stored = saver.get(CONFIG)
    assert stored is not None
    assert stored["channel_values"]["messages"] == state["messages"]
    assert not any("[cut" in message.text for message in state["messages"])


def test_the_same_asynchronously() -> None:
    script, world = Script(window=BUDGET), World()
    asyncio.run(agent(script, world, JettisonMiddleware(BUDGET)).ainvoke(start(), CONFIG))
    assert outcome(script, world).done, outcome(script, world)


def test_the_same_streamed() -> None:
    script, world = Script(window=BUDGET), World()
    graph = agent(script, world, JettisonMiddleware(BUDGET), kind=Streaming)
    pieces = [piece for piece, _ in graph.stream(start(), CONFIG, stream_mode="messages")]
    assert outcome(script, world).done, outcome(script, world)
    assert sum(isinstance(piece, AIMessageChunk) for piece in pieces) > 2 * CALLS


def test_the_same_streamed_asynchronously() -> None:
    script, world = Script(window=BUDGET), World()
    graph = agent(script, world, JettisonMiddleware(BUDGET), kind=Streaming)

    async def run() -> int:
        return len([piece async for piece in graph.astream(start(), CONFIG, stream_mode="messages")])

    assert asyncio.run(run()) > CALLS
    assert outcome(script, world).done, outcome(script, world)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_by_choice_the_state_is_cut_too(asynchronous: bool) -> None:
    script, world = Script(window=BUDGET), World()
    graph = agent(script, world, JettisonMiddleware(BUDGET, persist=True), saver=InMemorySaver())
    state = asyncio.run(graph.ainvoke(start(), CONFIG)) if asynchronous else graph.invoke(start(), CONFIG)
    assert outcome(script, world).done, outcome(script, world)
    assert sum(o200k(said(message)) for message in state["messages"]) < BUDGET


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_hook_of_create_react_agent(asynchronous: bool) -> None:
    from langgraph.prebuilt import create_react_agent

    script, world = Script(window=BUDGET), World()
    mine = tools(world)
    hook = pre_model_hook(BUDGET, system=SYSTEM, tools=mine)
    graph = create_react_agent(Scripted(script=script), mine, prompt=SYSTEM, pre_model_hook=hook)
    state = asyncio.run(graph.ainvoke(start(), CONFIG)) if asynchronous else graph.invoke(start(), CONFIG)
    assert outcome(script, world).done, outcome(script, world)
    assert [message.type for message in state["messages"]].count("ai") == CALLS


def test_deepagents() -> None:
    deepagents = pytest.importorskip("deepagents")
    script, world = Script(), World()
    middleware = JettisonMiddleware(30_000)  # its own prompt and tools take 13,000
    graph = deepagents.create_deep_agent(
        model=Scripted(script=script), tools=tools(world), system_prompt=SYSTEM, middleware=[middleware]
    )
    graph.invoke(start(), CONFIG)
    assert outcome(script, world).done, outcome(script, world)


# beside it: nothing, and LangChain's own


def test_what_is_lost_without_it() -> None:
    rows = []
    script, world = Script(window=BUDGET, overflow=ContextOverflowError), World()
    with pytest.raises(ContextOverflowError) as raised:
        agent(script, world).invoke(start(), CONFIG)
    rows.append(outcome(script, world, raised.value))
    script, world = Script(window=BUDGET, overflow=ContextOverflowError), World()
    edit = ClearToolUsesEdit(trigger=BUDGET * 3 // 4, keep=3)
    error: Exception | None = None
    try:
        agent(script, world, ContextEditingMiddleware(edits=[edit])).invoke(start(), CONFIG)
    except ContextOverflowError as raised_too:
        error = raised_too
    rows.append(outcome(script, world, error))
    assert not any(row.done for row in rows), rows
    script, world = Script(window=BUDGET), World()
    agent(script, world, JettisonMiddleware(BUDGET)).invoke(start(), CONFIG)
    mine = outcome(script, world)
    page("LangChain", {"no trimming": rows[0], "ContextEditingMiddleware": rows[1], "JettisonMiddleware": mine})
    assert mine.done


# overflow, errors, recall


def test_after_an_overflow_it_tries_once_more_and_tighter() -> None:
    script, world = Script(window=BUDGET, overflow=ContextOverflowError), World()
    middleware = JettisonMiddleware(BUDGET * 3 // 2)  # we were told a window that is too large
    agent(script, world, middleware).invoke(start(), CONFIG)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 1


def test_a_second_overflow_is_handed_on() -> None:
    script, world = Script(window=10, overflow=ContextOverflowError), World()
    with pytest.raises(ContextOverflowError, match="maximum context length is 10 tokens"):
        agent(script, world, JettisonMiddleware(BUDGET)).invoke(start(), CONFIG)
    assert script.overflows <= 2


def test_an_error_is_both_frameworks_own() -> None:
    script, world = Script(), World()
    with pytest.raises(NothingSafeFits) as raised:
        agent(script, world, JettisonMiddleware(50)).invoke(start(), CONFIG)
    assert isinstance(raised.value, ContextOverflowError)
    assert isinstance(raised.value, CannotFit)
    assert script.step == 0
    assert not raised.value.report.ok


def test_other_errors_are_not_touched() -> None:
    script, world = Script(window=10, overflow=ValueError), World()
    script.overflow = lambda text: ValueError("the key is wrong")
    with pytest.raises(ValueError, match="the key is wrong"):
        agent(script, world, JettisonMiddleware(BUDGET)).invoke(start(), CONFIG)
    assert script.overflows == 1


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
    middleware = JettisonMiddleware(BUDGET, recall=True)
    agent(script, world, middleware).invoke(start(), CONFIG)
    assert outcome(script, world).done
    assert "page" in script.answer
    assert "Nothing is kept" not in script.answer


def test_decisions_survive_between_calls() -> None:
    script, world = Script(), World()
    kept: list[str] = []

    class Watching(JettisonMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            response = super().wrap_model_call(request, handler)
            assert self.report is not None
            kept.append(self.report.cache.epoch)
            return response

    agent(script, world, Watching(BUDGET)).invoke(start(), CONFIG)
    assert kept.count("none") > 0.75 * CALLS, kept


def test_the_providers_count_corrects_ours() -> None:
    from langchain_core.language_models import GenericFakeChatModel

    used: Any = {"input_tokens": 900, "output_tokens": 1, "total_tokens": 901}
    model = GenericFakeChatModel(messages=iter([AIMessage("a", usage_metadata=used), AIMessage("b")]))
    middleware = JettisonMiddleware(BUDGET)
    graph = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())
    graph.invoke(start(), CONFIG)
    graph.invoke({"messages": [HumanMessage("and now?")]}, CONFIG)
    assert middleware.report is not None
    assert any("scaled by 2.000" in note for note in middleware.report.notes)


# messages and back


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ALL = [
    SystemMessage("Be brief.", id="s"),
    HumanMessage(
        ["Look:", {"type": "text", "text": "this"}, {"type": "image", "base64": PNG, "mime_type": "image/png"}], id="h"
    ),
    AIMessage(
        [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "I look.", "citations": [{"x": 1}]},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "ж"}},
            {"type": "tool_use", "id": "t2", "name": "look", "input": {}},
        ],
        tool_calls=[{"name": "look", "args": {"at": "ж"}, "id": "t1"}, {"name": "look", "args": {}, "id": "t2"}],
        id="a",
        response_metadata={"id": "msg_1"},
        additional_kwargs={"reasoning_content": "hm", "vendor": {"k": 1}},
    ),
    ToolMessage("one", tool_call_id="t1", artifact={"raw": object()}, status="success", name="look"),
    ToolMessage([{"type": "text", "text": "two"}], tool_call_id="t2", status="error"),
    AIMessage("Done."),
]


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    from jettison.integrations.common import Conversation

    wire = to_wire(ALL)
    back = from_fitted(Conversation(100_000).fit(wire), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def test_a_changed_message_keeps_what_is_not_its_text() -> None:
    from jettison.integrations.common import Conversation

    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    call = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "t1"}], id="a")
    result = ToolMessage(
        [{"type": "text", "text": long, "vendor": 1}], tool_call_id="t1", id="r", artifact={"n": 1}, status="error"
    )
    messages = [HumanMessage("Look at it.", id="h"), call, result]
    wire = to_wire(messages)
    back = from_fitted(Conversation(900).fit(wire), wire, messages)
    assert back[:2] == messages[:2]
    cut = back[2]
    assert len(cut.text) < len(long)
    assert (cut.id, cut.artifact, cut.status, cut.tool_call_id) == ("r", {"n": 1}, "error", "t1")
    assert cut.content[0]["vendor"] == 1
    assert result.text == long


def test_the_program_of_the_docs_runs() -> None:
    check_program("LangChain")
