"""The history of a session: a private snapshot of what was given, and what was parsed from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from jettison.compressors.cut import is_synthetic
from jettison.errors import InvalidInput, Problem
from jettison.items import Item, Unit, units_of
from jettison.wire.base import Cursor, Message, Wire, json_text, plain, sanitise

__all__ = ["History", "Snapshot", "schemas"]


@dataclass(frozen=True)
class Snapshot:
    """A history as it was given at one call."""

    given: list[Any]
    """The caller's own objects (or the repaired ones)."""
    raw: list[Message]
    """Private copies, to compare with at the next call."""
    messages: list[Message]
    """What the wire works on: sanitised."""
    records: list[tuple[Item, ...]]
    cursors: list[Cursor]
    common: int
    """How many leading messages are those of the last call."""
    system: tuple[Item, ...]
    system_out: Any
    notes: tuple[str, ...]
    repaired: tuple[str, ...]
    pending: tuple[str, ...]

    @cached_property
    def items(self) -> tuple[Item, ...]:
        return (*self.system, *(item for record in self.records for item in record))

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """In order of their number; the system field is unit -1."""
        return tuple(sorted(units_of(self.items), key=lambda unit: unit.index))

    @property
    def step(self) -> int:
        return self.cursors[-1].step if self.cursors else 0

    @property
    def first_new_unit(self) -> int:
        """Units from here on were never sent."""
        return min((item.unit for record in self.records[self.common :] for item in record), default=1 << 60)


@dataclass(frozen=True)
class History:
    """What was taken in so far."""

    raw: list[Message] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    records: list[tuple[Item, ...]] = field(default_factory=list)
    cursors: list[Cursor] = field(default_factory=list)
    system: tuple[Item, ...] = ()

    def take(self, wire: Wire, messages: Sequence[Any], system: Any, repair: bool, remote: bool) -> Snapshot:
        """Compare with the last call, check and parse what is new. Raises InvalidInput.

        `remote`: part of the history is on the server, references to it are allowed.
        """
        if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
            raise InvalidInput(f"{wire.field} must be a list of messages, not {type(messages).__name__}")
        given = list(messages)
        dicts = _plain(wire, given)
        repaired: tuple[str, ...] = ()
        if repair:
            fixed = wire.repair(dicts)
            repaired = tuple(fixed.notes)
            given = dicts = list(fixed.messages)
        common = self._common(dicts)
        clean, notes = _sanitised(wire, dicts[common:], common)
        whole = self.messages[:common] + clean
        if not whole:
            raise InvalidInput(f"{wire.field} is empty: there is nothing to send")
        system_clean, bad = sanitise(system)
        if bad:
            notes.append(f"system: {bad} lone surrogate(s) replaced by U+FFFD")
        problems = self._problems(wire, whole, common, system_clean, remote)
        cursor = self.cursors[common - 1] if common else Cursor()
        records, cursors = wire.parse(clean, cursor)
        return Snapshot(
            given=given,
            raw=self.raw[:common] + [_copy(message) for message in dicts[common:]],
            messages=whole,
            records=self.records[:common] + [_marked(record) for record in records],
            cursors=self.cursors[:common] + cursors,
            common=common,
            system=wire.parse_system(system_clean) if system_clean is not None else (),
            system_out=system_clean,
            notes=(*notes, *(str(problem) for problem in problems if problem.kind == "compatibility")),
            repaired=repaired,
            pending=tuple(str(problem) for problem in problems if problem.kind == "pending"),
        )

    def _common(self, dicts: Sequence[Message]) -> int:
        """How many leading messages are equal to those of the last call."""
        count = 0
        for mine, theirs in zip(self.raw, dicts, strict=False):
            if mine != theirs:
                break
            count += 1
        return count

    def _problems(self, wire: Wire, messages: list[Message], common: int, system: Any, remote: bool) -> list[Problem]:
        """Rules broken by the new part; structure is an error."""
        start = self._border(common)
        problems = wire.check(messages, system=system, start=start)
        if remote:
            problems = [problem for problem in problems if "item_reference" not in problem.rule]
        broken = [problem for problem in problems if problem.kind == "structure"]
        if broken:
            raise InvalidInput(broken)
        return problems

    def _border(self, common: int) -> int:
        """The first message of the unit that was last worked on."""
        if not common:
            return 0
        unit = max(item.unit for item in self.records[common - 1])
        at = common - 1
        while at > 0 and any(item.unit >= unit for item in self.records[at - 1]):
            at -= 1
        return at


def _plain(wire: Wire, given: Sequence[Any]) -> list[Message]:
    out = []
    for index, message in enumerate(given):
        try:
            out.append(plain(message))
        except TypeError as error:
            problem = Problem(f"{wire.field}[{index}]", str(error), "pass the message as the SDK gives it or as a dict")
            raise InvalidInput([problem]) from None
    return out


def _sanitised(wire: Wire, messages: Sequence[Message], first: int) -> tuple[list[Message], list[str]]:
    out, notes = [], []
    for index, message in enumerate(messages, first):
        clean, bad = sanitise(message)
        if bad:
            notes.append(f"{wire.field}[{index}]: {bad} lone surrogate(s) replaced by U+FFFD")
        out.append(clean)
    return out, notes


def _marked(record: tuple[Item, ...]) -> tuple[Item, ...]:
    """Items that an earlier fit wrote are recognised by their mark."""
    if not any(item.text.startswith("[") and is_synthetic(item.text) for item in record):
        return record
    return tuple(replace(item, synthetic=True) if is_synthetic(item.text) else item for item in record)


def _copy(value: Any) -> Any:
    """A private copy of JSON-like data; strings are shared."""
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_copy(inner) for inner in value]
    return value


def schemas(tools: Any, response_schema: Any) -> tuple[tuple[tuple[str, str], ...], str]:
    """((name, schema text) of each tool, the JSON text of all schemas that are sent)."""
    found: list[tuple[str, str]] = []
    listed: list[Message] = [plain(tool) if not isinstance(tool, str) else {"name": tool} for tool in tools or ()]
    for tool in listed:
        for entry in tool.get("functionDeclarations") or tool.get("function_declarations") or [tool]:
            inner = entry.get("function")
            body: Message = inner if isinstance(inner, dict) else entry
            found.append((str(body.get("name") or body.get("type") or ""), json_text(body)))
    text = json_text(listed) if listed else ""
    return tuple(found), text + (json_text(response_schema) if response_schema else "")
