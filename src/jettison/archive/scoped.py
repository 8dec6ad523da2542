"""One conversation of an archive, for those who must not see the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from jettison.protocols import ConversationArchive, VectorCache

__all__ = ["Scoped"]


@dataclass(frozen=True, slots=True)
class Scoped:
    """An archive that is one conversation of another, with those under it.

    Its own keys are under that one: with `Scoped(archive, "user-9")` the conversation `chat-1` is `user-9/chat-1`.
    """

    archive: ConversationArchive
    conversation: str

    def put(self, handle: str, text: str) -> None:
        """As the archive's own."""
        self.put_many({handle: text})

    def put_many(self, texts: Mapping[str, str], conversation: str = "", *, release: Collection[str] = ()) -> None:
        """As the archive's own."""
        self.archive.put_many(texts, self._key(conversation), release=release)

    def get(self, handle: str, *, conversation: str | None = None) -> str:
        """The exact text. Raises ArchiveError when it is not held here."""
        return self.archive.get(handle, conversation=self._key(conversation))

    def search(self, query: str, limit: int = 10, *, conversation: str | None = None) -> list[tuple[str, str]]:
        """As the archive's own, in what is held here."""
        return self.archive.search(query, limit, conversation=self._key(conversation))

    def release(self, conversation: str = "", handles: Collection[str] | None = None) -> None:
        """As the archive's own; without a key all that is held here."""
        self.archive.release(self._key(conversation), handles)

    def delete(self, conversation: str = "") -> int:
        """As the archive's own; without a key all that is held here."""
        return self.archive.delete(self._key(conversation))

    def put_vectors(self, embedder: str, vectors: Mapping[bytes, bytes], conversation: str = "") -> None:
        """As the archive's own, where it keeps vectors; else nothing."""
        if isinstance(self.archive, VectorCache):
            self.archive.put_vectors(embedder, vectors, self._key(conversation))

    def vectors(self, embedder: str, keys: Collection[bytes], *, conversation: str | None = None) -> dict[bytes, bytes]:
        """As the archive's own, of what was stored here."""
        if not isinstance(self.archive, VectorCache):
            return {}
        return self.archive.vectors(embedder, keys, conversation=self._key(conversation))

    def _key(self, conversation: str | None) -> str:
        return f"{self.conversation}/{conversation}" if conversation else self.conversation
