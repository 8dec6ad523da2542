"""`python -m bench.reload`: a session loaded from a store for each request against one long session, over recordings.

Every output and every report must be the same. Prints what the way over the store costs: time a call, bytes saved.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench.traces import Trajectory, load, sets
from jettison import CannotFit, Policy, Session
from jettison.archive import MemoryArchive
from jettison.plan import Fitted
from jettison.store import SQLiteStore

__all__ = ["main"]


class Timed:
    """Calls a session and adds up the time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def fit(self, session: Session, run: Trajectory, at: int) -> Fitted | str:
        started = time.perf_counter()
        try:
            return session.fit(run.messages[:at])
        except CannotFit as error:
            return str(error)
        finally:
            self.seconds += time.perf_counter() - started


def same(one: Fitted | str, two: Fitted | str) -> bool:
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    return (
        one.messages == two.messages and one.report.cache == two.report.cache and one.report.after == two.report.after
    )


def compare(
    run: Trajectory, fraction: float, store: SQLiteStore, long_time: Timed, short_time: Timed
) -> tuple[int, int]:
    """(requests, outputs that differ) of one recording."""
    policy = Policy(budget=run.budget(fraction), counter="o200k")
    archive, key = MemoryArchive(), f"{run.set}/{run.id}/{fraction}"
    long, differ = Session(policy, archive=MemoryArchive(), conversation=key), 0
    for at in run.turns:
        if not at:
            continue
        want = long_time.fit(long, run, at)
        short = Session(policy, archive=archive, store=store, conversation=key)
        differ += not same(want, short_time.fit(short, run, at))
    return len(run.turns), differ


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.reload", description=__doc__)
    parser.add_argument("--limit", type=int, default=6, help="trajectories a set (%(default)s)")
    parser.add_argument("--fractions", default="0.5,0.25")
    given = parser.parse_args()
    wrong = 0
    print("| set | fraction | requests | outputs that differ | ms a call, long | ms a call, loaded |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore(Path(folder) / "reload.db")
        for name in sets():
            for fraction in map(float, given.fractions.split(",")):
                long_time, short_time, requests, differ = Timed(), Timed(), 0, 0
                for run in load(name, given.limit):
                    found = compare(run, fraction, store, long_time, short_time)
                    requests, differ = requests + found[0], differ + found[1]
                wrong += differ
                times = (1_000 * timed.seconds / max(1, requests) for timed in (long_time, short_time))
                print(
                    f"| {name} | {fraction} | {requests} | {differ} | " + " | ".join(f"{t:.1f}" for t in times) + " |"
                )
                sys.stdout.flush()
        store.close()
    return min(1, wrong)


if __name__ == "__main__":
    sys.exit(main())
