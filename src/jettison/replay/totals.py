"""What a replay adds up to: results of trajectories, and their sums by task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from jettison.replay.measure.tally import Tally

__all__ = ["Result", "Totals"]


@dataclass(frozen=True, slots=True)
class Result:
    """One trajectory under one policy and budget."""

    set: str
    task: str
    id: str
    policy: str
    fraction: float
    tally: Tally


@dataclass
class Totals:
    """Sums by (policy, fraction, set, task)."""

    tasks: dict[tuple[str, float, str, str], Tally] = field(default_factory=dict)
    trajectories: int = 0

    def add(self, results: Iterable[Result]) -> None:
        """Count results; each trajectory once, whatever the number of policies."""
        first: tuple[str, float] | None = None
        for result in results:
            first = first or (result.policy, result.fraction)
            self.trajectories += (result.policy, result.fraction) == first
            key = (result.policy, result.fraction, result.set, result.task)
            self.tasks.setdefault(key, Tally()).add(result.tally)

    def of(self, policy: str, fraction: float, set_name: str | None = None) -> list[Tally]:
        """The sums of each task, in the order of their names; of one set, or of all."""
        found = [
            (key, tally)
            for key, tally in self.tasks.items()
            if key[:2] == (policy, fraction) and set_name in (None, key[2])
        ]
        return [tally for _, tally in sorted(found, key=lambda pair: pair[0])]

    @property
    def sets(self) -> list[str]:
        return sorted({key[2] for key in self.tasks})
