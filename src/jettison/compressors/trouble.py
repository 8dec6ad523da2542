"""Words that tell of trouble, English and Russian: what nobody wants to lose from a log, a table or a list."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

__all__ = ["ERROR", "WARNING", "trouble"]

ERROR, WARNING = 1.0, 0.8
"""How severe: an error, a warning."""

_ERRORS = (
    *("error", "fatal", "exception", "traceback", "fail", "panic", "critical", "crash", "abort", "denied", "refused"),
    *("segfault", "segmentation fault", "out of memory", "oomkilled", "unreachable", "emerg", "severe", "corrupt"),
    *("unauthorized", "forbidden", "rejected"),
    *("ошибк", "сбой", "сбоя", "сбои", "отказ", "исключени", "авари", "критич", "не удалось", "невозможно", "паник"),
    *("недоступ", "отклонен", "отклонён"),
)
_WARNINGS = (
    *("warn", "timeout", "timed out", "deprecat", "предупрежд", "внимание", "устарел", "таймаут", "превышен"),
    # What turns the meaning of all lines around it: nothing of them was done.
    *("dry run", "dry-run", "no changes were made", "nothing was changed", "not applied"),
    *("rolled back", "rolling back"),
    *("пробный запуск", "пробного запуска", "ничего не изменено", "изменения не внесены", "изменения не сохранены"),
    *("не применен", "откат"),
)
_STATUSES = ('" 5', "status=5", "status: 5", 'status":5', 'status": 5', "status 5", "http 5", "http/1.1 5")
"""Before the digits of a server error; the next two are looked at."""

# Both are looked for in a few characters around a hit: "0 errors", "no failures", "error: none", "failed=0".
_DENIED_BEFORE = re.compile(r"(?:^|[^\w.])(?:0|no|zero|without|non|not an?|без|нет|не было|ноль)[\s_-]+$")
_DENIED_AFTER = re.compile(
    r"[^\W\d]*[\"']?\s*[:=]\s*[\"']?(?:0(?:\.0+)?%?|none|null|nil|false|no|нет|[\"'\[{][\"'\]}])(?![\w.])"
    r"|failover|failsafe|fail2ban|отказоуст|errorlevel|безотказ"
)
_TWO_DIGITS = re.compile(r"\d\d(?!\d)")
BEFORE, AFTER = 14, 48
"""Characters around a hit in which a denial is looked for."""


def trouble(texts: Sequence[str]) -> dict[int, float]:
    """Ordinal → severity of the texts that tell of an error or a warning. One scan a word, all in C."""
    joined = "\n".join(texts).replace("\u0130", "I").lower()  # the one letter that lowering makes longer
    starts = [0, *accumulate([len(text) + 1 for text in texts])]
    found: dict[int, float] = {}
    for words, severity in ((_ERRORS, ERROR), (_STATUSES, ERROR), (_WARNINGS, WARNING)):
        for word in words:
            _scan(joined, word, starts, found, severity)
    return found


def _scan(text: str, word: str, starts: list[int], found: dict[int, float], severity: float) -> None:
    at, status = text.find(word), word[-1] == "5"
    while at >= 0:
        index = bisect_right(starts, at) - 1
        after = at + len(word)
        if index not in found and (_TWO_DIGITS.match(text, after) is not None if status else _meant(text, at)):
            found[index] = severity
        if index in found:  # nothing more to learn of this one
            after = starts[index + 1]
        at = text.find(word, after)


def _meant(text: str, at: int) -> bool:
    if _DENIED_AFTER.match(text, at, at + AFTER):
        return text.startswith("exception", at) and text[at - 1 : at].isalpha()  # `NullPointerException: null`
    return _DENIED_BEFORE.search(text[max(0, at - BEFORE) : at]) is None
