"""What the built-in archives say of themselves, and what they share: keys of conversations, sizes, errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from jettison.errors import ArchiveError, ConfigError

__all__ = [
    "Conversation",
    "Pruned",
    "Row",
    "checked",
    "covers",
    "differing",
    "droppable",
    "missing",
    "size_of",
    "taken",
]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of an archive."""

    key: str
    texts: int
    bytes: int
    """UTF-8 bytes of its texts; a text that two conversations hold is counted in both."""
    first: float
    last: float
    """When its first and its latest text were stored, seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What `prune` did."""

    texts: int
    bytes: int
    """Dropped."""
    left: int
    """Bytes that are left; above `max_bytes` when what live stubs point at alone is larger."""


class Row(NamedTuple):
    """A text that no live stub points at."""

    id: int
    handle: str
    size: int
    stored: float


def size_of(text: str) -> int:
    """UTF-8 bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def covers(conversation: str, key: str) -> bool:
    """Whether a key is the conversation itself or one under it: `chat-17` covers `chat-17/researcher`."""
    return key == conversation or key.startswith(conversation + "/")


def checked(max_bytes: int | None, max_age: float | None) -> None:
    """Raises ConfigError for limits that cannot be."""
    for name, value in (("max_bytes", max_bytes), ("max_age", max_age)):
        if value is not None and not value >= 0:
            raise ConfigError(f"{name} must be >= 0, not {value!r}")


def droppable(
    rows: Iterable[Row], total: int, now: float, max_bytes: int | None, max_age: float | None, live: Iterable[str]
) -> list[Row]:
    """Which of these rows (oldest first) have to go: those that are too old, then the oldest until the size fits."""
    kept, out = set(live), []
    for row in rows:
        if row.handle in kept:
            continue
        if (max_age is not None and now - row.stored > max_age) or (max_bytes is not None and total > max_bytes):
            out.append(row)
            total -= row.size
    return out


def missing(handle: str, where: str = "") -> ArchiveError:
    """The error for a handle that stands for nothing. It has no cause, unlike that of a store which failed."""
    return ArchiveError(f"no text is archived under {handle!r}{where}")


def taken(handle: str, where: str = "") -> ArchiveError:
    """The error for a handle that stands for another text."""
    return ArchiveError(f"handle {handle!r} already stands for another text{where}")


def differing(texts: Mapping[str, str], known: Mapping[str, str]) -> str | None:
    """The first handle that stands for another text in `known`."""
    both = texts.keys() & known.keys()
    return next((handle for handle in both if known[handle] != texts[handle]), None)
