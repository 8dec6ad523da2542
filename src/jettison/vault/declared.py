"""Secrets in what the caller declares: schemas of tools, and the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jettison.vault.leaves import NOWHERE, Mend, Origin

if TYPE_CHECKING:
    from jettison.task import Task

__all__ = ["schemas_mended", "task_mended"]

# What names and shapes things in a schema; a change would make it another one.
_STRUCTURE = frozenset(
    [
        "name",
        "type",
        "format",
        "pattern",
        "$ref",
        "$schema",
        "$id",
        "$defs",
        "required",
        "additionalProperties",
        "strict",
        "cache_control",
        "role",
    ]
)
# Values that stand for the property they are in.
_VALUES = frozenset(["default", "const", "example", "examples", "enum", "x-example"])
_BRANCHES = frozenset(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
_OF_A_TOOL = frozenset(["parameters", "input_schema", "inputSchema", "description", "parameters_json_schema"])


def schemas_mended(given: Any, mend: Mend) -> Any:
    """Schemas with each text mended; the same object when none changed. SDK objects come back as dicts where changed.

    A value under `default`, `const`, `enum` or `example` is judged by the name of its property.
    """
    return _walk(given, mend, NOWHERE, "", "")


def _walk(value: Any, mend: Mend, origin: Origin, key: str, named: str) -> Any:
    if isinstance(value, str):
        return value if key in _STRUCTURE else mend(value, named if key in _VALUES else key, origin)
    if isinstance(value, list | tuple):
        items = [_walk(inner, mend, origin, key, named) for inner in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    dump = getattr(value, "model_dump", None)
    data = dump(mode="json", exclude_unset=True) if dump is not None and not isinstance(value, type) else value
    if not isinstance(data, Mapping):
        return value
    if isinstance(data.get("name"), str) and not _OF_A_TOOL.isdisjoint(data):
        origin = Origin(data["name"])
    out, changed = {}, False
    for name, inner in data.items():
        if name in _BRANCHES and isinstance(inner, Mapping):
            new: Any = {prop: _walk(shape, mend, origin, "", str(prop)) for prop, shape in inner.items()}
            new = new if any(new[prop] is not inner[prop] for prop in inner) else inner
        else:
            new = _walk(inner, mend, origin, str(name), named)
        out[name] = new
        changed |= new is not inner
    return out if changed else value


def task_mended(task: Task, mend: Callable[[str], str]) -> None:
    """Mend a task where it stands: it is the session's own. Only what changes is written."""
    if task.goal is not None and (goal := mend(task.goal)) != task.goal:
        task.goal = goal
    for at, text in enumerate(list(task.constraints)):
        if (new := mend(text)) != text and task.constraints[at : at + 1] == [text]:
            task.constraints[at] = new
    for key, op in list(task.operations.items()):
        texts = (mend(op.name), tuple(map(mend, op.needs)), mend(op.handle))
        if texts != (op.name, op.needs, op.handle):
            task.operations[key] = replace(op, name=texts[0], needs=texts[1], handle=texts[2])
    for known in (task.pins, task.released):
        for text in list(known):
            if (new := mend(text)) != text:
                known.discard(text)
                known.add(new)
    for text in list(task.limits):
        if (new := mend(text)) != text:
            task.limits[new] = task.limits.pop(text)
    for what, text in list(task._told):
        if (new := mend(text)) != text:
            task._told[what, new] = task._told.pop((what, text))
    stage = task.stage
    if stage is not None:
        handover, needs = mend(stage.handover), tuple(map(mend, stage.needs))
        if (handover, needs) != (stage.handover, stage.needs):
            task.stage = replace(stage, handover=handover, needs=needs)
