"""Text for terminals: short, on one line, without control characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from jettison.plan import CacheEffect, Protection, ToolCost

__all__ = ["cached", "clean", "plural", "position", "reasons", "share", "shorten", "signal", "tools_of"]

_BIDI = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """One printable line: white space collapsed, controls, text direction marks and surrogates shown as U+FFFD."""
    line = " ".join(text.split())
    if line.isascii() and line.isprintable():
        return line
    return "".join("\ufffd" if unicodedata.category(char) in ("Cc", "Cs") or char in _BIDI else char for char in line)


def shorten(text: str, width: int) -> str:
    """At most `width` characters of the cleaned text."""
    line = clean(text)
    return line if len(line) <= width else line[: width - 1] + "…"


def signal(value: float) -> str:
    """A number from 0 to 1 in three or four characters: `.74`, `1.0`, `0`."""
    shown = f"{value:.2f}"
    return {"0.00": "0", "-0.00": "0", "1.00": "1.0"}.get(shown, shown.removeprefix("0"))


def position(item: str) -> str:
    """`message.part` of an item id."""
    return item.rpartition("-")[0] or item


def reasons(protections: Iterable[Protection]) -> str:
    """Each reason once, in order."""
    return ", ".join(dict.fromkeys(clean(protection.reason) for protection in protections))


def cached(cache: CacheEffect) -> str:
    """What a call did to the provider's cache, on one line."""
    parts = [f"{cache.epoch} epoch" if cache.epoch in ("minor", "major") else "no epoch"]
    if cache.epoch == "arrival":
        parts.append("only new items were changed")
    if cache.first_changed is None:
        parts.append("nothing that was sent before has changed")
    else:
        parts.append(f"first changed message {cache.first_changed}")
        parts.append(f"{plural(cache.rebilled, 'token')} billed again")
    if cache.removed > 0:
        parts.append(f"{plural(cache.removed, 'token')} less from now on")
        if cache.pays_back is None:
            parts.append("never pays back")
        else:
            back = plural(cache.pays_back, "further call")
            parts.append(f"pays back after {back}" if cache.pays_back else "pays back at once")
    if cache.reasoning_lost:
        parts.append(f"{plural(cache.reasoning_lost, 'reasoning block')} lost")
    return "; ".join(parts)


def tools_of(tools: Sequence[ToolCost]) -> str:
    """What the schemas take, dearest first, on one line."""
    sent = [tool for tool in tools if not tool.dropped]
    parts = [f"{plural(len(sent), 'schema')} sent, {plural(sum(tool.tokens for tool in sent), 'token')}"]
    for tool in sorted(sent, key=lambda tool: -tool.tokens)[:3]:
        used = plural(tool.calls, "call") if tool.calls else "never called"
        parts.append(f"{clean(tool.name)} {tool.tokens:,} ({used})")
    dropped = [tool for tool in tools if tool.dropped]
    if dropped:
        names = ", ".join(clean(tool.name) for tool in dropped[:5])
        parts.append(f"not sent: {names}{' …' if len(dropped) > 5 else ''} ({sum(t.tokens for t in dropped):,})")
    return "; ".join(parts)


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def share(part: int, whole: int) -> str:
    return f"{round(100 * part / whole)} %" if whole else "–"
