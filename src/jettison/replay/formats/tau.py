"""Results of tau-bench (a list of runs with `traj`) and tau2-bench (`simulations` with `messages`).

tau-bench's `traj` are chat messages. tau2 has its own: calls with `name`, `arguments` (an object) and `requestor`,
answers with the `id` of the call, several in one message as `tool_messages`; what the simulated user did with tools of
its own is not in the agent's context and is left out. The system prompt is `info.environment_info.policy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jettison.errors import InvalidInput
from jettison.replay.formats.base import Row, Rows, Skipped, text_in
from jettison.replay.formats.chat import Message, assistant, call, said, tool
from jettison.replay.readers import Recorded, recorded_of

__all__ = ["claims", "histories"]


def claims(row: Row) -> bool:
    return (isinstance(row.get("traj"), list) and "task_id" in row) or isinstance(row.get("simulations"), list)


def histories(rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
    """One history a run."""
    for number, row in rows:
        if "simulations" in row:
            yield from _simulations(row, name)
            continue
        task, trial = str(row.get("task_id")), row.get("trial", 0)
        where = f"{name} row {number}"
        try:
            yield recorded_of({"messages": row.get("traj"), "task": task, "id": f"{task}-{trial}"}, None, where, [])
        except InvalidInput as error:
            yield Skipped(where, str(error))


def _simulations(row: Row, name: str) -> Iterator[Recorded | Skipped]:
    info: Any = row.get("info")
    environment = info.get("environment_info") if isinstance(info, dict) else None
    policy = environment.get("policy") if isinstance(environment, dict) else None
    agent = info.get("agent_info") if isinstance(info, dict) else None
    model = agent.get("llm") if isinstance(agent, dict) else None
    for number, run in enumerate(row["simulations"], 1):
        where = f"{name} simulation {number}"
        given = run.get("messages") if isinstance(run, dict) else None
        if not isinstance(given, list) or not given:
            yield Skipped(where, "a simulation without messages")
            continue
        messages = [said("system", str(policy))] if policy else []
        messages += [made for entry in given if isinstance(entry, dict) for made in _message(entry)]
        task = str(run.get("task_id"))
        yield Recorded("openai-chat", messages, model=model, name=where, id=str(run.get("id") or where), task=task)


def _message(entry: Row) -> list[Message]:
    role, text = entry.get("role"), text_in(entry.get("content"))
    if isinstance(entry.get("tool_messages"), list):
        return [made for inner in entry["tool_messages"] if isinstance(inner, dict) for made in _message(inner)]
    if role == "tool":
        return [] if entry.get("requestor") == "user" else [tool(str(entry.get("id")), text)]
    if role == "assistant":
        calls = [c for c in entry.get("tool_calls") or () if isinstance(c, dict)]
        made = [call(str(c.get("id")), str(c.get("name")), c.get("arguments")) for c in calls]
        return [assistant(text, made)] if text or made else []
    return [said(str(role), text)] if text else []
