"""Secrets that are known by the name they stand under: JSON keys, assignments, headers, flags, XML, env files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jettison.vault.lookalikes import is_code_value, is_identifier, is_mask, mixed
from jettison.vault.naming import kind_of_name
from jettison.vault.spans import Span, places_of

__all__ = ["named_spans", "value_kind"]

_TRIGGERS = (
    "passw", "passphrase", "passcode", "pwd", "pass", "psw", "secret", "token", "key", "credential", "otp", "pin",
    "code", "cvv", "cvc", "sess", "sid", "парол",
)  # fmt: skip
_NAME_CHARS = re.compile(r"[\w.-]*")
_BEFORE = re.compile(r"[\w.-]*\Z")
# What stands between a name and its value; the quotes may be escaped, as in JSON inside JSON.
_ASSIGN = re.compile(
    r"""(?P<close>\\{0,3}["'`]?\]?)\s{0,4}(?:=>|:=|==?(?!=)|:(?!:))\s{0,4}(?P<open>[brfu]?\\{0,3}["'`]{1,3})?""",
    re.IGNORECASE,
)
_XML = re.compile(r"(?P<close>)(?:\s[^<>\n]{0,100})?>(?P<open>)(?=[^<>\n]{1,300}</)")
_FLAG = re.compile(r"""(?P<close>)[ \t]{1,2}(?P<open>["'])?(?=[^\s-])""")
_PAIR = re.compile(
    r"""(?P<close>\\{0,3}["'])\s{0,4},\s{0,40}\\{0,3}["']value\\{0,3}["']\s{0,4}:\s{0,4}(?P<open>\\{0,3}["'])"""
)
# add key="ApiKey" value="…"; headers.set("X-Auth-Token", "…")
_BESIDE = re.compile(r"""(?P<close>\\{0,3}["'])(?:\s{1,3}value\s{0,2}=\s{0,2}|\s{0,2},\s{0,3})(?P<open>\\{0,3}["'])""")
_BARE = re.compile(r"""[^\s"'`<>,;\\)\]}]{1,400}""")
_IN_URL = re.compile(r"""[^\s"'`<>,;\\)\]}&#]{1,400}""")
_NEXT_FIELD = re.compile(r"&[\w.-]{1,40}=")
_CODE = re.compile(r"\d(?:[ -]?\d){3,8}")
_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest|ssws|bot|key)\s{1,3}", re.IGNORECASE)
_LONGEST = 400


def named_spans(text: str, low: bytes) -> Iterator[Span]:
    """Values under the names of secrets. `low` is the text, folded."""
    for trigger in _TRIGGERS:
        reached = 0
        for at in places_of(low, trigger):
            if at < reached:  # the same name
                continue
            reached = _name_end(text, at + len(trigger))
            found = _value_at(text, at, reached)
            if found is not None:
                yield found


def _name_end(text: str, at: int) -> int:
    found = _NAME_CHARS.match(text, at, at + 40)
    return found.end() if found is not None else at


def _value_at(text: str, at: int, end: int) -> Span | None:
    before = _BEFORE.search(text, max(0, at - 40), at)
    start = before.start() if before is not None else at
    name = text[start:end].rstrip("-.")
    end = start + len(name)
    kind = kind_of_name(name)
    if kind is None:
        return None
    link = _ASSIGN.match(text, end)
    if link is not None and text[start - 1 : start] == "$" and ":" in link.group():  # $token: a public id of analytics
        return None
    if link is None and text[start - 1 : start] == "<":
        link = _XML.match(text, end)
    if link is None and (name.startswith("--") or text[max(0, start - 4) : start] == "set "):  # aws configure set
        link = _FLAG.match(text, end)
    if link is None:
        link = _PAIR.match(text, end)
    if link is None:
        link = _BESIDE.match(text, end)
        if link is None:
            return None
        found = _value(text, link, name, kind, False)
        value = "" if found is None else text[found.start : found.end]
        # A list of names looks the same: only what is long and mixed counts.
        return found if len(value) >= 16 and mixed(value) and any(map(str.isdigit, value)) else None
    return _value(text, link, name, kind, text[start - 1 : start] in ("?", "&") and start > 0)


