"""OpenAI Agents SDK: its own runner against a scripted server on loopback, real tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from bench.secrets import made

from canary import found_in
from integration.frameworks import login
from integration.frameworks.programs import check_program
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
from integration.frameworks.task import Call as ScriptCall
from jettison import BudgetUnreachable, ConfigError

pytest.importorskip("agents", reason="needs jettison[openai-agents]")

import agents
from agents import Agent, FunctionTool, RunConfig, Runner, SQLiteSession
from agents.extensions import ToolOutputTrimmer
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI, BadRequestError

from jettison.integrations.openai_agents import JettisonFilter, JettisonModel, JettisonSession, recall_tool, rehydrating

BUDGET = quarter()
WINDOW = window(BUDGET)
agents.set_tracing_disabled(True)


def tools(world: World) -> list[FunctionTool]:
    def made(name: str) -> FunctionTool:
        async def invoke(context: Any, arguments: str) -> str:
            return world.run(name, json.loads(arguments))

        return FunctionTool(name, TOOLS[name][0], parameters(name), invoke)

    return [made(name) for name in TOOLS]


def client(server: Server) -> AsyncOpenAI:
    return AsyncOpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0)


def plain(server: Server) -> Any:
    return OpenAIResponsesModel("gpt-4o", client(server))


def agent(model: Any, world: World, *more: FunctionTool) -> Any:
    return Agent(name="office", instructions=SYSTEM, model=model, tools=[*tools(world), *more])


def run(
    graph: Any, language: str = "en", *, fit: Any = None, session: Any = None, stream: bool = False, sync: bool = False
) -> Any:
    given: Any = {
        "max_turns": 100, "session": session, "run_config": RunConfig(call_model_input_filter=fit),
    }  # fmt: skip
    if sync:
        return Runner.run_sync(graph, GOALS[language], **given)

    async def go() -> Any:
        if not stream:
            return await Runner.run(graph, GOALS[language], **given)
        result = Runner.run_streamed(graph, GOALS[language], **given)
        assert len([event async for event in result.stream_events()]) > CALLS
        return result

    return asyncio.run(go())


def desk_tools(desk: login.Desk) -> list[FunctionTool]:
    def made(name: str) -> FunctionTool:
        async def invoke(context: Any, arguments: str) -> str:
            return desk.run(name, json.loads(arguments))

        return FunctionTool(name, login.TOOLS[name][0], login.parameters(name), invoke)

    return [made(name) for name in login.TOOLS]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("where", ["filter", "model"])
def test_a_tool_gets_the_token_that_the_provider_never_sees(where: str, stream: bool) -> None:
    """Two runs at once with one filter: each has the token of its own conversation."""
    scripts = [login.LoggingIn(), login.LoggingIn()]
    desks = [login.Desk(), login.Desk(made("github", "second"))]
    kept: list[Any] = []

    async def one(script: Any, desk: login.Desk, fit: Any, at: int) -> None:
        with serving(script) as server:
            model: Any = plain(server)
            if where == "model":
                fit._model, model = model, fit
            graph: Any = Agent(
                name="desk", instructions=login.SYSTEM, model=model, tools=rehydrating(fit, desk_tools(desk))
            )
            config = RunConfig(call_model_input_filter=fit if where == "filter" else None)
            said = f"{login.GOAL}, I am number {at}"
            if stream:
                result: Any = Runner.run_streamed(graph, said, run_config=config)
                kept.extend([event async for event in result.stream_events()])
            else:
                result = await Runner.run(graph, said, run_config=config)
            kept.extend(item for item in result.to_input_list() if item.get("type") == "function_call")

    async def both() -> None:
        fit: Any = JettisonFilter(3_000, vault=login.vault())
        fits = [fit, fit]
        if where == "model":
            fits = [JettisonModel(fit, 3_000, vault=login.vault()) for _ in "12"]
        await asyncio.gather(*(one(*given, at) for at, given in enumerate(zip(scripts, desks, fits, strict=True))))

    asyncio.run(both())
    for script, desk in zip(scripts, desks, strict=True):
        login.check(script, desk)
    assert not any(desk.token in json.dumps(item) for desk in desks for item in kept if isinstance(item, dict))


def test_a_conversation_on_the_server_needs_a_name_with_a_vault() -> None:
    script, desk = login.LoggingIn(), login.Desk()
    with serving(script) as server:
        for name in (None, "chat-17"):
            fit = JettisonModel(plain(server), 3_000, vault=login.vault(), conversation=name)
            graph: Any = Agent(
                name="desk", instructions=login.SYSTEM, model=fit, tools=rehydrating(fit, desk_tools(desk))
            )
            run = Runner.run(graph, login.GOAL, previous_response_id="resp_0", auto_previous_response_id=True)
            if name is None:
                with pytest.raises(ConfigError, match="conversation="):
                    asyncio.run(run)
                assert script.read == []
            else:
                asyncio.run(run)
    assert desk.logins == [f"Bearer {desk.token}"]
    assert desk.mails == []
    assert not any(map(found_in, script.read))
    assert "{{secret:password:1}}" in script.read[0]


@pytest.mark.parametrize(("language", "how"), [("en", "async"), ("ru", "streamed")])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, how: str) -> None:
    script, world, session = Script(window=WINDOW), World(), SQLiteSession("case")
    with serving(script) as server:
        result = run(
            agent(plain(server), world), language, fit=JettisonFilter(BUDGET), session=session, stream=how == "streamed"
        )
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    # The result and the session keep everything.
    stored = asyncio.run(session.get_items())
    assert len(stored) == len(result.to_input_list()) > 2 * CALLS
    assert not any("[cut" in str(item.get("output")) for item in stored)


def test_the_same_synchronously() -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        run(agent(plain(server), world), fit=JettisonFilter(BUDGET), sync=True)
    assert outcome(script, world).done, outcome(script, world)


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_fits_too_takes_usage_and_tries_once_more(stream: bool) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        model = JettisonModel(plain(server), BUDGET * 2)  # we were told a window that is too large
        run(agent(model, world), stream=stream)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 1
    assert model.session is not None
    assert model.session._ratio != 1.0


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name, fit in (
        ("no trimming", None),
        ("ToolOutputTrimmer", ToolOutputTrimmer(recent_turns=1)),
        ("JettisonFilter", JettisonFilter(BUDGET)),
    ):
        script, world = Script(window=WINDOW), World()
        error: Exception | None = None
        with serving(script) as server:
            try:
                run(agent(plain(server), world), fit=fit)
            except BadRequestError as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    page("OpenAI Agents", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


def test_a_session_gives_what_fits_and_stores_everything() -> None:
    inner = SQLiteSession("chat")
    fitting = JettisonSession(inner, 700)

    async def go() -> tuple[list[Any], list[Any]]:
        for n in range(12):
            turn: list[Any] = [
                {"role": "user", "content": f"What about ORD-{n}? " + "It rains a lot in this town. " * 12},
                {"role": "assistant", "content": f"ORD-{n} is on its way. " + "Have a nice day. " * 12},
            ]
            await fitting.add_items(turn)
        return await fitting.get_items(), await inner.get_items()

    given, stored = asyncio.run(go())
    assert len(stored) == 24
    assert fitting.session.report is not None
    assert fitting.session.report.after <= 700
    assert given[-1] == stored[-1]
    assert asyncio.run(fitting.get_items(2)) == stored[-2:]
    assert asyncio.run(fitting.pop_item()) == stored[-1]
    asyncio.run(fitting.clear_session())
    assert asyncio.run(fitting.get_items()) == []


def test_an_overflow_of_the_budget_ends_the_run() -> None:
    with serving(Script()) as server, pytest.raises(BudgetUnreachable, match="smallest safe request needs"):
        run(agent(plain(server), World()), fit=JettisonFilter(50))
    assert server.seen == []


def test_history_on_the_server_is_not_touched() -> None:
    from agents.run_config import CallModelData, ModelInputData

    items: Any = [{"type": "function_call_output", "call_id": "x", "output": "long " * 900}]
    data: Any = CallModelData(ModelInputData(items, "Be brief."), agent(None, World()), None)
    assert asyncio.run(JettisonFilter(100)(data)) is data.model_data


def test_items_come_back_as_they_are_when_nothing_is_evicted() -> None:
    from agents.run_config import CallModelData, ModelInputData

    items: Any = [
        {"role": "user", "content": [{"type": "input_text", "text": "ж"}], "vendor": 1},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "look", "arguments": "{}",
         "status": "completed"},
        {"type": "function_call_output", "call_id": "c", "output": "seen"},
        {"type": "message", "id": "m", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "ok", "annotations": []}]},
    ]  # fmt: skip
    data: Any = CallModelData(ModelInputData(list(items), "Be brief."), agent(None, World()), None)
    given = asyncio.run(JettisonFilter(10_000)(data))
    assert all(mine is theirs for mine, theirs in zip(given.input, items, strict=True))
    assert given.instructions == "Be brief."


class Recalling(Script):
    """Asks for the first mark it sees once something was cut."""

    answer: str = ""

    def next(self, seen: Sequence[str]) -> list[ScriptCall] | str:
        import re

        if self.answer == "asked":
            self.answer = seen[-1]
        if not self.answer and (match := re.search(r"ref ([a-z]{10,})", "\n".join(seen[2:]))):
            self.answer = "asked"
            self._count(list(seen))
            return [ScriptCall("recall_context", {"handle": match.group(1)})]
        return super().next(seen)


def test_the_agent_can_recall() -> None:
    script, world, fit = Recalling(), World(), JettisonFilter(BUDGET)
    with serving(script) as server:
        run(agent(plain(server), world, recall_tool(fit)), fit=fit)
    assert outcome(script, world).done
    assert "page" in script.answer
    assert "Nothing is kept" not in script.answer


def test_the_program_of_the_docs_runs() -> None:
    check_program("OpenAI Agents SDK")
