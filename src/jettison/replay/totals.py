"""What a replay adds up to: results of trajectories, and their sums by task."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from jettison.replay.measure.tally import Tally

__all__ = ["Key", "Result", "Totals"]

Key = tuple[str, float, str, str]
"""(policy, fraction, set, task)."""
_SUMS = tuple(field.name for field in fields(Tally))


@dataclass(frozen=True, slots=True)
class Result:
    """One trajectory under one policy and budget."""

    set: str
    task: str
    id: str
    policy: str
    fraction: float
    tally: Tally


class Totals:
    """Sums by (policy, fraction, set, task), a row of numbers each.

    They are all that grows with what is measured: 0.3 KB for each task under each policy and budget. Sums are held as
    floats, which are exact for whole numbers up to 2**53.
    """

    def __init__(self) -> None:
        self.trajectories = 0
        self._rows: dict[tuple[str, float], dict[str, dict[str, array[float]]]] = {}
        self._names: dict[str, str] = {}

    def add(self, results: Iterable[Result]) -> None:
        """Count results; each trajectory once, whatever the number of policies."""
        first: tuple[str, float] | None = None
        for result in results:
            first = first or (result.policy, result.fraction)
            if (result.policy, result.fraction) == first:
                self.trajectories += result.tally.trajectories
            key = (result.policy, result.fraction, result.set, result.task)
            self.put(key, [getattr(result.tally, name) for name in _SUMS])

    def put(self, key: Key, sums: Iterable[float]) -> None:
        """Add sums, in the order of the fields of `Tally`. `trajectories` is for the caller to count."""
        policy, fraction, set_name, task = key
        tasks = self._rows.setdefault((policy, fraction), {}).setdefault(set_name, {})
        row = tasks.get(task)
        if row is None:
            tasks[self._names.setdefault(task, task)] = array("d", sums)  # a task has one name under all policies
            return
        for at, value in enumerate(sums):
            row[at] += value

    @property
    def tasks(self) -> dict[Key, Tally]:
        """The sums of everything, as new tallies."""
        return dict(self._all())

    def _all(self) -> Iterator[tuple[Key, Tally]]:
        for (policy, fraction), sets in self._rows.items():
            for set_name, tasks in sets.items():
                for task, row in tasks.items():
                    yield (policy, fraction, set_name, task), _tally(row)

    def of(self, policy: str, fraction: float, set_name: str | None = None) -> list[Tally]:
        """The sums of each task, in the order of their names; of one set, or of all."""
        sets = self._rows.get((policy, fraction), {})
        chosen = sorted(sets) if set_name is None else [set_name] if set_name in sets else []
        return [_tally(row) for name in chosen for _, row in sorted(sets[name].items())]

    @property
    def sets(self) -> list[str]:
        return sorted({name for sets in self._rows.values() for name in sets})


def _tally(row: Iterable[float]) -> Tally:
    tally: Any = Tally()
    for name, value in zip(_SUMS, row, strict=True):
        setattr(tally, name, type(getattr(tally, name))(value))
    return tally  # type: ignore[no-any-return]
