"""Secrets that are known by the name they stand under: JSON keys, assignments, headers, flags, XML, env files."""

from __future__ import annotations

import re

from jettison.vault.lookalikes import is_code_value, is_identifier, is_mask, mixed
from jettison.vault.naming import kind_of_name
from jettison.vault.spans import Span
from jettison.vault.strength import opaque, password_like

__all__ = ["name_around", "named", "value_kind"]

_NAME = re.compile(r"[\w.-]{0,60}")
# What stands between a name and its value; the quotes may be escaped, as in JSON inside JSON.
_ASSIGN = re.compile(
    r"""(?P<close>\\{0,3}["'`]?\]?)\s{0,4}(?:=>|:=|==?(?!=)|:(?!:)|::?(?=\s)|"""
    r"""<-)\s{0,4}(?P<open>[brfu]?\\{0,3}["'`]{1,3})?""",
    re.IGNORECASE,
)
_TYPED = re.compile(  # const API_KEY: string = "…"; let password: &str = "…"
    r"""(?P<close>)\s?:\s?&?(?:'static )?[A-Za-z_][\w<>\[\]?., |]{0,30}?\s{0,2}=\s{0,2}(?P<open>["'`])"""
)
_XML = re.compile(
    r"(?P<close>)(?:\s[^<>\n]{0,100})?>(?:\s{0,20}<(?:value|string|b|i|code|strong)>)?(?P<open>)(?=[^<>\n]{1,300}</)",
    re.IGNORECASE,
)
_PLIST = re.compile(r"(?P<close>)</key>\s{0,20}<string>(?P<open>)(?=[^<>\n]{1,300}</)", re.IGNORECASE)
_FLAG = re.compile(r"""(?P<close>)[ \t]{1,8}(?P<open>["'])?(?=[^\s-])""")
_FIELDS = (
    r"""(?:\s{0,4},\s{0,40}\\{0,3}["'][\w-]{1,20}\\{0,3}["']\s{0,4}:\s{0,4}"""
    r"""(?:\\{0,3}["'][^"'\\\n]{0,60}\\{0,3}["']|[\w.]{1,20})){0,4}?"""
)
_PAIR = re.compile(  # "name": "API_TOKEN", "value": "…", with other fields between
    r"""(?P<close>[^"'\\\n]{0,30}\\{0,3}["'])"""
    + _FIELDS
    + r"""\s{0,4},\s{0,40}\\{0,3}["'](?:value|text|val|secret|content|input)\\{0,3}["']\s{0,4}:\s{0,4}"""
    r"""(?P<open>\\{0,3}["'])""",
    re.IGNORECASE,
)
_INNER = re.compile(  # adminPassword: {"value": "…"}; variable "db_token" { default = "…" }
    r"""(?P<close>\\{0,3}["']?)\s{0,4}:?\s{0,4}\{\s{0,40}\\{0,3}["']?(?:value|default|secret|"""
    r"""plaintext)\\{0,3}["']?\s{0,4}"""
    r"""[:=]\s{0,4}(?P<open>\\{0,3}["'])""",
    re.IGNORECASE,
)
_BELOW = re.compile(  # - name: API_TOKEN, and below it  value: …
    r"""(?P<close>["']?)[ \t]{0,4}\r?\n[ \t]{1,40}value:[ \t]{1,4}(?P<open>["'])?(?=\S)"""
)
# add key="ApiKey" value="…"; headers.set("X-Auth-Token", "…"); define('DB_PASSWORD', '…'); ["Authorization", "…"]
_BESIDE = re.compile(
    r"""(?P<close>\\{0,3}["'])(?:\s{1,3}(?:value|content)\s{0,2}=\s{0,2}|\s{0,2},\s{0,3})(?P<open>\\{0,3}["'])"""
)
_OTHERWISE = re.compile(  # process.env.SECRET || '…'; ENV["KEY"] or "…"; ${PASSWORD:-…}
    r"""(?P<close>["']?[\])]?)(?:\s{0,2}(?:\|\||\?\?|\bor\b)\s{0,2}(?P<open>["'`]))"""
)
_EXPRESSION = re.compile(
    r"""(?P<close>[\w.$]{1,60}(?:[\[(]["'\w]{1,60}["'][\])])?)\s{0,2}(?:\|\||\?\?|\bor\b)\s{0,2}(?P<open>["'`])"""
)
_DEFAULT = re.compile(r"(?P<close>):-(?P<open>)(?=[^}\s]{4,200}\})")
_CALL = re.compile(r"""(?P<close>)\(\s{0,2}(?P<open>["'`])""")  # setApiKey("…")
# fill("#password", "…"); locator("input[name=password]").fill("…"); By.ID, "passwd").send_keys("…")
_TYPED_IN = re.compile(
    r"""(?P<close>[^\s"'`(),]{0,40}["'`])(?:["'\])\s]{0,6}\.\s{0,2}(?:fill|type|send_?keys|set_?value|"""
    r"""press_?sequentially|input)\("""
    r"""\s{0,2}|["'`\])]{0,3}\s{0,2},\s{0,3})(?P<open>["'`])""",
    re.IGNORECASE,
)
_FILLS = re.compile(
    r"(?:fill|type|send_?keys|set_?value|sequentially|input|setdefault|getenv|environ|define|set|header)\W", re.I
)
_SQL = re.compile(r"""(?P<close>)\s{1,3}(?:by\s{1,3}|as\s{1,3})?(?P<open>['"])""", re.IGNORECASE)
_IN_SQL = re.compile(r"\b(?:with|role|user|set|encrypted|identified|define|field|in)\b", re.IGNORECASE)
_SETS = re.compile(r"\b(?:set|ENV|ARG)[ \t]{1,3}(?:\S{1,60}:)?\Z")
_BARE = re.compile(r"""[^\s"'`<>,;\\)\]}]{1,400}""")
_IN_URL = re.compile(r"""[^\s"'`<>,;\\)\]}&#]{1,400}""")
_NEXT_FIELD = re.compile(r"&[\w.-]{1,40}=")
_CODE = re.compile(r"\d(?:[ -]?\d){3,8}")
_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest|ssws|bot|key)\s{1,3}", re.IGNORECASE)
_ALL_KINDS = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[^0-9]*[0-9]")
_JOINED = re.compile(r"\s{0,2}[+.&]\s")
"""`"password=" + password + ";"`: the quotes are not around a value."""
_LONGEST = 400
_WORDISH = frozenset("abcdefghijklmnopqrstuvwxyzабвгдеёжзийклмнопрстуфхцчшщъыьэюя0123456789_.-".encode("cp1251"))
_AFTER = frozenset("< \t:=\"'`\\]>()|?,;[&/+!")


