"""Session: what is remembered between the calls of one conversation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jettison.budget import Budget
from jettison.compressors.cut import handle_for
from jettison.errors import (
    BudgetUnreachable,
    CannotFit,
    ConfigError,
    ContextInsufficient,
    InvalidInput,
    Problem,
    StateBroken,
)
from jettison.flow.dependencies import Flow
from jettison.flow.task_state import TaskReader
from jettison.history import History, Snapshot, copied, schemas
from jettison.items import Fidelity, Item, Kind
from jettison.models import binds_reasoning
from jettison.plan import CacheEffect, CheckResult, Decision, Plan, Report, View, apply
from jettison.policy import Outcome, Policy, Request
from jettison.protocols import Archive
from jettison.reporting import rows_of
from jettison.stages.protect import protect
from jettison.stages.validate import validate
from jettison.task import Task
from jettison.tokens import CountCache, counter_for, describe
from jettison.wire import TRAITS, wire_named
from jettison.wire.base import Inserted, Message, Rendered

__all__ = ["Body", "Fitted", "Session", "Store", "fit", "fit_request"]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The context to send, in the shape it came in, and why it is so."""

    messages: list[Message]
    system: Any
    report: Report


class Body(dict[str, Any]):
    """A whole request body, fitted; a plain dict but for `report`."""

    report: Report


@dataclass(frozen=True, slots=True)
class Store:
    """Effect: these texts, by handle, must be in the archive before their stubs are sent."""

    texts: Mapping[str, str]


Steps = Generator[Store, None, Fitted]


@dataclass(frozen=True, slots=True)
class _Call:
    """The arguments of one fit."""

    messages: Sequence[Any]
    system: Any = None
    tools: Any = None
    response_schema: Any = None
    repair: bool = False
    observe: bool = False
    prior_tokens: int | None = None
    reasoning_drop: bool = False


@dataclass(frozen=True, slots=True)
class _State:
    """All that changes with a call; replaced as a whole, last."""

    history: History = field(default_factory=History)
    flow: Flow = field(default_factory=Flow)
    plan: Plan = field(default_factory=Plan)
    sealed: int = 0
    call: int = 0
    output: tuple[tuple[int, Message | None], ...] = ()
    """The last output: (source index, None) for a message sent as it came, (source index or -1, message) else."""
    inserted: tuple[Inserted, ...] = ()
    extra: int = 0
    """Tokens of placeholders, less those of framing that merging saved."""
    tokens: int = 0
    weight: int = 0
    """Tokens of all items of `history`, as they came."""


