"""The history of a session: a private snapshot of what was given, and what was parsed from it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from jettison.compressors.cut import is_synthetic
from jettison.errors import InvalidInput, Problem
from jettison.items import Item, Unit, units_of
from jettison.tokens import CountCache
from jettison.wire.base import Cursor, Message, Wire, json_text, plain, sanitise
from jettison.wire.guess import marked_wire
from jettison.wire.marks import limited, marks_in, other_forms, unmarked

if TYPE_CHECKING:
    from jettison.vault import Keeper

__all__ = ["History", "Snapshot", "advice", "copied", "marked", "sanitised", "schemas", "size_of"]

T = TypeVar("T")

_index = attrgetter("index")
_ATOMS = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True)
class Snapshot:
    """A history as it was given at one call."""

    given: list[Any] = field(repr=False)
    """The caller's own objects (or the repaired ones)."""
    raw: list[Any] = field(repr=False)
    """Private copies, to compare with at the next call; of what held a secret only a digest."""
    messages: list[Message]
    """What the wire works on: sanitised."""
    records: list[tuple[Item, ...]]
    cursors: list[Cursor]
    common: int
    """How many leading messages are those of the last call."""
    base: History
    """What it was compared with: the history that took it in, as far as it had to be read again (`saved.py`)."""
    items: tuple[Item, ...]
    """Those of the system field first."""
    units: tuple[Unit, ...]
    """In order of their number; the system field is unit -1. What did not change is the same object as before."""
    system: tuple[Item, ...]
    system_out: Any
    mended: frozenset[int]
    """Indices of messages that had to be sanitised, or held a secret."""
    notes: tuple[str, ...]
    repaired: tuple[str, ...]
    pending: tuple[str, ...]
    secrets: Mapping[int, tuple[str, ...]]
    """Placeholders that were put into a message, by its index."""
    known: int = 0
    """What the vault knew when no message held any of it (`Keeper.known`)."""
    bare: int = 0
    """So many leading messages, as given, have no cache marks: they are equal to those of the last call without."""

    @property
    def step(self) -> int:
        return self.cursors[-1].step if self.cursors else 0

    @property
    def first_new_unit(self) -> int:
        """Units from here on were never sent."""
        return min((item.unit for record in self.records[self.common :] for item in record), default=1 << 60)

    def taken(self) -> History:
        """What the next call compares with."""
        return History(
            self.raw,
            self.messages,
            self.records,
            self.cursors,
            self.system,
            self.mended,
            self.items,
            self.units,
            self.secrets,
            self.base.prints[: self.common],
            self.known,
        )


