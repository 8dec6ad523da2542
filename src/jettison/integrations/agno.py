"""Agno: `wrap` a model, and each of its requests fits; for agents, teams and workflows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import lru_cache
from inspect import isawaitable
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from jettison.budget import Budget
from jettison.errors import CannotFit, ConfigError, SecretGone, SecretRefused
from jettison.integrations.agno_messages import from_fitted, to_wire
from jettison.integrations.common import (
    MOST,
    Conversation,
    Conversations,
    Current,
    begun,
    guarded,
    guarded_async,
    missing,
)
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from agno.exceptions import ContextWindowExceededError
    from agno.models.base import Model
    from agno.tools.function import Function
except ImportError as error:
    raise missing("agno 3.1.10 or newer", "agno") from error

__all__ = ["NothingSafeFits", "recall_tool", "rehydrating", "session_of", "wrap"]

M = TypeVar("M", bound=Model)


class NothingSafeFits(CannotFit, ContextWindowExceededError):
    """No safe context fits: Jettison's error and Agno's, so that its fallback models may take over."""

    def __init__(self, model: Any, error: CannotFit) -> None:
        ContextWindowExceededError.__init__(self, str(error), model_name=model.name, model_id=model.id)
        self.report = error.report


class _Fitter:
    """What a wrapped model and its copies share."""

    def __init__(self, policy: Any, archive: Any, vault: Any, conversation: str | None, most: int) -> None:
        self.conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
        self.conversation = conversation
        self.current = Current()

    def __deepcopy__(self, memo: Any) -> _Fitter:
        return self  # Agno copies its agents, with their models

    def of(self, model: Any, messages: Sequence[Any], run: Any) -> Conversation:
        """The conversation of Agno's session and agent; without a session that which began so."""
        key = getattr(run, "session_id", None)
        owner = getattr(run, "agent_id", None) or getattr(run, "team_id", None)
        if key is None:
            key, owner = digest([str(message.content) for message in messages[:2]]), None
        parts = [part for part in (self.conversation, key, owner) if part]
        return self.current.set(self.conversations.of("/".join(parts), model.id))


class _Fits:
    """Stands before the class of a model: each way to call the provider is given what fits."""

    _jettison: _Fitter
    _apart: bool

    def invoke(self, messages: Any, *given: Any, **settings: Any) -> Any:
        session, inner = self._begin(messages, settings), super().invoke  # type: ignore[misc]

        def send() -> Any:
            return inner(self._fit(session, messages, settings), *given, **settings)

        response = guarded(session, send)
        self._feed(session, response)
        return response

    async def ainvoke(self, messages: Any, *given: Any, **settings: Any) -> Any:
        session, inner = self._begin(messages, settings), super().ainvoke  # type: ignore[misc]

        async def send() -> Any:
            return await inner(await self._afit(session, messages, settings), *given, **settings)

        response = await guarded_async(session, send)
        self._feed(session, response)
        return response

    def invoke_stream(self, messages: Any, *given: Any, **settings: Any) -> Iterator[Any]:
        session, inner = self._begin(messages, settings), super().invoke_stream  # type: ignore[misc]

        def send() -> tuple[list[Any], Iterator[Any]]:
            events = iter(inner(self._fit(session, messages, settings), *given, **settings))
            return [event for event in (next(events, None),) if event is not None], events  # a refusal comes here

        for part in guarded(session, send):
            for event in part:
                self._feed(session, event)
                yield event

    async def ainvoke_stream(self, messages: Any, *given: Any, **settings: Any) -> AsyncIterator[Any]:
        session, inner = self._begin(messages, settings), super().ainvoke_stream  # type: ignore[misc]

        async def send() -> AsyncIterator[Any]:
            return await begun(inner(await self._afit(session, messages, settings), *given, **settings))

        async for event in await guarded_async(session, send):
            self._feed(session, event)
            yield event

    def _begin(self, messages: Any, settings: dict[str, Any]) -> Conversation:
        return self._jettison.of(self, messages, settings.get("run_response"))

    def _fit(self, session: Conversation, messages: Any, settings: dict[str, Any]) -> list[Any]:
        wire = to_wire(messages, settings.get("compress_tool_results", False))
        try:
            fitted = session.fit(wire, **_counted(settings))
        except CannotFit as error:
            raise NothingSafeFits(self, error) from error
        return from_fitted(fitted, wire, messages)

    async def _afit(self, session: Conversation, messages: Any, settings: dict[str, Any]) -> list[Any]:
        wire = to_wire(messages, settings.get("compress_tool_results", False))
        try:
            fitted = await session.afit(wire, **_counted(settings))
        except CannotFit as error:
            raise NothingSafeFits(self, error) from error
        return from_fitted(fitted, wire, messages)

    def _feed(self, session: Conversation, response: Any) -> None:
        used = response.response_usage
        if used is None or not used.input_tokens:
            return
        cached = used.cache_read_tokens + used.cache_write_tokens if self._apart else 0
        session.usage(input_tokens=used.input_tokens + cached)


