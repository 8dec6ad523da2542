"""Operations: what was begun and is not done, the handle it is known by, and when it closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from jettison.flow.answers import answers
from jettison.flow.borders import holds
from jettison.flow.patterns import compiled
from jettison.flow.statuses import Status, begun, ended
from jettison.flow.tool_roles import is_asking, is_looking, is_polling, is_running, is_stopping
from jettison.items import Item, Kind, Unit
from jettison.task import Operation, Span

__all__ = ["TIME_OUT", "OperationReader"]

TIME_OUT = 60
"""Steps without a word of an operation after which it is reported as timed out. The longest gap between a job's
start and its result in the recorded sets is under half of that."""
LONGEST_REQUEST = 2_000
"""Characters of a call that asks for leave whose words an answer may be about."""

_NOT_STOPPED = (
    r"\berror|\bfail|\bunable|\b(?:could|can|did|does)(?: ?not|n['’]t)\b|\bnot (?:found|cancel|stop|allowed|possible)|"
    r"\"(?:ok|success)\": ?false|\bpending|\bqueued|\bin.progress|\bawait|\brequires|"
    r"ошибк|не удал|нельзя|невозможно|не найден|отказано"
)


@dataclass
class OperationReader:
    """Reads each result once, and puts what they say in order."""

    _statuses: dict[str, tuple[Status, ...]] = field(default_factory=dict)
    _ended: dict[tuple[str, str], bool] = field(default_factory=dict)
    _found: dict[str, Operation] = field(default_factory=dict)
    _touched: dict[str, int] = field(default_factory=dict)
    _calls: dict[str, str] = field(default_factory=dict)
    """By operation that asks for leave: the call, which says for what."""

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
            calls = {one.call_id: one for one in unit.items if one.kind is Kind.CALL}  # of those with one id the last
            for item in unit.items:
                if item.kind is Kind.RESULT:
                    call = calls.get(item.call_id)
                    if found or self._begun(item, call):
                        self._result(item, call, found, touched)
                elif found and item.kind is Kind.USER:
                    self._said(item, found, touched)
                elif found and item.kind in (Kind.ASSISTANT, Kind.CALL):
                    _touch(item, found, touched)

    def _result(self, item: Item, call: Item | None, found: dict[str, Operation], touched: dict[str, int]) -> None:
        for key, op in found.items():
            if not op.open:
                continue
            asked = call is not None and (holds(call.text, op.handle) if op.handle else call.name == op.name)
            if not asked and (not op.handle or not holds(item.text, op.handle)):
                continue
            touched[key] = item.step
            if self._over(item, call, asked, op):
                found[key] = replace(op, closed=f"result {item.id} says it is over")
        for status in self._begun(item, call):
            key = status.handle or f"{item.name} {item.id}"
            known = found.get(key)
            if known is None or not known.open:
                found[key] = _operation(key, status, item, call)
                touched[key] = item.step
                if call is not None and is_asking(call.name or ""):
                    self._calls[key] = call.text[:LONGEST_REQUEST]

    def _said(self, item: Item, found: dict[str, Operation], touched: dict[str, int]) -> None:
        """What a user turn says of open operations: news of one by its handle, or the answer to a request for leave."""
        for key, op in found.items():
            if not op.open:
                continue
            named = bool(op.handle) and holds(item.text, op.handle)
            if named:
                touched[key] = item.step
            if named and self._told(item, op.handle):
                found[key] = replace(op, closed=f"the user says in {item.id} that it is over")
            elif is_asking(op.name) and answers(item.text, f"{op.handle} {self._calls.get(key, '')}"):
                found[key] = replace(op, closed=f"the user answered in {item.id}")

    def _begun(self, item: Item, call: Item | None) -> tuple[Status, ...]:
        """The work that a result says is under way, read once."""
        if item.id not in self._statuses:
            reads = not item.synthetic and not item.is_error
            given = call.text if call is not None else ""
            self._statuses[item.id] = begun(item.text, item.name or "", given) if reads else ()
        return self._statuses[item.id]

    def _over(self, item: Item, call: Item | None, asked: bool, op: Operation) -> bool:
        """Whether a result says that work is over, read once and only where some is open. `asked`: its call named
        it."""
        key = (item.id, op.handle or op.name)
        if key not in self._ended:
            over = (asked and _stopped(item, call, op)) or _says_over(item, call, asked, op)
            self._ended[key] = not item.synthetic and over
        return self._ended[key]

    def _told(self, item: Item, handle: str) -> bool:
        """Whether a user turn says that work is over."""
        key = (item.id, handle)
        if key not in self._ended:
            self._ended[key] = ended(item.text, handle, False, spoken=True)
        return self._ended[key]


def _operation(key: str, status: Status, item: Item, call: Item | None) -> Operation:
    start, end = status.span
    return Operation(
        id=f"op:{key}",
        name=item.name or "work",
        needs=status.needs,
        span=Span(item.id, start, end, item.text[start:end]),
        step=item.step,
        call=call.id if call is not None else None,
        handle=status.handle,
    )


def _stopped(item: Item, call: Item | None, op: Operation) -> bool:
    """Whether a call ended the operation: cancel, kill, stop, and no error."""
    if call is None or not op.handle or item.is_error or not is_stopping(call.name or "", call.text):
        return False
    return compiled(_NOT_STOPPED).search(item.text[:200]) is None


def _says_over(item: Item, call: Item | None, asked: bool, op: Operation) -> bool:
    """Whether a result says so: of the handle, or as the answer of a call that asked for it. What another call that
    only mentions the handle came to is its own affair, and what a shell prints is not about its command."""
    if call is None or item.is_error:
        return ended(item.text, op.handle, False) if op.handle else False
    name, given = call.name or "", call.text
    polled = not op.handle or is_polling(name, given)
    looks = polled or is_looking(name, given)
    asked = asked and (looks or is_stopping(name, given))
    if asked and is_running(name, given):
        asked = item.text[:1] in ("{", "[")
    return ended(item.text, op.handle, asked, looked=looks, polled=asked and polled)


def _touch(item: Item, found: Mapping[str, Operation], touched: dict[str, int]) -> None:
    for key, op in found.items():
        if op.open and op.handle and holds(item.text, op.handle):
            touched[key] = item.step


def _timed_out(op: Operation, last: int, step: int) -> Operation:
    if op.open and step - last > TIME_OUT:
        return replace(op, closed=f"timed out: no word of it for {step - last} steps")
    return op
