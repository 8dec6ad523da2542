"""Secrets that people tell in sentences, in English and Russian: passwords, keys, and pairs of login and password.

A sentence has a noun (`password`, `токен`) and near it a word that only a secret looks like. How much it has to look
like one depends on what stands between: `password: hunter22` and `try hunter22 as the root password` leave no doubt,
`the password of the archive, as I said, xK9vT2mQ` needs a value that nobody says by accident.
"""

from __future__ import annotations

import re

from jettison.vault.lookalikes import is_code_value, is_identifier, is_mask, mixed
from jettison.vault.spans import Span
from jettison.vault.strength import MARK, STRONG, WEAK, changes, opaque, password_like

__all__ = ["login_pair", "outright", "told"]

_NOUN = re.compile(
    r"(?P<password>passwords?|passphrases?|passcode|passwd|pass|pwd|pw|парол(?:ь|я|ем|ю|и)|пасс(?:ом)?|"
    r"psw)(?![\w(=@%/+&-])|"
    r"(?P<key>(?:keys?|secret|creds?|credentials?|ключ(?:а|ом|и)?|секрет(?:а|ы)?|секретк[аиу])(?![\w(=@%/+&-]))|"
    r"(?P<token>(?:tokens?|токен(?:а|ом|ы)?)(?![\w(=@%/+&-]))",
    re.IGNORECASE,
)
_NO_KEY = re.compile(
    r"\b(?:cache|primary|sort|partition|foreign|object|s3|i18n|public|publishable|host|routing|lookup|dict|map|"
    r"index|ssh|site|idempotency|открытый|публичный)[ _-]\Z",
    re.I,
)
_WINDOW = 110
_WORD = re.compile(r"[^\s\"'`«»“”„<>|,;]+")
_MARKED = re.compile(  # a word with a digit or a sign
    r"(?<![^\s\"'`«»“”„<>|,;])[^\s\"'`«»“”„<>|,;\d!$%^*+#~_@.:/-]*[\d!$%^*+#~_@.:/-][^\s\"'`«»“”„<>|,;]*"
)
_LINK = re.compile(
    r"(?:[’']s\b)?(?:\s{0,3}(?::|=|—|–|->|→|-(?=\s))|\s{1,3}(?:is|was|are|this|it's|это|такой|такая|теперь|"
    r"будет|был|стал|вот|now|"
    r"still|set|to|changed|as|на|new|here|from)\b|\s{0,3}(?:[’']s\b))*\s{0,3}(?:<[a-z]{1,8}>\s?){0,2}[\"'`«“„*_(]{0,2}",
    re.IGNORECASE,
)
_OF = re.compile(  # "password for the database: …", «пароль от wifi …»
    r"\s(?:for|of|to|от|для|к|на)\s(?:the\s|our\s|my\s)?[\w.-]{2,20}(?:\s[\w.-]{2,20})?\s?(?P<colon>[:=—–]|-(?=\s))?\s"
    r"[\"'`«“„*_(]{0,2}",
    re.IGNORECASE,
)
_LINKED = re.compile(
    r"(?::|=|—|–|->|→|\s-(?=\s)|\b(?:is|was|are|be|type|enter|to|from|with|use|using|это|на|такой|вот|теперь|"
    r"как)|[’']s)\s{0,3}(?:<[a-z]{1,8}>\s?){0,2}[\"'`«“„*_(]{0,2}\Z",
    re.I,
)
_ALONE = re.compile(
    r"[^\n]{0,60}?(?P<asked>[?:])?!?[ \t]{0,4}\r?\n\s{0,8}(?:[A-Za-z]{1,8}:[ \t]{1,2}|"
    r">\s)?[`*\"]{0,2}(?P<value>[^\s`*\"<>]{5,200})[`*\"]{0,2}[ \t]*(?:\r?\n|\Z)"
)
_USER_PAIR = re.compile(r"[\w.@-]{2,40}:(?!//)(?=\S{5})|\w{2,40}=(?=\S{5})")
_END = re.compile(r"[.!?](?=\s|$)|\n")
# A hash, an id or a number of these is none of the noun before them.
_OTHERS = re.compile(
    r"\b(?:hash|sha\d*|md5|commit|digest|ids?|uuid|count|counts|file|path|url|version|expires?|length|size|"
    r"limit|type|name|"
    r"kind|number|line|error|branch|checksum|fingerprint|public|publishable|логин|хеш|коммит|файл|номер)\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?:\b(?:use|using|try|enter|set|with|to|was|is|type|it|на|с|введи(?:те)?|используй(?:те)?|попробуй(?:те)?|"
    r"под)|[:—–-])\s{1,3}"
    r"[\"'`«“„*(]{0,2}\Z",
    re.IGNORECASE,
)
_AS = re.compile(
    r"[\"'`»”*)]{0,2},?\s{1,3}(?:is|was|as|for now|that's|for|—|–|-|как|это|в качестве|вместо|больше)[^.;:\n]{0,40}\Z",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?P<who>[\w.@+\\-]{2,60})(?:\s{0,2}/\s{0,2}|:|,?\s{1,3}(?:with|and|и|с)\s{1,3}(?:the\s+)?(?:pass\w*\s+|"
    r"парол\w*\s+)?|"
    r"\s{0,2},\s{0,2}(?=[^\s,]*\d))[\"'`«]?(?P<value>[^\s\"'`«»<>|,;/]{5,60})"
)
_PAIRS = re.compile(
    r"\b(?:as|under|for|under|account|user|username|login|log in|sign in|are|is|под|логин\w*)\b|[:—-]", re.IGNORECASE
)
_JOINTS = ("/", ":", "with", "с")
_HEAD = re.compile(r"\w+")
_SLASHED = re.compile(  # login/password: anna / Qwerty12
    r"\s{0,2}(?:/|and|и|&|\+)\s{0,2}(?:password|pass|pwd|pw|парол\w*|пасс)\s{0,3}[:=—–-]?\s{0,3}[^\s/:,]{2,80}\s{0,2}"
    r"(?:/|:|and|и|,)\s{0,2}(?P<value>[^\s,;\"'«»]{4,100})",
    re.IGNORECASE,
)


def told(text: str, low: bytes, at: int) -> Span | None:
    """The secret that the noun at this place speaks of. `low` is the text, folded."""
    if MARK.search(text, max(0, at - 70), at + 2 * _WINDOW) is None:
        return None
    before = text[at - 1 : at]
    if before and (
        before.isalnum()
        or before in "_.$/<{[\\"
        or (before == ":" and at > 1 and not text[at - 2].isspace())
        or (before == "-" and text[at].isascii())
    ):
        return None
    noun = _NOUN.match(text, at)
    if noun is None:
        return None
    if noun.group("key") and ((before in "\"'`" and before) or _NO_KEY.search(text, max(0, at - 14), at)):
        return None
    kind = "password" if noun.group("password") else "token" if noun.group("token") else "api-key"
    if noun.group().lower() in ("credentials", "creds", "cred", "secret", "секрет", "credential"):
        kind = "secret"
    end = noun.end()
    line = _END.search(text, end, end + _WINDOW)
    stop = line.start() if line is not None else min(len(text), end + _WINDOW)
    if line is not None and text[line.start()] == "." and text[line.start() - 1 : line.start()].isdigit():
        stop = line.end()
    return _after(text, end, stop, kind) or _below(text, end, kind) or _ahead(text, at, kind)


def _below(text: str, end: int, kind: str) -> Span | None:
    """A value alone on the line below: "what was the password again?", and the answer."""
    found = _ALONE.match(text, end)
    if found is None or is_mask(found.group("value")):
        return None
    value, asked = found.group("value"), found.group("asked")
    strength = password_like(value) if kind != "token" else 0
    if strength >= STRONG or (strength == WEAK and asked) or (kind != "password" and opaque(value, 20)):
        return Span(found.start("value"), found.end("value"), kind)
    return None


def _after(text: str, end: int, stop: int, kind: str) -> Span | None:
    link = _LINK.match(text, end)
    assert link is not None  # it matches the empty string
    direct = link.end() if link.end() > end and link.end() < len(text) else -1
    if direct >= stop and text[end:direct].strip(" \t\"'`«“„*_") in (":", "is:", "="):  # "Password:\n  xK9vT2mQ"
        stop = min(len(text), direct + 80)
        stop = stop if (line := text.find("\n", direct, stop)) < 0 else line
    digit, first = -1, end if direct < 0 else direct
    for word in _MARKED.finditer(text, first, stop + 100):
        start, value = _trimmed(text, word.start(), word.group())
        between = text[end:start]
        number = between.count(" ") - (not between.strip())
        if start > stop or number > 12:
            return None
        if kind == "secret" and (pair := _USER_PAIR.match(value)) is not None:
            start, value = start + pair.end(), value[pair.end() :]
        if not value or value.isalpha():
            continue
        if _OTHERS.search(between) and not (text[start - 1] in "`\"'«" and between.rstrip(" \"'`«“*").endswith(":")):
            return None
        if value.isdigit() and len(value) == 1:  # how it is encrypted: `password 0 …`
            digit = word.end()
            continue
        if start <= direct + 1 or (not between.strip(" \t\"'`«“„*_") and direct < 0):
            near = 2 if between.strip(" \t\"'`«“„*_") else 1
        else:
            quoted = text[start - 1 : start] in ("'", '"', "`", "«", "“") and any(map(str.isdigit, value))
            of = _OF.fullmatch(between)
            near = 2 if of and of["colon"] else 1 if of or quoted or start == digit + 1 else 0
            near = near or (_LINKED.search(text, max(end, start - 12), start) is not None)
        if _fits(value, kind, near, number):
            return Span(start, start + len(value), kind)
        if near == 2:
            return None
    return None


def outright(text: str, start: int, end: int, linked: bool) -> Span | None:
    """The password that a word beside its noun is, without what belongs to the sentence. `linked`: a verb or a colon
    stands between the two."""
    start, value = _trimmed(text, start, text[start:end])
    if not value or value.isalpha() or not _fits(value, "password", 2 if linked else 1, 0):
        return None
    return Span(start, start + len(value), "password")


def _trimmed(text: str, start: int, word: str) -> tuple[int, str]:
    """Without what belongs to the sentence: brackets around it, a full stop, the marks of bold text."""
    value = word.rstrip(".,:;)]}…»")
    value = value.removesuffix("\\n")
    while value[:1] in ("(", "*", "_", "[") and len(value) > 1:
        mark, value, start = value[0], value[1:], start + 1
        if mark in "*_":
            value = value.removesuffix(mark)
    return start, value


def _fits(value: str, kind: str, near: int, number: int) -> bool:
    """Whether the value may be one of this kind. `near`: 2 linked directly, 1 linked or adjacent, 0 further on."""
    if is_mask(value) or value.startswith(("@", "#", "--", "$")) or any(char in value for char in "(){}[]\\|"):
        return False
    if kind == "password" or (kind == "secret" and near):
        strength = password_like(value)
        if strength >= STRONG or (strength == WEAK and near):
            return True
        if near == 2 and kind == "password":
            return _plain_password(value)
    if kind == "password":
        return False
    if is_identifier(value):
        return len(value) == 36 and value.count("-") == 4 and near == 2 and kind == "api-key"
    if near and len(value) >= 32 and _HEX.fullmatch(value):
        return near == 2 or number <= 6
    least = 12 if near == 2 else 16 if near else 20
    if is_code_value(value):
        return False
    return opaque(value, least) or (
        near == 2 and mixed(value) and len(value) >= 12 and any(map(str.isdigit, value)) and "/" not in value
    )


_HEX = re.compile(r"[0-9a-f]{32,128}|[0-9A-F]{32,128}")


def _plain_password(value: str) -> bool:
    """Told as a password outright: "the password is Sunny!day"."""
    if is_identifier(value) or is_code_value(value) or value[0] in "@#/-" or "://" in value:
        return False
    if not mixed(value) or value.endswith((".py", ".md", ".js")):
        return False
    if any(map(str.isdigit, value)):
        return len(value) >= 5 and not re.fullmatch(r"\d+[a-zA-Z%-]+|[A-Z]+-?\d+|v?\d[\d.]*\w?", value)
    return len(value) >= 8 and value.count("-") < 2 and "/" not in value and ":" not in value and changes(value) >= 3


def _ahead(text: str, at: int, kind: str) -> Span | None:
    """A value that stands before its noun: `use xK9vT2mQ as the password`."""
    least = max(0, at - 70)
    cut = max(text.rfind("\n", least, at), text.rfind(". ", least, at) + 1, text.rfind("; ", least, at) + 1, least)
    words = list(_MARKED.finditer(text, cut, at))
    for word in reversed(words[-8:]):
        start, value = _trimmed(text, word.start(), word.group())
        if value.isalpha() or len(value) < 5 or (start == least and least and not text[start - 1].isspace()):
            continue
        value = value.strip("\"'`")
        framed = _AS.match(text, start + len(value), at) is not None
        told = _BEFORE.search(text, max(0, start - 20), start) is not None
        if not (framed or (told and at - start - len(value) < 4)) and value[:2] != "0x":
            continue
        if kind in ("password", "secret"):
            strength = password_like(value)
            if strength >= STRONG or (strength == WEAK and framed and told):
                return Span(start, start + len(value), kind)
        elif (
            at - start < 90
            and value[:2] == "0x"
            and len(value) == 66
            and text[max(0, at - 8) : at].lower() == "private "
        ):
            return Span(start, start + len(value), "private-key")
        elif framed and told and opaque(value, 20) and not is_code_value(value):
            return Span(start, start + len(value), kind)
    return None


def login_pair(text: str, low: bytes, at: int) -> Span | None:
    """`creds: anna / Qwerty12`, `sign in as anna with Qwerty12`, `login/password: anna / Qwerty12`."""
    if (at and text[at - 1].isalnum()) or MARK.search(text, at, at + _WINDOW) is None:
        return None
    word = _WORD.match(text, at)
    end = at + len(word.group()) if word is not None else at
    head = _HEAD.match(text, at)
    slashed = _SLASHED.match(text, head.end() if head is not None else end)
    if slashed is not None and not is_mask(slashed.group("value")) and not slashed.group("value").isalpha():
        value = slashed.group("value").rstrip(".")
        if mixed(value):
            return Span(slashed.start("value"), slashed.start("value") + len(value), "password")
    if head is not None and text[head.end() : head.end() + 1] in ("", ".", "?", "_", "("):
        return None
    line = text.find("\n", end, end + 100)
    stop = line if line >= 0 else min(len(text), end + 100)
    begin = _PAIRS.search(text, at, stop)
    if begin is None:
        return None
    for found in _PAIR.finditer(text, begin.start(), stop):
        value = found.group("value").rstrip(".)")
        strength = password_like(value)
        if strength >= STRONG or (
            strength == WEAK
            and (
                "@" in found.group("who")
                or text[found.end("who") : found.start("value")].strip().partition(" ")[0] in _JOINTS
            )
        ):
            return Span(found.start("value"), found.start("value") + len(value), "password")
    return None
