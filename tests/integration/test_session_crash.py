"""kill -9 while requests are answered: whoever goes on gives the bytes of a session that was never interrupted."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from fitting_child import BUDGET, canary, steps
from session_child import KEY, count, secrets_of

from jettison import Policy, Session
from jettison.archive import MemoryArchive
from jettison.saved import unpacked
from jettison.store import opened
from jettison.vault import Vault

CHILD = Path(__file__).with_name("session_child.py")


def alone(seed: int) -> list[list[object]]:
    session = Session(Policy(budget=BUDGET, counter=count), archive=MemoryArchive(), conversation=f"run-{seed}")
    session.task.constrain("Find out what went wrong")
    return [session.fit(messages).messages for messages in steps(seed, canary(seed))]


def answered(where: str, seed: int, first: int, most: int, later: float) -> list[str]:
    """Whole lines of a child that was killed `later` seconds after its answer number `most`."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, str(CHILD), where, str(seed), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout is not None
        lines = [line for _ in range(most) if (line := child.stdout.readline())]
        if len(lines) == most:
            time.sleep(later)
            child.kill()
        lines += child.stdout.read().splitlines(keepends=True)
        assert child.wait() <= 0
    return [line.decode() for line in lines if line.endswith(b"\n")]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_next_process_goes_on_with_the_same_bytes(kind, tmp_path, request):
    where = str(tmp_path / "a.db") if kind == "sqlite" else request.getfixturevalue("postgres_url")
    draw, killed = random.Random(7), 0
    for seed in (11, 12):
        opened(where).delete(f"run-{seed}")
        Vault(secrets_of(where), keys=KEY, rule_sets=()).wipe(f"run-{seed}")
        want, at = alone(seed), 0
        assert any(one[: len(two)] != two for two, one in pairwise(want)), "no epoch in this history"
        while at < len(want):
            for line in answered(where, seed, at, draw.randrange(1, 4), draw.random() * 0.02):
                assert canary(seed) not in line
                number, messages = json.loads(line)
                assert number == at
                assert messages == want[at]
                at += 1
            killed += 1
        kept = opened(where).load(f"run-{seed}")
        assert kept is not None
        assert kept.data is not None
        assert canary(seed) not in json.dumps(unpacked(kept.data))
        for file in tmp_path.iterdir():
            assert canary(seed).encode() not in file.read_bytes()
    assert killed >= 8
