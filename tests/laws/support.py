"""What the law tests share: how a history is fitted, and how a law is read off the output, independently."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from cases.checker import pending, problems, recount, torn
from jettison import Policy, Session
from jettison.errors import BudgetUnreachable
from jettison.items import Item
from jettison.wire.anthropic import Anthropic
from jettison.wire.gemini import Gemini
from jettison.wire.openai_chat import OpenAIChat
from jettison.wire.openai_responses import OpenAIResponses
from rendering import render
from strategies import WIRES, Act, History, Say, Script, budgets, histories

PARSERS: dict[str, Any] = {wire.name: wire for wire in (OpenAIChat(), OpenAIResponses(), Anthropic(), Gemini())}
assert set(PARSERS) == set(WIRES)
RANKS = {"full": 3, "compressed": 2, "stub": 1, "gone": 0}


@st.composite
def tasks(draw: st.DrawFn, wire: str, **kwargs: Any) -> tuple[History, int]:
    """A history and a budget for it, from hopeless to ample."""
    history = draw(histories(wire, **kwargs))
    return history, draw(budgets(weight(history)))


def weight(history: History) -> int:
    return recount(history.wire, history.messages, history.system, history.tools)


def session_for(history: History, budget: Any, **kwargs: Any) -> Session:
    kwargs.setdefault("counter", "o200k")
    archive = kwargs.pop("archive", None)
    return Session(Policy(budget=budget, **kwargs), wire=history.wire, archive=archive)


def fit_in(session: Session, history: History, messages: Sequence[Any] | None = None) -> Any:
    """What the session makes of the history; None when it says that nothing safe fits.

    Only BudgetUnreachable says that. StateBroken or ContextInsufficient, where the caller declared nothing, would
    mean that the library lost what it protects.
    """
    given = history.messages if messages is None else list(messages)
    try:
        return session.fit(given, system=history.system, tools=history.tools)
    except BudgetUnreachable as error:
        if error.needed <= error.available:
            raise AssertionError(f"numbers do not add up: {error}") from error
        return None


def fit_once(history: History, budget: int, **kwargs: Any) -> Any:
    return fit_in(session_for(history, budget, **kwargs), history)


def assert_sound(history: History, fitted: Any, budget: int, messages: Sequence[Any] | None = None) -> None:
    """Laws 1, 2, 3 and 5, as far as they can be seen from outside."""
    given = history.messages if messages is None else messages
    wire, sent, report = history.wire, fitted.messages, fitted.report
    assert not broken(wire, given, sent, fitted.system, history.tools)
    assert not torn(wire, given, sent)
    assert not [p for p in PARSERS[wire].check(sent, system=fitted.system) if p.kind == "structure"]
    assert all(check.ok for check in report.checks.values()), report.checks
    assert report.after <= report.limit
    counted = recount(wire, sent, fitted.system, history.tools)
    assert counted <= budget, f"over budget: {counted} by an independent count, {report.after} reported, {budget} given"
    assert report.sendable == (not pending(wire, sent))
    assert not (found := invented(given, history.system, fitted)), found
    assert not (found := reworded(given, fitted)), found
    assert in_order(given, sent)


def broken(wire: str, given: Sequence[Any], sent: Sequence[Any], system: Any, tools: Any) -> list[str]:
    """Broken rules of the output. Neighbours of one role are merged by the API: refused only where they are new."""
    found = problems(wire, sent, system, tools)
    if any("in a row" in text for text in problems(wire, given)):
        found = [text for text in found if "in a row" not in text]
    return found


def items_of(history: History, messages: Sequence[Any] | None = None) -> dict[str, Item]:
    """Items by id, as the wire reads the input."""
    wire = PARSERS[history.wire]
    groups, _ = wire.parse(history.messages if messages is None else messages)
    system = wire.parse_system(history.system) if history.system is not None else ()
    return {item.id: item for item in [*system, *(item for group in groups for item in group)]}


def texts(value: Any, key: str = "") -> Iterator[str]:
    """All that the model may read: string values, without those that only name a type or a role."""
    if isinstance(value, str):
        if key not in ("type", "role"):
            yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from texts(inner, name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts(inner, key)


def reads(sent: Any, needle: str) -> bool:
    """Whether a text stands verbatim in the output: in a string, or in call arguments written as JSON."""
    return any(needle in text for text in texts(sent)) or needle in json.dumps(sent, ensure_ascii=False)


def invented(given: Sequence[Any], system: Any, fitted: Any) -> list[str]:
    """Text in the output that neither was in the input nor is listed in `report.inserted`."""
    known = set(texts([list(given), system]))
    whole = "\0".join(known)
    listed = sorted({entry.text for entry in fitted.report.inserted if entry.text}, key=len, reverse=True)
    found = []
    for text in texts([fitted.messages, fitted.system]):
        if text in known:
            continue
        pieces = [text]
        for mark in listed:
            pieces = [part for piece in pieces for part in piece.split(mark)]
        found += [piece for piece in pieces if piece.strip() and piece not in whole]
    return found


_MARK = re.compile(r"\[[^\]]{0,80}\]|…(?:\d+[\]},]*| [^…]{1,20} …)?")
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"\[\d+\]")


def reworded(given: Sequence[Any], fitted: Any) -> set[str]:
    """Lines of a shortened text with words that its source has not. Marks, and places such as `[3]`, aside."""
    whole = "\0".join([*texts(list(given)), json.dumps(list(given), ensure_ascii=False)])
    lines = [
        line for entry in fitted.report.inserted if entry.why in ("gap", "stub") for line in entry.text.split("\n")
    ]
    return {
        line
        for line in lines
        if not _MARK.fullmatch(line) and any(word not in whole for word in _WORD.findall(_PLACE.sub("", line)))
    }


def in_order(given: Sequence[Any], sent: Sequence[Any]) -> bool:
    """Messages that were passed on untouched (the same objects) come in the order they had."""
    places = {id(message): n for n, message in enumerate(given)}
    kept = [places[id(message)] for message in sent if id(message) in places]
    return kept == sorted(set(kept))


def same(one: Any, two: Any) -> bool:
    """Equal as the bytes that are sent."""
    return json.dumps(one, ensure_ascii=False) == json.dumps(two, ensure_ascii=False)


_BINDING = ("NOT", "ever", "must", "не ", "Ника", "不要", "지 마", "ない", "pending", "exp-", "[ ]", "🚀", "fail")


def binding(script: Script) -> Script:
    """The turns that a safe context may have to hold: first and last, developer text, rules, open work. Generous."""
    last = max(n for n, turn in enumerate(script.turns) if isinstance(turn, Say) and turn.role == "user")
    keep = [
        turn
        for n, turn in enumerate(script.turns)
        if n in (0, last, len(script.turns) - 1)
        or (isinstance(turn, Say) and turn.role == "developer")
        or any(word in repr(turn) for word in _BINDING)
    ]
    return replace(script, turns=tuple(keep))


def binding_weight(history: History) -> int:
    kept = binding(history.script)
    documents = sum(isinstance(turn, Say) and turn.shape == "document" for turn in kept.turns)
    return weight(render(kept, history.wire)) + 3_200 * documents  # the dearest rule for a page


def last_calls(script: Script) -> list[str]:
    """Names of the calls of an unfinished last turn."""
    last = script.turns[-1]
    return [call.name for call in last.calls] if isinstance(last, Act) and last.answered is not None else []


def said(script: Script, role: str) -> list[str]:
    return [turn.text for turn in script.turns if isinstance(turn, Say) and turn.role == role]


__all__ = [
    "PARSERS",
    "RANKS",
    "assert_sound",
    "binding_weight",
    "broken",
    "fit_in",
    "fit_once",
    "in_order",
    "invented",
    "items_of",
    "last_calls",
    "reads",
    "reworded",
    "said",
    "same",
    "session_for",
    "tasks",
    "texts",
    "weight",
]
