"""The Python of README and docs runs as a page is read: every block, from top to bottom, in one namespace, offline.

A comment before a block says what is special about it: `<!-- needs: httpx -->` (a package that not everybody has) or
`<!-- not run: asks a model -->`. docs/integrations.md has tests of its own, with the frameworks that it shows.
"""

from __future__ import annotations

import ast
import importlib
import re
import shutil
import socket
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", ROOT / "README.ru.md", *(ROOT / "docs").glob("*.md"))
    if path.name != "integrations.md" and "```python\n" in path.read_text("utf-8")
)
BLOCK = re.compile(r"(?:<!-- (needs|not run): ([^>]+?) -->\n+)?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BESIDE = {"docs/replay.md": ("src/jettison/jettison.toml", "mine.toml")}
"""Files that a page speaks of: where one like it is, and its name there."""
README = ["6678 -> ", '"ORD-204"', "Fits: ", "result search_orders, in message 3", "messages[2]"]
SHOWN = {
    "README.md": README,
    "README.ru.md": README,
    "docs/archive.md": ["order ORD-77 packed", "chat-17/researcher 1 texts", "lines 78-80"],
    "docs/concepts.md": ["Fits: ", "lifted: the whole item: latest unit"],
    "docs/stages.md": ["session.enter(stage)"],
    "docs/vault.md": ["The password is {{secret:password:1}}", "no tool may have it yet", '"password": "swordfish77"'],
}
"""What the blocks of a page print, among other things."""


def blocks(page: str) -> list[tuple[str, str, str]]:
    """(kind of comment, what it says, code) of each block."""
    return BLOCK.findall((ROOT / page).read_text("utf-8"))


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a page asks the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run_from_top_to_bottom(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if page in BESIDE:
        source, name = BESIDE[page]
        shutil.copy(ROOT / source, tmp_path / name)
    namespace: dict[str, object] = {"__name__": page}
    missing = set()
    for comment, says, code in blocks(page):
        if comment == "needs" and find_spec(says) is None:
            missing.add(says)
        elif comment != "not run":
            exec(compile(code, page, "exec"), namespace)
    if missing:
        pytest.skip(f"all but the blocks of {page} that need {', '.join(sorted(missing))} ran")
    out = capsys.readouterr().out
    assert [text for text in SHOWN.get(page, ()) if text not in out] == []


def test_what_may_be_left_out_still_names_what_exists() -> None:
    for page in PAGES:
        for _, _, code in filter(lambda block: block[0], blocks(page)):
            for node in ast.walk(ast.parse(code, page)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "jettison":
                    module = importlib.import_module(node.module or "")
                    assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == [], page


def test_every_page_with_python_is_read() -> None:
    assert len(PAGES) >= 11
    assert all(blocks(page) for page in PAGES)
