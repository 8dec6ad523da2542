"""CrewAI: `wrap` an LLM, and each of its calls fits; for agents, crews and flows."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from jettison.budget import Budget
from jettison.errors import ArchiveError, CannotFit, ConfigError
from jettison.integrations.common import MOST, Conversation, Conversations, Current, guarded, guarded_async, missing
from jettison.plan import Fitted
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from crewai import BaseLLM
    from crewai.tools import BaseTool
    from crewai.utilities import LLMContextLengthExceededError
    from pydantic import BaseModel, Field, create_model
except ImportError as error:
    raise missing("crewai 1.15.30 or newer", "crewai") from error

__all__ = ["NothingSafeFits", "recall_tool", "session_of", "wrap"]

L = TypeVar("L", bound=BaseLLM)
_OWN = frozenset({"cache_breakpoint", "files", "raw_tool_call_parts"})
"""Fields of a message that are CrewAI's, and no JSON: they stay where they are."""


class NothingSafeFits(CannotFit, LLMContextLengthExceededError):
    """No safe context fits: Jettison's error and CrewAI's, which then summarises the history as its agents do."""

    def __init__(self, error: CannotFit) -> None:
        LLMContextLengthExceededError.__init__(self, str(error))
        self.report = error.report


class _Fitter:
    """What a wrapped LLM and its copies share."""

    def __init__(self, policy: Any, archive: Any, vault: Any, conversation: str | None, most: int) -> None:
        self.conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
        self.conversation = conversation
        self.current = Current()

    def __deepcopy__(self, memo: Any) -> _Fitter:
        return self

    def of(self, messages: Sequence[Any], task: Any, model: str) -> Conversation:
        """The conversation of a task that began so."""
        begun = digest([message.get("content") for message in messages[:2]])
        parts = [part for part in (self.conversation, str(getattr(task, "id", "")), begun) if part]
        return self.current.set(self.conversations.of("/".join(parts), model))


def _call(inner: Any) -> Any:
    def call(self: Any, messages: Any, tools: Any = None, *given: Any, **settings: Any) -> Any:
        listed = _listed(messages)
        session = self._jettison.of(listed, settings.get("from_task"), self.model)

        def send() -> Any:
            wire = _wire(listed)
            try:
                fitted = session.fit(wire, **_counted(tools, settings))
            except CannotFit as error:
                raise NothingSafeFits(error) from error
            return inner(self, _back(fitted, wire, listed), tools, *given, **settings)

        before = dict(self._token_usage)
        answer = guarded(session, send)
        _feed(session, before, self._token_usage)
        return answer

    call._crewai_rate_limit_wrapped = True  # type: ignore[attr-defined]  # the inner one waits and tries again
    return call


def _acall(inner: Any) -> Any:
    async def acall(self: Any, messages: Any, tools: Any = None, *given: Any, **settings: Any) -> Any:
        listed = _listed(messages)
        session = self._jettison.of(listed, settings.get("from_task"), self.model)

        async def send() -> Any:
            wire = _wire(listed)
            try:
                fitted = await session.afit(wire, **_counted(tools, settings))
            except CannotFit as error:
                raise NothingSafeFits(error) from error
            return await inner(self, _back(fitted, wire, listed), tools, *given, **settings)

        before = dict(self._token_usage)
        answer = await guarded_async(session, send)
        _feed(session, before, self._token_usage)
        return answer

    acall._crewai_rate_limit_wrapped = True  # type: ignore[attr-defined]
    return acall


def _fits(self: Any, *given: Any, **settings: Any) -> bool:
    """CrewAI asks before a call whether to summarise its history: there is no need."""
    return False


