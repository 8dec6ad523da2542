"""Where the exact bytes of everything evicted or compressed are kept."""

from __future__ import annotations

from os import PathLike

from jettison.archive.memory import MemoryArchive
from jettison.archive.sqlite import SQLiteArchive
from jettison.protocols import Archive

__all__ = ["MemoryArchive", "SQLiteArchive", "opened"]


def opened(archive: Archive | str | PathLike[str] | None) -> Archive:
    """The archive to use: the given one, one in the named file, or one in memory."""
    if archive is None:
        return MemoryArchive()
    return SQLiteArchive(archive) if isinstance(archive, str | PathLike) else archive
