"""A session's state as bytes, and back: what has to last is written down, the rest is read anew from the history.

Written are the decisions, the marks, the last output as far as it is not the caller's own, what the caller declared,
and of each message a hash, its items' ids and token counts. The messages themselves are not: the caller gives them at
the next call. Those that still have their hash are parsed again, and nothing of them is counted again.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from jettison.errors import StoreError
from jettison.flow.dependencies import Flow
from jettison.history import History, copied, marked, private_copies, sanitised
from jettison.items import Fidelity, Item, Kind, units_of
from jettison.ledger import NEVER
from jettison.notes import Note
from jettison.plan import Decision, Plan
from jettison.prints import Known, fingerprint
from jettison.state import State
from jettison.summing import Rolling
from jettison.task import COMPLETED, Limit, Operation, Span, Stage, Task
from jettison.tokens import CountCache
from jettison.wire.base import Cursor, Inserted, Message, Wire, sanitise
from jettison.wire.marks import unmarked

if TYPE_CHECKING:
    from jettison.vault import Keeper

__all__ = ["FORMAT", "copy_task", "merge_task", "packed", "state_of", "task_of", "unpacked", "written", "written_task"]

T = TypeVar("T")

FORMAT = 1
MAGIC = b"jettison session\n"
CHECKED = 16

Row = tuple[str, str, int, int]
"""Of an item: id, kind, number of its unit, tokens."""


def packed(data: Mapping[str, Any]) -> bytes:
    """The bytes of plain data: a mark, a hash of what follows, and compressed JSON. Raises StoreError.

    ASCII, so that what is no UTF-8 (a lone surrogate) passes too.
    """
    try:
        text = json.dumps(data, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise StoreError(f"the last output cannot be written as JSON: {error}") from error
    body = zlib.compress(text.encode(), 1)
    return MAGIC + hashlib.blake2b(body, digest_size=CHECKED).digest() + body


def unpacked(data: bytes) -> dict[str, Any]:
    """The plain data behind `packed` bytes. Raises StoreError for others, for damaged ones and for a later format."""
    head, body = bytes(data[: len(MAGIC) + CHECKED]), bytes(data[len(MAGIC) + CHECKED :])
    if not head.startswith(MAGIC):
        raise StoreError("these bytes are not a saved session")
    if hashlib.blake2b(body, digest_size=CHECKED).digest() != head[len(MAGIC) :]:
        raise StoreError("the saved session is damaged")
    found: dict[str, Any] = json.loads(zlib.decompress(body))
    if found.get("format") != FORMAT:
        raise StoreError(f"the session was saved in format {found.get('format')}, this version reads {FORMAT}")
    return found


# the history


@dataclass(frozen=True)
class Loaded(History):
    """A history of which the messages are not at hand; `awake` reads those that came again."""

    rows: tuple[tuple[Row, ...], ...] = ()
    """Of each message its items."""

    def _common(self, dicts: list[Message], vault: Keeper | None = None) -> tuple[int, bool]:
        """As for any history; a message that held secrets is known by its hash without them."""
        if vault is None or not self.secrets:
            return super()._common(dicts)
        plain = [
            _without(vault, message) if at in self.secrets else message
            for at, message in enumerate(dicts[: len(self.raw)])
        ]
        return super()._common(plain)

    def awake(self, wire: Wire, dicts: Sequence[Message], common: int, vault: Keeper | None = None) -> History:
        dicts = list(map(unmarked, dicts[:common]))
        clean, _ = sanitised(wire, dicts, 0)
        secrets = {at: names for at, names in self.secrets.items() if at < common}
        if vault is not None:
            vault.recollect(clean)
            for at in secrets:
                clean[at] = vault.arrive([clean[at]]).messages[0]
        clean = [new if new is old else copied(new) for new, old in zip(clean, dicts, strict=True)]
        parsed, cursors = wire.parse(clean, Cursor())
        records: list[tuple[Item, ...]] = []
        for record, rows in zip(map(marked, parsed), self.rows, strict=False):
            if [item.kind.value for item in record] != [row[1] for row in rows]:
                break  # read by another version of Jettison: what was decided goes with its content
            # The order of keys may have changed on the way, and the id with it.
            records.append(
                tuple(
                    item if item.id == row[0] else replace(item, id=row[0])
                    for item, row in zip(record, rows, strict=True)
                )
            )
        same = len(records)
        for at, rows in enumerate(self.rows[same:], same):
            records.append(
                tuple(Item(name, Kind(kind), "", at, part, unit, 0) for part, (name, kind, unit, _) in enumerate(rows))
            )
        items = tuple(item for record in records for item in record)
        lost = [Known("") for _ in range(same, common)]
        return History(
            raw=[*private_copies(dicts[:same], 0, secrets), *lost, *self.raw[common:]],
            messages=[*clean[:same], *self.raw[same:]],
            records=records,
            cursors=[*cursors[:same], *[Cursor()] * (len(self.rows) - same)],
            mended=frozenset(at for at, message in enumerate(clean[:same]) if message is not dicts[at]),
            items=items,
            units=tuple(sorted(units_of(items), key=lambda unit: unit.index)),
            prints=self.prints[:same],
            secrets={at: names for at, names in secrets.items() if at < same},
            known=self.known,
        )

    def weigh(self, costs: CountCache, base: History) -> None:
        for record, rows in zip(base.records, self.rows, strict=True):
            for item, row in zip(record, rows, strict=True):
                costs.know(item, row[3])


def prints_of(history: History) -> list[str]:
    """Hashes of all messages, made once."""
    if len(history.prints) < len(history.raw):
        # Of a message that held a secret the caller's own words are not known, and may not be: without it then.
        history.prints.extend(
            fingerprint(history.messages[at] if at in history.secrets else history.raw[at])
            for at in range(len(history.prints), len(history.raw))
        )
    return history.prints


def _without(vault: Keeper, message: Message) -> Message:
    """A message as its hash was taken: whole characters, no secrets, no cache marks."""
    clean: Message = unmarked(vault.arrive([sanitise(message)[0]]).messages[0])
    return clean


# the state

_PLAIN = ("sealed", "call", "extra", "tokens", "weight", "learnt")
_WORKED_OUT = {"held", "handed", "plain", "schemas"}
"""What is found again at the first call."""
_WRITTEN = {
    *_WORKED_OUT,
    "history",
    "flow",
    "plan",
    "sources",
    "merged",
    "own",
    "inserted",
    "dropped",
    "returning",
    "since",
    "notes",
    "lapsed",
    "summary",
    "edits",
    "forgone",
    "front",
    "stale",
    *_PLAIN,
}


def written(state: State, cost: Callable[[Item], int]) -> dict[str, Any]:
    """A state as plain data. `cost`: tokens of an item."""
    if unknown := {entry.name for entry in fields(state)} - _WRITTEN:
        raise StoreError(f"it is not known how to save {', '.join(sorted(unknown))}")
    history = state.history
    if isinstance(history, Loaded):  # no call since
        prints, rows = history.prints, [list(map(list, record)) for record in history.rows]
    else:
        prints = list(prints_of(history))
        rows = [[[item.id, item.kind.value, item.unit, cost(item)] for item in record] for record in history.records]
    return {
        **{name: getattr(state, name) for name in _PLAIN},
        "weight": sum(row[3] for record in rows for row in record) if state.weight is None else state.weight,
        "dropped": state.dropped,
        "returning": state.returning,
        "summary": [_summary(one) for one in (state.summary, *state.summary.earlier)],
        "since": dict(state.since),
        "prints": prints,
        "rows": rows,
        "secrets": [[at, *names] for at, names in history.secrets.items()],
        "log": state.flow.log,
        "plan": [_row(decision) for decision in state.plan.decisions.values()],
        "output": list(zip(state.sources, state.own, strict=True)),
        "merged": [[at, *sources] for at, sources in state.merged.items()],
        "notes": [asdict(note) for note in state.notes],
        "lapsed": [[asdict(note), call] for note, call in state.lapsed],
        "edits": state.edits,
        "forgone": sorted(state.forgone),
        "front": state.front,
        "stale": state.stale,
        "inserted": [[entry.message, entry.text, entry.why] for entry in state.inserted],
    }


def _summary(one: Rolling) -> list[Any]:
    return [one.text, one.first, one.upto, one.call]


def _rolling(rows: Sequence[Any]) -> Rolling:
    """The summary and those before it; where it was saved without those, it alone."""
    if isinstance(rows[0], str):
        return Rolling(*rows)
    now, *before = (Rolling(text, first, upto, call=call) for text, first, upto, call in rows)
    return replace(now, earlier=tuple(before))


def _row(one: Decision) -> list[Any]:
    return [
        one.item,
        int(one.fidelity),
        one.reason,
        one.before,
        one.after,
        one.text,
        one.handle,
        one.call,
        one.segments,
        *([] if one.earlier is None else [_row(one.earlier)]),
    ]


def _decision(row: Sequence[Any]) -> Decision:
    item, fidelity, reason, before, after, text, handle, call, segments, *more = row
    earlier = _decision(more[0]) if more else None
    return Decision(item, Fidelity(fidelity), reason, before, after, text, handle, call, tuple(segments), earlier)


def state_of(data: Mapping[str, Any]) -> State:
    """The state that was `written`."""
    rows = tuple(
        tuple((str(row[0]), str(row[1]), int(row[2]), int(row[3])) for row in record) for record in data["rows"]
    )
    prints: list[str] = list(data["prints"])
    secrets = {int(at): tuple(names) for at, *names in data.get("secrets", ())}
    # -1: what the vault has learned meanwhile may stand in an older message.
    history = Loaded(raw=[Known(known) for known in prints], prints=prints, rows=rows, secrets=secrets, known=-1)
    flow = Flow(log=[(int(index), tuple(names)) for index, names in data["log"]])
    decisions = [_decision(row) for row in data["plan"]]
    stale = data.get("stale", NEVER)
    return State(
        **{name: data[name] for name in _PLAIN},
        dropped=tuple(data["dropped"]),
        returning=tuple(data.get("returning", ())),
        summary=_rolling(data["summary"]),
        since=data["since"],
        notes=tuple(_note(note) for note in data.get("notes", ())),
        lapsed=tuple((_note(note), int(call)) for note, call in data.get("lapsed", ())),
        edits=tuple((int(call), int(messages)) for call, messages in data.get("edits", ())),
        forgone=frozenset(data.get("forgone", ())),
        front=tuple(data.get("front", ())),
        stale=(int(stale[0]), int(stale[1])),
        history=history,
        flow=flow,
        plan=Plan({decision.item: decision for decision in decisions}),
        sources=tuple(at for at, _ in data["output"]),
        own=tuple(message for _, message in data["output"]),
        merged={int(at): tuple(sources) for at, *sources in data.get("merged", ())},
        inserted=tuple(Inserted(*entry) for entry in data["inserted"]),
    )


def _note(data: Mapping[str, Any]) -> Note:
    return Note(data["text"], data["after"], tuple(data["operations"]), tuple(data["items"]))


# what the caller declared


def written_task(task: Task) -> dict[str, Any]:
    """A task as plain data."""
    return {
        "goal": task.goal,
        "constraints": list(task.constraints),
        "operations": {key: asdict(op) for key, op in list(task.operations.items())},
        "pins": sorted(task.pins),
        "released": sorted(task.released),
        "limits": {key: asdict(limit) for key, limit in list(task.limits.items())},
        "stage": asdict(task.stage) if task.stage is not None else None,
        "count": task._count,
    }


def task_of(data: Mapping[str, Any]) -> Task:
    """The task that was `written_task`."""
    return Task(
        goal=data["goal"],
        constraints=list(data["constraints"]),
        operations={key: _operation(op) for key, op in data["operations"].items()},
        pins=set(data["pins"]),
        released=set(data["released"]),
        limits={key: Limit(**limit) for key, limit in data["limits"].items()},
        stage=_stage(data["stage"]) if data.get("stage") else None,
        _count=data["count"] if "count" in data else len(data["operations"]) + len(data["limits"]),
    )


def _stage(data: Mapping[str, Any]) -> Stage:
    lists = {name: tuple(data[name]) for name in ("operations", "needs", "deferred")}
    return Stage(**{**data, **lists})


def _operation(data: dict[str, Any]) -> Operation:
    span = Span(**data["span"]) if data["span"] else None
    return Operation(**{**data, "needs": tuple(data["needs"]), "span": span})


def merge_task(mine: Task, base: Task, theirs: Task) -> None:
    """Bring `mine` to what another worker declared, with what was changed here since `base`: nothing is lost, nor is
    what a new session lifted of what it never saw."""
    told = dict(mine._told)
    held = {key for key, said in told.items() if said is None}
    rules = {text: said for (what, text), said in told.items() if what == "rule" and said is not None}
    pins = {text for what, text in told if what == "pin"}
    for name in ("goal", "stage"):
        if (name, "") not in told:
            setattr(mine, name, getattr(theirs, name))
            del mine._told[name, ""]  # it was not said here
    own = [text for text in mine.constraints if text not in base.constraints and text not in theirs.constraints]
    dropped = set(base.constraints).difference(mine.constraints).union(rules)
    mine.constraints[:] = [text for text in theirs.constraints if text not in dropped] + own
    for ours, old, new in ((mine.pins, base.pins, theirs.pins), (mine.released, base.released, theirs.released)):
        added, removed = ours - old, old - ours
        ours.clear()
        ours.update((new | added) - removed)
    mine.pins.difference_update(text for text in pins if ("pin", text) not in held)
    mine.released.update(rules)
    mine.released.difference_update(text for what, text in held if what == "rule")
    _merge(mine.operations, base.operations, theirs.operations)
    for name in mine.released.intersection(mine.operations):
        if mine.operations[name].open:
            mine.operations[name] = replace(mine.operations[name], closed=rules.get(name, COMPLETED))
    _merge(mine.limits, base.limits, {text: limit for text, limit in theirs.limits.items() if text not in pins})


def _merge(mine: dict[str, T], base: Mapping[str, T], theirs: Mapping[str, T]) -> None:
    changed = {key: value for key, value in mine.items() if base.get(key) != value}
    removed = base.keys() - mine.keys()
    mine.clear()
    mine.update({key: value for key, value in theirs.items() if key not in removed} | changed)


def copy_task(task: Task) -> Task:
    """The task as it is now: callers may go on declaring while a call is under way."""
    return Task(
        task.goal,
        list(task.constraints),
        dict(task.operations),
        set(task.pins),
        set(task.released),
        dict(task.limits),
        task._count,
        task.stage,
        dict(task._told),
    )
