"""What Gemini refuses, how a broken history is mended, and its two spellings of every field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from jettison.errors import Problem
from jettison.wire.base import Message, json_text
from jettison.wire.turns import INTERRUPTED, Built, Problems, best, blank

__all__ = [
    "SIGNATURE",
    "check",
    "field_of",
    "get",
    "is_user",
    "kind_of",
    "noted",
    "parts_of",
    "repair",
    "response_text",
    "role_of",
    "says",
    "take",
]

SIGNATURE = ("thoughtSignature", "thought_signature")
_OBJECTS = ("functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult")
_SNAKE = {
    name: re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)
    for name in (*_OBJECTS, "thoughtSignature", "mimeType", "fileUri", "displayName")
}
_REPLIES = ("output", "result", "error")
"""Keys of a response that Gemini documents, and what agents write."""

Call = tuple[str, str]
"""(call id, tool name)."""


def get(value: Any, field: str) -> Any:
    """A field in either spelling, None where it is absent."""
    if not isinstance(value, dict):
        return None
    found = value.get(field)
    return value.get(_SNAKE.get(field, field)) if found is None else found


def role_of(content: Any) -> str:
    """The role; a content without one is the user's."""
    role = (content.get("role") or "user") if isinstance(content, dict) else None
    return role if isinstance(role, str) else ""


def is_user(role: str) -> bool:
    """Whether it is the side that is not the model."""
    return role in ("user", "function")


def parts_of(content: Any) -> list[Any] | None:
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else None


def kind_of(part: Any) -> str:
    """Which field says what the part is, in camel case; "" where none does."""
    for kind in _OBJECTS:
        if isinstance(get(part, kind), dict):
            return kind
    return "text" if isinstance(part, dict) and isinstance(part.get("text"), str) else ""


def field_of(part: Any, kind: str) -> Message:
    """The object under `kind`, {} where it is none."""
    value = get(part, kind)
    return value if isinstance(value, dict) else {}


def says(part: Any) -> bool:
    """Whether a content may consist of this part alone: not thought, not empty."""
    if get(part, "thought") is True:
        return False
    return kind_of(part) != "text" or not blank(part["text"])


def take(part: Any, open_: list[Call], calls: Sequence[Call]) -> Call:
    """The call that a response answers: by id, else the first open one of its name, else the first open one."""
    value = field_of(part, "functionResponse")
    own, name = value.get("id"), value.get("name")
    call: Call | None = None
    if isinstance(own, str) and own:
        call = next((one for one in (*open_, *calls) if one[0] == own), None)
        if call is None and not any(one[0].startswith("#") for one in open_):
            return own, ""
    if call is None:
        named = [one for one in open_ if one[1] == name] if isinstance(name, str) else []
        call = next(iter(named or open_), None)
    if call is None:
        return (own if isinstance(own, str) and own else f"#{len(calls)}"), ""
    if call in open_:
        open_.remove(call)
    return call


def response_text(value: Message) -> tuple[str, str]:
    """(key, text) of a response: the string under its one known key, else ("", JSON of all of it)."""
    response = value.get("response")
    if isinstance(response, dict) and len(response) == 1:
        key, text = next(iter(response.items()))
        if key in _REPLIES and isinstance(text, str):
            return key, text
    return "", "" if response is None else json_text(response)


def noted(response: Any, notes: list[str]) -> Message:
    """The response with notes on what was nested in it."""
    base = response if isinstance(response, dict) else {} if response is None else {"output": response}
    return {**base, "omitted": "\n".join(notes)}


# ── check ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def check(contents: Sequence[Message], start: int) -> list[Problem]:
    """All broken rules of contents[start:], in order."""
    problems = Problems()
    calls: list[tuple[Call, str]] = []
    for index in range(start, len(contents)):
        content, at = contents[index], f"contents[{index}]"
        role, parts = role_of(content), parts_of(content)
        if index == 0 and role == "model":
            problems.report(at, "contents begin with a user turn", "put a user content before it", index)
        if not (is_user(role) or role == "model") or parts is None:
            rule = "a content is an object with role user or model and a list of parts"
            problems.report(at, rule, "drop or correct it", index)
        elif not parts:
            problems.report(at, "no content is empty", "drop it", index)
        for part, one in enumerate(parts or ()):
            _check_part(f"{at}.parts[{part}]", index, role, one, problems)
        grade = "pending" if index == len(contents) - 1 and _only_responses(content) else "structure"
        _check_answers(index, role, parts or [], calls, problems, grade)
        calls = _check_calls(index, role, parts or [], contents, problems)
    for (call, _), at in calls:
        rule = "every functionCall is answered in the next content"
        problems.report(at, rule, "add its functionResponse", len(contents) - 1, "pending", call)
    return list(problems)


