"""What Anthropic Messages refuses, and how a broken history is mended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from jettison.errors import Problem
from jettison.wire.base import Message
from jettison.wire.turns import INTERRUPTED, Built, Problems, best, blank

__all__ = ["SERVER_CALLS", "check", "repair", "role_of", "waiting"]

_ROLES = ("user", "assistant", "system")
_THINKING = ("thinking", "redacted_thinking")
_MARKS = 4
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")


def role_of(message: Any) -> str:
    """The role, "" where there is none."""
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else ""


def _type(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def _key(block: Any, field: str) -> str | None:
    value = block.get(field)
    return value if isinstance(value, str) and value else None


def _blocks(message: Any) -> list[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def _server(blocks: list[Any], open_: dict[str, tuple[int, int]], index: int) -> list[tuple[int, str]]:
    """Note calls of server tools in `open_` and strike out the answered ones; (index, id) of answers to nothing, and of
    calls with the id of one that is open."""
    strays = []
    for at, block in enumerate(blocks):
        kind = _type(block)
        if kind in SERVER_CALLS and (call := _key(block, "id")):
            if open_.setdefault(call, (index, at)) != (index, at):
                strays.append((at, call))
        elif kind.endswith("_tool_result") and (call := _key(block, "tool_use_id")) and open_.pop(call, None) is None:
            strays.append((at, call))
    return strays


def waiting(blocks: list[Any], before: Iterable[str]) -> tuple[str, ...]:
    """Server tools' calls without a result after an assistant message, those of the messages `before` it included: a
    later one goes on with this turn, be it paused, or code that waits for the client's tools."""
    open_ = dict.fromkeys(before, (0, 0))
    _server(blocks, open_, 0)
    return tuple(open_)


# ── check ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def check(messages: Sequence[Message], system: Any, start: int) -> list[Problem]:
    """All broken rules of messages[start:], in order."""
    work = _Check(messages, start)
    work.system(system)
    for index in range(start, len(messages)):
        work.message(index, messages[index])
    work.end()
    _marks(messages, system, work.problems)
    return list(work.problems)


