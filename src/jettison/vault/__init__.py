"""Secrets live here, not in the history: detection, placeholders, an encrypted store, and the way back."""

from __future__ import annotations

from jettison.vault.detect import Detector
from jettison.vault.grants import Grant
from jettison.vault.keeper import Keeper
from jettison.vault.keys import Keys, generate_key
from jettison.vault.placeholders import PLACEHOLDER
from jettison.vault.rehydrate import Rehydrator
from jettison.vault.spans import Span
from jettison.vault.stores import HashiCorpStore, MemoryStore, PostgresStore, SecretStore, SQLiteStore
from jettison.vault.vault import Vault

__all__ = [
    "PLACEHOLDER",
    "Detector",
    "Grant",
    "HashiCorpStore",
    "Keeper",
    "Keys",
    "MemoryStore",
    "PostgresStore",
    "Rehydrator",
    "SQLiteStore",
    "SecretStore",
    "Span",
    "Vault",
    "generate_key",
]
