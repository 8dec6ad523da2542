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
from typing import Any

from jettison.replay.engine import Chunk, Setup, chunks_of, work
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.parts import Parts
from jettison.replay.totals import Result, Totals

__all__ = ["measured_on_ray"]

AHEAD = 4
"""Chunks in flight for each CPU of the cluster."""


def measured_on_ray(
    runs: Iterable[Trajectory],
    setup: Setup,
    parts: Parts | None = None,
    *,
    tell: Callable[[int, Sequence[Result]], None] = lambda first, results: None,
) -> Totals:
    """`engine.measured` on a cluster. Without `parts` they go to a folder of this machine, for one machine only.

    Raises ModuleNotFoundError, naming the extra, without Ray, and what Ray raises for a task that fails each time.
    """
    try:
        import ray
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError("the Ray engine needs pip install 'jettison[ray]'", name="ray") from missing
    with _store(parts) as store, _connected(ray):
        task = ray.remote(max_retries=5, num_cpus=1)(_task)
        held = {name: ray.put(value) for name, value in (("setup", setup), ("store", store))}
        most = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting: dict[Any, int] = {}
        for chunk in _fresh(chunks_of(runs), store, tell):
            waiting[task.remote(chunk, held["setup"], held["store"])] = chunk.number
            if len(waiting) >= most:
                _finish(ray, waiting, store, tell)
        while waiting:
            _finish(ray, waiting, store, tell)
        return store.totals()


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


def _finish(ray: Any, waiting: dict[Any, int], store: Parts, tell: Callable[[int, Sequence[Result]], None]) -> None:
    """Wait for one task, and hear what it wrote."""
    done, _ = ray.wait(list(waiting), num_returns=1)
    for reference in done:
        number = ray.get(reference)
        del waiting[reference]
        tell(Chunk(number, ()).first, store.read(number) or [])


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
