"""A whole request body: the call in it, and the body with what was fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jettison.call import Call
from jettison.errors import InvalidInput
from jettison.plan import Fitted, Report
from jettison.tool_schemas import strings
from jettison.wire.base import Wire

__all__ = ["Body", "request_of"]


class Body(dict[str, Any]):
    """A whole request body, fitted; a plain dict but for `report`."""

    report: Report


def request_of(
    wire: Wire, body: Mapping[str, Any], repair: bool, observe: bool
) -> tuple[Call, Callable[[Fitted], Body]]:
    """The call that a body asks for, and what puts its result into the body. Raises InvalidInput for no body."""
    if not isinstance(body, Mapping):
        raise InvalidInput(f"a request body is a dict, not {type(body).__name__}: fit() takes its parts")
    messages, system, tools = wire.split_body(body)
    schema = body.get("response_format") or body.get("text") or body.get("output_config")
    drop = "drop_block" in str(body.get("thinking") or "")
    marks = int(bool(body.get("cache_control")))
    config = body["config"] if isinstance(body.get("config"), Mapping) else {}
    asked = [place.get(key) for place in (body, config) for key in ("tool_choice", "toolConfig", "tool_config")]
    call = Call(
        messages,
        system,
        tools,
        schema,
        repair,
        observe,
        reasoning_drop=drop,
        choice=frozenset(strings(asked)),
        marks=marks,
        model=model if isinstance(model := body.get("model"), str) else None,
    )
    pointers = ("previous_response_id", *(["conversation"] if wire.field == "input" else []))
    if named := next((name for name in pointers if body.get(name)), None):
        raise InvalidInput(f"{named} points at the server: use fit(..., prior_tokens=…)")

    def join(fitted: Fitted) -> Body:
        out = Body(wire.join_body(body, fitted.messages, fitted.system))
        if fitted.tools is not tools:
            place = out if out.get("tools") is not None else dict(config)
            place["tools"] = fitted.tools
            if place is not out:
                out["config"] = {**out["config"], **place} if "config" in out else place
        out.report = fitted.report
        return out

    return call, join
