"""Rules of the `openai-responses` wire: what is broken in a history, and how it is mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jettison.errors import Problem
from jettison.wire.base import Message, Repaired
from jettison.wire.openai_parts import INTERRUPTED, Findings, settle, without_empty_parts, word

__all__ = ["CALLS", "check", "is_answer", "is_model", "key_of", "repair", "sort_of"]

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "mcp_approval_request": "arguments",
}
"""Calls that the client answers, and the field that says what they ask for."""
_ANSWERS = frozenset({f"{sort}_output" for sort in CALLS if sort.endswith("_call")} | {"mcp_approval_response"})
_ROLES = frozenset({"system", "developer", "user", "assistant"})
_ANSWERABLE = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
"""Calls to which a plain text is an answer."""
_KEPT_APART = frozenset({"mcp_approval_request", "mcp_approval_response"})


def sort_of(message: Any) -> str:
    """The element's type; `message` for the easy form with a role only; empty for what is no object."""
    if not isinstance(message, dict):
        return ""
    return word(message.get("type")) or ("message" if "role" in message else "unknown")


def is_answer(sort: str) -> bool:
    return sort in _ANSWERS


def is_model(message: Any, sort: str) -> bool:
    """Whether the model made it. Types we do not know count as the model's: they stay with their neighbours."""
    if sort == "message":
        return bool(message.get("role") == "assistant")
    return bool(sort) and sort not in _ANSWERS


def key_of(message: Message, sort: str) -> str:
    """Names the call that an element makes or answers; empty when it has no id."""
    if sort in _KEPT_APART:
        call_id = word(message.get("id" if sort == "mcp_approval_request" else "approval_request_id"))
        family = "approval"
    else:
        family = sort.removesuffix("_output")
        call_id = word(message.get("call_id"))
        if not call_id and family == "local_shell_call":
            call_id = word(message.get("id"))
    return f"{family}:{call_id}" if call_id else ""


def check(messages: Sequence[Message], start: int = 0, remote: bool = False) -> list[Problem]:
    """All broken rules of messages[start:], and every call without its output wherever it stands.

    `remote`: what came before is on the server, and may be referred to and answered.
    """
    found = Findings(start)
    waiting: dict[str, int] = {}
    answered: set[str] = set()
    thinking, referred = -1, remote
    for index, message in enumerate(messages):
        sort = sort_of(message)
        if thinking >= 0 and sort != "reasoning":
            if not is_model(message, sort):
                _stranded(found, thinking)
            thinking = -1
        if is_answer(sort):
            _check_answer(found, index, message, (waiting, answered), referred)
        elif sort in CALLS:
            _check_call(found, index, message, waiting)
        elif sort == "reasoning":
            thinking = index
            if not isinstance(message.get("summary"), list):
                rule, advice = "a reasoning item has a list `summary`, even an empty one", "add `summary: []`"
                found.add(index, f"input[{index}]", rule, advice)
        elif sort == "item_reference":
            referred = True
            if not remote:
                rule = "item_reference points at content kept on the server, which cannot be weighed or kept here"
                found.add(index, f"input[{index}]", rule, "pass the item itself")
        else:
            _check_message(found, index, message, sort)
    if thinking >= 0:
        _stranded(found, thinking)
    for key, index in waiting.items():
        if not key.startswith("approval:"):
            rule, advice = "every call has an output before the request is sent", "append its output"
            found.add(index, f"input[{index}]", rule, advice, "pending", key.partition(":")[2])
    return found.sorted()


def _stranded(found: Findings, index: int) -> None:
    rule, advice = "a reasoning item is followed by the item it led to", "drop it or restore that item"
    found.add(index, f"input[{index}]", rule, advice)


def _check_message(found: Findings, index: int, message: Any, sort: str) -> None:
    where = f"input[{index}]"
    if not sort:
        found.add(index, where, "an input item is an object", "pass a dict with a type or a role")
    elif sort == "unknown":
        found.add(index, where, "an input item has a type or a role", "give it one")
    elif sort == "message" and word(message.get("role")) not in _ROLES:
        rule = f"role is one of {', '.join(sorted(_ROLES))}"
        found.add(index, where, rule, "give the message one of these roles")
    elif sort == "message":
        found.content(index, f"{where}.content", message.get("content"))


def _check_call(found: Findings, index: int, message: Message, waiting: dict[str, int]) -> None:
    where, sort = f"input[{index}]", sort_of(message)
    key = key_of(message, sort)
    call_id = key.partition(":")[2] or None
    if not call_id:
        found.add(index, where, "a call has an id", "give it a non-empty string `call_id`")
    elif key in waiting:
        rule, advice = "no two calls with one call_id are open at the same time", "keep one call with one output"
        found.add(index, where, rule, advice, call_id=call_id)
    if sort in ("function_call", "custom_tool_call") and not word(message.get("name")):
        found.add(index, where, "a call has a name", "name the tool it calls", call_id=call_id)
    if sort == "function_call":
        found.arguments(index, where, message.get("arguments"), call_id)
    elif sort == "custom_tool_call" and not isinstance(message.get("input"), str):
        found.add(index, where, "custom input is a string", "pass it as text", call_id=call_id)
    if key:
        waiting[key] = index