@dataclass(frozen=True)
class History:
    """What was taken in so far."""

    raw: list[Any] = field(default_factory=list, repr=False)
    messages: list[Message] = field(default_factory=list)
    records: list[tuple[Item, ...]] = field(default_factory=list)
    cursors: list[Cursor] = field(default_factory=list)
    system: tuple[Item, ...] = ()
    mended: frozenset[int] = frozenset()
    items: tuple[Item, ...] = ()
    units: tuple[Unit, ...] = ()
    secrets: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    prints: list[str] = field(default_factory=list)
    """Content hashes of the first messages, as far as they were needed (`saved.py`)."""
    known: int = 0

    def awake(self, wire: Wire, dicts: Sequence[Message], common: int, vault: Keeper | None = None) -> History:
        """The history with all that it knows at hand: itself, but for one that was saved and loaded."""
        return self

    def weigh(self, costs: CountCache, base: History) -> None:
        """Tell the counter what is known of the items of `base`, which `awake` made."""

    def take(
        self,
        wire: Wire,
        messages: Sequence[Any],
        system: Any,
        repair: bool,
        remote: bool,
        marks: int | None = None,
        vault: Keeper | None = None,
    ) -> Snapshot:
        """Compare with the last call, check and parse what is new. Raises InvalidInput.

        `remote`: part of the history is on the server, references and answers to it are allowed. `marks`: cache marks
        that the messages may have; older ones are taken off. None: all are kept. `vault`: takes secrets out of what is
        new before anything else sees it.
        """
        if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
            raise InvalidInput(f"{wire.field} must be a list of messages, not {type(messages).__name__}")
        given = list(messages)
        dicts = _plain(wire, given)
        if repair:
            dicts = list(map(nested, dicts))
        repaired: tuple[str, ...] = ()
        if repair:
            fixed = wire.repair(dicts, remote)
            repaired = tuple(fixed.notes)
            given = dicts = list(fixed.messages)
        if marks is not None and (spare := marks_in(dicts) - marks) > 0:
            given = dicts = limited(dicts, marks)
            if repair:
                repaired = (*repaired, f"{spare} cache marks taken off, the oldest: {marks} are left for the messages")
        common = self._common(dicts, vault)
        base = self.awake(wire, dicts, common[0], vault)
        if base is not self:
            common = base._common(dicts, vault)
        taken = base._taken(wire, given, dicts, common, system, remote, repaired, vault)
        return replace(taken, bare=taken.common) if base is self and not common[1] else taken

    def _taken(
        self,
        wire: Wire,
        given: list[Any],
        dicts: list[Message],
        known: tuple[int, bool],
        system: Any,
        remote: bool,
        repaired: tuple[str, ...],
        vault: Keeper | None,
    ) -> Snapshot:
        """The snapshot, once it is known how much is as it was, and whether only but for cache marks."""
        common, marks = known
        dicts[common:] = map(nested, dicts[common:])
        clean, notes = sanitised(wire, dicts[common:], common)
        secrets = self.secrets
        if vault is not None:
            system = vault.arrive_system(system)
            common, clean, secrets = self._vaulted(vault, wire, dicts, common, clean, notes)
        came = dicts[common:]
        whole = list(dicts) if dicts is given else dicts
        whole[common:] = clean
        for at in self.mended:
            if at < common:
                whole[at] = self.messages[at]
        if not whole:
            raise InvalidInput(f"{wire.field} is empty: there is nothing to send")
        mended = {at for at in self.mended if at < common}
        mended |= {at for at, (message, old) in enumerate(zip(clean, came, strict=True), common) if message is not old}
        system_clean, bad = sanitise(system)
        if bad:
            notes.append(f"system: {bad} lone surrogate(s) replaced by U+FFFD")
        problems = self._problems(wire, whole, common, system_clean, remote)
        bare = list(map(unmarked, came))
        # What was mended is made anew only where it was: the rest of it is the caller's, who may change it.
        clean = [
            known if new is old else copied(unmarked(new)) for new, old, known in zip(clean, came, bare, strict=True)
        ]
        whole[common:] = clean
        if marks:
            whole[:common] = map(unmarked, whole[:common])
        cursor = self.cursors[common - 1] if common else Cursor()
        parsed, cursors = wire.parse(clean, cursor)
        records = list(map(marked, parsed))
        system_items = wire.parse_system(system_clean) if system_clean is not None else ()
        if system_items == self.system:
            system_items = self.system
        items, units = self._grown(system_items, common, records)
        return Snapshot(
            given=given,
            raw=followed(self.raw, common, private_copies(bare, common, secrets)),
            messages=whole,
            records=followed(self.records, common, records),
            cursors=followed(self.cursors, common, cursors),
            common=common,
            base=self,
            items=items,
            units=units,
            system=system_items,
            system_out=system_clean,
            mended=frozenset(mended),
            notes=(*notes, *(str(problem) for problem in problems if problem.kind == "compatibility")),
            repaired=repaired,
            pending=tuple(str(problem) for problem in problems if problem.kind == "pending"),
            secrets=secrets,
            known=vault.known if vault is not None else 0,
        )

    def _vaulted(
        self, vault: Keeper, wire: Wire, dicts: list[Message], common: int, clean: list[Message], notes: list[str]
    ) -> tuple[int, list[Message], Mapping[int, tuple[str, ...]]]:
        """(common, new messages without secrets, placeholders by message). A secret that stood in an older message
        before it was known as one (a password, told later what it is) is taken out there too, whatever it costs."""
        arrived = vault.arrive(clean)
        if (
            vault.known != self.known
            and (stale := next((n for n in range(common) if vault.holds(self.sent(n))), None)) is not None
        ):
            notes.append(f"{wire.field}[{stale}] held a secret that is only known now: what follows it is sent anew")
            clean = sanitised(wire, dicts[stale:common], stale)[0] + clean
            common, arrived = stale, vault.arrive(clean)
        new = {at: names for at, names in enumerate(arrived.names, common) if names}
        old = {at: names for at, names in self.secrets.items() if at < common}
        return common, arrived.messages, {**old, **new} if new or len(old) < len(self.secrets) else self.secrets

    def sent(self, at: int) -> Message:
        """A message as it was worked on, whatever the caller did to it since."""
        message: Message = self.messages[at] if at in self.mended else self.raw[at]
        return message

    def _common(self, dicts: list[Message], vault: Keeper | None = None) -> tuple[int, bool]:
        """How many leading messages are equal to those of the last call, and whether only but for cache marks, or the
        form that they need. Of those in another form it is the old one that is worked on."""
        if self.raw == dicts[: len(self.raw)]:
            return len(self.raw), False
        count, marks = 0, False
        for mine, theirs in zip(self.raw, dicts, strict=False):
            if mine != theirs:
                if (bare := nested(theirs)) is not theirs and mine == bare:
                    dicts[count] = bare  # a message of the caller's with blocks of an SDK in it
                elif mine == (bare := unmarked(theirs)):
                    marks = True
                elif any(mine == other for other in other_forms(bare)):
                    marks = True
                    if type(mine) is dict:
                        dicts[count] = self.sent(count)
                else:
                    break
            count += 1
        return count, marks

    def _grown(
        self, system: tuple[Item, ...], common: int, records: list[tuple[Item, ...]]
    ) -> tuple[tuple[Item, ...], tuple[Unit, ...]]:
        """Items and units: those of the first `common` messages, then `records`. Only units at the seam are new."""
        new = [item for record in records for item in record]
        if system is not self.system:
            items = (*system, *(item for record in self.records[:common] for item in record), *new)
            return items, tuple(sorted(units_of(items), key=_index))
        dropped = [item for record in self.records[common:] for item in record]
        seam = min((item.unit for item in (*dropped, *new)), default=1 << 60)
        at = bisect_left(self.units, seam, key=_index)
        torn = [item for unit in self.units[at:] for item in unit.items if item.message < common]
        items = (*self.items[: len(self.items) - len(dropped)], *new)
        return items, (*self.units[:at], *sorted(units_of([*torn, *new]), key=_index))

    def _problems(self, wire: Wire, messages: list[Message], common: int, system: Any, remote: bool) -> list[Problem]:
        """Rules broken by the new part; structure is an error."""
        start = self.border(common)
        problems = wire.check(messages, system=system, start=start, remote=remote)
        broken = [problem for problem in problems if problem.kind == "structure"]
        if broken:
            raise InvalidInput(broken, advice(wire, messages, remote))
        return problems

    def border(self, common: int) -> int:
        """The first message of the unit that was last worked on."""
        if not common:
            return 0
        unit = max(item.unit for item in self.records[common - 1])
        at = common - 1
        while at > 0 and (
            any(item.unit >= unit for item in self.records[at - 1])
            or self.records[at][0].unit <= max(item.unit for item in self.records[at - 1])
        ):
            at -= 1
        return at


