"""OpenAI Agents SDK: what a call is fitted from, and what is sent in its place."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from jettison.integrations.common import Conversation, missing

try:
    from agents import FunctionTool
except ImportError as error:
    raise missing("openai-agents", "openai-agents") from error

__all__ = ["elsewhere", "fit", "listed", "on_server", "schemas"]


def schemas(tools: Sequence[Any], handoffs: Sequence[Any]) -> list[dict[str, Any]]:
    """Tools and handoffs as the Responses API declares them, as far as they have a weight that is known here."""
    out: list[dict[str, Any]] = []
    for tool in tools:
        entry = {"type": "function", "name": tool.name}
        for field, name in (("description", "description"), ("parameters", "params_json_schema")):
            if value := getattr(tool, name, None):
                entry[field] = value
        out.append(entry)
    for handoff in handoffs:
        name = getattr(handoff, "tool_name", None) or f"transfer_to_{handoff.name}"
        said = getattr(handoff, "tool_description", None) or getattr(handoff, "handoff_description", None) or ""
        parameters = getattr(handoff, "input_json_schema", {})
        out.append({"type": "function", "name": name, "description": said, "parameters": parameters})
    return out


async def fit(
    session: Conversation, system: str | None, given: Any, tools: Any, handoffs: Any, output_schema: Any
) -> tuple[str | None, Any, Any]:
    schema = None
    if output_schema is not None and not output_schema.is_plain_text():
        schema = output_schema.json_schema()
    items = listed(given)
    known = schemas(tools, handoffs)
    fitted = await session.afit(items, system=system, tools=known or None, response_schema=schema)
    same = isinstance(given, str) and fitted.messages == items
    return fitted.system, given if same else fitted.messages, _without_secrets(tools, known, fitted.tools)


def _without_secrets(tools: Any, known: Sequence[Any], fitted: Any) -> Any:
    """The tools, as copies where a secret was taken out of one."""
    if fitted is None or len(fitted) != len(known) or fitted == known:
        return tools
    out = []
    for tool, old, new in zip(tools, known, fitted, strict=False):  # handoffs follow
        if new != old and isinstance(tool, FunctionTool):
            tool = copy(tool)
            tool.description, tool.params_json_schema = new.get("description", ""), new["parameters"]
        out.append(tool)
    return out


def listed(given: Any) -> list[Any]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def elsewhere(given: Any, settings: dict[str, Any]) -> bool:
    """Whether the history is kept on the server, or in a stored prompt."""
    named = settings.get("previous_response_id") or settings.get("conversation_id")
    return bool(named) or not given or on_server(listed(given))


def on_server(items: Sequence[Any]) -> bool:
    """Whether the items go on from some that are not here: references, or outputs whose calls are elsewhere."""
    calls: set[Any] = set()
    for item in items:
        sort = item.get("type") if isinstance(item, dict) else None
        if sort == "item_reference":
            return True
        if isinstance(sort, str) and sort.endswith("_call"):
            calls.add(item.get("call_id"))
        elif isinstance(sort, str) and sort.endswith("_call_output") and item.get("call_id") not in calls:
            return True
    return False