def wrap(
    model: M,
    policy: Policy | Budget | int | None = None,
    *,
    archive: Archive | str | PathLike[str] | None = None,
    vault: Vault | None = None,
    conversation: str | None = None,
    most: int = MOST,
) -> M:
    """A model of the same kind as `model` whose requests fit: `Agent(model=wrap(OpenAIChat("gpt-4o"), 32_000))`.

    The run's messages and the stored sessions stay full. The provider's usage flows back; after its overflow error
    there is one tighter try. `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own window. `archive`,
    `vault`: as for `Session`. A conversation is known by Agno's session and agent; `conversation` stands before that.
    `most`: conversations that are remembered. The given model is not changed.

    Runs fail with NothingSafeFits, a `ContextWindowExceededError` and a `CannotFit`. Raises ConfigError for what is no
    model.
    """
    if not isinstance(model, Model):
        raise ConfigError(f"wrap() takes a model of Agno's, not {type(model).__name__}")
    kind: Any = type(model)
    wrapped = object.__new__(_class(kind))
    wrapped.__dict__.update(model.__dict__)
    wrapped._jettison = _Fitter(policy, archive, vault, conversation, most)
    # Anthropic's counts leave out what came from the cache, and Agno hands them on so.
    wrapped._apart = any(cls.__name__ == "Claude" for cls in type(model).__mro__)
    if hasattr(wrapped, "use_previous_response_id"):
        wrapped.use_previous_response_id = False  # else the history is on the server, and only what is new is sent
    return wrapped  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _class(kind: type[Any]) -> type[Any]:
    return type(kind.__name__, (_Fits, kind), {"__module__": kind.__module__})


def session_of(model: Model) -> Conversation | None:
    """The session of a wrapped model's last request: its report, recall and search. None before the first."""
    return _fitter(model).current.get()


def recall_tool(model: Model) -> Function:
    """The tool `recall_context` for `Agent(model=model, tools=[..., recall_tool(model)])`."""
    fitter = _fitter(model)

    def recall_context(handle: str = "", query: str = "", lines: str = "", characters: str = "") -> str:
        given = {"handle": handle, "query": query, "lines": lines, "characters": characters}
        session = fitter.current.get()
        return "Nothing was cut yet." if session is None else recall_answer(session, given)

    return Function(
        name=NAME,
        description=DESCRIPTION,
        parameters=dict(PARAMETERS),
        entrypoint=recall_context,
        skip_entrypoint_processing=True,
    )


def rehydrating(model: Model) -> Callable[..., Any]:
    """A hook for `Agent(model=model, tool_hooks=[rehydrating(model)])`, the model wrapped with a vault: tools get the
    values of placeholders, where they may have them; else the agent is told why not. Runs keep the placeholders."""
    fitter = _fitter(model)

    def rehydrate(function_name: str, function_call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        session = fitter.current.here()
        if session is None:
            return function_call(**arguments)
        try:
            filled = session.filled(function_name, arguments)
        except (SecretRefused, SecretGone) as refused:
            return str(refused)
        given = dict(arguments)
        arguments.update(filled)  # Agno reads them here, and keeps them for the run's record

        async def awaited(answer: Awaitable[Any]) -> Any:
            try:
                return await answer
            finally:
                arguments.update(given)

        answer = None
        try:
            answer = function_call(**filled)
        finally:
            if not isawaitable(answer):
                arguments.update(given)
        return awaited(answer) if isawaitable(answer) else answer

    return rehydrate


def _fitter(model: Any) -> _Fitter:
    fitter = getattr(model, "_jettison", None)
    if not isinstance(fitter, _Fitter):
        raise ConfigError(f"this {type(model).__name__} was not wrapped")
    return fitter


def _counted(settings: dict[str, Any]) -> dict[str, Any]:
    schema = settings.get("response_format")
    if isinstance(schema, type):
        schema = schema.model_json_schema()  # type: ignore[attr-defined]
    return {"tools": settings.get("tools") or None, "response_schema": schema}
