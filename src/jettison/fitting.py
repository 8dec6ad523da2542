"""One call of a session: take in, decide, render, check, report. What is remembered is replaced as a whole, last."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jettison.call import Call, Store
from jettison.epoch import Outcome, Request
from jettison.errors import BudgetUnreachable, CannotFit, ConfigError, Problem
from jettison.flow.dependencies import Flow
from jettison.flow.task_state import TaskReader
from jettison.history import History, Snapshot, copied, schemas
from jettison.items import Fidelity, Item, Kind
from jettison.models import binds_reasoning
from jettison.plan import CacheEffect, CheckResult, Decision, Fitted, Plan, Report, View, apply
from jettison.policy import Policy
from jettison.reporting import failed_checks, first_change, judged, rows_of, unmet
from jettison.stages.protect import protect
from jettison.stages.validate import validate
from jettison.task import Task
from jettison.tokens import CountCache, describe
from jettison.tool_policy import policies_for
from jettison.wire import Traits
from jettison.wire.base import Inserted, Message, Rendered, Wire

if TYPE_CHECKING:
    from jettison.vault import Keeper

__all__ = ["Fitting", "Kit", "State"]


@dataclass(frozen=True, slots=True)
class State:
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


@dataclass(frozen=True, slots=True)
class Kit:
    """What a session works with; all of it outlives a call."""

    policy: Policy
    wire: Wire
    traits: Traits
    model: str | None
    task: Task
    costs: CountCache
    reader: TaskReader
    handle: Callable[[str], str]
    ratio: float
    """The provider's last count to ours."""
    vault: Keeper | None = None


Steps = Generator[Store, None, tuple[Fitted, State]]


