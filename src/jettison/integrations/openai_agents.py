"""OpenAI Agents SDK: an input filter, a model, and a session, each of which sends or gives only what fits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from os import PathLike
from typing import Any

from jettison.budget import Budget
from jettison.integrations.common import MOST, Conversation, Conversations, begun, guarded_async, missing
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

try:
    from agents import FunctionTool, Model, RunContextWrapper
    from agents.memory import SessionABC
    from agents.run_config import CallModelData, ModelInputData
except ImportError as error:
    raise missing("openai-agents", "openai-agents") from error

__all__ = ["JettisonFilter", "JettisonModel", "JettisonSession", "recall_tool"]

_WIRE = "openai-responses"


class _Fitting:
    """What filter and model share. Settings and errors as for `Conversations`."""

    def __init__(
        self,
        policy: Policy | Budget | int | None,
        archive: Archive | str | PathLike[str] | None,
        conversation: str | None,
        most: int,
    ) -> None:
        self._conversations = Conversations(policy, wire=_WIRE, archive=archive, most=most)
        self._conversation = conversation
        self.session: Conversation | None = None
        """Of the last call."""

    def _of(self, items: Sequence[Any], model: str | None) -> Conversation:
        key = self._conversation or digest(items[0] if items else None)
        self.session = self._conversations.of(key, model)
        return self.session


class JettisonFilter(_Fitting):
    """`RunConfig(call_model_input_filter=JettisonFilter(32_000))`: what is sent fits, what is stored stays full.

    `policy`, `archive`, `most`: as for `Conversations`; without a policy the window of the agent's model, by its name.
    `conversation`: the key of all runs; else each is known by its first item. A filter stands before the call: it
    sees no usage, and an overflow error is not tried again; `JettisonModel` does both.

    CannotFit ends the run. Items that go on from a conversation on the server are passed as they are.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        conversation: str | None = None,
        most: int = MOST,
    ) -> None:
        super().__init__(policy, archive, conversation, most)
        self._listed: dict[str, list[Any]] = {}

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        given, agent = data.model_data, data.agent
        if _on_server(given.input):
            return given
        model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", None)
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
        conversation: str | None = None,
        most: int = MOST,
    ) -> None:
        _Fitting.__init__(self, policy, archive, conversation, most)
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
        rest = (model_settings, tools, output_schema, handoffs, tracing)
        if _elsewhere(input, given):
            return await self._model.get_response(system_instructions, input, *rest, **given)
        session = self._of(_listed(input), self.model)

        async def send() -> Any:
            system, items = await _fit(session, system_instructions, input, tools, handoffs, output_schema)
            return await self._model.get_response(system, items, *rest, **given)

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
        rest = (model_settings, tools, output_schema, handoffs, tracing)
        if _elsewhere(input, given):
            async for event in self._model.stream_response(system_instructions, input, *rest, **given):
                yield event
            return
        session = self._of(_listed(input), self.model)

        async def send() -> AsyncIterator[Any]:
            system, items = await _fit(session, system_instructions, input, tools, handoffs, output_schema)
            return await begun(self._model.stream_response(system, items, *rest, **given))

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
        if not items or limit is not None or _on_server(items):
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


def schemas(tools: Sequence[Any], handoffs: Sequence[Any]) -> list[dict[str, Any]]:
    """Tools and handoffs as the Responses API declares them, as far as they have a weight that is known here."""
    listed: list[dict[str, Any]] = []
    for tool in tools:
        entry = {"type": "function", "name": tool.name}
        for field, name in (("description", "description"), ("parameters", "params_json_schema")):
            if value := getattr(tool, name, None):
                entry[field] = value
        listed.append(entry)
    for handoff in handoffs:
        name = getattr(handoff, "tool_name", None) or f"transfer_to_{handoff.name}"
        said = getattr(handoff, "tool_description", None) or getattr(handoff, "handoff_description", None) or ""
        parameters = getattr(handoff, "input_json_schema", {})
        listed.append({"type": "function", "name": name, "description": said, "parameters": parameters})
    return listed


async def _fit(
    session: Conversation, system: str | None, given: Any, tools: Any, handoffs: Any, output_schema: Any
) -> tuple[str | None, Any]:
    schema = None
    if output_schema is not None and not output_schema.is_plain_text():
        schema = output_schema.json_schema()
    items = _listed(given)
    listed = schemas(tools, handoffs) or None
    fitted = await session.afit(items, system=system, tools=listed, response_schema=schema)
    same = isinstance(given, str) and fitted.messages == items
    return fitted.system, given if same else fitted.messages


def _listed(given: Any) -> list[Any]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def _elsewhere(given: Any, settings: dict[str, Any]) -> bool:
    """Whether the history is kept on the server, or in a stored prompt."""
    named = settings.get("previous_response_id") or settings.get("conversation_id")
    return bool(named) or not given or _on_server(_listed(given))


def _on_server(items: Sequence[Any]) -> bool:
    """Whether the items go on from some that are not here: references, or outputs whose calls are elsewhere."""
    calls: set[Any] = set()
    for item in items:
        sort = item.get("type") if isinstance(item, dict) else None
        if sort == "item_reference":
            return True
        if isinstance(sort, str) and sort.endswith("_call"):
            calls.add(item.get("call_id"))
        elif isinstance(sort, str) and sort.endswith("_call_output") and item.get("call_id") not in calls:
            return True
    return False


def _feed(session: Conversation, usage: Any) -> None:
    if usage is not None and usage.input_tokens:
        session.usage(input_tokens=usage.input_tokens)
