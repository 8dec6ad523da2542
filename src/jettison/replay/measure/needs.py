"""What a recorded turn needed: the values in its arguments that stood in earlier results or user text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jettison.replay.measure.trajectory import Message, Trajectory, calls_of, text_of

__all__ = ["Need", "Text", "Texts", "argument_values", "needs_of", "normalise", "positions"]

SHORT, LONG, PIECE_MIN, PIECES_MAX, NUMBER_MIN = 4, 60, 6, 40, 1000
SOURCES_MAX = 8
"""Context is taken from this many of the newest messages that hold a value, and of its occurrences in each."""
_NOTHING = {"true", "false", "none", "null"}
_PIECE = re.compile(r"[\w./@+~-]+")
_WORD = re.compile(r"[^\W\d_]\w{2,}|_+[^\W\d_]\w+")
_EDGE = ".-+@~"

Leaf = tuple[str, str]
"""(key, normalised value)."""
Record = tuple[str, tuple[Leaf, ...]]
"""(the key a value stands at, the other leaves of its object)."""


def normalise(text: str) -> str:
    """Lower case, white space folded."""
    return " ".join(text.lower().split())


def positions(value: str, text: str, most: int = 1_000_000) -> list[int]:
    """Where `value` stands in `text`, bounded by non-alphanumerics. Both normalised."""
    found: list[int] = []
    at = text.find(value)
    while at >= 0 and len(found) < most:
        end = at + len(value)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            found.append(at)
        at = text.find(value, at + 1)
    return found


@dataclass(slots=True)
class Text:
    """One message text: `folded` for search, `lined` is aligned with it and still has the line breaks."""

    raw: str
    folded: str = field(init=False)
    lined: str = field(init=False)
    _at: dict[str, list[int]] = field(default_factory=dict)
    _leaves: dict[str, list[Record]] | None = None

    def __post_init__(self) -> None:
        lines = (" ".join(line.split()) for line in self.raw.lower().split("\n"))
        self.lined = "\n".join(line for line in lines if line)
        self.folded = self.lined.replace("\n", " ")
        # Escaped line breaks of text inside JSON end a line too; both are two characters long.
        self.lined = self.lined.replace("\\n", " \n")

    def find(self, value: str) -> list[int]:
        """Positions of a value, searched once."""
        known = self._at.get(value)
        if known is None:
            known = self._at[value] = positions(value, self.folded)
        return known

    @property
    def leaves(self) -> dict[str, list[Record]]:
        """JSON leaves by value; empty when the text is not JSON."""
        if self._leaves is None:
            self._leaves = {}
            opened = _parse(self.raw)
            if opened is not None:
                _index(opened, "", (), self._leaves)
        return self._leaves

    def word_beside(self, value: str, at: int) -> str | None:
        """The word next to an occurrence: before it in its line, else after it."""
        start = self.lined.rfind("\n", 0, at) + 1
        before = _WORD.findall(self.lined, max(start, at - 160), at)
        if before:
            return str(before[-1])
        end = self.lined.find("\n", at)
        after = _WORD.search(self.lined, at + len(value), end if end >= 0 else len(self.lined))
        return after.group() if after else None


class Texts:
    """The texts of one trajectory, each normalised and searched once."""

    def __init__(self) -> None:
        self._known: dict[str, Text] = {}

    def __call__(self, message: Message) -> Text:
        raw = text_of(message)
        known = self._known.get(raw)
        if known is None:
            known = self._known[raw] = Text(raw)
        return known


@dataclass(frozen=True, slots=True)
class Need:
    """A needed value, the texts it stood in, the words it stood next to, and the records it was a leaf of."""

    value: str
    sources: frozenset[str]
    words: frozenset[str]
    records: tuple[tuple[Leaf, ...], ...]


def argument_values(message: Message) -> list[str]:
    """Normalised values in the arguments of a turn's calls, in order, each once."""
    values: dict[str, None] = {}
    for call in calls_of(message):
        try:
            arguments = json.loads((call.get("function") or {}).get("arguments") or "")
        except (TypeError, ValueError):
            continue
        for _, leaf in _scalars(arguments):
            values.update(dict.fromkeys(_values(leaf)))
    return list(values)


def _scalars(node: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for name, inner in node.items():
            yield from _scalars(inner, str(name))
    elif isinstance(node, list):
        for inner in node:
            yield from _scalars(inner, key)
    else:
        yield key, node


def _plain(leaf: Any) -> str:
    """A scalar as text: 1500.0 and 1500 are the same number."""
    if isinstance(leaf, float) and leaf.is_integer() and abs(leaf) < 1e15:
        return str(int(leaf))
    return normalise(str(leaf))


def _values(leaf: Any) -> list[str]:
    if isinstance(leaf, bool) or leaf is None:
        return []
    if isinstance(leaf, int | float):
        return [_plain(leaf)] if abs(leaf) >= NUMBER_MIN else []
    text = normalise(leaf)
    if len(text) <= LONG and "\n" not in leaf.strip():
        return [text] if len(text) >= SHORT and text not in _NOTHING else []
    pieces: dict[str, None] = {}
    for token in _PIECE.findall(text):
        piece = token.strip(_EDGE).rstrip("/")
        if len(piece) >= PIECE_MIN and any(c in "/._" or c.isdigit() for c in piece):
            pieces[piece] = None
    return list(pieces)[:PIECES_MAX]


def needs_of(trajectory: Trajectory, texts: Texts) -> dict[int, list[Need]]:
    """D_t by the index of the assistant turn; turns that need nothing are left out."""
    messages, head = trajectory.messages, trajectory.head
    heads = [texts(message) for message in messages[:head]]
    sources: list[Text] = []
    needs: dict[int, list[Need]] = {}
    for t in range(head, len(messages)):
        message = messages[t]
        if message["role"] in ("user", "tool"):
            sources.append(texts(message))
        found = [
            _need(value, held)
            for value in argument_values(message)
            if not any(text.find(value) for text in heads) and (held := [s for s in sources if s.find(value)])
        ]
        if found:
            needs[t] = found
    return needs


def _need(value: str, held: list[Text]) -> Need:
    words: set[str] = set()
    records: list[tuple[Leaf, ...]] = []
    for text in held[-SOURCES_MAX:]:
        as_leaf = text.leaves.get(value, ())
        words.update(key for key, _ in as_leaf if key)
        records += [siblings for _, siblings in as_leaf if siblings][:SOURCES_MAX]
        if not as_leaf:
            beside = (text.word_beside(value, at) for at in text.find(value)[:SOURCES_MAX])
            words.update(word for word in beside if word)
    return Need(value, frozenset(text.raw for text in held), frozenset(words), tuple(records))


def _parse(text: str) -> Any:
    """The value of a JSON text (object or list), else None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _index(node: Any, key: str, record: tuple[Leaf, ...], leaves: dict[str, list[Record]]) -> None:
    """Enter every leaf with the other direct leaves of its object; JSON inside strings is opened."""
    if isinstance(node, str):
        opened = _parse(node)
        if opened is not None:
            _index(opened, key, (), leaves)
            return
    if isinstance(node, dict):
        own = tuple((normalise(str(k)), _plain(v)) for k, v in node.items() if not isinstance(v, dict | list))
        for name, inner in node.items():
            _index(inner, normalise(str(name)), own, leaves)
    elif isinstance(node, list):
        for inner in node:
            _index(inner, key, record, leaves)
    elif node is not None and not isinstance(node, bool):
        value = _plain(node)
        siblings = tuple((k, v[:LONG]) for k, v in record if (k, v) != (key, value) and v)
        leaves.setdefault(value, []).append((key, siblings))
