"""A minimal rule check of `openai-chat` requests, written without the library so that it can disagree with it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jettison.replay.measure.trajectory import Message, calls_of, text_of

__all__ = ["broken_rules"]


def broken_rules(request: Sequence[Message], history: Sequence[Message]) -> list[str]:
    """Rules the request breaks. What the history gave is not held against it: content, arguments, pending calls."""
    given = {id(message) for message in history}
    raw = {_arguments(call) for message in history for call in calls_of(message)}
    pending = _pending(history)
    problems: list[str] = []
    open_ids: set[str] = set()
    answered: set[str] = set()
    for at, message in enumerate(request):
        role = message.get("role")
        if role == "tool":
            call_id = str(message.get("tool_call_id"))
            if call_id in answered:
                problems.append(f"messages[{at}]: second answer to {call_id}")
            elif call_id not in open_ids:
                problems.append(f"messages[{at}]: answers no call of the turn before ({call_id})")
            answered.add(call_id)
            open_ids.discard(call_id)
        else:
            if open_ids:
                problems.append(f"messages[{at}]: calls before it are unanswered: {sorted(open_ids)}")
            ids = [str(call.get("id")) for call in calls_of(message)]
            if len(set(ids)) < len(ids):
                problems.append(f"messages[{at}]: a call id twice in one turn")
            open_ids, answered = set(ids), set()
        if id(message) not in given and message not in history:
            problems += [f"messages[{at}]: {problem}" for problem in _content(message, raw)]
    if open_ids - pending:
        problems.append(f"unanswered at the end: {sorted(open_ids)}")
    if not request:
        problems.append("no messages")
    return problems


def _arguments(call: Message) -> str:
    return str((call.get("function") or {}).get("arguments"))


def _pending(history: Sequence[Message]) -> set[str]:
    """Ids of calls that the history itself leaves unanswered at its end."""
    answered: set[str] = set()
    for message in reversed(history):
        if message.get("role") != "tool":
            return {str(call.get("id")) for call in calls_of(message)} - answered
        answered.add(str(message.get("tool_call_id")))
    return set()


def _content(message: Message, raw: set[str]) -> list[str]:
    role, problems = message.get("role"), []
    if role not in ("system", "developer", "user", "assistant", "tool"):
        problems.append(f"unknown role {role!r}")
    if calls_of(message) and role != "assistant":
        problems.append(f"calls on a message of role {role}")
    if not text_of(message).strip() and not isinstance(message.get("content"), list) and not calls_of(message):
        problems.append(f"empty {role} message")
    for call in calls_of(message):
        arguments = _arguments(call)
        if arguments in raw:
            continue
        try:
            json.loads(arguments)
        except ValueError:
            problems.append(f"arguments that do not parse: {arguments[:60]!r}")
    try:
        json.dumps(message, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError):
        problems.append("not JSON, or lone surrogates")
    return problems
