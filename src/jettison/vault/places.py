"""Secrets that are known by their place: headers, URLs, cookies, command lines."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from jettison.vault.lookalikes import is_code_value, is_mask, mixed
from jettison.vault.naming import kind_of_name
from jettison.vault.spans import Span
from jettison.vault.strength import opaque, password_like

__all__ = [
    "address",
    "argument",
    "keyed",
    "of_oracle",
    "of_tcp",
    "parameters",
    "placed",
    "private_jwk",
    "signing",
]

_BEARER = re.compile(r"bearer(?:\s|%20|\+){1,3}([A-Za-z0-9._~+/=-]{8,4000})", re.IGNORECASE)
_BASIC = re.compile(r"basic\s{1,3}([A-Za-z0-9+/]{6,400}={0,2})", re.IGNORECASE)
_AUTH = re.compile(
    r"""authorization\\?["']?\]?\s{0,3}[:=,]\s{0,3}\\?["'`]?(?:(?:token|apikey|key|ssws|bot|oauth|splunk|genie-?key)\s{1,3}(?:token=)?)?"""
    r"""([A-Za-z0-9._~+/=-]{16,2000})""",
    re.IGNORECASE,
)
_USER = re.compile(r"""://[^\s/:@"'<>\\]{0,100}:([^\s/"'<>\\]{1,200})@[\w\[.-]""")
_ONLY_USER = re.compile(r"""://([A-Za-z0-9_.~-]{16,200})@[\w\[.-]""")
_PARAMETER = re.compile(r"""[?&;]([\w.-]{1,40})=([^&\s"'<>#\\;]{6,2000})""")
_SECRET_PARAMETERS = re.compile(
    r"(?:x-amz-signature|x-amz-security-token|x-goog-signature|hmac|auth|key|code|secret|access_token|"
    r"id_token|refresh_token|hapikey|client_secret|sas)",
    re.IGNORECASE,
)
_COOKIE = re.compile(
    r"""(?P<set>set-)?cookie\\?["']?\s{0,3}[:,=]\s{0,3}\\?["']?(?P<rest>[^\r\n"'\\]{3,4000})""", re.IGNORECASE
)
_CRUMB = re.compile(r"\s*([\w.\-\[\]]{1,80})=([^;\s,]{1,2000})")
_JAR = re.compile(r"""cookies?\\{0,3}["']?\s{0,2}[=:]\s{0,3}\{""", re.IGNORECASE)
_JAR_CRUMB = re.compile(r"""["']([\w.-]{1,80})\\{0,3}["']\s{0,2}:\s{0,3}\\{0,3}["']([^"'\\\s]{4,2000})\\{0,3}["']""")
_HARMLESS_COOKIES = re.compile(
    r"_ga\w*|_gid|_fbp|theme|lang\w*|locale|consent|path|domain|expires|max-age|samesite|version|country|currency|tz|"
    r"timezone|_gat\w*|optanon\w*|ajs_\w+",
    re.IGNORECASE,
)
_DOCKER = re.compile(r"""auth\\{0,3}["']\s{0,4}:\s{0,4}\\{0,3}["']([A-Za-z0-9+/]{8,1000}={0,2})\\{0,3}["']""")
# auth=("anna", "…"), HTTPBasicAuth('anna', '…'), auth: { … }
_PAIR = re.compile(
    r"""(?:auth|login)\w{0,12}(?:=\s{0,2}[\w.]{0,30})?\(\s{0,4}(?:["'][^"'\n]{1,80}["']|[\w.]{1,40})\s{0,3},\s{0,3}["']([^"'\n]{4,200})["']""",
    re.IGNORECASE,
)
_JWK = re.compile(r"""["']d\\{0,3}["']\s{0,4}:\s{0,4}\\{0,3}["']([\w-]{40,1000})\\{0,3}["']""")
_SIGN = re.compile(
    r"""jwt\.(?:sign|encode|verify|decode)\([^\n]{0,160}?,\s{0,3}["'`]([A-Za-z0-9_+/=.!-]{12,200})["'`]"""
)


