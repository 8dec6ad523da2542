"""The recipe of the study (algorithm.md) to the letter: no protections, no laws beyond order and budget, no archive.

The reference row beside `jettison`: what the decisions alone are worth on the same trajectories. Segments, candidate
values and values of arguments are the library's own (`jettison.flow`); statistics, worth, selection, steps, admission
(`free see, late cut`, L .7, M .6, tail .1, without the re-read guard) and how a cut text is written are the recipe's.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from bench.recipe_parts import Statistics, Unit, companions
from bench.traces import PRIMING, Message, count, tokens
from bench.units import units_of

__all__ = ["Recipe"]

MINOR, MAJOR, TAIL = 0.7, 0.6, 0.1
OVERSIZE, ADMITTED = 0.3, 0.25
SEALED_MOST, YOUNG_LEAST = 0.4, 0.12
OPENING = 0.3
"""Share of a call's overhead that the first segment of its unit pays for."""


class Recipe:
    """One trajectory under the recipe."""

    def __init__(self, minor: float = MINOR, major: float = MAJOR) -> None:
        self.minor, self.major = minor, major

    def start(self, head: Sequence[Message]) -> None:
        self.head = list(head)
        self.taken = sum(map(tokens, head)) + PRIMING
        self.stats = Statistics(head)
        self.units: list[Unit] = []
        self.sealed = 0

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        known = len(self.head) + sum(len(unit.messages) for unit in self.units)
        fresh = units_of(messages, known) if known < len(messages) else []
        for span in fresh:
            self.units.append(Unit.of(len(self.units), [messages[i] for i in span]))
            self.stats.learn(self.units[-1])
        self.step(budget - self.taken, len(fresh))
        return self.head + [message for unit in self.units for message in unit.out]

    def step(self, room: int, fresh: int) -> None:
        """Nothing while it fits; else new oversize units are cut, then, if it takes that, an epoch."""
        if self.weight(self.units) <= room:
            return
        for unit in self.units[len(self.units) - fresh :]:
            call = sum(tokens(message) for message in unit.messages if message["role"] == "assistant")
            if unit.size - call > OVERSIZE * room:  # what it asked for is cut, not the call
                self.select([unit], int(ADMITTED * room) + call)
        if self.weight(self.units) > room:
            self.epoch(room)

    def epoch(self, room: int) -> None:
        at = len(self.units) - 1
        while at > 0 and self.weight(self.units[at - 1 :]) <= TAIL * room:
            at -= 1
        sealed, young, tail = self.units[: self.sealed], self.units[self.sealed : at], self.weight(self.units[at:])
        left = self.minor * room - self.weight(sealed) - tail
        if self.weight(sealed) <= SEALED_MOST * room and left >= YOUNG_LEAST * self.weight(young):
            self.select(young, int(left))
        else:
            self.select(self.units[:at], max(0, int(self.major * room - tail)))
        self.sealed = max(self.sealed, at)

    def select(self, units: Sequence[Unit], target: int) -> None:
        """Bring units to a target; what stays covers its values."""
        chosen = {id(unit) for unit in units}
        others = [text for unit in self.units if id(unit) not in chosen for text in unit.texts]
        covered = self.stats.head | {value for text in others for at in text.kept for value in text.values[at]}
        left = [unit for unit in units if unit.state != "gone"]
        _Selection(left, target, covered, self.stats, len(self.units)).run()

    @staticmethod
    def weight(units: Sequence[Unit]) -> int:
        return sum(unit.size for unit in units)


class _Selection:
    """Lazy greedy cover of a token target by segments of some units."""

    def __init__(self, units: Sequence[Unit], target: int, covered: set[str], stats: Statistics, now: int) -> None:
        self.units, self.target, self.room, self.covered = units, target, target, covered
        self.texts = {id(text): text for unit in units for text in unit.texts}
        self.owner = {id(text): unit.index for unit in units for text in unit.texts}
        self.overhead = {unit.index: unit.overhead for unit in units}
        self.kept: dict[int, set[int]] = {name: set() for name in self.texts}
        self.open: set[int] = set()
        self.records: set[tuple[int, str]] = set()
        self.order: list[tuple[int, list[int]]] = []
        self.worths = {
            (name, at): {v: stats.worth(v, text, at, now) for v in text.values[at] if v not in covered}
            for name, text in self.texts.items()
            for at in text.kept
        }

    def run(self) -> None:
        """Fill by gain per token, write, give up the poorest while over, restore the newest units, then stubs."""
        heap = [(-self.density(*key), *key) for key in self.worths]
        heapify(heap)
        while heap:
            _, name, at = heappop(heap)
            now = -self.density(name, at)
            if heap and now > heap[0][0]:
                if now < 0:
                    heappush(heap, (now, name, at))
            elif now < 0:
                self.take(name, at)
        while (over := sum(map(self.size, self.units)) - self.target) > 0 and self.order:
            while over > 0 and self.order:
                name, group = self.order.pop()
                self.kept[name].difference_update(group)
                over -= sum(self.texts[name].sizes[one] for one in group)
        self.settle()

    def density(self, name: int, at: int) -> float:
        """Gain of a segment per token of its cost."""
        if at in self.kept[name]:
            return 0.0
        gain = sum(worth for value, worth in self.worths[name, at].items() if value not in self.covered)
        opening = OPENING * self.overhead[self.owner[name]] if self.owner[name] not in self.open else 0.0
        return gain / (self.texts[name].sizes[at] + self.header(name, at) + opening)

    def header(self, name: int, at: int) -> int:
        record = self.texts[name].parts.segments[at].record
        return 1 + count(record) if record and (name, record) not in self.records else 0

    def take(self, name: int, at: int) -> None:
        text, unit = self.texts[name], self.owner[name]
        group = [one for one in (at, *companions(text, at)) if one not in self.kept[name] and one in text.kept]
        cost = sum(text.sizes[one] for one in group) + self.header(name, at)
        cost += 0 if unit in self.open else self.overhead[unit]
        if cost > self.room:
            return
        self.room -= cost
        self.open.add(unit)
        self.records.add((name, text.parts.segments[at].record))
        self.kept[name].update(group)
        self.order.append((name, group))
        self.covered.update(value for one in group for value in text.values[one])

    def some(self, unit: Unit) -> bool:
        return any(self.kept[id(text)] for text in unit.texts)

    def size(self, unit: Unit) -> int:
        """Tokens of what is kept of a unit."""
        return sum(map(tokens, unit.written(self.kept))) if self.some(unit) else 0

    def settle(self) -> None:
        sizes = {unit.index: self.size(unit) for unit in self.units}
        room = self.target - sum(sizes.values())
        newest = list(reversed(self.units))
        states = {unit.index: "cut" if sizes[unit.index] else "gone" for unit in newest}
        for unit in newest:
            if unit.size - sizes[unit.index] <= room:  # as it is now: full, or what an earlier epoch left
                room -= unit.size - sizes[unit.index]
                states[unit.index] = unit.state
                self.kept.update((id(text), set(text.kept)) for text in unit.texts)
        for unit in newest:
            stub = self.overhead[unit.index]
            if states[unit.index] == "gone" and unit.texts and unit.messages[0]["role"] == "assistant" and stub <= room:
                room -= stub
                states[unit.index] = "stub"
        for unit in self.units:
            if states[unit.index] != unit.state or (unit.state == "cut" and self.size(unit) != unit.size):
                unit.reduce(states[unit.index], self.kept)
