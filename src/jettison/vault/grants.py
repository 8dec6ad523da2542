"""Who may have a secret: tools, places in their arguments, and hosts that the call talks to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

__all__ = ["HOSTS", "Grant", "hosts_of", "refusal"]

HOSTS: dict[str, tuple[str, ...]] = {
    "github-token": ("github.com", "*.github.com"),
    "gitlab-token": ("gitlab.com",),
    "slack-token": ("slack.com", "*.slack.com"),
    "slack-webhook": ("hooks.slack.com",),
    "openai-key": ("api.openai.com",),
    "anthropic-key": ("api.anthropic.com",),
    "stripe-key": ("api.stripe.com",),
    "npm-token": ("registry.npmjs.org",),
    "pypi-token": ("upload.pypi.org",),
    "sendgrid-key": ("api.sendgrid.com",),
    "notion-token": ("api.notion.com",),
    "linear-key": ("api.linear.app",),
    "telegram-token": ("api.telegram.org",),
    "huggingface-token": ("huggingface.co",),
    "digitalocean-token": ("api.digitalocean.com",),
    "discord-webhook": ("discord.com",),
}
"""The issuer's own hosts: the one place that already knows the secret. They count for the default grant only."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission. All that is given must hold; patterns are shell-like (`*.github.com`, `headers.*`)."""

    secret: str
    """A placeholder, or a kind (`github-token`), or a pattern of kinds (`*` for all)."""
    tools: Collection[str]
    """Names of the tools that may have it."""
    arguments: Collection[str] | None = None
    """Where in the arguments it may stand: `headers.Authorization`, `items.*.token`. None: anywhere."""
    hosts: Collection[str] | None = None
    """Every host that the arguments name must be among these. None: any host."""

    def __post_init__(self) -> None:
        for name in ("tools", "arguments", "hosts"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be a list of names, not one string")

    def covers(self, placeholder: str, kind: str) -> bool:
        return self.secret == placeholder or fnmatchcase(kind, self.secret)

    def allows(self, tool: str, path: str, hosts: Collection[str]) -> bool:
        """`path`: where in the arguments; `hosts`: all that the arguments name."""
        return (
            _any(tool, self.tools)
            and (self.arguments is None or _any(path, self.arguments))
            and (self.hosts is None or all(_any(host, self.hosts) for host in hosts))
        )


def _any(value: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in patterns)


def refusal(placeholder: str, tool: str, path: str, hosts: Sequence[str], grants: Sequence[Grant]) -> str:
    """Why a call may not have a secret, in words that an agent can act on."""
    where = f" at {path}" if path else ""
    to = f" with {', '.join(sorted(hosts)[:5])}" if hosts else ""
    allowed = "it may go to " + "; or to ".join(map(_told, grants[:5]))
    may = allowed if grants else "no tool may have it yet"
    return (
        f"{placeholder} was not put into the call of {tool!r}{where}{to}: {may}. "
        "The secret went nowhere. Call it as allowed, or ask the user to allow this use."
    )


def _told(grant: Grant) -> str:
    text = ", ".join(sorted(grant.tools))
    if grant.arguments is not None:
        text += f" in {', '.join(sorted(grant.arguments))}"
    if grant.hosts is not None:
        text += f" for {', '.join(sorted(grant.hosts))}" if grant.hosts else " without any host"
    return text


_URL_HOST = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}:)?[/\\]{2,4}(?:[^\s/\\?#\"'<>]{0,400}@)?(\[[0-9a-f:.%]{2,60}\]|[^\s/\\:?#@\"'<>\[\]{}|,;)(]{1,253})",
    re.I,
)
_BARE = re.compile(
    r"(?<![\w.@/\\-])(?:[\w.+-]{1,64}@)?((?:[\w-]{1,63}\.){1,8}[a-z][\w-]{1,62}|localhost|(?:\d{1,3}\.){3}\d{1,3})\.?(?![\w.(-])(?!\s?\()",
    re.IGNORECASE,
)
_BARE_IPV6 = re.compile(r"(?<![\w:])((?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4})(?![\w:])", re.IGNORECASE)
# Endings of files that are no top-level domains. `.sh`, `.py`, `.md` and `.zip` are: they count as hosts.
_FILES = frozenset(
    [
        "json",
        "txt",
        "yml",
        "yaml",
        "toml",
        "env",
        "log",
        "html",
        "htm",
        "css",
        "js",
        "ts",
        "tsx",
        "jsx",
        "csv",
        "tsv",
        "xml",
        "ini",
        "cfg",
        "conf",
        "pem",
        "key",
        "crt",
        "gz",
        "tar",
        "tgz",
        "bz2",
        "xz",
        "lock",
        "sql",
        "db",
        "sqlite",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "pdf",
        "docx",
        "xlsx",
        "pptx",
        "parquet",
        "ipynb",
        "go",
        "java",
        "kt",
        "cpp",
        "hpp",
        "hxx",
        "php",
        "rb",
        "example",
        "exe",
        "dll",
        "local_settings",
        "bak",
        "tmp",
        "jsonl",
        "patch",
        "diff",
    ]
)


def hosts_of(arguments: Any) -> frozenset[str]:
    """Every host that arguments name, in lower case: in URLs, mail addresses, and on their own (`db.acme.test`)."""
    return frozenset(host for text in _strings(arguments) for host in _hosts(text))


def _hosts(text: str) -> Iterator[str]:
    for found in _URL_HOST.finditer(text):
        host = found.group(1).lower().rstrip(".")
        if not host.startswith("{{") and host:
            yield host.strip("[]")
    for found in _BARE.finditer(text):
        host = found.group(1).lower().rstrip(".")
        if host.rpartition(".")[2] not in _FILES:
            yield host
    for found in _BARE_IPV6.finditer(text):
        yield found.group(1).lower()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
