"""CrewAI: its own agents, crews and OpenAI client against a scripted server on loopback, real tools."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import re
import threading
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
    quarter,
    window,
)  # fmt: skip
from integration.frameworks.turns import Turn, check_round_trip, histories
from jettison import CannotFit, ConfigError

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
pytest.importorskip("crewai", reason="needs jettison[crewai]")

from crewai import LLM, Agent, Crew, Task
from crewai.hooks import (
    LLMCallHookContext,
    register_after_llm_call_hook,
    register_before_tool_call_hook,
    unregister_after_llm_call_hook,
    unregister_before_tool_call_hook,
)
from crewai.tools import BaseTool
from crewai.tools.tool_failure import ToolExecutionFailedError
from crewai.utilities import LLMContextLengthExceededError
from pydantic import BaseModel, create_model

from jettison.integrations.common import Conversation
from jettison.integrations.crewai import NothingSafeFits, _back, _wire, recall_tool, session_of, wrap

BUDGET = quarter()
WINDOW = window(BUDGET)


def tools(world: World) -> list[BaseTool]:
    def made(called: str) -> BaseTool:
        said, fields = TOOLS[called]
        kinds: Any = {key: (float if kind == "number" else str, ...) for key, kind in fields.items()}

        class Made(BaseTool):
            name: str = called
            description: str = said
            args_schema: type[BaseModel] = create_model(called, **kinds)

            def _run(self, **given: Any) -> str:
                return world.run(called, given)

        return Made()

    return [made(name) for name in TOOLS]


def plain(server: Server, **settings: Any) -> Any:
    return LLM(model="gpt-4o", api_key="none", base_url=f"{server.url}/v1", max_retries=0, **settings)


def agent(llm: Any, world: World, *more: BaseTool, **settings: Any) -> Any:
    return Agent(
        role="office", goal="Do it.", backstory=SYSTEM, llm=llm, tools=[*tools(world), *more], max_iter=200,
        cache=False, verbose=False, **settings,
    )  # fmt: skip


def run(graph: Any, language: str = "en", how: str = "agent") -> Any:
    if how == "agent":
        return graph.kickoff(GOALS[language])
    if how == "async":
        return asyncio.run(graph.kickoff_async(GOALS[language]))
    crew = Crew(agents=[graph], tasks=[Task(description=GOALS[language], expected_output="A word.", agent=graph)])
    return asyncio.run(crew.akickoff()) if how == "async crew" else crew.kickoff()


def test_no_secret_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """CrewAI's hooks do not see which conversation a call is of: tools get placeholders."""
    login.into(monkeypatch, __name__)
    script, desk = login.LoggingIn(), login.Desk()
    with serving(script) as server:
        run(agent(wrap(plain(server), 3_000, vault=login.vault()), desk))
        assert not found_in(server.seen)
    login.check(script, desk, hook=False)


@pytest.mark.parametrize(
    ("language", "how", "stream"),
    [("en", "agent", False), ("ru", "async", True), ("en", "crew", True), ("ru", "async crew", False)],
)
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, how: str, stream: bool) -> None:
    script, world = Script(window=WINDOW), World()
    held: list[Any] = []

    def look(context: LLMCallHookContext) -> None:
        held[:] = context.messages

    register_after_llm_call_hook(look)
    try:
        with serving(script) as server:
            llm = wrap(plain(server, stream=stream), BUDGET)
            result = run(agent(llm, world), language, how)
    finally:
        unregister_after_llm_call_hook(look)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert server.seen[0].get("stream", False) is stream
    assert "RF-58213" in result.raw
    # The agent's own messages keep everything.
    assert sum(message["role"] == "assistant" for message in held) >= CALLS - 1
    assert "[cut" not in str(held)
    session = session_of(llm)
    assert session is not None
    assert session._ratio != 1.0  # the provider's count came back


