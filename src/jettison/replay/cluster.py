"""The same measuring on Ray: chunks become tasks, results are parts that the tasks write themselves.

A task whose worker or machine dies is run again by Ray; it writes the same part, so nothing is lost and nothing
counts twice. What is read stays on the driver, a bounded number of chunks ahead of the workers. Needs the extra
`jettison[ray]`; `RAY_ADDRESS` names a cluster, without it one is started on this machine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from jettison.replay.engine import Chunk, Setup, WorkerLost, chunks_of, work
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.parts import Parts
from jettison.replay.totals import Result, Totals

__all__ = ["measured_on_ray"]

AHEAD = 4
"""Chunks in flight for each CPU that the cluster has by now: it grows when more wait than it has room for."""
RETRIES = 5
"""How often Ray runs a task again whose worker died; on spot machines more often than that is no accident."""


def measured_on_ray(
    runs: Iterable[Trajectory],
    setup: Setup,
    parts: Parts | None = None,
    *,
    tell: Callable[[int, Sequence[Result]], None] = lambda first, results: None,
) -> Totals:
    """`engine.measured` on a cluster. Without `parts` they go to a folder of this machine, for one machine only.

    Raises ModuleNotFoundError, naming the extra, without Ray, and WorkerLost for runs whose worker dies each time.
    """
    try:
        import ray
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("the Ray engine needs pip install 'jettison[ray]'", name="ray") from missing
    with _store(parts) as store, _connected(ray):
        task = ray.remote(max_retries=RETRIES, num_cpus=1)(_task)
        held = {name: ray.put(value) for name, value in (("setup", setup), ("store", store))}
        waiting: dict[Any, _Sent] = {}
        for chunk in _fresh(chunks_of(runs), store, tell):
            sent = _Sent(chunk.number, chunk.first, [run.id for run in chunk.runs])
            waiting[task.remote(chunk, held["setup"], held["store"])] = sent
            if len(waiting) >= AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1))):
                _finish(ray, waiting, store, tell)
        while waiting:
            _finish(ray, waiting, store, tell)
        return store.totals()


class _Sent(NamedTuple):
    """What is remembered of a chunk while its trajectories are elsewhere."""

    number: int
    first: int
    ids: list[str]


def _task(chunk: Chunk, setup: Setup, store: Parts) -> int:
    """What runs on a worker: the part is written before the task counts as done."""
    store.write(chunk.number, work(chunk, setup))
    return chunk.number


def _fresh(chunks: Iterator[Chunk], store: Parts, tell: Callable[[int, Sequence[Result]], None]) -> Iterator[Chunk]:
    """The chunks that no part is there for."""
    for chunk in chunks:
        known = store.read(chunk.number)
        if known is None:
            yield chunk
        else:
            tell(chunk.first, known)


def _finish(ray: Any, waiting: dict[Any, _Sent], store: Parts, tell: Callable[[int, Sequence[Result]], None]) -> None:
    """Wait for one task, and hear what it wrote."""
    done, _ = ray.wait(list(waiting), num_returns=1)
    for reference in done:
        sent = waiting.pop(reference)
        dead = (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.NodeDiedError)
        try:
            ray.get(reference)
        except dead as error:
            names = ", ".join(sent.ids)
            raise WorkerLost(f"a worker died {RETRIES + 1} times over the same trajectories: {names}") from error
        tell(sent.first, store.read(sent.number) or [])


@contextmanager
def _store(parts: Parts | None) -> Iterator[Parts]:
    if parts is not None:
        yield parts
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Parts(folder, {})


@contextmanager
def _connected(ray: Any) -> Iterator[None]:
    """A cluster: the one already connected to, the one RAY_ADDRESS names, or one of this machine's own."""
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS")
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    ray.init(address=address, **quiet) if address else ray.init(include_dashboard=False, **quiet)
    try:
        yield
    finally:
        ray.shutdown()
