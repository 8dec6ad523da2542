"""One trajectory in full, for the page and the drill-down: what each item became, and what each call needed.

Everything is plain data. Numbers of calls and items are indices into the lists of the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from jettison.items import Item, Kind
from jettison.plan import Report, Row
from jettison.replay.engine import Setup, policy_for
from jettison.replay.hiding import Hiding
from jettison.replay.measure.library import Library
from jettison.replay.measure.metrics import Call, cost
from jettison.replay.measure.needs import Text
from jettison.replay.measure.run import case_of, replay
from jettison.replay.measure.trajectory import Message, Trajectory, forget
from jettison.replay.measure.units import Case
from jettison.wire import wire_named

__all__ = ["CallTrace", "ItemTrace", "Need", "Trace", "traced"]

PREVIEW = 160
SOURCES = 4
"""Places of a needed value that are listed: the newest ones."""


@dataclass(slots=True)
class ItemTrace:
    """One item's life."""

    id: str
    kind: str
    role: str
    name: str
    message: int
    born: int
    """The call at which it was first there."""
    tokens: int
    preview: str
    score: list[float] = field(default_factory=list)
    """[recency, relevance, total] when last looked at."""
    signals: dict[str, float] = field(default_factory=dict)
    protections: list[list[str]] = field(default_factory=list)
    """[reason, until] of each."""
    life: list[list[Any]] = field(default_factory=list)
    """[call, state, tokens, reason, total score at that time] of each change; `full` from `born` on before it."""

    def at(self, call: int) -> list[Any]:
        """Its entry of `life` at a call."""
        return next(entry for entry in reversed(self.life) if entry[0] <= call)


@dataclass(slots=True)
class Need:
    """A value that a call's arguments used, and what became of the places it stood in."""

    call: int
    value: str
    kept: bool
    sources: list[int]
    """Items that held it, newest last."""


@dataclass(slots=True)
class CallTrace:
    """One request."""

    t: int
    sent: int
    hit: int
    full: int
    full_hit: int
    cost: float
    full_cost: float
    needed: int
    kept: int
    pressured: bool
    oversize: bool
    raised: str
    epoch: str
    missing: list[str]
    bands: dict[str, int] = field(default_factory=dict)
    """Tokens by kind, as the session counts them."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A trajectory under the policy in view, and the calls of the others beside it."""

    id: str
    set: str
    task: str
    wire: str
    policy: str
    limit: int
    calls: list[CallTrace]
    items: list[ItemTrace]
    needs: list[Need]
    others: dict[str, list[list[Any]]]
    """By policy: [sent, hit, needed, kept, 1 if it raised] of each call."""
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def traced(run: Trajectory, setup: Setup, policy: str, fraction: float = 0.25) -> Trace:
    """Replay one trajectory, keeping everything. `policy` must be one that is a library policy."""
    forget()
    case = case_of(run)
    limit = setup.tokens or run.budget(fraction)
    watch = _Watch(case, policy_for(policy, case, setup))
    replay(case, policy, fraction, limit=limit, under=watch.policy, seen=watch.call)
    others = {}
    for name in setup.policies:
        if name != policy:
            found = replay(case, name, fraction, limit=limit, under=policy_for(name, case, setup))
            others[name] = [[c.sent, c.hit, c.needed, c.kept, int(bool(c.raised))] for c in found.calls]
    watch.finish()
    wire = run.native.wire if run.native else "openai-chat"
    notes, needs = list(run.notes), watch.needs()
    watch.hide(needs)
    return Trace(run.id, run.set, run.task, wire, policy, limit, watch.calls, watch.items, needs, others, notes)


