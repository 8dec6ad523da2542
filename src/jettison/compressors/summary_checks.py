"""What an answer of a summariser must satisfy before it may stand for the messages it was made from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from jettison.compressors.summary_text import Source, holds
from jettison.flow.statuses import ended

__all__ = ["END", "SECTIONS", "Objection", "Why", "checked", "identifiers", "new_identifiers", "sections"]

SECTIONS = ("Done", "Open", "Facts", "Decisions")
END = "[end]"
"""The last line of a complete answer."""

_HEADINGS = {
    "Done": r"done|сделано|выполнено|готово",
    "Open": r"open|открыто|не сделано|в работе",
    "Facts": r"facts|факты",
    "Decisions": r"decisions|решения",
}
_HEADING = re.compile(
    r"^[\s#*_>]*(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in _HEADINGS.items())
    + r")[\s*_]*[:：][\s*_]*(.*)$",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W](?:[\w./@~:+#\\%-]*[\w])?")
_NUMBERING = re.compile(r"^[^\S\n]*(?:[-*•][^\S\n]*)?\d{1,3}[.)]\s", re.MULTILINE)
_INNER_CAPS = re.compile(r"[a-zа-яё][A-ZА-ЯЁ]|[A-ZА-ЯЁ]{2,}[a-zа-яё]+[A-ZА-ЯЁ]")
_MARKUP = re.compile(r"[*`]+")


class Why(StrEnum):
    """Each reason for which an answer is refused."""

    EMPTY = "the answer is empty"
    CUT = "the answer is cut"
    NESTED = "the answer contains a summary's marks"
    TOO_LONG = "the answer is too long"
    NOT_SHORTER = "the answer is not shorter than its input"
    NO_SECTIONS = "the answer lacks a section"
    LOST = "an identifier that must survive is missing"
    NEW = "an identifier is not in the input"
    OPEN_AS_DONE = "an open operation is told as done"
    OPEN_LOST = "an open operation is not under Open"
    DONE_AS_OPEN = "a done operation is told as open"


@dataclass(frozen=True, slots=True)
class Objection:
    """Why an answer is refused, and what in it."""

    why: Why
    what: str = ""

    def __str__(self) -> str:
        return f"{self.why}: {self.what}" if self.what else str(self.why)


def checked(
    answer: str, source: Source, max_tokens: int, count: Callable[[str], int], *, input_tokens: int
) -> str | Objection:
    """The body of an answer that passes, else the first objection to it. Linear in the answer and in the source."""
    body = answer.strip()
    if not body or body == END:
        return Objection(Why.EMPTY)
    # No character takes more than 6 tokens (tokens.PIECE), few texts have more than 12 characters a token.
    if len(body) > 40 * max_tokens + 400:
        return Objection(Why.TOO_LONG, f"{len(body):,} characters")
    if not body.endswith(END):
        return Objection(Why.CUT, f"its last line is not {END}")
    body = body[: -len(END)].strip()
    if END in body or "[summary of " in body or "<<record " in body or "<<end " in body:
        return Objection(Why.NESTED)
    found = sections(body)
    lacking = [name for name in SECTIONS if name not in found]
    if lacking:
        return Objection(Why.NO_SECTIONS, ", ".join(lacking)) if found else Objection(Why.NO_SECTIONS)
    body = _tidy(found)
    if not body:
        return Objection(Why.EMPTY)
    tokens = count(body)
    if tokens > max_tokens:
        return Objection(Why.TOO_LONG, f"{tokens} tokens, {max_tokens} are allowed")
    if tokens >= input_tokens:
        return Objection(Why.NOT_SHORTER, f"{tokens} tokens of {input_tokens}")
    return _about_values(body, found, source) or body


def sections(text: str) -> dict[str, list[str]]:
    """Lines of each section; what stands before the first heading belongs to `""`."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.split("\n"):
        match = _HEADING.match(line)
        if match:
            name = next(key for key in SECTIONS if match[key])
            line = match[match.lastindex or 0]
        if match or line.strip():
            found.setdefault(name, [])
        if line.strip():
            found[name].append(line.strip())
    return found


def _tidy(found: dict[str, list[str]]) -> str:
    """The answer with the four headings as they are meant; a section without entries is left out."""
    out = []
    for name in ("", *SECTIONS):
        lines = [line for line in found.get(name, ()) if line.strip(" -*•.").lower() not in ("none", "нет", "")]
        out += ([f"{name}:"] if name and lines else []) + lines
    return "\n".join(out)


def _about_values(body: str, found: dict[str, list[str]], source: Source) -> Objection | None:
    lost = [value for value in source.must_keep if not holds(body, value)]
    if lost:
        return Objection(Why.LOST, ", ".join(lost))
    new = new_identifiers(body, source)
    if new:
        return Objection(Why.NEW, ", ".join(new))
    open_, done = "\n".join(found["Open"]), "\n".join(found["Done"])
    elsewhere = [line for name in ("", "Facts", "Decisions") for line in found.get(name, ())]
    for value in source.open:
        if holds(done, value):
            return Objection(Why.OPEN_AS_DONE, value)
        if any(holds(line, value) and ended(line, value, False) for line in elsewhere):
            return Objection(Why.OPEN_AS_DONE, value)
        if not holds(open_, value):
            return Objection(Why.OPEN_LOST, value)
    for value in source.done:
        if value not in source.open and holds(open_, value):
            return Objection(Why.DONE_AS_OPEN, value)
    return None


def identifiers(text: str) -> Iterator[str]:
    """What in a text looks like an identifier, a path, an address, a number, a date or a code, each once.

    Shorter than what `flow.values` looks for, as nothing may be invented, `W4` neither: a digit (but for a single one,
    and the numbers of a list), `@`, `/`, `_`, a dot inside, capitals inside a word or throughout it.
    """
    seen: set[str] = set()
    for token in _TOKEN.findall(_NUMBERING.sub("\n", _MARKUP.sub(" ", text))):
        token = token.strip("_").rstrip(".:/-+#")
        if token not in seen and _names_something(token):
            seen.add(token)
            yield token


def _names_something(token: str) -> bool:
    if any(map(str.isdigit, token)):
        return len(token) > 1
    if len(token) < 3:
        return False
    letters = token.replace("-", "").replace(".", "")
    return (
        any(mark in token for mark in "@/_#\\~")
        or "." in token
        or bool(_INNER_CAPS.search(token))
        or (len(letters) > 3 and letters.isupper())
    )


def new_identifiers(text: str, source: Source) -> list[str]:
    """Identifiers of a text that do not stand in the source, by themselves and letter by letter."""
    given = "\n".join([source.text, *source.must_keep, *source.open, *source.done])
    return [token for token in identifiers(text) if not _given(token, given)]


def _given(token: str, given: str) -> bool:
    if holds(given, token):
        return True
    if ":" in token:  # `REF-7:pending`, `status:open`; not `09:17`
        pieces = [piece for piece in token.split(":") if piece]
        if len(pieces) > 1 and not all(piece.isdigit() for piece in pieces):
            return all(holds(given, piece) or not _names_something(piece) for piece in pieces)
    if not any(map(str.isdigit, token)) and token.isalpha() and token.isupper():
        return holds(given.lower(), token.lower())  # an ordinary word, shouted
    return False
