"""`python -m bench.soak`: many sessions on threads, tasks and processes that are killed, on one archive and one store.

Every output must be the one of a session that runs alone, and every stub's text must be in the archive at the end.
Histories: recorded ones ($JETTISON_TRACES), made-up ones where there are none.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import synthetic
from bench.traces import Message, load, sets, tokens
from jettison import ArchiveError, CannotFit, Policy, Session, StoreError
from jettison.archive import MemoryArchive, SQLiteArchive
from jettison.compressors.cut import handle_for
from jettison.store import SQLiteStore

__all__ = ["main"]

CALLS = 10
"""Of each conversation: as many requests, spread over its assistant turns."""
LONGEST = 60_000
"""Tokens; longer recordings are cut there, so that a soak takes minutes."""
FAULTS, CANCELLED, RELOADED, DOUBLED = 0.05, 0.3, 0.3, 0.1
"""Shares of calls: a fault of archive or store, a cancellation, a session made anew from the store, a call made twice
at the same time."""
REF = re.compile(r"ref ([a-z]{10,})\]")


@dataclass(frozen=True)
class Case:
    """A history, where it is sent, the budget, and what a session that runs alone makes of it."""

    messages: list[Message]
    cuts: list[int]
    budget: int
    expected: list[str] = field(default_factory=list)

    def policy(self) -> Policy:
        return Policy(budget=self.budget, counter="o200k")


def cases(number: int) -> list[Case]:
    """Recorded histories in half, a quarter and a tenth of their size, in turn over the sets."""
    names = sets()
    each = 1 + number // max(1, 3 * len(names))
    found = [[run.messages for run in load(name, each)] for name in names]
    runs = [messages for row in zip(*found, strict=False) for messages in row]
    runs = runs or [synthetic.history(60 + 7 * seed, seed) for seed in range(1 + number // 3)]
    out = []
    for messages in runs:
        weight, cut = 0, []
        for at, message in enumerate(messages):
            weight += tokens(message)
            if weight > LONGEST:
                break
            if message["role"] == "assistant" and at:
                cut.append(at)
        chosen = sorted({cut[i * len(cut) // CALLS] for i in range(CALLS)} | set(cut[-1:])) if cut else []
        sizes = [tokens(message) for message in messages[: chosen[-1]]] if chosen else []
        out += [Case(messages, chosen, 400 + int(share * sum(sizes))) for share in (0.5, 0.25, 0.1) if chosen]
    return out[:number]


def told(fitted: Any) -> str:
    """A hash of an output."""
    return hashlib.blake2b(json.dumps(fitted.messages).encode(), digest_size=12).hexdigest()


def alone(case: Case) -> Case:
    """With what one session makes of each request, undisturbed."""
    session = Session(case.policy(), archive=MemoryArchive(), conversation="alone")
    return Case(case.messages, case.cuts, case.budget, [step(session, case, at) for at in range(len(case.cuts))])


def step(session: Session, case: Case, at: int) -> str:
    try:
        return told(session.fit(case.messages[: case.cuts[at]]))
    except CannotFit as error:
        return type(error).__name__


class Faults:
    """Fails now and then, before or after the work was done; by a seed, so that a run can be repeated."""

    def __init__(self, seed: int, share: float, error: type[Exception]) -> None:
        self.draw, self.share, self.error = random.Random(seed), share, error
        self.count = 0

    def now(self) -> None:
        if self.draw.random() < self.share / 2:
            self.count += 1
            raise self.error("a fault, on purpose")


class FaultyArchive(SQLiteArchive):
    def __init__(self, path: Path, faults: Faults) -> None:
        super().__init__(path)
        self.faults = faults

    def put_many(self, *args: Any, **kwargs: Any) -> None:
        self.faults.now()
        super().put_many(*args, **kwargs)
        self.faults.now()


class FaultyStore(SQLiteStore):
    def __init__(self, path: Path, faults: Faults) -> None:
        super().__init__(path)
        self.faults = faults

    def save(self, conversation: str, data: bytes, expected: int = 0) -> int:
        self.faults.now()
        version = super().save(conversation, data, expected)
        self.faults.now()
        return version


@dataclass
class Chat:
    """One conversation under way."""

    key: str
    case: Case
    at: int = 0
    session: Session | None = None
    last: Any = None

    @property
    def done(self) -> bool:
        return self.at >= len(self.case.cuts)


class Soak:
    """What all of them share, and what was seen."""

    def __init__(self, folder: Path, faults: float = FAULTS) -> None:
        self.path = folder / "soak.db"
        self.faults = Faults(1, faults, ArchiveError), Faults(2, faults, StoreError)
        self.archive = FaultyArchive(self.path, self.faults[0])
        self.store = FaultyStore(self.path, self.faults[1])
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []

    def session(self, chat: Chat, draw: random.Random) -> Session:
        """The chat's, or one that has to load what is stored."""
        if chat.session is None or draw.random() < RELOADED:
            self.seen["sessions made"] += 1
            chat.session = Session(chat.case.policy(), archive=self.archive, store=self.store, conversation=chat.key)
        return chat.session

    def judge(self, chat: Chat, got: str) -> None:
        self.seen["calls"] += 1
        if got != chat.case.expected[chat.at]:
            self.wrong.append(f"{chat.key}, call {chat.at}: {got}, not {chat.case.expected[chat.at]}")

    # threads

    def thread_step(self, chat: Chat, draw: random.Random) -> None:
        session, prefix = self.session(chat, draw), chat.case.messages[: chat.case.cuts[chat.at]]
        twice = draw.random() < DOUBLED
        results: list[str] = []

        def call() -> None:
            while True:
                try:
                    results.append(told(session.fit(prefix)))
                    return
                except CannotFit as error:
                    results.append(type(error).__name__)
                    return
                except (ArchiveError, StoreError):
                    self.seen["faults met"] += 1

        helpers = [threading.Thread(target=call) for _ in range(int(twice))]
        for helper in helpers:
            helper.start()
        call()
        for helper in helpers:
            helper.join()
        for got in results:
            self.judge(chat, got)
        chat.at += 1

    def threads(self, chats: Sequence[Chat], workers: int) -> None:
        ready: queue.Queue[Chat | None] = queue.Queue()
        left = len(chats)
        lock = threading.Lock()
        for chat in chats:
            ready.put(chat)

        def work(number: int) -> None:
            nonlocal left
            draw = random.Random(number)
            while (chat := ready.get()) is not None:
                self.thread_step(chat, draw)
                if not chat.done:
                    ready.put(chat)
                    continue
                with lock:
                    left -= 1
                    if not left:
                        for _ in range(workers):
                            ready.put(None)

        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(work, number) for number in range(workers)]:
                future.result()

    # tasks

    async def task(self, chat: Chat, seed: int) -> None:
        draw = random.Random(seed)
        while not chat.done:
            session, prefix = self.session(chat, draw), chat.case.messages[: chat.case.cuts[chat.at]]
            call = asyncio.ensure_future(session.afit(prefix))
            if draw.random() < CANCELLED:
                await asyncio.wait([call], timeout=draw.random() * draw.choice((0.001, 0.1, 3)))
                call.cancel()
            try:
                got = told(await call)
            except CannotFit as error:
                got = type(error).__name__
            except asyncio.CancelledError:
                self.seen["cancellations"] += 1
                continue
            except (ArchiveError, StoreError):
                self.seen["faults met"] += 1
                continue
            self.judge(chat, got)
            chat.at += 1

    async def tasks(self, chats: Sequence[Chat]) -> None:
        beats = asyncio.ensure_future(self.heart())
        await asyncio.gather(*(self.task(chat, seed) for seed, chat in enumerate(chats)))
        beats.cancel()

    async def heart(self) -> None:
        """How long the loop was away at most, ms."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            late = int(1_000 * (time.perf_counter() - before - 0.01))
            self.seen["longest pause of the loop, ms"] = max(self.seen["longest pause of the loop, ms"], late)

    # processes

    def processes(self, chats: Sequence[Chat], kills: int, folder: Path) -> None:
        """Children of two conversations each are killed; the next one goes on where the last was heard of."""
        draw = random.Random(3)
        for number, chat in enumerate(chats):
            where = folder / f"case-{number}.json"
            case = chat.case
            where.write_text(json.dumps([str(self.path), chat.key, case.messages, case.cuts, case.budget]))
            for _ in range(kills):
                self.child(chat, where, draw.randrange(1, 4), draw.random() * draw.choice((0.005, 0.05)))
            while not chat.done:
                self.child(chat, where, CALLS + 2, 0)

    def child(self, chat: Chat, where: Path, most: int, later: float) -> None:
        """Run a child, and kill it `later` seconds after it has answered `most` requests."""
        if chat.done:
            return
        command = [sys.executable, "-m", "bench.soak", "--child", str(where), "--at", str(chat.at)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            lines = [line for _ in range(most) if (line := child.stdout.readline())]
            if len(lines) == most:
                time.sleep(later)
                child.kill()
            lines += child.stdout.read().splitlines(keepends=True)
            status = child.wait()
            self.seen["processes killed"] += status < 0
            if status > 0:
                raise SystemExit(f"a child failed with {status}")
        for line in lines:
            if line.endswith("\n"):
                self.judge(chat, line.strip())
                chat.at += 1

    # the end

    def lost(self, chats: Sequence[Chat]) -> int:
        """Stubs of the last outputs whose text is not in the archive, byte for byte."""
        gone = 0
        for chat in chats:
            texts = {handle_for(text, 16): text for text in _strings(chat.case.messages)}
            last = Session(chat.case.policy(), archive=self.archive, store=self.store, conversation=chat.key)
            while True:
                try:
                    sent = json.dumps(last.fit(chat.case.messages[: chat.case.cuts[-1]]).messages)
                except CannotFit:
                    break
                except (ArchiveError, StoreError):
                    continue
                for handle in set(REF.findall(sent)):
                    self.seen["stubs checked"] += 1
                    gone += handle not in texts or self.archive.get(handle) != texts[handle]
                break
        return gone


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _strings(one)]


def child(where: str, at: int) -> None:
    """Each request with a session of its own, printed once it is answered."""
    path, key, messages, cuts, budget = json.loads(Path(where).read_text())
    case = Case(messages, cuts, budget)
    archive, store = SQLiteArchive(path), SQLiteStore(path)
    for now in range(at, len(cuts)):
        session = Session(case.policy(), archive=archive, store=store, conversation=key)
        print(step(session, case, now), flush=True)


def soak(threads: int, tasks: int, killed: int, workers: int) -> int:
    """Run it, print what was seen, and return the number of failures."""
    started = time.perf_counter()
    known = [alone(case) for case in cases(min(60, max(threads, tasks, killed)))]
    calls = sum(len(case.cuts) for case in known)
    errors = sum("Unreachable" in got for case in known for got in case.expected)
    print(
        f"{len(known)} conversations with {calls} requests ({errors} of them end in BudgetUnreachable), alone: "
        f"{time.perf_counter() - started:.0f} s",
        flush=True,
    )
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        for name, number in (("threads", threads), ("tasks", tasks), ("processes", killed)):
            started = time.perf_counter()
            place = base / name
            os.makedirs(place)
            run = Soak(place)
            chats = [Chat(f"{name}-{at}", known[(7 * at + 1) % len(known)]) for at in range(number)]
            if name == "threads":
                run.threads(chats, workers)
            elif name == "tasks":
                asyncio.run(run.tasks(chats))
            else:
                run.processes(chats, 4, place)
            lost = run.lost(chats)
            failures += len(run.wrong) + lost
            seen = ", ".join(f"{count:,} {what}" for what, count in sorted(run.seen.items()))
            seconds, faults = time.perf_counter() - started, sum(one.count for one in run.faults)
            print(f"{name}: {number} conversations, {seconds:.0f} s; {seen}; {faults:,} faults", flush=True)
            print(f"{name}: {len(run.wrong)} outputs differ, {lost} texts lost", flush=True)
            for line in run.wrong[:10]:
                print(f"  {line}")
            run.archive.close()
            run.store.close()
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--threads", type=int, default=200, help="sessions on threads (%(default)s)")
    parser.add_argument("--workers", type=int, default=8, help="threads (%(default)s)")
    parser.add_argument("--tasks", type=int, default=500, help="sessions on asyncio tasks (%(default)s)")
    parser.add_argument("--killed", type=int, default=12, help="sessions in processes that are killed (%(default)s)")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--at", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.at)
        return 0
    return min(1, soak(given.threads, given.tasks, given.killed, given.workers))


if __name__ == "__main__":
    sys.exit(main())
