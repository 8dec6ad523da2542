"""Where the exact bytes of everything evicted or compressed are kept."""

from __future__ import annotations

from os import PathLike

from jettison.archive.memory import MemoryArchive
from jettison.archive.postgres import PostgresArchive
from jettison.archive.records import Conversation, Pruned
from jettison.archive.scoped import Scoped
from jettison.archive.sqlite import SQLiteArchive
from jettison.errors import ConfigError
from jettison.protocols import Archive, ConversationArchive

__all__ = [
    "Archive",
    "Conversation",
    "ConversationArchive",
    "MemoryArchive",
    "PostgresArchive",
    "Pruned",
    "SQLiteArchive",
    "Scoped",
    "opened",
]


def opened(archive: Archive | str | PathLike[str] | None) -> Archive:
    """The archive to use: the given one, one at a `postgresql://` address or in the named file, or one in memory."""
    if archive is None:
        return MemoryArchive()
    if isinstance(archive, str) and archive.startswith(("postgresql://", "postgres://")):
        return PostgresArchive(archive)
    if isinstance(archive, str | PathLike):
        return SQLiteArchive(archive)
    if not (hasattr(archive, "put") and hasattr(archive, "get")):
        raise ConfigError(
            f"archive is a file's name, an address or an Archive, not {type(archive).__name__} {archive!r}"
        )
    return archive
