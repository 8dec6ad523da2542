"""What can be swapped. Each is one method; a plain function with the same arguments will do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from jettison.items import Item

if TYPE_CHECKING:
    from jettison.plan import Protection, View

__all__ = [
    "Archive",
    "Check",
    "Compressor",
    "ConversationArchive",
    "Embedder",
    "ItemProtector",
    "ItemRule",
    "Judge",
    "Protector",
    "Question",
    "Quoted",
    "Scorer",
    "StateStore",
    "Stored",
    "Summarizer",
    "TokenCounter",
    "VectorCache",
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


class Embedder(Protocol):
    """Texts to vectors: float32[n, d] (anything that numpy reads as such), a row a text; or an awaitable of it.

    May carry `name`. May carry `identity`, a text that is the same only where the same text has the same vector (model,
    version, settings): then vectors are kept in the archive and used by other sessions. Raise for a failure: the report
    says so and the rules stand.
    """

    def __call__(self, texts: list[str], /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Quoted:
    """One passage that a judge is asked about."""

    id: str
    """How the answer names it: `p1`, `p2`, …"""
    item: str
    kind: str
    """What it is part of: `user`, `assistant`, `result of search_docs`."""
    age: int
    """Steps since it appeared."""
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge is asked: a batch of passages, and the state of the task."""

    passages: tuple[Quoted, ...]
    task: tuple[str, ...]
    """Lines: the goal, constraints, open operations, the latest turn."""
    prompt: str
    """All of it as text for a model, passages fenced off as data; it says what is to be answered."""
    max_tokens: int
    """Of the answer."""


class Judge(Protocol):
    """Answers a question, or an awaitable of the answer: JSON text and nothing else.

    `{"p1": {"usefulness": 0.8, "reason": "a few words"}, "p2": …}`, usefulness 0..1. For a model: pass
    `question.prompt` on as the user's turn and return what comes. May carry `name`. Raise for a failure.
    """

    def __call__(self, question: Question, /) -> str | Awaitable[str]: ...


class Check(Protocol):
    """A further check of the finished items: an empty list, or what is missing, one line each."""

    def __call__(self, items: Sequence[Item], view: View, /) -> Sequence[str]: ...


class Archive(Protocol):
    """Exact bytes of what was evicted or compressed, by handle. This is all that an archive of one's own needs."""

    def put(self, handle: str, text: str) -> None:
        """Store a text under its handle; the same text again is a no-op, another one raises ArchiveError."""
        ...

    def get(self, handle: str) -> str:
        """The exact text. Raises ArchiveError when the handle is not known."""
        ...

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        """(handle, excerpt) of the best matches, best first."""
        ...


@runtime_checkable
class ConversationArchive(Archive, Protocol):
    """An archive that knows whose texts it holds; those of Jettison are such.

    A text belongs to every conversation that stored it. A conversation covers those under it: `chat-17` is also
    `chat-17/researcher`. What is stored is pinned for its conversation, as a stub is about to point at it: no limit
    drops it until the conversation releases it, or is deleted.
    """

    def put_many(self, texts: Mapping[str, str], conversation: str = "", *, release: Collection[str] = ()) -> None:
        """Store all of these or none, pinned; and release what no stub of the conversation points at any more."""
        ...

    def get(self, handle: str, *, conversation: str | None = None) -> str:
        """As `Archive.get`; with a conversation, only what it holds."""
        ...

    def search(self, query: str, limit: int = 10, *, conversation: str | None = None) -> list[tuple[str, str]]:
        """As `Archive.search`; with a conversation, only in what it holds."""
        ...

    def release(self, conversation: str, handles: Collection[str] | None = None) -> None:
        """Unpin these texts of a conversation; None: it is over, all of them, those of the ones under it too."""
        ...

    def delete(self, conversation: str) -> int:
        """Delete a conversation wholly, pinned or not. Texts that another one holds stay for that one.

        Returns how many texts are gone.
        """
        ...


@runtime_checkable
class VectorCache(Protocol):
    """An archive that keeps vectors of texts too, by `Embedder.identity` and content hash; those of Jettison are such.

    A vector belongs to the conversation that stored it and is deleted with it, as it tells much of its text.
    """

    def put_vectors(self, embedder: str, vectors: Mapping[bytes, bytes], conversation: str = "") -> None:
        """Store these, each in the place of what was there. Raises ArchiveError."""
        ...

    def vectors(self, embedder: str, keys: Collection[bytes], *, conversation: str | None = None) -> dict[bytes, bytes]:
        """Those of these that are there; with a conversation, only what it stored. Raises ArchiveError."""
        ...


class Stored(NamedTuple):
    """A conversation's state in a store."""

    version: int
    data: bytes | None
    """None where the reader knows this version."""


class StateStore(Protocol):
    """Keeps the state of sessions between requests, by conversation. All methods raise StoreError."""

    def load(self, conversation: str, known: int = 0) -> Stored | None:
        """The newest state, without its data if its version is `known`; None when there is none."""
        ...

    def save(self, conversation: str, data: bytes, expected: int = 0) -> int:
        """Put a state in the place of version `expected` (0: where there is none), and return its version.

        On return it is on the disk. Raises StoreConflict, and changes nothing, when another version is there.
        """
        ...

    def delete(self, conversation: str) -> int:
        """Delete a conversation's state, and those under it. Returns how many are gone."""
        ...
