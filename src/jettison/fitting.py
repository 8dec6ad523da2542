"""One call of a session: take in, decide, render, check, report. What is remembered is replaced as a whole, last."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from jettison.call import Call, Store
from jettison.compressors.summary import Ask
from jettison.epoch import Outcome, Request, Run
from jettison.errors import BudgetUnreachable, CannotFit, ConfigError, InvalidInput, Problem, StateBroken
from jettison.flow.dependencies import Flow
from jettison.flow.task_state import TaskReader
from jettison.history import History, Snapshot, copied, schemas
from jettison.items import Fidelity, Item, Kind
from jettison.models import binds_reasoning
from jettison.notes import FRAMING, Note, archived, missing, placed, takes_note
from jettison.plan import CacheEffect, CheckResult, Decision, Fitted, Plan, Report, Semantic, View, apply
from jettison.policy import Policy
from jettison.prices import Rewrite, prices_for
from jettison.protocols import Embedder
from jettison.relevance.cascade import Consulted, Memory, consult
from jettison.relevance.effects import Embed, Judging
from jettison.reporting import failed_checks, first_change, judged, rows_of, unmet
from jettison.rereading import asked_again
from jettison.stages.protect import protect
from jettison.stages.validate import validate
from jettison.summing import NO_SUMMARY, Rolling, inserted, rolled
from jettison.task import Task, TaskState
from jettison.tokens import CountCache, describe
from jettison.tool_policy import policies_for
from jettison.tool_schemas import costs_of, needed, unused, without
from jettison.wire import Traits
from jettison.wire.base import Inserted, Message, Rendered, Wire, plain
from jettison.wire.marks import MOST, marked, marks_in, marks_of

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

    dropped: tuple[str, ...] = ()
    """Tools whose schemas are left out."""
    notes: tuple[Note, ...] = ()
    """What stands behind the history in the last output, and where."""
    since: Mapping[str, int] = field(default_factory=dict)
    """By tool the step at which it was first declared; 0: at the first call."""
    learnt: int = 0
    """How much of the log of `flow` belongs to this state."""
    summary: Rolling = NO_SUMMARY
    """Of what was dropped whole."""

    def undo(self) -> None:
        """Take out of the statistics what a call that failed has added."""
        if len(self.flow.log) > self.learnt:
            self.flow.rewind(self.learnt, self.history.items)

    def awake(self, taken: Snapshot, costs: CountCache) -> State:
        """A state that was saved, now that its history is at hand again: the statistics are made when needed."""
        base = taken.base
        self.history.weigh(costs, base)
        flow = Flow.replayed(self.flow.log, base.items) if taken.common == len(base.raw) else Flow()
        return replace(self, history=base, flow=flow, learnt=len(flow.log))


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
    recalled: Callable[[str], str | None]
    """The handle of a text that was brought back from the archive."""
    embedder: Embedder | None = None
    """Of a policy whose relevance asks for one."""
    memory: Memory = field(default_factory=Memory)
    """What embedder and judge have answered."""
    vault: Keeper | None = None


Steps = Generator[Store | Embed | Judging | Ask, Any, tuple[Fitted, State]]


class Fitting:
    """One call. `steps` yields what is to be asked and stored, and returns the result and the new state."""

    semantic = Semantic()

    def __init__(self, kit: Kit, call: Call, old: State) -> None:
        if call.system is not None and kit.wire.system_field is None:
            raise ConfigError(f"on {kit.wire.name} system text is in the messages: system= cannot be given")
        self.kit, self.call, self.before = kit, call, old
        self.wire, self.costs = kit.wire, kit.costs
        self.policy = replace(kit.policy, reasoning_drop=True) if call.reasoning_drop else kit.policy
        self.taken = old.history.take(
            self.wire,
            call.messages,
            call.system,
            call.repair,
            call.prior_tokens is not None,
            self.spare(call),
            kit.vault,
        )
        if over := self.overmarked():
            raise InvalidInput(over)
        self.old = old = old if self.taken.base is old.history else old.awake(self.taken, kit.costs)
        self.state = old if self.taken.common == len(old.history.raw) else forked(old, self.taken)
        self.declared, schema = schemas(call.tools, call.response_schema)
        self.given_schemas = self.tool_tokens = self.costs.text(schema)
        self.tools, self.sent_tools, self.dropped = self.declared, call.tools, self.still_dropped()
        if self.dropped:
            self.sent_tools = without(call.tools, self.dropped)
            self.tools, schema = schemas(self.sent_tools, call.response_schema)
            self.tool_tokens = self.costs.text(schema)
        self.summary = self.state.summary
        self.view = self.seen()
        if self.state is not old:
            self.state = replace(self.state, plan=self.freed(self.state.plan))
        self.live, self.added = self.due_notes()
        self.extra = self.state.extra + sum(self.costs.text(note.text) + FRAMING for note in self.added)
        self.view = replace(self.view, fixed=self.view.fixed + self.extra - self.state.extra)

    def due_notes(self) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
        """(notes of earlier calls that still hold, notes that this call adds)."""
        view, state, stage = self.view, self.state, self.kit.task.stage
        live = tuple(note for note in state.notes if note.live(view.task, stage.handover if stage else ""))
        if not takes_note(view.units, bool(self.taken.pending), self.kit.traits.voids):
            return live, ()
        last = len(self.taken.records) - 1
        added = []
        if stage is not None and not any(note.text == stage.handover for note in live):
            added.append(Note(stage.handover, last))
        found = archived(view, state.plan, live, last)
        return live, (*added, found) if found is not None else tuple(added)

    def spare(self, call: Call) -> int | None:
        """Cache marks that the messages may come with; None: whatever they have."""
        if not self.kit.traits.marks or not (call.repair or self.policy.place_cache_marks):
            return None
        if self.policy.place_cache_marks:
            return 0
        return max(0, MOST - call.marks - marks_in(call.system) - marks_in(call.tools))

    def still_dropped(self) -> tuple[str, ...]:
        """Tools that an earlier epoch dropped and nothing needs since: a branch may call one, or the user name it."""
        if not self.old.dropped:
            return ()
        names = [name for name, _ in self.declared if name in self.old.dropped]
        sent = apply(self.taken.items, self.state.plan)
        return tuple(name for name in names if name not in needed(names, sent, TaskState(), self.call.choice))

    def drop(self, outcome: Outcome) -> tuple[str, ...]:
        """Tools that this epoch drops: never where that would void reasoning, which is bound to the tools too."""
        after, items = self.policy.drop_unused_tools, self.taken.items
        if after is None or outcome.epoch not in ("minor", "major") or self.call.observe:
            return ()
        sent = apply(items, outcome.plan)
        lax = self.policy.reasoning_drop or binds_reasoning(self.kit.model) is False
        if self.kit.traits.voids and not lax and any(item.bound for item in sent):
            return ()
        names = [name for name, _ in self.tools]
        keep = needed(names, sent, self.view.task, self.call.choice)
        return unused(names, items, self.view.step, after, self.since(), keep)

    def since(self) -> Mapping[str, int]:
        """The step at which each tool was first declared; 0 for those of the first call."""
        known, step = self.old.since, self.taken.step if self.old.call else 0
        new = {name: step for name, _ in self.declared if name not in known}
        return {**known, **new} if new else known

    def overmarked(self) -> list[Problem]:
        """More cache marks than there may be, where the wire cannot see it: it does not look at tools."""
        call, beside = self.call, self.call.marks + marks_in(self.call.tools)
        if not self.kit.traits.marks or not beside or self.policy.place_cache_marks:
            return []
        found = beside + marks_in(call.system) + marks_in(self.taken.given)
        if found <= MOST:
            return []
        rule = f"at most {MOST} cache_control marks over tools, system and messages, here are {found}"
        return [Problem(self.wire.field, rule, "remove marks")]

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
        if self.kit.embedder is not None:
            self.semantic = yield from self.consulted(request, self.kit.embedder)
            request = replace(request, semantic=self.semantic)
        try:
            outcome, rendered, tokens = self.decide(request)
            lost = missing(request.notes, {entry.text for entry in rendered.inserted})
            if lost:
                raise StateBroken(f"a note that is needed has no place in the request: {lost[0]}", lost)
        except CannotFit as error:
            error.report = self.failed(request, error)
            raise
        if self.policy.summarizer and outcome.epoch in ("minor", "major") and not self.call.observe:
            rendered, tokens = yield from self.summed(request, outcome, rendered, tokens)
        fresh = self.drop(outcome)
        if fresh:
            self.dropped = (*self.dropped, *fresh)
            self.sent_tools = without(self.call.tools, self.dropped)
            before, schema = self.tool_tokens, schemas(self.sent_tools, self.call.response_schema)[1]
            self.tool_tokens = self.costs.text(schema)
            tokens -= before - self.tool_tokens
            outcome = replace(outcome, tokens=outcome.tokens - before + self.tool_tokens)
        items = self.kept(outcome, rendered)
        broken = self.broken(rendered, outcome)
        checks = validate(items, self.view, outcome.locks, tokens, broken, self.policy.checks)
        report = self.report(outcome, tokens, checks, rendered, self.cache(outcome, rendered, tokens, bool(fresh)))
        report = judged(report, unmet(self.kit.task, outcome, self.view), self.policy.on_unsafe == "degrade")
        texts = self.archived(outcome)
        if self.summary.handle:
            texts[self.summary.handle] = self.summary.source
        yield Store(texts)
        return self.finished(outcome, rendered, tokens, report)

    def archived(self, outcome: Outcome) -> dict[str, str]:
        """By handle the texts that this call reduces: their exact originals."""
        if not outcome.fresh:
            return {}
        handles = {decision.item: decision.handle for decision in outcome.fresh if decision.handle}
        return {handle: item.text for item in self.view.items if (handle := handles.get(item.id))}

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
            again=partial(asked_again, self.view.units, self.state.plan, self.kit.recalled),
            notes=(*self.live, *self.added),
        )

    def consulted(self, request: Request, embedder: Embedder) -> Generator[Embed | Judging, Any, Semantic]:
        """What embeddings and the judge say, where an epoch is due; nothing is asked at other calls."""
        run, policy, view = Run(self.policy, request), self.policy, self.view
        if not run.due():
            return Semantic()
        run.learn()
        far, plan = {unit.index for unit in run.far}, request.plan
        units = [unit for unit in view.units[:-1] if unit.index >= 0 and unit.index not in far]
        items = [item for unit in units for item in unit.items if plan.fidelity(item.id) > Fidelity.STUB]
        target = int(policy.marks.minor * run.room())
        asked = Consulted(view, request.flow, items, run.scores, run.locks, target, embedder)
        asked = replace(asked, judge=policy.judge, embed_limits=policy.embed_limits, judge_limits=policy.judge_limits)
        return (yield from consult(asked, self.kit.memory))

    def summed(
        self, request: Request, outcome: Outcome, rendered: Rendered, tokens: int
    ) -> Generator[Ask, Any, tuple[Rendered, int]]:
        """The output with a summary of what this epoch dropped whole, where one is written and fits."""
        asked = self.policy.summarizer
        voids = self.kit.traits.voids
        turn = max((unit.index for unit in self.view.units if Kind.USER in unit.kinds), default=0) if voids else None
        call = None if isinstance(asked, str) else asked
        new = yield from rolled(self.view, outcome.locks, request.plan, outcome.plan, self.summary, call, turn)
        if new is self.summary:
            return rendered, tokens
        old, self.summary = self.summary, new
        if new.text == old.text:
            return rendered, tokens
        again = self.rendered(request, outcome)
        weight = self.recount(request, again)
        if weight > self.view.limit:
            self.summary = replace(old, notes=(*new.notes, "no summary was written: there is no room for it"))
            return rendered, tokens
        return again, weight

    def rendered(self, request: Request, outcome: Outcome) -> Rendered:
        """The kept items, the summary and the notes that hold, as messages."""
        kept = [item for item in apply(request.view.items, outcome.plan) if item.message >= 0]
        kept = inserted(kept, request.view.items, self.summary)
        return self.wire.render(placed(kept, request.notes, self.taken.records), self.taken.messages)

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
            rendered = self.rendered(request, outcome)
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
        error.revise(self.recount(request, self.rendered(request, error.outcome)))
        return error.needed

    def appends(self, outcome: Outcome) -> bool:
        """Whether the output is the last one, with what is new behind it."""
        state = self.state
        grown = bool(state.output) and self.taken.common == len(state.history.raw)
        if not grown or outcome.fresh or outcome.plan is not state.plan:
            return False
        return self.base() is state.output or state.output[-1] == (self.taken.common - 1, None)

    def base(self) -> tuple[tuple[int, Message | None], ...]:
        """What of the last output stays where this call appends: all, but for the last message where a note is added
        and no message is new, as a wire may have to put it into that one."""
        output = self.state.output
        return output[:-1] if self.added and self.taken.common == len(self.taken.records) else output

    def appended(self, outcome: Outcome) -> Rendered:
        """The last output, and what is new after it."""
        taken, base = self.taken, self.base()
        first = taken.common - (len(self.state.output) - len(base))
        new = apply([item for record in taken.records[first:] for item in record], outcome.plan)
        tail = self.wire.render(placed(new, self.added, taken.records), taken.messages, first)
        messages = [taken.messages[at] if message is None else message for at, message in base]
        sources = [at for at, _ in base]
        old = [entry for entry in self.state.inserted if entry.message < len(messages)]
        shifted = [replace(entry, message=entry.message + len(messages)) for entry in tail.inserted]
        return Rendered(messages + tail.messages, sources + tail.sources, [*old, *shifted])

    def recount(self, request: Request, rendered: Rendered) -> int:
        """Tokens of a rendered request: parsed and counted anew."""
        records, _ = self.wire.parse(rendered.messages)
        system = [item for item in request.view.items if item.message < 0]
        items = [*system, *(item for record in records for item in record)]
        return request.view.fixed - self.extra + self.costs.total(items)

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
            start, border = len(self.base()), self.state.history.border(self.taken.common)
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
        view, taken, evaluate = self.view, self.taken, partial(self.policy.evaluate, semantic=self.semantic)
        return Report(
            wire=self.wire.name,
            call=self.old.call + 1,
            limit=view.limit,
            before=self.given_tokens(),
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
            escalation=outcome.steps,
            pending=taken.pending,
            cache=cache,
            spent=self.semantic.spent,
            observed=self.call.observe,
            build_tools=lambda: tuple(costs_of(self.declared, self.taken.items, self.dropped, self.costs.text)),
            build_rows=lambda: tuple(rows_of(view, outcome.plan, outcome.locks, evaluate)),
        )

    def given_tokens(self) -> int:
        """Tokens of the request as it was given, with all tools."""
        fixed = self.wire.base_tokens + (self.call.prior_tokens or 0)
        return fixed + self.given_schemas + self.weight()

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
        notes += [*self.semantic.notes, *self.view.task.notes, *self.summary.notes]
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

    def cache(self, outcome: Outcome, rendered: Rendered, tokens: int, tools: bool) -> CacheEffect:
        """Where the output first differs from the last one, and what is sent again because of it."""
        if self.appends(outcome) and self.base() is self.state.output:
            return CacheEffect(outcome.epoch, None, 0, outcome.voided, tokens)
        last = [self.old.history.sent(at) if own is None else own for at, own in self.old.output]
        first, again = first_change(last, rendered.messages), 0
        if tools and last:  # they stand before all messages
            first, again = 0, tokens
        elif first is not None:
            records, _ = self.wire.parse(rendered.messages[first:])
            again = self.costs.total(item for record in records for item in record)
        kept = max(0, tokens - again)
        if first is None or not outcome.fresh or self.state is not self.old:
            return CacheEffect(outcome.epoch, first, again, outcome.voided, kept)
        prices = self.policy.prices or prices_for(self.kit.model)
        come = sum(self.costs.total(record) for record in self.taken.records[self.taken.common :])
        made = Rewrite(self.old.tokens, come, kept, again)
        extra, back = round(made.extra(prices), 1), made.pays_back(prices)
        return CacheEffect(outcome.epoch, first, again, outcome.voided, kept, made.removed, extra, back)

    def mark(self, messages: list[Message], sources: list[int], sealed: int) -> None:
        """Put cache marks on finished messages: those that their sources have, or placed ones. In place."""
        call, given = self.call, self.taken.given
        if not self.kit.traits.marks or not self.policy.place_cache_marks:
            for at, (source, message) in enumerate(zip(sources, messages, strict=True)):
                if source >= 0 and message is not given[source]:
                    for mark in list(marks_of(plain(given[source])))[-1:]:
                        messages[at] = marked(message, mark) or message
            return
        own = [*marks_of(call.messages), *marks_of(call.system), {"type": "ephemeral"}]
        left = MOST - call.marks - marks_in(call.system) - marks_in(call.tools)
        border = self.border(sources, sealed)
        for at in dict.fromkeys((len(messages) - 1, border, len(self.old.output) - 1)):
            if left <= 0 or not 0 <= at < len(messages):
                continue
            while at >= 0 and (new := marked(messages[at], own[0])) is None:
                at -= 1  # a message of nothing but thinking
            if at >= 0 and new is not None and not marks_in(messages[at]):
                messages[at], left = new, left - 1

    def border(self, sources: list[int], sealed: int) -> int:
        """Index of the last message that an epoch has settled."""
        settled = -1
        for at, source in enumerate(sources):
            if source >= 0 and all(item.unit < sealed for item in self.taken.records[source]):
                settled = at
        return settled

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
            seen = replace(self.before, call=self.old.call + 1)
            if state is self.old:  # of another branch nothing is kept: decisions go with their content
                seen = replace(
                    state, history=history, output=(), call=self.old.call + 1, weight=weight, learnt=len(state.flow.log)
                )
            every = tuple(range(len(taken.given)))
            return Fitted(list(taken.given), self.call.system, report, self.call.tools, every), seen
        appends = self.appends(outcome)
        output = list(self.base()) if appends else []
        for at, message in zip(rendered.sources[len(output) :], rendered.messages[len(output) :], strict=True):
            same = at >= 0 and message is taken.messages[at]
            output.append((at, None if same else copied(message)))
        given, mended = taken.given, taken.mended
        messages = [
            given[at] if own is None and at not in mended else copied(message)
            for (at, own), message in zip(output, rendered.messages, strict=True)
        ]
        self.mark(messages, rendered.sources, outcome.sealed)
        new = State(
            history=history,
            flow=state.flow,
            plan=outcome.plan,
            sealed=outcome.sealed,
            call=state.call + 1,
            output=tuple(output),
            inserted=tuple(rendered.inserted),
            extra=tokens - outcome.tokens + self.extra,
            tokens=tokens,
            summary=replace(self.summary, source="", handle="", notes=()),
            weight=weight,
            dropped=self.dropped,
            notes=(*(state.notes if appends else self.live), *self.added),
            since=self.since(),
            learnt=len(state.flow.log),
        )
        return Fitted(messages, taken.system_out, report, self.sent_tools, tuple(at for at, _ in output)), new


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
    holds = old.summary.upto < taken.common and any(item.id == old.summary.first for item in kept)
    if old.summary.text and not holds:
        old = replace(old, summary=NO_SUMMARY, extra=0)
    notes = tuple(note for note in old.notes if note.after < taken.common)
    return replace(old, flow=Flow(), learnt=0, plan=Plan(decisions), sealed=sealed, output=(), notes=notes)