class Summing(Script):
    """As the script; where CrewAI asks for a summary it gives the first 60 words."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        if not seen[0].startswith("You are office"):
            self.sizes = self.sizes or [9]
            return " ".join(seen[-1].split()[:60])
        return super().next(seen)


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name in ("no trimming", "respect_context_window, a summary", "wrap()"):
        script, world = Summing(window=WINDOW), World()
        error: BaseException | None = None
        with serving(script) as server:
            llm = wrap(plain(server), BUDGET) if name == "wrap()" else plain(server)
            try:
                run(agent(llm, world, respect_context_window=name != "no trimming"))
            except (SystemExit, ToolExecutionFailedError) as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    page("CrewAI", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


@pytest.mark.parametrize(("how", "stream"), [("agent", False), ("agent", True), ("async", False)])
def test_after_an_overflow_it_tries_once_more_and_tighter(how: str, stream: bool) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        run(agent(wrap(plain(server, stream=stream), BUDGET * 2), world), how=how)
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 1


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Script(window=10)
    with serving(script) as server:
        llm = wrap(plain(server), BUDGET)
        with pytest.raises(LLMContextLengthExceededError, match="maximum context length is 10 tokens"):
            llm.call(GOALS["en"])
        with pytest.raises(SystemExit, match="Context length exceeded"):  # CrewAI's own end
            run(agent(llm, World(), respect_context_window=False))
    assert script.overflows == 2


def test_an_error_is_both_frameworks_own() -> None:
    with serving(Script()) as server:
        llm = wrap(plain(server), 50)
        with pytest.raises(NothingSafeFits, match="smallest safe request needs") as raised:
            llm.call("word " * 100)
        with pytest.raises(SystemExit, match="Context length exceeded"):
            run(agent(llm, World(), respect_context_window=False))
    assert isinstance(raised.value, LLMContextLengthExceededError)
    assert isinstance(raised.value, CannotFit)
    assert not raised.value.report.ok
    assert server.seen == []


class Recalling(Script):
    """Asks for the first mark it sees once something was cut."""

    answer: str = ""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        if seen == ["Another conversation."]:
            self.sizes.append(10)
            return "Yes."
        if self.answer == "asked":
            self.answer = seen[-1]
        if not self.answer and (match := re.search(r"ref ([a-z]{10,})", "\n".join(seen[2:]))):
            self.answer = "asked"
            self._count(list(seen))
            return [Call("recall_context", {"handle": match.group(1), "query": "", "lines": "", "characters": ""})]
        return super().next(seen)


@pytest.mark.parametrize("how", ["agent", "async", "crew"])
def test_the_agent_can_recall(how: str) -> None:
    """… also while another conversation goes on with the same LLM."""
    script, world = Recalling(), World()

    def elsewhere(context: Any) -> None:
        thread = threading.Thread(target=lambda: llm.call("Another conversation."))
        thread.start()
        thread.join()

    register_before_tool_call_hook(elsewhere)
    try:
        with serving(script) as server:
            llm = wrap(plain(server), BUDGET)
            run(agent(llm, world, recall_tool(llm)), how=how)
    finally:
        unregister_before_tool_call_hook(elsewhere)
    assert outcome(script, world).done, outcome(script, world)
    assert "page" in script.answer
    assert "Nothing is kept" not in script.answer


def test_an_llm_stays_what_it_was() -> None:
    with serving(Summing()) as server:
        llm = plain(server)
        wrapped = wrap(llm, 1_000)
        copied = copy.copy(wrapped)
        for each in (wrapped, copied):
            assert each.call("Say it again") == "Say it again"
    assert isinstance(wrapped, type(llm))
    assert wrapped.to_config_dict() == llm.to_config_dict()
    assert wrapped.model_dump() == llm.model_dump()
    assert session_of(copied) is session_of(wrapped)
    with pytest.raises(ConfigError, match="was not wrapped"):
        session_of(llm)
    with pytest.raises(ConfigError, match="takes an LLM"):
        wrap("gpt-4o", 1_000)  # type: ignore[type-var]


def messages_of(turns: Sequence[Turn]) -> list[Any]:
    out: list[Any] = [{"role": "system", "content": "Be brief.", "cache_breakpoint": True}]
    for at, turn in enumerate(turns):
        calls = [
            {"id": f"c{at}.{n}", "type": "function", "function": {"name": "look", "arguments": json.dumps(call[0])}}
            for n, call in enumerate(turn.calls)
        ]
        if calls:
            out.append({"role": "assistant", "content": turn.said, "tool_calls": calls, "raw_tool_call_parts": [at]})
        else:
            out.append({"role": "user" if turn.user else "assistant", "content": turn.said})
        out += [
            {"role": "tool", "tool_call_id": call["id"], "name": "look", "content": text or " "}
            for call, (_, text) in zip(calls, turn.calls, strict=True)
        ]
    return out


@settings(max_examples=40, deadline=None)
@given(histories())
def test_any_history_makes_the_round_trip(turns: list[Turn]) -> None:
    messages = messages_of(turns)
    check_round_trip(messages, _wire, lambda fitted, given: _back(fitted, _wire(given), given))


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    part = object()
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}, "vendor": 1}
    messages: list[Any] = [
        {"role": "system", "content": "Be brief.", "cache_breakpoint": True},
        {"role": "user", "content": "Look.", "files": {"a": part}},
        {"role": "assistant", "content": None, "tool_calls": [call], "raw_tool_call_parts": [part]},
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "one", "own": "x"},
    ]
    wire = _wire(messages)
    back = _back(Conversation(100_000).fit(wire), wire, messages)
    assert all(mine is theirs for mine, theirs in zip(back, messages, strict=True))
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    messages[3] = {**messages[3], "content": long, "cache_breakpoint": True}
    wire = _wire(messages)
    back = _back(Conversation(900).fit(wire), wire, messages)
    assert back[:3] == messages[:3]
    assert "[partial " in back[3]["content"]
    assert {**back[3], "content": long} == messages[3]


def test_the_program_of_the_docs_runs() -> None:
    check_program("CrewAI")
