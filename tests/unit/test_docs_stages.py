"""docs/stages.md: its example runs as it stands, and its notes are what the session writes."""

import re
from pathlib import Path

from jettison.items import is_note

PAGE = (Path(__file__).parents[2] / "docs/stages.md").read_text("utf-8")


def test_the_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(compile(code, "docs/stages.md", "exec"), names)
    assert len(names["stages"]) >= 2
    assert "session.enter(stage)" in capsys.readouterr().out


def test_the_notes_shown_are_notes():
    shown = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(shown) == 2
    assert all(map(is_note, shown))