def _check_answer(
    found: Findings, index: int, message: Message, calls: tuple[dict[str, int], set[str]], referred: bool
) -> None:
    """An output has a call before it and is the only one to it."""
    waiting, answered = calls
    where, sort = f"input[{index}]", sort_of(message)
    key = key_of(message, sort)
    call_id = key.partition(":")[2] or None
    if waiting.pop(key, None) is not None:
        answered.add(key)
    elif key in answered:
        found.add(index, where, "a call has exactly one output", "keep one output", call_id=call_id)
    elif referred and key:  # the call may be among what is on the server
        answered.add(key)
    else:
        rule = f"a {sort} has its {'request' if sort in _KEPT_APART else 'call'} before it"
        advice = "drop it or restore its call; where that is on the server, say with prior_tokens= what that weighs"
        found.add(index, where, rule, advice, call_id=call_id)
    if sort == "mcp_approval_response":
        if not isinstance(message.get("approve"), bool):
            found.add(index, where, "an approval response says `approve`: true or false", "add it", call_id=call_id)
    elif sort in ("function_call_output", "custom_tool_call_output"):
        _check_output(found, index, message, call_id)


def _check_output(found: Findings, index: int, message: Message, call_id: str | None) -> None:
    where, output = f"input[{index}].output", message.get("output")
    if output is None:
        found.add(index, where, "an output is a string or a list of parts", "pass one of these", call_id=call_id)
    else:
        found.content(index, where, output, "compatibility")


def repair(messages: Sequence[Message], remote: bool = False) -> Repaired:
    """Drop empties, orphan outputs and stranded reasoning, resolve duplicates, answer dead calls, add empty summaries.

    Dead is a call after whose run the conversation went on with a user message or another turn; the trailing
    ones may still be running and stay open, like approvals and calls that no text can answer.
    """
    notes: list[tuple[int, str]] = []
    kept: dict[int, Message] = {}
    for index, message in enumerate(messages):
        filled = _filled(message)
        if sort_of(message) == "reasoning" and message.get("summary") is None:
            filled = {**message, "summary": []}
            notes.append((index, "an empty summary added"))
        elif filled is not message:
            notes.append((index, "empty message dropped" if filled is None else "empty content removed"))
        if filled is not None:
            kept[index] = filled
    dead = _resolve(kept, notes, remote)
    _drop_stranded(kept, notes)
    out: list[Message] = []
    due: list[Message] = []
    fed = False
    for index, message in kept.items():
        sort = sort_of(message)
        if (fed or sort not in CALLS) and not is_answer(sort):
            out += due
            due = []
        fed = is_answer(sort)
        out.append(message)
        if index in dead:
            notes.append((index, f'call {message.get("call_id")!r} answered "{INTERRUPTED}"'))
            call_id = key_of(message, sort).partition(":")[2]
            due.append({"type": f"{sort}_output", "call_id": call_id, "output": INTERRUPTED})
    out += due
    notes.sort(key=lambda note: note[0])
    return Repaired(out, [f"input[{index}]: {text}" for index, text in notes])


def _filled(message: Message) -> Message | None:
    """The message without empty text parts; None when it is empty, itself when nothing is."""
    if sort_of(message) != "message":
        return message
    content = message.get("content")
    full = without_empty_parts(content)
    if full in (None, "", []):
        return None
    return message if full is content else {**message, "content": full}


def _resolve(kept: dict[int, Message], notes: list[tuple[int, str]], remote: bool) -> set[int]:
    """Leave one call and one output for each id, drop orphans; the indices of dead calls. `remote`: as for `check`."""
    groups: list[tuple[list[int], list[int]]] = []
    current: dict[str, tuple[list[int], list[int]]] = {}
    referred = remote
    for index, message in list(kept.items()):
        sort = sort_of(message)
        referred = referred or sort == "item_reference"
        key = key_of(message, sort) if sort in CALLS or is_answer(sort) else ""
        if sort in CALLS and key:
            if key not in current or current[key][1]:
                current[key] = ([], [])
                groups.append(current[key])
            current[key][0].append(index)
        elif key in current and key:
            current[key][1].append(index)
        elif is_answer(sort) and referred and key:
            current[key] = ([], [index])
            groups.append(current[key])
        elif is_answer(sort):
            del kept[index]
            notes.append((index, "output dropped: no such call before it"))
    silent: list[int] = []
    for calls, outputs in groups:
        call, output = settle(len(calls), [kept[index].get("output") for index in outputs])
        if len(calls) > 1 or len(outputs) > 1:
            said = f"{len(calls)} calls and {len(outputs)} outputs of one call_id, one of each kept"
            notes.append(((calls or outputs)[0], said))
        if not outputs and sort_of(kept[calls[call]]) in _ANSWERABLE:
            silent.append(calls[call])
        for index in (*calls[:call], *calls[call + 1 :], *outputs[:output], *outputs[output + 1 :]):
            del kept[index]
    last = max(kept, default=0)
    return {index for index in silent if _went_on(kept, index, last)}


def _went_on(kept: Mapping[int, Message], call: int, last: int) -> bool:
    """Whether something was said or another turn began after the run of this call."""
    fed = False
    for index in range(call + 1, last + 1):
        if index not in kept:
            continue
        message = kept[index]
        sort = sort_of(message)
        if is_answer(sort):
            fed = True
        elif fed or not is_model(message, sort):
            return True
    return False


def _drop_stranded(kept: dict[int, Message], notes: list[tuple[int, str]]) -> None:
    """Drop reasoning that the item it led to does not follow."""
    followed = False
    for index in sorted(kept, reverse=True):
        sort = sort_of(kept[index])
        if sort != "reasoning":
            followed = is_model(kept[index], sort)
        elif not followed:
            del kept[index]
            notes.append((index, "reasoning dropped: the item it led to is gone"))
