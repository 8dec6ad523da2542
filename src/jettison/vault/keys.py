"""Keys of an encrypted vault, and sealing with them: AES-256-GCM, bound to the session and the placeholder."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jettison.errors import ConfigError, VaultError, VaultKeyMissing

__all__ = ["ENVIRONMENT", "Keys", "expires_of", "generate_key"]

ENVIRONMENT = "JETTISON_VAULT_KEY"
_MAGIC = b"JV1"
_HEAD = struct.Struct(">3s8sd12s")
"""Mark and version, key id, when it expires (seconds since 1970, 0: never), nonce."""


def generate_key() -> str:
    """A new key, as text: 32 random bytes in base64."""
    return base64.b64encode(os.urandom(32)).decode()


class Keys:
    """Keys of a vault: the first one seals, all of them open (older ones stay until `Vault.rotate` is done).

    `keys`: 32 bytes each, raw or in base64. Raises ConfigError for anything else, and without the extra.
    """

    def __init__(self, *keys: str | bytes) -> None:
        if not keys:
            raise ConfigError("a vault needs a key: jettison.vault.generate_key() makes one")
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as missing:
            raise ConfigError("an encrypted vault needs cryptography: pip install 'jettison[vault]'") from missing
        self._bad: type[Exception] = InvalidTag
        raw = [_raw(key) for key in keys]
        self._ids = [_id(key) for key in raw]
        self._ciphers: dict[bytes, Any] = {_id(key): AESGCM(key) for key in raw}

    @classmethod
    def from_environment(cls, name: str = ENVIRONMENT) -> Keys:
        """Keys in an environment variable, separated by commas, the current one first."""
        text = os.environ.get(name, "")
        if not text.strip():
            raise VaultKeyMissing(f"the vault's key is not there: set {name} (jettison.vault.generate_key() makes one)")
        return cls(*_split(text))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Keys:
        """Keys in a file, a line each, the current one first."""
        try:
            text = Path(path).read_text("ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise VaultKeyMissing(f"the vault's key file {os.fspath(path)} cannot be read") from error
        keys = _split(text)
        if not keys:
            raise VaultKeyMissing(f"the vault's key file {os.fspath(path)} is empty")
        return cls(*keys)

    @classmethod
    def from_keyring(cls, service: str = "jettison", user: str = "vault") -> Keys:
        """Keys in the system's keyring, as in the environment. A machine without a keyring raises VaultKeyMissing."""
        try:
            import keyring
            from keyring.errors import KeyringError
        except ImportError as missing:
            raise ConfigError("keys in a keyring need keyring: pip install 'jettison[vault]'") from missing
        try:
            text = keyring.get_password(service, user)
        except KeyringError as error:
            raise VaultKeyMissing(f"the system has no keyring that can be used ({type(error).__name__})") from error
        if not text:
            raise VaultKeyMissing(f"the keyring holds no key for service {service!r}, user {user!r}")
        return cls(*_split(text))

    def __repr__(self) -> str:
        return f"Keys({', '.join(number.hex() for number in self._ids)})"

    def seal(self, data: bytes, session: str, name: str, expires: float | None) -> bytes:
        """Encrypted, with its expiry readable and everything authenticated."""
        current = self._ids[0]
        head = _HEAD.pack(_MAGIC, current, expires or 0.0, os.urandom(12))
        sealed: bytes = self._ciphers[current].encrypt(head[-12:], data, _bound(head, session, name))
        return head + sealed

    def open(self, record: bytes, session: str, name: str) -> bytes:
        """What was sealed. Raises VaultKeyMissing without its key, VaultError when it was changed or moved."""
        key, nonce = _parsed(record, name)
        cipher = self._ciphers.get(key)
        if cipher is None:
            raise VaultKeyMissing(f"the key {key.hex()} of {name} is not among the vault's keys ({self!r})")
        try:
            data: bytes = cipher.decrypt(nonce, record[_HEAD.size :], _bound(record[: _HEAD.size], session, name))
        except self._bad as error:
            raise VaultError(f"the record of {name} was changed, or belongs elsewhere: it is not used") from error
        return data

    def is_current(self, record: bytes) -> bool:
        return record[3:11] == self._ids[0]


def expires_of(record: bytes) -> float | None:
    """When a record expires; None: never. Needs no key."""
    if len(record) < _HEAD.size or not record.startswith(_MAGIC):
        return None
    return float(_HEAD.unpack_from(record)[2]) or None


def _parsed(record: bytes, name: str) -> tuple[bytes, bytes]:
    if len(record) < _HEAD.size + 16 or not record.startswith(_MAGIC):
        raise VaultError(f"the record of {name} is not one of this vault's")
    _, key, _, nonce = _HEAD.unpack_from(record)
    return key, nonce


def _bound(head: bytes, session: str, name: str) -> bytes:
    where = session.encode("utf-8", "surrogatepass")
    return head + struct.pack(">I", len(where)) + where + name.encode()


def _split(text: str) -> Sequence[str]:
    return [part for part in text.replace(",", "\n").split() if part]


def _raw(key: str | bytes) -> bytes:
    if isinstance(key, bytes) and len(key) == 32:
        return key
    try:
        raw = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != 32:
        raise ConfigError("a vault's key is 32 bytes, raw or in base64")
    return raw


def _id(key: bytes) -> bytes:
    return hashlib.sha256(b"jettison vault key id\0" + key).digest()[:8]
