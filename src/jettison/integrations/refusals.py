"""Requests: what an agent reads in front of the result of a call that was refused a secret, and ran without it; and
those that go on from a history that the provider keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jettison.integrations.answers import key_of
from jettison.integrations.common import Conversation

__all__ = ["masked", "told"]


def told(body: Mapping[str, Any], refusals: Mapping[str, str]) -> Mapping[str, Any]:
    """A request in which the results of refused calls say so first; the same object when there is none."""
    if not refusals:
        return body
    for field in ("messages", "input", "contents"):
        if isinstance(body.get(field), list):
            listed = body[field]
            contents = field == "contents"
            said = _told_contents(listed, refusals) if contents else [_told(one, refusals) for one in listed]
            if any(new is not old for new, old in zip(said, body[field], strict=True)):
                return {**body, field: said}
    return body


def _told(message: Any, refusals: Mapping[str, str]) -> Any:
    if not isinstance(message, Mapping):
        return message
    for name, field in (("tool_call_id", "content"), ("call_id", "output")):
        if message.get(name) in refusals and field in message:
            kind = "text" if field == "content" else "input_text"
            return {**message, field: _before(refusals[message[name]], message[field], kind)}
    if isinstance(message.get("content"), list):
        said = [_told_part(part, refusals) for part in message["content"]]
        if any(new is not old for new, old in zip(said, message["content"], strict=True)):
            return {**message, "content": said}
    return message


def _told_part(part: Any, refusals: Mapping[str, str]) -> Any:
    if not isinstance(part, Mapping):
        return part
    if part.get("type") == "tool_result" and part.get("tool_use_id") in refusals:
        return {**part, "content": _before(refusals[part["tool_use_id"]], part.get("content"), "text")}
    return part


def _told_contents(contents: list[Any], refusals: Mapping[str, str]) -> list[Any]:
    """Gemini's: calls may have no ids; then a result is of the first open call of its name."""
    waiting: list[tuple[str, str]] = []
    out = []
    for content in contents:
        parts = []
        for part in content.get("parts") or ():
            call, answer = part.get("functionCall"), part.get("functionResponse")
            if isinstance(call, Mapping):
                waiting.append((str(call.get("name")), key_of(str(call.get("name")), call.get("args"), call.get("id"))))
            if isinstance(answer, Mapping):
                names = (answer.get("id"), answer.get("name"))
                found = next((one for one in waiting if one[1] == names[0]), None)
                found = found or next((one for one in waiting if one[0] == names[1]), None)
                if found is not None:
                    waiting.remove(found)
                    if found[1] in refusals:
                        said = {"refused": refusals[found[1]], **(answer.get("response") or {})}
                        part = {**part, "functionResponse": {**answer, "response": said}}
            parts.append(part)
        same = all(new is old for new, old in zip(parts, content.get("parts") or (), strict=True))
        out.append(content if same else {**content, "parts": parts})
    return out


def _before(text: str, content: Any, kind: str) -> Any:
    if isinstance(content, list):
        return [{"type": kind, "text": text}, *content]
    return f"{text}\n\n{content}" if content else text


def masked(session: Conversation, body: Mapping[str, Any]) -> dict[str, Any]:
    """A request of the Responses API without secrets, not fitted: it goes on from a history that the provider keeps."""
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    sent, system = session.vaulted(items, body.get("instructions"))
    named = {"instructions": system} if system is not None else {}
    return session.cleaned({**body, **named, "input": sent})
