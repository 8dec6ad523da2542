"""Haystack: a chat generator whose calls fit, and a compactor for its compaction hook."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import BudgetUnreachable, CannotFit, ConfigError
from jettison.integrations.common import MOST, Conversation, Conversations, guarded, guarded_async, missing
from jettison.integrations.haystack_messages import from_fitted, to_tools, to_wire
from jettison.integrations.metering import counted
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from haystack import component
    from haystack.core.serialization import component_to_dict, default_from_dict, default_to_dict
    from haystack.dataclasses import ChatMessage, ChatRole
    from haystack.hooks.compaction.types import Compactor
    from haystack.tools import Tool, ToolsType
    from haystack.utils.deserialization import deserialize_component_inplace
except ImportError as error:
    raise missing("haystack-ai 3.4.1 or newer", "haystack") from error

__all__ = ["JettisonChatGenerator", "JettisonCompactor", "NothingSafeFits", "recall_tool"]


class NothingSafeFits(CannotFit, RuntimeError):
    """No safe context fits: Jettison's error, and a RuntimeError, as Haystack's components raise them."""


@component
class JettisonChatGenerator:
    """A chat generator whose calls fit: `Agent(chat_generator=JettisonChatGenerator(OpenAIChatGenerator(), 32_000))`.

    It is the generator that is given, in agents and pipelines, sync and async, streamed or not. The agent's state and
    result keep the full history. The provider's usage flows back; after its overflow error there is one tighter try.
    `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own window. `archive`, `vault`: as for `Session`; no
    hook fills calls, tools get placeholders.
    `conversation`: the key of all calls; else each is known by its tools and its first message that is no system
    message. `most`: conversations that are remembered.

    Raises NothingSafeFits, which is a `CannotFit` and a RuntimeError. Only settings that are plain values can be
    serialised (`to_dict`); others are a ConfigError there.
    """

    def __init__(
        self,
        chat_generator: Any,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        conversation: str | None = None,
        most: int = MOST,
    ) -> None:
        self.chat_generator = chat_generator
        self.session: Conversation | None = None
        """Of the last call."""
        self._settings = {"policy": policy, "archive": archive, "conversation": conversation, "most": most}
        self._conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
        self._conversation = conversation

    def to_dict(self) -> dict[str, Any]:
        for name, value in self._settings.items():
            if not isinstance(value, int | str | None):
                raise ConfigError(
                    f"{name}= is a {type(value).__name__}, which cannot be serialised: give a plain value"
                )
        inner = component_to_dict(self.chat_generator, name="chat_generator")
        made: dict[str, Any] = default_to_dict(self, chat_generator=inner, **self._settings)
        return made

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> JettisonChatGenerator:
        deserialize_component_inplace(data["init_parameters"], key="chat_generator")
        made: JettisonChatGenerator = default_from_dict(cls, data)
        return made

    def warm_up(self) -> None:
        if hasattr(self.chat_generator, "warm_up"):
            self.chat_generator.warm_up()

    def close(self) -> None:
        if hasattr(self.chat_generator, "close"):
            self.chat_generator.close()

    async def warm_up_async(self) -> None:
        if hasattr(self.chat_generator, "warm_up_async"):
            await self.chat_generator.warm_up_async()
        else:
            self.warm_up()

    async def close_async(self) -> None:
        if hasattr(self.chat_generator, "close_async"):
            await self.chat_generator.close_async()
        else:
            self.close()

    @component.output_types(replies=list[ChatMessage])
    def run(
        self,
        messages: list[ChatMessage] | str,
        streaming_callback: Any = None,
        generation_kwargs: dict[str, Any] | None = None,
        tools: ToolsType | None = None,
    ) -> dict[str, Any]:
        """As the generator's own; `messages` may be a string."""
        listed, given = _listed(messages), _given(streaming_callback, generation_kwargs, tools)
        session, about = self._of(listed, given)

        def send() -> Any:
            wire = to_wire(listed)
            try:
                fitted = session.fit(wire.messages, **about)
            except CannotFit as error:
                raise _named(error) from error
            return self.chat_generator.run(messages=from_fitted(fitted, wire, listed), **given)

        return _fed(session, guarded(session, send))

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self,
        messages: list[ChatMessage] | str,
        streaming_callback: Any = None,
        generation_kwargs: dict[str, Any] | None = None,
        tools: ToolsType | None = None,
    ) -> dict[str, Any]:
        """As the generator's own; one that has none runs in a thread."""
        listed, given = _listed(messages), _given(streaming_callback, generation_kwargs, tools)
        session, about = self._of(listed, given)

        async def send() -> Any:
            wire = to_wire(listed)
            try:
                fitted = await session.afit(wire.messages, **about)
            except CannotFit as error:
                raise _named(error) from error
            given["messages"] = from_fitted(fitted, wire, listed)
            if hasattr(self.chat_generator, "run_async"):
                return await self.chat_generator.run_async(**given)
            return await asyncio.to_thread(self.chat_generator.run, **given)

        return _fed(session, await guarded_async(session, send))

    def _of(self, messages: Sequence[Any], given: Mapping[str, Any]) -> tuple[Conversation, dict[str, Any]]:
        """The conversation of a call, and what goes with its messages."""
        inner = self.chat_generator
        tools = to_tools(given["tools"] if "tools" in given else getattr(inner, "tools", None))
        key = self._conversation or _key(messages, [tool["function"]["name"] for tool in tools])
        model = getattr(inner, "model", None)
        session = self.session = self._conversations.of(key, model if isinstance(model, str) else None)
        asked = {**(getattr(inner, "generation_kwargs", None) or {}), **given.get("generation_kwargs", {})}
        schema = asked.get("response_format")
        if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
            schema = schema.model_json_schema()
        return session, {"tools": tools or None, "response_schema": schema}


class JettisonCompactor(Compactor):
    """`CompactionHook(compactor=JettisonCompactor(), context_window=…)`, when you want Haystack's own hook to decide.

    The hook says when and how far, and counts; this says what may go. The state's messages are replaced by what is
    left, as by every compactor; what was cut is in `archive` (as for `Session`; None: in memory, here). `policy`: a
    `Policy`, whose budget is not used. Where the target cannot be reached safely, the smallest safe history is given.
    """

    def __init__(self, policy: Policy | None = None, *, archive: Archive | str | PathLike[str] | None = None) -> None:
        from jettison.archive import opened

        self._policy, self._named, self._archive = policy or Policy(), archive, opened(archive)
        self.session: Conversation | None = None
        """Of the last compaction."""
        self.recalls = False
        """The agent has the recall tool: a compactor is not shown its tools."""

    def to_dict(self) -> dict[str, Any]:
        if self._policy != Policy() or not isinstance(self._named, str | None):
            raise ConfigError("a Policy or an open archive cannot be serialised: give a plain value")
        made: dict[str, Any] = default_to_dict(self, archive=self._named)
        return made

    def compact(self, messages: list[Any], target_tokens: int, token_counter: Any) -> list[Any] | None:
        wire = to_wire(messages)
        ours, theirs = self._open(messages, 1 << 40).fit(wire.messages).report.before, token_counter.count(messages)
        if theirs <= target_tokens:
            return None
        try:
            self.session = self._open(messages, max(1, target_tokens * ours // theirs))
            fitted = self.session.fit(wire.messages)
        except BudgetUnreachable as error:
            if error.smallest >= ours:
                return None
            self.session = self._open(messages, error.smallest)
            fitted = self.session.fit(wire.messages)
        left = from_fitted(fitted, wire, messages)
        return left if token_counter.count(left) < theirs else None

    def _open(self, messages: Sequence[Any], limit: int) -> Conversation:
        """A session of its own for each time: the history it sees next is what this one leaves."""
        recall = True if self.recalls and self._policy.recall is None else self._policy.recall
        policy = replace(self._policy, budget=Budget(limit, low_water=1.0), recall=recall)
        return Conversation(policy, wire="openai-chat", archive=self._archive, conversation=_key(messages, ()))


def recall_tool(source: JettisonChatGenerator | JettisonCompactor) -> Any:
    """The tool `recall_context` for `Agent(tools=[..., recall_tool(generator)])`: what was cut in the conversation of
    the last call. With an `archive` and `conversation` given, all that was ever cut in it."""

    def recall_context(handle: str = "", query: str = "", lines: str = "", characters: str = "") -> str:
        if source.session is None:
            return "Nothing was cut yet."
        given = {"handle": handle, "query": query, "lines": lines, "characters": characters}
        return recall_answer(source.session, given)

    if isinstance(source, JettisonCompactor):
        source.recalls = True
    return Tool(name=NAME, description=DESCRIPTION, parameters=dict(PARAMETERS), function=recall_context)


def _listed(messages: Any) -> list[Any]:
    return [ChatMessage.from_user(messages)] if isinstance(messages, str) else list(messages)


def _given(streaming_callback: Any, generation_kwargs: Any, tools: Any) -> dict[str, Any]:
    """What was given, so that a generator without one of these can be used where it is not."""
    named = {"streaming_callback": streaming_callback, "generation_kwargs": generation_kwargs, "tools": tools}
    return {name: value for name, value in named.items() if value is not None}


def _key(messages: Sequence[Any], tools: Sequence[str]) -> str:
    first = next((message for message in messages if not message.is_from(ChatRole.SYSTEM)), None)
    return digest([list(tools), None if first is None else first.texts])


def _named(error: CannotFit) -> NothingSafeFits:
    raised = NothingSafeFits(str(error))
    raised.report = error.report
    return raised


def _fed(session: Conversation, result: dict[str, Any]) -> dict[str, Any]:
    for reply in result.get("replies", ())[:1]:
        if count := counted(reply.meta.get("usage")):
            session.usage(input_tokens=count)
    return result