def followed(old: list[T], common: int, new: Iterable[T]) -> list[T]:
    """The first `common` of the old ones, then the new ones, in one pass over them: a warm call is bound by how often
    it touches what is old (docs/benchmarks.md, "Speed")."""
    out = old[:common]
    out += new
    return out


def advice(wire: Wire, messages: Sequence[Any], remote: bool = False) -> str:
    """What would help with a history that breaks the rules of its wire; empty where nothing does at once."""
    likely = marked_wire(messages)
    if likely not in (None, wire.name):
        return f"this looks like a history of the wire {likely!r}: pass wire={likely!r}, not {wire.name!r}"
    if all(isinstance(message, dict) for message in messages):
        mended = wire.repair(messages, remote).messages
        if mended and not any(problem.kind == "structure" for problem in wire.check(mended, remote=remote)):
            return "pass repair=True to have it mended: dead calls answered, duplicates and empties dropped"
    return ""


def _plain(wire: Wire, given: Sequence[Any]) -> list[Message]:
    if set(map(type, given)) == {dict}:
        return list(given)
    out = []
    for index, message in enumerate(given):
        try:
            out.append(plain(message))
        except TypeError as error:
            problem = Problem(f"{wire.field}[{index}]", str(error), "pass the message as the SDK gives it or as a dict")
            raise InvalidInput([problem]) from None
    return out


