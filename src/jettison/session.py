"""Session: what is remembered between the calls of one conversation."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeVar

from jettison.bodies import Body, request_of
from jettison.budget import Budget
from jettison.call import Call, Store
from jettison.driving import Effect, Turn, drive, drive_async
from jettison.errors import BudgetUnreachable, CannotFit, ConfigError, StoreConflict
from jettison.gate import Gate
from jettison.plan import Edge, Fitted
from jettison.policy import Policy
from jettison.protocols import Archive, Embedder, StateStore
from jettison.task import Stage, Task

if TYPE_CHECKING:
    from jettison.fitting import Fitting
    from jettison.relevance.ahead import Job
    from jettison.state import State
    from jettison.vault import Keeper, Rehydrator, Vault

__all__ = ["Session"]

T = TypeVar("T")


HEAVY = 1_000
"""Tokens of a history from which `afit` works in a thread: so many new ones take 2 ms, the way to the thread and back
.1 ms. With 10,000 a loop of 500 tasks was away for 3.5 s when all of them began (`make soak`, 2 cores)."""
ATTEMPTS = 5
"""Times that a call is done again on the state that another worker saved in between."""


class Session:
    """One conversation. Give `fit` the full history at each call, as agents have it.

    `policy`: a `Policy`, or a `Budget` or int for the default policy with that budget. `archive`: the name of a
    SQLite file, a `postgresql://` address, or an `Archive`; None keeps what is evicted in memory. `conversation`:
    whose texts they are in a shared archive (`chat-17`; it covers a sub-agent's `chat-17/researcher`), so that they
    can be searched and deleted alone; None: a random key. `store`: where the state of the conversation is kept
    between requests, a SQLite file, a `postgresql://` address, or a `StateStore`; each call begins with what is there
    and saves what it comes to. Raises ConfigError for an unknown wire or counter and for a store without a
    conversation, ArchiveError, StoreError and VaultError for what cannot be used. `vault`: takes secrets out of all
    that arrives, before anything else sees it; None: nothing is looked for and nothing is replaced.

    Safe to share between threads and between tasks: calls are let in one by one, in their order.
    """

    def __init__(
        self,
        policy: Policy | Budget | int = Policy(),
        *,
        wire: str = "openai-chat",
        model: str | None = None,
        archive: Archive | str | PathLike[str] | None = None,
        conversation: str | None = None,
        store: StateStore | str | PathLike[str] | None = None,
        vault: Vault | None = None,
    ) -> None:
        # The pipeline is two thirds of the package's import time: it is loaded with the first session, not before.
        from jettison.archive import opened
        from jettison.background import Background
        from jettison.flow.task_state import TaskReader
        from jettison.relevance.cascade import Memory
        from jettison.shelf import Shelf
        from jettison.state import State
        from jettison.tokens import CountCache, counter_for
        from jettison.wire import TRAITS, wire_named

        if model is not None and not isinstance(model, str):
            raise ConfigError(f"model is a name, not {type(model).__name__} {model!r}")
        if vault is not None and not hasattr(vault, "open"):
            raise ConfigError(f"vault is a jettison.vault.Vault, not {type(vault).__name__} {vault!r}"[:200])
        self.policy = policy if isinstance(policy, Policy) else Policy(budget=policy)
        self.wire, self.traits, self.model = wire_named(wire), TRAITS[wire], model
        self._shelf = Shelf(opened(archive), private=archive is None, own=conversation)
        self.vault: Keeper | None = None if vault is None else vault.open(self.conversation)
        self.task = Task()
        self.counter = counter_for(self.policy.counter, model, self.traits.family)
        self._costs = CountCache(self.counter)
        self._named = "" if self.policy.counter is None and model is None else None
        """The model whose family the counter is of, where a request names it; None: policy or session do."""
        self._reader = TaskReader()
        self._state = State()
        self._ratio, self._odd = 1.0, ""
        self._memory, self._embedder = Memory(), self._named_embedder()
        self._gate, self._background = Gate(), Background()
        self._store: StateStore | None = None
        self._version, self._declared, self._measured = 0, Task(), False
        if store is not None:
            from jettison.store import opened as opened_store

            if vault is not None and not vault.lasting:
                raise ConfigError(
                    "with a store the vault needs one too, or another process has not the secrets: Vault('secrets.db')"
                )
            if conversation is None:
                raise ConfigError("a store needs the key of the conversation: Session(…, conversation='chat-17')")
            self._store = opened_store(store)
            # Two workers may open operations at the same time: their ids must differ.
            self.task._count = int.from_bytes(os.urandom(5), "big")

    @property
    def archive(self) -> Archive:
        """Where what is evicted is kept."""
        return self._shelf.archive

    @archive.setter
    def archive(self, archive: Archive) -> None:
        self._shelf.archive = archive

    @property
    def conversation(self) -> str:
        """Under which key archive, store and vault have this conversation."""
        return self._shelf.conversation

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
        """`fit`, with the work of archive, store and of a long history off the event loop.

        Cancelled, it leaves the session as it was.
        """
        return await self._async(Call(messages, system, tools, response_schema, repair, observe, prior_tokens))

    def fit_request(self, body: Mapping[str, Any], *, repair: bool = False, observe: bool = False) -> Body:
        """A whole request body, with its messages and system fitted and all else as it was.

        Response schema, model and thinking settings are read from it: the model says whether reasoning is bound and
        what tokens cost, and in a session without one, at its first call, how they are counted. Its `report` attribute
        says why.
        """
        call, join = request_of(self.wire, body, repair, observe)
        return join(self._sync(call))

    async def afit_request(self, body: Mapping[str, Any], *, repair: bool = False, observe: bool = False) -> Body:
        """`fit_request`, off the event loop as `afit` is."""
        call, join = request_of(self.wire, body, repair, observe)
        return join(await self._async(call))

    def recall(self, handle: str) -> str:
        """The exact original behind a handle. Raises ArchiveError when there is none."""
        return self.archive.get(handle)

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        """(handle, excerpt) of evicted texts that match, best first.

        Of this conversation where it was given a key, else of the whole archive.
        """
        return self._shelf.search(query, limit)

    def enter(self, stage: Stage) -> None:
        """Hold only what a stage's operations need, from the next call on; what the others need waits.

        `stage` is one of `StagesRequired.stages`. Its hand-over is appended to the history as a marked note; what an
        earlier stage evicted and this one needs comes back in another. Goal and constraints hold as before, and so do
        operations that begin later. Entering another stage leaves this one.
        """
        if not isinstance(stage, Stage):
            raise TypeError(f"a stage is one of StagesRequired.stages, not {type(stage).__name__}")
        self.task.stage = stage

    def leave(self) -> None:
        """Hold what all open operations need again."""
        self.task.stage = None

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

        `input_tokens` as the provider reports it: where its cache counts are apart, give them too. A count of less
        than half of ours is not of that request and is ignored, more than twice ours counts as twice: the next report
        says so.
        """
        given = {
            "input_tokens": input_tokens,
            "cache_read_tokens": cache_read_tokens,
            "cache_write_tokens": cache_write_tokens,
        }
        for name, value in given.items():
            if not isinstance(value, int) or value < 0:
                raise ConfigError(f"{name} must be a whole number >= 0, not {value!r}")
        counted = input_tokens + (cache_read_tokens + cache_write_tokens if self.traits.cached_apart else 0)
        ours = self._state.tokens
        if not ours or not counted:
            return
        # No family differs that much: the two numbers are not of the same request, or a part of the count is missing.
        # Believed downwards it would send too much; upwards it is believed as far as a ratio can be.
        low, high = 2 * counted < ours, counted > 2 * ours
        parts = ", cache_read_tokens and cache_write_tokens" if self.traits.cached_apart else ""
        self._odd = (
            f"usage() was told {counted:,} input tokens for a request of {ours:,} by our count, and "
            f"{'ignored it' if low else 'took it for twice ours'}: give the provider's input_tokens{parts} of the "
            "request that was fitted last"
            if low or high
            else ""
        )
        if not low:
            self._ratio, self._measured = min(2.0, counted / ours), True

    # what lasts

    def save(self) -> bytes:
        """The state of the session, for `load`. Without the messages: they come with the next call.

        With a vault it holds placeholders, never a secret: those are in the vault's own store. Raises ConfigError for
        a vault in memory, which nobody could find again.
        """
        if self.vault is not None and not self.vault.lasting:
            raise ConfigError("a session with a vault in memory cannot be saved: Vault('secrets.db') keeps the secrets")
        with self._gate.held():
            return self._saved(self._state)

    @classmethod
    def load(
        cls,
        data: bytes,
        policy: Policy | Budget | int = Policy(),
        *,
        model: str | None = None,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
    ) -> Session:
        """The session that was saved, on its wire, for its model unless another one is given.

        Its next call gives what the saved session's would. An archive in memory begins empty, and has again what
        the history's stubs point at after the next call. `vault`: the one it was saved with, on the same store. Raises
        StoreError for what `save` did not write, ConfigError for a counter other than the one it was saved with, and
        for a session with a vault that is loaded without, or the other way round.
        """
        from jettison.saved import unpacked

        found = unpacked(data)
        session = cls(
            policy, wire=found["wire"], model=model or found["model"], archive=archive, conversation=found["own"]
        )
        session._shelf.conversation = found["conversation"]
        if vault is not None:
            session.vault = vault.open(session.conversation)
        session._adopt(found, 0)
        return session

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Raises TypeError: a copy would share locks and connections, and half of what is decided."""
        raise TypeError(
            "a Session cannot be copied or pickled: session.save() gives its state as bytes, and Session.load(data, "
            "policy) another session that goes on from it (with store=, one on the same store and conversation does)"
        )

    def commit(self) -> None:
        """Save to the store now what was declared and measured since the last call."""
        with self._gate.held():
            self._commit()

    async def acommit(self) -> None:
        """`commit`, off the event loop."""
        await self._aside(self.commit)

    def refresh(self) -> None:
        """Take over now what other workers saved to the store; each call begins with it by itself."""
        with self._gate.held():
            self._refresh()

    async def arefresh(self) -> None:
        """`refresh`, off the event loop."""
        await self._aside(self.refresh)

    async def arecall(self, handle: str) -> str:
        """`recall`, off the event loop."""
        return await self._aside(partial(self.recall, handle))

    async def asearch(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        """`search`, off the event loop."""
        return await self._aside(partial(self.search, query, limit))

    @staticmethod
    async def _aside(function: Callable[[], T]) -> T:
        import asyncio

        return await asyncio.to_thread(function)

    def _saved(self, state: State) -> bytes:
        from jettison.saved import FORMAT, packed, written, written_task
        from jettison.tokens import describe

        if self.vault is not None:
            self.vault.arrive_task(self.task)
            self.vault.save()
        return packed(
            {
                "format": FORMAT,
                "wire": self.wire.name,
                "model": self.model,
                "own": self._shelf.own,
                "conversation": self.conversation,
                "counter": describe(self.counter)[0],
                "named": self._named,
                "ratio": self._ratio,
                "pinned": sorted(self._shelf.pinned),
                "vault": None if self.vault is None else self.vault.names(),
                "state": written(state, self._costs.cost),
                "task": written_task(self.task),
                "limits": [[*key, *seen] for key, seen in self._reader._limits.items()],
            }
        )

    def _adopt(self, data: Mapping[str, Any], version: int) -> None:
        """Go on from what was saved; what was declared or measured here since the last time comes on top."""
        from jettison.saved import copy_task, merge_task, state_of, task_of
        from jettison.tokens import describe

        # Of before there was a name: a session that was given no model counted as its wire does.
        named = data.get("named", "" if data["model"] is None else None)
        if named is not None and self._named is not None:
            self._count_as(named)
        counter = describe(self.counter)[0]
        for what, ours in (("wire", self.wire.name), ("counter", counter)):
            if data[what] != ours:
                raise ConfigError(f"this conversation was saved with {what}={data[what]!r}, here it is {ours!r}")
        if (data.get("vault") is None) != (self.vault is None):
            raise ConfigError(
                f"this conversation was saved {'without' if self.vault else 'with'} a vault: go on with the same"
            )
        state, theirs = state_of(data["state"]), task_of(data["task"])
        if self.vault is not None and set(self.vault.names()) <= set(data["vault"]):
            # No secret is news to older messages.
            state = replace(state, history=replace(state.history, known=self.vault.known))
        merge_task(self.task, self._declared, theirs)
        if self._store is None:  # with a store each worker numbers what it declares apart
            self.task._count = max(self.task._count, theirs._count)
        self._declared = copy_task(theirs)
        self._state, self._version = state, version
        self._ratio = self._ratio if self._measured else float(data["ratio"])
        self._shelf.pinned = self._shelf.pinned.union(data["pinned"])
        self._reader._limits.update({(what, number): (step, calls) for what, number, step, calls in data["limits"]})

    def _count_as(self, named: str) -> None:
        """Count as the family of this model does; "": as the wire's own."""
        from jettison.tokens import CountCache, counter_for

        counter = counter_for(None, named, self.traits.family)
        if counter != self.counter:
            self.counter, self._costs = counter, CountCache(counter)
        self._named = named

    def _refresh(self) -> None:
        if self._store is None:
            return
        from jettison.saved import unpacked
        from jettison.state import State

        if self.vault is not None:
            self.vault.refresh()
        found = self._store.load(self.conversation, self._version)
        if found is None:
            if self._version:  # deleted: there is nothing to go on from
                self._state, self._version = State(), 0
        elif found.data is not None:
            self._adopt(unpacked(found.data), found.version)

    def _keep(self, state: State) -> Callable[[], None]:
        """Save a state to the store; what makes it the session's own is to be called once nothing can fail."""
        from jettison.saved import copy_task

        assert self._store is not None
        declared = copy_task(self.task)
        version = self._store.save(self.conversation, self._saved(state), self._version)

        def kept() -> None:
            self._version, self._declared, self._measured = version, declared, False
            for key, said in declared._told.items():
                if self.task._told.get(key, key) == said:  # nothing else was said since
                    del self.task._told[key]

        return kept

    def _commit(self) -> None:
        if self._store is None:
            return
        for attempt in range(1, ATTEMPTS + 1):
            self._refresh()
            try:
                self._keep(self._state)()
                break
            except StoreConflict:
                if attempt == ATTEMPTS:
                    raise

    # the calls, as both drivers run them

    def _sync(self, call: Call) -> Fitted:
        from jettison.nesting import nesting_named

        with nesting_named(self.wire, call):
            fitted: Fitted = drive(self._gate, partial(self._turn, call, self._background.start))
        return fitted

    async def _async(self, call: Call) -> Fitted:
        from jettison.nesting import nesting_named

        begin = partial(self._turn, call, self._background.start_task)
        with nesting_named(self.wire, call):
            fitted: Fitted = await drive_async(self._gate, begin, partial(self._heavy, call))
        return fitted

    def _heavy(self, call: Call) -> bool:
        from jettison.history import size_of

        if not self._state.call:  # the first one of a process also loads the vocabulary, a second or two
            return True
        known, given = len(self._state.history.raw), call.messages
        if self._state.weight is None:
            return True
        if not isinstance(given, Sequence):  # no history: refused at once
            return False
        new = given[known:] if isinstance(given, list | tuple) else list(given)[known:]  # a deque has no slices
        return self._state.weight + size_of(new, 4 * HEAVY) // 4 >= HEAVY

    def _turn(self, call: Call, start: Callable[[Job], None]) -> Turn:
        limits = dict(self._reader._limits)

        def commit(result: tuple[Fitted, State, Callable[[], None] | None, Job | None]) -> Fitted:
            fitted, state, kept, job = result
            self._state = state
            if kept is not None:
                kept()
            if job is not None:
                start(job)
            return fitted

        return Turn(self._steps(call), commit, partial(self._undo, limits))

    def _undo(self, limits: dict[tuple[str, int], tuple[int, int]]) -> None:
        """What a call that came to nothing has left in the parts that outlive a call."""
        self._reader._limits = limits
        self._state.undo()

    def _named_embedder(self) -> Embedder | None:
        """Who embeds, None where relevance is by rules. Raises ImportError naming the extra."""
        if self.policy.relevance == "rules":
            return None
        from jettison.relevance.local import LocalEmbedder

        return self.policy.embedder or LocalEmbedder()

    def _steps(self, call: Call) -> Generator[Effect, Any, tuple[Fitted, State, Callable[[], None] | None, Job | None]]:
        from jettison.carrying import carried, carried_async
        from jettison.relevance.ahead import TakeIn
        from jettison.relevance.effects import Keep, LookUp

        for attempt in range(1, ATTEMPTS + 1):
            if self._store is not None:
                yield Effect(self._refresh)
            if self._named is not None and not self._state.call:  # nothing is counted yet that must stay as it is
                self._count_as(call.model or "")
            limits = dict(self._reader._limits)
            fitting, answer = self._fitting(call), None
            steps = fitting.steps()
            if self.vault is not None and self.vault.unsaved:
                try:
                    yield Effect(self.vault.save)
                except StoreConflict:
                    if attempt == ATTEMPTS:
                        raise
                    self._undo(limits)  # another worker gave one of the placeholders away
                    continue
            while True:
                try:
                    effect = steps.send(answer)
                except StopIteration as stop:
                    fitted, state = stop.value
                    break
                except BudgetUnreachable as error:
                    raise self._staged(error, call, fitting) from error.__cause__
                answer = None
                if isinstance(effect, TakeIn):
                    answer = self._background.taken()
                elif isinstance(effect, LookUp | Keep):
                    answer = yield Effect(partial(self._shelf.vectors, effect), self._shelf.waits)
                elif not isinstance(effect, Store):
                    answer = yield Effect(partial(carried, effect), True, partial(carried_async, effect))
                elif effect.texts:
                    yield Effect(partial(self._shelf.put, effect.texts, self._state.plan), self._shelf.waits)
            if self._store is None:
                return fitted, state, None, fitting.consulting.job
            try:
                kept = yield Effect(partial(self._keep, state))
            except StoreConflict:
                if attempt == ATTEMPTS:
                    raise
                self._undo(limits)  # and again, on what the other worker left
            else:
                return fitted, state, kept, fitting.consulting.job
        raise AssertionError("the last attempt returns or raises")

    def _staged(self, error: BudgetUnreachable, call: Call, fitting: Fitting) -> CannotFit:
        """The error, or where the open operations fit apart the one that offers stages."""
        from jettison.staging import staged

        return staged(error, fitting.kit, call, fitting.before) or error

    def _fitting(self, call: Call) -> Fitting:
        from jettison.fitting import Fitting
        from jettison.saved import copy_task
        from jettison.state import Kit

        if self.vault is not None:
            call = self.vault.arrive_call(call, self.task)
        model = self._asked(call)
        kit = Kit(
            policy=self.policy,
            wire=self.wire,
            traits=self.traits,
            model=model,
            task=copy_task(self.task),
            costs=self._costs,
            reader=self._reader,
            handle=self._shelf.handle,
            ratio=self._ratio,
            recalled=self._shelf.recalled,
            embedder=self._embedder,
            memory=self._memory,
            kept=self._shelf.keeps(self._embedder),
            vault=self.vault,
            notes=tuple(filter(None, (self._odd, self._miscounted(model)))),
        )
        fitting = Fitting(kit, call, self._state)
        if fitting.old is not self._state:
            self._shelf.recover(fitting.taken.items, fitting.state.plan)
        return fitting

    def _asked(self, call: Call) -> str | None:
        """The model of a call: its body's, unless only the session's says what that is."""
        from jettison.models import on_record

        return call.model if call.model and (self.model is None or on_record(call.model)) else self.model

    def _miscounted(self, model: str | None) -> str:
        """What to say where the tokens of this model are others than those that are counted; else nothing."""
        from jettison.models import family_of
        from jettison.tokens import describe

        family, ours = family_of(model), describe(self.counter)[0]
        if family in (None, ours) or self.policy.counter is not None:
            return ""
        return (
            f"tokens of {model} are those of {family}, and were counted as {ours}: a session keeps the counter of its "
            "model or of its first request; usage() corrects it"
        )
