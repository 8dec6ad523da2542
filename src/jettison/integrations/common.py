"""What all integrations share: a session for each conversation, and one tighter try after an overflow."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from jettison.budget import Budget
from jettison.call import Call
from jettison.errors import CannotFit, ConfigError
from jettison.integrations.overflow import is_overflow
from jettison.plan import Fitted, Report
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.session import Session
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

__all__ = [
    "MOST",
    "TIGHTER",
    "Conversation",
    "Conversations",
    "Current",
    "begun",
    "guarded",
    "guarded_async",
    "missing",
    "shown",
]

MOST = 1_000
"""Conversations that are remembered; the one that was used longest ago is forgotten first. One that comes back after
that is fitted anew from its whole history, which costs an epoch and no information."""
TIGHTER = 0.75
"""Of what the provider refused, that the second try takes: the token counts of the families that are not exact are
within 25 % (`jettison.tokens`)."""

T = TypeVar("T")
log = logging.getLogger("jettison")


class Conversation(Session):
    """A session that remembers its last report and what the provider refused."""

    overflows = 0
    """How often the provider refused what was within the budget."""
    report: Report | None = None
    """Of the last call."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.refusals: dict[str, str] = {}
        """Calls in an answer (by their ids) that kept a placeholder, as they may not have the secret, and why: where
        nothing of Jettison stands between the answer and the tools, give the text as the result instead of calling."""

    def _sync(self, call: Call) -> Fitted:
        fitted = super()._sync(call)
        self.report = fitted.report
        return fitted

    def usage(self, *, input_tokens: int, cache_read_tokens: int = 0, cache_write_tokens: int = 0) -> None:
        """As `Session.usage`; after an overflow a count below ours is not believed any more."""
        counts = {"cache_read_tokens": cache_read_tokens, "cache_write_tokens": cache_write_tokens}
        super().usage(input_tokens=input_tokens, **counts)
        if self.overflows:
            self._ratio = max(1.0, self._ratio)

    def cleaned(self, value: T) -> T:
        """What a message has beside what was fitted (a provider's own form of it), without the secrets that are known;
        the same object when it holds none."""
        return value if self.vault is None else self.vault.cleaned(value)

    def vaulted(self, messages: Sequence[Any], system: Any = None) -> tuple[list[Any], Any]:
        """Messages and instructions that are sent as they are, without secrets: they go on from a history that the
        provider keeps, so there is nothing to fit."""
        if self.vault is None:
            return list(messages), system
        sent = self.vault.arrive(messages).messages, self.vault.arrive_system(system)
        self.vault.save()
        return sent

    def filled(self, tool: str, arguments: Any) -> Any:
        """Arguments of a call, an object or JSON text, with the values of their placeholders, for the tool alone.

        Raises SecretRefused, SecretGone: their text is for the agent, as the tool's result.
        """
        if isinstance(arguments, str):
            return self.rehydrate({"name": tool, "arguments": arguments})["arguments"]
        return self.rehydrate({"name": tool, "args": arguments})["args"]

    async def _async(self, call: Call) -> Fitted:
        fitted = await super()._async(call)
        self.report = fitted.report
        return fitted

    def tighten(self) -> None:
        """From now on at most three quarters of what was just refused, as the window is smaller than we were told."""
        size = self.policy.size
        sent = self.report.after if self.report is not None else size.limit
        limit = max(1, int(min(sent, size.limit) * TIGHTER))
        self.overflows += 1
        log.warning("the provider refused %d tokens as too many: the limit is now %d", sent, limit)
        self._ratio = max(1.0, self._ratio)
        reserve = size.window - size.limit
        self.policy = replace(self.policy, budget=replace(size, window=limit + reserve))


