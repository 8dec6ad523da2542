"""The smallest things that are kept or evicted, and the groups that stand or fall together."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, make_dataclass
from enum import IntEnum, StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

__all__ = [
    "COMPACTION",
    "NOTE",
    "SUMMARY_SLOT",
    "Fidelity",
    "Item",
    "Kind",
    "Unit",
    "is_note",
    "is_summary",
    "item_of",
    "maker_of",
    "named_items",
    "reworded",
    "summary_item",
    "turn_of",
    "units_of",
    "unseen",
]


T = TypeVar("T")


class Kind(StrEnum):
    """What an item is, whatever wire format it came on."""

    INSTRUCTION = "instruction"
    """System or developer text."""
    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    """Thinking, plain, signed or encrypted. Never rewritten: kept or dropped whole."""
    CALL = "call"
    RESULT = "result"
    DOCUMENT = "document"
    """Retrieved text: a document or search-result block."""
    MEDIA = "media"
    """Image, audio, video or file: costs tokens by a provider's rule, not by its base64 text."""
    SUMMARY = "summary"
    """Written in place of earlier messages; its first line says so (`is_summary`)."""
    OPAQUE = "opaque"
    """What we do not understand and carry through untouched."""


class Fidelity(IntEnum):
    """How much of an item is left; it only goes down within a session."""

    GONE = 0
    STUB = 1
    COMPRESSED = 2
    FULL = 3


@dataclass(frozen=True, slots=True)
class Item:
    """One block of one message. Items of a message are consecutive; every message has at least one."""

    id: str
    """Stable: `<message>.<part>-<content digest>`. Provider call ids can repeat and are never used alone."""
    kind: Kind
    text: str
    """What the model reads here. Of a call: its arguments as sent (JSON text). Of media: empty."""
    message: int
    """Index of the source message; -1 for the provider's own system field."""
    part: int
    """Ordinal of the item in its message."""
    unit: int
    step: int
    """Number of LLM calls made when the item appeared (0 before the first assistant turn)."""
    role: str = ""
    """The role the wire gave it (`system`, `developer`, `user`, `assistant`, `tool`, `model`)."""
    name: str | None = None
    """Tool name, of a call and of its result."""
    call_id: str | None = None
    """Of a call and of its result; unique only within its unit."""
    fixed: int = 0
    """Tokens that do not depend on `text`: framing, media by the provider's rule."""
    extra: str = ""
    """Other text that is sent with it and must be counted (unknown fields, reasoning text)."""
    note: str = ""
    """What a placeholder may call it, e.g. `image/png 640x480` or `rulebook.pdf`."""
    editable: bool = True
    """Whether `text` can be replaced. False: kept as it came or dropped with its unit."""
    is_error: bool = False
    """The wire marked the result as an error."""
    bound: bool = False
    """Of reasoning: carries a signature or encrypted content tied to what stands before it."""
    synthetic: bool = False
    """Written by Jettison (stub, gap, repair), recognised when it comes back."""
    slot: tuple[str | int, ...] = ()
    """Where in its message the wire finds it; only the wire reads this."""
    fidelity: Fidelity = Fidelity.FULL
    reveals: tuple[str, ...] = ()
    """Names of tools that can be called because of it: the provider's tool search, and references in a result."""


def maker_of(frozen: type[T]) -> Callable[..., T]:
    """`frozen(*values)` for all fields in their order, at a tenth of its price.

    The constructor of a frozen dataclass sets each field through `object.__setattr__`: 7 µs for the 19 of an item, of
    which every message makes one or more. Its twin that is not frozen takes 0.6 µs, and changes its class when done.
    """
    twin: Any = make_dataclass("_Twin", [field.name for field in fields(frozen)], slots=True)  # type: ignore[arg-type]

    def make(*values: Any) -> T:
        made = twin(*values)
        made.__class__ = frozen
        one: T = made
        return one

    return make


item_of = maker_of(Item)
_NAMES = tuple(field.name for field in fields(Item))
_values_of = attrgetter(*_NAMES)
_FIDELITY, _TEXT = _NAMES.index("fidelity"), _NAMES.index("text")


def reworded(item: Item, text: str, fidelity: Fidelity) -> Item:
    """The item with other text, as less than it was."""
    values = list(_values_of(item))
    values[_TEXT], values[_FIDELITY] = text, fidelity
    return item_of(*values)


def named_items(items: Sequence[Item], names: Collection[str]) -> list[Item]:
    """The items with these ids, in their order. `items`: in the order of their messages.

    An id begins with the number of its message, so a few of a thousand are found without looking at each.
    """
    heads = (name.partition(".")[0] for name in names)
    found: list[Item] = []
    for message in sorted({int(head) for head in heads if head.lstrip("-").isdecimal()}):
        at = bisect_left(items, message, key=_message)
        while at < len(items) and items[at].message == message:
            found += [items[at]] if items[at].id in names else []
            at += 1
    return found if len(found) == len(names) else [item for item in items if item.id in names]


_message = attrgetter("message")
SUMMARY_SLOT = ("summary",)
"""The place of a summary that is not in the source yet: the wire makes a message, or a part of one, for it."""

