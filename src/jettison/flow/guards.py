"""Guards: which results are rules that somebody wrote for the agent, and not words that came in from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jettison.flow.patterns import compiled
from jettison.flow.tool_roles import words_of

__all__ = ["is_guard"]

LONGEST_ARGUMENTS = 2_000
"""Characters of the arguments of a call that reads files; longer ones write."""
FOLDERS = 2
"""Folders above a file whose names say what it is: `.claude/skills/brand/SKILL.md`, `docs/policies/refunds.md`."""

_READS = frozenset({"read", "view", "open", "cat", "load", "show", "get"})
_OUTSIDE = frozenset(
    {"web", "url", "fetch", "http", "browser", "mail", "email", "inbox", "message", "search", "slack", "download"}
    | {"scrape", "crawl", "github", "gitlab", "drive", "attachment"}
)
_SKILL = frozenset({"skill", "skills"})
_PATH_KEY = r"(?:^|_)(?:paths?|files?|filename|filepath)$"
_REMOTE_KEY = r"^(?:url|uri|owner|repo|repository|project_id|message_id|page_id|folder)$"
# Files that others wrote: installed packages, what was downloaded, attached or unpacked.
_FOREIGN = (
    r"://|(?:^|[\\/])(?:node_modules|site-packages|dist-packages|vendor|third[_-]party|\.venv|venv|\.cache|downloads?|"
    r"uploads?|attachments?|inbox|mail|tmp|temp|загрузки|вложения|почта)[\\/]"
)
_PROSE = r"(?:^|[\\/])(?:[^\\/.]+|\.?[^\\/]+\.(?:md|mdx|mdc|txt|rst|org|adoc|pdf|docx)|\.\w+rules)$"
_RULES = (
    r"(?:^|[\W_])(?:skills?|polic(?:y|ies)|instructions?|guidelines?|rules?|conventions?|playbooks?|runbooks?|handbooks?|"
    r"правила?|правил|инструкци[яиюей]+|регламент\w?|политик[аиуе]?)(?:$|[\W_])"
)
_NAMED = r"^(?:agents|claude|gemini|contributing|\.\w+rules)(?:\.local)?(?:\.\w+)?$"


def is_guard(tool: str, arguments: str) -> bool:
    """Whether a call read rules: a local file by a tool for files, whose own name or folder says that it holds them.

    What a page, a mail or a search gives back binds nobody, whatever its address is called; nor does what a shell
    prints, or a file of an installed package.
    """
    words = frozenset(words_of(tool))
    if words & _OUTSIDE or len(arguments) > LONGEST_ARGUMENTS:
        return False
    if words & _SKILL and words.isdisjoint({"list", "find"}):
        return True
    given = _parsed(arguments)
    if words.isdisjoint(_READS) and given.get("command") != "view":
        return False
    if any(compiled(_REMOTE_KEY).match(key) for key in given):
        return False
    paths = list(_paths(given))
    return bool(paths) and all(map(_holds_rules, paths))


def _holds_rules(path: str) -> bool:
    if compiled(_FOREIGN).search(path) or not compiled(_PROSE).search(path):
        return False
    *folders, name = re.split(r"[\\/]+", path)
    if compiled(_NAMED).match(name):
        return True
    spaced = re.sub(r"(?<=[a-zа-яё])(?=[A-ZА-ЯЁ])", " ", " / ".join((*folders[-FOLDERS:], name)))
    return compiled(_RULES).search(spaced) is not None


def _paths(given: Mapping[str, Any]) -> Iterator[str]:
    for key, value in given.items():
        if compiled(_PATH_KEY).search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key)):
            yield from (part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str))


def _parsed(arguments: str) -> Mapping[str, Any]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
