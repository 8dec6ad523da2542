"""What tool schemas cost, and which of them may be left out: they are sent with every request, used or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jettison.errors import InvalidInput, Problem
from jettison.items import Item, Kind
from jettison.plan import ToolCost
from jettison.task import TaskState
from jettison.wire.base import plain

__all__ = ["costs_of", "hosted", "listed", "needed", "strings", "unused", "without"]

Schemas = Sequence[tuple[str, str]]
"""(name, schema text) of each declared tool."""

_CALLS = (Kind.CALL, Kind.RESULT)
_CALLED = (None, "function", "custom")
"""Types of tools that the model calls by their name and the client runs; the others are the provider's own."""
_SERVER = re.compile(r'"server_label": "([^"]+)"')
"""In a call of a tool of an MCP server: which one, by the name it has in the list of tools."""


def listed(tools: Any) -> None:
    """Raises InvalidInput for what is not a list of tools. What a tool of a provider's own looks like is not judged."""
    if tools is None:
        return
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
        raise InvalidInput(f"tools must be a list of tool declarations, not {type(tools).__name__}")
    for at, tool in enumerate(tools):
        if isinstance(tool, Mapping):
            if tool.get("type") == "function" and _name(tool) == "function":
                rule, repair = "a function has a name", "give it one, as the wire declares tools"
                raise InvalidInput([Problem(f"tools[{at}]", rule, repair)])
        elif not isinstance(tool, str) and not hasattr(tool, "model_dump"):
            rule, repair = "a tool is a dict, or an object with model_dump()", f"it is {type(tool).__name__}"
            raise InvalidInput([Problem(f"tools[{at}]", rule, repair)])


def costs_of(
    tools: Schemas, items: Iterable[Item], dropped: Collection[str], count: Callable[[str], int]
) -> Iterator[ToolCost]:
    """One row a tool, in their order."""
    calls, last = _used(items)
    for name, text in tools:
        yield ToolCost(name, count(text), calls.get(name, 0), last.get(name), name in dropped)


def _used(items: Iterable[Item]) -> tuple[dict[str, int], dict[str, int]]:
    """By tool: how often it was called, and at which step last."""
    calls: dict[str, int] = {}
    last: dict[str, int] = {}
    for item in items:
        if item.name and (item.kind is Kind.CALL or item.kind is Kind.OPAQUE):  # opaque: of the provider's own tools
            server = _SERVER.search(item.extra) if item.extra else None
            for name in (item.name, server[1]) if server else (item.name,):
                calls[name] = calls.get(name, 0) + 1
                last[name] = max(item.step, last.get(name, 0))
    return calls, last


def hosted(tools: Any) -> frozenset[str]:
    """Names of the provider's own tools (web search, MCP servers, code execution). They stay: not all that they do is
    seen in the history, and what declares one is a line."""
    own = (plain(tool) for tool in tools or () if not isinstance(tool, str))
    return frozenset(_name(tool) for tool in own if tool.get("type") not in _CALLED)


def needed(names: Iterable[str], sent: Iterable[Item], task: TaskState, choice: Collection[str]) -> frozenset[str]:
    """Tools that must stay: those that a call or result in the request is of (a pending one too), that the task or the
    latest user turn names, that the request asks for, or that the agent looked up."""
    held = {item.name for item in sent if item.kind in _CALLS}
    users = [item.text for item in sent if item.kind in (Kind.USER, Kind.INSTRUCTION)]
    said = "\n".join([*users[-1:], task.declared_goal or "", *(one.text for one in task.constraints)])
    said += "\n".join(f"{op.name} {' '.join(op.needs)}" for op in task.open_operations)
    revealed = {fact.reason.removeprefix("revealed tool ") for fact in task.facts}
    return frozenset(name for name in names if name in held or name in choice or name in revealed or name in said)


def unused(
    names: Sequence[str], items: Iterable[Item], step: int, after: int, since: Mapping[str, int], keep: Collection[str]
) -> tuple[str, ...]:
    """Tools without a call in the last `after` steps, declared for as long (`since`: by tool the step at which it was
    first declared, 0 if not in it), that need not stay. Never all of them: most providers refuse an empty list."""
    last = _used(items)[1]
    idle = [name for name in dict.fromkeys(names) if step - max(last.get(name, 0), since.get(name, 0)) >= after]
    out = [name for name in idle if name and name not in keep]
    if out and len(out) == len(set(names)):
        out.remove(max(out, key=lambda name: last.get(name, -1)))
    return tuple(out)


def without(tools: Any, dropped: Collection[str]) -> Any:
    """The tool list as the wire has it, without these; the same object where none is in it. A cache mark on the last of
    them moves to the last one left."""
    if not dropped or not isinstance(tools, list | tuple):
        return tools
    out: list[Any] = []
    mark: Any = None
    for tool in tools:
        left = _without(tool, dropped)
        if left is not None:
            out.append(left)
        elif isinstance(tool, Mapping):
            mark = tool.get("cache_control") or mark
    if len(out) == len(tools) and all(new is old for new, old in zip(out, tools, strict=True)):
        return tools
    if mark and isinstance(out[-1], dict) and not out[-1].get("cache_control"):
        out[-1] = {**out[-1], "cache_control": mark}
    return out


def _without(tool: Any, dropped: Collection[str]) -> Any:
    if not isinstance(tool, Mapping):
        return None if (getattr(tool, "name", None) or tool) in dropped else tool
    for key in ("functionDeclarations", "function_declarations"):
        inner = tool.get(key)
        if inner:
            left = [one for one in inner if _name(one) not in dropped]
            if len(left) == len(inner):
                return tool
            rest = {name: value for name, value in tool.items() if name != key}
            return {**tool, key: left} if left else rest or None
    return None if _name(tool) in dropped else tool


def _name(tool: Any) -> str:
    if not isinstance(tool, Mapping):
        return str(getattr(tool, "name", "") or "")
    inner = tool.get("function")
    body = inner if isinstance(inner, Mapping) else tool
    return str(body.get("name") or body.get("server_label") or body.get("type") or "")


def strings(value: Any) -> Iterator[str]:
    """All strings in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from strings(one)