def wrap(
    llm: L,
    policy: Policy | Budget | int | None = None,
    *,
    archive: Archive | str | PathLike[str] | None = None,
    vault: Vault | None = None,
    conversation: str | None = None,
    most: int = MOST,
) -> L:
    """An LLM of the same kind as `llm` whose calls fit: `Agent(llm=wrap(LLM(model="gpt-4o"), 32_000), ...)`.

    The agent's own messages stay full. The provider's usage flows back; after its overflow error there is one tighter
    try, and only then CrewAI's own way (a summary, or an end). `policy`: a `Policy`, a `Budget`, or tokens; None: the
    model's own window. `archive`, `vault`: as for `Session`. A conversation is known by its task and how it began;
    `conversation` stands before that. `most`: conversations that are remembered. The given LLM is not changed.

    A call raises NothingSafeFits, an `LLMContextLengthExceededError` and a `CannotFit`. Raises ConfigError for what is
    no LLM.
    """
    if not isinstance(llm, BaseLLM):
        raise ConfigError(f"wrap() takes an LLM of CrewAI's, not {type(llm).__name__}")
    wrapped: Any = copy.copy(llm)
    kind: Any = type(llm)
    object.__setattr__(wrapped, "__class__", _class(kind))
    object.__setattr__(wrapped, "_jettison", _Fitter(policy, archive, vault, conversation, most))
    return wrapped  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _class(kind: Any) -> Any:
    space = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "call": _call(kind.call),
        "acall": _acall(kind.acall),
        "is_context_window_overflowing_threshold": _fits,
    }
    return type(kind)(kind.__name__, (kind,), space)


def session_of(llm: BaseLLM) -> Conversation | None:
    """The session of a wrapped LLM's last call: its report, recall and search. None before the first."""
    return _fitter(llm).current.get()


def recall_tool(llm: BaseLLM) -> BaseTool:
    """The tool `recall_context` for `Agent(llm=llm, tools=[..., recall_tool(llm)])`."""
    fitter = _fitter(llm)
    fields: Any = {key: (str, Field("", description=entry["description"])) for key, entry in _ARGUMENTS.items()}

    class Recall(BaseTool):
        name: str = NAME
        description: str = DESCRIPTION
        args_schema: type[BaseModel] = create_model("Recall", **fields)

        def _run(self, **given: Any) -> str:
            return recall_answer(_Kept(fitter), given)

    return Recall()


class _Kept:
    """What was cut. CrewAI runs a tool where it is not seen which agent called it, but a handle says whose text it is;
    a search is for the last call's conversation."""

    def __init__(self, fitter: _Fitter) -> None:
        self._fitter = fitter

    def recall(self, handle: str) -> str:
        missed = ArchiveError("nothing was cut yet")
        for session in self._fitter.conversations.all():
            try:
                return session.recall(handle)
            except ArchiveError as error:
                if error.__cause__ is not None and not isinstance(error.__cause__, LookupError):
                    raise  # the archive itself failed
                missed = error
        raise missed

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        session = self._fitter.current.get()
        return [] if session is None else session.search(query, limit)


_ARGUMENTS: Mapping[str, Any] = PARAMETERS["properties"]


def _fitter(llm: Any) -> _Fitter:
    fitter = getattr(llm, "_jettison", None)
    if not isinstance(fitter, _Fitter):
        raise ConfigError(f"this {type(llm).__name__} was not wrapped")
    return fitter


def _listed(messages: Any) -> list[Any]:
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)


def _wire(messages: Sequence[Any]) -> list[Any]:
    """CrewAI's messages are Chat Completions, but for some fields of its own."""
    return [
        {key: value for key, value in message.items() if key not in _OWN}
        if any(key in message for key in _OWN)
        else message
        for message in messages
    ]


def _back(fitted: Fitted, wire: Sequence[Any], messages: Sequence[Any]) -> list[Any]:
    out = []
    for at, message in zip(fitted.sources, fitted.messages, strict=True):
        if at < 0 or message == wire[at]:
            out.append(message if at < 0 else messages[at])
        else:
            kept = {key: value for key, value in messages[at].items() if key in _OWN}
            out.append({**message, **kept})
    return out


def _counted(tools: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    model = settings.get("response_model")
    return {"tools": tools or None, "response_schema": None if model is None else model.model_json_schema()}


def _feed(session: Conversation, before: Mapping[str, int], after: Mapping[str, int]) -> None:
    """CrewAI adds up what an LLM used: what one call used is the difference, when it was the only one."""
    if after["successful_requests"] - before["successful_requests"] == 1:
        count = after["prompt_tokens"] - before["prompt_tokens"]
        if count > 0:
            session.usage(input_tokens=count)
