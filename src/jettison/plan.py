"""Decisions as data, the report, and `apply`: the one pure function that carries them out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from jettison.items import Fidelity, Item, Kind, Unit, maker_of, reworded, turn_of, unseen
from jettison.task import TaskState
from jettison.tool_policy import ToolPolicies

__all__ = [
    "CacheEffect",
    "CheckResult",
    "Decision",
    "Edge",
    "Escalation",
    "Fitted",
    "Locks",
    "Plan",
    "Protection",
    "Report",
    "Row",
    "Score",
    "Semantic",
    "Spent",
    "ToolCost",
    "View",
    "apply",
    "evicted",
]


@dataclass(frozen=True, slots=True)
class Score:
    """`total = w_recency·recency + w_relevance·relevance`, all 0..1; `signals` are the parts of relevance."""

    recency: float
    relevance: float
    total: float
    signals: Mapping[str, float] = field(default_factory=dict)
    prose: Mapping[int, float] = field(default_factory=dict)
    """With embeddings or a judge: relevance 0..1 of the prose in it, by segment; -1: of the item as a whole."""
    why: str = ""
    """What a judge said of it."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What embeddings and the judge took at one call."""

    embedded: int = 0
    """Texts turned into vectors; those known before are not among them."""
    embed_seconds: float = 0.0
    judged: int = 0
    """Passages that the judge was asked about."""
    judge_calls: int = 0
    judge_tokens: int = 0
    """Of its prompt and answer, by our count."""
    judge_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Semantic:
    """What embeddings and a judge say beyond the rules, by item."""

    signals: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """`embedding`: the nearest passage; `judge`: the most useful one as answered; `prose`: what counts."""
    prose: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """By item and segment (-1: the whole item), 0..1."""
    why: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Failures, limits reached, and what stood instead."""
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class Edge:
    """A value that one item produced and a later call used."""

    value: str
    producer: str
    consumer: str
    argument: str


@dataclass(frozen=True, slots=True)
class Protection:
    """Why an item, or a span in it, is kept whatever its score, and until when."""

    item: str
    reason: str
    until: str
    """The condition that lifts it, or `never: <why>`."""
    text: str = ""
    """The protected span, verbatim; empty: the whole item."""
    level: str = "verbatim"
    """`verbatim`: unchanged. `present`: the item stays, its text may be compressed (a result too large to fit).
    `lost`: an earlier call had evicted it before there was a reason to keep it (see `late`); the archive has it.
    `noted`: so it was, and a note behind the history says it again.
    `deferred`: what an operation of another stage needs; nothing is held for it in this one."""
    start: int = 0
    end: int = 0
    late: bool = False
    """The reason can arise after the item was evicted: then it is reported, and no error."""

    @property
    def whole(self) -> bool:
        return not self.text


@dataclass(frozen=True)
class Locks:
    """Protections by item, as the later stages need them."""

    protections: tuple[Protection, ...]

    @cached_property
    def whole(self) -> frozenset[str]:
        """Items that stay unchanged."""
        return frozenset(lock.item for lock in self.protections if lock.whole and lock.level == "verbatim")

    @cached_property
    def present(self) -> frozenset[str]:
        """Items that stay, whose text may be compressed."""
        return frozenset(lock.item for lock in self.protections if lock.whole and lock.level == "present") - self.whole

    @cached_property
    def spans(self) -> Mapping[str, tuple[Protection, ...]]:
        """Protected spans of items that are not kept whole."""
        found: dict[str, list[Protection]] = {}
        for lock in self.protections:
            if not lock.whole and lock.item not in self.whole and lock.level not in ("lost", "noted", "deferred"):
                found.setdefault(lock.item, []).append(lock)
        return {item: tuple(locks) for item, locks in found.items()}

    def on(self, item: str) -> tuple[Protection, ...]:
        return self.by_item.get(item, ())

    @cached_property
    def by_item(self) -> Mapping[str, tuple[Protection, ...]]:
        found: dict[str, list[Protection]] = {}
        for lock in self.protections:
            if lock.level != "deferred":
                found.setdefault(lock.item, []).append(lock)
        return {item: tuple(locks) for item, locks in found.items()}


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one item."""

    item: str
    fidelity: Fidelity
    reason: str
    before: int
    """Tokens as it came."""
    after: int
    """Tokens now."""
    text: str = ""
    """What stands in its place at COMPRESSED and STUB."""
    handle: str | None = None
    """Where the archive holds the exact original."""
    call: int = 0
    """At which fit of the session it was decided."""
    segments: tuple[int, ...] = ()
    """Of COMPRESSED: which segments are left. A later epoch keeps some of these, never others."""
    earlier: Decision | None = field(default=None, repr=False)
    """What an earlier call had decided: it holds again in a branch that begins between both."""

    def chain(self) -> Iterator[Decision]:
        """This decision and those that it replaced, newest first."""
        one: Decision | None = self
        while one is not None:
            yield one
            one = one.earlier

    @property
    def forgotten(self) -> bool:
        """It is known that an earlier call had cut the item, and no longer to what (`Plan.bounded`)."""
        return self.fidelity is not Fidelity.GONE and not self.text