class Session:
    """One conversation. Give `fit` the full history at each call, as agents have it.

    `policy`: a `Policy`, or a `Budget` or int for the default policy with that budget. `archive`: an `Archive`;
    None keeps what is evicted in memory. Raises ConfigError for an unknown wire or counter.
    """

    def __init__(
        self,
        policy: Policy | Budget | int = Policy(),
        *,
        wire: str = "openai-chat",
        model: str | None = None,
        archive: Archive | None = None,
    ) -> None:
        from jettison.archive import MemoryArchive

        self.policy = policy if isinstance(policy, Policy) else Policy(budget=policy)
        self.wire, self.traits, self.model = wire_named(wire), TRAITS[wire], model
        if isinstance(archive, str):
            raise ConfigError("archive files are not available yet: pass an Archive, or None for memory")
        self.archive: Archive = MemoryArchive() if archive is None else archive
        self.task = Task()
        self.counter = counter_for(self.policy.counter, model, self.traits.family)
        self._costs = CountCache(self.counter)
        self._reader = TaskReader()
        self._state = _State()
        self._ratio = 1.0
        self._handles: dict[str, str] = {}
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
        return self._sync(_Call(messages, system, tools, response_schema, repair, observe, prior_tokens))

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
        return await self._async(_Call(messages, system, tools, response_schema, repair, observe, prior_tokens))

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
        """(handle, excerpt) of evicted texts that match, best first."""
        return self.archive.search(query, limit)

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

    def _sync(self, call: _Call) -> Fitted:
        with self._busy:
            steps = self._steps(call)
            try:
                while True:
                    self._store(next(steps))
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]

    async def _async(self, call: _Call) -> Fitted:
        import asyncio  # a fifth of the import time of the package, which sync users need not pay

        while not self._busy.acquire(blocking=False):
            await asyncio.sleep(0.001)
        try:
            steps = self._steps(call)
            try:
                while True:
                    effect = next(steps)
                    if effect.texts:
                        await asyncio.to_thread(self._store, effect)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
        finally:
            self._busy.release()

    def _store(self, effect: Store) -> None:
        for handle, text in effect.texts.items():
            self.archive.put(handle, text)

    # one call

    def _request(self, body: Mapping[str, Any], repair: bool, observe: bool) -> tuple[_Call, Callable[[Fitted], Body]]:
        messages, system, tools = self.wire.split_body(body)
        schema = body.get("response_format") or body.get("text") or body.get("output_config")
        drop = "drop_block" in str(body.get("thinking") or "")
        call = _Call(messages, system, tools, schema, repair, observe, reasoning_drop=drop)
        if body.get("previous_response_id") and call.prior_tokens is None:
            raise InvalidInput("previous_response_id points at the server: use fit(..., prior_tokens=…)")

        def join(fitted: Fitted) -> Body:
            out = Body(self.wire.join_body(body, fitted.messages, fitted.system))
            out.report = fitted.report
            return out

        return call, join

    def _steps(self, call: _Call) -> Steps:
        if call.system is not None and self.wire.system_field is None:
            raise ConfigError(f"on {self.wire.name} system text is in the messages: system= cannot be given")
        old = self._state
        taken = old.history.take(self.wire, call.messages, call.system, call.repair, call.prior_tokens is not None)
        state = old if taken.common == len(old.history.raw) else self._forked(old, taken)
        view, tool_tokens = self._view(call, taken, state)
        if state is not old:
            state = replace(state, plan=self._freed(state.plan, view))
        request = Request(
            view=view,
            task=self.task,
            flow=state.flow,
            plan=state.plan,
            sealed=state.sealed,
            sent=taken.first_new_unit,
            call=old.call + 1,
            voids=self.traits.voids,
            binds=binds_reasoning(self.model),
        )
        try:
            outcome, rendered, tokens = self._decide(request, taken, state)
        except CannotFit as error:
            error.report = self._failed(request, taken, error, tool_tokens)
            raise
        items = self._rendered(view, outcome, rendered)
        broken = self._check(rendered, outcome, call, taken, state)
        checks = validate(items, view, outcome.locks, tokens, broken, self.policy.checks)
        report = self._report(request, taken, outcome, rendered, tokens, checks, call, tool_tokens)
        report = self._verdict(report, view, outcome)
        handles = {decision.item: decision.handle for decision in outcome.fresh if decision.handle}
        yield Store({handles[item.id]: item.text for item in view.items if item.id in handles} if handles else {})
        return self._commit(call, taken, state, outcome, rendered, tokens, report)

    def _forked(self, old: _State, taken: Snapshot) -> _State:
        """The state for a history that was edited, rewound or forked: decisions go with their content."""
        kept = [item for record in old.history.records[: taken.common] for item in record]
        decisions = {item.id: old.plan.decisions[item.id] for item in kept if item.id in old.plan.decisions}
        loose: dict[str, list[Decision]] = {}
        for record in old.history.records[taken.common :]:
            for item in record:
                if item.id in old.plan.decisions:
                    loose.setdefault(item.id.partition("-")[2], []).append(old.plan.decisions[item.id])
        for record in taken.records[taken.common :]:
            for item in record:
                same = loose.get(item.id.partition("-")[2])
                if same:
                    decisions[item.id] = replace(same.pop(0), item=item.id)
        sealed = min([old.sealed, *(item.unit for record in taken.records[taken.common :][:1] for item in record)])
        return replace(old, flow=Flow(), plan=Plan(decisions), sealed=sealed, output=())

    def _freed(self, plan: Plan, view: View) -> Plan:
        """After a fork: without the decisions on what is protected now, as the branch never saw them made."""
        locks = protect(view, self.task, protectors=self.policy.protectors)
        kept = {
            name: decision
            for name, decision in plan.decisions.items()
            if name not in locks.whole and all(lock.text in decision.text for lock in locks.spans.get(name, ()))
        }
        for unit in view.units:
            joined = [item.id for item in unit.of(Kind.CALL, Kind.RESULT)]
            gone = [name for name in joined if name in kept and kept[name].fidelity is Fidelity.GONE]
            if len(gone) < len(joined):
                for name in gone:  # a call and its results go together or not at all
                    del kept[name]
        return Plan(kept)

    def _view(self, call: _Call, taken: Snapshot, state: _State) -> tuple[View, int]:
        tools, text = schemas(call.tools, call.response_schema)
        tool_tokens = self._costs.text(text)
        fixed = self.wire.base_tokens + tool_tokens + state.extra + (call.prior_tokens or 0)
        limit = int(self.policy.size.limit / self._ratio)
        items = taken.items
        return (
            View(
                items=items,
                units=taken.units,
                task=self._reader.read(taken.units, self.task),
                step=taken.step,
                limit=limit,
                fixed=fixed,
                tools=tools,
                cost=self._costs.cost,
                count=self.counter,
                handle=self._handle,
            ),
            tool_tokens,
        )

    def _handle(self, text: str) -> str:
        letters = 10
        while True:
            handle = handle_for(text, letters)
            if self._handles.setdefault(handle, text) == text:
                return handle
            letters += 2

    def _decide(self, request: Request, taken: Snapshot, state: _State) -> tuple[Outcome, Rendered, int]:
        """Decide, render, and count what was rendered; placeholders may take room that has to be found."""
        limit = request.view.limit
        for _ in range(4):
            try:
                outcome = self.policy.decide(request)
            except BudgetUnreachable as error:
                # Items are weighed alone; rendered together they may take less (one message's framing, not two).
                outcome = error.outcome
                if self._measure(error, request, taken) > limit:
                    raise
            if self._appends(taken, state, outcome):
                return outcome, self._append(taken, state, outcome), outcome.tokens
            items = [item for item in apply(request.view.items, outcome.plan) if item.message >= 0]
            rendered = self.wire.render(items, taken.messages)
            tokens = outcome.tokens if not rendered.inserted and not outcome.fresh else self._recount(request, rendered)
            if tokens <= limit:
                return outcome, rendered, tokens
            request = replace(request, view=replace(request.view, limit=request.view.limit - (tokens - limit)))
        raise BudgetUnreachable(tokens, limit)

    def _measure(self, error: BudgetUnreachable, request: Request, taken: Snapshot) -> int:
        """Correct the numbers of the error by what its smallest context takes when rendered."""
        items = [item for item in apply(request.view.items, error.outcome.plan) if item.message >= 0]
        error.revise(self._recount(request, self.wire.render(items, taken.messages)))
        return error.needed

    def _appends(self, taken: Snapshot, state: _State, outcome: Outcome) -> bool:
        """Whether the output is the last one, with what is new behind it."""
        grown = bool(state.output) and taken.common == len(state.history.raw)
        return grown and not outcome.fresh and outcome.plan is state.plan

    def _append(self, taken: Snapshot, state: _State, outcome: Outcome) -> Rendered:
        """The last output, and what is new after it."""
        new = [item for record in taken.records[taken.common :] for item in record]
        tail = self.wire.render(apply(new, outcome.plan), taken.messages, taken.common)
        messages = [taken.messages[at] if message is None else message for at, message in state.output]
        sources = [at for at, _ in state.output]
        shifted = [replace(entry, message=entry.message + len(messages)) for entry in tail.inserted]
        return Rendered(messages + tail.messages, sources + tail.sources, [*state.inserted, *shifted])

    def _recount(self, request: Request, rendered: Rendered) -> int:
        """Tokens of a rendered request: parsed and counted anew."""
        records, _ = self.wire.parse(rendered.messages)
        system = [item for item in request.view.items if item.message < 0]
        items = [*system, *(item for record in records for item in record)]
        return request.view.fixed - self._state.extra + self._costs.total(items)

    def _rendered(self, view: View, outcome: Outcome, rendered: Rendered) -> list[Item]:
        """The kept items that are really in the output: sufficiency is judged by what is sent, not by the plan."""
        if not outcome.fresh:
            locked, every = outcome.locks.by_item, bool(self.policy.checks)
            return apply([item for item in view.items if every or item.id in locked], outcome.plan)
        items = apply(view.items, outcome.plan)
        records, _ = self.wire.parse(rendered.messages)
        sent = {item.text for record in records for item in record}
        return [item for item in items if item.message < 0 or not item.text or item.text in sent]

    def _check(
        self, rendered: Rendered, outcome: Outcome, call: _Call, taken: Snapshot, state: _State
    ) -> list[Problem]:
        """The wire's verdict on what was not checked before: as input, or in the last output."""
        if not outcome.fresh and not rendered.inserted:
            return []
        start = 0
        if self._appends(taken, state, outcome):
            start, border = len(state.output), state.history.border(taken.common)
            while start > 0 and not 0 <= rendered.sources[start - 1] < border:
                start -= 1
        problems = self.wire.check(rendered.messages, system=call.system, start=start)
        if call.prior_tokens is not None:
            problems = [problem for problem in problems if "item_reference" not in problem.rule]
        return problems

    # reports

    def _report(
        self,
        request: Request,
        taken: Snapshot,
        outcome: Outcome,
        rendered: Rendered,
        tokens: int,
        checks: Mapping[str, CheckResult],
        call: _Call,
        tool_tokens: int,
    ) -> Report:
        name, error = describe(self.counter)
        view, policy = request.view, self.policy
        notes = list(taken.notes)
        if self._ratio != 1.0:
            notes.append(f"counts are scaled by {self._ratio:.3f}, the ratio of the provider's last count to ours")
        if call.prior_tokens:
            notes.append(f"{call.prior_tokens:,} tokens of history are on the server and were not looked at")
        return Report(
            wire=self.wire.name,
            call=request.call,
            limit=view.limit,
            before=view.fixed - self._state.extra + self._weight(taken),
            after=tokens,
            schemas=tool_tokens,
            counter=name,
            counter_error=error,
            checks=checks,
            protections=outcome.locks.protections,
            task=view.task,
            inserted=tuple(rendered.inserted),
            repaired=taken.repaired,
            notes=tuple(notes),
            degraded=outcome.degraded,
            pending=taken.pending,
            cache=self._cache(outcome, rendered, taken),
            observed=call.observe,
            build_rows=lambda: tuple(rows_of(view, outcome.plan, outcome.locks, policy.evaluate)),
        )

    def _weight(self, taken: Snapshot) -> int:
        """Tokens of all items; those of the last call were counted then."""
        old = self._state
        if taken.common == len(old.history.raw) and taken.system is old.history.system:
            return old.weight + self._costs.total(taken.items[len(old.history.items) :])
        return self._costs.total(taken.items)

    def _cache(self, outcome: Outcome, rendered: Rendered, taken: Snapshot) -> CacheEffect:
        """Where the output first differs from the last one, and what is sent again because of it."""
        if self._appends(taken, self._state, outcome):
            return CacheEffect(outcome.epoch, None, 0, outcome.voided)
        last = [self._state.history.sent(at) if own is None else own for at, own in self._state.output]
        first = next((i for i, (a, b) in enumerate(zip(last, rendered.messages, strict=False)) if a != b), None)
        if first is None and len(rendered.messages) < len(last):
            first = len(rendered.messages)
        rebilled = 0
        if first is not None:
            same = self.wire.parse(rendered.messages[first:])[0]
            rebilled = self._costs.total(item for record in same for item in record)
        return CacheEffect(outcome.epoch, first, rebilled, outcome.voided)

    def _failed(self, request: Request, taken: Snapshot, error: CannotFit, tool_tokens: int) -> Report:
        """The report of an attempt that ended in an error: nothing was changed."""
        missing = tuple(getattr(error, "missing", ()))
        budget = CheckResult(not isinstance(error, BudgetUnreachable), str(error).split("\n")[0])
        checks = {
            "budget": budget,
            "integrity": CheckResult(True, "not reached"),
            "sufficiency": CheckResult(not missing, "not reached" if not missing else "protections are lost", missing),
        }
        outcome = getattr(error, "outcome", None)
        outcome = outcome if isinstance(outcome, Outcome) else Outcome(request.plan, self._locks(request), 0)
        rendered = Rendered([], [])
        call = _Call(())
        tokens = error.needed if isinstance(error, BudgetUnreachable) else 0
        return replace(
            self._report(request, taken, outcome, rendered, tokens, checks, call, tool_tokens), cache=CacheEffect()
        )

    def _locks(self, request: Request) -> Any:
        return protect(request.view, self.task, protectors=self.policy.protectors)

    def _verdict(self, report: Report, view: View, outcome: Outcome) -> Report:
        """Raise, or with on_unsafe="degrade" name, what does not hold."""
        unmet = self._unmet(outcome, view)
        missing = [*report.checks["sufficiency"].missing, *unmet]
        if unmet:
            result = CheckResult(False, f"{len(missing)} needs are not met", tuple(missing))
            report = replace(report, checks={**report.checks, "sufficiency": result})
        if report.ok:
            return report
        if self.policy.on_unsafe == "degrade" and report.checks["budget"].ok and report.checks["integrity"].ok:
            return replace(report, degraded=(*report.degraded, *missing))
        broken = report.checks["integrity"].missing
        if not report.checks["budget"].ok:
            error: CannotFit = BudgetUnreachable(report.after, report.limit)
        elif broken:
            error = StateBroken(f"the output would break the wire's rules: {broken[0]}", broken)
        elif any(entry in unmet for entry in missing):
            error = ContextInsufficient(f"the context does not hold what is needed: {missing[0]}", missing)
        else:
            error = StateBroken(f"a protected part would be lost: {missing[0]}", missing)
        error.report = report
        raise error

    def _unmet(self, outcome: Outcome, view: View) -> list[str]:
        """Needs of open operations that stand nowhere in the history."""
        held = {lock.text for lock in outcome.locks.protections}
        if outcome.degraded:
            return []
        return [
            f"operation {op.id} ({op.name}) needs {need!r}, which is nowhere in the history"
            for op in self.task.operations.values()
            if op.open
            for need in op.needs
            if need not in held and not any(need in item.extra for item in view.items)
        ]

    def _commit(
        self,
        call: _Call,
        taken: Snapshot,
        state: _State,
        outcome: Outcome,
        rendered: Rendered,
        tokens: int,
        report: Report,
    ) -> Fitted:
        history, weight = taken.taken(), self._weight(taken)
        if call.observe:
            count = self._state.call + 1
            self._state = replace(self._state, history=history, flow=state.flow, output=(), call=count, weight=weight)
            return Fitted(list(taken.given), call.system, report)
        output = list(state.output) if self._appends(taken, state, outcome) else []
        for at, message in zip(rendered.sources[len(output) :], rendered.messages[len(output) :], strict=True):
            same = at >= 0 and message is taken.messages[at]
            output.append((at, None if same else copied(message)))
        given, mended = taken.given, taken.mended
        messages = [
            given[at] if own is None and at not in mended else copied(message)
            for (at, own), message in zip(output, rendered.messages, strict=True)
        ]
        extra = tokens - outcome.tokens + state.extra
        self._state = _State(
            history=history,
            flow=state.flow,
            plan=outcome.plan,
            sealed=outcome.sealed,
            call=state.call + 1,
            output=tuple(output),
            inserted=tuple(rendered.inserted),
            extra=extra,
            tokens=tokens,
            weight=weight,
        )
        return Fitted(messages, taken.system_out, report)


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
