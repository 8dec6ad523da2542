"""Microsoft Agent Framework: chat middleware whose calls fit, and a compaction strategy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import CannotFit, ConfigError, SecretGone, SecretRefused
from jettison.integrations.agent_framework_messages import from_fitted, to_tools, to_wire
from jettison.integrations.common import MOST, Conversation, Conversations, Current, guarded_async, missing
from jettison.integrations.overflow import is_overflow
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from agent_framework import (
        EXCLUDE_REASON_KEY,
        EXCLUDED_KEY,
        ChatMiddleware,
        FunctionMiddleware,
        FunctionTool,
        ResponseStream,
    )
    from agent_framework.exceptions import ChatClientInvalidRequestException
except ImportError as error:
    raise missing("agent-framework-core 1.23 or newer", "agent-framework") from error

__all__ = ["JettisonCompaction", "JettisonMiddleware", "NothingSafeFits", "Rehydrating", "recall_tool"]

_OURS = "jettison"
"""Why a message is excluded, and the mark of one that stands in the place of another."""


class NothingSafeFits(CannotFit, ChatClientInvalidRequestException):
    """No safe context fits: both Jettison's error and Agent Framework's."""

    def __init__(self, error: CannotFit) -> None:
        ChatClientInvalidRequestException.__init__(self, str(error))
        self.report = error.report


class JettisonMiddleware(ChatMiddleware):
    """`Agent(client, middleware=[JettisonMiddleware(32_000)])`: each model call is sent what fits.

    The run's messages and the session's history stay full. The provider's usage flows back; after its overflow error
    there is one tighter try, streamed or not. `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own
    window. `archive`, `vault`: as for `Session`; see
    `Rehydrating`. `most`: conversations that are remembered, by the agent's session and their
    first message. Put it last, so that it sees what other middleware made of the request.

    Raises NothingSafeFits, which is a `ChatClientInvalidRequestException` and a `CannotFit`. Calls that go on from a
    conversation on the server (`conversation_id`) are passed as they are.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        most: int = MOST,
    ) -> None:
        self._conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
        self._vault = vault
        self.current = Current()
        self.session: Conversation | None = None
        """Of the last call."""

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        messages, options = list(context.messages), context.options or {}
        if options.get("conversation_id") and self._vault is not None:
            raise ConfigError("a vault needs the history here: turn the client's storage off (store=False)")
        if options.get("conversation_id") or not messages:
            await call_next()
            return
        told = options.get("instructions")
        model = options.get("model") or getattr(context.client, "model", None)
        name = None if context.session is None else context.session.session_id
        key = f"{name or ''}/{_began(messages)}"
        session = self.session = self._conversations.of(key, model if isinstance(model, str) else None)
        self.current.set(session)

        async def send() -> Any:
            context.messages = await _fit(session, messages, options)
            if told:
                context.options = {**options, "instructions": session.cleaned(told)}
            await call_next()
            return context.result

        if context.stream:
            context.result = await _streamed(session, send)
        else:
            context.result = _fed(session, await guarded_async(session, send))


class Rehydrating(FunctionMiddleware):
    """`Agent(client, middleware=[Rehydrating(jettison), jettison])`, `jettison` a JettisonMiddleware with a vault:
    tools get the values of placeholders, where they may have them; else the agent is told why not. Calls in the history
    keep their placeholders."""

    def __init__(self, source: JettisonMiddleware) -> None:
        self._source = source

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        session, given = self._source.current.here(), context.arguments
        if session is not None:
            arguments = dict(given) if isinstance(given, Mapping) else given.model_dump()
            try:
                filled = session.filled(context.function.name, arguments)
            except (SecretRefused, SecretGone) as refused:
                context.result = str(refused)
                return
            if filled != arguments:
                context.arguments = filled
        await call_next()


class JettisonCompaction:
    """`Agent(client, compaction_strategy=JettisonCompaction(32_000))`: the messages that go are marked as excluded.

    Nothing is removed from the list: what is cut is excluded, and a message with what is left of it stands behind it,
    so that each call is decided from the full history. A strategy is shown neither instructions, tools nor usage, and
    no error: `system` and `tools` are counted; else leave room in `policy`. Other settings as for
    `JettisonMiddleware`, which is to be preferred. Raises NothingSafeFits.
    """

    def __init__(
        self,
        policy: Policy | Budget | int,
        *,
        system: str | None = None,
        tools: Sequence[Any] = (),
        model: str | None = None,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        most: int = MOST,
    ) -> None:
        self._conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
        self._options = {"instructions": system, "tools": list(tools)}
        self._model = model
        self.recalls = False
        """The agent has the recall tool: a strategy is not shown its tools."""
        self.session: Conversation | None = None
        """Of the last call."""

    async def __call__(self, messages: list[Any]) -> bool:
        originals = [message for message in messages if not message.additional_properties.get(_OURS)]
        given = [message for message in originals if not _excluded(message) or _by_us(message)]
        if not given:
            return False
        session = self.session = self._conversations.of(_began(given), self._model)
        if self.recalls and session.policy.recall is None:
            session.policy = replace(session.policy, recall=True)
        kept = await _fit(session, given, self._options)
        before = list(map(_state, messages))
        messages[:] = _woven(originals, kept)
        left = {id(message) for message in kept}
        for message in given:
            _exclude(message, id(message) not in left)
        return before != list(map(_state, messages))


def recall_tool(source: JettisonMiddleware | JettisonCompaction) -> Any:
    """The tool `recall_context` for `Agent(tools=[..., recall_tool(middleware)])`: what was cut in the conversation of
    the last call."""

    def recall_context(**given: Any) -> str:
        return "Nothing was cut yet." if source.session is None else recall_answer(source.session, given)

    if isinstance(source, JettisonCompaction):
        source.recalls = True
    return FunctionTool(name=NAME, description=DESCRIPTION, func=recall_context, input_model=dict(PARAMETERS))


async def _fit(session: Conversation, messages: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
    wire, schema = to_wire(messages, options.get("instructions")), options.get("response_format")
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    try:
        fitted = await session.afit(wire.messages, tools=to_tools(options.get("tools")) or None, response_schema=schema)
    except CannotFit as error:
        raise NothingSafeFits(error) from error
    return from_fitted(fitted, wire, messages)


async def _streamed(session: Conversation, send: Callable[[], Awaitable[Any]]) -> Any:
    """A stream that begins anew, tighter, when the provider refuses it before its first update."""
    source = await send()

    async def tries() -> AsyncIterator[Any]:
        nonlocal source
        begun = False
        try:
            async for update in source:
                begun = True
                yield update
            return
        except Exception as error:
            if begun or not is_overflow(error):
                raise
            refused = error
        session.tighten()
        try:
            source = await send()
        except CannotFit as error:
            raise refused from error
        async for update in source:
            yield update

    async def updates() -> AsyncIterator[Any]:
        try:
            async for update in tries():
                yield update
        finally:  # also when the reader stops early
            await source.close()

    async def finish(seen: Sequence[Any]) -> Any:
        return _fed(session, await source.get_final_response())

    return ResponseStream(updates(), finalizer=finish)


def _began(messages: Sequence[Any]) -> str:
    first = next((message for message in messages if message.role not in ("system", "developer")), messages[0])
    return digest(first.text)


def _fed(session: Conversation, response: Any) -> Any:
    """The provider's count; Agent Framework's has what came from a cache in it."""
    used = getattr(response, "usage_details", None)
    if used and (count := used.get("input_token_count")):
        session.usage(input_tokens=count)
    return response


def _excluded(message: Any) -> bool:
    return bool(message.additional_properties.get(EXCLUDED_KEY))


def _by_us(message: Any) -> bool:
    return bool(message.additional_properties.get(EXCLUDE_REASON_KEY) == _OURS)


def _state(message: Any) -> Any:
    """What the caller is told of when it is another: what is excluded, and the text of ours."""
    if message.additional_properties.get(_OURS):
        return [content.to_dict() for content in message.contents]
    return id(message), _excluded(message)


def _exclude(message: Any, gone: bool) -> None:
    if gone:
        message.additional_properties.update({EXCLUDED_KEY: True, EXCLUDE_REASON_KEY: _OURS})
    elif _by_us(message):
        for key in (EXCLUDED_KEY, EXCLUDE_REASON_KEY):
            message.additional_properties.pop(key, None)


def _woven(originals: Sequence[Any], kept: Sequence[Any]) -> list[Any]:
    """All originals, and behind those whose place they take the messages that stand for them."""
    rest = iter(originals)
    known = {id(message) for message in originals}
    out: list[Any] = []
    held: list[Any] = []
    for message in kept:
        if id(message) not in known:
            message.message_id = None
            message.additional_properties = {_OURS: True}
            held.append(message)
            continue
        gone = []
        for original in rest:
            if original is message:
                break
            gone.append(original)
        out += [*gone, *held, message]
        held = []
    return [*out, *rest, *held]