def placed(text: str, low: bytes, at: int, word: str) -> Iterator[Span]:
    """Secrets of headers and cookies; `word` stands at `at`."""
    if word == "bearer":
        found = _BEARER.match(text, at)
        if found is not None:
            value = found.group(1).rstrip(".")
            if (mixed(value) or len(value) >= 24) and not is_mask(value) and not is_code_value(value):
                yield Span(found.start(1), found.start(1) + len(value), "bearer-token")
    elif word == "basic":
        found = _BASIC.match(text, at)
        if found is not None and _is_basic(found.group(1)):
            yield Span(found.start(1), found.end(1), "basic-auth")
    elif word == "cookie":
        yield from _cookies(text, at)
    elif low.startswith(b"authorization", at):
        found = _AUTH.match(text, at)
        if found is not None and mixed(found.group(1)) and not is_mask(found.group(1)) and not is_code_value(found[1]):
            yield Span(found.start(1), found.end(1), "authorization")
    elif low.startswith((b'auth"', b'auth\\"'), at):
        found = _DOCKER.match(text, at)
        if found is not None and (
            _is_basic(found.group(1)) or "auths" in text[max(0, at - 300) : at] or opaque(found.group(1), 12)
        ):
            yield Span(found.start(1), found.end(1), "basic-auth")
    else:
        found = _PAIR.match(text, at)
        if found is not None and not is_mask(found[1]) and (password_like(found[1]) or opaque(found[1])):
            yield Span(found.start(1), found.end(1), "password")


def private_jwk(text: str, at: int) -> Span | None:
    """The private part of a JSON web key."""
    found = _JWK.search(text, max(0, at - 400), at + 600)
    return None if found is None else Span(found.start(1), found.end(1), "private-key")


_KEYED = re.compile(
    r"""hmac(?:\.new)?\(\s{0,3}(?:["'][\w-]{2,12}["']\s{0,2},\s{0,3})?b?["']([^\s"']{8,200})["']""", re.IGNORECASE
)
_ARGUMENTS = re.compile(
    r"""\(\s{0,20}(?:[^()"'\n]{0,80}?,\s{0,20}){0,3}?(?:["'][^"'\n]{1,80}["']|[\w.]{1,40})\s{0,3},\s{0,20}(?:\w{1,20}\s{0,2}=\s{0,2})?["']([^"'\n]{4,200})["']"""
    r"""(?:\s{0,3},\s{0,20}["']([^"'\n]{4,200})["'])?"""
)
_TCP = re.compile(r"""[\w.-]{1,60}:([^\s"'`]{3,200})\Z""")
_ORACLE = re.compile(r"""[\s"'=][\w.-]{1,60}/([^\s"'/@]{4,100})@[\w.-]{1,80}:\d{2,5}[/:]""")


def keyed(text: str, at: int) -> Span | None:
    """`hmac.new(b"…", …)`, `createHmac("sha256", "…")`."""
    found = _KEYED.match(text, at)
    return Span(found.start(1), found.end(1), "secret") if found is not None and opaque(found.group(1), 12) else None


def argument(text: str, at: int) -> Span | None:
    """The password among the arguments of a call: `connect(host, "anna", "…")`."""
    found = _ARGUMENTS.match(text, text.find("(", at, at + 20)) if text.find("(", at, at + 20) >= 0 else None
    for group in (2, 1) if found is not None else ():
        value = found.group(group) if found is not None else None
        if value and found is not None and not is_mask(value) and password_like(value) and " " not in value:
            return Span(found.start(group), found.end(group), "password")
    return None


