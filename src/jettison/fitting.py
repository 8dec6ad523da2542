"""One call of a session: take in, decide, render, check, report. What is remembered is replaced as a whole, last."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from jettison import keeping
from jettison.call import Call, Store
from jettison.compressors.summary import Ask
from jettison.consulting import Consulting, Effects
from jettison.epoch import Outcome, Request
from jettison.errors import BudgetUnreachable, CannotFit, ConfigError, InvalidInput, Problem, StateBroken
from jettison.forks import forked, freed, outdated
from jettison.history import copied
from jettison.ledger import NEVER, NOWHERE, Stale, behind
from jettison.models import binds_reasoning
from jettison.notes import FRAMING, Note, archived, missing, takes_note
from jettison.output import Output, marks_seen, without_marks_inside
from jettison.plan import CacheEffect, CheckResult, Fitted, Report, Semantic, View
from jettison.recall import is_recall
from jettison.reporting import failed_checks, judged, rows_of, unmet
from jettison.rereading import asked_again
from jettison.stages.protect import protect
from jettison.stages.validate import validate
from jettison.state import Kit, State
from jettison.summing import rolled
from jettison.tokens import describe
from jettison.tool_policy import policies_for
from jettison.tooling import Tooling
from jettison.wire.base import Rendered
from jettison.wire.marks import MOST, marks_in

__all__ = ["Fitting"]

Steps = Generator[Store | Effects | Ask, Any, tuple[Fitted, State]]


class Fitting:
    """One call. `steps` yields what is to be asked and stored, and returns the result and the new state."""

    semantic = Semantic()
    held_notes: tuple[Note, ...] = ()
    """Of a branch: notes that stand in front of reasoning of the running turn."""

    def __init__(self, kit: Kit, call: Call, old: State) -> None:
        if call.system is not None and kit.wire.system_field is None:
            raise ConfigError(f"on {kit.wire.name} system text is in the messages: system= cannot be given")
        self.kit, self.call, self.before = kit, call, old
        self.wire, self.costs = kit.wire, kit.costs
        self.policy = replace(kit.policy, reasoning_drop=True) if call.reasoning_drop else kit.policy
        placing = kit.traits.marks and self.policy.place_cache_marks
        self.taken = old.history.take(
            self.wire,
            without_marks_inside(call.messages) if placing else call.messages,
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
        self.tools = Tooling(kit, call, old, self.taken, self.state.plan)
        self.front = self.tools.front
        self.stale = old.stale if self.state is old else outdated(old, self.taken)
        if self.refronted():
            self.stale = behind(self.stale, 0, len(self.taken.records))
        self.consulting = Consulting(kit, self.policy, call.observe)
        self.summary = self.state.summary
        self.view = self.seen()
        if self.state is not old:
            branch = freed(self.state, self.view, kit, self.policy, self.taken)
            self.state, self.held_notes = branch.state, branch.notes
            self.summary = self.state.summary
        self.live, self.added = self.due_notes()
        if self.state is not old:
            told = self.costs.text(self.summary.text) + FRAMING if self.summary.text else 0
            self.state = replace(self.state, extra=self.weight_of(self.live) + told)
            self.view = replace(self.view, fixed=self.view.fixed + self.state.extra)
        self.extra = self.state.extra + self.weight_of(self.added)
        self.view = replace(self.view, fixed=self.view.fixed + self.extra - self.state.extra)
        self.out = self.output()

    def refronted(self) -> bool:
        """Whether what is sent in front of the messages is not what the last request had there."""
        return bool(self.old.sources and self.old.front) and self.front != self.old.front

    def output(self) -> Output:
        """How what is decided becomes messages."""
        return Output(
            self.kit, self.call, self.policy, self.taken, self.old, self.state, self.view, self.added, self.extra
        )

    def weight_of(self, notes: Sequence[Note]) -> int:
        return sum(self.costs.text(note.text) + FRAMING for note in notes)

    def briefer(self) -> bool:
        """Have the note from the archive say the values alone, not what stood around them. False: it does."""
        added = self.due_notes(brief=True)[1]
        gain = self.weight_of(self.added) - self.weight_of(added)
        if gain <= 0:
            return False
        self.added, self.extra = added, self.extra - gain
        self.view = replace(self.view, fixed=self.view.fixed - gain)
        self.out = self.output()
        return True

    def due_notes(self, *, brief: bool = False) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
        """(notes of earlier calls that still hold, notes that this call adds)."""
        view, state, stage = self.view, self.state, self.kit.task.stage
        handover = stage.handover if stage else ""
        live = tuple(note for note in state.notes if note in self.held_notes or note.live(view.task, handover))
        if not takes_note(view.units, bool(self.taken.pending), self.kit.traits.voids):
            return live, ()
        last = len(self.taken.records) - 1
        added = []
        if stage is not None and not any(note.text == stage.handover for note in live):
            added.append(Note(stage.handover, last))
        found = archived(view, state.plan, live, last, brief=brief, forgone=state.forgone)
        return live, (*added, found) if found is not None else tuple(added)

    def spare(self, call: Call) -> int | None:
        """Cache marks that the messages may come with; None: whatever they have."""
        if not self.kit.traits.marks or not (call.repair or self.policy.place_cache_marks):
            return None
        if self.policy.place_cache_marks:
            return 0
        return max(0, MOST - call.marks - sum(1 for _ in marks_seen((call.system, call.tools))))

    def overmarked(self) -> list[Problem]:
        """More cache marks than there may be, where the wire cannot see it: it does not look at tools, nor into the
        objects of an SDK in a system field."""
        if not self.kit.traits.marks:
            return []
        call, system = self.call, sum(1 for _ in marks_seen(self.call.system))
        beside = call.marks + sum(1 for _ in marks_seen(call.tools))
        if not beside and system == marks_in(call.system):
            return []
        found = beside + system + sum(1 for _ in marks_seen(self.taken.given[self.taken.bare :]))
        if found <= MOST:
            return []
        rule = f"at most {MOST} cache_control marks over tools, system and messages, here are {found}"
        return [Problem(self.wire.field, rule, "remove marks")]

    @property
    def names(self) -> list[str]:
        """Names of the tools that are sent."""
        return [name for name, _ in self.tools.named]

    def seen(self) -> View:
        """The call as the policy sees it."""
        taken, fixed = self.taken, self.wire.base_tokens + self.tools.tokens + self.state.extra
        reader, response = self.kit.reader, self.tools.response
        return View(
            items=taken.items,
            units=taken.units,
            task=reader.read(taken.units, self.kit.task, self.names),
            step=taken.step,
            limit=int(self.policy.size.limit / self.kit.ratio),
            fixed=fixed + (self.call.prior_tokens or 0),
            tools=self.tools.named,
            cost=self.costs.cost,
            count=self.costs.count,
            handle=self.kit.handle,
            policies=policies_for(self.policy.tools, self.call.tools),
            named=any(map(is_recall, self.names)) if self.policy.recall is None else self.policy.recall,
            spoken=reader.spoken,
            waiting=reader.waiting,
            sought=reader.sought,
            schema=response,
            tool_tokens=self.tools.tokens - response,
            prior=self.call.prior_tokens or 0,
        )

    def steps(self) -> Steps:
        request = self.request()
        if self.kit.embedder is not None:
            self.semantic = yield from self.consulting.said(request, self.kit.embedder)
            request = replace(request, semantic=self.semantic)
        try:
            try:
                outcome, rendered, tokens = self.decide(request)
            except BudgetUnreachable:
                if not self.briefer():
                    raise
                request = replace(self.request(), semantic=self.semantic)
                outcome, rendered, tokens = self.decide(request)
            lost = missing(request.notes, {entry.text for entry in rendered.inserted})
            if lost:
                raise StateBroken(f"a note that is needed has no place in the request: {lost[0]}", lost)
        except CannotFit as error:
            error.report = self.failed(request, error)
            raise
        if self.policy.summarizer and outcome.epoch in ("minor", "major") and not self.call.observe:
            rendered, tokens = yield from self.summed(request, outcome, rendered, tokens)
        fresh = () if self.call.observe else self.tools.unused(outcome, self.policy, self.view)
        if fresh:
            freed = self.tools.leave(fresh)
            tokens, outcome = tokens - freed, replace(outcome, tokens=outcome.tokens - freed)
            self.front = self.tools.front
        items = self.out.kept(outcome, rendered)
        broken = self.out.broken(rendered, outcome)
        checks = validate(items, self.view, outcome.locks, tokens, broken, self.policy.checks)
        cache = self.out.cache(outcome, rendered, tokens, self.refronted(), bool(fresh))
        report = self.report(outcome, tokens, checks, rendered, cache)
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
            sent=self.taken.first_new_unit if self.old.sources else 0,
            call=self.old.call + 1,
            voids=self.kit.traits.voids,
            binds=binds_reasoning(self.kit.model),
            again=partial(asked_again, self.view.units, self.view.arrived, self.state.plan, self.kit.recalled),
            notes=(*self.live, *self.added),
            weight=self.held(),
            lapsed=min((note.after + 1 for note in self.state.notes if note not in self.live), default=NOWHERE),
            summarised=self.summarised(),
            stale=self.stale,
        )

    def summarised(self) -> int:
        """Index of the message before which a summary stands that an epoch may write anew."""
        if not self.policy.summarizer or not self.summary.text:
            return NOWHERE
        first = self.summary.first
        return next((item.message for item in self.view.items if item.id == first), NOWHERE)

    def still_stale(self, outcome: Outcome) -> Stale:
        """Where reasoning goes back though it is void."""
        binds = self.kit.traits.voids and binds_reasoning(self.kit.model) and not self.policy.reasoning_drop
        return keeping.still_stale(self.stale, outcome, self.view) if binds else NEVER

    def held(self) -> int | None:
        """Tokens of all items as the plan has them, if only the new ones have to be counted for it."""
        old = self.old
        if self.state is not old or old.held is None or not self.continued():
            return None
        return old.held + self.costs.total(self.taken.items[len(old.history.items) :])

    def continued(self) -> bool:
        """Whether the history is that of the last call with new messages behind it."""
        old, taken = self.old, self.taken
        return taken.common == len(old.history.raw) and taken.system is old.history.system

    def summed(
        self, request: Request, outcome: Outcome, rendered: Rendered, tokens: int
    ) -> Generator[Ask, Any, tuple[Rendered, int]]:
        """The output with a summary of what this epoch dropped whole, where one is written and fits."""
        asked = self.policy.summarizer
        voids = self.kit.traits.voids
        turn = (self.view.turn[-1].index if self.view.turn else 0) if voids else None
        call = None if isinstance(asked, str) else asked
        new = yield from rolled(self.view, outcome.locks, request.plan, outcome.plan, self.summary, call, turn)
        if new is self.summary:
            return rendered, tokens
        old, self.summary = self.summary, new
        if new.text == old.text:
            return rendered, tokens
        self.summary = new.written(old, self.old.call + 1, self.view.limit, self.costs.text)
        again = self.out.rendered(request, outcome, self.summary)
        weight = self.out.recount(request, again)
        if weight > self.view.limit:
            self.summary = replace(old, notes=(*new.notes, "no summary was written: there is no room for it"))
            return rendered, tokens
        return again, weight

    def decide(self, request: Request) -> tuple[Outcome, Rendered, int]:
        """Decide, render, and count what was rendered; placeholders may take room that has to be found."""
        limit = request.view.limit
        for _ in range(4):
            outcome = self.decided(request, limit)
            if self.out.appends(outcome):
                return outcome, self.out.appended(outcome), outcome.tokens
            rendered = self.out.rendered(request, outcome, self.summary)
            as_known = not rendered.inserted and not outcome.fresh and self.state is self.old
            tokens = outcome.tokens if as_known else self.out.recount(request, rendered)
            if tokens <= limit:
                return outcome, rendered, tokens
            # From what was decided, not from its limit: it may be lower, and would then be decided again.
            lower = min(request.view.limit, outcome.tokens) - (tokens - limit)
            request = replace(request, view=replace(request.view, limit=lower))
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
        error.revise(self.out.recount(request, self.out.rendered(request, error.outcome, self.summary)))
        return error.needed

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
            given=self.given(outcome),
            after=tokens,
            schemas=self.tools.tokens,
            counter=name,
            counter_error=error,
            checks=checks,
            protections=outcome.locks.protections,
            task=view.task,
            inserted=(*rendered.inserted, *self.out.hidden(rendered)),
            repaired=taken.repaired,
            notes=tuple(self.notes(outcome)),
            degraded=outcome.degraded,
            escalation=outcome.steps,
            pending=taken.pending,
            cache=cache,
            spent=self.semantic.spent,
            observed=self.call.observe,
            build_tools=self.tools.costs,
            build_rows=lambda: tuple(rows_of(view, outcome.plan, outcome.locks, evaluate)),
        )

    def given(self, outcome: Outcome) -> int | Callable[[], int]:
        """Tokens of the request as it was given, with all tools; what counts them where not all was counted."""
        fixed = self.wire.base_tokens + (self.call.prior_tokens or 0) + self.tools.given
        weight = self.weight(outcome)
        if weight is not None:
            return fixed + weight
        costs, items = self.costs, self.taken.items
        return lambda: fixed + costs.total(items)

    def notes(self, outcome: Outcome) -> list[str]:
        notes, ratio = [*self.taken.notes, *self.tools.notes, *self.kit.notes], self.kit.ratio
        if ratio != 1.0:
            notes.append(f"counts are scaled by {ratio:.3f}, the ratio of the provider's last count to ours")
        if self.call.prior_tokens:
            notes.append(f"{self.call.prior_tokens:,} tokens of history are on the server and were not looked at")
        notes += [*self.semantic.notes, *self.view.task.notes, *self.summary.notes]
        if self.still_stale(outcome) != NEVER:
            notes.append(
                "what stands before reasoning of the running turn was changed (system field, tools or an earlier "
                "message): it goes back as it is, and this model refuses it unless its drop setting is on"
            )
        gone = [lock for lock in outcome.locks.protections if lock.level == "lost"]
        if gone:
            names = ", ".join(dict.fromkeys(f"{lock.item} ({lock.reason})" for lock in gone[:5]))
            notes.append(f"evicted before there was a reason to keep it, the archive has it: {names}")
        return notes

    def weight(self, outcome: Outcome) -> int | None:
        """Tokens of all items, those of the last call were counted then; None where some never were."""
        old, taken = self.old, self.taken
        if outcome.guessed:
            return None
        if self.continued():
            new = self.costs.total(taken.items[len(old.history.items) :])
            return None if old.weight is None else old.weight + new
        return self.costs.total(taken.items)

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
        history, weight = taken.taken(), self.weight(outcome)
        if self.call.observe:
            seen = replace(self.before, call=self.old.call + 1)
            if self.before.sources:  # what was sent stays what the next call goes on from
                self.before.undo()
            elif state is self.old:  # of another branch nothing is kept: decisions go with their content
                seen = replace(state, history=history, call=self.old.call + 1, weight=weight)
                seen = replace(
                    seen, learnt=len(state.flow.log), sources=(), merged={}, own=(), held=None, handed=(), plain=False
                )
            every = tuple(range(len(taken.given)))
            return Fitted(list(taken.given), self.call.system, report, self.call.tools, every), seen
        appends = self.out.appends(outcome)
        sources, own = tuple(rendered.sources), list(state.own[: self.out.base()] if appends else ())
        plain = not taken.mended and (self.out.plain() if appends else not state.sources)
        for place in range(len(own), len(sources)):
            at, message = sources[place], rendered.messages[place]
            same = at >= 0 and message is taken.messages[at]
            plain = plain and same and at == place
            own.append(None if same else copied(message))
        plain = plain and len(own) == len(taken.given)
        messages, handed = self.out.copies(sources, tuple(own), plain, state.handed if appends else ())
        self.out.mark(messages, rendered, outcome.sealed)
        standing = self.out.standing(outcome, self.live)
        new = State(
            history=history,
            flow=state.flow,
            plan=keeping.remembered(outcome, self.view.limit),
            sealed=outcome.sealed,
            call=state.call + 1,
            sources=sources,
            own=tuple(own),
            merged=rendered.merged,
            inserted=tuple(rendered.inserted),
            extra=tokens - outcome.tokens + self.extra,
            tokens=tokens,
            summary=replace(self.summary, source="", handle="", notes=()),
            weight=weight,
            dropped=self.tools.dropped,
            returning=self.tools.returning,
            notes=(*standing, *self.added),
            lapsed=keeping.lapsed(state, standing, state.call + 1, self.view.limit, self.costs.text),
            edits=keeping.edits(state, outcome, self.summary, len(taken.given), state is self.old),
            forgone=keeping.forgone(state, outcome, self.view),
            front=self.front,
            schemas=self.tools.text,
            stale=self.still_stale(outcome),
            since=self.tools.since(),
            learnt=len(state.flow.log),
            held=outcome.weight,
            plain=plain,
            handed=handed,
        )
        return Fitted(messages, taken.system_out, report, self.tools.sent, sources), new