_decision_of = maker_of(Decision)
"""A first call may evict thousands of items."""


def evicted(item: str, reason: str, before: int, handle: str | None, call: int) -> Decision:
    """The decision that drops an item whole."""
    return _decision_of(item, Fidelity.GONE, reason, before, 0, "", handle, call, (), None)


@dataclass(frozen=True, slots=True)
class Plan:
    """Decisions by item id; an item without one is kept as it is."""

    decisions: Mapping[str, Decision] = field(default_factory=dict)

    def fidelity(self, item: str) -> Fidelity:
        decision = self.decisions.get(item)
        return Fidelity.FULL if decision is None else decision.fidelity

    def merged(self, newer: Iterable[Decision]) -> Plan:
        """This plan with newer decisions in place of older ones for the same item, which stay behind them where an
        earlier call made them."""
        decisions = dict(self.decisions)
        for decision in newer:
            old = decisions.get(decision.item)
            if old is not None:
                decision = replace(decision, earlier=old if old.call < decision.call else old.earlier)
            decisions[decision.item] = decision
        return Plan(decisions)

    def bounded(self, most: int) -> Plan:
        """This plan with at most so many tokens of replaced forms; the texts of those replaced longest ago go."""
        replaced = [
            (one.call, name, one.earlier)
            for name, decision in self.decisions.items()
            for one in decision.chain()
            if one.earlier is not None and not one.earlier.forgotten
        ]
        tokens = sum(old.after for _, _, old in replaced)
        forgotten: dict[str, set[int]] = {}
        for _, name, old in sorted(replaced, key=lambda entry: entry[0]):
            if tokens <= most:
                break
            tokens -= old.after
            forgotten.setdefault(name, set()).add(old.call)
        decisions = dict(self.decisions)
        for name, calls in forgotten.items():
            decisions[name] = _forgetting(decisions[name], calls)
        return Plan(decisions) if forgotten else self


def _forgetting(decision: Decision, calls: Collection[int]) -> Decision:
    """The decision without the texts of what was decided at these calls."""
    earlier = None if decision.earlier is None else _forgetting(decision.earlier, calls)
    if decision.call in calls:
        return replace(decision, text="", segments=(), earlier=earlier)
    return replace(decision, earlier=earlier)


def apply(items: Sequence[Item], plan: Plan) -> list[Item]:
    """The items as the plan leaves them: kept, with other text, or absent. Pure; order is kept."""
    decisions = plan.decisions
    if not decisions:
        return list(items)
    out = []
    for item in items:
        decision = decisions.get(item.id)
        if decision is None or decision.fidelity is Fidelity.FULL:
            out.append(item)
        elif decision.fidelity is not Fidelity.GONE:
            out.append(reworded(item, decision.text, decision.fidelity))
    return out