def of_tcp(text: str, at: int) -> Span | None:
    """`anna:…@tcp(host)`. `at`: the @."""
    begin = max(0, at - 120)
    start = max(text.rfind(mark, begin, at) for mark in "\"'`\n =") + 1
    found = _TCP.search(text, start or begin, at)
    return Span(found.start(1), found.end(1), "url-password") if found is not None and not is_mask(found[1]) else None


def of_oracle(text: str, at: int) -> Span | None:
    """`dsn: anna/…@host:1521/ORCL`."""
    found = _ORACLE.search(text, at, at + 120)
    return Span(found.start(1), found.end(1), "url-password") if found is not None and not is_mask(found[1]) else None


def signing(text: str, at: int) -> Span | None:
    """`jwt.sign(payload, '…')`, `jwt.encode({…}, "…")`."""
    found = _SIGN.match(text, at)
    return Span(found.start(1), found.end(1), "secret") if found is not None and opaque(found.group(1), 12) else None


def _is_basic(value: str) -> bool:
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    return ":" in plain[1:] and plain.isprintable()


def address(text: str, at: int) -> Span | None:
    """The password, or the only user, of the URL whose `://` is here."""
    found = _USER.match(text, at)
    if found is not None:
        # A password may hold an @: the last one before the host counts.
        value = found.group(1)
        user = found.group()[3 : found.start(1) - found.start() - 1]
        if not is_mask(value) and not value.startswith("$") and "://" not in value and value != user:
            return Span(found.start(1), found.end(1), "url-password")
        return None
    found = _ONLY_USER.match(text, at)
    if found is not None and mixed(found.group(1)) and "ingest" not in text[found.end() : found.end() + 20]:
        return Span(found.start(1), found.end(1), "url-token")  # the user of a Sentry address is public
    return None


def parameters(text: str) -> Iterator[Span]:
    """Secrets in the parameters of URLs and of forms."""
    for found in _PARAMETER.finditer(text):
        name, value = found.groups()
        if is_mask(value) or len(value) < 8:
            continue
        signed = len(value) >= 40 and name.lower() in ("sig", "signature")
        if signed or (_SECRET_PARAMETERS.fullmatch(name) is not None and len(value) >= 16 and mixed(value)):
            yield Span(found.start(2), found.start(2) + len(value.rstrip(".,)]}")), "url-token")
        elif (kind := kind_of_name(name)) is not None and not value.isdigit():
            vague = kind in ("maybe-key", "session-id")
            if vague:
                kind = "url-token"
            if not vague or opaque(value, 16):
                yield Span(found.start(2), found.start(2) + len(value.rstrip(".,)]}")), kind)


def _cookies(text: str, at: int) -> Iterator[Span]:
    start = at - 4 if text[max(0, at - 4) : at].lower() == "set-" else at
    listed = _JAR.match(text, start)
    if listed is not None:  # cookies={"session": "…"}
        for pair in _JAR_CRUMB.finditer(
            text, listed.end(), min(listed.end() + 1000, (text.find("}", listed.end()) + 1 or 1 << 60))
        ):
            if (
                _HARMLESS_COOKIES.fullmatch(pair.group(1)) is None
                and len(pair.group(2)) >= 16
                and _opaque(pair.group(2))
            ):
                yield Span(pair.start(2), pair.end(2), "cookie")
        return
    found = _COOKIE.match(text, start)
    if found is None:
        return
    place = found.start("rest")
    while True:
        crumb = _CRUMB.match(text, place, found.end("rest"))
        if crumb is None:
            return
        name, value = crumb.groups()
        if _HARMLESS_COOKIES.fullmatch(name) is None and len(value) >= 8 and not value.isdigit() and _opaque(value):
            yield Span(crumb.start(2), crumb.end(2), "cookie")
        place = crumb.end()
        if found.group("set") or text[place : place + 1] != ";":
            return
        place += 1


def _opaque(value: str) -> bool:
    return not is_mask(value) and (mixed(value) or len(value) >= 20) and not is_code_value(value)
