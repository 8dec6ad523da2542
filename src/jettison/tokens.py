"""Counting tokens: the protocol, the exact default, and factors for families whose tokenizer is not public."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from operator import index
from typing import Any

from jettison.errors import ConfigError
from jettison.items import Fidelity, Item, Kind
from jettison.models import family_of
from jettison.protocols import TokenCounter

__all__ = ["FACTORS", "CountCache", "Scaled", "counter_for", "o200k", "text_class"]

# The tokenizer's public API refuses >= 1,000,000 characters and > 200,000 tokens. No character takes more
# than 4 tokens of its own (4 UTF-8 bytes) but fuzzing found runs of 4.25 a character; 32,000 leaves room for 6.
PIECE = 32_000

# A letter or digit, then a space and a letter; or a line break, then a letter or digit: the pre-tokenizer always
# splits there, so cutting there does not change the count. Blobs without such a place are cut anywhere: at most a
# token or two a piece more.
_SAFE_CUT = r"(?<=[^\W_]) (?=[^\W\d_])|(?<=[\r\n])(?=[^\W_])"

# Tokens of family / tokens of o200k, by text class: dependencies.md, measured 2026-11 on counts that the
# providers' own endpoints gave. The error is the largest deviation seen between texts of one class.
FACTORS: dict[str, dict[str, float]] = {
    "o200k": dict.fromkeys(("english", "code", "json", "cyrillic", "cjk", "base64"), 1.0),
    "claude": {"english": 1.13, "code": 1.21, "json": 1.12, "cyrillic": 1.61, "cjk": 1.35, "base64": 1.27},
    "claude-4.7": {"english": 1.46, "code": 1.48, "json": 1.28, "cyrillic": 1.61, "cjk": 1.36, "base64": 1.39},
    "llama-3": {"english": 1.0, "code": 1.0, "json": 1.0, "cyrillic": 1.17, "cjk": 1.07, "base64": 1.05},
    # No measurement: counted as o200k until the provider's own `usage` corrects it, and the report says so.
    "gemini": dict.fromkeys(("english", "code", "json", "cyrillic", "cjk", "base64"), 1.0),
}
STATED_ERROR = {
    "o200k": "exact",
    "claude": "o200k × measured factor per text class, about ±10 %",
    "claude-4.7": "o200k × measured factor per text class, about ±10 %",
    "llama-3": "o200k × measured factor per text class, about ±10 %",
    "gemini": "no measured factor: o200k, error unknown until usage() corrects it",
}
_CYRILLIC = r"[\u0400-\u04ff]"
_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_CODE = r"[{}()\[\];=<>_/\\|#$]|^[ \t]{2,}"
_compiled = cache(partial(re.compile, flags=re.MULTILINE))
"""Patterns are compiled when first used, which many sessions never do."""


@lru_cache(maxsize=1)
def _encoding() -> Any:
    """The o200k vocabulary. Loaded on first use: it takes 0.7 s, which `import jettison` must not."""
    import bpe_openai

    return bpe_openai.get_encoding("o200k_base")


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > PIECE:
        end = start + PIECE
        cut = next(_compiled(_SAFE_CUT).finditer(text, end - 2_000, end), None)
        end = cut.start() if cut else end
        yield text[start:end]
        start = end
    yield text[start:]


def o200k(text: str) -> int:
    """Exact o200k tokens of `text`, of any size and script, in linear time."""
    encode = _encoding().encode_ordinary
    if len(text) <= PIECE:
        return len(encode(text))
    return sum(len(encode(piece)) for piece in _pieces(text))


def text_class(text: str) -> str:
    """Which column of `FACTORS` a text belongs to, from a sample of at most 1,500 characters."""
    sample = text if len(text) <= 1_500 else text[:500] + text[len(text) // 2 :][:500] + text[-500:]
    size = max(1, len(sample))
    if len(_compiled(_CJK).findall(sample)) > 0.15 * size:
        return "cjk"
    if len(_compiled(_CYRILLIC).findall(sample)) > 0.25 * size:
        return "cyrillic"
    if len(sample) > 200 and len(sample.split()) * 60 < size:
        return "base64"
    if sample.lstrip()[:1] in ("{", "["):
        return "json"
    return "code" if len(_compiled(_CODE).findall(sample)) > 0.05 * size else "english"


@dataclass(frozen=True, slots=True)
class Scaled:
    """A counter for a family without a public tokenizer: o200k × the measured factor of the text's class."""

    family: str

    @property
    def name(self) -> str:
        return self.family

    @property
    def error(self) -> str:
        return STATED_ERROR[self.family]

    def __call__(self, text: str) -> int:
        tokens = o200k(text)
        if self.family in ("o200k", "gemini") or not tokens:
            return tokens
        return -int(-tokens * FACTORS[self.family][text_class(text)] // 1)


def counter_for(counter: TokenCounter | str | None, model: str | None, default: str) -> TokenCounter:
    """The counter to use: the given one, one by name, by the model's family, or the wire's default family.

    Raises ConfigError for an unknown name.
    """
    if counter is None:
        return Scaled((family_of(model) if model else None) or default)
    if isinstance(counter, str):
        if counter not in FACTORS:
            raise ConfigError(f"counter={counter!r} is not known: use one of {', '.join(FACTORS)} or a callable")
        return Scaled(counter)
    if not callable(counter):
        raise ConfigError(f"counter must be a name or a callable str -> int, not {type(counter).__name__}")
    return Checked(counter)


@dataclass(frozen=True)
class Checked:
    """A caller's counter, with its answers as ints. Raises ConfigError for one that is no whole number from 0 on."""

    counter: TokenCounter

    @property
    def name(self) -> str:
        return describe(self.counter)[0]

    @property
    def error(self) -> str:
        return describe(self.counter)[1]

    def __call__(self, text: str) -> int:
        found: Any = self.counter(text)
        try:
            tokens = index(found)
        except TypeError:
            tokens = -1
        if tokens < 0:
            raise ConfigError(
                f"the counter {self.name} gave {found!r} for a text of {len(text):,} characters: it must give a whole "
                "number of tokens, 0 or more"
            )
        return tokens


def describe(counter: TokenCounter) -> tuple[str, str]:
    """(name, stated error) of a counter, for the report."""
    name = getattr(counter, "name", None) or getattr(counter, "__name__", type(counter).__name__)
    return str(name), str(getattr(counter, "error", "as given by the caller"))


@dataclass(slots=True)
class CountCache:
    """Counts each distinct text once. `cost` is what an item takes in the request."""

    count: Callable[[str], int]
    seen: dict[str, int] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    """By item id: the item that was weighed, and its tokens. Two tables, as a pair for each is an object more that
    the garbage collector has to visit."""

    def text(self, text: str) -> int:
        if not text:
            return 0
        tokens = self.seen.get(text)
        if tokens is None:
            tokens = self.seen[text] = self.count(text)
        return tokens

    def cost(self, item: Item) -> int:
        """Tokens of an item: text, tool name of a call, unknown fields, framing and media."""
        if self.items.get(item.id) is item:
            return self.weights[item.id]
        tokens = self._weigh(item)
        if item.fidelity is Fidelity.FULL:
            self.know(item, tokens)
        return tokens

    def know(self, item: Item, tokens: int) -> None:
        """Remember what an item takes."""
        self.items[item.id] = item
        self.weights[item.id] = tokens

    def _weigh(self, item: Item) -> int:
        tokens = item.fixed + self.text(item.text)
        if item.extra:
            tokens += self.text(item.extra)
        if item.kind is Kind.CALL and item.name:
            tokens += self.text(item.name)
        return tokens

    def total(self, items: Iterable[Item]) -> int:
        return sum(map(self.cost, items))

    def once(self, items: Iterable[Item]) -> int:
        """The same of items that are not asked about again: those of an output, whose ids are those of the input."""
        return sum(map(self._weigh, items))
