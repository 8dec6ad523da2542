"""smolagents: its own agents (tool calling and code) against a scripted server on loopback, real tools."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
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
from jettison import CannotFit
from jettison.errors import BudgetUnreachable

pytest.importorskip("smolagents", reason="needs jettison[smolagents]")

from PIL import Image
from smolagents import (
    ActionStep,
    CodeAgent,
    LogLevel,
    MessageRole,
    OpenAIModel,
    PlanningStep,
    Tool,
    ToolCallingAgent,
)
from smolagents.memory import TaskStep, ToolCall
from smolagents.models import ChatMessage
from smolagents.monitoring import Timing
from smolagents.utils import AgentError, AgentGenerationError

from jettison.integrations.common import Conversation
from jettison.integrations.smolagents import JettisonModel, recall_tool
from jettison.integrations.smolagents_messages import from_fitted, to_wire

BUDGET = quarter()
WINDOW = window(BUDGET)


class Answering(Script):
    """Gives its answer by the tool that smolagents has for it."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        action = super().next(seen)
        return [Call("final_answer", {"answer": action})] if isinstance(action, str) else action


class Coding(Script):
    """Calls its tools in code."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        action = super().next(seen)
        if isinstance(action, str):
            return f"Thought: done.\n<code>\nfinal_answer({action!r})\n</code>"
        lines = [f"print({call.name}(**{call.arguments!r}))" for call in action]
        return "Thought: one step more.\n<code>\n" + "\n".join(lines) + "\n</code>"


def made(world: World, name: str) -> Tool:
    fields = TOOLS[name][1]
    given = ", ".join(fields)
    space: dict[str, Any] = {"run": world.run, "name": name, "Tool": Tool}
    body = f"return run(name, dict({', '.join(f'{key}={key}' for key in fields)}))"
    exec(f"class Made(Tool):\n    def forward(self, {given}):\n        {body}", space)  # it looks at the parameters
    tool = space["Made"]
    tool.name, tool.description, tool.output_type, tool.skip_forward_signature_validation = (
        name, TOOLS[name][0], "string", True,
    )  # fmt: skip
    tool.inputs = {key: {"type": kind, "description": key} for key, kind in fields.items()}
    return tool()  # type: ignore[no-any-return]


def plain(server: Server) -> Any:
    return OpenAIModel("gpt-4o", api_base=f"{server.url}/v1", api_key="none", client_kwargs={"max_retries": 0})


def agent(model: Any, world: World, *more: Tool, kind: Any = ToolCallingAgent, **settings: Any) -> Any:
    tools = [*(made(world, name) for name in TOOLS), *more]
    graph = kind(tools, model, max_steps=100, verbosity_level=LogLevel.OFF, **settings)
    graph.prompt_templates["system_prompt"] = SYSTEM
    return graph


class Ending(login.LoggingIn):
    """Gives its answer by the tool that smolagents has for it."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        action = super().next(seen)
        return [Call("final_answer", {"answer": action})] if isinstance(action, str) else action


def test_no_secret_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """smolagents has no hook before a tool: tools get placeholders."""
    login.into(monkeypatch, __name__)
    script, desk = Ending(), login.Desk()
    with serving(script) as server:
        agent(JettisonModel(plain(server), 3_000, vault=login.vault()), desk).run(login.GOAL)
        assert not found_in(server.seen)
    login.check(script, desk, hook=False)


@pytest.mark.parametrize(("language", "stream"), [("en", False), ("ru", True)])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, stream: bool) -> None:
    script, world = Answering(window=WINDOW), World()
    with serving(script) as server:
        model = JettisonModel(plain(server), BUDGET)
        graph = agent(model, world, stream_outputs=stream)
        graph.run(GOALS[language])
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert server.seen[0].get("stream", False) is stream
    # The memory keeps everything.
    steps = [step for step in graph.memory.steps if isinstance(step, ActionStep)]
    assert len(steps) == CALLS
    assert not any("[cut" in str(step.observations) for step in steps)
    assert model.session is not None
    assert model.session._ratio != 1.0  # the provider's count came back


def test_an_agent_that_writes_code() -> None:
    script, world = Coding(window=WINDOW), World()
    with serving(script) as server:
        agent(JettisonModel(plain(server), BUDGET), world, kind=CodeAgent).run(GOALS["en"])
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0


