"""Operations: what was begun and is not done, the handle it is known by, and when it closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from jettison.flow.patterns import compiled
from jettison.flow.statuses import Status, begun, ended, is_asking, is_stopping
from jettison.items import Item, Kind, Unit
from jettison.task import Operation, Span

__all__ = ["TIME_OUT", "OperationReader"]

TIME_OUT = 60
"""Steps without a word of an operation after which it is reported as timed out. The longest gap between a job's
start and its result in the recorded sets is under half of that."""

_ANSWER = (
    r"^\W*(?:yes|yep|approved?|i approve|go ahead|confirm(?:ed)?|i confirm|ok(?:ay)?|no|rejected?|denied|do it|"
    r"don['’]t|"
    r"да|одобр\w+|подтвержд\w+|согласен|согласна|нет|отклон\w+|разрешаю|можно|нельзя)\b"
)


@dataclass
class OperationReader:
    """Reads each result once, and puts what they say in order."""

    _statuses: dict[str, Status | None] = field(default_factory=dict)
    _ended: dict[tuple[str, str], bool] = field(default_factory=dict)
    _found: dict[str, Operation] = field(default_factory=dict)
    _touched: dict[str, int] = field(default_factory=dict)

    def restart(self) -> None:
        """Forget the order of what was read, not the readings."""
        self._found, self._touched = {}, {}

    def settle(self, units: Iterable[Unit]) -> None:
        """Take in units that will not change any more, behind those of the calls before."""
        self._take(units, self._found, self._touched)

    def read(self, newest: Iterable[Unit], step: int) -> tuple[Operation, ...]:
        """All operations seen so far, open and closed, with those of units that may still grow."""
        found, touched = dict(self._found), dict(self._touched)
        self._take(newest, found, touched)
        return tuple(_timed_out(op, touched[key], step) for key, op in found.items())

    def _take(self, units: Iterable[Unit], found: dict[str, Operation], touched: dict[str, int]) -> None:
        for unit in units:
            for item in unit.items:
                if item.kind is Kind.RESULT:
                    if found or self._begun(item) is not None:
                        self._result(item, _call_of(item, unit), found, touched)
                elif found and item.kind is Kind.USER:
                    self._said(item, found, touched)
                elif found and item.kind in (Kind.ASSISTANT, Kind.CALL):
                    _touch(item, found, touched)

    def _result(self, item: Item, call: Item | None, found: dict[str, Operation], touched: dict[str, int]) -> None:
        for key, op in found.items():
            if not op.open:
                continue
            asked = call is not None and (op.handle in call.text if op.handle else call.name == op.name)
            if not asked and (not op.handle or op.handle not in item.text):
                continue
            touched[key] = item.step
            if self._over(item, op.handle, asked) or (asked and call is not None and _stopped(item, call, op)):
                found[key] = replace(op, closed=f"result {item.id} says it is over")
        status = self._begun(item)
        if status is None:
            return
        key = status.handle or f"{item.name} {item.id}"
        known = found.get(key)
        if known is not None and known.open:
            return
        start, end = status.span
        found[key] = Operation(
            id=f"op:{key}",
            name=item.name or "work",
            needs=status.needs,
            span=Span(item.id, start, end, item.text[start:end]),
            step=item.step,
            call=call.id if call is not None else None,
            handle=status.handle,
        )
        touched[key] = item.step

    def _said(self, item: Item, found: dict[str, Operation], touched: dict[str, int]) -> None:
        """What a user turn says of open operations: news of one by its handle, or the answer to a request for leave."""
        for key, op in found.items():
            if not op.open:
                continue
            if op.handle and op.handle in item.text:
                touched[key] = item.step
                if self._over(item, op.handle, False):
                    found[key] = replace(op, closed=f"the user says in {item.id} that it is over")
            elif is_asking(op.name) and compiled(_ANSWER).match(item.text):
                found[key] = replace(op, closed=f"the user answered in {item.id}")

    def _begun(self, item: Item) -> Status | None:
        """Whether a result says that work is under way, read once."""
        if item.id not in self._statuses:
            reads = not item.synthetic and not item.is_error
            self._statuses[item.id] = begun(item.text, item.name or "") if reads else None
        return self._statuses[item.id]

    def _over(self, item: Item, handle: str, asked: bool) -> bool:
        """Whether a result says that work is over, read once and only where some is open."""
        key = (item.id, handle)
        if key not in self._ended:
            self._ended[key] = not item.synthetic and ended(item.text, handle, asked)
        return self._ended[key]


def _call_of(item: Item, unit: Unit) -> Item | None:
    """The call that a result answers; of calls with one id the last."""
    return next(
        (call for call in reversed(unit.items) if call.kind is Kind.CALL and call.call_id == item.call_id), None
    )


def _stopped(item: Item, call: Item, op: Operation) -> bool:
    """Whether a call ended the operation: cancel, kill, stop, and no error."""
    return bool(op.handle) and not item.is_error and is_stopping(call.name or "") and "rror" not in item.text[:80]


def _touch(item: Item, found: Mapping[str, Operation], touched: dict[str, int]) -> None:
    for key, op in found.items():
        if op.open and op.handle and op.handle in item.text:
            touched[key] = item.step


def _timed_out(op: Operation, last: int, step: int) -> Operation:
    if op.open and step - last > TIME_OUT:
        return replace(op, closed=f"timed out: no word of it for {step - last} steps")
    return op
