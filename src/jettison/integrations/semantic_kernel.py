"""Semantic Kernel: `wrap` a chat completion service, and each of its requests fits; for kernels and agents."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from jettison.budget import Budget
from jettison.errors import CannotFit, ConfigError, SecretGone, SecretRefused
from jettison.integrations.common import MOST, Conversation, Conversations, Current, begun, guarded_async, missing
from jettison.integrations.semantic_kernel_messages import from_fitted, to_wire
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
    from semantic_kernel.exceptions.service_exceptions import ServiceResponseException
    from semantic_kernel.functions import FunctionResult, KernelArguments, KernelPlugin, kernel_function
except ImportError as error:
    raise missing("semantic-kernel 1.45 or newer", "semantic-kernel") from error

__all__ = ["NothingSafeFits", "recall_plugin", "rehydrating", "session_of", "wrap"]

S = TypeVar("S", bound=ChatCompletionClientBase)
_SAID = {key: entry["description"] for key, entry in PARAMETERS["properties"].items()}


class NothingSafeFits(CannotFit, ServiceResponseException):
    """No safe context fits: Jettison's error, and the one that Semantic Kernel has for a prompt that is too long."""

    def __init__(self, error: CannotFit) -> None:
        ServiceResponseException.__init__(self, str(error))
        self.report = error.report


class _Fitter:
    """What a wrapped service and its copies share."""

    def __init__(
        self, policy: Any, archive: Any, vault: Any, conversation: str | None, model: str | None, most: int
    ) -> None:
        self.conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
        self.conversation, self.model = conversation, model
        self.current = Current()

    def __deepcopy__(self, memo: Any) -> _Fitter:
        return self

    def of(self, messages: Sequence[Any]) -> Conversation:
        """The conversation that began so: with these instructions and this first message."""
        first = digest([wire["content"] for wire in to_wire(messages[:2]).messages])
        key = f"{self.conversation}/{first}" if self.conversation else first
        return self.current.set(self.conversations.of(key, self.model))

    async def fit(self, session: Conversation, history: Any, settings: Any) -> Any:
        """The history with the messages that fit; the given one stays full."""
        wire = to_wire(history.messages)
        try:
            fitted = await session.afit(wire.messages, **_counted(settings))
        except CannotFit as error:
            raise NothingSafeFits(error) from error
        return history.model_copy(update={"messages": from_fitted(fitted, wire, history.messages)})


def _answer(inner: Any) -> Any:
    async def _inner_get_chat_message_contents(self: Any, chat_history: Any, settings: Any) -> Any:
        session = self._jettison.of(chat_history.messages)

        async def send() -> Any:
            return await inner(self, await self._jettison.fit(session, chat_history, settings), settings)

        contents = await guarded_async(session, send)
        _feed(session, contents)
        return contents

    return _inner_get_chat_message_contents


def _stream(inner: Any) -> Any:
    async def _inner_get_streaming_chat_message_contents(
        self: Any, chat_history: Any, settings: Any, function_invoke_attempt: int = 0
    ) -> AsyncIterator[Any]:
        session = self._jettison.of(chat_history.messages)

        async def send() -> Any:
            fitted = await self._jettison.fit(session, chat_history, settings)
            return await begun(inner(self, fitted, settings, function_invoke_attempt))

        async for contents in await guarded_async(session, send):
            _feed(session, contents)
            yield contents

    return _inner_get_streaming_chat_message_contents


