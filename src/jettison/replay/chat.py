"""Any wire's history as chat messages, so that one set of definitions measures them all.

What a later call needs is looked for in text of role user and tool; what has no text (media, sealed reasoning)
keeps its tokens. The policy under test is never given this form, it is given the history on its own wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jettison.errors import InvalidInput
from jettison.items import Item, Kind
from jettison.replay.measure.trajectory import WEIGHT, Message, Native, Trajectory, count
from jettison.replay.readers import Recorded
from jettison.wire import wire_named

__all__ = ["as_chat", "trajectory_of"]

_ACTS = (Kind.ASSISTANT, Kind.CALL, Kind.REASONING)


def trajectory_of(recorded: Recorded, set_name: str, number: int = 1) -> Trajectory:
    """What is measured of a recorded history. Raises InvalidInput when it breaks its wire's rules beyond repair."""
    wire = wire_named(recorded.wire)
    messages, notes = recorded.messages, recorded.notes
    if _broken(recorded, messages):
        fixed = wire.repair(messages)
        messages, notes = list(fixed.messages), (*notes, *(f"repaired: {note}" for note in fixed.notes))
        if broken := _broken(recorded, messages):
            raise InvalidInput(broken)
    name = recorded.id or recorded.name or str(number)
    task = f"{set_name}/{recorded.task or name}"
    if recorded.wire == "openai-chat":
        chat, native = messages, None
    else:
        chat, native = as_chat(recorded.wire, messages, recorded.system)
    if not any(message.get("role") == "assistant" for message in chat):
        raise InvalidInput("no turn of an assistant: there is no call to measure")
    return Trajectory(name, set_name, task, chat, native, recorded.tools, recorded.model, tuple(notes))


def _broken(recorded: Recorded, messages: Sequence[Message]) -> list[Any]:
    problems = wire_named(recorded.wire).check(messages, system=recorded.system)
    return [problem for problem in problems if problem.kind == "structure"]


def as_chat(wire: str, messages: Sequence[Message], system: Any = None) -> tuple[list[Message], Native]:
    """(chat messages, where they come from). The start of a history gives the start of the result."""
    reader = wire_named(wire)
    records, cursors = reader.parse(messages)
    chat: list[Message] = []
    origins: list[int] = []
    points: dict[int, int] = {}
    if system is not None:
        text = "\n".join(item.text for item in reader.parse_system(system))
        chat.append({"role": "system", "content": text})
        origins.append(-1)
    turn, step = -1, 0
    for at, (record, cursor) in enumerate(zip(records, cursors, strict=True)):
        acts = [item for item in record if _side(item) == "assistant"]
        if acts:
            if cursor.step != step or turn < 0:
                turn, step = len(chat), cursor.step
                points[turn] = at
                chat.append({"role": "assistant", "content": ""})
                origins.append(at)
            _say(chat[turn], acts)
        for message in _others([item for item in record if _side(item) != "assistant"]):
            chat.append(message)
            origins.append(at)
    for message in chat:
        if message["role"] == "assistant" and not message["content"] and message.get("tool_calls"):
            message["content"] = None
    return chat, Native(wire, list(messages), system, points, tuple(origins))


def _side(item: Item) -> str:
    if item.kind in _ACTS or item.role in ("assistant", "model"):
        return "assistant"
    return "tool" if item.kind is Kind.RESULT else "system" if item.kind is Kind.INSTRUCTION else "user"


def _say(message: Message, items: Sequence[Item]) -> None:
    """Add what an assistant did to its turn."""
    for item in items:
        if item.kind is Kind.CALL:
            function = {"name": item.name or "", "arguments": item.text}
            call = {"id": item.call_id or item.id, "type": "function", "function": function}
            message.setdefault("tool_calls", []).append(call)
        elif item.kind is Kind.ASSISTANT:
            message["content"] = f"{message['content']}\n{item.text}" if message["content"] else item.text
        else:
            _weigh(message, item)


def _others(items: Sequence[Item]) -> list[Message]:
    """Messages of one record: a message a result, one for what the user said; text of what has text."""
    made: list[Message] = []
    for item in items:
        side = _side(item)
        last = made[-1] if made else None
        if side == "tool" and not (last and last.get("tool_call_id") == (item.call_id or "")):
            made.append({"role": "tool", "tool_call_id": item.call_id or "", "content": item.text})
        elif side != "tool" and not (last and last["role"] == side):
            made.append({"role": side, "content": item.text})
        elif last and item.text:
            last["content"] = f"{last['content']}\n{item.text}" if last["content"] else item.text
        if item.kind in (Kind.MEDIA, Kind.OPAQUE):
            _weigh(made[-1], item)
    return made


def _weigh(message: Message, item: Item) -> None:
    """Tokens of what is not text for the measure."""
    weight = count(item.text) + count(item.extra) + (item.fixed if item.kind is Kind.MEDIA else 0)
    message[WEIGHT] = message.get(WEIGHT, 0) + weight
