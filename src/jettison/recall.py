"""Recall for the agent: the tool it calls, the answer it gets, and how that answer is recognised in the history."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from jettison.archive.words import root, words_of
from jettison.errors import ArchiveError
from jettison.wire.tool_shape import tool_declaration

__all__ = [
    "DESCRIPTION",
    "LIMIT",
    "NAME",
    "PARAMETERS",
    "Searchable",
    "is_recall",
    "is_recalled",
    "recall_answer",
    "recall_tool",
]

NAME = "recall_context"
LIMIT = 20_000
"""Characters of an answer: about 5,000 tokens of English, 15,000 of base64; MCP clients warn from 10,000 tokens on
and cut at 25,000 (the defaults of Claude Code)."""
HITS, LINES, LINE = 10, 40, 300
"""Texts that a search lists, lines that a search in one text lists, characters of such a line."""

DESCRIPTION = (
    "Get back what was cut from this conversation to save room. Marks such as [cut 812 tokens, ref gajuzasufo] or "
    "[partial 3/90 lines, …n = n cut, ref gajuzasufo] stand for text that is kept elsewhere; the word after `ref` "
    "is its handle. Give `handle` for the exact text, `handle` and `lines` for a part of it, `handle` and `query` for "
    "its lines that have these words, or `query` alone to search in everything that was cut. Use it when you need a "
    "detail that is not in front of you any more, instead of guessing it or running a tool again."
)
PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "handle": {"type": "string", "description": "The word after `ref` in a mark, for example gajuzasufo."},
        "query": {"type": "string", "description": "Words to look for, in any language."},
        "lines": {"type": "string", "description": "Only these lines, counted from 1: 120-180."},
        "characters": {"type": "string", "description": "Only these characters, counted from 1: 20001-40000."},
    },
}

_HANDLE = re.compile(r"\bref:?\s+([a-z]{10,})")
_RANGE = re.compile(r"\s*(\d{1,12})\s*(?:(?:-|–|—|\.\.+|:|,|to)\s*(\d{1,12})?)?\s*")
_HEAD = re.compile(r"\[recalled (lines|characters) (\d+)-(\d+) of (\d+), ref ([^\s;\]]{1,80})(?:; [^\n]*)?\]\n")


class Searchable(Protocol):
    """What `recall_answer` needs of an archive; a `Session` (it has `recall` in place of `get`) will do as well."""

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]: ...


def recall_tool(wire: str = "openai-chat") -> dict[str, Any]:
    """The tool `recall_context` as an entry of the wire's `tools` list. Raises ConfigError for an unknown wire."""
    return tool_declaration(wire, NAME, DESCRIPTION, PARAMETERS)


def is_recall(tool: str) -> bool:
    """Whether a tool is the recall tool, by its name: clients put the name of an MCP server before it."""
    return tool.endswith(NAME)


def recall_answer(source: Searchable, arguments: Mapping[str, Any] | str | None, *, limit: int = LIMIT) -> str:
    """What the tool answers, `limit` characters at most (and a line that says how to get the rest).

    `source`: a session or an archive. `arguments`: as the model gave them, an object or its JSON. A text within the
    limit comes exactly as it was. What the model got wrong, an unknown handle too, is said in the answer. Raises
    ArchiveError when the archive itself cannot be read.
    """
    given = _parsed(arguments)
    if given is None:
        return f"The arguments must be a JSON object with `handle` or `query`, not: {_short(str(arguments))}"
    handle, query = _handle(given.get("handle")), str(given.get("query") or "").strip()
    if not handle:
        return _search(source, query) if query else "Give `handle` (the word after `ref` in a mark) or `query`."
    try:
        text = _get(source)(handle)
    except (ArchiveError, LookupError) as error:
        if _failed(error):
            raise
        return _unknown(source, handle, query)
    for unit in ("lines", "characters"):
        if given.get(unit):
            return _part(text, handle, unit, str(given[unit]), limit)
    if query:
        return _matching(text, handle, query)
    return text if len(text) <= limit else _slice(text, handle, *_first(text, limit), limit)


def is_recalled(text: str, get: Callable[[str], str], handle_of: Callable[[str], str]) -> str | None:
    """The handle of the archived text that a tool result brings back, whole or in part; None: it does not.

    `get` is `session.recall` or an archive's, `handle_of` gives the handle of a text (`View.handle`): a whole text is
    recognised by its hash. A part says in its first line what it is, and is compared: a mark alone proves nothing.
    """
    match = _HEAD.match(text)
    handle = match.group(5) if match else handle_of(text)
    try:
        whole = get(handle)
    except (ArchiveError, LookupError) as error:
        if _failed(error):
            raise
        return None
    if match is None:
        return handle if whole == text else None
    unit, first, last = match.group(1), int(match.group(2)), int(match.group(3))
    return handle if text[match.end() :] == _cut(whole, unit, first, last) else None


