"""Agno: its own agents and OpenAI models against a scripted server on loopback, real tools."""

from __future__ import annotations

import asyncio
import copy
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
    outcome,
    page,
    parameters,
    quarter,
    window,
)  # fmt: skip
from integration.frameworks.turns import Turn, check_round_trip, histories
from jettison import CannotFit, ConfigError

pytest.importorskip("agno", reason="needs jettison[agno]")

from agno.agent import Agent
from agno.compression.manager import CompressionManager
from agno.db.in_memory import InMemoryDb
from agno.exceptions import ContextWindowExceededError
from agno.media import File, Image
from agno.models.message import Message
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.run.base import RunStatus
from agno.tools.function import Function

from jettison.integrations.agno import NothingSafeFits, recall_tool, rehydrating, session_of, wrap
from jettison.integrations.agno_messages import from_fitted, to_wire
from jettison.integrations.common import Conversation

BUDGET = quarter()
WINDOW = window(BUDGET)


def tools(world: World) -> list[Function]:
    return [
        Function(
            name=name,
            description=said,
            parameters=parameters(name),
            entrypoint=getattr(world, name),
            skip_entrypoint_processing=True,
        )
        for name, (said, _) in TOOLS.items()
    ]


def plain(server: Server, kind: Any = OpenAIChat) -> Any:
    return kind("gpt-4o", api_key="none", base_url=f"{server.url}/v1", max_retries=0)


def agent(model: Any, world: World, *more: Function, **settings: Any) -> Any:
    return Agent(model=model, tools=[*tools(world), *more], system_message=SYSTEM, telemetry=False, **settings)


def run(graph: Any, language: str = "en", how: str = "sync") -> Any:
    async def go() -> Any:
        if how == "async":
            return await graph.arun(GOALS[language])
        return [event async for event in graph.arun(GOALS[language], stream=True, yield_run_output=True)][-1]

    if how == "sync":
        return graph.run(GOALS[language])
    if how == "stream":
        return list(graph.run(GOALS[language], stream=True, yield_run_output=True))[-1]
    return asyncio.run(go())


@pytest.mark.parametrize("how", ["sync", "async", "stream", "async stream"])
def test_a_tool_gets_the_token_that_the_provider_never_sees(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    login.into(monkeypatch, __name__)
    script, desk = login.LoggingIn(), login.Desk()
    with serving(script) as server:
        model = wrap(plain(server), 3_000, vault=login.vault())
        result = run(agent(model, desk, tool_hooks=[rehydrating(model)]), how=how)
        assert not found_in(server.seen)
    login.check(script, desk)
    assert not any(found_in(message.tool_calls) for message in result.messages)
    assert not found_in([tool.tool_args for tool in result.tools])


@pytest.mark.parametrize(
    ("language", "how"), [("en", "sync"), ("ru", "stream"), ("ru", "async"), ("en", "async stream")]
)
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, how: str) -> None:
    script, world, db = Script(window=WINDOW), World(), InMemoryDb()
    with serving(script) as server:
        model = wrap(plain(server), BUDGET)
        graph = agent(model, world, db=db, session_id="case")
        result = run(graph, language, how)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert server.seen[0].get("stream", False) is ("stream" in how)
    # The run and the stored session keep everything.
    stored = graph.get_session(session_id="case").get_messages()
    for messages in (result.messages, stored):
        assert sum(message.role == "assistant" for message in messages) == CALLS
        assert not any("[cut" in str(message.content) for message in messages)
    session = session_of(model)
    assert session is not None
    assert session._ratio != 1.0  # the provider's count came back


