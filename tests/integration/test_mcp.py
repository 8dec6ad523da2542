"""`jettison mcp` as an agent uses it: the official client, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from jettison import Session
from jettison.archive import SQLiteArchive, opened
from jettison.cli import main

pytest.importorskip("mcp", reason="the extra is not installed: pip install 'jettison[mcp]'")

BADGES = [f"{n * 7919 % 10_007:05}" for n in range(300)]
GATES = "\n".join(f"gate {n:03} opened by badge {badge} at 08:{n % 60:02}" for n, badge in enumerate(BADGES))
OTHER = "\n".join(f"pump {n:03} pressure {n * 31 % 97} kPa, nominal" for n in range(300))


def parameters(*args: str) -> Any:
    from mcp import StdioServerParameters

    # The client hands on little of the environment; the package may be found through PYTHONPATH only.
    path = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else None
    return StdioServerParameters(command=sys.executable, args=["-m", "jettison.cli", "mcp", *args], env=path)


def said(result: Any) -> str:
    (block,) = result.content
    return str(block.text)


# an agent


class Model:
    """A scripted model: reads three reports, is then asked for a line it does not see any more, and recalls it."""

    gate: int | None = None
    mark: str = ""

    def __call__(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        results = [str(message["content"]) for message in messages if message["role"] == "tool"]
        if len(results) < 3:
            return self._call("read_report", page=len(results))
        if self.gate is None:
            self.gate = next(n for n, badge in enumerate(BADGES) if badge not in results[0])
            return {"role": "assistant", "content": "I have read the reports."}
        if messages[-1]["role"] == "user":
            assert BADGES[self.gate] not in json.dumps(messages), "nothing has to be recalled"
            self.mark = results[0]
            match = re.search(r"ref ([a-z]{10,})\]", self.mark)
            assert match, self.mark
            return self._call("recall_context", handle=match.group(1))
        line = next(line for line in results[-1].splitlines() if line.startswith(f"gate {self.gate:03} "))
        return {"role": "assistant", "content": f"It was {line.split()[5]}."}

    @staticmethod
    def _call(name: str, **arguments: Any) -> dict[str, Any]:
        call = {"id": f"{name}-{arguments}", "type": "function"}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{**call, "function": {"name": name, "arguments": json.dumps(arguments)}}],
        }


async def converse(session: Session, client: Any) -> tuple[str, list[dict[str, Any]], Model]:
    """The loop of an agent: fit, ask the model, run its tool, append."""
    reports, model = [GATES, OTHER, OTHER.replace("pump", "fan")], Model()
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in (await client.list_tools()).tools
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read the three reports."}]
    asked = False
    for _ in range(12):
        fitted = await session.afit(messages, tools=tools)
        assert fitted.report.after <= fitted.report.limit
        answer = model(fitted.messages)
        messages.append(answer)
        for call in answer.get("tool_calls", ()):
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            if name == "read_report":
                content = reports[arguments["page"]]
            else:
                content = said(await client.call_tool(name, arguments))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        if not answer.get("tool_calls"):
            if asked:
                return answer["content"], messages, model
            messages.append({"role": "user", "content": f"Which badge opened gate {model.gate:03}?"})
            asked = True
    raise AssertionError("the agent did not finish")


def test_an_agent_recalls_what_was_evicted_and_finishes(tmp_path):
    from mcp import Client

    path = str(tmp_path / "jettison.db")

    async def run() -> tuple[str, list[dict[str, Any]], Model]:
        # The server starts first: there is no file yet.
        async with Client(parameters("--archive", path, "--conversation", "night", "--create")) as client:
            return await converse(Session(6_000, archive=path, conversation="night"), client)

    answer, messages, model = asyncio.run(run())
    assert model.gate is not None
    assert answer == f"It was {BADGES[model.gate]}."
    recalled = next(m["content"] for m in messages if m["role"] == "tool" and "recall_context" in m["tool_call_id"])
    assert recalled == GATES, "the exact bytes"


# the server


def talk(where: str, *args: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
    from mcp import Client

    async def run() -> list[Any]:
        async with Client(parameters("--archive", where, *args)) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(run())


def test_it_answers_recall_and_search_and_says_what_is_wrong(tmp_path):
    path = str(tmp_path / "a.db")
    archive = SQLiteArchive(path)
    archive.put("bofidukata", "возврат ORD-17 принят\r\n", "chat")
    whole, found, unknown, nothing, foreign = talk(
        path,
        calls=[
            ("recall_context", {"handle": "bofidukata"}),
            ("recall_context", {"query": "возвраты"}),
            ("recall_context", {"handle": "nosuchword"}),
            ("recall_context", {}),
            ("delete_everything", {}),
        ],
    )
    assert said(whole) == "возврат ORD-17 принят\r\n"
    assert "ref bofidukata: возврат" in said(found)
    assert "nosuchword" in said(unknown)
    assert "`handle`" in said(nothing)
    assert [result.is_error for result in (whole, found, unknown, nothing, foreign)] == [False] * 4 + [True]


def test_with_a_conversation_the_others_are_out_of_reach(tmp_path):
    path = str(tmp_path / "a.db")
    archive = SQLiteArchive(path)
    archive.put("bofidukata", "told to one", "one")
    archive.put("kadusanisu", "told to two", "two/sub")
    mine, theirs, found = talk(
        path,
        "--conversation",
        "two",
        calls=[
            ("recall_context", {"handle": "kadusanisu"}),
            ("recall_context", {"handle": "bofidukata"}),
            ("recall_context", {"query": "told"}),
        ],
    )
    assert said(mine) == "told to two"
    assert "Nothing is kept" in said(theirs)
    assert "bofidukata" not in said(found)
    assert "kadusanisu" in said(found)


def test_an_answer_is_no_longer_than_asked_for(tmp_path):
    path = str(tmp_path / "a.db")
    SQLiteArchive(path).put("bofidukata", GATES)
    (part,) = talk(path, "--limit", "200", calls=[("recall_context", {"handle": "bofidukata"})])
    assert said(part).startswith("[recalled lines 1-5 of 300, ref bofidukata; for more: lines 6-10]\n")


def test_it_serves_a_database(postgres_url):
    archive = opened(postgres_url)
    archive.put("bofidukata", "kept in PostgreSQL \x00")
    archive.close()
    (whole,) = talk(postgres_url, calls=[("recall_context", {"handle": "bofidukata"})])
    assert said(whole) == "kept in PostgreSQL \x00"


# the command


def test_a_file_that_is_no_archive_is_named(tmp_path, capsys):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be looked at" * 50)
    assert main(["mcp", "--archive", str(path)]) == 3
    assert "notes.txt" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named_and_not_made(tmp_path, capsys):
    path = tmp_path / "typo.db"
    assert main(["mcp", "--archive", str(path)]) == 3
    told = capsys.readouterr().err
    assert str(path) in told
    assert "--create" in told
    assert not path.exists()


def test_a_server_that_starts_before_its_agent_can_make_the_file(tmp_path):
    path = tmp_path / "a.db"
    (nothing,) = talk(str(path), "--create", calls=[("recall_context", {"query": "anything"})])
    assert not nothing.is_error
    assert path.exists()


def test_the_archive_can_come_from_the_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JETTISON_ARCHIVE", str(tmp_path / "nowhere" / "a.db"))
    assert main(["mcp"]) == 3
    assert "nowhere" in capsys.readouterr().err
    monkeypatch.delenv("JETTISON_ARCHIVE")
    assert main(["mcp"]) == 64


def test_a_limit_that_cannot_be_is_wrong_usage(tmp_path):
    assert main(["mcp", "--archive", str(tmp_path / "a.db"), "--limit", "0"]) == 64
    assert not (tmp_path / "a.db").exists()


def test_without_the_extra_it_names_it(tmp_path):
    blocker = tmp_path / "site"
    blocker.mkdir()
    (blocker / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')")
    command = [sys.executable, "-m", "jettison.cli", "mcp", "--archive", str(tmp_path / "a.db")]
    path = os.pathsep.join([str(blocker), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 70
    assert "pip install 'jettison[mcp]'" in done.stderr