def _value(text: str, link: re.Match[str], name: str, kind: str, in_url: bool) -> Span | None:
    quote = (link.group("open") or "").lstrip("brfuBRFU")
    start = link.end()
    if quote:
        end = _closing(text, start, quote)
        if end < 0:
            return None
    else:
        if text[start : start + 1] == "{":
            return None
        found = (_IN_URL if in_url else _BARE).match(text, start)
        if found is None:
            return None
        end = found.end()
        scheme = _SCHEME.match(text, start, end + 4)
        if scheme is not None:  # x-vault-token: Bearer …
            start = scheme.end()
            found = _BARE.match(text, start)
            end = found.end() if found is not None else start
        form = _NEXT_FIELD.search(text, start, end)
        if form is not None:
            end = form.start()
        while end > start and text[end - 1] in ".,:":
            end -= 1
    value = text[start:end]
    spaced = text[link.start() : link.end()] != "=" and not link.group().startswith(":")
    env = name == name.upper() and not spaced
    if _holds(value, kind, bool(quote) or bool(link.re is _XML), env or in_url or name.startswith("--")):
        return Span(start, end, kind)
    return None


def _closing(text: str, start: int, quote: str) -> int:
    """Where a quoted value ends: at its own quote that is not escaped any further; -1: nowhere near."""
    stop = min(len(text), start + _LONGEST)
    if len(quote) > 1 and quote[0] in "\"'`":  # triple quotes, or an empty value
        return text.find(quote, start, stop) if len(quote) == 3 else -1
    slashes, mark = len(quote) - 1, quote[-1]
    at = text.find(mark, start, stop)
    while at >= 0:
        back = at
        while back > start and text[back - 1] == "\\":
            back -= 1
        if at - back <= slashes:
            end = at - min(slashes, at - back)
            return end if "\n" not in text[start:end] else -1
        at = text.find(mark, at + 1, stop)
    return -1


def value_kind(name: str, value: str) -> str | None:
    """The kind of a whole value under a name, as in parsed JSON; None: no secret."""
    kind = kind_of_name(name)
    return kind if kind is not None and _holds(value, kind, True, True) else None


def _holds(value: str, kind: str, quoted: bool, sure: bool) -> bool:
    """Whether the value can be a secret of this kind. `sure`: the place leaves no doubt (env file, URL, flag)."""
    if not 4 <= len(value) <= _LONGEST or is_mask(value):
        return False
    if kind == "one-time-code":
        return _CODE.fullmatch(value) is not None
    if kind == "password":
        return _password(value, quoted, sure)
    if kind == "credential":
        return len(value) >= 12 and " " not in value and mixed(value) and not is_code_value(value)
    if len(value) < 8 or any(map(str.isspace, value)) or value.isdigit():
        return False
    if is_identifier(value) and not (kind == "api-key" and len(value) == 36):
        return False
    if is_code_value(value):
        return quoted and len(value) >= 20 and any(map(str.isdigit, value)) and "." not in value
    return (mixed(value) and (quoted or sure or len(value) >= 16)) or (len(value) >= 24 and value.isalnum())


def _password(value: str, quoted: bool, sure: bool) -> bool:
    if "\n" in value or len(value) > 200 or (is_identifier(value) and not value.isdigit()):
        return False
    if value.isdigit():
        return quoted or sure
    if " " in value:
        return quoted and value.count(" ") <= 8 and mixed(value.replace(" ", "")) and ": " not in value
    if quoted or sure:
        return not is_code_value(value) or mixed(value) or (value.isalpha() and len(value) >= 5)
    return mixed(value) and not is_code_value(value) and "(" not in value
