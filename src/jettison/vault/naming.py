"""What a name says about its value: `client_secret`, `X-Api-Key`, `PGPASSWORD`, `sessionToken`, `пароль`."""

from __future__ import annotations

from functools import lru_cache

from jettison.vault.lookalikes import words_of_name

__all__ = ["kind_of_name"]

_PASSWORDS = (
    "password", "passwd", "passphrase", "passwort", "pwd", "passcode", "пароль", "пароля", "psw", "psk", "requirepass",
    "storepass", "keypass", "userpass", "dbpass", "masterauth", "пасс", "пароли",
)  # fmt: skip
_OTHER_KEYS = frozenset(
    [
        "file",
        "object",
        "cache",
        "primary",
        "foreign",
        "partition",
        "sort",
        "hash",
        "map",
        "item",
        "row",
        "group",
        "index",
        "s3",
        "blob",
        "storage",
        "i18n",
        "message",
        "event",
        "node",
        "component",
        "react",
        "lookup",
        "routing",
        "idempotency",
        "dedup",
        "dedupe",
        "record",
        "doc",
        "document",
        "data",
        "image",
        "media",
        "asset",
        "name",
        "path",
        "issue",
        "project",
        "board",
        "ticket",
        "column",
        "field",
        "state",
        "query",
        "sk",
        "pk",
        "hot",
        "short",
        "turkey",
        "monkey",
        "donkey",
    ]
)
_PUBLIC = frozenset(["public", "publishable", "anon", "site", "csrftokenname"])
_KEY_BEFORE = frozenset(
    [
        "api",
        "access",
        "secret",
        "private",
        "signing",
        "encryption",
        "master",
        "auth",
        "service",
        "account",
        "shared",
        "license",
        "licence",
        "deploy",
        "ssh",
        "storage",
        "hmac",
        "session",
        "app",
        "application",
        "admin",
        "root",
        "webhook",
        "aes",
        "decryption",
        "subscription",
        "personal",
        "integration",
        "machine",
        "functions",
        "write",
        "ingest",
        "routing",
    ]
)
_GLUED_KEYS = [
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "authkey",
    "servicekey",
    "accountkey",
    "sharedkey",
    "licensekey",
    "deploykey",
    "sharedaccesskey",
    "storagekey",
    "hmackey",
    "appkey",
    "secretaccesskey",
]
# Tokens of pages, of language models, of parsers.
_TOKEN_BEFORE = frozenset(
    [
        "page",
        "next",
        "cursor",
        "continuation",
        "sync",
        "pad",
        "eos",
        "bos",
        "unk",
        "mask",
        "sep",
        "stop",
        "start",
        "end",
        "cancellation",
        "cancel",
        "max",
        "min",
        "first",
        "last",
        "special",
        "prev",
        "previous",
        "pagination",
        "per",
        "cls",
        "image",
        "current",
        "resume",
        "change",
        "delta",
        "start",
        "total",
        "this",
        "each",
        "input",
        "output",
        "prompt",
        "completion",
    ]
)
_CODES = (
    ("otp",),
    ("totp",),
    ("pin",),
    ("mfa", "code"),
    ("2", "fa", "code"),
    ("verification", "code"),
    ("sms", "code"),
    ("security", "code"),
    ("time", "code"),
    ("login", "code"),
    ("auth", "code"),
    ("cvv",),
    ("cvc",),
    ("puk",),
    ("confirmation", "pin"),
)
_SESSIONS = ("phpsessid", "jsessionid", "sessid", "connectsid", "aspnetsessionid", "laravelsession", "csrftoken")


@lru_cache(4096)
def kind_of_name(name: str) -> str | None:
    """The kind of secret that stands under this name; None: not a secret's name. Plural counts are no tokens."""
    words = words_of_name(name)
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    joined = "".join(words)
    if not _PUBLIC.isdisjoint(words):
        return None
    if last in ("confirmation", "confirm", "repeat", "again") and len(words) > 1:
        return kind_of_name("_".join(words[:-1]))
    if joined.endswith(_PASSWORDS) or last == "pass":
        return "password"
    if joined.endswith(("secret", "secretkeybase")) or (last == "value" and before == "secret"):
        return "secret"
    if last in ("pat", "oauth") and before:
        return "token"
    if joined.endswith("token") and before not in _TOKEN_BEFORE:
        return "token"
    if (last == "key" and before in _KEY_BEFORE) or joined.endswith(("keydata", *_GLUED_KEYS)):
        return "api-key"
    if any(tuple(words[-len(code) :]) == code for code in _CODES):
        return "one-time-code"
    if words[-2:] in (["session", "id"], ["sess", "id"], ["session", "key"]) or last in ("sid", "sessionid"):
        return "session-id"
    if joined in _SESSIONS:
        return "session"
    if joined.endswith(("credential", "credentials")):
        return "credential"
    return "maybe-key" if last.endswith("key") and not _OTHER_KEYS.intersection(words) else None
