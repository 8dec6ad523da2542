"""Passages: the prose of an item in pieces that an embedder or a judge reads. Code, tables and identifiers are none.

Values are found by exact flow, where embeddings have no signal (algorithm.md); prose has no values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from jettison.flow.dependencies import Flow
from jettison.flow.prose import is_data, sentences
from jettison.items import Item, Kind
from jettison.relevance.context import words_of

__all__ = ["LONGEST", "WHOLE", "Passage", "digest", "passages_of", "reads", "trimmed"]

WHOLE = -1
"""In place of a segment: the item is kept whole or not at all."""
LONGEST = 120
"""Characters up to which neighbours are one passage: about a sentence. In a longer one what is needed is averaged away
with its neighbours: of 59 passages the best tenth of the room by nearness holds 35 with 120 characters, 28 with 200,
16 with 400 (passages of `bench/prose_set.py`, ranked in one call; chosen on that set)."""
CUT = 800
"""Characters of one sentence that are read."""
WORDS = 4
"""Words from which on a piece says something by itself."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CODE = re.compile(r"[{}<>=;\\]|\w\(|\w_\w|::|->")
_READ = (Kind.USER, Kind.ASSISTANT, Kind.RESULT, Kind.DOCUMENT, Kind.SUMMARY)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of prose of one item."""

    item: str
    text: str
    segments: tuple[int, ...]
    """Which of the item's segments it is made of; (WHOLE,): the item is not cut."""
    key: bytes = b""
    """Hash of its text."""

    @property
    def whole(self) -> bool:
        """Whether it stays only with all of its item."""
        return self.segments == (WHOLE,)


def digest(text: str) -> bytes:
    """The key under which a text's vector is kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def passages_of(item: Item, flow: Flow, most: int, task: frozenset[str] = frozenset()) -> list[Passage]:
    """Passages of one item, `most` characters together; of a longer one half those that share words with the task
    and half evenly spread."""
    if item.kind not in _READ or item.synthetic or not item.text:
        return []
    made = [Passage(item.id, text, segments, digest(text)) for text, segments in _joined(_pieces(item, flow, 8 * most))]
    return trimmed(made, most, task)


def trimmed(passages: Sequence[Passage], most: int, task: frozenset[str]) -> list[Passage]:
    """At most `most` characters of passages, in their order."""
    sizes = [len(passage.text) for passage in passages]
    if sum(sizes) <= most:
        return list(passages)
    ranked = sorted(range(len(passages)), key=lambda at: (-len(words_of(passages[at].text) & task), at))
    chosen = set(_filled(ranked, sizes, most / 2))
    rest = [at for at in range(len(passages)) if at not in chosen]
    count = max(1, int(len(rest) * (most / 2) / max(1, sum(sizes[at] for at in rest))))
    step = len(rest) / count
    chosen.update(_filled([rest[int(step * (at + 0.5))] for at in range(min(count, len(rest)))], sizes, most / 2))
    return [passages[at] for at in sorted(chosen)]


def _filled(order: Iterable[int], sizes: Sequence[int], room: float) -> Iterator[int]:
    """The first of them, as long as there is room: at least one."""
    for at in order:
        yield at
        room -= sizes[at]
        if room <= 0:
            return


def reads(text: str) -> bool:
    """Whether a piece is prose: words of a language, not data and not code."""
    if len(_WORD.findall(text)) < WORDS and len(_CJK.findall(text)) < 2 * WORDS:
        return False
    if len(_CODE.findall(text)) > 1 + len(text) // 120 or is_data(text):
        return False
    return sum(char.isalpha() or char.isspace() for char in text) >= 0.8 * len(text)


def _pieces(item: Item, flow: Flow, most: int) -> Iterator[tuple[str, int]]:
    """(text, segment) of each piece that reads, from at most `most` characters of prose."""
    source = flow.sources.get(item.id)
    seen = 0
    if source is None:
        for start, end in sentences(item.text[:most]):
            if reads(item.text[start:end]):
                yield item.text[start:end], WHOLE
        return
    for index, part in enumerate(source.parts.segments):
        if seen < most and reads(part.text):
            seen += len(part.text)
            yield part.text, index


def _joined(pieces: Iterable[tuple[str, int]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Neighbours joined up to `LONGEST` characters. A gap between segments ends a passage."""
    texts: list[str] = []
    segments: list[int] = []
    size = 0
    for text, index in pieces:
        apart = segments and index != WHOLE and index > segments[-1] + 1
        if texts and (apart or size + len(text) > LONGEST):
            yield " ".join(texts), tuple(dict.fromkeys(segments))
            texts, segments, size = [], [], 0
        texts.append(text.strip()[:CUT])
        segments.append(index)
        size += len(text)
    if texts:
        yield " ".join(texts), tuple(dict.fromkeys(segments))
