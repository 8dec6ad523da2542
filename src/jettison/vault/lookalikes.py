"""What only looks like a secret: placeholders of documentation, names of variables, code, ids, words."""

from __future__ import annotations

import re

__all__ = ["is_code_value", "is_identifier", "is_mask", "mixed", "words_of_name"]

# As whole values, in any case. English and Russian documentation.
_STOP = frozenset(
    [
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "apikey",
        "api_key",
        "string",
        "str",
        "bytes",
        "text",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "required",
        "optional",
        "hidden",
        "redacted",
        "removed",
        "masked",
        "sensitive",
        "secure",
        "unset",
        "empty",
        "default",
        "value",
        "example",
        "sample",
        "test",
        "user",
        "username",
        "admin",
        "root",
        "changeme",
        "changeit",
        "your-password",
        "yourpassword",
        "mypassword",
        "my-password",
        "password1",
        "password12",
        "password123",
        "password1234",
        "test123",
        "test1234",
        "testpass",
        "testpassword",
        "testpass123",
        "secret123",
        "pass123",
        "int",
        "integer",
        "number",
        "bool",
        "boolean",
        "object",
        "array",
        "any",
        "unknown",
        "invalid",
        "incorrect",
        "wrong",
        "expired",
        "valid",
        "missing",
        "basic",
        "bearer",
        "oauth",
        "oauth2",
        "jwt",
        "env",
        "environment",
        "prompt",
        "stdin",
        "file",
        "vault",
        "keyring",
        "пароль",
        "секрет",
        "токен",
        "ключ",
        "код",
        "значение",
        "строка",
        "скрыт",
        "скрыто",
        "обязательно",
        "неверный",
        "верный",
        "нет",
        "да",
    ]
)
_MASK = re.compile(
    r"[*•xX.…_#?-]{3,}|\.{3,}|<[^>]*>|\[[^\]]*\]|\$\{?[A-Za-z_({].*|%\w+%|\{.*\}|.*\{\{.*|"
    r"(?i:(?:your|my|insert|enter|put|replace|use|new|old|ваш|мой|твой|введите|вставьте)[ _-].*)|"
    r"(?i:.*(?:placeholder|redacted|changeme|your[_-]?(?:api|token|key|secret|pass)|_here|-here|\.\.\.|…|\*\*\*|"
    r"x{6,}|example\.(?:com|org|net)|[•*●]{3,}).*)|![a-z]+|:?\?\w+|ENC\[.*|(?:vault|op|env|file|ssm|arn|ref|secretsmanager):.*",
    re.DOTALL,
)
_PATH = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+[(\[]?.*")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[].*", re.DOTALL)
_NAME = re.compile(r"_*[A-Za-z]+(?:_+[A-Za-z]+)*\d{0,2}_*")
_WORDS = re.compile(r"[A-Z]?[a-zа-яё]+|[A-ZА-ЯЁ]+(?![a-zа-яё])|\d+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]*)?|\d\d:\d\d(?::\d\d)?")
_FILE = re.compile(
    r"(?:[~.]{0,2}/|[A-Za-z]:\\)[\w./\\ -]+|[\w./-]+\.(?:json|ya?ml|toml|txt|pem|key|env|py|js|ts|go|md|cfg)"
)
_PIECES = re.compile(r"[/.]")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE)


def is_mask(value: str) -> bool:
    """Whether the value stands for a secret, and is none: `<token>`, `${TOKEN}`, `****`, `your-api-key`, `required`."""
    return value.lower() in _STOP or _MASK.fullmatch(value) is not None or len(set(value)) < 3


def is_code_value(value: str) -> bool:
    """Whether an unquoted value reads as code or a reference: a name, a path, a call, a date, a file, a URL."""
    if _has_random_run(value):
        return False
    return any(shape.fullmatch(value) is not None for shape in (_PATH, _CALL, _NAME, _DATE, _FILE, _URL))


def is_identifier(value: str) -> bool:
    """Whether the value is an id that anybody may know: a uuid, a date, a plain number, a file, a URL."""
    if value.isdigit() or any(shape.fullmatch(value) is not None for shape in (_UUID, _DATE, _URL)):
        return True
    return _FILE.fullmatch(value) is not None and not _has_random_run(value)


def _has_random_run(value: str) -> bool:
    """Whether a piece between slashes and dots is too long and too mixed to be a name."""
    pieces = [piece for piece in _PIECES.split(value) if len(piece) >= 16] if "://" not in value else []
    return any(
        any(map(str.isdigit, piece)) and any(map(str.isupper, piece)) and any(map(str.islower, piece))
        for piece in pieces
    )


def mixed(value: str) -> bool:
    """Whether letters and digits, or letters and signs, or both cases inside a word, are mixed."""
    letters = any(map(str.isalpha, value))
    digits = any(map(str.isdigit, value))
    signs = any(not char.isalnum() and char not in "-_. '" for char in value)
    inner = value[1:]
    cases = any(map(str.isupper, inner)) and any(map(str.islower, value)) and not _NAME.fullmatch(value)
    return letters and (digits or signs or cases)


def words_of_name(name: str) -> list[str]:
    """`awsSecretAccess_KEY` → aws, secret, access, key."""
    return [word.lower() for word in _WORDS.findall(name)]
