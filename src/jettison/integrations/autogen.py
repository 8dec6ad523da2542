"""AutoGen (autogen-core, autogen-agentchat): a model client that fits what it is sent, and a model context."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from jettison.budget import Budget
from jettison.integrations.autogen_messages import from_fitted, to_tools, to_wire
from jettison.integrations.common import MOST, Conversation, Conversations, Current, begun, guarded_async, missing
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import ChatCompletionClient, CreateResult, SystemMessage
    from autogen_core.tools import FunctionTool
except ImportError as error:
    raise missing("autogen-core 0.7.5 or newer", "autogen") from error

__all__ = ["JettisonClient", "JettisonContext", "recall_tool"]

_WIRE = "openai-chat"


class JettisonClient(ChatCompletionClient):
    """A client whose requests fit: `AssistantAgent("shop", JettisonClient(OpenAIChatCompletionClient(...), 32_000))`.

    The agent's model context stays full. The provider's usage flows back; after its overflow error there is one
    tighter try. `policy`: a `Policy`, a `Budget`, or tokens; None: the window of `model`, by default that of the
    wrapped client. `archive`, `vault`: as for `Session`. `conversation`: the key of all that it is sent; a conversation
    is known by its instructions and first message, so give each agent of a team a client of its own (they may wrap the
    same). `most`: conversations that are remembered. Raises CannotFit when nothing safe fits.
    """

    def __init__(
        self,
        client: ChatCompletionClient,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        conversation: str | None = None,
        model: str | None = None,
        most: int = MOST,
    ) -> None:
        self.client = client
        self._model = model or getattr(client, "_create_args", {}).get("model")
        self._conversations = Conversations(policy, wire=_WIRE, archive=archive, vault=vault, most=most)
        self._conversation = conversation
        self._current = Current()

    @property
    def session(self) -> Conversation | None:
        """Of the last call: in a tool that of the agent that called it. None before the first."""
        return self._current.get()

    async def create(self, messages: Sequence[Any], **given: Any) -> CreateResult:
        session = self._of(messages)

        async def send() -> Any:
            return await self.client.create(await _fit(session, messages, given), **given)

        result = await guarded_async(session, send)
        _feed(session, result)
        return result

    async def create_stream(self, messages: Sequence[Any], **given: Any) -> AsyncGenerator[Any, None]:
        session = self._of(messages)

        async def send() -> Any:
            return await begun(self.client.create_stream(await _fit(session, messages, given), **given))

        async for event in await guarded_async(session, send):
            _feed(session, event)
            yield event

    def _of(self, messages: Sequence[Any]) -> Conversation:
        first = digest([wire["content"] for wire in to_wire(messages[:2]).messages])
        key = f"{self._conversation}/{first}" if self._conversation else first
        return self._current.set(self._conversations.of(key, self._model))

    async def close(self) -> None:
        await self.client.close()

    def actual_usage(self) -> Any:
        return self.client.actual_usage()

    def total_usage(self) -> Any:
        return self.client.total_usage()

    def count_tokens(self, messages: Sequence[Any], **given: Any) -> int:
        return int(self.client.count_tokens(messages, **given))

    def remaining_tokens(self, messages: Sequence[Any], **given: Any) -> int:
        return int(self.client.remaining_tokens(messages, **given))

    @property
    def capabilities(self) -> Any:
        return self.client.capabilities

    @property
    def model_info(self) -> Any:
        return self.client.model_info


class JettisonContext(ChatCompletionContext):
    """A model context that gives what fits and stores everything: `AssistantAgent(model_context=JettisonContext(…))`.

    It is shown neither instructions nor tools: give `system` and `tools` (or their schemas) to have them counted. It
    sees no usage and no errors; `JettisonClient` does. What was decided is saved with the agent's state and goes on
    after `load_state`. `policy`, `archive`: as for `Session`; `model`: whose tokens are counted.

    Raises CannotFit when nothing safe fits.
    """

    component_type = "chat_completion_context"

    def __init__(
        self,
        policy: Policy | Budget | int,
        *,
        system: str | None = None,
        tools: Sequence[Any] = (),
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        conversation: str | None = None,
        model: str | None = None,
        initial_messages: list[Any] | None = None,
    ) -> None:
        super().__init__(initial_messages)
        self._policy, self._archive, self._conversation, self._model = policy, archive, conversation, model
        self._vault = vault
        self._system = [SystemMessage(content=system)] if system else []
        self._tools = to_tools(tools) or None
        self.session = self._begun()
        """Of this context."""

    def _begun(self) -> Conversation:
        return Conversation(
            self._policy,
            wire=_WIRE,
            model=self._model,
            archive=self._archive,
            vault=self._vault,
            conversation=self._conversation,
        )

    async def get_messages(self) -> list[Any]:
        if not self._messages:
            return []
        messages = [*self._system, *self._messages]
        wire = to_wire(messages)
        fitted = await self.session.afit(wire.messages, tools=self._tools)
        return from_fitted(fitted, wire, messages)[len(self._system) :]  # instructions are never evicted

    def counts(self, tool: Any) -> None:
        """One tool more that the agent has."""
        self._tools = [*(self._tools or []), *to_tools([tool])]

    async def clear(self) -> None:
        await super().clear()
        self.session = self._begun()

    async def save_state(self) -> Mapping[str, Any]:
        decided = base64.b64encode(self.session.save()).decode("ascii")
        return {**await super().save_state(), "jettison": decided}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        await super().load_state(state)
        self.session = self._begun()
        if decided := state.get("jettison"):
            loaded = Conversation.load(
                base64.b64decode(decided),
                self._policy,
                model=self._model,
                archive=self.session.archive,
                vault=self._vault,
            )
            self.session = cast(Conversation, loaded)


def recall_tool(source: JettisonClient | JettisonContext) -> FunctionTool:
    """The tool `recall_context` for `AssistantAgent(tools=[..., recall_tool(client)])`."""

    async def recall_context(handle: str = "", query: str = "", lines: str = "", characters: str = "") -> str:
        given = {"handle": handle, "query": query, "lines": lines, "characters": characters}
        session = source.session
        return "Nothing was cut yet." if session is None else recall_answer(session, given)

    made = FunctionTool(recall_context, DESCRIPTION, name=NAME)
    if isinstance(source, JettisonContext):
        source.counts(made)
    return made


async def _fit(session: Conversation, messages: Sequence[Any], given: Mapping[str, Any]) -> list[Any]:
    wire = to_wire(messages)
    output: Any = given.get("json_output")
    schema = None if output is None or isinstance(output, bool) else output.model_json_schema()
    fitted = await session.afit(wire.messages, tools=to_tools(given.get("tools") or ()) or None, response_schema=schema)
    return from_fitted(fitted, wire, messages)


def _feed(session: Conversation, result: Any) -> None:
    if isinstance(result, CreateResult) and not result.cached and result.usage.prompt_tokens:
        session.usage(input_tokens=result.usage.prompt_tokens)
