"""A peer's process from our side, and the peer as a policy of the replay."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers.contract import Message
from bench.traces import ROOT, tokens
from bench.units import Raised

__all__ = ["OutOfTime", "PeerFailed", "PeerPolicy", "PeerProcess"]

START_SECONDS = 120.0
"""To import a peer: the slowest takes some 10 s on a busy machine."""


WAIT = 10.0
"""A machine that is shared by so many makes a second of processor time last so long."""
QUIET = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1", "HEADROOM_TELEMETRY": "off", "HEADROOM_OFFLINE": "1"}
"""Nothing is fetched or reported while it is measured."""


class PeerFailed(Exception):
    """The process ended, or never started: `args[0]` is the end of what it said."""


class OutOfTime(Exception):
    """It took longer than allowed; the process was ended."""


class PeerProcess:
    """One child. `python`: of the peer's environment. `distributions`: whose versions it tells. `paths`: where its
    adapter is, when it is not in this checkout."""

    def __init__(
        self,
        python: Path,
        adapter: str,
        setting: str,
        distributions: Sequence[str] = (),
        paths: Sequence[Path] = (),
    ) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        env = {**os.environ, **QUIET, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src", *paths)))}
        self._child = subprocess.Popen(
            [python, "-m", "bench.peers.child", adapter, setting, *distributions],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            cwd=tempfile.gettempdir(),
            env=env,
        )
        try:
            self.versions: dict[str, str] = self._read(START_SECONDS)["versions"]
        except (OutOfTime, PeerFailed):
            self.close()
            raise

    def ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Its answer. Raises OutOfTime, PeerFailed."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(question).encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            self._child.wait()
            raise PeerFailed(self._last_words()) from None
        return self._read(seconds)

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def close(self) -> None:
        """End it and wait."""
        if self.alive:
            self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        self._child.wait()
        self._said.close()

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._child.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            self._child.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            line = self._child.stdout.readline()
        finally:
            timer.cancel()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._child.wait()
        if late.is_set():
            raise OutOfTime(f"no answer in {seconds:.0f} s")
        if self._child.returncode == -signal.SIGXCPU:
            raise OutOfTime("more processor time than allowed")
        raise PeerFailed(self._last_words())

    def _last_words(self) -> str:
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, self._said.tell() - 2_000))
        return self._said.read().decode("utf-8", "replace").strip() or f"exit {self._child.returncode}"


class PeerPolicy:
    """A peer under replay: what it answers is measured as any policy's request.

    `seconds`: of processor time it may take for the trajectory; an answer may keep us waiting WAIT times as long.
    """

    def __init__(self, process: PeerProcess, seconds: float) -> None:
        self.process, self.patience = process, seconds
        self.seconds = 0.0
        """Of processor time taken so far."""
        self.spent = 0
        """Tokens that its summariser would have read and written."""

    def start(self, head: Sequence[Message]) -> None:
        self._known, self._started = 0, False
        self._head = {"head": len(head), "head_tokens": sum(map(tokens, head))}

    def fit(self, messages: list[Message], budget: int) -> list[Message]:
        if not self._started:
            self._ask({"start": {"budget": budget, **self._head}})
            self._started = True
        answer = self._ask({"more": messages[self._known :]})
        self._known = len(messages)
        self.seconds += answer["seconds"]
        if self.seconds > self.patience:
            self.process.close()
            raise OutOfTime(f"more than {self.patience:.0f} s")
        if "error" in answer:
            raise Raised(answer["error"], answer["detail"], None)
        self.spent = answer["spent"]
        return [messages[part] if isinstance(part, int) else part for part in answer["request"]]

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        return self.process.ask(question, WAIT * max(1.0, self.patience))
