"""Compress: turn a selection into decisions with their text, count what it really takes, and trim to the room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jettison.compressors.cut import cut, stub
from jettison.items import Fidelity, Item, Kind, reworded
from jettison.plan import Decision, Plan, View
from jettison.ranking import Candidate, Part, Ranking, Selection

__all__ = ["compress"]

ROUNDS = 12
"""Trims at most; estimates are within a few per cent, so two are enough in all recorded epochs but some tiny ones."""


def compress(view: View, ranking: Ranking, selection: Selection, plan: Plan, room: int, call: int) -> list[Decision]:
    """Decisions for every item of the candidates that is reduced further, within `room` tokens where possible.

    Over the room: stubs go first (oldest first), then restored units fall back to their segments, then the
    poorest segments. What is forced stays, so the result can still be over: the caller checks.
    """
    writer = _Writer(view, ranking, plan, call)
    for _ in range(ROUNDS):
        decisions, total = writer.write(selection)
        if total <= room or not _trim(selection, ranking, total - room, total):
            break
    return decisions


def _trim(selection: Selection, ranking: Ranking, over: int, total: int) -> bool:
    """Give up about `over` of `total` tokens of the selection; False when nothing more can be given up."""
    freed = 0
    while freed < over and selection.stubs:
        freed += max(1, ranking.candidates[selection.stubs.pop()].overhead)
    while freed < over and selection.full:
        candidate = ranking.candidates[selection.full.pop()]
        freed += max(1, candidate.tokens // 2)
    whole = sum(ranking.candidates[unit].tokens for unit in {*selection.full, *selection.stubs})
    # Of JSON most tokens can be those of paths and names that come with the picks, and go with them.
    rate = max(1.0, (total - whole) / max(1, sum(pick.tokens for pick in selection.taken)))
    while freed < over and len(selection.taken) > selection.forced:
        freed += max(1, int(rate * selection.taken.pop().tokens))
        selection.labels.pop()
    return freed > 0


@dataclass(slots=True)
class _Writer:
    view: View
    ranking: Ranking
    plan: Plan
    call: int

    def write(self, selection: Selection) -> tuple[list[Decision], int]:
        """All decisions and the tokens that the candidates take then."""
        taken: dict[int, dict[str, set[int]]] = {}
        for pick, labels in zip(selection.taken, selection.labels, strict=True):
            kept = taken.setdefault(pick.unit, {}).setdefault(pick.item, set())
            kept.add(pick.segment)
            kept.update(labels)
        full, stubs = set(selection.full), set(selection.stubs)
        decisions: list[Decision] = []
        total = 0
        for index, candidate in self.ranking.candidates.items():
            if index in full:
                total += candidate.tokens
                continue
            made = list(self._unit(candidate, taken.get(index, {}), index in stubs))
            decisions += made
            total += candidate.tokens - sum(self._now(d.item, d.before) - d.after for d in made)
        return decisions, total

    def _now(self, item: str, before: int) -> int:
        """Tokens of an item under the plan so far."""
        decision = self.plan.decisions.get(item)
        return before if decision is None else decision.after

    def _unit(self, candidate: Candidate, kept: Mapping[str, set[int]], stubbed: bool) -> Iterator[Decision]:
        """`kept`: by item of the unit the segments that were taken."""
        nothing = not kept or (not candidate.overhead and not any(kept))  # opened, and then nothing of it was taken
        if nothing and not stubbed and not candidate.must:
            yield from self._gone(candidate.unit.items, "no room: other parts give more for their tokens")
            return
        if candidate.frozen:
            return
        for item in candidate.texts:
            if item.id not in kept:
                yield from self._gone([item], "no room: the rest of its turn gives more for its tokens")
        for item, text, tokens in candidate.clips:
            reason = "long arguments of an old call"
            handle = self.view.handle(item.text)
            yield Decision(item.id, Fidelity.COMPRESSED, reason, self.view.cost(item), tokens, text, handle, self.call)
        for part in candidate.parts:
            same = part.forced.union(kept.get(part.item.id, ()))
            if same not in part.written:
                part.written[same] = tuple(self._part(part, same))
            yield from part.written[same]

    def _gone(self, items: Iterable[Item], reason: str) -> Iterator[Decision]:
        for item in items:
            if self.plan.fidelity(item.id) is not Fidelity.GONE:
                handle = self.view.handle(item.text) if item.text else None
                yield Decision(item.id, Fidelity.GONE, reason, self.view.cost(item), 0, "", handle, self.call)

    def _part(self, part: Part, chosen: frozenset[int]) -> Iterator[Decision]:
        item, parts = part.item, part.source.parts
        if len(chosen) == len(part.allowed) and item.id not in self.plan.decisions:
            return
        before, handle = self.view.cost(item), self.view.handle(item.text)
        if chosen:
            text, fidelity = cut(parts, chosen, self.view.mark(item.text)), Fidelity.COMPRESSED
            reason = f"cut to {len(chosen)} of {len(parts.segments)} parts, which give most for their tokens"
        else:
            text, fidelity = stub(before - item.fixed, self.view.mark(item.text)), Fidelity.STUB
            reason = "no room: nothing in it gives enough for its tokens; its call stays"
            if item.kind is not Kind.RESULT and not part.held:
                yield from self._gone([item], "no room: nothing in it gives enough for its tokens")
                return
        after = self.view.cost(reworded(item, text, fidelity))
        if after >= self._now(item.id, before):
            return
        segments = tuple(sorted(chosen))
        yield Decision(item.id, fidelity, reason, before, after, text, handle, self.call, segments)
