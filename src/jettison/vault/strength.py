"""How much a word by itself looks like a password or a key: what a sentence or a command may hold unquoted."""

from __future__ import annotations

import re

from jettison.vault.lookalikes import is_identifier, is_mask

__all__ = ["LONG", "MARK", "STRONG", "WEAK", "changes", "opaque", "password_like"]

WEAK, STRONG, LONG = 1, 2, 3
"""A word and a number, or words with hyphens and a number; what nobody says by accident; the same, of 20 letters."""

MARK = re.compile(r"[\d!$%^*+#~_]")
"""What a value has that a plain word has not. Where there is none a sentence holds no secret: most end here."""

_CLASS = str.maketrans(
    {
        **dict.fromkeys(map(chr, range(97, 123)), "a"),
        **dict.fromkeys(map(chr, range(65, 91)), "A"),
        **dict.fromkeys("0123456789", "0"),
    }
)
_RUNS = re.compile(r"a+|A+|0+|[^aA0]+")
_NO_PASSWORD = re.compile(
    r"[(){}\[\]\\|<>=;\"'`,]|://|^[@#/~.-]|/.*/|\.(?:com|org|net|io|test|ru|html?|js|py|md)\b|:\d+$|\w\?\w|\w&\w|:!|^\w+@\d+$|\d%$"
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_HEX = re.compile(r"(?:0x)?[0-9a-f]{6,}|(?:0x)?[0-9A-F]{6,}")
_NUMBERED = re.compile(
    # versions, sizes, dates, ids of tickets and products, names of models and formats
    r"v?\d+(?:[.,:_/-]\d+)*[a-zA-Z%°]{0,4}\d?|[A-Z][A-Z_]*[-_#]?\d[\d-]*[A-Z]?|#?\d+(?:st|nd|rd|th)|"
    r"[a-z]{1,3}\d{1,3}|(?:[a-zA-Z]+[-_.])*v\d+(?:[-_.]\w+)*|"
    r"(?i:(?:sha|md|argon|bcrypt|scrypt|pbkdf|ed|curve|utf|base|oauth|python|py|int|uint|float|rfc|http|h|aes|rsa|iso|ipv|x|win|mac|es|vue|auth|s|ec|k|"
    r"step|line|page|row|test|user|item|part|chapter|section|level|option|example|version|team|room|node|web|db|srv|"
    r"gpt|claude|gemini|llama|qwen|mistral|figure|table|file|image|img|task|job|build|host|server|case|phase|week|day)"
    r"[-_ ]?\d[\d.]*[a-z]?(?:[-_][\w.]+)*)"
)
_WORD_NUMBER = re.compile(r"[^\W\d_]{3,20}\d{2,6}")
_HYPHENED = re.compile(r"(?:[a-z]{3,12}[-_.]){1,5}\d{2,4}|(?:[A-Z][a-z]{2,11}[-_.]?){1,4}\d{2,4}")
_TAIL = re.compile(r"[A-Z][a-z]{2,12}[_*!-][A-Za-z0-9]{2,6}")
_GROUPS = re.compile(r"(?=(?:[^\d]*\d){2})[a-z0-9]{5,8}(?:-[a-z0-9]{5,8}){2,4}")
_SIGNS = frozenset("!$%^&*+#@~")
_PIECES = re.compile(r"[-_./=]")
_KEY = re.compile(r"[A-Za-z0-9_+/=.~-]{16,}")


def changes(value: str) -> int:
    """How many runs of small letters, capitals, digits and signs follow one another."""
    return len(_RUNS.findall(value.translate(_CLASS)))


def password_like(value: str) -> int:
    """0: no password; WEAK, STRONG or LONG."""
    if not 5 <= len(value) <= 100 or value.isalpha() or value.isdigit():
        return 0
    if (
        _NO_PASSWORD.search(value) is not None
        or is_mask(value)
        or _MAIL.fullmatch(value)
        or _HEX.fullmatch(value)
        or is_identifier(value)
        or _NUMBERED.fullmatch(value)
    ):
        return 0
    digits = sum(map(str.isdigit, value))
    signs = sum(char in _SIGNS for char in value)
    letters = sum(map(str.isalpha, value))
    if not letters or not (digits or signs):
        return WEAK if letters and _TAIL.fullmatch(value) else 0
    runs = changes(value)
    if _GROUPS.fullmatch(value):
        return STRONG
    if signs and digits and len(value) >= 6 and letters >= 3 and runs >= 3 - (value[-1] not in _SIGNS):
        return STRONG
    if value.count("-") < 2 and "/" not in value and "." not in value and len(value) >= 8:
        upper, lower = any(map(str.isupper, value)), any(map(str.islower, value))
        if digits and runs >= (5 if upper and lower else 6) and "_" not in value[:1]:
            return LONG if len(value) >= 20 else STRONG
        if digits and upper and lower and runs >= 4 and len(value) >= 10:
            return STRONG
    if digits and runs >= 3 and len(value) >= 8 and value.isalnum() and not _HEX.fullmatch(value):
        return WEAK
    if _WORD_NUMBER.fullmatch(value) or _HYPHENED.fullmatch(value) or _TAIL.fullmatch(value):
        return WEAK
    return WEAK if signs and len(value) >= 8 and letters >= 5 and runs >= 3 else 0


def _random(piece: str) -> bool:
    """Whether a piece between hyphens and dots is neither a word nor a number."""
    return len(piece) >= 8 and (changes(piece) >= 4 or (len(piece) >= 16 and changes(piece) >= 3))


def opaque(value: str, least: int = 16) -> bool:
    """Whether it is a run of letters and digits that only a machine writes: a key, a token; no uuid, hash or path."""
    if len(value) < least or _KEY.fullmatch(value) is None or is_mask(value) or is_identifier(value):
        return False
    if not any(map(_random, _PIECES.split(value))):
        return False
    if _HEX.fullmatch(value) and len(value) < 32:
        return False
    if value.count("/") > 3 or value.count("-") > 5 or value.count(".") > 3 or value.count("_") > 4:
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    return digits >= 2 and letters >= 3 and changes(value) >= max(5, len(value) // 6)
