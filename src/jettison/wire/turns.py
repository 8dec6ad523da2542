"""What the wires with content blocks (Anthropic, Gemini) share: turns, neighbours, problems, duplicates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from jettison.errors import Problem
from jettison.items import SUMMARY_SLOT, Fidelity, Item, Kind, is_note, is_summary
from jettison.wire.base import Cursor, Inserted, Message, Rendered, item_id

__all__ = [
    "FRAMING",
    "INTERRUPTED",
    "PLACEHOLDER",
    "Built",
    "Problems",
    "Turns",
    "best",
    "blank",
    "built",
    "by_message",
    "first_wins",
    "join",
]

PLACEHOLDER = "[… earlier messages omitted …]"
INTERRUPTED = "no result: interrupted"
FRAMING = 4
"""Tokens of a message's role and delimiters: 3 to 4 in every chat template that is public."""

Built = tuple[int, Message, list[tuple[str, str]]]
"""A finished message: index of its source (-1: a summary), the message, and (text, why) of what was put into it."""

T = TypeVar("T")
_FAILED = re.compile(r"\b(abort|cancel|interrupt|error|fail|no result|timed? ?out)", re.IGNORECASE)


class Turns:
    """Where a parse stands, and the items of the message it is in."""

    def __init__(self, cursor: Cursor) -> None:
        self.index = cursor.message
        self.unit = cursor.unit if cursor.state else -1
        self.step = cursor.step
        self.calls: list[tuple[str, str]] = list(cursor.calls)
        self.state = cursor.state
        self.server: tuple[str, ...] = cursor.server
        self.items: list[Item] = []

    def open(self) -> None:
        """Begin a unit."""
        self.unit += 1

    def close(self, state: str) -> tuple[Item, ...]:
        """End the message and hand over its items."""
        items, self.items = tuple(self.items), []
        self.index += 1
        self.state = state
        return items

    def cursor(self) -> Cursor:
        return Cursor(self.index, max(self.unit, 0), self.step, tuple(self.calls), self.state, self.server)

    def add(self, draft: dict[str, Any], slot: tuple[int, ...], role: str, unit: int) -> None:
        """Place an item; `draft` holds what its block says (`key`: what its id is made of, if not its text)."""
        key = draft.pop("key", None) or f"{draft.get('name') or ''}{draft.get('text', '')}{draft.get('extra', '')}"
        part = len(self.items)
        draft.setdefault("text", "")
        draft["fixed"] = draft.get("fixed", 0) + (0 if part else FRAMING)
        draft.setdefault("synthetic", draft["text"] in (PLACEHOLDER, INTERRUPTED))
        if draft["kind"] is Kind.USER and (is_summary(draft["text"]) or is_note(draft["text"])):
            draft.update(kind=Kind.SUMMARY, synthetic=True)
        place = item_id(self.index, part, key)
        self.items.append(
            Item(place, message=self.index, part=part, unit=unit, step=self.step, role=role, slot=slot, **draft)
        )


class Problems(list[Problem]):
    """Broken rules, in the order they were found."""

    def report(
        self, at: str, rule: str, repair: str, message: int, kind: str = "structure", call_id: str | None = None
    ) -> None:
        self.append(Problem(at, rule, repair, kind, call_id, message))


def blank(text: Any) -> bool:
    """Whether it is a string without anything to read in it."""
    return isinstance(text, str) and not text.strip()


def by_message(items: Sequence[Item]) -> dict[int, list[Item]]:
    """What is left of each message, in order; system items left out."""
    groups: dict[int, list[Item]] = {}
    for item in items:
        if item.message >= 0 and item.fidelity is not Fidelity.GONE:
            groups.setdefault(item.message, []).append(item)
    return groups


def additions(items: Iterable[Item]) -> list[tuple[str, str]]:
    """(text, why) of each item whose text replaces what was in its place."""
    return [
        (item.text, "stub" if item.fidelity is Fidelity.STUB else "gap")
        for item in items
        if item.fidelity is not Fidelity.FULL and item.kind is not Kind.REASONING and item.text.strip()
    ]


def built(
    items: Sequence[Item],
    messages: Sequence[Message],
    first: int,
    rebuild: Callable[[Any, list[Item]], Message | None],
    said: Callable[[str], Message],
) -> Iterator[Built]:
    """What is left of each message from `first` on; a summary comes after what is left of the message it stands in.

    `rebuild` makes the message of its kept items, `said` a user message of a text.
    """
    for index, kept in by_message(items).items():
        if index < first:
            continue
        own = [item for item in kept if item.slot != SUMMARY_SLOT]
        message = rebuild(messages[index], own) if own else None
        if message is not None:
            yield index, message, additions(own)
        for item in kept:
            if item.slot == SUMMARY_SLOT:
                yield -1, said(item.text), [(item.text, item.note or "summary")]


def arguments(text: str) -> dict[str, Any]:
    """Call arguments from their JSON text; a text that is not an object is wrapped in one."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"text": value}


def best(results: Sequence[T], text: Callable[[T], str], is_error: Callable[[T], bool]) -> T:
    """Of several results of one call: the last that does not look like an abort or error, else the last."""
    good = [one for one in results if not is_error(one) and not _FAILED.search(text(one)[:200])]
    return (good or results)[-1]


def join(
    built: Iterable[Built],
    *,
    first: int,
    before: str,
    model: str,
    role: Callable[[Message], str],
    merge: Callable[[Sequence[Message]], Message],
    placeholder: Callable[[str], Message],
    lead: bool = False,
) -> Rendered:
    """Put messages in a row so that none gets a neighbour of its own role that it did not have in the source.

    `before` is the role of source message `first` - 1, which is already sent and stays as it is. `lead`: a user's
    message comes first even where the source began with the model's.
    """
    out = Rendered([], [])
    last, last_role, written = first - 1, before, False
    runs: dict[int, list[Message]] = {}
    """By place in the output: the messages that are merged there, once all of them are known."""
    more: dict[int, list[int]] = {}
    for source, message, added in built:
        now = role(message)
        opens = not out.messages and first == 0
        parted = source < 0 or written or source > last + 1
        merged = False
        if opens and now == model and (source > 0 or lead):
            _place(out, placeholder("user"))
        elif not opens and parted and now == last_role and now in (model, "user"):
            merged = now == "user" and bool(out.messages)
            if not merged:
                _place(out, placeholder(model if now == "user" else "user"))
        if merged:
            at = len(out.messages) - 1
            runs.setdefault(at, [out.messages[at]]).append(message)
            if out.sources[at] < 0:  # a summary that what follows was joined to
                out.sources[at] = source
            elif source >= 0:
                more.setdefault(at, []).append(source)
        else:
            out.messages.append(message)
            out.sources.append(source)
        out.inserted.extend(Inserted(len(out.messages) - 1, text, why) for text, why in added)
        last, last_role, written = max(last, source), now, source < 0
    for at, run in runs.items():
        out.messages[at] = merge(run)
    out.merged.update((at, tuple(sources)) for at, sources in more.items())
    return out


def first_wins(messages: Iterable[Message]) -> Message:
    """One message with the keys of several, of each the value of the first that has it."""
    merged: Message = {}
    for message in messages:
        merged = {**message, **merged}
    return merged


def _place(out: Rendered, message: Message) -> None:
    out.messages.append(message)
    out.sources.append(-1)
    out.inserted.append(Inserted(len(out.messages) - 1, PLACEHOLDER, "placeholder"))
