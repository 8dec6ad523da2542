"""ADK's contents (`google.genai.types.Content`) as Gemini dicts, and the fitted ones back on what they came from.

A content that was not changed comes back as the same object. In a changed one the parts that were not are the same
objects, so that signatures, media and metadata survive; only a part whose text was cut is built anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jettison.integrations.common import missing
from jettison.plan import Fitted

try:
    from google.genai import types
    from pydantic import TypeAdapter
except ImportError as error:
    raise missing("google-genai", "google-adk") from error

__all__ = ["from_fitted", "from_wire", "schema_of", "system_of", "to_tools", "to_wire", "without_secrets"]


_BLANK = {"blank": True}
"""Stands for an empty text, or a content without parts: ADK keeps them, and Gemini's rules refuse them."""
_OPENING = {"role": "user", "parts": [_BLANK]}
"""Stands before a history that begins with the model."""


def to_wire(contents: Sequence[Any]) -> list[dict[str, Any]]:
    """Each content as one Gemini dict, for weighing and deciding, with one before them where they begin with the
    model; never sent as such. Bytes are base64."""
    wire = list(map(_content, contents))
    return [_OPENING, *wire] if _opened(contents) else wire


def _opened(contents: Sequence[Any]) -> bool:
    return bool(contents) and contents[0].role == "model"


def _content(content: Any) -> dict[str, Any]:
    parts = [_BLANK if part.get("text") == "" else part for part in map(_dict, content.parts or ())]
    return {"role": content.role or "user", "parts": parts or [_BLANK]}


def system_of(config: Any) -> Any:
    """The system instruction of a request: a string as it is, parts and contents as dicts."""
    given = config.system_instruction
    if given is None or isinstance(given, str):
        return given
    return (
        [_dict(one) if hasattr(one, "model_dump") else one for one in given]
        if isinstance(given, list)
        else _dict(given)
    )


def to_tools(config: Any) -> list[dict[str, Any]]:
    """The tools of a request as dicts; of one that is a function or a session only the name is known."""
    tools = config.tools or ()
    return [
        _dict(tool) if hasattr(tool, "model_dump") else {"name": getattr(tool, "__name__", str(tool))} for tool in tools
    ]


def schema_of(config: Any) -> Any:
    """The schema of the answer as JSON, None where it is free text."""
    given = config.response_schema
    if given is None:
        return config.response_json_schema
    if isinstance(given, Mapping):
        return given
    return _dict(given) if isinstance(given, types.Schema) else TypeAdapter(given).json_schema()


def without_secrets(cleaned: Callable[[Any], Any], config: Any) -> None:
    """Take the known secrets out of what a request says beside its contents: ADK makes its config anew each time."""
    given = config.system_instruction
    if isinstance(given, str):
        config.system_instruction = cleaned(given)
    elif given is not None:
        listed = given if isinstance(given, list) else [given]
        told = [_cleaned(one, cleaned) for one in listed]
        config.system_instruction = told if isinstance(given, list) else told[0]
    if config.tools:
        config.tools = [_cleaned(tool, cleaned) for tool in config.tools]


def _cleaned(value: Any, cleaned: Callable[[Any], Any]) -> Any:
    if isinstance(value, str):
        return cleaned(value)
    if not hasattr(value, "model_dump"):
        return value
    shown = _dict(value)
    clean = cleaned(shown)
    return value if clean is shown else type(value).model_validate_json(json.dumps(clean))


def from_fitted(fitted: Fitted, wire: Sequence[dict[str, Any]], contents: Sequence[Any]) -> list[Any]:
    """The contents that the fitted ones stand for. `wire`: what `to_wire` made of `contents`."""
    return from_wire(fitted.messages, fitted.sources, wire, contents)


def from_wire(
    messages: Sequence[Any], sources: Sequence[int], wire: Sequence[dict[str, Any]], contents: Sequence[Any]
) -> list[Any]:
    """The contents that `messages` stand for. `sources`: of each its place in `wire`, -1 for an inserted one."""
    contents = [types.Content(role="user"), *contents] if _opened(contents) else contents
    out: list[Any] = []
    for place, (at, message) in enumerate(zip(sources, messages, strict=True)):
        if at >= 0 and message == wire[at]:
            if wire[at] is not _OPENING:
                out.append(contents[at])
            continue
        # Neighbours of one role are joined: then the parts are of several contents.
        end = next((later for later in sources[place + 1 :] if later >= 0), len(wire))
        out.append(types.Content(role=message["role"], parts=_parts(message, wire, contents, range(max(at, 0), end))))
    return out


def _parts(message: Mapping[str, Any], wire: Sequence[Any], contents: Sequence[Any], sources: range) -> list[Any]:
    left = [
        (shown, part)
        for at in sources
        for shown, part in zip(wire[at]["parts"], contents[at].parts or (), strict=False)
    ]
    parts = []
    for new in message["parts"]:
        found = next((place for place, (shown, _) in enumerate(left) if shown == new), None)
        if found is not None:
            parts.append(left.pop(found)[1])
        elif new != _BLANK:
            parts.append(_built(new))
    return parts


def _built(part: Mapping[str, Any]) -> Any:
    """A part from its dict; from JSON, as bytes are base64 only there."""
    return types.Part.model_validate_json(json.dumps(part))


def _dict(value: Any) -> dict[str, Any]:
    shown: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return shown
