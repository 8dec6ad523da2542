"""OpenAI Agents SDK: an input filter, a model, and a session, each of which sends or gives only what fits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import ConfigError, SecretGone, SecretRefused
from jettison.integrations.common import MOST, Conversation, Conversations, Current, begun, guarded_async, missing
from jettison.integrations.openai_agents_items import elsewhere, fit, listed, on_server, schemas
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from agents import FunctionTool, Model, RunContextWrapper
    from agents.memory import SessionABC
    from agents.run_config import CallModelData, ModelInputData
except ImportError as error:
    raise missing("openai-agents", "openai-agents") from error

__all__ = ["JettisonFilter", "JettisonModel", "JettisonSession", "recall_tool", "rehydrating"]

_WIRE = "openai-responses"


class _Fitting:
    """What filter and model share. Settings and errors as for `Conversations`."""

    def __init__(
        self,
        policy: Policy | Budget | int | None,
        archive: Archive | str | PathLike[str] | None,
        vault: Vault | None,
        conversation: str | None,
        most: int,
    ) -> None:
        self._conversations = Conversations(policy, wire=_WIRE, archive=archive, vault=vault, most=most)
        self._conversation, self._vault = conversation, vault
        self.current = Current()
        self.session: Conversation | None = None
        """Of the last call."""

    def _of(self, items: Sequence[Any], model: str | None) -> Conversation:
        key = self._conversation or digest(items[0] if items else None)
        self.session = self._conversations.of(key, model)
        return self.current.set(self.session)

    def _passed(self, given: Any, system: Any, model: str | None) -> tuple[Any, Any]:
        """Items that go on from some on the server: as they are, secrets aside."""
        if self._vault is None:
            return given, system
        if self._conversation is None:
            raise ConfigError("with a vault a conversation that is kept on the server needs a name: conversation=…")
        return self._of(listed(given), model).vaulted(listed(given), system)


class JettisonFilter(_Fitting):
    """`RunConfig(call_model_input_filter=JettisonFilter(32_000))`: what is sent fits, what is stored stays full.

    `policy`, `archive`, `vault`, `most`: as for `Conversations`; without a policy the window of the agent's model, by
    its name. With a vault give the agent `rehydrating(filter, tools)`; a filter is shown no schemas.
    `conversation`: the key of all runs; else each is known by its first item. A filter stands before the call: it
    sees no usage, and an overflow error is not tried again; `JettisonModel` does both.

    CannotFit ends the run. Items that go on from a conversation on the server are passed as they are, secrets
    aside; with a vault such a conversation needs its name: else ConfigError.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        conversation: str | None = None,
        most: int = MOST,
    ) -> None:
        super().__init__(policy, archive, vault, conversation, most)
        self._listed: dict[str, list[Any]] = {}

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        given, agent = data.model_data, data.agent
        model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", None)
        if on_server(given.input):
            passed, system = self._passed(given.input, given.instructions, model)
            same = passed is given.input and system is given.instructions
            return given if same else ModelInputData(input=passed, instructions=system)
        session = self._of(given.input, model)
        tools = schemas(await self._tools(agent, data.context), agent.handoffs)
        fitted = await session.afit(given.input, system=given.instructions, tools=tools or None)
        items: Any = fitted.messages
        return ModelInputData(input=items, instructions=fitted.system)

    async def _tools(self, agent: Any, context: Any) -> list[Any]:
        """The agent's tools; those of MCP servers are asked for once."""
        if not agent.mcp_servers:
            return list(agent.tools)
        if agent.name not in self._listed:
            self._listed[agent.name] = await agent.get_all_tools(RunContextWrapper(context))
        return self._listed[agent.name]


