"""The programs of docs/integrations.md, run as they stand there against a scripted server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from integration.frameworks.server import serving
from integration.frameworks.task import Call, Script

PAGE = Path(__file__).parents[3] / "docs" / "integrations.md"
LINES = 40


@dataclass
class Reading(Script):
    """Reads the log of a service twice, and says what it sees."""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        self._count(list(seen))
        self.step += 1
        if self.step < 3:
            return [Call("read_log", {"service": "billing"})]
        return "The disk is full." if "E-4711 disk full" in "\n".join(seen) else "I do not know."


def program(section: str) -> str:
    """The first program below a heading."""
    match = re.search(rf"^## {section}\n.*?^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert match, f"no program below {section}"
    return match.group(1)


def check_program(section: str, script: Reading | None = None) -> None:
    """It is short, runs, answers, and what it sent was within its budget of 3,000 tokens."""
    code = program(section)
    assert code.count("\n") < LINES
    script = script or Reading()
    with serving(script) as server, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"  # some frameworks read the source of a tool
        file.write_text(code, "utf-8")
        url = f"{server.url}/v1"
        given = {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_KEY": "none"}
        given |= {"GOOGLE_GEMINI_BASE_URL": server.url, "GOOGLE_API_KEY": "none"}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(file)],
            env=os.environ | given,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-3_000:]
    # Some frameworks log in a thread: what they say can stand in the same line, between a text and its line break.
    assert "The disk is full." in done.stdout
    before, after = map(int, re.findall(r"(\d+) -> (\d+) tokens", done.stdout)[-1])
    assert after <= 3_000 < before
    assert len(script.sizes) == 3
