"""smolagents messages as Chat Completions dicts, and the fitted ones back on the messages they came from.

smolagents writes calls and their results as text ("Calling tools:\\n[…]", "Observation:\\n…"); here they are calls and
results again, so that a result is known by what asked for it. A message that was not changed comes back as the same
object.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from jettison.integrations.common import missing
from jettison.plan import Fitted

try:
    from smolagents.models import ChatMessage, MessageRole
    from smolagents.utils import encode_image_base64, make_image_url
except ImportError as error:
    raise missing("smolagents", "smolagents") from error

__all__ = ["Placed", "from_fitted", "to_wire"]

_CALLING, _SEEN = "Calling tools:\n", "Observation:\n"
"""What smolagents writes before the calls and the results of a step (`ActionStep.to_messages`)."""
_LOGS, _NONE = "Execution logs:\n", "\nLast output from code snippet:\nNone"
"""What a `CodeAgent` writes around what its code printed, where the code has no value of its own."""
_AGENT = ("assistant", "tool-call")
_LINES = 40
"""Lines of results that may be one each; parallel calls are fewer."""
_PARSED = 4_096
"""Texts of calls whose parsed form is remembered: every one comes again at each model call."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Dicts, and the index of the message that each came from."""

    messages: list[dict[str, Any]]
    places: list[int]


def to_wire(messages: Sequence[Any]) -> Placed:
    """The messages as Chat Completions dicts, for weighing and deciding; never sent as such.

    What the agent said before its calls is one turn with them, and what follows (results, errors, pictures) answers it.
    The results of parallel calls, which smolagents joins, are several again where it is clear which is whose; else the
    calls are one.
    """
    owners = _owners(messages)
    answers: dict[int, list[int]] = {}
    for at, owner in owners.items():
        answers.setdefault(owner, []).append(at)
    out = Placed([], [])
    for at, message in enumerate(messages):
        role = _role(message)
        if at in answers:
            said = messages[at - 1] if _speaks(messages, at) else message if role == "assistant" else None
            text = _content(said) if said is not None else ""
            _add(out, at, {"role": "assistant", "content": text if text != " " and text else None})
            out.messages[-1]["tool_calls"] = _calls(message, [(to, messages[to]) for to in answers[at]])
        elif at + 1 in answers and _speaks(messages, at + 1):
            continue
        elif at in owners:
            owner = owners[at]
            texts = _texts(messages[owner], message) if at == answers[owner][0] else [_content(message)]
            for place, text in enumerate(texts):
                _add(out, at, {"role": "tool", "tool_call_id": f"c{at}.{place}", "content": text})
        else:
            sort = "assistant" if role in _AGENT else "system" if role == "system" else "user"
            _add(out, at, {"role": sort, "content": _content(message)})
    return out


def from_fitted(fitted: Fitted, wire: Placed, messages: Sequence[Any]) -> list[Any]:
    """The smolagents messages that the fitted dicts stand for. `wire`: what `to_wire` made of them."""
    whole = Counter(wire.places)
    out: list[Any] = []
    pairs = zip(fitted.sources, fitted.messages, strict=True)
    for at, group in groupby(pairs, lambda pair: wire.places[pair[0]] if pair[0] >= 0 else -1):
        given = list(group)
        if at < 0:
            texts = [{"type": "text", "text": message["content"]} for _, message in given]
            out.append(ChatMessage(MessageRole.USER, texts))
            continue
        speaks = _speaks(messages, at) and bool(wire.messages[given[0][0]].get("tool_calls"))
        first = at - 1 if speaks else at
        if len(given) == whole[at] and all(message == wire.messages[source] for source, message in given):
            out += messages[first : at + 1]
            continue
        for place in range(first, at + 1):
            kept = [message for _, message in given]
            if speaks and place == at:
                kept = [{**kept[0], "content": None}]
            if (content := _restored(messages[place], kept)) is not None:
                out.append(_with(messages[place], content))
    return out


def _add(out: Placed, at: int, message: dict[str, Any]) -> None:
    out.messages.append(message)
    out.places.append(at)


def _owners(messages: Sequence[Any]) -> dict[int, int]:
    """For each answer the message of the agent's that it answers."""
    owners: dict[int, int] = {}
    owner = None
    for at, message in enumerate(messages):
        role = _role(message)
        if role in _AGENT:
            owner = at
        elif owner is not None and (role == "tool-response" or (role == "user" and _pictures(message))):
            owners[at] = owner
        else:
            owner = None
    return owners


def _speaks(messages: Sequence[Any], at: int) -> bool:
    """Whether the message before the calls at that index is what the agent said with them."""
    return at > 0 and _role(messages[at]) == "tool-call" and _role(messages[at - 1]) == "assistant"


def _read(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name)


def _role(message: Any) -> str:
    return str(getattr(role := _read(message, "role"), "value", role))


def _parts(message: Any) -> list[Any]:
    content = _read(message, "content")
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _pictures(message: Any) -> bool:
    parts = _parts(message)
    return bool(parts) and all(part["type"] == "image" for part in parts)


