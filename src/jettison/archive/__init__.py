"""Where the exact bytes of everything evicted or compressed are kept."""

from jettison.archive.memory import MemoryArchive

__all__ = ["MemoryArchive"]
