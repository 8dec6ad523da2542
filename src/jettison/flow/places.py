"""Places: where exact texts stand in the history (needs of operations, declared goals and constraints, pins)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from jettison.flow.borders import found
from jettison.items import Item, Kind, Unit
from jettison.task import Span

__all__ = ["PlaceReader", "place_in"]

_TEXTUAL = (Kind.RESULT, Kind.USER, Kind.INSTRUCTION, Kind.DOCUMENT)
_ALONE = 3
"""Added to the rank of a place (0 to 2) where the text stands by itself."""
_BEST = _ALONE + 2


@dataclass
class PlaceReader:
    """Looks for each text in each settled unit once. Where it stands by itself wins over where it is a piece of a
    longer word (`ORD-1` in `ORD-17`); then results and user text over calls and prose, and these over reasoning, which
    cannot stand alone in its message; then the newest place."""

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
        places: dict[str, Span] = {}
        for text in dict.fromkeys(texts):
            done, rank, span = self._known.get(text, (0, -1, None))
            rank, span = _newest(text, self._units[done:], rank, span)
            self._known[text] = (len(self._units), rank, span)
            span = _newest(text, last, rank, span)[1]
            if span is not None:
                places[text] = span
        return places


def place_in(text: str, items: Iterable[Item]) -> tuple[int, Span | None]:
    """(rank, place) of the best place of a text; of equals that in the first item: give the newest first."""
    best, place = -1, None
    for item in items:
        at, alone = found(item.text, text)
        if at < 0:
            continue
        rank = 2 if item.kind in _TEXTUAL else 0 if item.kind is Kind.REASONING else 1
        rank += _ALONE if alone else 0
        if rank > best:
            best, place = rank, Span(item.id, at, at + len(text), text)
        if best == _BEST:
            break
    return best, place


def _newest(text: str, units: Iterable[Unit], rank: int, span: Span | None) -> tuple[int, Span | None]:
    best, place = place_in(text, _backwards(tuple(units)))
    return (best, place) if best >= rank and place is not None else (rank, span)


def _backwards(units: tuple[Unit, ...]) -> Iterator[Item]:
    for unit in reversed(units):
        yield from reversed(unit.items)
