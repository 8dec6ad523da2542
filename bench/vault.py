"""Secret detection on the labelled set: recall, false alarms, and time, beside the maintained rule sets alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from bench.vault_lists import listed
from bench.vault_set import Case, cases
from jettison.errors import ConfigError
from jettison.vault.detect import RULE_SETS, Detector
from jettison.vault.spans import Span

__all__ = ["Find", "finders", "found", "growth", "milliseconds", "missed", "score", "table"]

Find = Callable[[str], Sequence[Span]]


def _detect_secrets() -> Find:
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import default_settings

    def find(text: str) -> list[Span]:
        out = []
        with default_settings():
            for line in text.split("\n"):
                for secret in scan_line(line):
                    at = text.find(secret.secret_value or "")
                    if secret.secret_value and at >= 0:
                        out.append(Span(at, at + len(secret.secret_value), "secret"))
        return out

    return find


def finders() -> dict[str, Find]:
    """What is compared; what is not installed is left out."""
    out: dict[str, Find] = {"own rules alone": Detector(()).find}
    with suppress(ConfigError):
        out["jettison (own + kingfisher)"] = Detector().find
    for name in RULE_SETS:
        with suppress(ConfigError):
            out[f"{name} alone"] = (lambda rules: lambda text: list(rules(text)))(RULE_SETS[name]())
    with suppress(ImportError):
        out["detect-secrets alone"] = _detect_secrets()
    return out


LATER = ("fourth", "fifth", "sixth")
"""Lists of texts, each written when the rules were done for the ones before it (`bench/vault_sets`)."""


def cases_of(part: str) -> list[Case]:
    """The cases of `tune`, of `holdout`, or of a list."""
    if part in LATER:
        return [Case(part, kind, text, secret) for kind, text, secret in listed(part)]
    return cases(part)


def found(case: Case, spans: Sequence[Span]) -> bool:
    """Whether every place of the secret is inside one of the spans."""
    assert case.secret is not None
    at, places = case.text.find(case.secret), []
    while at >= 0:
        places.append((at, at + len(case.secret)))
        at = case.text.find(case.secret, at + 1)
    return all(any(span.start <= start and end <= span.end for span in spans) for start, end in places)


def score(find: Find, part: str) -> tuple[float, float, float]:
    """(recall, share of exact spans among the found, share of look-alikes that raise an alarm)."""
    hits = exact = alarms = 0
    all_cases = cases_of(part)
    secrets = [case for case in all_cases if case.secret is not None]
    for case in all_cases:
        spans = find(case.text)
        if case.secret is None:
            alarms += bool(spans)
        elif found(case, spans):
            hits += 1
            exact += any(case.text[span.start : span.end] == case.secret for span in spans)
    return hits / len(secrets), exact / max(1, hits), alarms / (len(all_cases) - len(secrets))


def missed(find: Find, part: str) -> list[str]:
    """Cases that went wrong, to work on: what was missed, and what raised a false alarm."""
    out = []
    for case in cases_of(part):
        spans = find(case.text)
        shown = [(span.kind, case.text[span.start : span.end][:60]) for span in spans]
        if case.secret is None and spans:
            out.append(f"ALARM  {case.text[:90]!r}: {shown}")
        elif case.secret is not None and not found(case, spans):
            out.append(f"MISSED {case.kind}: {case.text[:110]!r}: {shown}")
        elif case.secret is not None and not any(case.text[s.start : s.end] == case.secret for s in spans):
            out.append(f"WIDE   {case.kind}: {case.text[:110]!r}: {shown}")
    return out


def _corpus() -> str:
    """100 KB of what agents read: the set itself between code, JSON and prose in two languages."""
    filler = (
        'def load(path: str) -> dict:\n    """Read the key file."""\n    with open(path) as file:\n'
        "        return json.load(file)\n",
        '{"order": "ORD-9913", "status": "shipped", "items": [{"sku": "A-1", "qty": 2}], "total": 118.2}\n',
        "The customer asks for a refund of the second item, as it came broken; the first one is fine.\n",
        "Клиент просит вернуть деньги за второй товар: он пришёл сломанным, а с первым всё в порядке.\n",
    )
    lines, size, number = [], 0, 0
    texts = [case.text for case in cases()]
    while size < 100_000:
        line = texts[number // 40 % len(texts)] + "\n" if number % 40 == 0 else filler[number % 4]
        lines.append(line)
        size += len(line)
        number += 1
    return "".join(lines)[:100_000]


def milliseconds(find: Find, repeats: int = 5) -> float:
    """Best CPU time of a scan of 100 KB."""
    text, best = _corpus(), float("inf")
    find(text[:2_000])
    for _ in range(repeats):
        start = time.process_time()
        find(text)
        best = min(best, time.process_time() - start)
    return best * 1000


HOSTILE = (
    "password", "key=", "://a:", "token:'", "eyJa.", "-----BEGIN PRIVATE KEY-----", "cookie: a=b; ", "пароль ",
    "password a1 ", "code 1234 ", "password,user\n", "password|a\na1b2c3d4|b\n", "kind: Secret\ndata:\n a: bbbb\n",
    "seed: a ", "INSERT (a,password) VALUES ('a','b1c2d3e4'),", "curl -u a", "а пароль a1B2!c ",
)  # fmt: skip
"""Repeated, they are what rules begin with and never come to an end of."""


def growth(find: Find) -> dict[str, float]:
    """How many times longer 8 times as much hostile text takes; 8 is linear, 64 quadratic."""
    return {piece: _cost(find, piece * 16_000) / max(_cost(find, piece * 2_000), 1e-4) for piece in HOSTILE}


def _cost(find: Find, text: str) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        find(text)
        best = min(best, time.process_time() - start)
    return best


def table(quick: bool = False) -> str:
    """The comparison as a Markdown table."""
    parts = {part: cases_of(part) for part in ("tune", "holdout", *LATER)}
    numbers = ", ".join(
        f"{part}: {sum(case.secret is not None for case in group)} secrets, "
        f"{sum(case.secret is None for case in group)} look-alikes"
        for part, group in parts.items()
    )
    kinds = len({case.kind for group in parts.values() for case in group if case.secret is not None})
    rows = [
        f"{numbers}; {kinds} kinds\n",
        "| recall / false alarms | tune | third | fourth | fifth | sixth | exact spans | ms / 100 KB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, find in finders().items():
        scores = [score(find, part) for part in parts]
        cells = " | ".join(f"{recall:.1%} / {alarms:.1%}" for recall, _, alarms in scores)
        exact = sum(one[1] for one in scores) / len(scores)
        rows.append(f"| {name} | {cells} | {exact:.1%} | {milliseconds(find, 1 if quick else 5):.1f} |")
    if not quick:
        grown = ", ".join(f"{piece!r} {times:.0f}" for piece, times in growth(Detector().find).items())
        rows.append(f"\n8 times as much hostile text takes (times; 8 = linear): {grown}")
    return "\n".join(rows)