def test_what_is_lost_without_it() -> None:
    rows = {}

    def newest(step: Any, agent: Any) -> None:
        """What smolagents has for it: a callback that changes the memory. The task and the newest steps stay."""
        del agent.memory.steps[1:-8]

    for name in ("no trimming", "step callback, newest steps", "JettisonModel"):
        script, world = Answering(window=WINDOW), World()
        error: BaseException | None = None
        with serving(script) as server:
            model: Any = plain(server)
            given = {"step_callbacks": [newest]} if "callback" in name else {}
            try:
                agent(JettisonModel(model, BUDGET) if name == "JettisonModel" else model, world, **given).run(
                    GOALS["en"]
                )
            except AgentGenerationError as raised:
                error = raised.__cause__
        rows[name] = outcome(script, world, error)
    page("smolagents", rows)
    assert [row.done for row in rows.values()] == [False, False, True]


@pytest.mark.parametrize("stream", [False, True])
def test_after_an_overflow_it_tries_once_more_and_tighter(stream: bool) -> None:
    script, world = Answering(window=WINDOW), World()
    with serving(script) as server:
        agent(JettisonModel(plain(server), BUDGET * 2), world, stream_outputs=stream).run(GOALS["en"])
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 1


def test_an_error_is_the_frameworks_with_ours_as_its_cause() -> None:
    with serving(Answering()) as server, pytest.raises(AgentGenerationError, match="smallest safe request") as raised:
        agent(JettisonModel(plain(server), 50), World()).run(GOALS["en"])
    assert isinstance(raised.value.__cause__, BudgetUnreachable)
    assert server.seen == []


def test_an_overflow_that_cannot_be_mended_is_handed_on() -> None:
    script = Answering(window=10)
    with serving(script) as server, pytest.raises(AgentGenerationError, match="maximum context length is 10") as raised:
        agent(JettisonModel(plain(server), BUDGET), World()).run(GOALS["en"])
    assert raised.value.__cause__ is not None
    assert isinstance(raised.value.__cause__.__cause__, CannotFit)
    assert script.overflows == 1


class Recalling(Answering):
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


def test_the_agent_can_recall() -> None:
    script, world = Recalling(), World()
    with serving(script) as server:
        model = JettisonModel(plain(server), BUDGET)
        agent(model, world, recall_tool(model)).run(GOALS["en"])
    assert outcome(script, world).done, outcome(script, world)
    assert "page" in script.answer
    assert "Nothing is kept" not in script.answer


class Delegating(Answering):
    """A manager that hands the task on to an agent of its own, and gives what that one says."""

    managed = False

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        if "manager" not in seen[0]:
            return super().next(seen)
        self.managed = any("Refund RF-58213" in text for text in seen)
        if self.managed:
            self.sizes.append(1)
            return [Call("final_answer", {"answer": "told"})]
        self.sizes.append(1)
        return [Call("worker", {"task": GOALS["en"]})]


def test_a_managed_agent_has_a_conversation_of_its_own() -> None:
    script, world = Delegating(window=WINDOW), World()
    with serving(script) as server:
        model = JettisonModel(plain(server), BUDGET, conversation="shop")
        worker = agent(model, world, name="worker", description="Does the work.")
        manager = ToolCallingAgent([], model, managed_agents=[worker], verbosity_level=LogLevel.OFF)
        manager.prompt_templates["system_prompt"] = "You are the manager."
        assert manager.run("Have it done.") == "told"
    assert script.managed
    assert outcome(script, world).done, outcome(script, world)
    assert len(model._conversations._open) == 2
    assert all(key.startswith("shop/") for key in model._conversations._open)


def everything() -> list[ChatMessage]:
    now = Timing(0.0)
    steps: list[Any] = [
        TaskStep("Look at it.", task_images=[Image.new("RGB", (8, 8))]),
        PlanningStep([], ChatMessage(MessageRole.ASSISTANT, "p"), "First look, then tell.", now),
        ActionStep(1, now, model_output="I look.", observations='{"seen": "ж"}',
                   tool_calls=[ToolCall("look", {"at": "ж"}, "c1"), ToolCall("look", {"at": 1}, "c2")],
                   observations_images=[Image.new("RGB", (8, 8), "red")]),
        ActionStep(2, now, model_output="print(1)", observations="Execution logs:\n1", error=None,
                   tool_calls=[ToolCall("python_interpreter", "print(1)", "call_3")]),
        ActionStep(3, now, model_output="what?", error=AgentError("no code found", _Silent())),  # type: ignore[arg-type]
        ActionStep(4, now, error=AgentError("nothing came", _Silent())),  # type: ignore[arg-type]
        TaskStep("Thanks."),
    ]  # fmt: skip
    system = ChatMessage(MessageRole.SYSTEM, [{"type": "text", "text": "Be brief."}])
    return [system, *(message for step in steps for message in step.to_messages())]


