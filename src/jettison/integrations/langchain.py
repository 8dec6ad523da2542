"""LangChain and LangGraph: a middleware for `create_agent` (deepagents too), a hook for `create_react_agent`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import CannotFit, SecretGone, SecretRefused
from jettison.integrations.common import MOST, Conversation, Conversations, guarded, guarded_async, missing
from jettison.integrations.langchain_messages import from_fitted, sent_tools, to_tools, to_wire
from jettison.plan import Fitted, Report
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from langchain_core.messages import RemoveMessage, SystemMessage, ToolMessage
    from langchain_core.runnables import RunnableLambda
    from langchain_core.tools import tool
    from langgraph.config import get_config
    from langgraph.graph.message import REMOVE_ALL_MESSAGES
except ImportError as error:
    raise missing("langchain and langgraph", "langchain") from error
try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain.tools import ToolRuntime
except ImportError as error:
    raise missing("langchain 1.0 or newer", "langchain") from error
try:
    from langchain_core.exceptions import ContextOverflowError
except ImportError:  # before langchain-core 1.2

    class ContextOverflowError(Exception):  # type: ignore[no-redef]
        """Stands in for LangChain's own."""


__all__ = ["JettisonMiddleware", "NothingSafeFits", "pre_model_hook"]


class NothingSafeFits(CannotFit, ContextOverflowError):
    """No safe context fits: both Jettison's error and LangChain's. Its cause has the numbers, `report` the attempt."""


class _Fitter:
    """Fits LangChain messages, by conversation: the thread, and its first message (sub-agents share a thread)."""

    def __init__(self, policy: Any, archive: Any, vault: Any, most: int) -> None:
        self.conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)

    def of(self, messages: Sequence[Any], model: str | None = None) -> Conversation:
        return self.conversations.of(key_of(messages), model)

    def fit(self, session: Conversation, system: Any, messages: Sequence[Any], tools: Sequence[Any]) -> Sent:
        wire, given = self._given(system, messages, tools)
        try:
            fitted = session.fit(wire, tools=given)
        except CannotFit as error:
            raise _overflow(error) from error
        return self._back(session, fitted, wire, system, messages, tools)

    async def afit(self, session: Conversation, system: Any, messages: Sequence[Any], tools: Sequence[Any]) -> Sent:
        wire, given = self._given(system, messages, tools)
        try:
            fitted = await session.afit(wire, tools=given)
        except CannotFit as error:
            raise _overflow(error) from error
        return self._back(session, fitted, wire, system, messages, tools)

    def _given(self, system: Any, messages: Sequence[Any], tools: Sequence[Any]) -> tuple[list[Any], Any]:
        return to_wire([system, *messages] if system else messages), to_tools(tools) or None

    def _back(
        self, session: Conversation, fitted: Fitted, wire: list[Any], system: Any, messages: Any, tools: Any
    ) -> Sent:
        back = from_fitted(fitted, wire, [system, *messages] if system else messages, session.cleaned)
        if system:  # instructions are never evicted
            system, *back = back
        return Sent(back, system, sent_tools(fitted.tools, tools))


@dataclass(frozen=True, slots=True)
class Sent:
    """The parts of a request as they are sent."""

    messages: list[Any]
    system: Any
    tools: list[Any]

    def into(self, request: Any) -> Any:
        """The request with them; what is as it was stays out of the change."""
        changed: dict[str, Any] = {"messages": self.messages}
        if self.system is not request.system_message:
            changed["system_message"] = self.system
        if any(new is not old for new, old in zip(self.tools, request.tools, strict=True)):
            changed["tools"] = self.tools
        return request.override(**changed)


