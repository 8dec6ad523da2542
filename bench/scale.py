"""`python -m bench scale`: `jettison replay` itself on one process, on two, and on Ray; its memory; killed workers.

Every figure comes from the command as people run it (`bench.watched`). Wall time says little on a machine that others
use, so processor time of all processes stands beside it. Without Ray its rows are left out.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.traces import sets, traces_dir
from bench.watched import Process, Watched, watch

__all__ = ["ENGINES", "PARTS", "run"]

PARTS = ("throughput", "memory", "killed")
ENGINES: dict[str, tuple[str, ...]] = {
    "one process": ("-j", "1"),
    "--jobs 2": ("-j", "2"),
    "Ray, two workers": ("--engine", "ray"),
}
DIFFERENT = 500
"""So many of the small runs in the test of memory are different, the rest repeats them."""
_WORKERS = {"--jobs 2": "spawn_main", "Ray, two workers": "ray::_task"}
"""What stands in the command line of a worker that measures."""


def run(parts: Sequence[str], limit: int | None, sizes: Sequence[int]) -> str:
    """The wanted tables as Markdown. `limit`: runs of each recorded set. `sizes`: runs in the files of `memory`."""
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - 15 if not said: others would be measured with it
    known = {name: options for name, options in ENGINES.items() if "ray" not in options or find_spec("ray")}
    blocks = [f"Load while it began: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."]
    with tempfile.TemporaryDirectory() as folder:
        traces = _sampled(Path(folder) / "traces", limit) if {"throughput", "killed"} & set(parts) else Path(folder)
        if "throughput" in parts:
            blocks.append(_throughput(traces, known))
        if "memory" in parts:
            blocks.append(_memory(Path(folder), sizes))
        if "killed" in parts:
            blocks.append(_killed(traces, Path(folder), known))
    return "\n\n".join(blocks)


def _sampled(folder: Path, limit: int | None) -> Path:
    """The recorded sets as files, an even sample of each."""
    folder.mkdir()
    for name in sets():
        with gzip.open(traces_dir() / f"{name}.jsonl.gz", "rt", encoding="utf-8", newline="\n") as file:
            rows = [line for line in file if line.strip()]
        if limit is not None and limit < len(rows):
            rows = [rows[at * len(rows) // limit] for at in range(limit)]
        (folder / f"{name}.jsonl").write_text("".join(rows), encoding="utf-8", newline="\n")
    return folder


def _replay(*arguments: Any, seen: Callable[[Watched], None] = lambda found: None, fails: bool = False) -> Watched:
    """`jettison replay`. Raises SystemExit, with what it printed, when it fails and should not have."""
    found = watch([sys.executable, "-m", "jettison.cli", "replay", *map(str, arguments)], seen)
    if bool(found.code) != fails:
        raise SystemExit(f"jettison replay {' '.join(map(str, arguments))} gave {found.code}:\n{found.output}")
    return found


def _runs(out: Path) -> int:
    return int(json.loads(out.read_text(encoding="utf-8"))["runs"])


def _throughput(traces: Path, engines: dict[str, tuple[str, ...]]) -> str:
    rows = [["", "runs", "wall s", "processor s", "runs a second", "runs a processor second", "one run: wall s"]]
    out = traces.parent / "throughput.json"
    for name, options in engines.items():
        first = _replay(traces, *options, "--limit", 1)
        found = _replay(traces, *options, "--json", out)
        count = _runs(out)
        rates = (f"{count / found.wall:.1f}", f"{count / found.cpu:.1f}")
        rows.append([name, f"{count}", f"{found.wall:.0f}", f"{found.cpu:.0f}", *rates, f"{first.wall:.1f}"])
    return _table(rows)


def _memory(folder: Path, sizes: Sequence[int]) -> str:
    rows = [["runs, each a task of its own", "file MB", "peak MB", "wall s", "processor s"]]
    for size in sizes:
        path, out = _small(folder / f"small-{size}.jsonl", size), folder / "memory.json"
        found = _replay(path, "-j", 1, "--budget", "50%", "--json", out)
        if _runs(out) != size:
            raise SystemExit(f"{size} runs were written, and {_runs(out)} measured")
        figures = (path.stat().st_size / 1e6, found.main.peak, found.wall, found.cpu)
        rows.append([f"{size:,}", *(f"{figure:.0f}" for figure in figures)])
        path.unlink()
    return _table(rows)


def _small(path: Path, size: int) -> Path:
    """A file of small runs, each a task of its own: what is kept is kept by task."""
    texts = [json.dumps(_orders(seed)) for seed in range(min(size, DIFFERENT))]
    with path.open("w", encoding="utf-8") as file:
        for at in range(size):
            file.write(f'{{"id": "r{at}", "task": "t{at}", "messages": {texts[at % len(texts)]}}}\n')
    return path


def _orders(seed: int) -> list[dict[str, Any]]:
    """Two calls, the second with what the result of the first said: milliseconds to replay, and half of it fits."""
    draw = random.Random(seed)
    orders = [{"id": f"ORD-{draw.randrange(10**5)}", "state": "open", "sum": draw.randrange(10**4)} for _ in range(4)]
    return [
        {"role": "system", "content": "You help with orders."},
        {"role": "user", "content": "Close what is open."},
        _call("c1", {"state": "open"}),
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(orders)},
        _call("c2", {"close": orders[1]["id"]}),
    ]


def _call(call_id: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": "orders", "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def _killed(traces: Path, folder: Path, engines: dict[str, tuple[str, ...]]) -> str:
    """Figures and rows of a run whose worker, or whole process, was killed, against a run left alone."""
    rows = [["", "killed", "runs", "rows", "figures", "parts"]]
    plain = folder / "plain"
    _replay(traces, "-j", 1, "--parts", plain, "--json", folder / "plain.json")
    rows.append(["one process", "nothing", *_against(plain, plain)])
    total = sum(1 for _ in plain.glob("part-*.parquet"))
    for at, (name, options) in enumerate(engines.items()):
        if name in _WORKERS:
            mine = folder / f"worker-{at}"
            killer = _Killer(mine, total // 3, _WORKERS[name])
            _replay(traces, *options, "--parts", mine, "--json", f"{mine}.json", seen=killer)
            rows.append([name, f"{killer.killed} worker", *_against(mine, plain)])
        mine = folder / f"whole-{at}"
        killer = _Killer(mine, total // 3, "")
        _replay(traces, *options, "--parts", mine, "--json", f"{mine}.json", seen=killer, fails=True)
        _replay(traces, *options, "--parts", mine, "--json", f"{mine}.json")
        rows.append([name, "all, and begun again", *_against(mine, plain)])
    return _table(rows)


class _Killer:
    """Kills once, as soon as so many parts are there: a worker, or everything when `worker` is empty."""

    def __init__(self, parts: Path, after: int, worker: str) -> None:
        self.parts, self.after, self.worker, self.killed = parts, after, worker, 0

    def __call__(self, found: Watched) -> None:
        if self.killed or sum(1 for _ in self.parts.glob("part-*.parquet")) < self.after:
            return
        victims = [one for one in found.others.values() if self.worker in one.name] if self.worker else [found.main]
        self.killed = int(any(map(_kill, victims[::-1])))


def _kill(process: Process) -> bool:
    """Whether it was there to be killed."""
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _against(mine: Path, plain: Path) -> list[str]:
    """Runs and rows that are there, and whether figures and rows are those of the other run. Seconds do differ."""
    figures = [json.loads(Path(f"{path}.json").read_text(encoding="utf-8"), parse_float=str) for path in (mine, plain)]
    lines = [[{**line, "seconds": 0} for line in one["lines"]] for one in figures]
    rows = [_rows(path) for path in (mine, plain)]
    verdicts = ("the same" if a == b else "DIFFERENT" for a, b in (lines, rows))
    return [f"{figures[0]['runs']}", f"{len(rows[0])}", *verdicts]


def _rows(parts: Path) -> list[tuple[Any, ...]]:
    import duckdb

    with duckdb.connect() as base:
        query = "SELECT * EXCLUDE (seconds) FROM read_parquet(?) ORDER BY ALL"
        found: list[tuple[Any, ...]] = base.execute(query, [f"{parts}/part-*.parquet"]).fetchall()
    return found


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body))
