"""LlamaIndex: an LLM whose calls fit, and a memory that gives what fits and stores everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import CannotFit, ConfigError
from jettison.integrations.common import MOST, Conversation, Conversations, guarded, guarded_async, missing
from jettison.integrations.llama_index_messages import from_fitted, to_wire
from jettison.integrations.metering import counted
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from llama_index.core.base.llms.types import MessageRole
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.llms.function_calling import FunctionCallingLLM
    from llama_index.core.memory.types import BaseChatStoreMemory
    from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
    from llama_index.core.tools import FunctionTool
except ImportError as error:
    raise missing("llama-index-core 0.14.25 or newer", "llama-index") from error

__all__ = ["JettisonLLM", "JettisonMemory", "NothingSafeFits", "recall_tool"]


class NothingSafeFits(CannotFit, ValueError):
    """No safe context fits: Jettison's error, and a ValueError, as LlamaIndex's memories and prompt helper raise."""


class JettisonLLM(FunctionCallingLLM):
    """A model whose chat calls fit: `FunctionAgent(llm=JettisonLLM(OpenAI("gpt-4o"), 32_000), …)`.

    It is the model that is given, in agents, workflows and chat engines; each chat call, sync or async, streamed or
    not, is fitted with its tools. The provider's usage flows back; after its overflow error there is one tighter try.
    `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own window. `archive`, `vault`: as for `Session`; no
    hook fills calls, tools get placeholders.
    `conversation`: the key of all calls; else each is known by its tools and its first message that is no system
    message. `most`: conversations that are remembered. Completions (`complete`) are passed as they are.

    Raises NothingSafeFits, which is a `CannotFit` and a ValueError.
    """

    llm: Any
    _conversations: Any = PrivateAttr()
    _conversation: str | None = PrivateAttr()
    _session: Any = PrivateAttr(default=None)

    def __init__(
        self,
        llm: Any,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        conversation: str | None = None,
        most: int = MOST,
    ) -> None:
        names = ("callback_manager", "system_prompt", "messages_to_prompt", "completion_to_prompt", "output_parser")
        taken = {name: getattr(llm, name) for name in (*names, "pydantic_program_mode", "query_wrapper_prompt")}
        super().__init__(llm=llm, **taken)
        self._conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
        self._conversation = conversation

    @classmethod
    def class_name(cls) -> str:
        return "JettisonLLM"

    @property
    def session(self) -> Conversation | None:
        """Of the last call."""
        found: Conversation | None = self._session
        return found

    @property
    def metadata(self) -> Any:
        return self.llm.metadata

    def chat(self, messages: Sequence[Any], **given: Any) -> Any:
        session = self._of(messages, given)

        def send() -> Any:
            return self.llm.chat(_fit(session, messages, given), **given)

        response = guarded(session, send)
        _feed(session, response)
        return response

    async def achat(self, messages: Sequence[Any], **given: Any) -> Any:
        session = self._of(messages, given)

        async def send() -> Any:
            return await self.llm.achat(await _afit(session, messages, given), **given)

        response = await guarded_async(session, send)
        _feed(session, response)
        return response

    def stream_chat(self, messages: Sequence[Any], **given: Any) -> Iterator[Any]:
        session = self._of(messages, given)

        def send() -> tuple[list[Any], Iterator[Any]]:
            pieces = iter(self.llm.stream_chat(_fit(session, messages, given), **given))
            return [piece for piece in (next(pieces, None),) if piece is not None], pieces

        first, rest = guarded(session, send)  # a refusal comes in place of the first piece

        def go_on() -> Iterator[Any]:
            for pieces in (first, rest):
                for piece in pieces:
                    _feed(session, piece)
                    yield piece

        return go_on()

    async def astream_chat(self, messages: Sequence[Any], **given: Any) -> AsyncIterator[Any]:
        session = self._of(messages, given)

        async def send() -> tuple[list[Any], AsyncIterator[Any]]:
            pieces = aiter(await self.llm.astream_chat(await _afit(session, messages, given), **given))
            return [piece for piece in (await anext(pieces, None),) if piece is not None], pieces

        first, rest = await guarded_async(session, send)

        async def go_on() -> AsyncIterator[Any]:
            for piece in first:
                _feed(session, piece)
                yield piece
            async for piece in rest:
                _feed(session, piece)
                yield piece

        return go_on()

    def complete(self, prompt: str, formatted: bool = False, **given: Any) -> Any:
        return self.llm.complete(prompt, formatted=formatted, **given)

    async def acomplete(self, prompt: str, formatted: bool = False, **given: Any) -> Any:
        return await self.llm.acomplete(prompt, formatted=formatted, **given)

    def stream_complete(self, prompt: str, formatted: bool = False, **given: Any) -> Any:
        return self.llm.stream_complete(prompt, formatted=formatted, **given)

    async def astream_complete(self, prompt: str, formatted: bool = False, **given: Any) -> Any:
        return await self.llm.astream_complete(prompt, formatted=formatted, **given)

    def _prepare_chat_with_tools(self, tools: Sequence[Any], **given: Any) -> dict[str, Any]:
        prepared: dict[str, Any] = self.llm._prepare_chat_with_tools_compat(tools, **given)
        return prepared

    def _validate_chat_with_tools_response(self, response: Any, tools: Sequence[Any], **given: Any) -> Any:
        return self.llm._validate_chat_with_tools_response(response, tools, **given)

    def get_tool_calls_from_response(self, response: Any, error_on_no_tool_call: bool = True, **given: Any) -> Any:
        return self.llm.get_tool_calls_from_response(response, error_on_no_tool_call=error_on_no_tool_call, **given)

    def _of(self, messages: Sequence[Any], given: Mapping[str, Any]) -> Conversation:
        first = next((message for message in messages if message.role is not MessageRole.SYSTEM), None)
        names = [_name(tool) for tool in given.get("tools") or ()]
        key = self._conversation or digest([names, None if first is None else first.content])
        session: Conversation = self._conversations.of(key, self.metadata.model_name)
        self._session = session
        return session


class JettisonMemory(BaseChatStoreMemory):
    """A memory that gives what fits; its chat store keeps everything: `JettisonMemory.from_defaults(policy=24_000)`.

    It sees the history alone: what a chat engine counts itself (its prefix) is taken off, prompt, tools and what an
    agent has done in the running turn are not known to it. Leave room for them in `policy`, or use `JettisonLLM`
    beside it or in its place. Raises NothingSafeFits.
    """

    _fitting: Any = PrivateAttr(default=None)

    @classmethod
    def class_name(cls) -> str:
        return "JettisonMemory"

    @classmethod
    def from_defaults(
        cls,
        chat_history: Sequence[Any] | None = None,
        llm: Any = None,
        chat_store: BaseChatStore | None = None,
        chat_store_key: str = "chat_history",
        policy: Policy | Budget | int | None = None,
        archive: Archive | str | PathLike[str] | None = None,
    ) -> JettisonMemory:
        """`policy`: a `Policy`, a `Budget`, or tokens; None: the window of `llm`. `archive`: as for `Session`, then
        `chat_store_key` is the conversation's name in it."""
        from jettison.archive import opened

        model = None if llm is None else llm.metadata.model_name
        if policy is None:
            if model is None:
                raise ConfigError("give policy= or llm=")
            policy = Budget.for_model(model)
        made = cls(chat_store=chat_store or SimpleChatStore(), chat_store_key=chat_store_key)
        made._fitting = Conversation(
            policy,
            wire="openai-chat",
            model=model,
            archive=None if archive is None else opened(archive),
            conversation=None if archive is None else chat_store_key,
        )
        if chat_history:
            made.set(list(chat_history))
        return made

    @property
    def session(self) -> Conversation:
        """What it decides with. Raises ConfigError for a memory that was not made by `from_defaults`."""
        if self._fitting is None:
            raise ConfigError("make a JettisonMemory with from_defaults(policy=…)")
        found: Conversation = self._fitting
        return found

    def get(self, input: str | None = None, initial_token_count: int = 0, **given: Any) -> list[Any]:
        messages = self.get_all()
        return _fit(self.session, messages, {}, initial_token_count) if messages else []

    async def aget(self, input: str | None = None, initial_token_count: int = 0, **given: Any) -> list[Any]:
        messages = await self.aget_all()
        return await _afit(self.session, messages, {}, initial_token_count) if messages else []


def recall_tool(source: JettisonLLM | JettisonMemory) -> Any:
    """The tool `recall_context` for `FunctionAgent(tools=[..., recall_tool(llm)])`: what was cut in the conversation
    of the last call. With an `archive` and `conversation` given, all that was ever cut in it."""

    def recall_context(handle: str = "", query: str = "", lines: str = "", characters: str = "") -> str:
        if source.session is None:
            return "Nothing was cut yet."
        given = {"handle": handle, "query": query, "lines": lines, "characters": characters}
        return recall_answer(source.session, given)

    if isinstance(source, JettisonMemory) and source.session.policy.recall is None:
        source.session.policy = replace(source.session.policy, recall=True)  # a memory is not shown the tools
    return FunctionTool.from_defaults(recall_context, name=NAME, description=DESCRIPTION)


def _fit(session: Conversation, messages: Sequence[Any], given: Mapping[str, Any], beside: int = 0) -> list[Any]:
    wire = to_wire(messages)
    try:
        fitted = session.fit(wire, tools=_tools(given), prior_tokens=beside or None)
    except CannotFit as error:
        raise _named(error) from error
    return from_fitted(fitted, wire, messages)


async def _afit(session: Conversation, messages: Sequence[Any], given: Mapping[str, Any], beside: int = 0) -> list[Any]:
    wire = to_wire(messages)
    try:
        fitted = await session.afit(wire, tools=_tools(given), prior_tokens=beside or None)
    except CannotFit as error:
        raise _named(error) from error
    return from_fitted(fitted, wire, messages)


def _named(error: CannotFit) -> NothingSafeFits:
    raised = NothingSafeFits(str(error))
    raised.report = error.report
    return raised


def _tools(given: Mapping[str, Any]) -> Any:
    """The tools of a call, as the class of its provider has prepared them."""
    return [tool if isinstance(tool, Mapping) else {"name": _name(tool)} for tool in given.get("tools") or ()] or None


def _name(tool: Any) -> str:
    body = tool.get("function", tool) if isinstance(tool, Mapping) else tool
    return str(body.get("name") if isinstance(body, Mapping) else getattr(body, "name", body))


def _feed(session: Conversation, response: Any) -> None:
    """The provider's count, where its class hands it on."""
    if count := counted(_read(response.raw, "usage") or _read(response.raw, "usage_metadata")):
        session.usage(input_tokens=count)


def _read(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