_SUMMARY = re.compile(r"\[summary of [1-9]\d* earlier messages?, data not instructions(?:, ref [a-z]{10,})?\]\n(?=.)")


def is_summary(text: str) -> bool:
    """Whether a text begins with the line that marks a summary, to the letter, and has a body after it."""
    return text.startswith("[summary of ") and _SUMMARY.match(text) is not None


COMPACTION = "compaction"
"""What `Item.note` says of a provider's own compaction: the one record of all that came before it."""

NOTE = "note"
"""What `Item.note` of a note says: it is reported as one."""

_NOTE = re.compile(
    r"\[(?:from the archive, (?:ref [a-z]{10,}, )?data not instructions"
    r"|hand-over of stage [1-9]\d* of [1-9]\d*, a note from the session)\]\n(?=.)"
)


def is_note(text: str) -> bool:
    """Whether a text begins with the line that marks a note (`notes.py`, `staging.py`), and has a body after it."""
    return text.startswith(("[from the archive, ", "[hand-over of ")) and _NOTE.match(text) is not None


def summary_item(text: str, first: Item, framing: int = 4) -> Item:
    """The item of a rendered summary, to stand where `first`, the first item of the units it replaces, has stood.

    `first` opens its unit: a summary goes to a border of units. `framing`: tokens of a message's frame.
    Raises ValueError for a text that `is_summary` does not know.
    """
    if not is_summary(text):
        raise ValueError("the text is not a rendered summary")
    return Item(
        f"summary-{first.id}",
        Kind.SUMMARY,
        text,
        first.message,
        -1,
        first.unit,
        first.step,
        "user",
        fixed=framing,
        editable=False,
        synthetic=True,
        slot=SUMMARY_SLOT,
    )


@dataclass(frozen=True)
class Unit:
    """Items that stand or fall together: a turn with its calls, their results and its reasoning."""

    index: int
    items: tuple[Item, ...]

    @property
    def step(self) -> int:
        """Step at which the unit appeared."""
        return self.items[0].step

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        return frozenset(item.kind for item in self.items)

    @property
    def head(self) -> Item:
        """The first item that carries text, else the first."""
        return next((item for item in self.items if item.text), self.items[0])

    def of(self, *kinds: Kind) -> Iterator[Item]:
        return (item for item in self.items if item.kind in kinds)

    def unanswered(self) -> tuple[Item, ...]:
        """Calls that have no result in this unit."""
        return self._unanswered

    @cached_property
    def _unanswered(self) -> tuple[Item, ...]:
        answered = {item.call_id for item in self.of(Kind.RESULT)}
        return tuple(call for call in self.of(Kind.CALL) if call.call_id not in answered)


_NOT_NEWS = (Kind.ASSISTANT, Kind.CALL, Kind.REASONING, Kind.INSTRUCTION)
"""What the model said itself; and instructions, which stay anyway."""
_SAID = frozenset({Kind.USER, Kind.MEDIA, Kind.DOCUMENT, Kind.OPAQUE})
"""What a message of the user's own consists of."""
_index = attrgetter("index")


def unseen(units: Sequence[Unit], items: Sequence[Item]) -> tuple[Unit, ...]:
    """The units with what came since the model last spoke, and the last one in any case. Oldest first. `items`: those
    of the units, in the order of their messages."""
    if not units:
        return ()
    found, now = {units[-1].index}, items[-1].step
    for item in reversed(items):
        if item.step != now or item.message < 0:
            break
        if item.kind not in _NOT_NEWS and item.role not in ("assistant", "model"):
            found.add(item.unit)
    return tuple(unit for unit in units[bisect_left(units, min(found), key=_index) :] if unit.index in found)


def turn_of(units: Sequence[Unit], spoken: Sequence[Unit] | None = None) -> tuple[Unit, ...]:
    """The user's messages in a row with which the running turn began, oldest first. `spoken`: the units with a user's
    words, where they are known.

    Text in one message with results (the reminder of a harness) goes on with the turn: the provider wants the reasoning
    of the turn back, as if it was not there.
    """
    begun = reversed(units if spoken is None else spoken)
    last = next((unit for unit in begun if Kind.USER in unit.kinds and not _beside_results(unit, units)), None)
    if last is None:
        return ()
    at = end = bisect_left(units, last.index, key=_index)
    while at > 0 and units[at - 1].kinds <= _SAID and units[at - 1].items[0].role == "user":
        if _beside_results(units[at - 1], units):
            break
        at -= 1
    return tuple(units[at : end + 1])


def _beside_results(unit: Unit, units: Sequence[Unit]) -> bool:
    at = bisect_left(units, unit.index, key=_index)
    message = unit.items[0].message
    return at > 0 and any(item.message == message for item in units[at - 1].of(Kind.RESULT))


def units_of(items: Iterable[Item]) -> list[Unit]:
    """Group items by their unit number, in order of first appearance. Items of a unit need not be adjacent."""
    groups: dict[int, list[Item]] = {}
    for item in items:
        groups.setdefault(item.unit, []).append(item)
    return [Unit(index, tuple(group)) for index, group in groups.items()]
