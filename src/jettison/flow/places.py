"""Places: where exact texts stand in the history (needs of operations, declared goals and constraints, pins)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from jettison.items import Item, Kind, Unit
from jettison.task import Span

__all__ = ["PlaceReader"]

_TEXTUAL = (Kind.RESULT, Kind.USER, Kind.INSTRUCTION, Kind.DOCUMENT)


@dataclass
class PlaceReader:
    """Looks for each text in each settled unit once. The newest place wins; results and user text before calls and
    prose, and these before reasoning, which cannot stand alone in its message."""

    _units: list[Unit] = field(default_factory=list)
    _known: dict[str, tuple[int, int, Span | None]] = field(default_factory=dict)
    """By text: settled units that were searched, rank of the place, the place."""

    def restart(self) -> None:
        self._units, self._known = [], {}

    def settle(self, units: Iterable[Unit]) -> None:
        """Take in units that will not change any more."""
        self._units += units

    def find(self, texts: Iterable[str], newest: Iterable[Unit]) -> dict[str, Span]:
        """Where each text stands; those that stand nowhere are left out."""
        last = tuple(newest)
        found: dict[str, Span] = {}
        for text in dict.fromkeys(texts):
            done, rank, span = self._known.get(text, (0, -1, None))
            rank, span = _newest(text, self._units[done:], rank, span)
            self._known[text] = (len(self._units), rank, span)
            span = _newest(text, last, rank, span)[1]
            if span is not None:
                found[text] = span
        return found


def _newest(text: str, units: Iterable[Unit], rank: int, span: Span | None) -> tuple[int, Span | None]:
    best, place = -1, None
    for item in _backwards(tuple(units)):
        at = item.text.find(text)
        if at < 0:
            continue
        own = 2 if item.kind in _TEXTUAL else 0 if item.kind is Kind.REASONING else 1
        if own > best:
            best, place = own, Span(item.id, at, at + len(text), text)
        if best == 2:
            break
    return (best, place) if best >= rank and place is not None else (rank, span)


def _backwards(units: tuple[Unit, ...]) -> Iterator[Item]:
    for unit in reversed(units):
        yield from reversed(unit.items)
