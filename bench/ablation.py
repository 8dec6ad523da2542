"""What each part is worth: the replay again with one thing taken away.

A variant replaces constants of modules, or fields of `WORTH`, while it runs, and puts them back.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

from bench.metrics import summary
from bench.needs import Texts, needs_of
from bench.replay import Replay, replay
from bench.traces import Trajectory, forget, load
from bench.units import Case
from jettison.ranking import Pick

__all__ = ["VARIANTS", "Variant", "ablate", "patched", "report"]

FLOW, VALUES, RANK = "jettison.flow.dependencies", "jettison.flow.values", "jettison.stages.rank"
EVICT, EPOCH, GAINS = "jettison.stages.evict", "jettison.epoch", "jettison.gains"
NEVER = 1 << 40


@dataclass(frozen=True)
class Variant:
    """One thing removed: weights set to other values, and names of modules replaced."""

    name: str
    worth: Mapping[str, float] | None = None
    names: Mapping[str, Any] | None = None
    """By "module:name" or "module:Class.name"."""


def _no_shape(value: str) -> float:
    """The mean of the shapes in place of each."""
    shapes: Mapping[str, float] = import_module("jettison.flow.weights").SHAPES
    return sum(shapes.values()) / len(shapes)


def _uncovered(picks: Any, order: Sequence[float]) -> Iterator[Any]:
    """The order of `rank`, with a value counting for every segment that holds it."""
    for at in sorted(range(len(order)), key=order.__getitem__):
        yield Pick(order[at], picks.units[at], picks.items[at], picks.segments[at], picks.tokens[at])


def _nothing_held(*_: Any) -> set[int]:
    return set()


def _alone(*_: Any, **__: Any) -> tuple[int, ...]:
    """Nothing that comes with a segment."""
    return ()


def _whole(*_: Any) -> None:
    """Arguments of calls as they are."""


VARIANTS = (
    Variant("all of it"),
    Variant("value shape", names={f"{FLOW}:shape_worth": _no_shape}),
    Variant("use", {"used": 0.0, "used_recent": 0.0}),
    Variant("mention", {"mentioned": 0.0, "mentioned_recent": 0.0}),
    Variant("use and mention", {"used": 0.0, "used_recent": 0.0, "mentioned": 0.0, "mentioned_recent": 0.0}),
    Variant("newest place", {"newest_recent": 0.0}),
    Variant("topic (words of the goal)", {"topic": 0.0}),
    Variant("key statistics", {"key_rate": 0.0, "key_name": 0.0}),
    Variant("user flag", {"stated": 0.0}),
    Variant(
        "cover (duplicates count fully)",
        names={f"{RANK}:_Picks.ordered": _uncovered, f"{GAINS}:_covered": _nothing_held},
    ),
    Variant("pairs", names={f"{EVICT}:PAIRS": NEVER}),
    Variant("labels and pairs", names={"jettison.ranking:Part.labels": _alone}),
    Variant("opening by bundles", names={f"{EVICT}:OPENING": 0.0}),
    Variant("κ (the Score)", names={f"{GAINS}:KAPPA": 0.0}),
    Variant("content types", names={f"{RANK}:OUTLINED": NEVER}),
    Variant("clipped arguments", names={f"{RANK}:clip": _whole}),
    Variant("oldest units spared", names={f"{EPOCH}:SPARED": -1.0}),
    Variant("admission", names={f"{EPOCH}:OVERSIZE": float(NEVER)}),
    Variant("tail", names={f"{EPOCH}:TAIL": 0.0}),
)


@contextmanager
def patched(variant: Variant) -> Iterator[None]:
    """The library without the variant's part, until the block ends."""
    names = dict(variant.names or {})
    if variant.worth:
        names[f"{FLOW}:WORTH"] = replace(import_module(FLOW).WORTH, **variant.worth)
    before = [(*_place(path), value) for path, value in names.items()]
    saved = [getattr(owner, name) for owner, name, _ in before]
    try:
        for owner, name, value in before:
            setattr(owner, name, value)
        yield
    finally:
        for (owner, name, _), value in zip(before, saved, strict=True):
            setattr(owner, name, value)


def _place(path: str) -> tuple[Any, str]:
    module, _, inner = path.partition(":")
    owner: Any = import_module(module)
    *classes, name = inner.split(".")
    for part in classes:
        owner = getattr(owner, part)
    return owner, name


def _work(variants: Sequence[str], fraction: float, trajectory: Trajectory) -> list[Replay]:
    forget()
    texts = Texts()
    case = Case(trajectory, needs_of(trajectory, texts), texts)
    results = []
    for variant in VARIANTS:
        if variant.name in variants:
            with patched(variant):
                results.append(replace(replay(case, "jettison", fraction), policy=variant.name))
    return results


def ablate(sets: Sequence[str], fraction: float, limit: int | None, jobs: int, variants: Sequence[str]) -> list[Replay]:
    """Replay the sets under every variant; progress goes to stderr."""
    runs = [item for name in sets for item in load(name, limit)]
    runs.sort(key=lambda run: -sum(len(str(message.get("content"))) for message in run.messages))
    work: Callable[[Trajectory], list[Replay]] = partial(_work, tuple(variants), fraction)
    results: list[Replay] = []
    with multiprocessing.Pool(max(1, jobs)) as pool:
        for done, part in enumerate(pool.imap_unordered(work, runs), 1):
            results += part
            if done % 25 == 0 or done == len(runs):
                print(f"{done}/{len(runs)} trajectories", file=sys.stderr, flush=True)
    return results


def report(results: Sequence[Replay]) -> str:
    """Markdown: strict support, completeness and cost of each set; below the first row, changes against it."""
    sets = sorted({result.set for result in results})
    names = [variant.name for variant in VARIANTS if any(result.policy == variant.name for result in results)]
    figures = {name: [_figures(results, name, which) for which in sets] for name in names}
    lines = [f"| without | {' | '.join(sets)} |", f"|{'---|' * (len(sets) + 1)}"]
    base = figures.get(VARIANTS[0].name)
    for name in names:
        cells = [
            _cell(now, base[at] if base and name != VARIANTS[0].name else None) for at, now in enumerate(figures[name])
        ]
        lines.append(f"| {'nothing (' + name + ')' if name == VARIANTS[0].name else name} | {' | '.join(cells)} |")
    return "\n".join(lines)


Figures = tuple[float, float, float]


def _figures(results: Sequence[Replay], name: str, which: str) -> Figures:
    found = summary(call for r in results if r.set == which and r.policy == name for call in r.calls)
    return 100 * (found["strict"] or 0.0), 100 * (found["complete"] or 0.0), found["cost"] or 0.0


def _cell(now: Figures, base: Figures | None) -> str:
    if base is None:
        return f"{now[0]:.1f} · {now[1]:.1f} · {now[2]:.3f}"
    support, complete, cost = (mine - theirs for mine, theirs in zip(now, base, strict=True))
    return f"{support:+.1f} · {complete:+.1f} · {cost:+.3f}"