@dataclass(frozen=True)
class View:
    """All that a strategy may look at: one frozen record of one call."""

    items: tuple[Item, ...]
    units: tuple[Unit, ...]
    task: TaskState
    step: int
    """LLM calls made so far; the one about to be made is number `step + 1`."""
    limit: int
    """Input tokens that may be sent."""
    fixed: int
    """Tokens of reply priming, tool and response schemas, and of history that is on the server."""
    tools: tuple[tuple[str, str], ...] = ()
    """Declared tools: (name, schema as JSON text)."""
    cost: Callable[[Item], int] = field(default=lambda item: item.fixed)
    """Tokens of an item."""
    count: Callable[[str], int] = field(default=len)
    """Tokens of a text."""
    handle: Callable[[str], str] = field(default=lambda text: "")
    """The archive handle of a text."""
    policies: ToolPolicies = field(default_factory=ToolPolicies)
    """What is known of the tools."""
    named: bool = True
    """Marks name handles: whoever reads them can ask for what is behind one."""
    spoken: Sequence[Unit] | None = None
    """The units with instructions or a user's words, where that is known: of a long history they are few."""
    waiting: Sequence[Unit] | None = None
    """The units with calls that are not answered, where that is known."""
    sought: Collection[str] = frozenset()
    """Texts that were looked for: those of them without a place in `task` stand nowhere."""
    schema: int = 0
    """Of `fixed`: tokens of the response schema."""
    tool_tokens: int = 0
    """Of `fixed`: tokens of the tool schemas."""
    prior: int = 0
    """Of `fixed`: tokens of history that is on the server."""

    def mark(self, text: str) -> str:
        """The handle by which a mark names a text; empty where marks name none."""
        return self.handle(text) if self.named else ""

    def age(self, item: Item) -> int:
        """Steps since the item appeared."""
        return max(0, self.step - item.step)

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """The items by their ids."""
        return {item.id: item for item in self.items}

    @cached_property
    def latest(self) -> tuple[Unit, ...]:
        """The units with what the model has not seen: all that came since it last spoke, also the answer to a call of
        long ago. The last unit in any case. Oldest first."""
        return unseen(self.units, self.items)

    @cached_property
    def arrived(self) -> Unit | None:
        """The unit with the results of the calls that the model made last; where there are none, the last unit."""
        now = self.items[-1].step if self.items else 0
        for unit in reversed(self.latest):
            if Kind.RESULT in unit.kinds and any(item.step == now for item in unit.of(Kind.CALL)):
                return unit
        return self.units[-1] if self.units else None

    @cached_property
    def turn(self) -> tuple[Unit, ...]:
        """The user's latest turn: the messages in a row with which the running turn began. Oldest first."""
        return turn_of(self.units, self.spoken)


@dataclass(frozen=True, slots=True)
class CheckResult:
    ok: bool
    """Whether it holds; false as well where nobody looked."""
    detail: str
    """Why, in one line."""
    missing: tuple[str, ...] = ()
    reached: bool = True
    """False: an error came first, and it was not looked at."""


@dataclass(frozen=True, slots=True)
class CacheEffect:
    """What this call did to the provider's prompt cache, against the last call of the session."""

    epoch: str = "none"
    """`none`, `minor` (what an earlier epoch sealed stays as it is), `major` (all was reconsidered) or
    `arrival` (only new items were changed, nothing that was sent before)."""
    first_changed: int | None = None
    """Index of the first output message that differs from the last output, or stands behind a system field, tools or a
    response schema that do; None: it is a prefix."""
    rebilled: int = 0
    """Tokens after that place, sent again at the uncached price."""
    reasoning_lost: int = 0
    """Reasoning blocks removed, or voided by the edit, in this call."""
    kept: int = 0
    """Tokens before that place, schemas included: in the provider's cache still."""
    removed: int = 0
    """By how many tokens this and every later request is shorter than it would be without the rewrite."""
    extra: float = 0.0
    """What this request costs more for it, in uncached input tokens at the model's prices (`prices.py`)."""
    pays_back: int | None = None
    """Calls after this one until the rewrite has paid for itself; None: never, or nothing was rewritten."""


@dataclass(frozen=True, slots=True)
class Escalation:
    """One step that was taken because what must be kept did not fit."""

    step: str
    """What was done, e.g. `retrieved documents reduced`."""
    before: int
    """Tokens of the whole request before it, by the items."""
    after: int


@dataclass(frozen=True, slots=True)
class Row:
    """One item in the report."""

    item: str
    kind: str
    role: str
    name: str | None
    message: int
    age: int
    score: Score
    protections: tuple[Protection, ...]
    decision: str
    """`full`, `compressed`, `stub` or `gone`."""
    reason: str
    before: int
    after: int
    handle: str | None
    preview: str


@dataclass(frozen=True, slots=True)
class ToolCost:
    """What the schema of one tool takes in every request, and what it is used for."""

    name: str
    tokens: int
    calls: int
    """In the history as given."""
    last: int | None
    """Step of the latest call; None: never called."""
    dropped: bool
    """Left out of the request (`Policy.drop_unused_tools`)."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The context to send, in the shape it came in, and why it is so."""

    messages: list[dict[str, Any]]
    system: Any
    report: Report
    tools: Any = None
    """The tools to send: those that were given, without the dropped ones."""
    sources: tuple[int, ...] = ()
    """For each output message its index in the input (as repaired), -1 for an inserted one."""


