"""Strands: its own event loop and OpenAI model against a scripted server on loopback, real tools."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from canary import CANARY, found_in
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
from jettison import CannotFit

pytest.importorskip("strands", reason="needs jettison[strands]")

from strands import Agent
from strands.agent.conversation_manager import NullConversationManager, SlidingWindowConversationManager
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager
from strands.tools.tools import PythonAgentTool
from strands.types.exceptions import ContextWindowOverflowException, EventLoopException

from jettison.integrations.common import Conversation
from jettison.integrations.strands import JettisonConversationManager, NothingSafeFits
from jettison.integrations.strands_messages import from_fitted, to_system, to_tools, to_wire

BUDGET = quarter()
WINDOW = window(BUDGET)


def tools(world: World) -> list[Any]:
    def made(name: str) -> Any:
        def call(use: Any, **state: Any) -> Any:
            text = world.run(name, use["input"])
            return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": text}]}

        schema = {"json": parameters(name)}
        spec: Any = {"name": name, "description": TOOLS[name][0], "inputSchema": schema}
        return PythonAgentTool(name, spec, call)

    return [made(name) for name in TOOLS]


def agent(server: Server, world: World, manager: Any, **given: Any) -> Any:
    client: Any = {"api_key": "none", "base_url": f"{server.url}/v1", "max_retries": 0}
    model = OpenAIModel(client_args=client, model_id="gpt-4o")
    return Agent(
        model=model,
        tools=tools(world),
        system_prompt=SYSTEM,
        conversation_manager=manager,
        callback_handler=None,
        **given,
    )


def test_a_tool_gets_the_token_that_the_provider_never_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    login.into(monkeypatch, __name__)
    script, desk = login.LoggingIn(), login.Desk()
    with serving(script) as server:
        office = agent(server, desk, JettisonConversationManager(3_000, vault=login.vault()))
        office.tool_registry.registry["login"].tool_spec["description"] += f" For tests: {CANARY}"
        office(login.GOAL)
        assert not found_in(server.seen)
    login.check(script, desk)
    assert not found_in([block for message in office.messages for block in message["content"] if "toolUse" in block])


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, tmp_path: Path) -> None:
    script, world, manager = Script(window=WINDOW), World(), JettisonConversationManager(BUDGET)

    def kept() -> FileSessionManager:
        return FileSessionManager(session_id="case", storage_dir=str(tmp_path))

    with serving(script) as server:
        office = agent(server, world, manager, session_manager=kept())
        office(GOALS[language])
        restored = agent(server, world, JettisonConversationManager(BUDGET), session_manager=kept())
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    # The agent and its session keep everything.
    assert sum(message["role"] == "assistant" for message in office.messages) == CALLS
    assert "[cut" not in str(office.messages)
    assert [message["content"] for message in restored.messages] == [message["content"] for message in office.messages]
    assert manager.session is not None
    assert manager.session._ratio != 1.0  # the provider's count came back


def test_the_same_streamed() -> None:
    script, world = Script(window=WINDOW), World()

    async def go() -> int:
        with serving(script) as server:
            office = agent(server, world, JettisonConversationManager(BUDGET))
            return len([event async for event in office.stream_async(GOALS["en"])])

    assert asyncio.run(go()) > 2 * CALLS
    assert outcome(script, world).done, outcome(script, world)


def test_decisions_survive_between_calls() -> None:
    from strands.hooks import AfterModelCallEvent

    script, manager, kept = Script(), JettisonConversationManager(BUDGET), []

    def watch(event: Any) -> None:
        assert manager.session is not None
        assert manager.session.report is not None
        kept.append(manager.session.report.cache.epoch)

    with serving(script) as server:
        office = agent(server, World(), manager)
        office.hooks.add_callback(AfterModelCallEvent, watch)
        office(GOALS["en"])
    assert kept.count("none") > 0.75 * CALLS, kept


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name, manager in (
        ("no trimming", NullConversationManager()),
        ("SlidingWindowConversationManager", SlidingWindowConversationManager(window_size=14, per_turn=True)),
        ("JettisonConversationManager", JettisonConversationManager(BUDGET)),
    ):
        script, world = Script(window=WINDOW), World()
        error: Exception | None = None
        with serving(script) as server:
            try:
                agent(server, world, manager)(GOALS["en"])
            except (ContextWindowOverflowException, EventLoopException) as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    page("Strands", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


def test_after_an_overflow_it_tries_once_more_and_tighter() -> None:
    script, world, manager = Script(window=WINDOW), World(), JettisonConversationManager(BUDGET * 2)  # told too large
    with serving(script) as server:
        agent(server, world, manager)(GOALS["en"])
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2
    assert manager.session is not None
    assert manager.session.overflows == script.overflows


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Script(window=10)
    with (
        serving(script) as server,
        pytest.raises(ContextWindowOverflowException, match="maximum context length is 10 tokens") as raised,
    ):
        agent(server, World(), JettisonConversationManager(BUDGET))(GOALS["en"])
    assert script.overflows <= 2
    assert isinstance(raised.value.__cause__, CannotFit)


def test_an_error_is_both_frameworks_own() -> None:
    script = Script()
    with serving(script) as server, pytest.raises(NothingSafeFits) as raised:
        agent(server, World(), JettisonConversationManager(50))(GOALS["en"])
    assert isinstance(raised.value, ContextWindowOverflowException)
    assert isinstance(raised.value, CannotFit)
    assert not raised.value.report.ok
    assert script.step == 0


def test_agents_may_share_one() -> None:
    one, two, manager = Script(window=WINDOW), Script(window=WINDOW), JettisonConversationManager(BUDGET)
    world, other = World(), World()
    with serving(one) as first, serving(two) as second:
        agent(first, world, manager)(GOALS["en"])
        agent(second, other, manager)(GOALS["ru"])
    assert outcome(one, world).done
    assert outcome(two, other).done


def test_the_agent_can_recall() -> None:
    script, world = Recalling(), World()
    with serving(script) as server:
        agent(server, world, JettisonConversationManager(BUDGET, recall=True))(GOALS["en"])
    assert outcome(script, world).done
    assert script.recalled


PNG = b"\x89PNG\r\n\x1a\n"
ALL: list[Any] = [
    {"role": "user", "tracking_id": "m1", "content": [
        {"text": "Look"}, {"image": {"format": "png", "source": {"bytes": PNG}}}, {"cachePoint": {"type": "default"}},
        {"document": {"format": "pdf", "name": "case", "source": {"bytes": b"%PDF"}}},
        {"video": {"format": "mp4", "source": {"bytes": b"\x00\xff"}}},
    ]},
    {"role": "assistant", "metadata": {"custom": {"own": 1}}, "content": [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": b"\xff"}},
        {"text": "I look."},
        {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"at": "ж"}, "reasoningSignature": "s"}},
        {"toolUse": {"toolUseId": "c2", "name": "look", "input": {}}},
    ]},
    {"role": "user", "content": [
        {"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "one"}, {"json": {"a": [1]}}]}},
        {"toolResult": {"toolUseId": "c2", "status": "error", "content": [
            {"image": {"format": "png", "source": {"bytes": PNG}}},
        ]}},
    ]},
    {"role": "assistant", "content": [{"text": "Done."}]},
]  # fmt: skip


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    wire = to_wire(ALL)
    back = from_fitted(Conversation(100_000, wire="anthropic").fit(wire), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def built(steps: list[Step]) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": [{"text": "Look into ORD-1001."}]}]
    for n, step in enumerate(steps):
        calls = [
            {"toolUse": {"toolUseId": f"c{n}_{at}", "name": "look", "input": args}}
            for at, (args, _) in enumerate(step.calls)
        ]
        answers = [
            {"toolResult": {"toolUseId": f"c{n}_{at}", "status": "success", "content": [{"text": text}]}}
            for at, (_, text) in enumerate(step.calls)
        ]
        messages.append({"role": "assistant", "content": [{"text": step.said}, *calls]})
        messages.append({"role": "user", "content": answers or [{"text": step.then}]})
    return messages


def through(session: Conversation, messages: Any) -> list[Any]:
    wire = to_wire(messages)
    return from_fitted(session.fit(wire), wire, messages)


@settings(max_examples=25, deadline=None)
@given(histories())
def test_any_history_comes_back_as_it_is_or_valid_and_smaller(steps: list[Step]) -> None:
    check_history(built(steps), through, "anthropic")


def test_a_changed_message_keeps_what_is_not_its_text() -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    picture = {"image": {"format": "png", "source": {"bytes": PNG}}}
    results: list[Any] = [
        {"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": long}, picture], "own": 1}},
        {"toolResult": {"toolUseId": "c2", "status": "success", "content": [{"json": {"a": 1}}]}},
    ]
    calls: list[Any] = [{"toolUse": {"toolUseId": ident, "name": "look", "input": {}}} for ident in ("c1", "c2")]
    messages: list[Any] = [
        {"role": "user", "content": [{"text": "Look at it."}]},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results, "tracking_id": "m3"},
    ]
    wire = to_wire(messages)
    back = from_fitted(Conversation(3_000, wire="anthropic").fit(wire), wire, messages)
    assert back[:2] == messages[:2]
    assert back[2]["tracking_id"] == "m3"
    cut, same = back[2]["content"]
    assert same is results[1]
    assert (cut["toolResult"]["status"], cut["toolResult"]["own"]) == ("error", 1)
    assert len(cut["toolResult"]["content"][0]["text"]) < len(long)
    assert results[0]["toolResult"]["content"][0]["text"] == long


def test_what_goes_with_the_messages_is_counted() -> None:
    assert to_system("Be brief.") == "Be brief."
    prompt = [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}]
    assert to_system(prompt) == [{"type": "text", "text": "Be brief."}]
    spec = {"name": "look", "description": "Look.", "inputSchema": {"json": {"type": "object"}}}
    assert to_tools([spec]) == [{"name": "look", "description": "Look.", "input_schema": {"type": "object"}}]


def test_the_program_of_the_docs_runs() -> None:
    check_program("Strands")
