"""Where the state of sessions is kept between requests, by conversation."""

from __future__ import annotations

from os import PathLike

from jettison.protocols import StateStore, Stored
from jettison.store.memory import MemoryStore
from jettison.store.postgres import PostgresStore
from jettison.store.sqlite import SQLiteStore

__all__ = ["MemoryStore", "PostgresStore", "SQLiteStore", "StateStore", "Stored", "opened"]


def opened(store: StateStore | str | PathLike[str]) -> StateStore:
    """The store to use: the given one, one at a `postgresql://` address, or one in the named SQLite file."""
    if isinstance(store, str) and store.startswith(("postgresql://", "postgres://")):
        return PostgresStore(store)
    return SQLiteStore(store) if isinstance(store, str | PathLike) else store
