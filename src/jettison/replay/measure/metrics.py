"""The figures of a replay: per call, per set, with confidence intervals clustered by task."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jettison.replay.measure.needs import Leaf, Need, Text

__all__ = ["Call", "Interval", "Kept", "interval", "judge", "summary"]

BEFORE, AFTER = 160, 60
RECORD_SPAN = 400
"""A sibling leaf survives with a value when it stands within this many characters of it in the same message."""
SLACK = 1.02
CACHED, WRITTEN = 0.1, 1.25
SAMPLES = 1000


@dataclass(slots=True)
class Call:
    """What one request kept, weighed and cost."""

    t: int
    limit: int
    full: int
    """Tokens of the whole history."""
    full_hit: int
    """… of which were in the request before, had everything been sent."""
    sent: int = 0
    hit: int = 0
    before: int = 0
    """Tokens of the request before; 0 at the first."""
    needed: int = 0
    kept: int = 0
    bound: int = 0
    recorded: int = 0
    oversize: bool = False
    """The latest unit alone exceeds the room beside the head."""
    raised: str = ""
    lost_anyway: bool = False
    """After an error: a needed value was gone from the best effort."""
    missing: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)

    @property
    def pressured(self) -> bool:
        return self.full > self.limit


@dataclass(frozen=True, slots=True)
class Kept:
    """Which needed values the kept texts hold: plainly, by their word, and with their record."""

    kept: int
    bound: int
    recorded: int
    missing: list[str]


def judge(needs: Sequence[Need], texts: Sequence[Text]) -> Kept:
    """Score the needed values of one call against the kept texts of role user and tool."""
    kept = bound = recorded = 0
    missing = []
    for need in needs:
        holding = [text for text in texts if text.find(need.value)]
        if not holding:
            missing.append(need.value)
            continue
        kept += 1
        unchanged = any(text.raw in need.sources for text in holding)
        if unchanged or any(_bound(need, text) for text in holding):
            bound += 1
            recorded += unchanged or not need.records or any(_recorded(need, text) for text in holding)
    return Kept(kept, bound, recorded, missing)


def _bound(need: Need, text: Text) -> bool:
    if not need.words:
        return True
    for at in text.find(need.value):
        end = at + len(need.value)
        around = f"{text.folded[max(0, at - BEFORE) : at]}\n{text.folded[end : end + AFTER]}"
        if any(_word_in(word, around) for word in need.words if word in around):
            return True
    return False


def _word_in(word: str, text: str) -> bool:
    return bool(_find(word, text))


def _find(word: str, text: str) -> int:
    """1 + position of a word bounded by non-alphanumerics, 0 if there is none."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return at + 1
        at = text.find(word, at + 1)
    return 0


def _recorded(need: Need, text: Text) -> bool:
    """A second leaf of one of the value's records stands near it; short leaves only count beside their key."""
    for at in text.find(need.value):
        end = at + len(need.value)
        around = f"{text.folded[max(0, at - RECORD_SPAN) : at]}\n{text.folded[end : end + RECORD_SPAN]}"
        if any(_leaf_in(leaf, around) for record in need.records for leaf in record):
            return True
    return False


def _leaf_in(leaf: Leaf, around: str) -> bool:
    key, value = leaf
    return value in around and _word_in(value, around) and (len(value) >= 4 or _word_in(key, around))


def cost(tokens: int, hit: int) -> float:
    """Price of a request in uncached input tokens."""
    return CACHED * hit + WRITTEN * (tokens - hit)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def summary(calls: Iterable[Call]) -> dict[str, float | None]:
    """All metrics over the given calls; None where nothing was there to measure."""
    calls = list(calls)
    pressured = [call for call in calls if call.pressured]
    wanting = [call for call in pressured if call.needed]
    sent = [call for call in calls if not call.raised]
    raised = [call for call in calls if call.raised]
    later = [call for call in sent if call.before]
    needed = sum(call.needed for call in wanting)
    fair = [call for call in wanting if not call.oversize]
    lost = [call for call in pressured if call.kept < call.needed]
    return {
        "strict": _ratio(sum(call.kept for call in wanting), needed),
        "strict_fair": _ratio(sum(call.kept for call in fair), sum(call.needed for call in fair)),
        "binding": _ratio(sum(call.bound for call in wanting), needed),
        "record": _ratio(sum(call.recorded for call in wanting), needed),
        "complete": _ratio(len(wanting) - len(lost), len(wanting)),
        "complete_all": _ratio(len(pressured) - len(lost), len(pressured)),
        "silent": sum(not call.raised for call in lost),
        "alarm": _ratio(sum(call.lost_anyway for call in raised), len(raised)),
        "raised": len(raised),
        "over": sum(call.sent > SLACK * call.limit for call in sent),
        "invalid": sum(bool(call.invalid) for call in sent),
        "cost": _ratio(
            sum(cost(call.sent, call.hit) for call in sent), sum(cost(call.full, call.full_hit) for call in sent)
        ),
        "reuse": _ratio(sum(call.hit / call.before for call in later), len(later)),
        "calls": len(calls),
        "pressured": len(pressured),
        "oversize": sum(call.oversize for call in pressured),
        "needed": needed,
    }


def regret(policy: float | None, clairvoyant: float | None, chance: float | None) -> float | None:
    """(clairvoyant − policy) / (clairvoyant − random), on strict support."""
    if policy is None or clairvoyant is None or chance is None or clairvoyant == chance:
        return None
    return (clairvoyant - policy) / (clairvoyant - chance)


Interval = tuple[float, float]


def interval(by_task: Mapping[str, Sequence[Call]], part: str = "kept", samples: int = SAMPLES) -> Interval | None:
    """95 % bootstrap interval of the share of needed values with `part`, drawing whole tasks."""
    sums = []
    for calls in by_task.values():
        wanting = [call for call in calls if call.pressured and call.needed]
        sums.append((sum(getattr(call, part) for call in wanting), sum(call.needed for call in wanting)))
    if not any(whole for _, whole in sums):
        return None
    draw = random.Random(20261)
    shares = []
    for _ in range(samples):
        picked = draw.choices(sums, k=len(sums))
        whole = sum(pair[1] for pair in picked)
        if whole:
            shares.append(sum(pair[0] for pair in picked) / whole)
    shares.sort()
    return shares[int(0.025 * len(shares))], shares[min(len(shares) - 1, int(0.975 * len(shares)))]
