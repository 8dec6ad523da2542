"""docs/compression.md shows cuts exactly as they are rendered. JETTISON_WRITE_DOCS=1 writes them anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from jettison.compressors import code, text
from outlines import view

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/compression.md"
OUTLINERS = {"code": code.outline, "text": text.outline}
SHOWN = re.compile(r"<!-- cut: (\w+) (\S+) -->\n(?:\n````\w*\n.*?\n````\n)?", re.DOTALL)


def shown(match: re.Match[str]) -> str:
    source = (ROOT / match[2]).read_text("utf-8")
    return f"<!-- cut: {match[1]} {match[2]} -->\n\n````text\n{view(source, OUTLINERS[match[1]])}\n````\n"


def test_cuts_are_shown_as_they_are_rendered() -> None:
    page = PAGE.read_text("utf-8")
    fresh = SHOWN.sub(shown, page)
    if os.environ.get("JETTISON_WRITE_DOCS"):
        PAGE.write_text(fresh, "utf-8")
    assert fresh == page
    assert len(SHOWN.findall(page)) == 3


@pytest.mark.parametrize("name", ["basket.py", "policy.md", "policy.ru.md"])
def test_examples_are_cut_to_about_a_quarter(name: str) -> None:
    source = (ROOT / "docs/examples" / name).read_text("utf-8")
    cut = view(source, OUTLINERS["code" if name.endswith(".py") else "text"])
    assert 0.15 * len(source) < len(cut) < 0.4 * len(source)