def wrap(
    service: S,
    policy: Policy | Budget | int | None = None,
    *,
    archive: Archive | str | PathLike[str] | None = None,
    vault: Vault | None = None,
    conversation: str | None = None,
    most: int = MOST,
) -> S:
    """A service of the same kind whose requests fit: `ChatCompletionAgent(service=wrap(service, 32_000), ...)`.

    Each request of the function calling loop fits; the chat history and the thread stay full. The provider's usage
    flows back; after its overflow error there is one tighter try. `policy`: a `Policy`, a `Budget`, or tokens; None:
    the model's own window. `archive`, `vault`: as for `Session`. `conversation`: the key of all that it is sent; a
    conversation is known by its instructions and first message, so wrap the service once for each user or thread that
    may begin alike. `most`: conversations that are remembered. The given service is not changed.

    Requests raise NothingSafeFits, a `ServiceResponseException` and a `CannotFit`. Raises ConfigError for what is no
    chat completion service.
    """
    if not isinstance(service, ChatCompletionClientBase):
        raise ConfigError(f"wrap() takes a chat completion service, not {type(service).__name__}")
    wrapped: Any = copy.copy(service)
    kind: Any = type(service)
    object.__setattr__(wrapped, "__class__", _class(kind))
    fitter = _Fitter(policy, archive, vault, conversation, service.ai_model_id, most)
    object.__setattr__(wrapped, "_jettison", fitter)
    return wrapped  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _class(kind: Any) -> Any:
    space = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "_inner_get_chat_message_contents": _answer(kind._inner_get_chat_message_contents),
        "_inner_get_streaming_chat_message_contents": _stream(kind._inner_get_streaming_chat_message_contents),
    }
    return type(kind)(kind.__name__, (kind,), space)


def session_of(service: ChatCompletionClientBase) -> Conversation | None:
    """The session of a wrapped service's last request: its report, recall and search. None before the first."""
    return _fitter(service).current.get()


class _Recall:
    def __init__(self, current: Current) -> None:
        self._current = current

    @kernel_function(name=NAME, description=DESCRIPTION)
    def recall_context(
        self,
        handle: Annotated[str, _SAID["handle"]] = "",
        query: Annotated[str, _SAID["query"]] = "",
        lines: Annotated[str, _SAID["lines"]] = "",
        characters: Annotated[str, _SAID["characters"]] = "",
    ) -> str:
        given = {"handle": handle, "query": query, "lines": lines, "characters": characters}
        session = self._current.get()
        return "Nothing was cut yet." if session is None else recall_answer(session, given)


def recall_plugin(service: ChatCompletionClientBase) -> KernelPlugin:
    """The tool `recall_context` for `ChatCompletionAgent(plugins=[..., recall_plugin(service)])`."""
    return KernelPlugin.from_object("jettison", _Recall(_fitter(service).current))


def rehydrating(service: ChatCompletionClientBase) -> Callable[..., Any]:
    """A filter for `kernel.add_filter("function_invocation", rehydrating(service))`, the service wrapped with a vault:
    functions get the values of placeholders, where they may have them; else the agent is told why not. A function is
    known as the model calls it: `plugin-function`. Histories keep the placeholders."""
    current = _fitter(service).current

    async def rehydrate(context: Any, next: Callable[[Any], Awaitable[None]]) -> None:
        session, function = current.here(), context.function
        if session is None:
            return await next(context)
        given = {key: value for key, value in context.arguments.items() if isinstance(value, str | dict | list)}
        try:
            filled = session.filled(function.metadata.fully_qualified_name, given)
        except (SecretRefused, SecretGone) as refused:
            context.result = FunctionResult(function=function.metadata, value=str(refused))
            return None
        context.arguments = KernelArguments(settings=context.arguments.execution_settings, **context.arguments | filled)
        return await next(context)

    return rehydrate


def _fitter(service: Any) -> _Fitter:
    fitter = getattr(service, "_jettison", None)
    if not isinstance(fitter, _Fitter):
        raise ConfigError(f"this {type(service).__name__} was not wrapped")
    return fitter


def _counted(settings: Any) -> dict[str, Any]:
    tools, schema = getattr(settings, "tools", None), getattr(settings, "response_format", None)
    if isinstance(schema, type):
        schema = schema.model_json_schema() if hasattr(schema, "model_json_schema") else None
    return {"tools": tools or None, "response_schema": schema if isinstance(schema, Mapping) else None}


def _feed(session: Conversation, contents: Sequence[Any]) -> None:
    for content in contents:
        used = content.metadata.get("usage")
        if used is not None and used.prompt_tokens:
            session.usage(input_tokens=used.prompt_tokens)
            return
