"""Training rows of `jettison tune`: what `Flow` knew of a value at some point, and whether a later call needed it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from jettison.flow.dependencies import Flow, is_keyish, topic_of
from jettison.flow.sources import Source
from jettison.flow.task_state import TaskReader
from jettison.flow.values import LONGEST, argument_values, shape
from jettison.flow.weights import SHAPES, WORTH
from jettison.items import Item, Kind, Unit, units_of
from jettison.replay.readers import Recorded
from jettison.task import Task
from jettison.wire import wire_named

__all__ = ["FEATURES", "Row", "features", "needed_values", "rows_of", "shipped"]

TERMS = (
    *("bias", "used", "used_recent", "mentioned", "mentioned_recent", "newest_recent"),
    *("key_rate", "key_name", "key_needed", "topic", "stated"),
)
FEATURES = (*TERMS, *(f"shape.{name}" for name in SHAPES))
"""Names of the weights, in the order of the rows."""

EVERY, EARLIEST, NEGATIVES = 6, 4, 150
"""Rows are made after every 6th unit from the 4th on: all values a later call needs, and up to 150 others, each of
which then stands for several. More rows of the same run say little new."""
PIECE = 6
"""Pieces of long arguments count from this length, with a mark or a digit (bench.md, "Needed values")."""


@dataclass(frozen=True, slots=True)
class Row:
    """One value at one point of a run."""

    values: tuple[float, ...]
    """In the order of `FEATURES`."""
    needed: bool
    weight: float


def shipped() -> tuple[float, ...]:
    """The weights in use, in the order of `FEATURES`."""
    return (*(getattr(WORTH, name) for name in TERMS), *SHAPES.values())


def features(flow: Flow, value: str, source: Source, index: int, now: int) -> dict[str, float]:
    """What the weights are multiplied with: Σ weight·feature = `Flow.odds` + `Flow.key_odds`; zeros are left out."""
    found = {"bias": 1.0, f"shape.{shape(value)}": 1.0}
    for name, table in (("used", flow.uses), ("mentioned", flow.mentions)):
        track = table.get(value)
        if track is not None:
            found[name], found[f"{name}_recent"] = 1.0, _faded(now - track.last)
    newest = flow.newest(value)
    if newest is not None:
        found["newest_recent"] = _faded(now - newest)
    if flow.topic and len(value) > 5:
        found["topic"] = flow.affinity(value)
    if value in flow.stated:
        found["stated"] = 1.0
    key = source.parts.segments[index].key
    if key:
        name = source.keys[index]
        found["key_rate"] = min(1.0, 5 * flow.used.get(name, 0) / (1 + flow.seen.get(name, 0)))
        found["key_name"] = float(is_keyish(key))
        found["key_needed"] = float(flow.needs(source, index))
    return found


def _faded(age: int) -> float:
    return math.exp(-age / WORTH.fade)


def needed_values(arguments: str) -> set[str]:
    """Values of a call as bench.md counts them: leaves of 4 to 60 characters whole, longer ones by their pieces."""
    whole = {value for _, value in argument_values(arguments, 1 << 60)}
    pieces = {value for _, value in argument_values(arguments, LONGEST)} - whole
    return whole | {piece for piece in pieces if len(piece) >= PIECE and _telling(piece)}


def _telling(piece: str) -> bool:
    return any(character in "/._" or character.isdigit() for character in piece)


@dataclass
class _Reading:
    """A run, read unit by unit."""

    units: Sequence[Unit]
    head: int
    """Units before the first turn of the assistant: they are always sent."""
    flow: Flow = field(default_factory=Flow)
    reader: TaskReader = field(default_factory=TaskReader)

    def last_needed(self) -> dict[str, int]:
        """By value, the last unit whose calls need it."""
        calls = ((at, item) for at, unit in enumerate(self.units) for item in unit.of(Kind.CALL))
        return {value: at for at, call in calls for value in needed_values(call.text)}

    def candidates(self) -> dict[str, tuple[Source, int]]:
        """The newest place of every value that stands in the body and not in the head."""
        ids = {item.id for unit in self.units[: self.head] for item in unit.items}
        held = set(self.flow.head)
        places: dict[str, tuple[Source, int]] = {}
        for name, source in self.flow.sources.items():
            for index, numbers in enumerate(source.values):
                values = [self.flow.vocabulary.texts[number] for number in numbers]
                if name in ids:
                    held.update(values)
                else:
                    places.update(dict.fromkeys(values, (source, index)))
        return {value: place for value, place in places.items() if value not in held}


def rows_of(recorded: Recorded, seed: int = 1) -> Iterator[Row]:
    """The rows of one run. Linear in its units times the number of points looked at."""
    run = _reading(recorded)
    needed, draw = run.last_needed(), random.Random(seed)
    for at, unit in enumerate(run.units):
        run.flow.learn([unit])
        if at < max(run.head, EARLIEST) or at % EVERY:
            continue
        state = run.reader.read(run.units[: at + 1], Task())
        run.flow.about(topic_of(span.text for span in state.goals))
        places = run.candidates()
        wanted = [value for value in places if needed.get(value, -1) > at]
        others = [value for value in places if needed.get(value, -1) <= at]
        drawn = draw.sample(others, min(len(others), NEGATIVES))
        yield from _rows(run.flow, places, wanted, True, 1.0)
        yield from _rows(run.flow, places, drawn, False, len(others) / max(1, len(drawn)))


def _rows(
    flow: Flow, places: dict[str, tuple[Source, int]], values: Iterable[str], needed: bool, weight: float
) -> Iterator[Row]:
    now = len(flow.learnt)
    for value in values:
        found = features(flow, value, *places[value], now)
        yield Row(tuple(found.get(name, 0.0) for name in FEATURES), needed, weight)


def _reading(recorded: Recorded) -> _Reading:
    wire = wire_named(recorded.wire)
    system = wire.parse_system(recorded.system) if recorded.system is not None else ()
    items: list[Item] = [*system, *(item for record in wire.parse(recorded.messages)[0] for item in record)]
    units = sorted(units_of(items), key=lambda unit: unit.index)
    acts = (Kind.CALL, Kind.ASSISTANT)
    head = next((at for at, unit in enumerate(units) if unit.kinds.intersection(acts)), len(units))
    return _Reading(units, head)
