"""Histories in three words each, read as the library reads them."""

from __future__ import annotations

import json
from typing import Any

from jettison.flow.task_state import TaskReader
from jettison.history import History
from jettison.items import Item
from jettison.task import Task, TaskState
from jettison.wire import wire_named

Message = dict[str, Any]


def user(text: str) -> list[Message]:
    return [{"role": "user", "content": text}]


def says(text: str) -> list[Message]:
    return [{"role": "assistant", "content": text}]


def call(name: str, args: Any, result: Any, *, number: int = 0) -> list[Message]:
    """A call and its result; `None` as the result: it is not answered yet."""
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    given = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    made = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": given}}
    turn: list[Message] = [{"role": "assistant", "content": None, "tool_calls": [made]}]
    return turn if result is None else [*turn, {"role": "tool", "tool_call_id": f"c{number}", "content": text}]


def join(*parts: list[Message]) -> list[Message]:
    return [message for part in parts for message in part]


def read(
    messages: list[Message], task: Task | None = None, tools: tuple[str, ...] = ()
) -> tuple[TaskState, dict[str, Item]]:
    """The task state at the end, read step by step as a session does, and the items by id."""
    history, reader, task = History(), TaskReader(), task or Task()
    taken = history.take(wire_named("openai-chat"), messages, None, False, False)
    state = TaskState()
    for end in range(1, len(taken.units) + 1):
        state = reader.read(taken.units[:end], task, tools)
    again = TaskReader().read(taken.units, task, tools)
    if not task.limits:
        assert again == state, "reading at once and step by step must give the same"
    return state, {item.id: item for item in taken.items}


def facts(state: TaskState, items: dict[str, Item]) -> list[tuple[str, str]]:
    """(reason, protected text) of each standing fact."""
    return [(fact.reason, fact.span.text if fact.span else items[fact.item].text) for fact in state.facts]
