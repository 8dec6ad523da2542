"""What can be swapped. Each is one method; a plain function with the same arguments will do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from jettison.items import Item

if TYPE_CHECKING:
    from jettison.plan import Protection, View

__all__ = [
    "Archive",
    "Check",
    "Compressor",
    "ItemProtector",
    "ItemRule",
    "Protector",
    "Scorer",
    "Summarizer",
    "TokenCounter",
]


@runtime_checkable
class TokenCounter(Protocol):
    """Tokens of a text; must accept any string without lone surrogates. May carry `name` and `error` (a str)."""

    def __call__(self, text: str, /) -> int: ...


class Scorer(Protocol):
    """One relevance signal: item -> 0..1. `name` (or `__name__`) is what the report calls it."""

    def __call__(self, item: Item, view: View, /) -> float: ...


class Protector(Protocol):
    """More protections, added to the built-in ones, for the whole view at once."""

    def __call__(self, view: View, /) -> Sequence[Protection]: ...


@runtime_checkable
class ItemProtector(Protocol):
    """The same, asked of each item: True (the whole item is kept), a Protection, or a false value."""

    def protect_item(self, item: Item, view: View, /) -> Protection | bool | None: ...


ItemRule = Callable[[Item], "Protection | bool | None"]
"""The same as a plain function; its parameter must be called `item`."""


class Compressor(Protocol):
    """A shorter text of about `target` characters that keeps every span in `keep` ((start, end) offsets).

    Gaps are marked; nothing is reworded. What cannot be made shorter comes back unchanged.
    """

    def __call__(self, text: str, target: int, keep: Sequence[tuple[int, int]] = (), /) -> str: ...


class Summarizer(Protocol):
    """A model, or anything else that answers a prompt: (prompt, most tokens of the answer) -> answer, or an awaitable.

    The prompt says all that is to be done; pass it on as the user's turn and return what comes. Two arguments, no
    record: any client is one line away. May carry `window` (tokens of prompt and answer together) and `name`. Raise
    `jettison.errors.CutAnswer` when the answer was cut at its limit, and anything else for a failure: it is reported.
    """

    def __call__(self, prompt: str, max_tokens: int, /) -> str | Awaitable[str]: ...


class Check(Protocol):
    """A further check of the finished items: an empty list, or what is missing, one line each."""

    def __call__(self, items: Sequence[Item], view: View, /) -> Sequence[str]: ...


class Archive(Protocol):
    """Exact bytes of what was evicted or compressed, by handle."""

    def put(self, handle: str, text: str) -> None:
        """Store a text under its handle; the same text again is a no-op, another one raises ArchiveError."""
        ...

    def get(self, handle: str) -> str:
        """The exact text. Raises ArchiveError when the handle is not known."""
        ...

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        """(handle, excerpt) of the best matches, best first."""
        ...