def _check_part(at: str, index: int, role: str, part: Any, problems: Problems) -> None:
    if not isinstance(part, dict):
        problems.report(at, "a part is an object", "drop the part", index)
        return
    kind = kind_of(part)
    if kind == "text" and get(part, "thoughtSignature") is None and blank(part["text"]):
        grade = "compatibility" if part["text"] else "structure"
        problems.report(at, "no text part is empty", "drop the part", index, grade)
    if kind in ("functionCall", "functionResponse"):
        wanted = "model" if kind == "functionCall" else "user"
        if (role == "model") != (wanted == "model"):
            problems.report(at, f"a {kind} is in a {wanted} content", "drop the part", index)
        if not isinstance(field_of(part, kind).get("name"), str):
            problems.report(at, f"a {kind} has a name", "name the function", index)


def _check_calls(
    index: int, role: str, parts: list[Any], contents: Sequence[Message], problems: Problems
) -> list[tuple[Call, str]]:
    """The calls of this content, and whether they may stand here."""
    places = [at for at, part in enumerate(parts) if role == "model" and kind_of(part) == "functionCall"]
    calls = [(call, f"contents[{index}].parts[{at}]") for call, at in zip(_calls(parts, role), places, strict=True)]
    seen: set[str] = set()
    for (call, _), at in calls:
        if call in seen:
            problems.report(at, "call ids are unique in a turn", "give it another id", index, call_id=call)
        seen.add(call)
    if calls and index and not is_user(role_of(contents[index - 1])):
        rule = "a function-call turn follows a user or function-response turn"
        problems.report(calls[0][1], rule, "join it to the content before it", index)
    return calls


def _check_answers(
    index: int, role: str, parts: list[Any], calls: list[tuple[Call, str]], problems: Problems, grade: str
) -> None:
    """As many responses as calls in the content before, one for each."""
    known = [call for call, _ in calls]
    open_ = list(known)
    for at, part in enumerate(parts):
        if not is_user(role) or kind_of(part) != "functionResponse":
            continue
        before = len(open_)
        call = take(part, open_, known)
        if len(open_) == before:
            twice = call in known
            rule = "every call has one response" if twice else "a functionResponse answers a call of the content before"
            mend = "keep one of them" if twice else "drop the response"
            problems.report(f"contents[{index}].parts[{at}]", rule, mend, index, call_id=call[0])
    for (call_id, name), place in calls:
        if (call_id, name) in open_:
            open_.remove((call_id, name))
            rule = "every functionCall is answered in the next content"
            problems.report(place, rule, "add its functionResponse", index - 1, grade, call_id)


def _calls(parts: list[Any], role: str) -> list[Call]:
    calls: list[Call] = []
    for part in parts if role == "model" else ():
        if kind_of(part) == "functionCall":
            value = field_of(part, "functionCall")
            own, name = value.get("id"), value.get("name")
            calls.append(
                (own if isinstance(own, str) and own else f"#{len(calls)}", name if isinstance(name, str) else "")
            )
    return calls


# ── repair ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_Found = tuple[int, int, Any]  # index of the content, of the part, the part


def repair(contents: Sequence[Message]) -> tuple[list[Built], list[str]]:
    """Mended contents with the index of their source, and a note for each thing that was done."""
    work = _Repair(contents)
    return list(work.run()), work.notes


