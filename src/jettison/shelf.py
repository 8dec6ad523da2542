"""The archive as one session uses it: handles of its texts, what live stubs point at, vectors of its embedder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from jettison.archive import MemoryArchive
from jettison.compressors.cut import handle_for
from jettison.items import Fidelity, Item
from jettison.plan import Plan
from jettison.protocols import Archive, ConversationArchive, Embedder, VectorCache
from jettison.recall import is_recalled
from jettison.relevance.effects import Keep, LookUp, kept, looked_up

__all__ = ["Shelf"]

OWN, SHARED = 10, 16
"""Letters of a handle. In an archive of one session a handle that is taken gets more letters; in a shared one nobody
can look ahead, so it has 48 bits: among a million texts two share a handle with a chance of 0.2 %."""


class Shelf:
    """`private`: the archive is this session's own. `own`: the key of the conversation as the caller gave it, if at
    all; without one the texts are kept under a random key, and searches look at the whole archive."""

    def __init__(self, archive: Archive, *, private: bool, own: str | None) -> None:
        self.archive, self.private, self.own = archive, private, own
        self.conversation = os.urandom(8).hex() if own is None else own
        self.waits = not isinstance(archive, MemoryArchive)
        """Reading and writing may take time: off the event loop with it."""
        self.pinned: frozenset[str] = frozenset()
        """Handles that may not be dropped by age or size: a stub that was sent names them."""
        self.texts: dict[str, str] = {}
        """By handle, of this process."""

    @property
    def letters(self) -> int:
        """Letters of a handle that is not taken."""
        return OWN if self.private else SHARED

    def handle(self, text: str) -> str:
        """The handle of a text: 30 bits among the session's own, 48 in an archive that others may write to."""
        letters = self.letters
        while True:
            handle = handle_for(text, letters)
            if self.texts.setdefault(handle, text) == text:
                return handle
            letters += 2

    def recalled(self, text: str) -> str | None:
        """The handle of a text that this session archived, or of which this is the part that the recall tool gives."""
        return is_recalled(text, self.texts.__getitem__, lambda whole: handle_for(whole, self.letters))

    def put(self, texts: Mapping[str, str], plan: Plan) -> None:
        """Keep texts, by handle. `plan`: of the last output. What it shows stays pinned as well: if this call fails,
        that is what the agent goes on with."""
        if not isinstance(self.archive, ConversationArchive):
            for handle, text in texts.items():
                self.archive.put(handle, text)
            return
        shown = {one.handle for one in plan.decisions.values() if one.handle and one.fidelity is not Fidelity.GONE}
        live = texts.keys() | shown
        self.archive.put_many(texts, self.conversation, release=self.pinned - live)
        self.pinned = frozenset(live)

    def recover(self, items: Iterable[Item], plan: Plan) -> None:
        """After a load: the texts behind the handles of the plan are those of the history, as it came."""
        texts = {item.id: item.text for item in items}
        for decision in plan.decisions.values():
            text = texts.get(decision.item)
            if decision.handle and text:
                self.texts.setdefault(decision.handle, text)
                if self.private:
                    self.archive.put(decision.handle, text)

    def search(self, query: str, limit: int) -> list[tuple[str, str]]:
        """(handle, excerpt): of this conversation where it was given a key, else of the whole archive."""
        if self.own is not None and isinstance(self.archive, ConversationArchive):
            return self.archive.search(query, limit, conversation=self.own)
        return self.archive.search(query, limit)

    def keeps(self, embedder: Embedder | None) -> str:
        """The name under which vectors are kept; empty where the archive is the session's own, or keeps none."""
        if embedder is None or self.private or not isinstance(self.archive, VectorCache):
            return ""
        return str(getattr(embedder, "identity", ""))

    def vectors(self, effect: LookUp | Keep) -> Any:
        """Look vectors up, or keep them."""
        assert isinstance(self.archive, VectorCache)
        if isinstance(effect, Keep):
            return kept(effect, self.archive, self.conversation)
        return looked_up(effect, self.archive)
