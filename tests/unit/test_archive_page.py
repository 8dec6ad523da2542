"""The examples of docs/archive.md run, one after another, and show something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "archive.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    for code in blocks:
        exec(compile(code, str(PAGE), "exec"), namespace)
    out = capsys.readouterr().out
    assert "->" in out
    assert re.search(r"chat-17/researcher \d+ texts, \d+ bytes", out)
    assert "Nothing that was cut" in out, "the conversation was deleted before the last block"
