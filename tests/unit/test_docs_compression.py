"""docs/compression.md shows cuts exactly as they are rendered. JETTISON_WRITE_DOCS=1 writes them anew."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from jettison import Session
from jettison.compressors.shrink import shrink
from jettison.recall import recall_tool
from jettison.tokens import o200k

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/compression.md"
SHOWN = re.compile(r"<!-- cut: (\w+) (\S+) -->\n(?:\n````\w*\n.*?\n````\n)?", re.DOTALL)
ASKED = {"basket.py": "_reduced", "policy.md": "return label"}
"""What the agent asks for after it has read the file."""


def by_fit(source: str, name: str) -> str:
    """The file as the model sees it after two calls, in a context with room for half of it."""
    messages = [{"role": "user", "content": "Tidy up the shop."}]
    for n, arguments in enumerate(({"path": name}, {"pattern": ASKED[name]})):
        function = {"name": "grep" if n else "read", "arguments": json.dumps(arguments)}
        call = {"id": f"c{n}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": "one match" if n else source},
        ]
    tools = [recall_tool()]
    rest = Session(100_000, model="gpt-4o").fit(
        [*messages[:2], {**messages[2], "content": ""}, *messages[3:]], tools=tools
    )
    fitted = Session(rest.report.after + o200k(source) // 2, model="gpt-4o").fit(messages, tools=tools)
    return str(fitted.messages[2]["content"])


def shown(match: re.Match[str]) -> str:
    path = ROOT / match[2]
    source = path.read_text("utf-8")
    view = by_fit(source, path.name) if match[1] == "fit" else shrink(source, len(source) // 4)
    return f"<!-- cut: {match[1]} {match[2]} -->\n\n````text\n{view}\n````\n"


def test_cuts_are_shown_as_they_are_rendered() -> None:
    page = PAGE.read_text("utf-8")
    fresh = SHOWN.sub(shown, page)
    if os.environ.get("JETTISON_WRITE_DOCS"):
        PAGE.write_text(fresh, "utf-8")
    assert fresh == page
    assert len(SHOWN.findall(page)) == 5


def test_the_examples_of_the_page_run() -> None:
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), {})


@pytest.mark.parametrize("name", ["basket.py", "policy.md", "policy.ru.md"])
def test_examples_are_cut_to_about_a_quarter(name: str) -> None:
    source = (ROOT / "docs/examples" / name).read_text("utf-8")
    assert 0.15 * len(source) < len(shrink(source, len(source) // 4)) < 0.27 * len(source)