def name_around(low: bytes, text: str, at: int, size: int) -> tuple[int, int]:
    """(start, end) of the identifier that a word stands in."""
    start, least = at, max(0, at - 40)
    while start > least and low[start - 1] in _WORDISH:
        start -= 1
    found = _NAME.match(text, at + size)
    return start, found.end() if found is not None else at + size


def named(text: str, low: bytes, at: int, size: int) -> tuple[int, Span | None]:
    """(where the name around a word ends, the secret under it). `low` is the text, folded."""
    start, end = name_around(low, text, at, size)
    name = text[start:end]
    if name[-1:] in "-.":
        name = name.rstrip("-.")
    kind = kind_of_name(name)
    if kind is None or start + len(name) >= len(text):
        return end, None
    return end, _value_at(text, start, start + len(name), name, kind)


def _value_at(text: str, start: int, end: int, name: str, kind: str) -> Span | None:
    before, after = text[start - 1 : start], text[end]
    if after in "\r\n":
        link = _BELOW.match(text, end)
        return None if link is None else _value(text, link, name, kind, False)
    if after not in _AFTER:
        return None
    if (
        after == ":" and before in (":", "/") and not text[end + 1 : end + 2].isspace()
    ):  # arn:aws:secretsmanager:…:secret:…
        return None
    if before == "{" and text[start - 2 : start - 1] == "$":
        link = _DEFAULT.match(text, end)
        return None if link is None else _value(text, link, name, kind, False)
    link = _TYPED.match(text, end) if after == ":" else None
    link = link or _ASSIGN.match(text, end)
    if link is not None and before == "$" and ":" in link.group() and link.group().strip() == ":":
        # $token: a public id of analytics; $env:DB_PASSWORD = … is another thing
        return None
    if link is None and before == ">" and text.startswith("</key>", end):  # a property list
        link = _PLIST.match(text, end)
    if link is None and before == "<":
        link = _XML.match(text, end)
    if link is None and (name.startswith("--") or _says(text, start, name)):
        link = _FLAG.match(text, end)
    for other in (_PAIR, _INNER, _BELOW):
        link = link if link is not None else other.match(text, end)
    if link is not None and link.re is _ASSIGN and text[link.end() : link.end() + 1] == "{" and not link.group("open"):
        link = _INNER.match(text, end) or link
    if kind == "session-id":  # an id like others, but for the value of a cookie
        return _value(text, link, name, "session", False) if link is not None and link.re is _PAIR else None
    if link is not None:
        found = _value(text, link, name, kind, before in ("?", "&") and start > 0)
        if found is None and link.re is _ASSIGN and not link.group("open"):  # = process.env.PASSWORD ?? "…"
            inner = _EXPRESSION.match(text, link.end())
            found = None if inner is None else _value(text, inner, name, kind, False)
        return found
    return _loose(text, start, end, name, kind)


