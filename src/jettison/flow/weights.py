"""All weights of the rules, each with the measurement behind it.

From algorithm.md: a logistic model of "this value will be a call argument", fitted on half of the tasks of
tau-airline, toolathlon, mcpmark, swe-claude4 and swe-lm32b, reported on the other half. Points are strict support
at 25 % of the body.

Refitted on the four recorded sets (`jettison tune`, 133,813 rows of 300 runs, L2 100) and left as they are:
held-out log-loss falls by .00095 [.00058, .00136] of .04978 where the same sets were seen, and rises by .00147
[.00103, .00194] on a set that was not. In replay at 25 % such a fit (with an intercept a set) changes strict support by
+1.0 / +0.4 / −0.9 / +0.1 (mcpmark / swe-lm32b / tau-airline / toolathlon); fits on the three other sets by
+0.7 / −0.4 / −0.5 / +0.2.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SHAPES", "WORTH", "Worth"]


SHAPES = {
    "email": 0.5,
    "date": 0.5,
    "path": 0.0,
    "hex": 1.0,
    "phrase": -1.5,
    "snake_number": 1.6,
    "snake": 0.8,
    "letters_digits": 1.2,
    "dotted": 0.5,
    "number": -1.0,
    "word": -1.5,
}
"""Log-odds by what a value looks like."""


@dataclass(frozen=True, slots=True)
class Worth:
    """Log-odds."""

    bias: float = -5.5
    used: float = 0.6
    """Used before as an argument. Without use and mention together: −2.0 … −7.7 (each alone <= 2)."""
    used_recent: float = 2.3
    mentioned: float = 0.4
    """Mentioned by the assistant."""
    mentioned_recent: float = 0.8
    only_told: float = 1.0
    """An identifier that the assistant told and that stands in no text that is left ("I created deployment 3f9c…").
    With 0 a uuid goes before log lines at 70 % and below, without the rule any id goes at 80 %; with 2 tau-airline
    loses .9 of strict support at 10 %. Strict support / completeness of all pressured calls at 25 and 10 % change on
    tau-airline by +.1 / +.1 and 0 / 0, on the others, a quarter of their runs, by nothing."""
    newest_recent: float = 1.0
    """The newest text that holds it is recent."""
    fade: float = 10.0
    """Units after which the effect of a use or mention has fallen to 1/e."""
    key_rate: float = 0.15
    """Share of the key's values that were ever used. `jettison tune` fits 0.17 ± 0.11. With 0.5 here and for
    `key_name`, tau-airline has 88.6 instead of 90.9 strict support at 25 %, the other sets 0 to 0.2 less."""
    key_name: float = 0.0
    """The key reads like id, name, path, url, key, code, number, title, sha, ref, e-mail: no gain (see `key_rate`)."""
    key_needed: float = 0.8
    """The key, or record and key, reads like an argument that a tool declares or a call had (`flow/needs.py`). Strict
    support / completeness at 25 % change by −.1 / −.2, 0 / 0, +.3 / +.7, +.1 / +.2 (mcpmark / swe-lm32b / tau-airline
    / toolathlon), cost by −.006 on tau-airline; the recordings declare no tools, so this is by calls alone."""
    topic: float = 1.0
    """Words of the goal in a compound value."""
    stated: float = 0.5
    """It stands in a user message. Without: −8.1 on tau-airline, 0 elsewhere."""


WORTH = Worth()
