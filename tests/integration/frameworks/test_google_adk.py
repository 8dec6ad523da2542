"""Google ADK: its own runner and Gemini model against a scripted server on loopback, real tools."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
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
from jettison import BudgetUnreachable

pytest.importorskip("google.adk", reason="needs jettison[google-adk]")

from google.adk.agents import LlmAgent, ParallelAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models.google_llm import Gemini
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.genai import types
from google.genai.errors import ClientError
from pydantic import BaseModel

from jettison.integrations.common import Conversation
from jettison.integrations.google_adk import JettisonPlugin
from jettison.integrations.google_adk_messages import from_fitted, schema_of, system_of, to_tools, to_wire

BUDGET = quarter()
WINDOW = window(BUDGET)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "none")


class WorldTool(BaseTool):
    def __init__(self, world: World, name: str) -> None:
        super().__init__(name=name, description=TOOLS[name][0])
        self._world = world

    def _get_declaration(self) -> Any:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=parameters(self.name)
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        return self._world.run(self.name, args)


def agent(server: Server, world: World, name: str = "office", **given: Any) -> LlmAgent:
    model = Gemini(model="gemini-2.5-flash", base_url=server.url)
    tools: list[Any] = [WorldTool(world, tool) for tool in TOOLS]
    return LlmAgent(name=name, model=model, instruction=SYSTEM, tools=tools, **given)


def run(root: Any, *plugins: Any, language: str = "en", stream: bool = False, sync: bool = False) -> Any:
    """The runner and the session it kept, after the task."""
    runner = InMemoryRunner(app=App(name="shop", root_agent=root, plugins=list(plugins)))
    goal = types.Content(role="user", parts=[types.Part(text=GOALS[language])])
    mode = StreamingMode.SSE if stream else StreamingMode.NONE

    async def begin() -> Any:
        return await runner.session_service.create_session(app_name="shop", user_id="u")

    async def go() -> Any:
        session = await begin()
        given: Any = {"run_config": RunConfig(streaming_mode=mode)}
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=goal, **given):
            pass
        return await runner.session_service.get_session(app_name="shop", user_id="u", session_id=session.id)

    if not sync:
        return asyncio.run(go())
    session = asyncio.run(begin())
    for _ in runner.run(user_id="u", session_id=session.id, new_message=goal):
        pass
    return None


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_gets_the_token_that_the_provider_never_sees(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    login.into(monkeypatch, __name__)
    script, desk = login.LoggingIn(), login.Desk()
    plugin = JettisonPlugin(3_000, vault=login.vault())
    with serving(script) as server:
        root: Any = agent(server, desk)
        root.tools[1].description += f" For tests: {CANARY}"
        session = run(root, plugin, stream=stream)
        assert not found_in(server.seen)
    login.check(script, desk)
    calls = [call for event in session.events for call in event.get_function_calls()]
    assert len(calls) >= 3
    assert not found_in(calls)


@pytest.mark.parametrize(("language", "stream"), [("en", False), ("ru", True)])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, stream: bool) -> None:
    script, world, plugin = Script(window=WINDOW), World(), JettisonPlugin(BUDGET)
    with serving(script) as server:
        session = run(agent(server, world), plugin, language=language, stream=stream)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    # The session keeps everything.
    whole = [event for event in session.events if not event.partial]
    assert sum(event.author == "office" and event.usage_metadata is not None for event in whole) == CALLS
    assert "[cut" not in str(whole)
    assert plugin.session is not None
    assert plugin.session._ratio != 1.0  # the provider's count came back


def test_the_same_synchronously() -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        run(agent(server, world), JettisonPlugin(BUDGET), sync=True)
    assert outcome(script, world).done, outcome(script, world)


def test_decisions_survive_between_calls() -> None:
    script, kept = Script(), []

    class Watching(JettisonPlugin):
        async def before_model_callback(self, **given: Any) -> None:
            await super().before_model_callback(**given)
            assert self.session is not None
            assert self.session.report is not None
            kept.append(self.session.report.cache.epoch)

    with serving(script) as server:
        run(agent(server, World()), Watching(BUDGET))
    assert kept.count("none") > 0.75 * CALLS, kept


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name, plugins in (
        ("no trimming", ()),
        ("ContextFilterPlugin", (ContextFilterPlugin(num_invocations_to_keep=1),)),
        ("JettisonPlugin", (JettisonPlugin(BUDGET),)),
    ):
        script, world = Script(window=WINDOW), World()
        error: Exception | None = None
        with serving(script) as server:
            try:
                run(agent(server, world), *plugins)
            except ClientError as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    page("Google ADK", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


@pytest.mark.parametrize("stream", [False, True])
def test_after_an_overflow_it_tries_once_more_and_tighter(stream: bool) -> None:
    script, world, plugin = Script(window=WINDOW), World(), JettisonPlugin(BUDGET * 2)  # told a window too large
    with serving(script) as server:
        run(agent(server, world), plugin, stream=stream)
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2
    assert plugin.session is not None
    assert plugin.session.overflows == script.overflows


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Script(window=10)
    with serving(script) as server, pytest.raises(ClientError, match="maximum context length is 10 tokens") as raised:
        run(agent(server, World()), JettisonPlugin(BUDGET))
    assert script.overflows <= 2
    assert isinstance(raised.value.__cause__, BudgetUnreachable)


def test_an_error_comes_out_of_the_runner_with_its_numbers() -> None:
    script = Script()
    with serving(script) as server, pytest.raises(RuntimeError, match="smallest safe request needs") as raised:
        run(agent(server, World()), JettisonPlugin(50))
    assert isinstance(raised.value.__cause__, BudgetUnreachable)
    assert not raised.value.__cause__.report.ok
    assert script.step == 0


def test_it_serves_one_agent_alone_as_its_callbacks() -> None:
    script, world, jettison = Script(window=WINDOW), World(), JettisonPlugin(BUDGET * 2)
    with serving(script) as server:
        given: Any = {name: getattr(jettison, name) for name in ("before_model_callback", "after_model_callback")}
        run(agent(server, world, on_model_error_callback=jettison.on_model_error_callback, **given))
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows >= 1
    with serving(Script()) as server, pytest.raises(BudgetUnreachable):
        run(agent(server, World(), before_model_callback=JettisonPlugin(50).before_model_callback))


def test_agents_that_run_side_by_side_have_sessions_of_their_own() -> None:
    one, two, world = Script(window=WINDOW), Script(window=WINDOW), World()
    plugin = JettisonPlugin(BUDGET)
    with serving(one) as first, serving(two) as second:
        run(ParallelAgent(name="both", sub_agents=[agent(first, world, "a"), agent(second, world, "b")]), plugin)
    assert (one.step, two.step, one.lost, two.lost) == (CALLS, CALLS, [], [])


def test_the_agent_can_recall() -> None:
    script, world = Recalling(), World()
    with serving(script) as server:
        run(agent(server, world), JettisonPlugin(BUDGET, recall=True))
    assert outcome(script, world).done
    assert script.recalled


ALL = [
    types.Content(role="user", parts=[
        types.Part(text="Look"),
        types.Part(inline_data=types.Blob(data=b"\x89PNG\xff\xfe", mime_type="image/png", display_name="p")),
    ]),
    types.Content(role="model", parts=[
        types.Part(text="hm", thought=True, thought_signature=b"\xff\xfe"),
        types.Part(function_call=types.FunctionCall(id="c1", name="look", args={"at": "ж"})),
        types.Part(function_call=types.FunctionCall(name="look", args={}), thought_signature=b"sig"),
    ]),
    types.Content(role="user", parts=[
        types.Part(function_response=types.FunctionResponse(id="c1", name="look", response={"result": "one"})),
        types.Part(function_response=types.FunctionResponse(name="look", response={"a": [1]}, parts=[
            types.FunctionResponsePart(inline_data=types.FunctionResponseBlob(data=b"\xff", mime_type="image/png")),
        ])),
    ]),
    types.Content(role="model", parts=[types.Part(text="Done.", part_metadata={"own": 1})]),
]  # fmt: skip


def test_contents_come_back_as_they_are_when_nothing_is_evicted() -> None:
    wire = to_wire(ALL)
    back = from_fitted(Conversation(100_000, wire="gemini").fit(wire), wire, ALL)
    assert all(mine is theirs for mine, theirs in zip(back, ALL, strict=True))


def built(steps: list[Step]) -> list[Any]:
    contents = [types.Content(role="user", parts=[types.Part(text="Look into ORD-1001.")])]
    for n, step in enumerate(steps):
        calls, answers = [], []
        for at, (args, text) in enumerate(step.calls):
            own = f"c{n}_{at}" if step.ids else None
            response = types.FunctionResponse(id=own, name="look", response={"result": text})
            calls.append(types.Part(function_call=types.FunctionCall(id=own, name="look", args=args)))
            answers.append(types.Part(function_response=response))
        contents.append(types.Content(role="model", parts=[types.Part(text=step.said), *calls]))
        contents.append(types.Content(role="user", parts=answers or [types.Part(text=step.then)]))
    return contents


def through(session: Conversation, contents: Any) -> list[Any]:
    wire = to_wire(contents)
    return from_fitted(session.fit(wire), wire, contents)


@settings(max_examples=25, deadline=None)
@given(histories())
def test_any_history_comes_back_as_it_is_or_valid_and_smaller(steps: list[Step]) -> None:
    check_history(built(steps), through, "gemini")
    check_history(built(steps)[1:], through, "gemini")  # as a history that begins with the agent's greeting


def test_a_changed_content_keeps_what_is_not_its_text() -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    answers = [
        types.Part(function_response=types.FunctionResponse(id="c1", name="look", response={"result": long})),
        types.Part(function_response=types.FunctionResponse(id="c2", name="look", response={"result": "seen"})),
    ]
    calls = [types.Part(function_call=types.FunctionCall(id=ident, name="look", args={})) for ident in ("c1", "c2")]
    contents = [
        types.Content(role="user", parts=[types.Part(text="Look at it.")]),
        types.Content(role="model", parts=calls),
        types.Content(role="user", parts=answers),
    ]
    before = contents[2].model_copy(deep=True)
    wire = to_wire(contents)
    back = from_fitted(Conversation(900, wire="gemini").fit(wire), wire, contents)
    assert back[:2] == contents[:2]
    cut, same = back[2].parts
    assert same is answers[1]
    assert cut.function_response.id == "c1"
    assert len(cut.function_response.response["result"]) < len(long)
    assert contents[2] == before


def test_what_goes_with_the_contents_is_counted() -> None:
    class Answer(BaseModel):
        found: bool

    tool = types.Tool(function_declarations=[types.FunctionDeclaration(name="look")])
    config = types.GenerateContentConfig(
        system_instruction=types.Content(parts=[types.Part(text="Be brief.")]), tools=[tool], response_schema=Answer
    )
    assert system_of(config) == {"parts": [{"text": "Be brief."}]}
    assert to_tools(config) == [{"functionDeclarations": [{"name": "look"}]}]
    assert schema_of(config)["properties"]["found"]["type"] == "boolean"


def test_what_goes_on_from_the_server_is_not_touched() -> None:
    contents = [types.Content(role="user", parts=[types.Part(text="long " * 900)])]
    request = LlmRequest(contents=contents, previous_interaction_id="i1")
    asyncio.run(JettisonPlugin(100).before_model_callback(callback_context=None, llm_request=request))
    assert request.contents[0] is contents[0]


def test_what_goes_on_from_the_server_has_no_secrets_either() -> None:
    parts = [types.Part(text=login.GOAL), types.Part(text="Now.")]
    request = LlmRequest(
        contents=[types.Content(role="user", parts=parts)],
        config=types.GenerateContentConfig(system_instruction=login.SYSTEM),
        previous_interaction_id="i1",
        model="gemini-2.5-flash",
    )
    kept = SimpleNamespace(app_name="shop", user_id="u", id="s")
    context: Any = SimpleNamespace(session=kept, branch=None, agent_name="office")
    plugin = JettisonPlugin(3_000, vault=login.vault())
    asyncio.run(plugin.before_model_callback(callback_context=context, llm_request=request))
    assert not found_in(request)
    assert repr(request).count("{{secret:password:1}}") == 2
    assert request.contents[0].parts[1] is parts[1]


def test_the_program_of_the_docs_runs() -> None:
    check_program("Google ADK")
