"""Secrets in command lines: what programs take as a password or a token, each in its own way."""

from __future__ import annotations

import re

from jettison.vault.lookalikes import is_mask
from jettison.vault.spans import Span

__all__ = ["PROGRAMS", "commanded"]

_ARGUMENT = r"""(?:'(?P<single>[^'\n]{3,200})'|"(?P<double>[^"\n]{3,200})"|(?P<bare>[^\s"'|;&<>()]{3,200}))"""
_REST = r"""[^\n|;]{0,240}?"""


def _flag(flags: str, program: str = "", space: str = r"[ =]{1,2}") -> re.Pattern[str]:
    return re.compile(rf"{program}{_REST}\s(?:{flags}){space}{_ARGUMENT}")


_USER = re.compile(
    r"""(?:-u|--user|--proxy-user)[ =]{0,2}(?:"(?P<who>[^\s:"']{0,100}):(?P<double>[^"\n\\]{3,200})"|"""
    r"""'[^\s:"']{0,100}:(?P<single>[^'\n]{3,200})'"""
    r"""|[^\s:"'/]{1,100}:'(?P<inner>[^'\n]{3,200})'|(?!\S{0,200}://)[^\s:"'/]{1,100}:(?P<bare>[^\s"'\\]{3,200}))"""
)
# program -> how it takes its secret (man pages of each)
PROGRAMS: dict[str, tuple[re.Pattern[str], ...]] = {
    "mysql": (_flag("-p", r"\w*", r""),),
    "mariadb": (_flag("-p", r"[\w-]*", r""),),
    "redis-cli": (_flag("-a|--pass"),),
    "sshpass": (_flag("-p", "", r"\s?"),),
    "smbclient": (re.compile(rf"{_REST}\s(?:-U|--user)[ =]?[\"']?[^\s%\"']{{1,80}}%{_ARGUMENT}"),),
    "ldap": (_flag("-w", r"[a-z]+", r"\s?"),),
    "7z": (_flag("-p", r"\w?", ""),),
    "zip": (_flag("-P|--password", "", r"[ =]{0,2}"),),
    "sqlcmd": (_flag("-P", "", r"\s?"),),
    "mosquitto": (_flag("-P|--pw", r"_\w+"),),
    "mongo": (_flag("-p|--password", r"\w*", r"[ =]?"),),
    "docker login": (_flag("-p|--password"),),
    "podman login": (_flag("-p|--password"),),
    "az login": (_flag("-p|--password"),),
    "oc login": (_flag("-p|--password"),),
    "twine": (_flag("-p|--password"),),
    "nuget": (_flag("-k|--api-key|-ApiKey"),),
    "htpasswd": (re.compile(rf"\s+-[a-zA-Z]*b[a-zA-Z]*\s+\S{{1,200}}\s+\S{{1,80}}\s+{_ARGUMENT}"),),
    "/user:": (re.compile(rf"[^\s]{{1,80}}\s+(?![/*]){_ARGUMENT}"),),
    "-u": (_USER,),
    "--proxy-u": (_USER,),
    "-passin": (re.compile(rf"\s+[\"']?pass:{_ARGUMENT}"),),
    "-passout": (re.compile(rf"\s+[\"']?pass:{_ARGUMENT}"),),
    "identified": (
        re.compile(rf"\s+(?:with\s+\w+\s+)?(?:by|as)\s+(?:password\s+)?(?=['\"]){_ARGUMENT}", re.IGNORECASE),
    ),
    "securestring": (re.compile(rf"\s+(?:-String\s+)?{_ARGUMENT}(?=[^\n]{{0,20}}-AsPlain)", re.IGNORECASE),),
    "secret set": (_flag("--body|-b|--value|-v"),),
    "secrets set": (_flag("--body|-b|--value|-v"),),
    "user add": (_flag("-p|--password"),),
    "net user": (re.compile(rf"\s+[\w.-]{{2,40}}\s+(?![/*]){_ARGUMENT}"),),
}
_PIPED = {
    "chpasswd": re.compile(
        r"""(?:echo|printf)\s+(?:-\w+\s+)?["']?[\w.-]{1,40}:([^\s"'|]{3,100})["']?\s*\|\s*(?:sudo\s+)?\Z"""
    ),
    "sudo": re.compile(
        r"""(?:echo|printf)\s+(?:-\w+\s+)?(?:"([^"\n|]{3,100})"|'([^'\n|]{3,100})'|([^\s"'|]{3,100}))\s*\|\s*\Z"""
    ),
    "--password-stdin": re.compile(
        r"""(?:echo|printf)\s+(?:-\w+\s+)?(?:"([^"\n|]{3,100})"|'([^'\n|]{3,100})'|([^\s"'|]{3,100}))\s*\|[^\n|"""
        r"""]{1,100}\Z"""
    ),
}
_BEFORE = re.compile(r"[\w.]")


def commanded(text: str, low: bytes, at: int, word: str) -> Span | None:
    """The secret that the program at this place is given."""
    before = "" if word == "securestring" else text[at - 1 : at]
    if word in _PIPED:
        if word == "sudo" and re.match(r"sudo\s+(?:-\w+\s+)*-\w*S", text[at : at + 24]) is None:
            return None
        found = _PIPED[word].search(text, max(0, at - 160), at)
        return None if found is None else _span(found, {1, 2, 3})
    unzip = word == "zip" and text[max(0, at - 3) : at] in ("\nun", " un", "un")
    if before and (before.isalnum() or before in "_.") and not unzip:
        return None
    if word == "-u" and (
        text[max(0, at - 2) : at] not in ("", "-") and before not in (" ", "-", "\t", '"', "'", "\n", "")
    ):
        return None
    start = at if word in ("-u", "--proxy-u") else at + len(word)
    if word == "-u" and before == "-":
        start = at - 1
    for pattern in PROGRAMS[word]:
        found = pattern.match(text, start)
        if found is not None and (span := _span(found, None)) is not None:
            return span
    return None


def _span(found: re.Match[str], numbers: set[int] | None) -> Span | None:
    names = [name for name in found.re.groupindex if name != "who"]
    for group in numbers or names:
        if isinstance(group, int) and group > found.re.groups:
            continue
        value = found.group(group)
        if value is None:
            continue
        bare = value
        if is_mask(bare) or bare.startswith(("$", "-", "%", "<", "@", "/")) or bare.isdigit() or len(bare) < 4:
            return None
        if bare.lower() in ("shop", "username", "localhost") or bare.endswith((".txt", ".zip", ".sql", ".pem")):
            return None
        return Span(found.start(group), found.end(group), "password")
    return None
