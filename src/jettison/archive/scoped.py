"""One conversation of an archive, for those who must not see the others."""

from __future__ import annotations

from dataclasses import dataclass

from jettison.protocols import ConversationArchive

__all__ = ["Scoped"]


@dataclass(frozen=True, slots=True)
class Scoped:
    """An archive that is one conversation of another, with those under it (its sub-agents)."""

    archive: ConversationArchive
    conversation: str

    def put(self, handle: str, text: str) -> None:
        """As the archive's own, into this conversation."""
        self.archive.put_many({handle: text}, self.conversation)

    def get(self, handle: str) -> str:
        """The exact text. Raises ArchiveError when this conversation does not hold it."""
        return self.archive.get(handle, conversation=self.conversation)

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        """As the archive's own, in this conversation."""
        return self.archive.search(query, limit, conversation=self.conversation)
