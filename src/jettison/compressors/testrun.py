"""Output of test runners: what failed, why and where, and the summary; each test that passed says little.

pytest, unittest, `go test`, `cargo test`, Jest, Vitest, Mocha, TAP and Maven write a line a test, or a line a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from jettison.compressors.log import FEW, RARE, beside
from jettison.compressors.outline import Outline
from jettison.compressors.trace import trace_weights
from jettison.flow.segments import Segmented

__all__ = ["outline"]

FEWEST, LEAST = 3, 0.2
"""Verdicts, and their share of the lines with text, from which a text is a test run; with a summary one will do."""
FAILED, WHY, SUMMARY, WHERE, HEADING, OTHER, PASSED = 1.0, 0.9, 0.8, 0.7, 0.5, 0.2, 0.1
"""Weights, by judgement: a failure is understood by its name, its reason and its place."""

# Any test run holds one of these: looked for first, so that other texts cost a few scans in C.
_CUES = (
    *("PASSED", "FAILED", " passed", " failed", "--- PASS", "--- FAIL", "... ok", "... FAIL", "... ERROR", "✓"),
    *("✔", "√"),
    *("✕", "✗", "✘", "not ok ", "\nok ", "Tests run:", " passing", "\nPASS ", "\nFAIL"),
)
_FAIL = (
    r"\S+::\S.* (?:FAILED|ERROR)\b|(?:FAILED|ERROR) \S+(?:::|\.py\b)|"  # pytest
    r"\S+ \(.*\) \.\.\. (?:FAIL|ERROR)\b|(?:FAIL|ERROR): \w+ \(|"  # unittest
    r"\s*--- FAIL: |FAIL\t\S|"  # go
    r"test .* \.\.\. FAILED\b|"  # cargo
    r"\s*[✕✗✘×✖] |\s*FAIL  ?\S|not ok \d|"  # Jest, Vitest, TAP
    r"\[ERROR\] +\S+\.\S+:\d+|.*<<< (?:FAILURE|ERROR)!"  # Maven
)
_PASS = (
    r"\S+::\S.* (?:PASSED|SKIPPED|XFAIL|XPASS)\b|(?:PASSED|SKIPPED|XFAIL|XPASS) \S|\S+\.py [.sx]+(?:\s|$)|"
    r"\S+ \(.*\) \.\.\. (?:ok|skipped|expected failure)\b|"
    r"\s*--- (?:PASS|SKIP): |=== (?:RUN|PAUSE|CONT) |ok  \t|"
    r"test .* \.\.\. (?:ok|ignored)\b|"
    r"\s*[✓✔√○] |\s*PASS  ?\S|ok \d|\s*# (?:SKIP|TODO)\b"
)
_SUM = (
    r"=+ .*\b\d+ (?:passed|failed|errors?|skipped)\b.* =+|\d+ (?:passed|failed)\b.* in \d|Ran \d+ tests? in |"
    r"OK(?: \(|$)|FAILED \((?:failures|errors)|test result: |\s*\d+ (?:passing|failing|pending)\b|"
    r"\s*Tests?(?: Suites| Files)?:? +\d+ (?:passed|failed|skipped|total)|1\.\.\d+$|# (?:pass|fail|tests) +\d|"
    r"(?:\[\w+\] )?Tests run: \d+|(?:PASS|FAIL)$"
)
_VERDICT = re.compile(f"(?P<fail>{_FAIL})|(?P<pass>{_PASS})|(?P<sum>{_SUM})")
_NUMBERED = re.compile(r"\s+\d+\) \S")
"""A failure of Mocha; elsewhere an entry of a list."""
_REASON = re.compile(
    r"E  +\S|>  +\S|\s*(?:AssertionError|assert(?:ion)?\b|Expected\b|Received\b|expected\b|actual\b|got\b|want\b|left:|"
    r"right:|thread '.*panicked|[+-] \S)|\s*(?:[\w$]{1,60}\.){0,12}\w{0,60}(?:Error|Exception)\b"
)
_PLACE = re.compile(r"\s*(?:at .*\(?|❯ |--> |)[\w./\\@-]+\.\w{1,5}:\d+")
_TITLE = re.compile(r"[_=-]{3,} \S.* [_=-]{3,}$|[_=-]{10,}$|\s*● \S|---- .* ----$|failures:$")


def outline(parts: Segmented) -> Outline | None:
    """The outline of a test run, None where the text has too few verdicts. Linear."""
    if parts.structured or not any(cue in parts.text for cue in _CUES):
        return None
    lines = [segment.text for segment in parts.segments]
    mocha = " failing" in parts.text
    verdicts = ["fail" if mocha and _NUMBERED.match(line) else _verdict(line) for line in lines]
    found, total = sum(one in ("fail", "pass") for one in verdicts), sum(1 for line in lines if line.strip())
    if found < FEWEST and not (found and "sum" in verdicts):
        return None
    if found + verdicts.count("sum") < LEAST * total and "sum" not in verdicts:
        return None
    weights = list(map(_weight, lines, verdicts))
    for index, weight in trace_weights(parts).items():
        weights[index] = max(weights[index], WHY * weight)
    failed = [index for index, one in enumerate(verdicts) if one == "fail"]
    reasons = [index for index, weight in enumerate(weights) if weight == WHY and lines[index][:1] in "E>"]
    few = [*failed, *reasons] if len(failed) <= max(FEW, RARE * len(lines)) else []
    label = beside(failed, len(lines)) if few else {}
    passed = [index for index, one in enumerate(verdicts) if one == "pass"]
    about = partial(_about, frozenset(passed), frozenset(failed))
    return Outline("tests", weights, label, alarms=frozenset(few[: 2 * FEW]), about=about)


def _verdict(line: str) -> str:
    match = _VERDICT.match(line)
    return match.lastgroup or "" if match is not None else ""


def _weight(line: str, verdict: str) -> float:
    if verdict:
        return {"fail": FAILED, "pass": PASSED, "sum": SUMMARY}[verdict]
    if not line.strip():
        return 0.0
    if _TITLE.match(line):
        return HEADING
    if _REASON.match(line):
        return WHY
    return WHERE if _PLACE.match(line) else OTHER


def _about(passed: frozenset[int], failed: frozenset[int], cut: Sequence[int]) -> str:
    """How many tests that passed were cut, and how many of the failures are still there."""
    if not cut:
        return ""
    gone = sum(index in passed for index in cut)
    kept = len(failed) - sum(index in failed for index in cut)
    tail = f"{kept} of {len(failed)} failures kept" if failed else ""
    return "; ".join(filter(None, [f"{gone} tests that passed cut" if gone else "", tail]))