class _Check:
    """One pass; what it remembers is which calls are still to be answered."""

    def __init__(self, messages: Sequence[Message], start: int) -> None:
        self.messages = messages
        self.problems = Problems()
        self.seen = {
            call
            for message in messages[:start]
            for block in _blocks(message)
            if _type(block) == "tool_use" and (call := _key(block, "id"))
        }
        self.first = start == 0
        self.owner = -1
        self.calls: dict[str, str] = {}
        """Calls of the running turn and their positions."""
        self.answered: set[str] = set()
        self.server: dict[str, tuple[int, int]] = {}
        self.late = self.led = False

    def system(self, system: Any) -> None:
        for at, block in enumerate(system if isinstance(system, list) else ()):
            if _type(block) == "text" and (block.get("text") is None or blank(block.get("text"))):
                self.problems.report(f"system[{at}]", "no text block is empty", "drop the block", -1)

    def message(self, index: int, message: Any) -> None:
        at, role = f"messages[{index}]", role_of(message)
        if self.first and role == "assistant":
            rule = "the first message has role user (Bedrock and some gateways)"
            self.problems.report(at, rule, "put a user message before it", index, "compatibility")
        self.first = False
        blocks = _blocks(message)
        if role != "user":
            self.close(index)
        if role != "assistant" and any(_type(block) != "tool_result" for block in blocks or [None]):
            self.close_server()
        if role not in _ROLES:
            rule = f"a message is an object with a role of {', '.join(_ROLES)}"
            self.problems.report(at, rule, "drop or correct the message", index)
            return
        if role == "assistant":
            self.owner, self.late, self.led, self.answered = index, False, False, set()
        self.content(at, index, message.get("content"))
        for part, block in enumerate(blocks):
            self.block(f"{at}.content[{part}]", index, role, block)
        if role == "assistant":
            if blocks and all(_type(block) in _THINKING for block in blocks):
                self.problems.report(at, "a message is more than thinking", "drop the message", index)
            for part, call in _server(blocks, self.server, index):
                again = not _type(blocks[part]).endswith("_tool_result")
                rule = "a server tool's " + ("call comes once" if again else "result has its call in the same message")
                self.problems.report(f"{at}.content[{part}]", rule, "drop the block", index, call_id=call)
        self.late = role == "user"
        self.led = self.led or (role == "user" and not blocks)

    def content(self, at: str, index: int, content: Any) -> None:
        if not isinstance(content, str | list):
            rule = "content is a string or a list of blocks"
            self.problems.report(f"{at}.content", rule, "make it one", index)
        elif not content or blank(content):
            self.problems.report(f"{at}.content", "no message is empty", "drop the message", index)

    def block(self, at: str, index: int, role: str, block: Any) -> None:
        kind = _type(block)
        if not kind:
            self.problems.report(at, "a block is an object with a type", "drop the block", index)
            return
        empty = kind == "text" and (not isinstance(block.get("text"), str) or blank(block["text"]))
        if empty:
            self.problems.report(at, "no text block is empty or only white space", "drop the block", index)
        if block.get("cache_control") and (empty or kind in _THINKING):
            rule = "no cache_control mark on thinking or empty text"
            self.problems.report(at, rule, "move the mark to another block", index)
        if (kind == "tool_use" or kind in _THINKING) and role != "assistant":
            self.problems.report(at, f"{kind} is in an assistant message", "drop the block", index)
        elif kind == "tool_result" and role != "user":
            self.problems.report(at, f"{kind} is in a user message", "drop the block", index)
        elif kind == "tool_use":
            self.call(at, index, block)
        elif kind == "tool_result":
            self.result(at, index, block)
        else:
            self.led = self.led or role == "user"

    def call(self, at: str, index: int, block: Message) -> None:
        call = _key(block, "id")
        if call is None or _key(block, "name") is None or not isinstance(block.get("input"), dict):
            rule = "a tool_use has an id, a name and an input that is an object"
            self.problems.report(at, rule, "complete the block", index, call_id=call)
        if call is None:
            return
        if call in self.seen:
            self.problems.report(at, "tool_use ids are unique", "give it another id", index, call_id=call)
        self.seen.add(call)
        self.calls[call] = at

    def result(self, at: str, index: int, block: Message) -> None:
        call = _key(block, "tool_use_id")
        if self.led:
            rule = "tool_result blocks come first in their message"
            self.problems.report(at, rule, "move it before the other blocks", index, call_id=call)
        if call is None or call not in self.calls:
            rule = "a tool_result answers a tool_use of the message before"
            self.problems.report(at, rule, "drop the result", index, call_id=call)
        elif call in self.answered:
            self.problems.report(at, "every tool_use has one result", "keep one of them", index, call_id=call)
        else:
            self.answered.add(call)
            if self.late:
                rule = "tool_result blocks come in the very next message"
                self.problems.report(at, rule, "merge the user messages", index, "compatibility", call)
        content = block.get("content")
        for part, inner in enumerate(content if isinstance(content, list) else ()):
            if _type(inner) == "text" and (not isinstance(inner.get("text"), str) or blank(inner["text"])):
                rule = "no text block is empty or only white space"
                self.problems.report(f"{at}.content[{part}]", rule, "drop the block", index, call_id=call)

    def close(self, index: int) -> None:
        """The turn with results is over; `index` is that of the next message, their number at the end."""
        kind = "pending" if index == len(self.messages) and not self.led else "structure"
        for call, at in self.calls.items():
            if call not in self.answered:
                rule, owner = "every tool_use is answered in the next message", self.owner
                self.problems.report(at, rule, "add its tool_result", owner, kind, call)
        self.calls = {}

    def close_server(self) -> None:
        """Something else was said: what the server has not answered it never will."""
        for call, (index, part) in self.server.items():
            rule = "a server tool's call has its result in the same message"
            at = f"messages[{index}].content[{part}]"
            self.problems.report(at, rule, "drop the call", index, call_id=call)
        self.server = {}

    def end(self) -> None:
        self.close(len(self.messages))
        index = len(self.messages) - 1
        last = self.messages[index] if self.owner >= 0 else None
        blocks = _blocks(last)
        if last is None or self.owner != index or any(_type(block) == "tool_use" for block in blocks):
            return
        if self.server:  # a paused turn: sent back as it is, the server goes on with it
            return
        rule, mend = "newer models refuse a trailing assistant message", "append a user message"
        self.problems.report(f"messages[{index}]", rule, mend, index, "compatibility")
        text = last.get("content")
        if blocks:
            text = blocks[-1].get("text") if isinstance(blocks[-1], dict) else None
        if isinstance(text, str) and text != text.rstrip():
            rule = "a trailing assistant message does not end in white space"
            self.problems.report(f"messages[{index}]", rule, "strip it", index, "compatibility")


