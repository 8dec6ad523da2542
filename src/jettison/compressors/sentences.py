"""Where sentences begin and end, in any language that ends them with a mark: English, Russian, Chinese and their kin.

`flow.prose.sentences` splits more (each line, each full stop), as a search for rules needs it; this one is for text
that is read again: hard-wrapped lines are joined, abbreviations, initials, decimals and version numbers end nothing.
"""

from __future__ import annotations

import re

__all__ = ["sentences"]

_END = re.compile(
    r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$|[\"“«(\[])|[。！？；]+[”’」』）)]*+|(?:\n[ \t]*+){2,}|\n)"
)
_BEFORE = re.compile(r"(?:[^\W_]\.)*[^\W_]+$")
_MARKED = re.compile(r"[ \t]*(?:[-*+•—–>|#]|\d{1,3}[.)] |[^\W\d_]\) |```)")
WRAPPED = 50
"""Characters of a line from which on it counts as wrapped, not as ended by its author. Wrapped text is set at 60–80."""

_NEVER_WORDS = (
    "e.g i.e cf vs mr mrs ms dr prof sr jr st no nos fig figs eq eqs sec ch vol pp ed eds rev gen col sgt capt lt "
    "approx dept est resp incl excl al viz mt "
    "т.е т.к т.н см ср напр рис табл гл ст пп п стр с ул пер пл просп кв корп обл р-н гос им акад доц проф св "
    "зам зав инж ред сост вып д"
)
_NEVER = frozenset(_NEVER_WORDS.split())
"""What goes on after the full stop, whatever follows."""
_SOMETIMES_WORDS = (
    "etc inc ltd co corp u.s u.k a.m p.m ph.d b.c a.d г гг в вв т.д т.п др пр руб коп тыс млн млрд трлн мин сек час ч "
    "шт экз чел н.э u.s.a"
)
_SOMETIMES = frozenset(_SOMETIMES_WORDS.split())
"""What may end a sentence as well: it does when the next word has a capital."""


def sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, heading or list item, white space trimmed. Linear in the text."""
    out: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if _ends(text, start, match):
            _add(out, text, start, match.end())
            start = match.end()
    _add(out, text, start, len(text))
    return out


def _add(out: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left < len(piece):
        out.append((start + left, start + len(piece.rstrip())))


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence ends at a mark or a line break."""
    mark = match[0]
    if mark[0] == "\n":
        return mark.count("\n") > 1 or _breaks(text, start, match)
    if mark[0] in "。！？；":
        return True
    after = text[match.end() : match.end() + 40]
    following = after.lstrip()[:1]
    space = after[: len(after) - len(after.lstrip())]
    if (following.islower() and "\n\n" not in space) or (following in ("—", "–") and "\n" not in space):
        return False
    return mark != "." or not _abbreviated(text, start, match.start(), following)


def _abbreviated(text: str, start: int, at: int, following: str) -> bool:
    """Whether the full stop at `at` belongs to an abbreviation, an initial or the number of a list item."""
    left = max(start, at - 16)
    before = _BEFORE.search(text[left:at])
    if before is None:
        return False
    word = before[0]
    lower = word.lower()
    if lower in _SOMETIMES:
        if not following.isupper():
            return True
        # «в 2020 г. Завод …» ends, «г. Москва» does not: a year or a century stands before.
        return lower in ("г", "в") and not _numbered(text[left : at - len(word)])
    if lower in _NEVER:
        return True
    if len(word) == 1 and word.isupper():
        return True
    return word.isdigit() and len(word) < 4 and at - len(word) - start < 8 and not text[start : at - len(word)].strip()


def _numbered(before: str) -> bool:
    """Whether a number, Arabic or Roman, is the last word."""
    last = before.split()[-1:] or [""]
    return last[0][-1:].isdigit() or bool(re.fullmatch(r"[IVXХ–-]+", last[0]))


def _breaks(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a single line break ends what stands before it: short lines do, wrapped ones do not."""
    begin = text.rfind("\n", max(start, match.start() - WRAPPED), match.start()) + 1
    wrapped = begin <= max(start, match.start() - WRAPPED) and match.start() - start >= WRAPPED
    following = text[match.end() : match.end() + 12]
    if not following.strip() or _MARKED.match(following):
        return True
    if text[start : start + 2].lstrip()[:1] in ("#", "|"):
        return True
    return not (wrapped or following.lstrip()[:1].islower())
