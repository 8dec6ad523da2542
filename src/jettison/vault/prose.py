"""Secrets that people tell in sentences, in English and Russian: passwords, codes, PINs, keys, seed phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jettison.vault.lookalikes import is_code_value, is_identifier, is_mask, mixed
from jettison.vault.spans import Span, places_of

__all__ = ["prose_spans"]

_LINK = (
    r"(?:\s{0,3}(?::|—|–|-|→)|\s{1,3}=(?=\s)|\s{1,3}(?:is|was|are|this|это|такой|теперь|будет|был|стал|вот|now|still|set|to|changed|as|"
    r"на)\b){1,4}\s{0,3}"
)
_FILLER = (
    r"(?:[ \t]+(?:for|to|of|on|from|in|at|by|от|для|к|на|в|из|с|ко|по|у)[ \t]+[^\n:=—–\"'`«»“”.;?!]{1,60}?|"
    r"[ \t]+\([^)\n]{1,40}\)|(?:[ \t]+[а-яё]{2,20}){1,3}(?=\s{0,2}[:—–]))?"
)
_PURPOSE = r"(?:[ \t]+(?:for|to|для|от|к|на)[ \t]+[^\n:=—–\"'`«»“”.;?!]{1,60}?)?"
_OPEN = r"""["'`«“„*_]{0,2}"""
_VALUE = r"""(?P<value>[^\s"'`«»“”„<>]{4,200})"""
_NOUN = re.compile(
    r"(?<![\w.$/<-])(?:passwords?|passphrase|passcode|pass|pwd?|парол(?:ь|я|ем|ю|и)|"
    r"(?:api|access|secret|private)[ -]keys?|(?:api|access|auth|secret|bot|refresh|bearer)[ -]tokens?|tokens?|"
    r"(?:client[ -])?secret|токен(?:а|ом)?|ключ(?:а|ом)?|секрет(?:а)?|"
    r"(?:секретн\w+|api)[ -]ключ|credentials)\b" + _FILLER + _LINK + _OPEN + _VALUE,
    re.IGNORECASE,
)
_BARE_NOUN = re.compile(  # password Sunny4711!
    r"(?<![\w.$/<-])(?:passwords?|passphrase|pass|pwd|пароль)[ \t]{1,2}" + _OPEN + _VALUE, re.IGNORECASE
)
_SLASH = re.compile(  # логин/пароль: anna / Qwerty12!
    r"(?:login|user(?:name)?|логин)\s{0,2}(?:/|and|и)\s{0,2}(?:password|пароль)\s{0,3}[:—-]?\s{0,3}[^\s/]{2,80}\s{0,2}"
    r"(?:/|and|и|,)\s{0,2}(?P<value>[^\s,;\"'«»]{4,100})",
    re.IGNORECASE,
)
_CODES = re.compile(
    r"(?<![\w.$/<])(?:(?:one[ -]?time|verification|security|sms|login|sign[ -]?in|auth(?:entication)?|access|2fa|mfa|"
    r"otp|two[ -]factor|"
    r"backup|recovery)[ -](?:code|password|passcode|pin)|otp|pin(?:[ -]?code)?|passcode|cvv2?|cvc|"
    r"(?:одноразов\w+|проверочн\w+|секретн\w+)\s+(?:код|пароль)|"
    r"(?:код(?:а|ом)?|пароль)(?:\s+(?:из\s+(?:смс|sms|письма|приложения)|подтверждения|"
    r"доступа|безопасности|авторизации|входа|для\s+входа))|(?:пин|pin)(?:-?код)?а?)\b" + _PURPOSE
    + r"(?:\s{0,3}(?::|=|—|–|-)\s{0,3}|\s{1,3}(?:is|was|это|такой)\s{1,3}|\s{1,3})" + _OPEN
    + r"(?P<value>\d(?:[ -]?\d){3,7}|[A-Z0-9]{4,5}-[A-Z0-9]{4,5})(?![\w-])",
    re.IGNORECASE,
)  # fmt: skip
_CODE_FIRST = re.compile(
    r"(?:(?<![\w.-])|(?<=\bG-))(?P<value>\d{4,8})\s{1,3}(?:(?:is|as)\s+your|—|–|-)\s{0,3}(?:(?:your|ваш)\s+)?[^\n.]{0,40}?"
    r"(?:(?:verification|security|login|one[ -]time|auth\w*|2fa)[ -](?:code|passcode|password)|otp|"
    r"код\s+(?:подтверждения|доступа|для\s+входа)|одноразовый\s+код)",
    re.IGNORECASE,
)
_SEED = re.compile(
    r"(?:seed|recovery|mnemonic|backup)\s{0,2}(?:phrase|words)?\s{0,2}(?:is|:|=|—|-)\s{0,3}[\"'«]?"
    r"(?P<value>(?:[a-z]{3,8}\s{1,2}){11,23}[a-z]{3,8})\b",
    re.IGNORECASE,
)
# The words that a sentence of each kind has, and how far before them it may begin.
_ANCHORS: tuple[tuple[re.Pattern[str], int, tuple[str, ...], tuple[str, ...]], ...] = (
    (_NOUN, 12, ("pass", "pw", "key", "token", "secret", "credentials"), ("парол", "токен", "ключ", "секрет")),
    (_CODES, 24, ("code", "pin", "otp", "cvv", "cvc", "password"), ("код", "пин", "парол")),
    (_BARE_NOUN, 0, ("pass", "pwd"), ("парол",)),
    (_SLASH, 0, ("login", "user"), ("логин",)),
    (_SEED, 0, ("seed", "mnemonic", "recovery phrase", "backup phrase"), ()),
)
_WORD_AND_NUMBER = re.compile(
    r"(?!(?:pass|pwd|user|sha|md|utf|oauth|base|argon|bcrypt|rfc|http|tls|ssl|v|int|python|str|varchar|char|field|test|"
    r"step|line|page|row|option|example|version|level)\w*)[a-zа-яё]{3,30}\d{1,6}",
    re.IGNORECASE,
)
_KINDS = ((r"парол|pass|pwd?\b|credential", "password"), (r"key|ключ", "api-key"), (r"token|токен", "token"))


def prose_spans(text: str, low: bytes) -> Iterator[Span]:
    """Secrets told in words. `low` is the text, folded."""
    latin = text.isascii()
    for pattern, back, english, russian in _ANCHORS:
        for word in english if latin else english + russian:
            reached = 0
            for at in places_of(low, word):
                if at < reached or (not back and _inside(text, at)):
                    continue
                span = _found(text, pattern, at, back)
                if span is not None:
                    yield span
                    reached = span.end
    for word in (" is your ", " as your ") if latin else (" is your ", " as your ", " код", " одноразов"):
        for at in places_of(low, word):
            found = _CODE_FIRST.search(text, max(0, at - 20), at + 100)
            if found is not None:
                yield Span(found.start("value"), found.end("value"), "one-time-code")


def _inside(text: str, at: int) -> bool:
    """Whether the word only ends another one: `monkey`, `bypass`, `zipcode`. Names in code are not prose."""
    before = text[at - 1 : at] if at else ""
    return before.isalnum() or before in ("_", ".", "$", "/", "<")


def _found(text: str, pattern: re.Pattern[str], at: int, back: int) -> Span | None:
    found = pattern.search(text, max(0, at - back), at + 200) if back else pattern.match(text, at)
    if found is None:
        return None
    start, value = found.start("value"), found.group("value")
    if pattern is _CODES:
        return Span(start, start + len(value), "one-time-code")
    if pattern is _SEED:
        return Span(start, start + len(value), "seed-phrase")
    value = value.rstrip(".,;:)]}?»…*_")
    uuid = (
        is_identifier(value)
        and len(value) == 36
        and found.group().lower().startswith(("api", "access", "secret", "private", "ключ"))
    )
    if value.endswith("\\n"):
        value = value[:-2]
    if (
        len(value) < 4
        or is_mask(value)
        or (is_identifier(value) and not uuid)
        or any(char in value for char in "(){}[]\\|")
    ):
        return None
    head = found.group()[: start - found.start()].lower()
    kind = next((kind for words, kind in _KINDS if re.match(rf".{{0,10}}?(?:{words})", head)), "secret")
    if pattern is _SLASH:
        kind = "password"
    if kind == "password" and _WORD_AND_NUMBER.fullmatch(value) is not None:  # hunter2
        return Span(start, start + len(value), kind)
    if is_code_value(value) or value.startswith(("@", "#", "-")) or (value[0] == "/" and len(value) < 30):
        return None
    if uuid:
        return Span(start, start + len(value), "api-key")
    good = mixed(value) and any(map(str.isdigit, value)) if kind == "password" else mixed(value) and len(value) >= 12
    if kind == "password" and not good:
        good = mixed(value) and len(value) >= 8 and value.count("-") < 2 and "/" not in value and ":" not in value
    if pattern is _BARE_NOUN:  # "password Sunny4711!": nothing but the value speaks for it
        signs = sum((any(map(str.isupper, value)), any(map(str.islower, value)), any(not c.isalnum() for c in value)))
        good = good and kind == "password" and len(value) >= 8 and signs >= 2 and any(map(str.isdigit, value))
    return Span(start, start + len(value), kind) if good else None
