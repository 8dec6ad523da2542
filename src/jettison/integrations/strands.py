"""Strands: a conversation manager that sends each model call what fits and leaves the agent's messages as they are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import CannotFit, SecretGone, SecretRefused
from jettison.integrations.common import MOST, Conversation, Conversations, missing
from jettison.integrations.overflow import is_overflow
from jettison.integrations.strands_messages import from_fitted, to_system, to_tools, to_wire
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from strands.agent.conversation_manager import ConversationManager
    from strands.hooks import AgentInitializedEvent, BeforeToolCallEvent
    from strands.middleware import InvokeModelStage, ModelStopReason
    from strands.tools.tools import PythonAgentTool
    from strands.types.exceptions import ContextWindowOverflowException
except ImportError as error:
    raise missing("strands-agents 1.62 or newer", "strands") from error

__all__ = ["JettisonConversationManager", "NothingSafeFits"]


class NothingSafeFits(CannotFit, ContextWindowOverflowException):
    """No safe context fits: both Jettison's error and Strands'. Its cause has the numbers, `report` the attempt."""


class JettisonConversationManager(ConversationManager):
    """`Agent(conversation_manager=JettisonConversationManager(32_000))`: each model call is sent what fits.

    It fits in the stage that calls the model, on Strands' own copy: `agent.messages`, sessions and snapshots keep the
    full history. The provider's usage flows back; after its overflow error the model is called once more, tighter.
    `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own window. `archive`, `vault`: as for `Session`;
    tools get the values of placeholders. `recall`: give the agent the tool `recall_context`.
    `most`: conversations that are remembered. Several agents may share one.

    Raises NothingSafeFits, which is a `ContextWindowOverflowException` and a `CannotFit`.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        recall: bool = False,
        most: int = MOST,
    ) -> None:
        super().__init__()
        self._conversations = Conversations(policy, wire="anthropic", archive=archive, vault=vault, most=most)
        self._recall = recall
        self.session: Conversation | None = None
        """Of the last call."""

    def register_hooks(self, registry: Any, **given: Any) -> None:
        super().register_hooks(registry, **given)
        registry.add_callback(AgentInitializedEvent, self._begin)
        registry.add_callback(BeforeToolCallEvent, self._fill)

    def _fill(self, event: Any) -> None:
        """With a vault: the tool gets the values of placeholders, where it may have them; else the agent is told why
        not. The agent's messages keep the placeholders."""
        session = self._conversations.find(_key(event.agent, event.agent.messages))
        if session is None:
            return
        use = event.tool_use
        try:
            filled = session.filled(use["name"], use["input"])
        except (SecretRefused, SecretGone) as refused:
            event.cancel_tool = str(refused)
            return
        if filled != use["input"]:
            event.tool_use = {**use, "input": filled}

    def apply_management(self, agent: Any, **given: Any) -> None:
        """Nothing: the agent's messages stay as they are."""

    def reduce_context(self, agent: Any, e: Exception | None = None, **given: Any) -> None:
        """Hands on what the second, tighter try came to; Strands calls this after an overflow error."""
        if e is not None:
            raise e

    def _begin(self, event: Any) -> None:
        event.agent.add_middleware(InvokeModelStage, self._call)
        if self._recall:
            spec = {"name": NAME, "description": DESCRIPTION, "inputSchema": {"json": dict(PARAMETERS)}}
            event.agent.tool_registry.register_tool(PythonAgentTool(NAME, spec, self._answer))

    def _answer(self, use: Mapping[str, Any], **state: Any) -> dict[str, Any]:
        agent = state["agent"]
        session = self._conversations.find(_key(agent, agent.messages))
        said = "Nothing was cut yet." if session is None else recall_answer(session, use["input"])
        return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": said}]}

    async def _call(self, context: Any, call: Callable[[Any], AsyncIterator[Any]]) -> AsyncIterator[Any]:
        """The stage that calls the model; its events are passed on as they come."""
        key = _key(context.agent, context.messages)
        session = self.session = self._conversations.of(key, context.model.get_config().get("model_id"))
        given = await _fit(session, context)
        try:
            async for event in call(given):
                _feed(session, event)
                yield event
            return
        except Exception as error:
            if not is_overflow(error):
                raise
            refused = error
        session.tighten()
        try:
            given = await _fit(session, context)
        except CannotFit as error:
            raise refused from error
        async for event in call(given):
            _feed(session, event)
            yield event


async def _fit(session: Conversation, context: Any) -> Any:
    wire = to_wire(context.messages)
    schema = context.structured_output_model.model_json_schema() if context.structured_output_model else None
    try:
        fitted = await session.afit(
            wire, system=to_system(context.system_prompt), tools=to_tools(context.tool_specs), response_schema=schema
        )
    except CannotFit as error:
        raised = NothingSafeFits(str(error))
        raised.report = error.report
        raise raised from error
    sent = from_fitted(fitted, wire, context.messages)
    if session.vault is None:
        return context.replace(messages=sent)
    prompt, specs = session.cleaned(context.system_prompt), session.cleaned(context.tool_specs)
    return context.replace(messages=sent, system_prompt=prompt, tool_specs=specs)


def _key(agent: Any, messages: Sequence[Any]) -> str:
    """The agent, and how its conversation began; Strands gives each message an id that lasts."""
    first = messages[0] if messages else {}
    return f"{agent.agent_id}/{first.get('tracking_id') or digest(str(first.get('content')))}"


def _feed(session: Conversation, event: Any) -> None:
    """The provider's count. Some count what came from a cache within the input tokens, some beside them; the total
    tells which."""
    if not isinstance(event, ModelStopReason):
        return
    used = event["stop"][2]
    count = used["inputTokens"]
    beside = used.get("cacheReadInputTokens", 0) + used.get("cacheWriteInputTokens", 0)
    if count + beside + used["outputTokens"] == used["totalTokens"]:
        count += beside
    if count:
        session.usage(input_tokens=count)
