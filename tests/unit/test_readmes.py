"""README.md and README.ru.md are one page: same headings, same code, and nothing in them that does not exist."""

from __future__ import annotations

import ast
import importlib
import io
import re
import tokenize
from pathlib import Path

import pytest

import jettison

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("README.md", "README.ru.md")}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str | None = None) -> list[str]:
    return [code for name, code in BLOCK.findall(PAGES[page]) if language in (None, name)]


def without_comments(language: str, code: str) -> str:
    if language != "python":
        return "\n".join(re.sub(r"\s+#.*", "", line).rstrip() for line in code.splitlines())
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(code).readline) if token.type != tokenize.COMMENT]
    return "\n".join(line.rstrip() for line in tokenize.untokenize(tokens).splitlines())


def prose(page: str) -> str:
    return BLOCK.sub("", PAGES[page])


def test_headings_stand_in_step() -> None:
    english, russian = (
        [line.split(" ")[0] for line in prose(page).splitlines() if line.startswith("#")] for page in PAGES
    )
    assert english == russian
    assert len(english) > 8


def test_code_is_the_same_but_for_comments() -> None:
    english, russian = (
        [(name, without_comments(name, code)) for name, code in BLOCK.findall(page)] for page in PAGES.values()
    )
    assert english == russian


def test_tables_and_lists_are_of_one_size() -> None:
    for start in ("|", "- ", "1. ", "2. ", "3. "):
        english, russian = (sum(line.startswith(start) for line in prose(page).splitlines()) for page in PAGES)
        assert english == russian, start


@pytest.mark.parametrize("page", PAGES)
def test_names_that_are_shown_exist(page: str) -> None:
    for code in blocks(page, "python"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "jettison":
                module = importlib.import_module(node.module or "")
                for alias in node.names:
                    assert hasattr(module, alias.name), alias.name
                    assert node.module != "jettison" or alias.name in jettison.__all__, alias.name
    for name in re.findall(r"`jettison\.([A-Za-z_.]+)", PAGES[page]):
        head, *rest = name.split(".")
        found = getattr(jettison, head, None) or importlib.import_module(f"jettison.{head}")
        for part in rest:
            found = getattr(found, part)


@pytest.mark.parametrize("page", PAGES)
def test_errors_and_fields_in_the_tables_exist(page: str) -> None:
    from jettison.plan import Report

    errors = [getattr(jettison, name) for name in re.findall(r"^\| `([A-Z]\w+)`", prose(page), re.MULTILINE)]
    first, second, third, *fitting = errors
    assert (first, second, third) == (jettison.JettisonError, jettison.InvalidInput, jettison.CannotFit)
    assert [issubclass(error, jettison.CannotFit) for error in fitting] == [True] * 4 + [False] * (len(fitting) - 4)
    assert all(issubclass(error, jettison.JettisonError) for error in errors[:-1])
    assert issubclass(errors[-1], ValueError)
    assert not issubclass(errors[-1], jettison.JettisonError)
    table = prose(page).split("| `before`", 1)[1].split("\n\n", 1)[0]
    for name in re.findall(
        r"`(\w+)(?:\(\))?`",
        "| `before`" + "\n".join(row.split("|")[1 if row.startswith("|") else 0] for row in table.splitlines()),
    ):
        assert hasattr(Report, name) or name in Report.__dataclass_fields__, name


@pytest.mark.parametrize(
    "page",
    [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md", "docs/archive.md", "docs/benchmarks.md", "docs/decisions/README.md"],
)
def test_links_to_files_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text("utf-8")):
        assert "://" in target or (ROOT / page).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_options_of_the_command_exist(page: str) -> None:
    pytest.importorskip("typer")
    from jettison.cli.app import app

    assert {command.name or command.callback.__name__ for command in app.registered_commands if command.callback} == {
        "fit",
        "demo",
        "mcp",
        "replay",
        "scan",
        "tune",
    }
    source = (ROOT / "src/jettison/cli/app.py").read_text("utf-8")
    for line in "\n".join(blocks(page, "sh")).splitlines():
        if "jettison fit" in line:
            for option in re.findall(r"\s--([a-z]+)", line):
                assert f'"--{option}"' in source or re.search(rf"^    {option}: ", source, re.MULTILINE), option