def _marks(messages: Sequence[Message], system: Any, problems: Problems) -> None:
    places = [(f"system[{at}]", -1) for at, block in enumerate(_list(system)) if _marked(block)]
    for index, message in enumerate(messages):
        for at, block in enumerate(_blocks(message)):
            if not isinstance(block, dict):
                continue
            where = f"messages[{index}].content[{at}]"
            places += [(where, index)] * _marked(block)
            if _type(block) == "tool_result":
                inner = _list(block.get("content"))
                places += [(f"{where}.content[{i}]", index) for i, one in enumerate(inner) if _marked(one)]
    if len(places) > _MARKS:
        rule = f"at most {_MARKS} cache_control marks, here are {len(places)}"
        problems.report(places[_MARKS][0], rule, "remove marks", places[_MARKS][1])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _marked(block: Any) -> bool:
    return isinstance(block, dict) and bool(block.get("cache_control"))


# ── repair ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_Found = tuple[int, int, Any]  # index of the message, of the block, the block


def repair(messages: Sequence[Message]) -> tuple[list[Built], list[str]]:
    """Mended messages with the index of their source, and a note for each thing that was done."""
    work = _Repair(messages)
    return list(work.run()), work.notes


class _Repair:
    """Results are put behind their calls; what is left over of each message follows them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.notes: list[str] = []
        self.messages = messages = list(_renamed(messages, self.notes))
        self.halves = _halves(messages)
        self.results: dict[int, dict[str, list[_Found]]] = {}
        """Of each message with calls: each call's results, wherever they are behind it."""
        self.tail = len(messages) - 1
        """The message after which there is nothing but results: its open calls are pending, not dead."""
        while self.tail >= 0 and _only_results(messages[self.tail]):
            self.tail -= 1
        owners: dict[str, int] = {}
        for index, message in enumerate(messages):
            for at, block in enumerate(_blocks(message) if role_of(message) in _ROLES else ()):
                if _type(block) == "tool_use" and role_of(message) == "assistant" and (call := _key(block, "id")):
                    owners[call] = index
                    self.results.setdefault(index, {})[call] = []
                elif _type(block) == "tool_result":
                    self.find((index, at, block), owners)

    def find(self, found: _Found, owners: dict[str, int]) -> None:
        call = _key(found[2], "tool_use_id")
        if call is None or call not in owners:
            self.notes.append(f"{_at(found)}: result of no call dropped (call {call})")
        else:
            self.results[owners[call]][call].append(found)

    def run(self) -> Iterator[Built]:
        owner = -1
        for index, message in enumerate(self.messages):
            role = role_of(message)
            if role != "user" and owner >= 0:
                yield owner, {"role": "user", "content": self.answers(owner)}, []
                owner = -1
            if role not in _ROLES:
                yield index, message, []
                continue
            mended = self.mend(index, message, self.answers(owner) if owner >= 0 else [])
            owner = index if index in self.results and index + 1 < len(self.messages) else -1
            if mended is not None:
                yield index, mended, []

    def answers(self, owner: int) -> list[Any]:
        """One result for each call of message `owner`: those that are there in their order, then made ones."""
        found: list[_Found] = []
        dead: list[Any] = []
        for call, results in self.results[owner].items():
            if not results and owner == self.tail:
                continue
            if not results:
                dead.append({"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED, "is_error": True})
                self.notes.append(f"messages[{owner}]: dead call {call} answered with {INTERRUPTED!r}")
                continue
            keep = best(results, lambda one: str(one[2].get("content") or ""), lambda one: bool(one[2].get("is_error")))
            found.append(keep)
            if keep[0] != owner + 1:
                self.notes.append(f"{_at(keep)}: late result moved behind its call {call}")
            self.notes += [f"{_at(one)}: second result dropped (call {call})" for one in results if one is not keep]
        return [block for _, _, block in sorted(found, key=lambda one: one[:2])] + dead

    def mend(self, index: int, message: Message, front: list[Any]) -> Message | None:
        """The message with these results first and without empty text; None when nothing is left."""
        content = message.get("content")
        if not isinstance(content, list):
            empty = content is None or blank(content)
            if empty:
                self.notes.append(f"messages[{index}]: empty content dropped")
            if not front:
                return None if empty else message
            return {**message, "content": front + ([] if empty else [{"type": "text", "text": content}])}
        rest = []
        for part, block in enumerate(content):
            if _type(block) == "text" and (block.get("text") is None or blank(block["text"])):
                self.notes.append(f"messages[{index}].content[{part}]: empty text block dropped")
            elif (half := self.halves.get((index, part))) is not None:
                self.notes.append(f"messages[{index}].content[{part}]: {half}")
            elif _type(block) != "tool_result":
                rest.append(block)
        blocks = front + rest
        if blocks and all(_type(one) in _THINKING for one in blocks):
            self.notes.append(f"messages[{index}]: message of nothing but thinking dropped")
            return None
        old, new = [id(one) for one in content], [id(one) for one in blocks]
        if new == old and content:
            return message
        if not content:
            self.notes.append(f"messages[{index}]: empty message dropped")
        elif sorted(new) == sorted(old):
            self.notes.append(f"messages[{index}]: results moved to the front")
        return {**message, "content": blocks} if blocks else None


def _halves(messages: Sequence[Message]) -> dict[tuple[int, int], str]:
    """Server tools' calls that never got a result and results without a call, by place; what was done about each. The
    server still goes on with calls that nothing but results came after."""
    halves: dict[tuple[int, int], str] = {}
    open_: dict[str, tuple[int, int]] = {}
    for index, message in enumerate(messages):
        if role_of(message) == "assistant":
            for part, call in _server(_blocks(message), open_, index):
                again = not _type(_blocks(message)[part]).endswith("_tool_result")
                what = "call that is there before" if again else "result without its call"
                halves[index, part] = f"server tool's {what} dropped (call {call})"
        elif not _only_results(message):
            for call, place in open_.items():
                halves[place] = f"server tool's call without a result dropped (call {call})"
            open_ = {}
    return halves


def _renamed(messages: Sequence[Message], notes: list[str]) -> Iterator[Message]:
    """The messages with another id for each call whose id an earlier one has, and for its results, which are those
    behind it. Of calls with one id in one message the first takes the first result."""
    seen: set[str] = set()
    names: dict[str, list[str]] = {}
    for index, message in enumerate(messages):
        new: dict[int, Message] = {}
        own: dict[str, list[str]] = {}
        for part, block in enumerate(_blocks(message) if role_of(message) in _ROLES else ()):
            if _type(block) == "tool_use" and role_of(message) == "assistant" and (call := _key(block, "id")):
                name = next(one for one in _variants(call) if one not in seen)
                seen.add(name)
                own.setdefault(call, []).append(name)
                if name != call:
                    new[part] = {**block, "id": name}
                    notes.append(f"messages[{index}].content[{part}]: the id {call} was used before, now {name}")
            elif _type(block) == "tool_result" and (known := names.get(_key(block, "tool_use_id") or "")):
                name = known.pop(0) if len(known) > 1 else known[0]
                if name != block["tool_use_id"]:
                    new[part] = {**block, "tool_use_id": name}
        names.update(own)
        if new:
            message = {**message, "content": [new.get(part, block) for part, block in enumerate(_blocks(message))]}
        yield message


def _variants(call: str) -> Iterator[str]:
    """The id, then others like it."""
    yield call
    for number in count(2):
        yield f"{call}_{number}"


def _only_results(message: Any) -> bool:
    blocks = _blocks(message)
    return role_of(message) == "user" and bool(blocks) and all(_type(block) == "tool_result" for block in blocks)


def _at(found: _Found) -> str:
    return f"messages[{found[0]}].content[{found[1]}]"
