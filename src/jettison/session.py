"""Session: what is remembered between the calls of one conversation."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.call import Call, Store
from jettison.errors import ConfigError, InvalidInput
from jettison.items import Fidelity
from jettison.plan import Edge, Fitted, Report
from jettison.policy import Policy
from jettison.protocols import Archive, ConversationArchive
from jettison.task import Task

if TYPE_CHECKING:
    from jettison.fitting import Fitting, State
    from jettison.vault import Keeper, Rehydrator, Vault

__all__ = ["Body", "Session", "fit", "fit_request"]


class Body(dict[str, Any]):
    """A whole request body, fitted; a plain dict but for `report`."""

    report: Report


OWN, SHARED = 10, 16
"""Letters of a handle. In an archive of one session a handle that is taken gets more letters; in a shared one nobody
can look ahead, so it has 48 bits: among a million texts two share a handle with a chance of 0.2 %."""


class Session:
    """One conversation. Give `fit` the full history at each call, as agents have it.

    `policy`: a `Policy`, or a `Budget` or int for the default policy with that budget. `archive`: the name of a
    SQLite file, a `postgresql://` address, or an `Archive`; None keeps what is evicted in memory. `conversation`:
    whose texts they are in a shared archive (`chat-17`; it covers a sub-agent's `chat-17/researcher`), so that they
    can be searched and deleted alone; None: a random key. `vault`: takes secrets out of all that arrives, before
    anything else sees it; None: nothing is looked for and nothing is replaced. Raises ConfigError for an unknown wire
    or counter, ArchiveError for an archive that cannot be used, VaultError for a vault that cannot.
    """

    def __init__(
        self,
        policy: Policy | Budget | int = Policy(),
        *,
        wire: str = "openai-chat",
        model: str | None = None,
        archive: Archive | str | PathLike[str] | None = None,
        conversation: str | None = None,
        vault: Vault | None = None,
    ) -> None:
        # The pipeline is two thirds of the package's import time: it is loaded with the first session, not before.
        from jettison.archive import opened
        from jettison.compressors.cut import handle_for
        from jettison.fitting import State
        from jettison.flow.task_state import TaskReader
        from jettison.tokens import CountCache, counter_for
        from jettison.wire import TRAITS, wire_named

        self.policy = policy if isinstance(policy, Policy) else Policy(budget=policy)
        self.wire, self.traits, self.model = wire_named(wire), TRAITS[wire], model
        self.archive: Archive = opened(archive)
        self._private = archive is None
        self.conversation = os.urandom(8).hex() if conversation is None else conversation
        self.vault: Keeper | None = None if vault is None else vault.open(self.conversation)
        self._own, self._pinned = conversation, frozenset[str]()
        self.task = Task()
        self.counter = counter_for(self.policy.counter, model, self.traits.family)
        self._costs = CountCache(self.counter)
        self._reader = TaskReader()
        self._state = State()
        self._ratio = 1.0
        self._handles: dict[str, str] = {}
        self._handle_for = handle_for
        self._busy = threading.Lock()

    # the calls

    def fit(
        self,
        messages: Sequence[Any],
        *,
        system: Any = None,
        tools: Any = None,
        response_schema: Any = None,
        repair: bool = False,
        observe: bool = False,
        prior_tokens: int | None = None,
    ) -> Fitted:
        """The history as it may be sent now.

        `messages` (the wire's own list), `system` (its system field), `tools` and `response_schema` are as they
        would be sent; none is changed. `repair` answers dead calls and resolves duplicates. `observe` decides
        and reports, and changes nothing. `prior_tokens`: what a history kept on the server weighs.

        Raises InvalidInput when the history breaks the wire's rules, CannotFit (BudgetUnreachable, StateBroken,
        ContextInsufficient) when nothing safe fits, ConfigError for arguments that cannot be.
        """
        return self._sync(Call(messages, system, tools, response_schema, repair, observe, prior_tokens))

    async def afit(
        self,
        messages: Sequence[Any],
        *,
        system: Any = None,
        tools: Any = None,
        response_schema: Any = None,
        repair: bool = False,
        observe: bool = False,
        prior_tokens: int | None = None,
    ) -> Fitted:
        """`fit`, with the archive's work off the event loop."""
        return await self._async(Call(messages, system, tools, response_schema, repair, observe, prior_tokens))

    def fit_request(self, body: Mapping[str, Any], *, repair: bool = False, observe: bool = False) -> Body:
        """A whole request body, with its messages and system fitted and all else as it was.

        The response schema and the thinking settings are read from it. Its `report` attribute says why.
        """
        call, join = self._request(body, repair, observe)
        return join(self._sync(call))

    async def afit_request(self, body: Mapping[str, Any], *, repair: bool = False, observe: bool = False) -> Body:
        """`fit_request`, with the archive's work off the event loop."""
        call, join = self._request(body, repair, observe)
        return join(await self._async(call))

    def recall(self, handle: str) -> str:
        """The exact original behind a handle. Raises ArchiveError when there is none."""
        return self.archive.get(handle)

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        """(handle, excerpt) of evicted texts that match, best first.

        Of this conversation where it was given a key, else of the whole archive.
        """
        if self._own is not None and isinstance(self.archive, ConversationArchive):
            return self.archive.search(query, limit, conversation=self._own)
        return self.archive.search(query, limit)

    def rehydrate(self, call: Any) -> Any:
        """A tool call, as the provider gave it, with the values of its placeholders: for the tool, never for a history.

        The given one is unchanged. Raises SecretRefused for a secret that may not go to this tool, place or host: its
        text is for the agent, as the tool's result. Raises SecretGone for one that is revoked, expired or unknown.
        """
        return call if self.vault is None else self.vault.rehydrate(call)

    def rehydrator(self, tool: str, *, json: bool = True) -> Rehydrator:
        """`rehydrate` for the arguments of one call as they stream in: `feed` each delta, then `close`."""
        if self.vault is None:
            raise ConfigError("this session has no vault: Session(..., vault=Vault())")
        return self.vault.rehydrator(tool, json=json)

    def dependencies(self, item: str) -> tuple[Edge, ...]:
        """How an item (by its id) hangs together with others in the last history: values of it that calls used, and
        values that it took from elsewhere. Read anew when asked; oldest first."""
        from jettison.flow.dependencies import Flow

        flow = Flow()
        flow.learn(self._state.history.units)
        return tuple(edge for edge in flow.edges if item in (edge.producer, edge.consumer))

    def usage(self, *, input_tokens: int, cache_read_tokens: int = 0, cache_write_tokens: int = 0) -> None:
        """The provider's own count of the last request; later counts are scaled by its ratio to ours.

        `input_tokens` as the provider reports it: where its cache counts are apart, give them too.
        """
        for name, value in (("input_tokens", input_tokens), ("cache_read_tokens", cache_read_tokens)):
            if value < 0:
                raise ConfigError(f"{name} must be >= 0, not {value}")
        counted = input_tokens + (cache_read_tokens + cache_write_tokens if self.traits.cached_apart else 0)
        if self._state.tokens > 0 and counted > 0:
            # Outside 0.5 … 2 the two numbers are not of the same request: no family differs that much.
            self._ratio = min(2.0, max(0.5, counted / self._state.tokens))

    # the two drivers

    def _sync(self, call: Call) -> Fitted:
        with self._busy:
            fitting = self._fitting(call)
            if self.vault is not None:
                self.vault.save()
            steps = fitting.steps()
            try:
                while True:
                    self._store(next(steps))
            except StopIteration as stop:
                return self._remember(*stop.value)

    async def _async(self, call: Call) -> Fitted:
        import asyncio  # a fifth of the import time of the package, which sync users need not pay

        while not self._busy.acquire(blocking=False):
            await asyncio.sleep(0.001)
        try:
            fitting = self._fitting(call)
            if self.vault is not None and self.vault.unsaved:
                await asyncio.to_thread(self.vault.save)
            steps = fitting.steps()
            try:
                while True:
                    effect = next(steps)
                    if effect.texts:
                        await asyncio.to_thread(self._store, effect)
            except StopIteration as stop:
                return self._remember(*stop.value)
        finally:
            self._busy.release()

    def _remember(self, fitted: Fitted, state: State) -> Fitted:
        self._state = state
        return fitted

    def _fitting(self, call: Call) -> Fitting:
        from jettison.fitting import Fitting, Kit

        kit = Kit(
            policy=self.policy,
            wire=self.wire,
            traits=self.traits,
            model=self.model,
            task=self.task,
            costs=self._costs,
            reader=self._reader,
            handle=self._handle,
            ratio=self._ratio,
            vault=self.vault,
        )
        return Fitting(kit, call, self._state)

    def _store(self, effect: Store) -> None:
        if not effect.texts:
            return
        if not isinstance(self.archive, ConversationArchive):
            for handle, text in effect.texts.items():
                self.archive.put(handle, text)
            return
        # What the last output shows stays pinned as well: if this call fails, that is what the agent goes on with.
        live = effect.texts.keys() | {
            decision.handle
            for decision in self._state.plan.decisions.values()
            if decision.handle and decision.fidelity is not Fidelity.GONE
        }
        self.archive.put_many(effect.texts, self.conversation, release=self._pinned - live)
        self._pinned = frozenset(live)

    # one call

    def _request(self, body: Mapping[str, Any], repair: bool, observe: bool) -> tuple[Call, Callable[[Fitted], Body]]:
        messages, system, tools = self.wire.split_body(body)
        schema = body.get("response_format") or body.get("text") or body.get("output_config")
        drop = "drop_block" in str(body.get("thinking") or "")
        call = Call(messages, system, tools, schema, repair, observe, reasoning_drop=drop)
        if body.get("previous_response_id") and call.prior_tokens is None:
            raise InvalidInput("previous_response_id points at the server: use fit(..., prior_tokens=…)")

        def join(fitted: Fitted) -> Body:
            out = Body(self.wire.join_body(body, fitted.messages, fitted.system))
            out.report = fitted.report
            return out

        return call, join

    def _handle(self, text: str) -> str:
        """The handle of a text: 30 bits among the session's own, 48 in an archive that others may write to."""
        letters = OWN if self._private else SHARED
        while True:
            handle = self._handle_for(text, letters)
            if self._handles.setdefault(handle, text) == text:
                return handle
            letters += 2


def fit(
    messages: Sequence[Any],
    *,
    budget: Budget | int | None = None,
    wire: str = "openai-chat",
    model: str | None = None,
    policy: Policy | None = None,
    system: Any = None,
    tools: Any = None,
    response_schema: Any = None,
    repair: bool = False,
    observe: bool = False,
    prior_tokens: int | None = None,
    **settings: Any,
) -> Fitted:
    """Fit a history once: a fresh `Session`'s first call. `settings` are fields of `Policy`.

    See `Session.fit` for arguments and errors. `budget` defaults to the model's own (`Budget.for_model`).
    """
    session = Session(_policy(policy, budget, model, settings), wire=wire, model=model)
    return session.fit(
        messages,
        system=system,
        tools=tools,
        response_schema=response_schema,
        repair=repair,
        observe=observe,
        prior_tokens=prior_tokens,
    )


def fit_request(
    body: Mapping[str, Any],
    *,
    budget: Budget | int | None = None,
    wire: str = "openai-chat",
    model: str | None = None,
    policy: Policy | None = None,
    repair: bool = False,
    observe: bool = False,
    **settings: Any,
) -> Body:
    """Fit a whole request body once; the model is read from it. See `Session.fit_request`."""
    named = model or (body.get("model") if isinstance(body.get("model"), str) else None)
    session = Session(_policy(policy, budget, named, settings), wire=wire, model=named)
    return session.fit_request(body, repair=repair, observe=observe)


def _policy(policy: Policy | None, budget: Budget | int | None, model: str | None, settings: dict[str, Any]) -> Policy:
    if policy is not None:
        if settings:
            raise ConfigError(f"give {', '.join(settings)} in the policy, not beside it")
        return policy if budget is None else replace(policy, budget=budget)
    if budget is None:
        if model is None:
            raise ConfigError("budget= is missing: give tokens, a Budget, or a model whose window is on record")
        budget = Budget.for_model(model)
    return Policy(budget=budget, **settings)