@dataclass(frozen=True)
class Report:
    """What was decided at one call, and why. `to_dict()` is JSON-serialisable."""

    wire: str
    call: int
    limit: int
    given: int | Callable[[], int]
    """`before`, or what counts it when somebody asks: of a history far over the limit most is never sent."""
    after: int
    """Tokens of the request as fitted."""
    schemas: int
    """… of which tool and response schemas."""
    counter: str
    counter_error: str
    checks: Mapping[str, CheckResult]
    """`budget`, `integrity`, `sufficiency`."""
    protections: tuple[Protection, ...] = ()
    task: TaskState = field(default_factory=TaskState)
    inserted: tuple[Any, ...] = ()
    """Every byte in the output that was not in the input."""
    repaired: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the caller should know: sanitised text, compatibility rules broken by the input, fall-backs."""
    degraded: tuple[str, ...] = ()
    """With on_unsafe="degrade": each loss, one line."""
    escalation: tuple[Escalation, ...] = ()
    """The steps that were taken because it did not fit, in order; those without a gain too."""
    pending: tuple[str, ...] = ()
    """Unanswered calls: the request cannot be sent before they are answered."""
    cache: CacheEffect = field(default_factory=CacheEffect)
    spent: Spent = Spent()
    """What embeddings and a judge took; nothing where no epoch was due, or relevance is by rules."""
    observed: bool = False
    """observe=True: the decisions were made and not carried out."""
    build_tools: Callable[[], Sequence[ToolCost]] = field(default=tuple, repr=False, compare=False)
    build_rows: Callable[[], Sequence[Row]] = field(default=tuple, repr=False, compare=False)

    @cached_property
    def before(self) -> int:
        """Tokens of the request as given: messages, system, schemas."""
        return self.given if isinstance(self.given, int) else self.given()

    @property
    def sendable(self) -> bool:
        """False while a call is unanswered."""
        return not self.pending

    @property
    def ok(self) -> bool:
        """Budget, integrity and sufficiency all hold."""
        return all(check.ok for check in self.checks.values())

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """One row an item, in order; built when first asked for."""
        return tuple(self.build_rows())

    @cached_property
    def tools(self) -> tuple[ToolCost, ...]:
        """One row a declared tool; built when first asked for."""
        return tuple(self.build_tools())

    def by_kind(self) -> dict[str, tuple[int, int]]:
        """Tokens before and after, by kind."""
        totals: dict[str, tuple[int, int]] = {}
        for row in self.rows:
            before, after = totals.get(row.kind, (0, 0))
            totals[row.kind] = (before + row.before, after + row.after)
        return totals

    def to_dict(self) -> dict[str, Any]:
        """Plain data: str, int, float, bool, None, lists and dicts."""
        names = (
            "wire",
            "call",
            "limit",
            "before",
            "after",
            "schemas",
            "counter",
            "counter_error",
            "sendable",
            "observed",
        )
        data: dict[str, Any] = {name: getattr(self, name) for name in names}
        data["checks"] = {name: asdict(check) for name, check in self.checks.items()}
        data["cache"] = asdict(self.cache)
        data["task"] = asdict(self.task)
        for name in ("protections", "inserted", "tools", "escalation", "rows"):
            data[name] = [asdict(entry) for entry in getattr(self, name)]
        for name in ("repaired", "notes", "degraded", "pending"):
            data[name] = list(getattr(self, name))
        data["by_kind"] = {kind: list(pair) for kind, pair in self.by_kind().items()}
        return data

    def __str__(self) -> str:
        """What was done in a line; then what is lost, or should be known, a line each. All of it: `to_dict`, or
        `jettison.report.terminal.render`."""
        done = Counter(row.decision for row in self.rows)
        reduced = ", ".join(f"{done[name]} {name}" for name in ("gone", "stub", "compressed") if done[name])
        checks = ", ".join(
            f"{name} {'holds' if check.ok else f'BROKEN: {check.detail}' if check.reached else 'not reached'}"
            for name, check in self.checks.items()
        )
        line = f"call {self.call}: {self.before:,} to {self.after:,} tokens of {self.limit:,}; "
        line += f"{reduced or 'nothing reduced'}; {checks}"
        return "\n".join(
            [line, *(f"lost: {loss}" for loss in self.degraded), *(f"note: {note}" for note in self.notes)]
        )

    def to_json(self, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)