def _failed(error: Exception) -> bool:
    """Whether the store failed, which the model cannot mend. That nothing is there has no cause, or a LookupError."""
    return error.__cause__ is not None and not isinstance(error.__cause__, LookupError)


def _get(source: Any) -> Callable[[str], str]:
    get: Callable[[str], str] = source.recall if hasattr(source, "recall") else source.get
    return get


def _parsed(arguments: Any) -> Mapping[str, Any] | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return None
    return {} if arguments is None else arguments if isinstance(arguments, Mapping) else None


def _handle(value: Any) -> str:
    """The handle in what the model gave: the word, or the whole mark."""
    text = str(value or "").strip()
    match = _HANDLE.search(text)
    return match.group(1) if match else re.sub(r"[^\w-]", "", text)[:80]


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"


def _unknown(source: Searchable, handle: str, query: str) -> str:
    said = (
        f"Nothing is kept under {handle!r}. A handle is the word after `ref` in a mark such as [cut 812 tokens, ref …]"
    )
    return f"{said}; copy it exactly, or search with `query`." + (f"\n\n{_search(source, query)}" if query else "")


def _search(source: Searchable, query: str) -> str:
    found = source.search(query, HITS)
    if not found:
        return f"Nothing that was cut has a word of {_short(query)!r}."
    rows = (f"ref {handle}: {' '.join(excerpt.split())[:LINE]}" for handle, excerpt in found)
    return "\n".join(["Found; give one of these as `handle` for the whole text:", *rows])


def _matching(text: str, handle: str, query: str) -> str:
    """The lines of one text that have a word of the query, with their numbers."""
    wanted = [root(word) or word for word in words_of(query)]
    pattern = re.compile("|".join(map(re.escape, wanted)) or r"(?!)", re.IGNORECASE)
    lines = text.split("\n")
    hits = [(number, match) for number, line in enumerate(lines, 1) if (match := pattern.search(line))]
    if not hits:
        return f"No line of {handle} has a word of {_short(query)!r}. It has {len(lines)} lines: give `lines`."
    head = f"{len(hits)} of {len(lines)} lines of {handle}" + (f", the first {LINES}" if len(hits) > LINES else "")
    rows = [f"{number}: {_around(match.string, match.start())}" for number, match in hits[:LINES]]
    return "\n".join([f"{head}; for the lines around one give `lines`:", *rows])


def _around(line: str, at: int) -> str:
    if len(line) <= LINE:
        return line
    start = max(0, min(at - LINE // 3, len(line) - LINE))
    return ("…" if start else "") + line[start : start + LINE] + ("…" if start + LINE < len(line) else "")


def _size(text: str, unit: str) -> int:
    return text.count("\n") + 1 if unit == "lines" else len(text)


def _cut(text: str, unit: str, first: int, last: int) -> str:
    return "\n".join(text.split("\n")[first - 1 : last]) if unit == "lines" else text[first - 1 : last]


def _first(text: str, limit: int) -> tuple[str, int, int]:
    """The unit in which a text can be given in pieces, and its first piece."""
    lines = text.split("\n")
    if len(lines) > 1 and max(map(len, lines)) <= limit:
        return "lines", 1, len(lines)
    return "characters", 1, len(text)


def _part(text: str, handle: str, unit: str, wanted: str, limit: int) -> str:
    size, match = _size(text, unit), _RANGE.fullmatch(wanted.strip(" []()\"'"))
    if match is None:
        return f"`{unit}` must be a range such as 120-180, not {_short(wanted)!r}. {handle} has {size} {unit}."
    first = max(1, int(match.group(1)))
    # One number is one line, and as many characters as an answer has room for.
    last = int(match.group(2)) if match.group(2) else first if unit == "lines" and wanted.strip().isdigit() else size
    if first > size or last < first:
        return f"{handle} has {size} {unit}: there is no {_short(wanted.strip())}."
    return _slice(text, handle, unit, first, min(last, size), limit)


def _slice(text: str, handle: str, unit: str, first: int, last: int, limit: int) -> str:
    """That part, or as much of it as fits the limit, under a line that says what it is and how to get what follows."""
    size, body = _size(text, unit), _cut(text, unit, first, last)
    if len(body) > limit:
        if unit == "lines":
            at = body.rfind("\n", 0, limit + 1)
            if at < 0:  # the first line alone is too long
                before = len(_cut(text, unit, 1, first - 1)) + 1 if first > 1 else 0
                return _slice(text, handle, "characters", before + 1, before + len(body), limit)
            body = body[:at]
            last = first + body.count("\n")
        else:
            body = body[:limit]
            last = first + limit - 1
    rest = f"; for more: {unit} {last + 1}-{min(size, last + last - first + 1)}" if last < size else ""
    return f"[recalled {unit} {first}-{last} of {size}, ref {handle}{rest}]\n{body}"