class Fitting:
    """One call. `steps` yields what is to be stored, and returns the result and the new state."""

    def __init__(self, kit: Kit, call: Call, old: State) -> None:
        if call.system is not None and kit.wire.system_field is None:
            raise ConfigError(f"on {kit.wire.name} system text is in the messages: system= cannot be given")
        self.kit, self.call, self.old = kit, call, old
        self.wire, self.costs = kit.wire, kit.costs
        self.policy = replace(kit.policy, reasoning_drop=True) if call.reasoning_drop else kit.policy
        self.taken = old.history.take(
            self.wire, call.messages, call.system, call.repair, call.prior_tokens is not None, kit.vault
        )
        self.state = old if self.taken.common == len(old.history.raw) else forked(old, self.taken)
        self.tools, schema = schemas(call.tools, call.response_schema)
        self.tool_tokens = self.costs.text(schema)
        self.view = self.seen()
        if self.state is not old:
            self.state = replace(self.state, plan=self.freed(self.state.plan))

    def seen(self) -> View:
        """The call as the policy sees it."""
        taken, fixed = self.taken, self.wire.base_tokens + self.tool_tokens + self.state.extra
        return View(
            items=taken.items,
            units=taken.units,
            task=self.kit.reader.read(taken.units, self.kit.task, [name for name, _ in self.tools]),
            step=taken.step,
            limit=int(self.policy.size.limit / self.kit.ratio),
            fixed=fixed + (self.call.prior_tokens or 0),
            tools=self.tools,
            cost=self.costs.cost,
            count=self.costs.count,
            handle=self.kit.handle,
            policies=policies_for(self.policy.tools, self.call.tools),
        )

    def steps(self) -> Steps:
        request = self.request()
        try:
            outcome, rendered, tokens = self.decide(request)
        except CannotFit as error:
            error.report = self.failed(request, error)
            raise
        items = self.kept(outcome, rendered)
        broken = self.broken(rendered, outcome)
        checks = validate(items, self.view, outcome.locks, tokens, broken, self.policy.checks)
        report = self.report(outcome, tokens, checks, rendered, self.cache(outcome, rendered))
        report = judged(report, unmet(self.kit.task, outcome, self.view), self.policy.on_unsafe == "degrade")
        handles = {decision.item: decision.handle for decision in outcome.fresh if decision.handle}
        yield Store({handles[item.id]: item.text for item in self.view.items if item.id in handles} if handles else {})
        return self.finished(outcome, rendered, tokens, report)

    def request(self) -> Request:
        return Request(
            view=self.view,
            task=self.kit.task,
            flow=self.state.flow,
            plan=self.state.plan,
            sealed=self.state.sealed,
            sent=self.taken.first_new_unit,
            call=self.old.call + 1,
            voids=self.kit.traits.voids,
            binds=binds_reasoning(self.kit.model),
        )

    def freed(self, plan: Plan) -> Plan:
        """After a fork: without the decisions on what is protected now, as the branch never saw them made."""
        locks = protect(self.view, self.kit.task, protectors=self.policy.protectors)
        kept = {
            name: decision
            for name, decision in plan.decisions.items()
            if name not in locks.whole and all(lock.text in decision.text for lock in locks.spans.get(name, ()))
        }
        for unit in self.view.units:
            # Where an edit does not void reasoning, it and what follows it are one as well.
            kinds = (Kind.CALL, Kind.RESULT) if self.kit.traits.voids else (Kind.CALL, Kind.RESULT, Kind.REASONING)
            joined = [item.id for item in unit.of(*kinds)]
            gone = [name for name in joined if name in kept and kept[name].fidelity is Fidelity.GONE]
            if len(gone) < len(joined):
                for name in gone:  # a call and its results go together or not at all
                    del kept[name]
        return Plan(kept)

    def decide(self, request: Request) -> tuple[Outcome, Rendered, int]:
        """Decide, render, and count what was rendered; placeholders may take room that has to be found."""
        limit = request.view.limit
        for _ in range(4):
            outcome = self.decided(request, limit)
            if self.appends(outcome):
                return outcome, self.appended(outcome), outcome.tokens
            items = [item for item in apply(request.view.items, outcome.plan) if item.message >= 0]
            rendered = self.wire.render(items, self.taken.messages)
            tokens = outcome.tokens if not rendered.inserted and not outcome.fresh else self.recount(request, rendered)
            if tokens <= limit:
                return outcome, rendered, tokens
            request = replace(request, view=replace(request.view, limit=request.view.limit - (tokens - limit)))
        raise BudgetUnreachable(tokens, limit)

    def decided(self, request: Request, limit: int) -> Outcome:
        """The policy's decision. Nothing is given up before it is certain that the rendered request does not fit."""
        degrade = self.policy.on_unsafe == "degrade"
        for policy in (replace(self.policy, on_unsafe="raise"), self.policy) if degrade else (self.policy,):
            try:
                return policy.decide(request)
            except BudgetUnreachable as error:
                # Items are weighed alone; rendered together they may take less (one message's framing, not two).
                if self.measure(error, request) <= limit:
                    found: Outcome = error.outcome
                    return found
                if policy is self.policy:
                    raise
        raise AssertionError("one of the policies answers or raises")

    def measure(self, error: BudgetUnreachable, request: Request) -> int:
        """Correct the numbers of the error by what its smallest context takes when rendered."""
        items = [item for item in apply(request.view.items, error.outcome.plan) if item.message >= 0]
        error.revise(self.recount(request, self.wire.render(items, self.taken.messages)))
        return error.needed

    def appends(self, outcome: Outcome) -> bool:
        """Whether the output is the last one, with what is new behind it."""
        state = self.state
        grown = bool(state.output) and self.taken.common == len(state.history.raw)
        return grown and not outcome.fresh and outcome.plan is state.plan

    def appended(self, outcome: Outcome) -> Rendered:
        """The last output, and what is new after it."""
        taken, state = self.taken, self.state
        new = [item for record in taken.records[taken.common :] for item in record]
        tail = self.wire.render(apply(new, outcome.plan), taken.messages, taken.common)
        messages = [taken.messages[at] if message is None else message for at, message in state.output]
        sources = [at for at, _ in state.output]
        shifted = [replace(entry, message=entry.message + len(messages)) for entry in tail.inserted]
        return Rendered(messages + tail.messages, sources + tail.sources, [*state.inserted, *shifted])

    def recount(self, request: Request, rendered: Rendered) -> int:
        """Tokens of a rendered request: parsed and counted anew."""
        records, _ = self.wire.parse(rendered.messages)
        system = [item for item in request.view.items if item.message < 0]
        items = [*system, *(item for record in records for item in record)]
        return request.view.fixed - self.old.extra + self.costs.total(items)

    def kept(self, outcome: Outcome, rendered: Rendered) -> list[Item]:
        """The kept items that are really in the output: sufficiency is judged by what is sent, not by the plan."""
        if not outcome.fresh:
            locked, every = outcome.locks.by_item, bool(self.policy.checks)
            return apply([item for item in self.view.items if every or item.id in locked], outcome.plan)
        items = apply(self.view.items, outcome.plan)
        records, _ = self.wire.parse(rendered.messages)
        sent = {item.text for record in records for item in record}
        return [item for item in items if item.message < 0 or not item.text or item.text in sent]

    def broken(self, rendered: Rendered, outcome: Outcome) -> list[Problem]:
        """The wire's verdict on what was not checked before: as input, or in the last output."""
        if not outcome.fresh and not rendered.inserted:
            return []
        start = 0
        if self.appends(outcome):
            start, border = len(self.state.output), self.state.history.border(self.taken.common)
            while start > 0 and not 0 <= rendered.sources[start - 1] < border:
                start -= 1
        problems = self.wire.check(rendered.messages, system=self.taken.system_out, start=start)
        if self.call.prior_tokens is not None:
            problems = [problem for problem in problems if "item_reference" not in problem.rule]
        return problems

    def report(
        self,
        outcome: Outcome,
        tokens: int,
        checks: Mapping[str, CheckResult],
        rendered: Rendered,
        cache: CacheEffect,
    ) -> Report:
        name, error = describe(self.costs.count)
        view, taken, evaluate = self.view, self.taken, self.policy.evaluate
        return Report(
            wire=self.wire.name,
            call=self.old.call + 1,
            limit=view.limit,
            before=view.fixed - self.old.extra + self.weight(),
            after=tokens,
            schemas=self.tool_tokens,
            counter=name,
            counter_error=error,
            checks=checks,
            protections=outcome.locks.protections,
            task=view.task,
            inserted=(*rendered.inserted, *self.hidden(rendered)),
            repaired=taken.repaired,
            notes=tuple(self.notes(outcome)),
            degraded=outcome.degraded,
            pending=taken.pending,
            cache=cache,
            observed=self.call.observe,
            build_rows=lambda: tuple(rows_of(view, outcome.plan, outcome.locks, evaluate)),
        )

    def hidden(self, rendered: Rendered) -> Iterator[Inserted]:
        """The placeholders that stand for secrets in the output."""
        if self.taken.secrets:
            for at, source in enumerate(rendered.sources):
                for name in self.taken.secrets.get(source, ()):
                    yield Inserted(at, name, "secret")

    def notes(self, outcome: Outcome) -> list[str]:
        notes, ratio = list(self.taken.notes), self.kit.ratio
        if ratio != 1.0:
            notes.append(f"counts are scaled by {ratio:.3f}, the ratio of the provider's last count to ours")
        if self.call.prior_tokens:
            notes.append(f"{self.call.prior_tokens:,} tokens of history are on the server and were not looked at")
        notes += self.view.task.notes
        gone = [lock for lock in outcome.locks.protections if lock.level == "lost"]
        if gone:
            names = ", ".join(dict.fromkeys(f"{lock.item} ({lock.reason})" for lock in gone[:5]))
            notes.append(f"evicted before there was a reason to keep it, the archive has it: {names}")
        return notes

    def weight(self) -> int:
        """Tokens of all items; those of the last call were counted then."""
        old, taken = self.old, self.taken
        if taken.common == len(old.history.raw) and taken.system is old.history.system:
            return old.weight + self.costs.total(taken.items[len(old.history.items) :])
        return self.costs.total(taken.items)

    def cache(self, outcome: Outcome, rendered: Rendered) -> CacheEffect:
        """Where the output first differs from the last one, and what is sent again because of it."""
        if self.appends(outcome):
            return CacheEffect(outcome.epoch, None, 0, outcome.voided)
        last = [self.old.history.sent(at) if own is None else own for at, own in self.old.output]
        first, again = first_change(last, rendered.messages), 0
        if first is not None:
            records, _ = self.wire.parse(rendered.messages[first:])
            again = self.costs.total(item for record in records for item in record)
        return CacheEffect(outcome.epoch, first, again, outcome.voided)

    def failed(self, request: Request, error: CannotFit) -> Report:
        """The report of an attempt that ended in an error: nothing was changed."""
        outcome = getattr(error, "outcome", None)
        if not isinstance(outcome, Outcome):
            locks = protect(request.view, self.kit.task, protectors=self.policy.protectors)
            outcome = Outcome(request.plan, locks, 0)
        tokens = error.needed if isinstance(error, BudgetUnreachable) else 0
        report = self.report(outcome, tokens, failed_checks(error), Rendered([], []), CacheEffect())
        return replace(report, observed=False)

    def finished(self, outcome: Outcome, rendered: Rendered, tokens: int, report: Report) -> tuple[Fitted, State]:
        """What is handed out, and what the next call begins with."""
        taken, state = self.taken, self.state
        history, weight = taken.taken(), self.weight()
        if self.call.observe:
            seen = replace(self.old, history=history, flow=state.flow, output=(), call=self.old.call + 1, weight=weight)
            return Fitted(list(taken.given), self.call.system, report), seen
        output = list(state.output) if self.appends(outcome) else []
        for at, message in zip(rendered.sources[len(output) :], rendered.messages[len(output) :], strict=True):
            same = at >= 0 and message is taken.messages[at]
            output.append((at, None if same else copied(message)))
        given, mended = taken.given, taken.mended
        messages = [
            given[at] if own is None and at not in mended else copied(message)
            for (at, own), message in zip(output, rendered.messages, strict=True)
        ]
        new = State(
            history=history,
            flow=state.flow,
            plan=outcome.plan,
            sealed=outcome.sealed,
            call=state.call + 1,
            output=tuple(output),
            inserted=tuple(rendered.inserted),
            extra=tokens - outcome.tokens + state.extra,
            tokens=tokens,
            weight=weight,
        )
        return Fitted(messages, taken.system_out, report), new


def forked(old: State, taken: Snapshot) -> State:
    """The state for a history that was edited, rewound or forked: decisions go with their content."""
    kept = [item for record in old.history.records[: taken.common] for item in record]
    decisions = {item.id: old.plan.decisions[item.id] for item in kept if item.id in old.plan.decisions}
    loose: dict[tuple[Kind, str], list[Decision | None]] = {}
    for record in old.history.records[taken.common :]:
        for item in record:  # those without a decision too: the third of equal items stays the third
            same = loose.setdefault((item.kind, item.id.partition("-")[2]), [])
            same.append(old.plan.decisions.get(item.id))
    for record in taken.records[taken.common :]:
        for item in record:
            same = loose.get((item.kind, item.id.partition("-")[2]), [])
            decision = same.pop(0) if same else None
            if decision is not None:
                decisions[item.id] = replace(decision, item=item.id)
    sealed = min([old.sealed, *(item.unit for record in taken.records[taken.common :][:1] for item in record)])
    return replace(old, flow=Flow(), plan=Plan(decisions), sealed=sealed, output=())
