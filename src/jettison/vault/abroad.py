"""Passwords that people tell in other languages than English and Russian: the noun, what links it, and the value.

Only what is told outright: "Mein Passwort ist …", "La contraseña es …", 密码：…; no rule reads more of these sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jettison.vault.prose import outright
from jettison.vault.spans import Span

__all__ = ["told_abroad"]

_NOUNS = (
    *("passwort", "kennwort", "contraseña", "clave", "mot de passe", "senha", "palavra-passe", "wachtwoord", "hasło"),
    *("heslo", "lösenord", "salasana", "parola", "şifre", "adgangskode", "passord", "jelszó", "mật khẩu", "kata sandi"),
    *("密码", "密碼", "口令", "パスワード", "비밀번호"),
    *("كلمة المرور", "كلمة السر", "סיסמה", "κωδικός", "पासवर्ड", "รหัสผ่าน"),
)
_LATIN = tuple(filter(str.isascii, _NOUNS))
_OF = "für|von|para|de|del|pour|da|do|voor|van|per|til|för|dla|pro"
_IS = "lautet|ist|es|est|é|è|is|är|er|on|to|jest|je|adalah|là|是|為|为|は|은|는|هي|هو|היא|είναι|है|คือ"
_TOLD = re.compile(
    rf"(?<![^\W\d_])(?:{'|'.join(map(re.escape, _NOUNS))})(?![^\W\d_]{{3}})"
    rf"(?:[^\S\n](?:{_OF})[^\S\n][\w.-]{{2,20}}(?:[^\S\n](?!(?:{_IS})[^\S\n])[\w.-]{{2,20}})?)?"
    rf"(?P<link>[^\S\n]{{0,2}}(?:(?:{_IS})(?![^\W\d_])|(?:是|為|为|は|은|는))?[^\S\n]{{0,2}}[:：=]?)\s{{0,2}}"
    r"[\"'`«“„「『*_(]{0,2}[ \u00a0\u202f]?(?P<value>[^\s\"'`«»<>|,;“”„「」『』，。；:：=]{5,100})",
    re.IGNORECASE,
)


def told_abroad(text: str) -> Iterator[Span]:
    """The passwords told in a text with one of these nouns."""
    low = text.lower()
    if any(noun in low for noun in (_LATIN if text.isascii() else _NOUNS)):
        for found in _TOLD.finditer(text):
            span = outright(text, *found.span("value"), linked=bool(found["link"].strip()))
            if span is not None:
                yield span
