"""The vault: what counts as a secret, where secrets are kept, who may have them. One for many sessions."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from jettison.errors import ConfigError, JettisonError, VaultError, VaultKeyMissing
from jettison.vault.detect import Detector, Rules
from jettison.vault.grants import Grant
from jettison.vault.keeper import Keeper
from jettison.vault.keys import Keys, expires_of
from jettison.vault.secret import Secret
from jettison.vault.stores import MemoryStore, PostgresStore, SecretStore, SQLiteStore

__all__ = ["Vault"]


class Vault:
    """Keeps secrets out of histories. `Session(…, vault=Vault())` is all it takes.

    `store`: None keeps secrets in this process; the name of an SQLite file, a `postgresql://` address or a
    `SecretStore` keeps them sealed with `keys` (None: from the environment variable JETTISON_VAULT_KEY).
    `rule_sets`: maintained rules beside our own; `()` for our own alone. `patterns`: kind -> regular expression.
    `grants`: who may have which secrets, beside the tool that a secret came from. `ttl`: seconds that a secret lives.

    Raises ConfigError for settings that cannot be or are not installed, VaultError for a store that cannot be used.
    """

    def __init__(
        self,
        store: SecretStore | str | os.PathLike[str] | None = None,
        *,
        keys: Keys | str | bytes | None = None,
        rule_sets: Sequence[str | Rules] = ("kingfisher",),
        patterns: Mapping[str, str | re.Pattern[str]] | None = None,
        grants: Sequence[Grant] = (),
        ttl: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if ttl is not None and ttl <= 0:
            raise ConfigError(f"ttl must be > 0 seconds, not {ttl}")
        self.detector = Detector(rule_sets, patterns)
        self.grants, self.ttl, self.clock = tuple(grants), ttl, clock
        self.declared: list[tuple[str, str, Grant | None]] = []
        self._keys: Keys | None = None
        if store is not None:
            self._keys = keys if isinstance(keys, Keys) else Keys(keys) if keys else Keys.from_environment()
        self.store = _opened(store)

    def __repr__(self) -> str:
        return f"Vault({self.store!r})"

    def open(self, session: str) -> Keeper:
        """The vault of one session, with what it held before. A record whose key is lost is reported when asked for."""
        return Keeper(self, session)

    def declare(
        self,
        value: str,
        kind: str = "declared",
        *,
        tools: Collection[str] = (),
        arguments: Collection[str] | None = None,
        hosts: Collection[str] | None = None,
    ) -> None:
        """Name a secret beforehand: it is replaced wherever it turns up, and these tools may have it."""
        if len(value) < 4:
            raise ConfigError("a declared secret has 4 characters at least: a shorter one is part of every text")
        if re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?", kind) is None:
            raise ConfigError(f"kind {kind!r} must be of lower case letters, digits and hyphens, 40 at most")
        self.declared.append((value, kind, Grant("*", tools, arguments, hosts) if tools else None))

    def put(self, session: str, name: str, secret: Secret) -> None:
        """Seal and store one secret (`Keeper.save` does it)."""
        if self._keys is None:  # in memory, where the session has it anyway
            return
        with _told(f"{name} could not be stored"):
            self.store.put(session, name, self._keys.seal(secret.dump(), session, name, secret.expires))

    def add(self, session: str, name: str, secret: Secret) -> bool:
        """`put`, unless there is a record of that placeholder; whether it was stored."""
        if self._keys is None:
            return True
        with _told(f"{name} could not be stored"):
            record = self._keys.seal(secret.dump(), session, name, secret.expires)
            add = getattr(self.store, "add", None)
            if add is not None:
                return bool(add(session, name, record))
            if name in self.store.all(session):
                return False
            self.store.put(session, name, record)
            return True

    @property
    def lasting(self) -> bool:
        """Whether another process finds the secrets again."""
        return self._keys is not None

    def delete(self, session: str, name: str) -> None:
        with _told(f"{name} could not be deleted"):
            self.store.delete(session, name)

    def load(self, session: str) -> Iterator[tuple[str, Secret]]:
        """(placeholder, secret) of a session; what cannot be opened comes without its value, and says why."""
        if self._keys is None:
            return
        with _told("the session's secrets could not be read"):
            records = dict(self.store.all(session))
        for name, record in records.items():
            expires = expires_of(record)
            kind = name.removeprefix("{{secret:").rpartition(":")[0]
            if expires is not None and expires <= self.clock():
                self.delete(session, name)
                yield name, Secret(name, kind, None, why_gone="expired")
                continue
            try:
                yield name, Secret.load(name, self._keys.open(record, session, name), expires)
            except VaultKeyMissing:
                yield name, Secret(name, kind, None, why_gone="sealed with a key that the vault does not have")
            except VaultError:
                yield name, Secret(name, kind, None, why_gone="damaged, and not used")

    def rotate(self, keys: Keys) -> int:
        """Seal everything anew with the first of `keys`; they must hold the old ones too. Returns how many records.

        A record that cannot be opened stays as it is. Safe to run again after a failure.
        """
        if self._keys is None:
            raise ConfigError("a vault in memory has no keys")
        done = 0
        with _told("keys could not be rotated"):
            for session in self.store.sessions():
                for name, record in self.store.all(session).items():
                    if keys.is_current(record):
                        continue
                    try:
                        data = keys.open(record, session, name)
                    except VaultError:
                        continue
                    self.store.put(session, name, keys.seal(data, session, name, expires_of(record)))
                    done += 1
        self._keys = keys
        return done

    def purge(self) -> int:
        """Delete what has expired, in all sessions; returns how many. Needs no key."""
        gone = [
            (session, name)
            for session in self.store.sessions()
            for name, record in self.store.all(session).items()
            if (expires := expires_of(record)) is not None and expires <= self.clock()
        ]
        for session, name in gone:
            self.delete(session, name)
        return len(gone)

    def wipe(self, session: str | None = None) -> int:
        """Delete all records of a session, or of all; returns how many. Open sessions keep theirs: `Keeper.wipe`."""
        gone = 0
        for one in self.store.sessions() if session is None else [session]:
            for name in self.store.all(one):
                self.delete(one, name)
                gone += 1
        return gone


class _told:
    """A failure of the store, as a VaultError without the store's own words: they could quote what was written."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, JettisonError | ConfigError) or not isinstance(error, Exception):
            return
        raise VaultError(f"{self.what}: {type(error).__name__}") from None


def _opened(store: SecretStore | str | os.PathLike[str] | None) -> SecretStore:
    if store is None:
        return MemoryStore()
    if isinstance(store, str) and store.startswith(("postgresql://", "postgres://")):
        return PostgresStore(store)
    return SQLiteStore(store) if isinstance(store, str | os.PathLike) else store