class _Repair:
    """Responses are put behind their calls; what is left over of each content follows them."""

    def __init__(self, contents: Sequence[Message]) -> None:
        self.notes: list[str] = []
        self.joined: set[int] = set()
        """Contents whose parts went into the next one."""
        self.contents = contents = self.gathered(contents)
        self.calls = {
            i: calls for i, one in enumerate(contents) if (calls := _calls(parts_of(one) or [], role_of(one)))
        }
        self.found: dict[int, list[list[_Found]]] = {i: [[] for _ in calls] for i, calls in self.calls.items()}
        """Of each content with calls: each call's responses, wherever they are behind it."""
        self.tail = len(contents) - 1
        """The content after which there is nothing but its responses: its open calls are pending, not dead."""
        while self.tail >= 0 and _only_responses(contents[self.tail]):
            self.tail -= 1
        latest: dict[str, int] = {}
        asked, open_ = -1, list[Call]()  # the model's last content, and which of its calls have no response yet
        for index, content in enumerate(contents):
            for call, _ in self.calls.get(index, ()):
                latest[call] = index
            for at, part in enumerate(parts_of(content) or ()):
                if kind_of(part) == "functionResponse":
                    self.find((index, at, part), latest, asked, open_)
            if not is_user(role_of(content)):
                asked, open_ = index, list(self.calls.get(index, ()))

    def gathered(self, contents: Sequence[Message]) -> list[Message]:
        """The contents, a turn with calls as one: what the model said in those right before it is put into it. Calls
        are only where the responses that follow are as many; else they are dead, and answered where they stand."""
        out = list(contents)
        for index, here in enumerate(contents):
            calls = len(_calls(parts_of(here) or [], role_of(here)))
            at = index - 1
            while calls and at >= 0 and at not in self.joined and role_of(out[at]) == "model":
                if parts_of(out[at]) is None:
                    break
                own = len(_calls(parts_of(out[at]) or [], "model"))
                calls += own
                if own and calls > _responses(contents, index + 1):
                    break
                out[index] = {**here, "parts": [*(parts_of(out[at]) or ()), *(parts_of(out[index]) or ())]}
                self.joined.add(at)
                self.notes.append(f"contents[{at}]: joined to contents[{index}], a turn with calls is one content")
                at -= 1
        return out

    def find(self, found: _Found, latest: dict[str, int], asked: int, open_: list[Call]) -> None:
        """Ids are looked up in all contents before; a response without one belongs to what the model said last, though
        a batch's responses may come one a content."""
        owner = asked
        own = field_of(found[2], "functionResponse").get("id")
        if isinstance(own, str) and own in latest:
            owner = latest[own]
        calls = self.calls.get(owner, [])
        before = len(open_)
        call = take(found[2], open_ if owner == asked else list(calls), calls)
        places = [at for at, one in enumerate(calls) if one == call]
        if not places or (len(open_) == before and own != call[0]):
            self.notes.append(f"{_at(found)}: response to no call dropped (call {call[0]})")
            return
        place = next((at for at in places if not self.found[owner][at]), places[-1])
        self.found[owner][place].append(found)

    def run(self) -> Iterator[Built]:
        owner = -1
        for index, content in enumerate(self.contents):
            if index in self.joined:
                continue
            role, parts = role_of(content), parts_of(content)
            if owner >= 0 and not is_user(role):
                yield owner, {"role": "user", "parts": self.answers(owner)}, []
                owner = -1
            if not (is_user(role) or role == "model") or (parts is None and content.get("parts") is not None):
                if owner >= 0:
                    yield owner, {"role": "user", "parts": self.answers(owner)}, []
                owner = -1
                yield index, content, []
                continue
            mended = self.mend(index, content, parts or [], self.answers(owner) if owner >= 0 else [])
            owner = index if index in self.calls and index + 1 < len(self.contents) else -1
            if mended is not None:
                yield index, mended, []

    def answers(self, owner: int) -> list[Any]:
        """One response for each call of content `owner`: those that are there in their order, then made ones."""
        kept: list[_Found] = []
        dead: list[Any] = []
        for (call, name), found in zip(self.calls[owner], self.found[owner], strict=True):
            if not found and owner == self.tail:
                continue
            if not found:
                shown = {} if call.startswith("#") else {"id": call}
                dead.append({"functionResponse": {**shown, "name": name, "response": {"error": INTERRUPTED}}})
                self.notes.append(f"contents[{owner}]: dead call {call} answered with {INTERRUPTED!r}")
                continue
            keep = best(found, lambda one: _reply(one)[1], lambda one: _reply(one)[0] == "error")
            kept.append(keep)
            if keep[0] != owner + 1:
                self.notes.append(f"{_at(keep)}: late response moved behind its call {call}")
            self.notes += [f"{_at(one)}: second response dropped (call {call})" for one in found if one is not keep]
        return _arranged([part for _, _, part in sorted(kept, key=lambda one: one[:2])] + dead, self.calls[owner])

    def mend(self, index: int, content: Message, parts: list[Any], front: list[Any]) -> Message | None:
        """The content with these responses first and without empty text; None when nothing is left."""
        rest = []
        for at, part in enumerate(parts):
            if kind_of(part) == "text" and blank(part["text"]) and get(part, "thoughtSignature") is None:
                self.notes.append(f"contents[{index}].parts[{at}]: empty text part dropped")
            elif kind_of(part) != "functionResponse":
                rest.append(part)
        new = front + rest
        old_ids, new_ids = [id(one) for one in parts], [id(one) for one in new]
        if old_ids == new_ids and parts:
            return content
        if not parts:
            self.notes.append(f"contents[{index}]: empty content dropped")
        elif sorted(old_ids) == sorted(new_ids):
            self.notes.append(f"contents[{index}]: responses moved to the front")
        return {**content, "parts": new} if any(map(says, new)) else None


def _arranged(responses: list[Any], calls: Sequence[Call]) -> list[Any]:
    """The responses as they stand where each finds its call so, else those that name a call before the others."""
    open_ = list(calls)
    for left, part in zip(range(len(open_), 0, -1), responses, strict=False):
        take(part, open_, calls)
        if len(open_) == left:
            named = [call for call, _ in calls]
            return sorted(responses, key=lambda one: field_of(one, "functionResponse").get("id") not in named)
    return responses


def _responses(contents: Sequence[Message], start: int) -> int:
    """How many responses the contents from `start` on have, up to the model's next one."""
    count = 0
    for content in takewhile(lambda one: is_user(role_of(one)), contents[start:]):
        count += sum(kind_of(part) == "functionResponse" for part in parts_of(content) or ())
    return count


def _only_responses(content: Any) -> bool:
    parts = parts_of(content)
    return is_user(role_of(content)) and bool(parts) and all(kind_of(one) == "functionResponse" for one in parts or ())


def _at(found: _Found) -> str:
    return f"contents[{found[0]}].parts[{found[1]}]"


def _reply(found: _Found) -> tuple[str, str]:
    return response_text(field_of(found[2], "functionResponse"))