class JettisonModel(Model, _Fitting):
    """A model whose calls fit: `Agent(model=JettisonModel(OpenAIResponsesModel(...), 32_000))`.

    As `JettisonFilter`, and the provider's usage flows back; after its overflow error there is one tighter try.
    """

    def __init__(
        self,
        model: Model,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        conversation: str | None = None,
        most: int = MOST,
    ) -> None:
        _Fitting.__init__(self, policy, archive, vault, conversation, most)
        self._model = model
        self.model = getattr(model, "model", None)

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        tracing: Any,
        **given: Any,
    ) -> Any:
        rest = (output_schema, handoffs, tracing)
        if elsewhere(input, given):
            items, system = self._passed(input, system_instructions, self.model)
            return await self._model.get_response(system, items, model_settings, tools, *rest, **given)
        session = self._of(listed(input), self.model)

        async def send() -> Any:
            system, items, sent = await fit(session, system_instructions, input, tools, handoffs, output_schema)
            return await self._model.get_response(system, items, model_settings, sent, *rest, **given)

        response = await guarded_async(session, send)
        _feed(session, response.usage)
        return response

    async def stream_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        tracing: Any,
        **given: Any,
    ) -> AsyncIterator[Any]:
        rest = (output_schema, handoffs, tracing)
        if elsewhere(input, given):
            items, system = self._passed(input, system_instructions, self.model)
            async for event in self._model.stream_response(system, items, model_settings, tools, *rest, **given):
                yield event
            return
        session = self._of(listed(input), self.model)

        async def send() -> AsyncIterator[Any]:
            system, items, sent = await fit(session, system_instructions, input, tools, handoffs, output_schema)
            return await begun(self._model.stream_response(system, items, model_settings, sent, *rest, **given))

        async for event in await guarded_async(session, send):
            _feed(session, getattr(getattr(event, "response", None), "usage", None))
            yield event

    def get_retry_advice(self, request: Any) -> Any:
        return self._model.get_retry_advice(request)

    async def close(self) -> None:
        await self._model.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self._model._cleanup_on_run_end(owner)


class JettisonSession(SessionABC):
    """A session that gives what fits and stores everything: `JettisonSession(SQLiteSession("chat-17"), 32_000)`.

    It sees the history alone, at the start of a run: leave room in `policy` for instructions, tools and the run
    itself, or use it beside a filter or a model. `get_items(limit=…)` gives the newest ones as they are.
    A vault is given to the filter or model: here the running turn is not seen.
    """

    def __init__(
        self,
        session: Any,
        policy: Policy | Budget | int,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        model: str | None = None,
    ) -> None:
        from jettison.archive import opened

        kept = None if archive is None else opened(archive)
        name = session.session_id if archive is not None else None
        self.inner, self.session_id = session, session.session_id
        self.session_settings = getattr(session, "session_settings", None)
        self.session = Conversation(policy, wire=_WIRE, model=model, archive=kept, conversation=name)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        items = await (self.inner.get_items() if limit is None else self.inner.get_items(limit))
        if not items or limit is not None or on_server(items):
            return list(items)
        return list((await self.session.afit(items)).messages)

    async def add_items(self, items: list[Any]) -> None:
        await self.inner.add_items(items)

    async def pop_item(self) -> Any:
        return await self.inner.pop_item()

    async def clear_session(self) -> None:
        await self.inner.clear_session()


def recall_tool(source: JettisonFilter | JettisonModel | JettisonSession) -> FunctionTool:
    """The tool `recall_context` for `Agent(tools=[..., recall_tool(filter)])`: what was cut in the last call's
    conversation. With an `archive` and `conversation` given, all that was ever cut in it."""

    async def invoke(context: Any, arguments: str) -> str:
        if source.session is None:
            return "Nothing was cut yet."
        return recall_answer(source.session, arguments)

    return FunctionTool(
        name=NAME,
        description=DESCRIPTION,
        params_json_schema=dict(PARAMETERS),
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def rehydrating(source: JettisonFilter | JettisonModel, tools: Sequence[Any]) -> list[Any]:
    """The tools for `Agent(tools=rehydrating(filter, [login, pay]))`: each gets the values of the placeholders in its
    arguments, where it may have them; else the agent is told why not. Other tools than function tools stay as they are.

    Items, sessions and traces keep the placeholders. `source` needs a vault.
    """
    return [_rehydrating(source, tool) if isinstance(tool, FunctionTool) else tool for tool in tools]


def _rehydrating(source: JettisonFilter | JettisonModel, tool: FunctionTool) -> FunctionTool:
    made = copy(tool)
    invoke = made.on_invoke_tool

    async def filled(context: Any, arguments: str) -> Any:
        session = source.current.here()
        if session is not None:
            try:
                arguments = session.filled(tool.name, arguments)
            except (SecretRefused, SecretGone) as refused:
                return str(refused)
        return await invoke(context, arguments)

    made.on_invoke_tool = filled
    return made


def _feed(session: Conversation, usage: Any) -> None:
    if usage is not None and usage.input_tokens:
        session.usage(input_tokens=usage.input_tokens)