def test_the_responses_api_is_sent_what_fits_too() -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        run(agent(wrap(plain(server, OpenAIResponses), BUDGET), world))
    assert outcome(script, world).done, outcome(script, world)
    assert not any("previous_response_id" in body for body in server.seen)


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name in ("no trimming", "compress_tool_results, a summary each", "wrap()"):
        script, world = Script(window=WINDOW), World()
        with serving(script) as server, serving(Shortening()) as second:
            given = {"compress_tool_results": True, "compression_manager": CompressionManager(model=plain(second))}
            model = plain(server)
            settings: Any = given if name.startswith("compress") else {}
            result = run(agent(wrap(model, BUDGET) if name == "wrap()" else model, world, **settings))
        rows[name] = outcome(script, world)
        if result.status == RunStatus.error:
            rows[name] = outcome(script, world, ContextWindowExceededError(result.content))
            assert "maximum context length" in result.content
    page("Agno", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


class Shortening(Script):
    """The model that Agno has shorten a result: it gives the first 40 words."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        self._count(list(seen))
        return " ".join(seen[-1].split()[:40])


@pytest.mark.parametrize("how", ["sync", "stream", "async", "async stream"])
def test_after_an_overflow_it_tries_once_more_and_tighter(how: str) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        run(agent(wrap(plain(server), BUDGET * 2), world), how=how)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 1


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Script(window=10)
    with serving(script) as server:
        result = run(agent(wrap(plain(server), BUDGET), World()))
    assert result.status == RunStatus.error
    assert "maximum context length is 10 tokens" in result.content
    assert script.overflows == 1


def test_an_error_is_both_frameworks_own() -> None:
    with serving(Script()) as server:
        model = wrap(plain(server), 50)
        result = run(agent(model, World()))
        with pytest.raises(NothingSafeFits) as raised:
            model.response([Message(role="user", content="word " * 100)])
    assert result.status == RunStatus.error
    assert "smallest safe request needs" in result.content
    assert isinstance(raised.value, ContextWindowExceededError)
    assert isinstance(raised.value, CannotFit)
    assert not raised.value.report.ok
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


@pytest.mark.parametrize("how", ["sync", "async"])
def test_the_agent_can_recall(how: str) -> None:
    script, world = Recalling(), World()
    with serving(script) as server:
        model = wrap(plain(server), BUDGET)
        run(agent(model, world, recall_tool(model)), how=how)
    assert outcome(script, world).done, outcome(script, world)
    assert "page" in script.answer
    assert "Nothing is kept" not in script.answer


def test_a_model_stays_what_it_was() -> None:
    with serving(Shortening()) as server:
        model = plain(server)
        wrapped = wrap(model, 1_000)
        copied = copy.deepcopy(wrapped)
        for each in (wrapped, copied):
            Agent(model=each, telemetry=False, session_id="one", id="a").run("Hi.")
    assert isinstance(wrapped, OpenAIChat)
    assert type(model) is OpenAIChat
    assert wrapped.to_dict() == model.to_dict()
    assert session_of(copied) is session_of(wrapped)
    assert len(server.seen) == 2
    with pytest.raises(ConfigError, match="was not wrapped"):
        session_of(model)
    with pytest.raises(ConfigError, match="takes a model"):
        wrap("gpt-4o", 1_000)  # type: ignore[type-var]


ALL: list[Any] = [
    Message(role="system", content="Be brief."),
    Message(role="user", content="Look", images=[Image(content=b"\x89PNG", format="png"), Image(url="https://x.y/z.png")],
            files=[File(content=b"%PDF", mime_type="application/pdf")]),
    Message(role="assistant", content="I look.", reasoning_content="hm", provider_data={"signature": "c2ln"},
            tool_calls=[
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "ж"}'}, "vendor": 1},
        {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}}]),
    Message(role="tool", tool_call_id="c1", tool_name="look", content="one", own="x"),
    Message(role="tool", tool_call_id="c2", tool_name="look", content=""),
    Message(role="assistant", content="Done."),
    Message(role="user", content=[{"type": "text", "text": "Thanks."}]),
]  # fmt: skip


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    wire = to_wire(ALL)
    back = from_fitted(Conversation(100_000).fit(wire), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def messages_of(turns: Sequence[Turn]) -> list[Any]:
    out: list[Any] = [Message(role="system", content="Be brief.")]
    for at, turn in enumerate(turns):
        calls = [
            {"id": f"c{at}.{n}", "type": "function", "function": {"name": "look", "arguments": json.dumps(call[0])}}
            for n, call in enumerate(turn.calls)
        ]
        out.append(Message(role="user" if turn.user else "assistant", content=turn.said, tool_calls=calls or None))
        out += [
            Message(role="tool", tool_call_id=call["id"], tool_name="look", content=text)
            for call, (_, text) in zip(calls, turn.calls, strict=True)
        ]
    return out


@settings(max_examples=40, deadline=None)
@given(histories())
def test_any_history_makes_the_round_trip(turns: list[Turn]) -> None:
    messages = messages_of(turns)
    check_round_trip(messages, to_wire, lambda fitted, given: from_fitted(fitted, to_wire(given), given))


def test_a_changed_message_keeps_what_is_not_its_text() -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages: list[Any] = [
        Message(role="user", content="Look at it."),
        Message(role="assistant", tool_calls=[call]),
        Message(role="tool", tool_call_id="c1", tool_name="look", content=long, tool_args={"a": 1}, own="x"),
    ]
    wire = to_wire(messages)
    back = from_fitted(Conversation(900).fit(wire), wire, messages)
    assert back[:2] == messages[:2]
    assert "[partial " in back[2].content
    assert messages[2].content == long
    same = {"content": None, "metrics": None}
    assert back[2].model_dump() | same == messages[2].model_dump() | same


def test_a_message_with_less_keeps_the_rest() -> None:
    wire = to_wire(ALL)
    fitted = Conversation(100_000).fit(wire)
    text, *media = wire[1]["content"]
    fitted.messages[1] = {**wire[1], "content": [{**text, "text": "L"}, media[1], media[2]]}
    first, second = wire[2]["tool_calls"]
    cut = {**first, "function": {**first["function"], "arguments": "{}"}}
    fitted.messages[2] = {**wire[2], "tool_calls": [cut]}
    back = from_fitted(fitted, wire, ALL)
    assert (back[1].content, back[1].images, back[1].files) == ("L", ALL[1].images[1:], ALL[1].files)
    (kept,) = back[2].tool_calls
    assert kept == {**ALL[2].tool_calls[0], "function": {"name": "look", "arguments": "{}"}}
    assert back[2].provider_data == {"signature": "c2ln"}
    assert second["index"] == 1


def test_the_program_of_the_docs_runs() -> None:
    check_program("Agno")
