"""Run the tests of the integrations, each framework in an environment of its own: their dependencies do not agree.

    python tools/test_integrations.py [--envs DIR] [NAME ...]

An environment is made once and made again when its requirements change. A test that is skipped is a failure: it was
not run. At the end: the versions it ran on, and the rows of the table in docs/integrations.md.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("pytest>=8.3,<10", "hypothesis>=6.120,<7")
FRAMEWORKS: dict[str, tuple[str, tuple[str, ...]]] = {
    # name: (extras of Jettison, further packages that the tests use)
    "langchain": ("langchain", ("deepagents", "langchain-openai")),
    "sdks": ("openai,anthropic,google-genai", ()),
    "judge": ("anthropic,embeddings,summary", ()),
    "openai_agents": ("openai-agents", ()),
    "pydantic_ai": ("pydantic-ai", ()),
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
SHOWN = re.compile(
    r"(langchain|langgraph|deepagents|openai|anthropic|google-genai|openai-agents|pydantic-ai-slim|litellm|google-adk"
    r"|strands-agents|llama-index-core|haystack-ai|agent-framework-core|smolagents|autogen-agentchat|agno|crewai"
    r"|semantic-kernel)==",
    re.I,
)


def environment(name: str, folder: Path) -> Path:
    """The Python of an environment with what the framework's tests need."""
    extras, more = FRAMEWORKS[name]
    project = (ROOT / "pyproject.toml").read_bytes()
    wanted = hashlib.sha256(repr((extras, more, TOOLS, str(ROOT))).encode() + project).hexdigest()
    where, stamp = folder / name, folder / name / "installed"
    python = where / "bin" / "python"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    venv.create(where, with_pip=True)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS, *more]
    subprocess.run([*command, "-e", f"{ROOT}[{extras}]"], check=True)
    stamp.write_text(wanted)
    return python


def versions(python: Path) -> str:
    listed = subprocess.run([python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True).stdout
    return ", ".join(line.replace("==", " ") for line in listed.splitlines() if SHOWN.match(line))


def tested(name: str, python: Path) -> tuple[bool, list[str]]:
    """Whether all tests of a framework ran and passed, and the rows they printed."""
    test = f"tests/integration/frameworks/test_{name}.py"
    # Warnings of the frameworks are theirs; what is skipped is looked for below.
    command = [python, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-o", "filterwarnings=default", test]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    rows = re.findall(r"\| \w[^\n]*: [^\n]* \|$", done.stdout, re.MULTILINE)
    last = done.stdout.strip().splitlines()[-1:] or [done.stderr]
    ran = done.returncode == 0 and "skipped" not in last[0]
    print(f"{name}: {last[0]}", flush=True)
    if not ran:
        print(done.stdout[-20_000:], done.stderr[-5_000:], sep="\n", file=sys.stderr)
    return ran, rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[], help=f"of {', '.join(FRAMEWORKS)}; all when none is given")
    parser.add_argument("--envs", type=Path, default=ROOT / ".venv-integrations", help="where the environments are")
    given = parser.parse_args()
    names = given.names or list(FRAMEWORKS)
    if unknown := set(names) - set(FRAMEWORKS):
        parser.error(f"not known: {', '.join(sorted(unknown))}")
    failed, table, used = [], [], []
    for name in names:
        python = environment(name, given.envs.resolve())
        ran, rows = tested(name, python)
        failed += [] if ran else [name]
        table += rows
        used.append(versions(python))
    print("", "ran on: " + "; ".join(used), *table, sep="\n")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
