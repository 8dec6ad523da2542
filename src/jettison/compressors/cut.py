"""A text reduced to some of its segments, in their order, with every gap marked in the source's own unit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

from jettison.compressors.shape import shape
from jettison.flow.segments import Segment, Segmented

__all__ = ["cut", "encodable", "handle_for", "is_synthetic", "stub"]

_SYLLABLES = ["bdfghjklmnprstvz"[byte >> 4] + "aiou"[byte & 3] for byte in range(256)]
_LONE = re.compile("[\ud800-\udfff]")
_MARK = re.compile(
    r"\[partial \d+/\d+ (?:lines, …n = n cut|fields|characters)(?:, ref [a-z]{10,})?\]"
    r"|\[cut \d+ tokens(?:, ref [a-z]{10,})?\]$"
)


def encodable(text: str) -> str:
    """The text with each half of a surrogate pair as JSON writes it (`\\ud800`), which is how it got here: as it is no
    request can carry it."""
    return text if text.isascii() else _LONE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def handle_for(text: str, letters: int = 10) -> str:
    """A pronounceable handle of the content: letters only, so that nobody takes it for an identifier.

    Ten letters are 30 bits; two texts of a session that share a handle get more letters.
    """
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    return "".join(map(_SYLLABLES.__getitem__, digest[: letters // 2]))


def is_synthetic(text: str) -> bool:
    """Whether a text was written by `cut` or `stub`: it is then kept or dropped, never cut again."""
    return _MARK.match(text) is not None


def stub(tokens: int, handle: str) -> str:
    """What stands for a text that was cut whole: its size, and where the archive has it unless `handle` is empty."""
    return f"[cut {tokens} tokens{_ref(handle)}]"


def _ref(handle: str) -> str:
    """Where the whole is, for a reader who can ask for it."""
    return f", ref {handle}" if handle else ""


def cut(parts: Segmented, chosen: Collection[int], handle: str) -> str:
    """The text reduced to the chosen segments.

    The first line says how much is left and, unless `handle` is empty, where the whole is. `…12` on a line of its own
    stands for 12 lines that were cut (a third of the tokens of a wordier mark; with that 15 % of a cut text was marks),
    `…` for a cut inside a line. JSON keeps its shape, without white space, a record of a list a line: what is left of
    it stands under its keys, and `…3` among the elements of a list stands for three that were cut (see `shape`).
    """
    order = sorted(chosen)
    if parts.structured:
        head = f"[partial {len(order)}/{len(parts.segments)} fields{_ref(handle)}]"
        return encodable(f"{head}\n{shape(parts.text, frozenset(order))}")
    lines = len({parts.segments[index].line for index in order})
    total = parts.segments[-1].line + 1
    if total == 1:
        size = sum(len(parts.segments[index].text) for index in order)
        head = f"[partial {size}/{len(parts.text)} characters{_ref(handle)}]"
    else:
        head = f"[partial {lines}/{total} lines, …n = n cut{_ref(handle)}]"
    return encodable("\n".join([head, *_lines(parts, order)]))


def _lines(parts: Segmented, order: list[int]) -> list[str]:
    out: list[str] = []
    last: Segment | None = None
    for index in order:
        here = parts.segments[index]
        skipped = here.line - (last.line if last else -1) - 1
        starts_line = here.start == 0 or parts.text[here.start - 1] == "\n"
        if last is not None and here.line == last.line:
            out[-1] += here.text if here.start == last.end else " … " + here.text
        else:
            if last is not None and parts.text[last.end : last.end + 1] not in ("\n", ""):
                out[-1] += " …"
            if skipped > 0:
                out.append(_gap(skipped))
            out.append(here.text if starts_line else "… " + here.text)
        last = here
    if last is not None:
        if parts.text[last.end : last.end + 1] not in ("\n", ""):
            out[-1] += " …"
        rest = parts.segments[-1].line - last.line
        if rest > 0:
            out.append(_gap(rest))
    return out


def _gap(lines: int) -> str:
    return f"…{lines}"