def _frame(message: Any) -> tuple[str, str]:
    """What smolagents put before and behind the text of a result."""
    parts = _parts(message)
    if len(parts) != 1 or parts[0]["type"] != "text" or _role(message) != "tool-response":
        return "", ""
    text = parts[0]["text"]
    for head, tail in ((_SEEN + _LOGS, _NONE), (_SEEN, "")):
        if text.startswith(head) and text.endswith(tail) and len(text) >= len(head) + len(tail):
            return head, tail
    return "", ""


def _content(message: Any) -> Any:
    """The text alone; with pictures or several texts, parts that know their place."""
    parts, (head, tail) = _parts(message), _frame(message)
    if len(parts) == 1 and parts[0]["type"] == "text":
        text = parts[0]["text"]
        return text[len(head) : len(text) - len(tail)] or " "
    return [{**_part(part), "id": str(place)} for place, part in enumerate(parts)]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part["type"] == "image":
        return {"type": "image_url", "image_url": {"url": make_image_url(encode_image_base64(part["image"]))}}
    return dict(part)


def _calls(message: Any, answers: Sequence[tuple[int, Any]]) -> list[dict[str, Any]]:
    """What a step called, a call for each answer. The first answer is that of its tools."""
    at, first = answers[0]
    made = _made(_text(message)) if _role(message) == "tool-call" else None
    texts = len(_texts(message, first))
    if made is None:
        listed: list[tuple[str, Any]] = [("tools", {"text": _text(message)} if _role(message) == "tool-call" else {})]
    elif len(made) in (1, texts):
        listed = [(name, _object(arguments)) for name, arguments in made]
        listed += [(listed[0][0], {})] * (texts - len(listed))  # one piece of code that printed several
    else:
        names = dict.fromkeys(name for name, _ in made)
        listed = [("_".join(names), {"calls": [_object(arguments) for _, arguments in made]})]
    calls = [_call(f"c{at}.{place}", *call, place) for place, call in enumerate(listed)]
    return calls + [_call(f"c{to}.0", "tools", {}, -1) for to, _ in answers[1:]]


def _call(ident: str, name: str, arguments: Any, place: int) -> dict[str, Any]:
    body = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": ident, "type": "function", "function": body, "index": place}


def _texts(message: Any, answer: Any) -> list[Any]:
    """What the tools of a step answered: a text for each call, or for each line of JSON; where it is not clear, one."""
    content = _content(answer)
    made = _made(_text(message)) if _role(message) == "tool-call" else None
    if made is None or not isinstance(content, str) or content.count("\n") >= _LINES:
        return [content]
    lines = content.split("\n")
    if len(lines) < 2 or not all(map(str.strip, lines)):
        return [content]
    clear = len(lines) == len(made) or (len(made) == 1 and all(line[0] == "{" and line[-1] == "}" for line in lines))
    return lines if clear else [content]


def _text(message: Any) -> str:
    parts = _parts(message)
    return str(parts[0].get("text", "")) if parts else ""


def _object(arguments: Any) -> Any:
    return arguments if isinstance(arguments, dict) else {"input": arguments}


@lru_cache(maxsize=_PARSED)
def _made(text: str) -> tuple[tuple[str, Any], ...] | None:
    """Names and arguments in the text of a step's calls; None when it is not smolagents' own."""
    try:
        calls = ast.literal_eval(text.removeprefix(_CALLING))
        made = tuple((str(call["function"]["name"]), call["function"]["arguments"]) for call in calls)
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        return None
    return made or None


def _restored(message: Any, fitted: Sequence[Mapping[str, Any]]) -> Any:
    """The content with what is kept of it, in the shape it had; None: nothing is left of it."""
    content = fitted[0].get("content")
    if _role(message) == "tool-call" and fitted[0].get("tool_calls"):
        return _recalled(message, fitted[0]["tool_calls"])
    if content is None:
        return None
    (head, tail), old = _frame(message), _read(message, "content")
    if isinstance(content, str):
        text = head + "\n".join(str(piece["content"]) for piece in fitted) + tail
        return text if isinstance(old, str) else [{"type": "text", "text": text}]
    parts = _parts(message)
    restored = []
    for part in content:
        before = parts[int(part["id"])] if "id" in part else None
        keep = before is not None and before["type"] != "text"
        restored.append(before if keep else {"type": "text", "text": part["text"]})
    return restored


def _recalled(message: Any, calls: Sequence[Mapping[str, Any]]) -> Any:
    """The text of a step's calls: those that are kept, with the arguments they have now."""
    text = _text(message)
    if _made(text) is not None:
        kept = {call["index"]: json.loads(call["function"]["arguments"]) for call in calls if call["index"] >= 0}
        listed = ast.literal_eval(text.removeprefix(_CALLING))
        if list(kept) == [0] and len(listed) > 1 and "calls" in kept[0]:  # they were one
            kept = dict(enumerate(kept[0]["calls"]))
        left = [(call["function"], kept[place]) for place, call in enumerate(listed) if place in kept]
        for function, arguments in left:
            function["arguments"] = arguments if isinstance(function["arguments"], dict) else arguments["input"]
        if left:
            text = _CALLING + str([call for place, call in enumerate(listed) if place in kept])
    return [{"type": "text", "text": text}]


def _with(message: Any, content: Any) -> Any:
    return {**message, "content": content} if isinstance(message, Mapping) else replace(message, content=content)