def nested(message: Any) -> Any:
    """The message with the objects of an SDK in it (`{"content": response.content}`) as plain data; itself without."""
    if type(message) in _ATOMS:
        return message
    if isinstance(message, dict):
        if all(type(value) in _ATOMS for value in message.values()):
            return message
        new = {key: nested(value) for key, value in message.items()}
        return message if all(new[key] is value for key, value in message.items()) else new
    if isinstance(message, list | tuple):
        parts = [nested(value) for value in message]
        same = all(new is old for new, old in zip(parts, message, strict=True))
        return message if same and isinstance(message, list) else parts
    return nested(plain(message)) if hasattr(message, "model_dump") else message


def private_copies(bare: Sequence[Message], common: int, secrets: Mapping[int, tuple[str, ...]]) -> list[Any]:
    """Copies of the new messages, to compare with; of one that held a secret only its digest."""
    if not secrets:
        return list(map(copied, bare))
    from jettison.vault.keeper import Seen

    return [Seen(message) if at in secrets else copied(message) for at, message in enumerate(bare, common)]


def sanitised(wire: Wire, messages: Sequence[Message], first: int) -> tuple[list[Message], list[str]]:
    out, notes = [], []
    for index, message in enumerate(messages, first):
        clean, bad = sanitise(message)
        if bad:
            notes.append(f"{wire.field}[{index}]: {bad} lone surrogate(s) replaced by U+FFFD")
        out.append(clean)
    return out, notes


def marked(record: tuple[Item, ...]) -> tuple[Item, ...]:
    """Items that an earlier fit wrote are recognised by their mark."""
    if not [item for item in record if item.text[:1] == "[" and is_synthetic(item.text)]:
        return record
    return tuple(replace(item, synthetic=True) if is_synthetic(item.text) else item for item in record)


def copied(value: Any) -> Any:
    """A private copy of JSON-like data; strings are shared."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if isinstance(value, dict):
        new = dict(value)
        for key, inner in value.items():
            if type(inner) not in _ATOMS:
                new[key] = copied(inner)
        return new
    if isinstance(value, list):
        return [inner if type(inner) in _ATOMS else copied(inner) for inner in value]
    return value


def size_of(value: Any, most: int) -> int:
    """Characters of all text in a value, counted up to about `most`."""
    if isinstance(value, str):
        return len(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    size = 0
    for one in inner:
        size += size_of(one, most)
        if size >= most:
            break
    return size


def schemas(tools: Any, response_schema: Any) -> tuple[tuple[tuple[str, str], ...], str]:
    """((name, schema text) of each tool, the JSON text of all schemas that are sent)."""
    found: list[tuple[str, str]] = []
    listed: list[Message] = [plain(tool) if not isinstance(tool, str) else {"name": tool} for tool in tools or ()]
    for tool in listed:
        for entry in tool.get("functionDeclarations") or tool.get("function_declarations") or [tool]:
            inner = entry.get("function")
            body: Message = inner if isinstance(inner, dict) else entry
            name = body.get("name") or body.get("server_label") or body.get("type")
            found.append((str(name or ""), json_text(body)))
    text = json_text(listed) if listed else ""
    return tuple(found), text + (json_text(response_schema) if response_schema else "")
