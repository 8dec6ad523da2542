"""Stages: a split of the open operations, when what they need does not fit together and does fit apart."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace

from jettison.call import Call
from jettison.errors import BudgetUnreachable, CannotFit, StagesRequired
from jettison.fitting import Fitting
from jettison.saved import copy_task
from jettison.state import Kit, State
from jettison.task import Operation, Stage

__all__ = ["staged"]

IDENTIFIERS, SHORT = 3, 40
"""A hand-over names up to three identifiers an operation, of up to 40 characters: orders, tickets, UUIDs (36). Longer
needs are not repeated: those of the stage stand in its context, those of the others would take its room."""
LISTED = 5
"""Operations of other stages that a hand-over names on each side."""

SPARE = 60
"""Tokens left free where operations share a stage: what an earlier stage evicted comes back in a note, which takes
some 30 tokens an item more than a cut result."""

Trial = Callable[[Stage, int], int | None]
"""Tokens of the request in a stage, with so many of the budget left free; None where it does not fit."""


def staged(error: BudgetUnreachable, kit: Kit, call: Call, state: State) -> StagesRequired | None:
    """The error that offers stages, None where there is nothing to split or no operation fits even alone.

    Each stage was tried: its request was made as it would be after `Session.enter`, by rules alone, and fitted. Takes
    as many fits as there are operations, twice at most, and one more a stage.
    """
    operations = error.report.task.open_operations
    if len(operations) < 2 or kit.policy.on_unsafe == "degrade":
        return None

    size = kit.policy.size

    def takes(stage: Stage, spare: int) -> int | None:
        if spare >= size.limit:
            return None
        task = copy_task(kit.task)
        task.stage = stage
        state.undo()  # what the attempts before have learnt is not known on entering
        policy = replace(kit.policy, budget=replace(size, window=size.window - spare), summarizer=None)
        return _tokens(Fitting(replace(kit, policy=policy, task=task, embedder=None), call, state))

    # Only what stands in the history is named: a secret that was vaulted there is not, whatever the caller declared.
    places = error.report.task.places
    shown = [replace(op, needs=tuple(need for need in op.needs if need in places)) for op in operations]
    stages, unfit = _Packing(operations, shown, takes, tuple(kit.task.deferred)).split()
    if not stages:
        return None
    found = StagesRequired(_message(error, stages, unfit, places), stages, unfit)
    found.report = error.report
    return found


def _tokens(fitting: Fitting) -> int | None:
    steps = fitting.steps()
    try:
        next(steps)
        steps.send(None)
    except StopIteration as stop:
        fitted, _ = stop.value
        tokens: int = fitted.report.after
        return tokens
    except CannotFit:
        return None
    raise AssertionError("without an embedder and a summariser there is one effect, the store")


@dataclass(frozen=True, slots=True)
class _Packing:
    """Puts operations into stages, in their order: as many into each as fit."""

    operations: Sequence[Operation]
    shown: Sequence[Operation]
    """The same, with the needs that a hand-over may name."""
    takes: Trial
    waiting: tuple[str, ...]
    """Operations of stages that were set aside before."""

    def split(self) -> tuple[tuple[Stage, ...], tuple[Operation, ...]]:
        """(stages that fit, operations that do not fit even alone)."""
        if self.takes(self.draft(()), 0) is None:  # what must be kept beside them does not fit
            return (), tuple(self.operations)
        packs: list[list[Operation]] = [[]]
        unfit: list[Operation] = []
        for op in self.operations:
            spare = SPARE if packs[-1] else 0
            if self.takes(self.draft((*packs[-1], op)), spare) is not None:
                packs[-1].append(op)
            elif not packs[-1] or self.takes(self.draft((op,)), 0) is None:
                unfit.append(op)
            else:
                packs.append([op])
        packs = [pack for pack in packs if pack]
        made: list[Stage] = []
        for at, pack in enumerate(packs):
            before = [op for other in packs[:at] for op in other]
            after = [op for other in packs[at + 1 :] for op in other] + unfit
            stage = self.stage(at + 1, len(packs), pack, before, after)
            tokens = self.takes(stage, 0)
            if tokens is None:  # its hand-over came out longer than that of its draft
                unfit += pack
            else:
                made.append(replace(stage, tokens=tokens))
        return tuple(made), tuple(unfit)

    def draft(self, pack: Sequence[Operation]) -> Stage:
        """A stage with a hand-over as long as its own may be."""
        others = [op for op in self.operations if op not in pack]
        half = (len(others) + 1) // 2
        return self.stage(len(self.operations), len(self.operations), pack, others[:half], others[half:])

    def stage(
        self,
        number: int,
        count: int,
        pack: Sequence[Operation],
        before: Sequence[Operation],
        after: Sequence[Operation],
    ) -> Stage:
        own = tuple(op.id for op in pack)
        shown = {op.id: op for op in self.shown}
        parts = ([shown[op.id] for op in part] for part in (pack, before, after))
        return Stage(
            name=f"stage {number} of {count}",
            operations=own,
            needs=tuple(dict.fromkeys(need for op in pack for need in op.needs)),
            tokens=0,
            deferred=(*self.waiting, *(op.id for op in self.operations if op.id not in own)),
            handover="\n".join(_handover(number, count, *parts)),
        )


def _handover(
    number: int, count: int, pack: Sequence[Operation], before: Sequence[Operation], after: Sequence[Operation]
) -> Iterator[str]:
    yield f"[hand-over of stage {number} of {count}, a note from the session]"
    yield "The open work does not fit into the context together, so it is done in stages. Open now:"
    yield from map(_line, pack)
    for head, others in (
        ("Earlier stages, not part of this one:", before),
        ("Comes next, not part of this one:", after),
    ):
        if others:
            yield head
            yield from map(_line, others[:LISTED])
        if len(others) > LISTED:
            yield f"- … and {len(others) - LISTED} more"


def _line(op: Operation) -> str:
    known = [name for name in dict.fromkeys((op.handle, *op.needs)) if name and len(name) <= SHORT and "\n" not in name]
    return f"- {op.name} ({op.id})" + (f": {', '.join(known[:IDENTIFIERS])}" if known else "")


def _message(
    error: BudgetUnreachable, stages: Sequence[Stage], unfit: Sequence[Operation], places: Container[str]
) -> str:
    def listed(needs: Sequence[str]) -> str:
        return "; ".join(need[: 2 * SHORT] for need in needs if need in places) or "what they began"

    lines = [
        f"the open operations need {error.needed:,} tokens together, the budget leaves {error.available:,}: "
        "do them in stages, session.enter(stage) one by one"
    ]
    for stage in stages:
        ids = ", ".join(stage.operations)
        lines.append(f"  {stage.name}, {stage.tokens:,} tokens: {ids} ({listed(stage.needs)})")
    lines += [f"  does not fit even alone: {op.name} ({op.id}), {listed(op.needs)}" for op in unfit]
    return "\n".join(lines)