class _Watch:
    """Follows a session through a replay."""

    def __init__(self, case: Case, policy: Any) -> None:
        if not isinstance(policy, Library):
            raise TypeError("only a policy of the library can be traced: a baseline has no items and no reasons")
        self.case, self.policy = case, policy
        run = case.trajectory
        self.native = run.native.messages if run.native else run.messages
        system = run.native.system if run.native else None
        wire = wire_named(policy.wire)
        parsed = [item for record in wire.parse(self.native)[0] for item in record]
        self.source: list[Item] = [*(wire.parse_system(system) if system is not None else ()), *parsed]
        self.known: dict[str, ItemTrace] = {}
        self.items: list[ItemTrace] = []
        self.calls: list[CallTrace] = []
        self.turns: list[Call] = []
        self.last: Report | None = None

    def call(self, call: Call, request: Sequence[Message]) -> None:
        """Take in one call. Rows are read where something was decided: reading all of every call is quadratic."""
        report = self.policy.report if not call.raised else None
        self.turns.append(call)
        index = len(self.calls)
        self.calls.append(
            CallTrace(
                t=call.t,
                sent=call.sent,
                hit=call.hit,
                full=call.full,
                full_hit=call.full_hit,
                cost=round(cost(call.sent, call.hit), 1),
                full_cost=round(cost(call.full, call.full_hit), 1),
                needed=call.needed,
                kept=call.kept,
                pressured=call.pressured,
                oversize=call.oversize,
                raised=call.raised,
                epoch=report.cache.epoch if report else "none",
                missing=call.missing,
            )
        )
        self._births(index, call.t)
        if report is not None:
            self.last = report
            if report.cache.epoch != "none":
                self._decided(index, report.rows)

    def hide(self, needs: Sequence[Need]) -> None:
        """Take secrets out of all that is shown. In place."""
        hiding = Hiding(text for item in self.source for text in (item.text, item.extra, item.note))
        for item in self.items:
            item.preview = hiding(item.preview)
            for entry in item.life:
                entry[3] = hiding(entry[3])
            item.protections = [list(map(hiding, words)) for words in item.protections]
        for call in self.calls:
            call.missing = list(map(hiding.value, call.missing))
        for need in needs:
            need.value = hiding.value(need.value)

    def _births(self, index: int, t: int) -> None:
        native = self.case.trajectory.native
        there = native.points[t] if native else t
        while len(self.items) < len(self.source) and self.source[len(self.items)].message < there:
            item = self.source[len(self.items)]
            made = ItemTrace(
                item.id, item.kind.value, item.role, item.name or "", item.message, index, 0, _preview(item)
            )
            made.life.append([index, "full", 0, "", None])
            self.known[item.id] = made
            self.items.append(made)

    def _decided(self, index: int, rows: Sequence[Row]) -> None:
        for row in rows:
            item = self.known.get(row.item)
            if item is None:
                continue
            self._seen(item, row)
            if item.life[-1][1:3] != [row.decision, row.after] and (row.decision != "full" or len(item.life) > 1):
                entry = [index, row.decision, row.after, row.reason, round(row.score.total, 3)]
                if item.life[-1][0] == index:
                    item.life[-1] = entry
                else:
                    item.life.append(entry)

    def _seen(self, item: ItemTrace, row: Row) -> None:
        item.tokens = item.tokens or row.before
        if item.life[0][1] == "full":  # else it was cut in the call that brought it
            item.life[0][2] = row.before
        item.score = [round(row.score.recency, 3), round(row.score.relevance, 3), round(row.score.total, 3)]
        item.signals = {name: round(value, 3) for name, value in row.score.signals.items()}
        item.protections = [[lock.reason, lock.until] for lock in row.protections]

    def finish(self) -> None:
        """What is only known at the end: tokens and scores of what was never touched, what came back, the bands."""
        for row in self.last.rows if self.last else ():
            item = self.known.get(row.item)
            if item is not None:
                self._seen(item, row)
        self._recalled()
        changes: list[dict[str, int]] = [{} for _ in self.calls]
        for item in self.items:
            before = 0
            for index, _, tokens, *_ in item.life:
                changes[index][item.kind] = changes[index].get(item.kind, 0) + tokens - before
                before = tokens
        now: dict[str, int] = {}
        for call, change in zip(self.calls, changes, strict=True):
            for kind, tokens in change.items():
                now[kind] = now.get(kind, 0) + tokens
            call.bands = {kind: tokens for kind, tokens in now.items() if tokens}

    def _recalled(self) -> None:
        """An item that had been cut and whose text came in again later."""
        newest: dict[str, int] = {}
        for at, (item, made) in enumerate(zip(self.source, self.items, strict=False)):
            before = newest.get(item.text) if item.kind is Kind.RESULT and item.text else None
            if before is not None:
                old = self.items[before]
                if old.at(made.born)[1] != "full":
                    old.life.append([made.born, "recalled", 0, f"its text came again as {made.id}", None])
            newest[item.text] = at

    def needs(self) -> list[Need]:
        """Each needed value of each call, with the items it came from."""
        texts: dict[str, Text] = {}
        run = self.case.trajectory
        by_message: dict[int, list[int]] = {}
        for at, item in enumerate(self.source[: len(self.items)]):
            if item.kind in (Kind.RESULT, Kind.USER, Kind.DOCUMENT):
                by_message.setdefault(item.message, []).append(at)
        places: dict[str, list[int]] = {}
        for at, message in enumerate(run.messages[run.head :], run.head):
            if message["role"] in ("user", "tool"):
                places.setdefault(self.case.texts(message).raw, []).append(at)
        found = []
        for index, call in enumerate(self.turns):
            missing = set(call.missing)
            for need in self.case.needs.get(call.t, ()):
                stood = sorted(at for raw in need.sources for at in places.get(raw, ()) if at < call.t)[-SOURCES:]
                origins = [run.native.origins[at] if run.native else at for at in stood]
                held = {i for origin in origins for i in by_message.get(origin, ())}
                sources = sorted(i for i in held if _text(self.source[i], texts).find(need.value))
                found.append(Need(index, need.value, need.value not in missing, sources))
        return found


def _text(item: Item, known: dict[str, Text]) -> Text:
    found = known.get(item.text)
    if found is None:
        found = known[item.text] = Text(item.text)
    return found


def _preview(item: Item) -> str:
    return " ".join((item.text or item.note or item.extra)[: 2 * PREVIEW].split())[:PREVIEW]
