"""Rules of the `openai-chat` wire: what is broken in a history, and how it is mended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from jettison.errors import Problem
from jettison.items import Kind
from jettison.wire.base import Message, Repaired
from jettison.wire.openai_parts import INTERRUPTED, Findings, settle, without_empty_parts, word

__all__ = ["ANSWERS", "ROLES", "body_of", "check", "is_empty", "repair", "role_of"]

ROLES = {
    "system": Kind.INSTRUCTION,
    "developer": Kind.INSTRUCTION,
    "user": Kind.USER,
    "assistant": Kind.ASSISTANT,
    "tool": Kind.RESULT,
    "function": Kind.RESULT,
}
ANSWERS = frozenset({"tool", "function"})

_Placed = tuple[int, Message]
"""A message and its index in the source."""


def check(messages: Sequence[Message], start: int = 0) -> list[Problem]:
    """Shape of each message, and that each call of a batch is answered once in the run behind it."""
    found = Findings(start)
    owner, waiting, answered = -1, dict[str, int](), set[str]()
    for index in range(max(start, 0), len(messages)):
        message = messages[index]
        role = role_of(message)
        if role in ANSWERS:
            _check_answer(found, index, message, waiting, answered)
            continue
        _close(found, owner, waiting, pending=False)
        owner, waiting, answered = index, {}, set()
        if role == "assistant":
            waiting = _check_turn(found, index, message)
        elif role in ROLES:
            _check_content(found, index, message.get("content"), "structure")
        elif isinstance(message, dict):
            rule = f"role is one of {', '.join(ROLES)}"
            found.add(index, f"messages[{index}]", rule, "give the message one of these roles")
        else:
            found.add(index, f"messages[{index}]", "a message is an object", "pass a dict with a role")
    _close(found, owner, waiting, pending=True)
    return found.sorted()


def repair(messages: Sequence[Message]) -> Repaired:
    """Drop empties and orphan answers, resolve duplicates, answer dead calls; the trailing turn stays open."""
    notes: list[tuple[int, str]] = []
    kept: list[_Placed] = []
    for index, message in enumerate(messages):
        filled = _filled(message)
        if filled is not message:
            notes.append((index, "empty message dropped" if filled is None else "empty content removed"))
        if filled is not None:
            kept.append((index, filled))
    late, moved = _late(kept), set[int]()
    out: list[Message] = []
    position = 0
    while position < len(kept):
        index, message = kept[position]
        position += 1
        if role_of(message) == "tool":
            if index not in moved:
                notes.append((index, f"answer to {message.get('tool_call_id')!r} dropped: no such call before it"))
        elif role_of(message) == "assistant":
            end = position
            while end < len(kept) and role_of(kept[end][1]) in ANSWERS:
                end += 1
            out += _settled(kept[position - 1 : end], end == len(kept), late, moved, notes)
            position = end
        else:
            out.append(message)
    notes.sort(key=lambda note: note[0])
    return Repaired(out, [f"messages[{index}]: {text}" for index, text in notes])


def role_of(message: Any) -> str:
    return word(message.get("role")) if isinstance(message, dict) else ""


def body_of(call: Mapping[str, Any]) -> tuple[str, str]:
    """Where a tool call keeps its name, and the field of its arguments."""
    return ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")


def is_empty(message: Message) -> bool:
    """No content, and in an assistant message nothing that stands in for it."""
    if message.get("content") not in (None, "", []):
        return False
    stands = ("tool_calls", "function_call", "refusal", "audio")
    return role_of(message) != "assistant" or not any(message.get(field) for field in stands)


def _check_content(found: Findings, index: int, content: Any, kind: str, calls: Collection[str] = ()) -> None:
    if type(content) is not str or not content:
        found.content(index, f"messages[{index}].content", content, kind, calls)


def _check_turn(found: Findings, index: int, message: Message) -> dict[str, int]:
    """Rules of one assistant message; the calls it opens by id, the legacy one under an empty id."""
    where, content, calls = f"messages[{index}]", message.get("content"), message.get("tool_calls")
    opened: dict[str, int] = {}
    if is_empty(message):
        rule = "an assistant message has content or calls"
        found.add(index, where, rule, "drop the message or give it content")
    elif content not in (None, ""):
        stands = any(message.get(field) for field in ("tool_calls", "function_call"))
        ids = [word(call.get("id")) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        _check_content(found, index, content, "compatibility" if stands else "structure", ids)
    if legacy := message.get("function_call"):
        body = legacy if isinstance(legacy, dict) else {}
        found.arguments(index, f"{where}.function_call", body.get("arguments"), None)
        opened[""] = -1
    if calls is not None and not isinstance(calls, list):
        found.add(index, f"{where}.tool_calls", "tool_calls is a list", "pass a list of calls")
    elif calls == []:
        rule, advice = "tool_calls is left out when there are none", "leave the field out"
        found.add(index, f"{where}.tool_calls", rule, advice, "compatibility")
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        _check_call(found, index, f"{where}.tool_calls[{place}]", call)
        call_id = word(call.get("id")) if isinstance(call, dict) else ""
        if call_id in opened and call_id:
            rule, advice = "the calls of one batch have different ids", "keep one call with one answer"
            found.add(index, f"{where}.tool_calls[{place}]", rule, advice, call_id=call_id)
        elif call_id:
            opened[call_id] = place
    return opened


def _check_call(found: Findings, index: int, where: str, call: Any) -> None:
    if not isinstance(call, dict):
        found.add(index, where, "a tool call is an object", "pass a dict with id, type and function")
        return
    call_id = word(call.get("id"))
    body, field = body_of(call)
    inner = call.get(body)
    if not call_id:
        found.add(index, where, "a tool call has an id", "give it a non-empty string id")
    if not isinstance(inner, dict) or not word(inner.get("name")):
        rule = f"a tool call has a {body} with a name"
        found.add(index, where, rule, "name the tool it calls", call_id=call_id or None)
    elif body == "function":
        found.arguments(index, where, inner.get(field), call_id or None)
    elif not isinstance(inner.get(field), str):
        found.add(index, where, "custom input is a string", "pass it as text", call_id=call_id or None)


def _check_answer(found: Findings, index: int, message: Message, waiting: dict[str, int], answered: set[str]) -> None:
    """An answer has a call in the batch before its run, and is the only one to it."""
    legacy = role_of(message) == "function"
    call_id = "" if legacy else word(message.get("tool_call_id"))
    if waiting.pop(call_id, None) is not None:
        answered.add(call_id)
    else:
        _check_stray(found, index, call_id, answered, legacy)
    _check_content(found, index, message.get("content"), "compatibility")


def _check_stray(found: Findings, index: int, call_id: str, answered: set[str], legacy: bool) -> None:
    """An answer that no call waits for."""
    where = f"messages[{index}]"
    if call_id in answered:
        rule, advice = "a tool call is answered once", "keep one answer"
        found.add(index, where, rule, advice, call_id=call_id)
    elif legacy:
        rule, advice = "a function message answers the function_call before it", "drop the message"
        found.add(index, where, rule, advice, "compatibility")
    else:
        rule = "a tool message answers a call of the assistant message before its run"
        found.add(index, where, rule, "drop the message or restore its call", call_id=call_id or None)


def _close(found: Findings, owner: int, waiting: Mapping[str, int], *, pending: bool) -> None:
    """Report the calls that are still waiting when the run behind them ends."""
    for call_id, place in waiting.items():
        where = f"messages[{owner}]" + (f".tool_calls[{place}]" if call_id else ".function_call")
        if pending:
            rule, advice = "every tool call is answered before the request is sent", "append its answer"
        else:
            rule = "every tool call is answered before the next message that is not a tool message"
            advice = "put its answer right behind it"
        kind = "pending" if pending else "structure" if call_id else "compatibility"
        found.add(owner, where, rule, advice, kind, call_id or None)


def _filled(message: Message) -> Message | None:
    """The message without empty text parts; None when it is empty, itself when nothing is."""
    role = role_of(message)
    if role not in ROLES or role in ANSWERS:
        return message
    content = message.get("content")
    full = without_empty_parts(content)
    if full == [] and role == "assistant":
        full = None
    new = message if full is content else {**message, "content": full}
    return None if is_empty(new) else new


def _ids(message: Message) -> list[str]:
    """Call ids of a message by place; empty where there is none."""
    calls = message.get("tool_calls") if role_of(message) == "assistant" else None
    found = calls if isinstance(calls, list) else []
    return [word(call.get("id")) if isinstance(call, dict) else "" for call in found]


def _late(kept: Sequence[_Placed]) -> dict[tuple[int, str], _Placed]:
    """Answers that stand behind some other message, by (index of their turn, call id)."""
    batch, owner = set[str](), dict[str, int]()
    late: dict[tuple[int, str], _Placed] = {}
    for index, message in kept:
        role = role_of(message)
        if role == "tool":
            call_id = word(message.get("tool_call_id"))
            if call_id not in batch and call_id in owner:
                late.setdefault((owner[call_id], call_id), (index, message))
        elif role != "function":
            batch = {call_id for call_id in _ids(message) if call_id}
            owner |= dict.fromkeys(batch, index)
    return late


def _settled(
    run: Sequence[_Placed],
    trailing: bool,
    late: Mapping[tuple[int, str], _Placed],
    moved: set[int],
    notes: list[tuple[int, str]],
) -> list[Message]:
    """A turn and the run behind it with one call and one answer to each id."""
    (index, turn), answers = run[0], run[1:]
    ids = _ids(turn)
    results: dict[str, list[_Placed]] = {call_id: [] for call_id in ids if call_id}
    keep, added = set[int](), list[Message]()
    gone = set[int]()
    for place, message in answers:
        call_id = word(message.get("tool_call_id"))
        if role_of(message) == "function":
            keep.add(place)
        elif call_id in results:
            results[call_id].append((place, message))
        elif place not in moved:
            notes.append((place, f"answer to {call_id!r} dropped: no such call before it"))
    for call_id, found in results.items():
        calls = [place for place, other in enumerate(ids) if other == call_id]
        if len(calls) > 1 or len(found) > 1:
            notes.append((index, f"call {call_id!r}: {len(calls)} calls and {len(found)} answers, one of each kept"))
        call, result = settle(len(calls), [message.get("content") for _, message in found])
        gone.update(place for n, place in enumerate(calls) if n != call)
        if found:
            keep.add(found[result][0])
        elif (index, call_id) in late:
            place, message = late[index, call_id]
            moved.add(place)
            added.append(message)
            notes.append((place, f"answer to {call_id!r} moved behind its call at messages[{index}]"))
        elif not trailing:
            added.append({"role": "tool", "tool_call_id": call_id, "content": INTERRUPTED})
            notes.append((index, f'call {call_id!r} answered "{INTERRUPTED}"'))
    if gone:
        turn = {**turn, "tool_calls": [call for n, call in enumerate(turn["tool_calls"]) if n not in gone]}
    return [turn, *(message for place, message in answers if place in keep), *added]
