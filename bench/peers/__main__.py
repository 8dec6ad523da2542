"""`python -m bench.peers`: install the peers, replay the recorded sets under all of them, print the table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.peers import speed as speeds
from bench.peers.catalog import PEERS
from bench.peers.environments import FOLDER, NotInstalled, install
from bench.peers.run import ROW_SECONDS, Outcome, jobs_for, names, read, run
from bench.peers.tables import notes, tables
from bench.replay import RESULTS
from bench.traces import sets


def main() -> int:
    """0 when every peer was installed; a peer that was not is a row that says so, and the exit code is 1."""
    options = _parser().parse_args()
    if options.command == "table":
        _print(read(options.files or [RESULTS / "peers.jsonl"]))
        return 0
    unknown = [part for part in _split(options.rows) if not any(part in name for name in names())]
    if unknown:
        raise SystemExit(f"no row has {unknown[0]!r} in its name; there are: {', '.join(names())}")
    wanted = [name for name in names() if not options.rows or any(part in name for part in _split(options.rows))]
    missing = 0
    for peer in PEERS:
        if not any(name.startswith(f"{peer.name} (") for name in wanted):
            continue
        try:
            install(peer, options.envs)
        except NotInstalled as error:
            missing += 1
            print(f"{peer.name} does not install: {error}", file=sys.stderr)
    if options.command in ("quality", "all"):
        fractions = [float(part) for part in _split(options.fractions)]
        jobs = jobs_for(wanted, _split(options.sets) or sets(), fractions, options.envs, options.seconds)
        _print(run(jobs, options.limit, options.jobs))
    if options.command in ("speed", "all"):
        timings = speeds.speed(options.envs, options.size, repeats=options.repeats)
        print(f"\n### Speed: {options.size:,} messages into {speeds.BUDGET:,} tokens\n")
        print(speeds.table(timings))
        print(f"\nCounting such a history once takes {speeds.counting(options.size):.2f} s.")
    return 1 if missing else 0


def _print(outcomes: Sequence[Outcome]) -> None:
    print(tables(outcomes), "", "### Versions", "", notes(outcomes), sep="\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("command", nargs="?", default="all", choices=("all", "install", "quality", "speed", "table"))
    parser.add_argument(
        "files", nargs="*", type=Path, help="of `table`: earlier results, bench/results/peers.jsonl if not given"
    )
    parser.add_argument("--envs", type=Path, default=FOLDER, help="where the environments are (%(default)s)")
    parser.add_argument("--rows", default="", help="comma-separated parts of row names; all if not given")
    parser.add_argument("--sets", default="", help="comma-separated; all recorded sets if not given")
    parser.add_argument("--fractions", default="0.5,0.25,0.1", help="of the body, comma-separated (%(default)s)")
    parser.add_argument("--limit", type=int, help="at most so many trajectories a set, drawn evenly, for every row")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--seconds",
        type=float,
        default=ROW_SECONDS,
        help="processor seconds of a row for one set and budget (%(default)s)",
    )
    parser.add_argument("--repeats", type=int, default=3, help="of each cold call of the speed run (%(default)s)")
    parser.add_argument("--size", type=int, default=speeds.SIZE, help="messages of the speed run (%(default)s)")
    return parser


def _split(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


if __name__ == "__main__":
    raise SystemExit(main())
