"""kill -9 at any point: every stub that was handed out has its content, byte for byte, and no row is lost."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fitting_child import BUDGET, originals, steps

from jettison import ArchiveError, Policy, Session
from jettison.archive import opened
from jettison.compressors.cut import handle_for
from postgres_server import Server

CHILD = Path(__file__).with_name("fitting_child.py")
REF = re.compile(r"ref ([a-z]{10,})\]")
KILLS = 24


def killed_after(where: str, seed: int, size: int) -> list[str]:
    """What a child printed, whole lines only, that was killed once it had printed so many bytes."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, str(CHILD), where, str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, bufsize=0) as child:
        assert child.stdout is not None
        data = b""
        while len(data) < size:
            piece = os.read(child.stdout.fileno(), size - len(data))
            assert piece, f"the child ended by itself: {child.wait()}"
            data += piece
        child.send_signal(signal.SIGKILL)
        data += child.stdout.read()  # it had printed that, too
        assert child.wait() == -signal.SIGKILL
    return data.decode("utf-8", "ignore").splitlines(keepends=True)


def handles_in(line: str) -> tuple[int, list[str]]:
    seed, messages = json.loads(line)
    contents: list[Any] = [message.get("content") for message in messages]
    return seed, [handle for text in contents if isinstance(text, str) for handle in REF.findall(text)]


def run(where: str, kills: int) -> tuple[int, dict[str, str]]:
    """Kill one child after another at moments of a fixed seed; (stubs seen, text by handle that there must be)."""
    draw, stubs, expected = random.Random(2026), 0, {}
    for kill in range(kills):
        first = 1_000 * kill
        for line in killed_after(where, first, draw.randrange(1, 400_000)):
            if not line.endswith("\n"):
                continue
            seed, handles = handles_in(line)
            texts = {handle_for(text, 16): text for text in originals(seed)}
            stubs += len(handles)
            expected.update({handle: texts[handle] for handle in handles})
    return stubs, expected


def test_a_killed_process_leaves_no_stub_without_its_content(tmp_path):
    where = str(tmp_path / "a.db")
    stubs, expected = run(where, KILLS)
    assert stubs > 300, "the children did not get far enough to show anything"
    archive = opened(where)
    assert {handle: archive.get(handle) for handle in expected} == expected
    archive.close()
    with closing(sqlite3.connect(where)) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        base.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
        assert base.execute("SELECT count(*) FROM texts WHERE id NOT IN (SELECT text FROM holds)").fetchone() == (0,)


def test_nor_does_a_database_server_that_goes_down(postgres_server: Server, postgres_url: str):
    stubs, expected = run(postgres_url, 4)
    assert stubs > 100
    archive = opened(postgres_url)
    session = Session(Policy(budget=BUDGET, counter=lambda text: len(text) // 3), archive=archive)
    *_, messages = steps(7)
    session.fit(messages[:3])
    state = session._state
    postgres_server.kill()
    try:
        with pytest.raises(ArchiveError, match="postgres"):
            session.fit(messages)
        assert session._state is state
    finally:
        postgres_server.start()
    report = session.fit(messages).report
    assert all(session.recall(row.handle) for row in report.rows if row.handle)
    assert {handle: archive.get(handle) for handle in expected} == expected, "the open archive connects anew"
    archive.close()


DEADLY = """
import os, signal, sys
from jettison.archive import opened

class Deadly(dict):
    def items(self):
        yield from list(super().items())[:3]
        os.kill(os.getpid(), signal.SIGKILL)

archive = opened(sys.argv[1])
archive.put("before", "stored before")
archive.put_many(Deadly({f"h{n}": f"text {n}" for n in range(6)}), "chat", release=["before"])
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_in_the_middle_of_storing_nothing_of_it_is_there(kind, tmp_path, request):
    where = str(tmp_path / "a.db") if kind == "sqlite" else request.getfixturevalue("postgres_url")
    done = subprocess.run([sys.executable, "-c", DEADLY, where], check=False)
    assert done.returncode == -signal.SIGKILL
    archive = opened(where)
    assert archive.get("before") == "stored before"
    assert [one.key for one in archive.conversations()] == [""]
    for n in range(6):
        with pytest.raises(ArchiveError, match=f"h{n}"):
            archive.get(f"h{n}")
    archive.put_many({f"h{n}": f"other {n}" for n in range(6)}, "chat")
    archive.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_child_is_the_same_for_the_same_seed(seed):
    assert originals(seed) == originals(seed)
