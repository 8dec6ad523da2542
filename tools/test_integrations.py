"""Run the tests of the integrations, each framework in an environment of its own: their dependencies do not agree.

    python tools/test_integrations.py [--envs DIR] [NAME ...]
    python tools/test_integrations.py [--envs DIR] --first-five

By name they run on the newest releases. Those of the first five do agree: together they run in one environment, on the
releases in tools/first-five.txt, so that a new one breaks nothing. A new list: install with the extras below into an
empty environment, `pip freeze --exclude-editable`, names and versions only.

An environment is made once and made again when its requirements change. A test that is skipped is a failure: it was
not run. At the end: the versions it ran on, and the rows of the table in docs/integrations.md.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("pytest>=8.3,<10", "pytest-xdist>=3.6,<4", "hypothesis>=6.120,<7")
FRAMEWORKS: dict[str, tuple[str, tuple[str, ...]]] = {
    # name: (extras of Jettison, further packages that the tests use)
    "langchain": ("langchain", ("deepagents", "langchain-openai")),
    "sdks": ("openai,anthropic,google-genai", ()),
    "judge": ("anthropic,embeddings,summary", ()),
    "openai_agents": ("openai-agents", ()),
    "pydantic_ai": ("pydantic-ai", ("openai",)),
    "litellm": ("litellm", ()),
    "autogen": ("autogen", ("autogen-ext[openai]",)),
    "agno": ("agno", ("openai",)),
    "crewai": ("crewai", ()),
    "semantic_kernel": ("semantic-kernel", ()),
    "smolagents": ("smolagents", ("openai",)),
    "google_adk": ("google-adk", ()),
    "strands": ("strands", ("strands-agents[openai]",)),
    "llama_index": ("llama-index", ("llama-index-llms-openai",)),
    "haystack": ("haystack", ()),
    "agent_framework": ("agent-framework", ("agent-framework-openai",)),
}
FIRST_FIVE = ("langchain", "openai_agents", "pydantic_ai", "litellm", "sdks")
PINS = ROOT / "tools" / "first-five.txt"
TRIES = 2
"""Of pip, whose network may fail once."""
SHOWN = re.compile(
    r"(langchain|langgraph|deepagents|openai|anthropic|google-genai|openai-agents|pydantic-ai-slim|litellm|google-adk"
    r"|strands-agents|llama-index-core|haystack-ai|agent-framework-core|smolagents|autogen-agentchat|agno|crewai"
    r"|semantic-kernel)==",
    re.I,
)


def environment(names: Sequence[str], where: Path, pins: Path | None = None) -> Path:
    """The Python of an environment with what the frameworks' tests need."""
    extras = ",".join(FRAMEWORKS[name][0] for name in names)
    wanted = [*TOOLS, *(package for name in names for package in FRAMEWORKS[name][1]), f"{ROOT}[{extras}]"]
    files = (ROOT / "pyproject.toml", *([pins] if pins else ()))
    found = hashlib.sha256(repr(wanted).encode() + b"".join(file.read_bytes() for file in files)).hexdigest()
    python, stamp = where / "bin" / "python", where / "installed"
    if stamp.exists() and stamp.read_text() == found:
        return python
    shutil.rmtree(where, ignore_errors=True)  # what is left of other requirements would be tested too
    venv.create(where, with_pip=True)
    # Most of what is installed is never imported: Python compiles what is.
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    command += [*(["-c", str(pins)] if pins else ()), *wanted[:-1], "-e", wanted[-1]]
    for left in reversed(range(TRIES)):
        if subprocess.run(command, check=False).returncode == 0:
            break
        if not left:
            raise SystemExit(f"pip could not install what {', '.join(names)} need: see above")
        print("pip failed, once more", file=sys.stderr, flush=True)
    stamp.write_text(found)
    return python


def versions(python: Path) -> str:
    listed = subprocess.run([python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True).stdout
    return ", ".join(line.replace("==", " ") for line in listed.splitlines() if SHOWN.match(line))


def tested(names: Sequence[str], python: Path) -> tuple[bool, list[str]]:
    """Whether all tests of the frameworks ran and passed, and the rows they printed."""
    tests = [f"tests/integration/frameworks/test_{name}.py" for name in names]
    # Warnings of the frameworks are theirs; what is skipped is looked for below. -rP shows the rows of what passed.
    command = [str(python), "-m", "pytest", "-q", "-rfEsP", "-n", "auto", "-p", "no:cacheprovider"]
    command += ["-o", "filterwarnings=default", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    rows = re.findall(r"^\| \w[^\n]*: [^\n]* \|$", done.stdout, re.MULTILINE)
    last = done.stdout.strip().splitlines()[-1:] or [done.stderr]
    ran = done.returncode == 0 and "skipped" not in last[0]
    print(f"{', '.join(names)}: {last[0]}", flush=True)
    if not ran:
        print(done.stdout[-20_000:], done.stderr[-5_000:], sep="\n", file=sys.stderr)
    return ran, rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[], help=f"of {', '.join(FRAMEWORKS)}; all when none is given")
    parser.add_argument("--first-five", action="store_true", help=f"{', '.join(FIRST_FIVE)}, in one environment")
    parser.add_argument("--envs", type=Path, default=ROOT / ".venv-integrations", help="where the environments are")
    given = parser.parse_args()
    names = given.names or list(FRAMEWORKS)
    if unknown := set(names) - set(FRAMEWORKS):
        parser.error(f"not known: {', '.join(sorted(unknown))}")
    if given.first_five and given.names:
        parser.error("either names or --first-five")
    groups = [("first-five", FIRST_FIVE, PINS)] if given.first_five else [(name, (name,), None) for name in names]
    failed, table, used = [], [], []
    for folder, group, pins in groups:
        python = environment(group, given.envs.resolve() / folder, pins)
        ran, rows = tested(group, python)
        failed += [] if ran else [folder]
        table += rows
        used.append(versions(python))
    print("", "ran on: " + "; ".join(used), *table, sep="\n")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