class _Silent:
    def log_error(self, text: str) -> None:
        pass


def test_messages_come_back_as_they_are_when_nothing_is_evicted() -> None:
    messages = everything()
    wire = to_wire(messages)
    fitted = Conversation(100_000).fit(wire.messages)
    assert fitted.messages == wire.messages
    back = from_fitted(fitted, wire, messages)
    assert all(mine is theirs for mine, theirs in zip(back, messages, strict=True))
    assert [message.get("role") for message in wire.messages] == [
        "system", "user", "assistant", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool",
        "tool", "user",
    ]  # fmt: skip
    assert json.loads(wire.messages[4]["tool_calls"][0]["function"]["arguments"]) == {"calls": [{"at": "ж"}, {"at": 1}]}


def messages_of(turns: Sequence[Turn], most: int) -> list[Any]:
    out: list[Any] = [ChatMessage(MessageRole.SYSTEM, [{"type": "text", "text": "Be brief."}])]
    for at, turn in enumerate(turns):
        if turn.user:
            out += TaskStep(turn.said).to_messages()
            continue
        step = ActionStep(at, Timing(0.0), model_output=turn.said)
        if calls := turn.calls[:most]:
            step.tool_calls = [ToolCall("look", call[0], f"c{at}.{n}") for n, call in enumerate(calls)]
            step.observations = "\n".join(call[1] for call in calls)
        out += step.to_messages()
    return out


@settings(max_examples=40, deadline=None)
@given(histories())
def test_any_history_makes_the_round_trip(turns: list[Turn]) -> None:
    # Cut results of parallel calls may be read another way: they are one text.
    for most, small in ((3, 1_000_000), (1, 250)):
        check_round_trip(
            messages_of(turns, most),
            lambda given: to_wire(given).messages,
            lambda fitted, given: from_fitted(fitted, to_wire(given), given),
            small,
        )


def test_a_changed_message_keeps_its_shape() -> None:
    long = "\n".join(f"line {n}: nothing to see here, move on" for n in range(400))
    seen = f"Execution logs:\n{long}\nLast output from code snippet:\nNone"
    step = ActionStep(1, Timing(0.0), tool_calls=[ToolCall("python_interpreter", "print(1)", "c1")], observations=seen)
    messages = [*TaskStep("Look at it.").to_messages(), *step.to_messages()]
    before = [str(message) for message in messages]
    wire = to_wire(messages)
    back = from_fitted(Conversation(900).fit(wire.messages), wire, messages)
    assert back[:2] == messages[:2]
    text = back[2].content[0]["text"]
    assert "[partial " in text
    assert len(text) < len(long)
    assert text.startswith("Observation:\nExecution logs:\n")
    assert text.endswith("Last output from code snippet:\nNone")
    assert [str(message) for message in messages] == before


@pytest.mark.parametrize(("calls", "seen"), [(1, "ok"), (2, "all of them"), (2, "one\ntwo")])
def test_a_call_with_other_arguments_is_written_as_smolagents_does(calls: int, seen: str) -> None:
    step = ActionStep(
        1,
        Timing(0.0),
        observations=seen,
        tool_calls=[ToolCall("write", {"text": "long " * 9, "at": n}, f"c{n}") for n in range(calls)],
    )
    messages = [*TaskStep("Write it.").to_messages(), *step.to_messages()]
    wire = to_wire(messages)
    fitted = Conversation(9_000).fit(wire.messages)
    made = fitted.messages[1]["tool_calls"]
    for call in (made := json.loads(json.dumps(made))):
        call["function"]["arguments"] = call["function"]["arguments"].replace("long " * 9, "l")
    turn = {**fitted.messages[1], "tool_calls": made}
    changed = replace(fitted, messages=[fitted.messages[0], turn, *fitted.messages[2:]])
    back = from_fitted(changed, wire, messages)
    step.tool_calls = [ToolCall("write", {"text": "l", "at": n}, f"c{n}") for n in range(calls)]
    assert back[1] == step.to_messages()[0]
    assert back[2] is messages[2]


class Telling(Reading):
    """As the programs' script, with smolagents' way to answer."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        action = super().next(seen)
        return [Call("final_answer", {"answer": action})] if isinstance(action, str) else action


def test_the_program_of_the_docs_runs() -> None:
    check_program("smolagents", Telling())
