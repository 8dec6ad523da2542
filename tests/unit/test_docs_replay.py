"""docs/replay.md: its commands parse, its lists are complete, its pictures are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from jettison.cli.app import app
from jettison.replay.engine import BASELINES
from jettison.replay.formats import FORMATS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/replay.md").read_text(encoding="utf-8")
COMMANDS = [
    line.split("  #")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("jettison ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_parse(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    group = typer.main.get_command(app)
    command = getattr(group, "commands")[name]  # noqa: B009 - typer types it as a plain command
    context = command.make_context(name, arguments)
    assert context.params["paths"]


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 10


def test_formats_and_baselines_are_all_named() -> None:
    words = TEXT.lower()
    assert all(f"`{name}`" in TEXT for name in BASELINES)
    names = {"request-log": "requests and responses", "messages": "chat jsonl", "message-list": "one message list"}
    shown = [names.get(named.name, named.name.replace("-", " ")) for named in FORMATS]
    assert [name for name in shown if name not in words.replace("-", " ")] == []


def test_links_and_pictures_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", TEXT)
    assert len(targets) >= 4
    assert [target for target in targets if not (ROOT / "docs" / target).exists()] == []