class Conversations:
    """One `Conversation` for each key, the `most` used ones.

    `policy`: as for `Session`; None: the model's own window (ConfigError when the table does not have it).
    `archive`: as for `Session`, shared by all; a conversation's key is its name there. `vault`: takes secrets out of
    all that is sent, for each conversation apart; the key is its name in a vault that lasts.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None,
        *,
        wire: str,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        most: int = MOST,
    ) -> None:
        from jettison.archive import opened

        if most < 1:
            raise ConfigError(f"most must be above 0, not {most}")
        self._policy, self._wire, self._most = policy, wire, most
        self._archive = None if archive is None else opened(archive)
        self._more: dict[str, Any] = {} if vault is None else {"vault": vault}
        self._named = archive is not None or (vault is not None and vault.lasting)
        self._open: OrderedDict[str, Conversation] = OrderedDict()
        self._busy = threading.Lock()

    def of(self, key: str, model: str | None = None) -> Conversation:
        """The conversation of that key; begun when there is none. `model` counts for a new one."""
        with self._busy:
            found = self._open.get(key)
            if found is None:
                policy = self._policy
                if policy is None:
                    if model is None:
                        raise ConfigError("budget= is missing: the request names no model whose window is on record")
                    policy = Budget.for_model(model)
                name = key if self._named else None
                settings = {"archive": self._archive, "conversation": name, **self._more}
                found = Conversation(policy, wire=self._wire, model=model, **settings)
                self._open[key] = found
                if len(self._open) > self._most:
                    self._open.popitem(last=False)
            self._open.move_to_end(key)
            return found

    def all(self) -> list[Conversation]:
        """Those that are remembered, the one used last first."""
        with self._busy:
            return list(reversed(self._open.values()))

    def find(self, key: str) -> Conversation | None:
        """The conversation of that key, None when there is none."""
        with self._busy:
            return self._open.get(key)


class Current:
    """The session of the last call: in a run (its thread or task, and the tools it started) its own, elsewhere the
    one that was used last. None before the first."""

    def __init__(self) -> None:
        self._here: ContextVar[Conversation | None] = ContextVar("jettison", default=None)
        self._last: Conversation | None = None

    def __deepcopy__(self, memo: object) -> Current:
        return self  # some frameworks copy their agents, with the tools and models in them

    def set(self, session: Conversation) -> Conversation:
        self._here.set(session)
        self._last = session
        return session

    def get(self) -> Conversation | None:
        return self._here.get() or self._last

    def here(self) -> Conversation | None:
        """That of this run alone: secrets are for no other."""
        return self._here.get()


def guarded(conversation: Conversation, send: Callable[[], T]) -> T:
    """`send` (it fits and calls the provider); after an overflow error of the provider once more, tighter.

    When nothing safe is tighter the provider's error is raised, with Jettison's as its cause.
    """
    try:
        return send()
    except Exception as error:
        if not is_overflow(error):
            raise
        refused = error
    conversation.tighten()
    try:
        return send()
    except CannotFit as error:
        raise refused from error


async def guarded_async(conversation: Conversation, send: Callable[[], Awaitable[T]]) -> T:
    """`guarded` on an event loop."""
    try:
        return await send()
    except Exception as error:
        if not is_overflow(error):
            raise
        refused = error
    conversation.tighten()
    try:
        return await send()
    except CannotFit as error:
        raise refused from error


async def begun(stream: AsyncIterator[T]) -> AsyncIterator[T]:
    """The stream after its first event has come: a refusal comes in its place."""
    events = aiter(stream)
    try:
        first = [await anext(events)]
    except StopAsyncIteration:
        first = []
    return _resumed(first, events)


async def _resumed(first: list[T], events: AsyncIterator[T]) -> AsyncIterator[T]:
    for event in first:
        yield event
    async for event in events:
        yield event


def missing(package: str, extra: str) -> ImportError:
    """The error for a package that is not installed."""
    return ImportError(f"this integration needs {package}: pip install 'jettison[{extra}]'")


def shown(value: Any) -> Any:
    """A value as JSON, for weighing; of bytes, which have no weight that is known here, only which they are."""
    if isinstance(value, Mapping):
        return {str(key): shown(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [shown(inner) for inner in value]
    if isinstance(value, bytes):
        return f"{len(value)} bytes {digest(value.hex())}"
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