class JettisonMiddleware(AgentMiddleware):
    """Fits what each model call is sent: `create_agent(model, tools, middleware=[JettisonMiddleware(32_000)])`.

    `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own window. `archive`, `vault`: as for `Session`;
    tools get the values of placeholders in `wrap_tool_call`, so middleware before it sees placeholders. `recall`: give
    the agent the tool `recall_context`. `persist`: also write the fitted history back into the thread's state;
    else the state and its checkpoints keep the full history. `most`: conversations that are remembered.

    Raises NothingSafeFits, which is a `ContextOverflowError` and a `CannotFit`, ConfigError for settings that cannot
    work. Put it last in the list, so that it sees what other middleware made of the request.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        recall: bool = False,
        persist: bool = False,
        most: int = MOST,
    ) -> None:
        super().__init__()
        self._fitter = _Fitter(policy, archive, vault, most)
        self._persist = persist
        self._system: dict[str, tuple[Any, Sequence[Any]]] = {}
        self.report: Report | None = None
        """Of the last call, of whichever conversation."""
        self.tools = [_recall_tool(self._fitter)] if recall else []

    def session(self, messages: Sequence[Any]) -> Conversation | None:
        """The session of a conversation, by its messages; call it within the graph, or give those of a run without
        a thread. None before its first call."""
        return self._fitter.conversations.find(key_of(messages))

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        session = self._begin(request)

        def send() -> Any:
            fitted = self._fitter.fit(session, request.system_message, request.messages, request.tools)
            return handler(fitted.into(request))

        return self._end(session, guarded(session, send))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        session = self._begin(request)

        async def send() -> Any:
            fitted = await self._fitter.afit(session, request.system_message, request.messages, request.tools)
            return await handler(fitted.into(request))

        return self._end(session, await guarded_async(session, send))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """With a vault: the tool gets the values of placeholders, where it may have them; else the agent is told why
        not. The call in the state keeps its placeholders."""
        filled = self._filled(request)
        return filled if isinstance(filled, ToolMessage) else handler(filled)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        filled = self._filled(request)
        return filled if isinstance(filled, ToolMessage) else await handler(filled)

    def _filled(self, request: Any) -> Any:
        """The request of a tool with real arguments, or the refusal as its answer."""
        session, call = self.session(_get(request.state, "messages")), request.tool_call
        if session is None:
            return request
        try:
            args = session.filled(call["name"], call["args"])
        except (SecretRefused, SecretGone) as refused:
            return ToolMessage(str(refused), tool_call_id=call["id"], name=call["name"], status="error")
        return request if args == call["args"] else request.override(tool_call={**call, "args": args})

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """With `persist`: the state's messages, fitted. From the second call on, when prompt and tools are known."""
        messages = state["messages"]
        known = self._known(messages)
        if known is None:
            return None
        return _update(messages, self._fitter.fit(self._fitter.of(messages), known[0], messages, known[1]).messages)

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        messages = state["messages"]
        known = self._known(messages)
        if known is None:
            return None
        fitted = await self._fitter.afit(self._fitter.of(messages), known[0], messages, known[1])
        return _update(messages, fitted.messages)

    def _known(self, messages: Sequence[Any]) -> tuple[Any, Sequence[Any]] | None:
        return self._system.get(key_of(messages)) if self._persist else None

    def _begin(self, request: Any) -> Conversation:
        if self._persist:
            self._system[key_of(request.messages)] = (request.system_message, request.tools)
        return self._fitter.of(request.messages, _name_of(request.model))

    def _end(self, session: Conversation, response: Any) -> Any:
        self.report = session.report
        answer = getattr(response, "model_response", response)  # ExtendedModelResponse has it inside
        for message in getattr(answer, "result", [answer]):
            _feed(session, message)
        return response


def pre_model_hook(
    policy: Policy | Budget | int | None = None,
    *,
    model: str | None = None,
    system: str | None = None,
    tools: Sequence[Any] = (),
    persist: bool = False,
    archive: Archive | str | PathLike[str] | None = None,
    vault: Vault | None = None,
    most: int = MOST,
) -> Any:
    """For `create_react_agent(..., pre_model_hook=pre_model_hook(32_000, system=prompt, tools=tools))`.

    `system` and `tools` are counted: LangGraph does not show them to the hook. `persist`: overwrite the state's
    messages too. A hook stands before the call, so a provider's overflow error is not tried again; usage is read from
    the last answer. Other settings and errors as for `JettisonMiddleware`.
    """
    fitter = _Fitter(policy, archive, vault, most)
    prompt = SystemMessage(system) if system else None

    def begun(state: Any) -> tuple[Conversation, Any]:
        messages = _get(state, "messages")
        session = fitter.of(messages, model)
        last = next((message for message in reversed(messages) if message.type == "ai"), None)
        if last is not None:
            _feed(session, last)
        return session, messages

    def ended(messages: Any, fitted: list[Any]) -> dict[str, Any]:
        return {"llm_input_messages": fitted, **(_update(messages, fitted) or {} if persist else {})}

    def hook(state: Any) -> dict[str, Any]:
        session, messages = begun(state)
        return ended(messages, fitter.fit(session, prompt, messages, tools).messages)

    async def ahook(state: Any) -> dict[str, Any]:
        session, messages = begun(state)
        return ended(messages, (await fitter.afit(session, prompt, messages, tools)).messages)

    return RunnableLambda(hook, afunc=ahook, name="jettison")


def key_of(messages: Sequence[Any]) -> str:
    """The conversation's key: its thread, where there is one, and its first message."""
    try:
        thread = get_config().get("configurable", {}).get("thread_id")
    except RuntimeError:  # outside of a graph
        thread = None
    first = messages[0].id or digest(str(messages[0].content)) if messages else "empty"
    return f"{thread}/{first}" if thread else str(first)


def _get(state: Any, name: str) -> Any:
    return state[name] if isinstance(state, dict) else getattr(state, name)


def _name_of(model: Any) -> str | None:
    """What the provider calls the model; LangChain's models have it under one of two names."""
    for name in ("model_name", "model"):
        if isinstance(value := getattr(model, name, None), str):
            return value
    return None


def _feed(session: Conversation, message: Any) -> None:
    """The provider's count: LangChain's `input_tokens` has what came from the cache in it."""
    used = getattr(message, "usage_metadata", None)
    if used and used.get("input_tokens"):
        session.usage(input_tokens=used["input_tokens"])


def _update(messages: Sequence[Any], fitted: list[Any]) -> dict[str, Any] | None:
    if len(fitted) == len(messages) and all(a is b for a, b in zip(messages, fitted, strict=True)):
        return None
    return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *fitted]}


def _overflow(error: CannotFit) -> NothingSafeFits:
    raised = NothingSafeFits(str(error))
    raised.report = error.report
    return raised


def _recall_tool(fitter: _Fitter) -> Any:
    @tool(NAME, description=DESCRIPTION)
    def recall_context(
        runtime: ToolRuntime, handle: str = "", query: str = "", lines: str = "", characters: str = ""
    ) -> str:
        given = {"handle": handle, "query": query, "lines": lines, "characters": characters}
        return recall_answer(fitter.of(_get(runtime.state, "messages")), given)

    return recall_context