def _says(text: str, start: int, name: str) -> bool:
    """Whether a name is followed by its value as it is: `set …`, `ENV …`, `requirepass …`."""
    words = text[max(0, start - 80) : start]
    return _SETS.search(words) is not None or name in ("requirepass", "masterauth", "-storepass", "-keypass")


def _loose(text: str, start: int, end: int, name: str, kind: str) -> Span | None:
    """Names and values in code that stand beside each other."""
    for pattern in (_OTHERWISE, _CALL, _SQL):
        link = pattern.match(text, end)
        if link is None:
            continue
        if pattern is _SQL and kind == "password" and not _IN_SQL.search(text, max(0, start - 80), start):
            continue
        if pattern is _CALL and name[:1].isupper() and kind != "password" and not name.lower().startswith("set"):
            continue
        found = _value(text, link, name, kind, False)
        value = "" if found is None else text[found.start : found.end]
        return found if _strong(value, kind) else None
    link = _BESIDE.match(text, end)
    if link is not None or (link := _TYPED_IN.match(text, end)) is not None:
        found = _value(text, link, name, kind, False)
        value = "" if found is None else text[found.start : found.end]
        if link.re is _TYPED_IN and not _FILLS.search(text, max(0, start - 40), link.end()):
            return None
        # A list of names looks the same.
        filled = _FILLS.search(text, max(0, start - 40), link.end()) is not None
        return found if _strong(value, kind) and (filled or (len(value) >= 16 and opaque(value))) else None
    return None


def _strong(value: str, kind: str) -> bool:
    return (
        (kind == "password" and password_like(value) > 0)
        or opaque(value)
        or (kind == "one-time-code" and value.isdigit())
    )


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
        cut = text.find("&&", start, end)
        end = cut if cut > start else end
        form = _NEXT_FIELD.search(text, start, end)
        if form is not None:
            end = form.start()
        while end > start and text[end - 1] in ".,:":
            end -= 1
    value = text[start:end]
    spaced = text[link.start() : link.end()] != "=" and not link.group().startswith(":")
    env = name == name.upper() and not spaced
    if kind == "password" and not quote and not spaced and text[end : end + 1] in ("", " ", "\n", ";", "&", "\r"):
        # user=anna password=tiger85 in a log; password=pass1) is code
        head = text[max(0, link.start() - len(name) - 1) : link.start() - len(name)]
        env = env or (head in ("", " ", "\n", ";", "&", "?") and password_like(value) > 0)
    if _holds(value, kind, bool(quote) or link.re in (_XML, _PLIST), env or in_url or name.startswith("--")):
        return Span(start, end, "api-key" if kind == "maybe-key" else kind)
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
    if kind == "maybe-key":
        return "api-key" if _holds(value, kind, True, True) else None
    return kind if kind not in (None, "session-id") and _holds(value, kind, True, True) else None


def _holds(value: str, kind: str, quoted: bool, sure: bool) -> bool:
    """Whether the value can be a secret of this kind. `sure`: the place leaves no doubt (env file, URL, flag)."""
    if not 4 <= len(value) <= _LONGEST:
        return False
    if kind == "maybe-key":  # any other key: only what nobody could take for the key of a table
        if len(value) < 28 or not _ALL_KINDS.match(value):
            return False
        return opaque(value, 28) and "/" not in value and "." not in value
    if is_mask(value) or _JOINED.match(value):
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
        return (
            not is_code_value(value)
            or mixed(value)
            or (value.isalpha() and len(value) >= 5)
            or password_like(value) > 0
        )
    return mixed(value) and not is_code_value(value) and "(" not in value
