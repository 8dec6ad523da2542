"""Our own rules over a text: which word calls which rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from jettison.vault.abroad import told_abroad
from jettison.vault.codes import code_entered, code_told, phrase_told
from jettison.vault.commands import PROGRAMS, commanded
from jettison.vault.cues import Finder, words_in
from jettison.vault.named import named
from jettison.vault.naming import kind_of_name
from jettison.vault.places import (
    address,
    argument,
    keyed,
    of_oracle,
    of_tcp,
    parameters,
    placed,
    private_jwk,
    signing,
)
from jettison.vault.prose import login_pair, told
from jettison.vault.spans import Span
from jettison.vault.tables import column, inserted, manifest, of_line

__all__ = ["ruled_spans"]

_NAMES = "pass|pwd|psw|psk|secret|token|key|cred|otp|pin|code|cvv|cvc|sess|sid|auth|парол|_pat|-pat|jwt|salt"
_NOUNS = "pass|pwd|pw|key|secret|cred|token|парол|пасс|токен|ключ|секрет"
_CODES = "code|pin|otp|cvv|cvc|puk|authenticator|код|пин|пук|pass|парол"
_PHRASES = "wallet|кошел|seed|mnemonic|recover|backup|сид|мнемони|резервн"
_LOGINS = "cred|login|log in|logged in|sign in|account|доступ|учётк|учетк|логин|под |зайди|войти|данные|пароли"
_PLACES = "bearer|basic|cookie|auth|login"
_PIPES = "chpasswd|sudo|--password-stdin"
_ENTERED = "confirm|to verify|to sign|to log|to complete|to finish|для входа|для подтв|чтобы"
_CALLS = "connect(|connection(|credential(|credentials(|password(|authenticate("
_OTHERS = "hmac|@tcp(|dsn|://|kty|jwt.|5432:|3306:|*:"
WORDS = words_in(
    [_NAMES, _NOUNS, _CODES, _PHRASES, _LOGINS, _PLACES, _PIPES, _ENTERED, _CALLS, "|".join(PROGRAMS), _OTHERS]
)
"""What the text is searched for. The longest of several that begin alike is found alone: it stands for the others."""
_COLUMNS = frozenset(",;|\t\n \"'`)")
"""What stands behind the name of a column."""

_SETS = {
    name: frozenset(words.split("|"))
    for name, words in (
        ("name", _NAMES),
        ("noun", _NOUNS),
        ("code", _CODES),
        ("phrase", _PHRASES),
        ("login", _LOGINS),
        ("place", _PLACES),
        ("command", "|".join(PROGRAMS) + "|" + _PIPES),
    )
}


def _rules_of(word: str) -> frozenset[str]:
    """Names of the rules that a found word calls: its own, and those of the words that it begins with."""
    begins = [one for one in WORDS if word.startswith(one)]
    return frozenset(name for name, words in _SETS.items() if words.intersection(begins))


_ENTER = frozenset(_ENTERED.split("|"))


class _Called(NamedTuple):
    """A word, and which rules it calls."""

    word: str
    name: bool
    noun: bool
    code: bool
    phrase: bool
    login: bool
    place: bool
    command: bool


_CALLED = {word.encode("cp1251"): _Called(word, **{name: name in _rules_of(word) for name in _SETS}) for word in WORDS}


_FINDER = Finder(WORDS)


_ALONE: dict[str, Callable[[str, int], Span | None]] = {
    "://": address,
    "kty": private_jwk,
    "jwt.": signing,
    "hmac": keyed,
    "@tcp(": of_tcp,
    "dsn": of_oracle,
    **dict.fromkeys(("5432:", "3306:", "*:"), of_line),
    **dict.fromkeys(_CALLS.split("|"), argument),
}
"""Rules of one word."""


def ruled_spans(text: str, low: bytes) -> Iterator[Span]:
    """Everything that our own rules find beside shapes. `low` is the text, folded; spans may overlap."""
    reached = pair = table = block = 0
    for at, cue in _FINDER.find(low, text.isascii()):
        word, name, noun, code, phrase, login, place, command = _CALLED[cue]
        if name and at >= reached:  # not twice for `secret_token`
            reached, span = named(text, low, at, len(cue))
            if span is not None:
                yield span
                reached = max(reached, span.start)
            elif text[reached : reached + 1] in _COLUMNS and kind_of_name(text[at:reached]):
                if at >= table:
                    spans, table = column(text, at, reached)
                    yield from spans
                yield from inserted(text, at)
        if noun and (span := told(text, low, at)) is not None:
            yield span
        if code and (span := code_told(text, low, at)) is not None:
            yield span
        if login and at >= pair and (span := login_pair(text, low, at)) is not None:
            yield span
            pair = span.start
        if place:
            yield from placed(text, low, at, word)
        if phrase and (span := phrase_told(text, low, at)) is not None:
            yield span
        if command and (span := commanded(text, low, at, word)) is not None:
            yield span
        if word in _ENTER and (span := code_entered(text, low, at)) is not None:
            yield span
        if (rule := _ALONE.get(word)) is not None and (span := rule(text, at)) is not None:
            yield span
        if word.startswith("secret") and at >= block and text[max(0, at - 6) : at] == "kind: ":
            spans, block = manifest(text, at)
            yield from spans
    yield from parameters(text)
    yield from told_abroad(text)
