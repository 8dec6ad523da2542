"""Hard constraints: which sentences bind the agent. A stated rule does; a tale, a question or a wish does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice

from jettison.flow import cues_en as en
from jettison.flow import cues_ru as ru
from jettison.flow import direct
from jettison.flow.clauses import MOST_CUES, REACH, clause, commands, opens, tells
from jettison.flow.cues_other import cue_of_others
from jettison.flow.imperatives import is_imperative, is_our_deed
from jettison.flow.patterns import compiled
from jettison.flow.quoting import without_told_words

__all__ = ["constraint_cue"]

# A limit binds unless it is told of the past.
_LIMIT = (
    r"\b(?:no more than|at most|no later than|not more than|not to exceed|under budget|nothing (?:over|above|beyond)|"
    r"(?:cannot|can't|can not) exceed|(?:cap (?:it|them|\S+ \S+)) at|a maximum of|не более|не больше|не позднее|"
    r"не позже|не раньше|не свыше|максимум|не превыша(?:ть|й|йте)|не дороже|не дольше)\b|\b(?:(?<!pro )max(?:imum)?"
    r"\.?:?(?: of)? [€$£]?|макс\. ?|не выше |в пределах )\d|\d[\d.,]* ?(?:\w+|[€$£%])? max(?:imum)?\b"
)
_TAG = r"[,;]?\s*(?:ok|okay|right|please|alright|yes|ладно|хорошо|да|договорились|пожалуйста)\s*[?？]$"
_MARKER = r"\s*(?:[-*•–—+▪◦☐✗❌🚫]\s+|\(?(?:\d{1,3}|[a-zа-я])[.)]\s+|\[[ xх]\]\s+|#{1,6}\s+|>\s+)+"
_EMPHASIS = r"(?<!\S)\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)"
_FIRST = rf"(?:{en.FIRST_EN})(?!.*\byou\b)|{ru.FIRST_RU}"
_PLEASE = "please "
_STRAIGHT = str.maketrans("’´ʼ", "'''")


def constraint_cue(sentence: str) -> int | None:
    """Offset of the first cue that binds the agent, None without one.

    A ban binds anywhere but in the first person; "only", "always" and their like bind in a command or an obligation;
    a question binds nobody.
    """
    marks: list[re.Match[str]] = []
    if "*" in sentence or "_" in sentence:
        marks = list(compiled(_EMPHASIS).finditer(sentence))
        sentence = compiled(_EMPHASIS).sub("", sentence)
    sentence = sentence.translate(_STRAIGHT)
    at = _cue(sentence)
    if at is not None:
        for mark in marks:
            if mark.start() <= at:
                at += len(mark.group())
    return at


def _cue(sentence: str) -> int | None:
    """Where a sentence without emphasis binds."""
    lower = sentence.lower()
    english, russian = _kinds(lower, en.STEMS_EN), _kinds(lower, ru.STEMS_RU) if not sentence.isascii() else set()
    others = cue_of_others(sentence, lower)
    forms = _kinds(lower, direct.STEMS_ASCII if sentence.isascii() else direct.STEMS)
    if not english and not russian and not forms and others is None:
        return None
    sentence = without_told_words(sentence)
    marker = compiled(_MARKER).match(sentence)
    skipped = marker.end() if marker else 0
    sentence = sentence[skipped:]
    request = compiled(en.REQUEST_EN).match(sentence) if english else None
    if request is not None:
        skipped += request.end() - len(_PLEASE)
        sentence = _PLEASE + sentence[request.end() :].rstrip("? ")
        english.add("command")
    elif sentence.rstrip("\"') ").endswith(("?", "？")):
        tag = compiled(_TAG).search(sentence)
        if tag is None:
            return None
        sentence = sentence[: tag.start()]
    found = [at + skipped for at in _places(sentence, english, russian, forms) if at is not None]
    found += [others] if others is not None else []
    return max(0, min(found)) if found else None


def _kinds(lower: str, stems: dict[str, tuple[str, ...]]) -> set[str]:
    """The kinds of cues of which a text in lower case may have one."""
    return {kind for kind, words in stems.items() if any(map(lower.__contains__, words))}


def _places(sentence: str, english: set[str], russian: set[str], forms: set[str]) -> Iterator[int | None]:
    """Where each rule finds its cue; only rules for kinds that may be there are asked."""
    if english:
        sentence = compiled(en.IDLE_EN).sub(_filler, sentence)
    if russian:
        sentence = compiled(ru.IDLE_RU).sub(_filler, sentence)
    for kind, rule in _RULES_EN.items():
        if kind in english:
            yield rule(sentence)
    for kind, rule in _RULES_RU.items():
        if kind in russian:
            yield rule(sentence)
    if forms:
        yield from direct.places(sentence, forms)


def _limit(sentence: str) -> int | None:
    told = f"{en.FIRST_EN}|{ru.FIRST_RU}|{en.PAST_EN}|{ru.PAST_RU}"
    limit = _at(_LIMIT, sentence)
    return limit if limit is not None and _at(told, sentence) is None else None


def _cues(source: str, sentence: str) -> Iterator[re.Match[str]]:
    return islice(compiled(source).finditer(sentence), MOST_CUES)


def _at(source: str, sentence: str) -> int | None:
    match = compiled(source).search(sentence)
    return match.start() if match else None


def _filler(match: re.Match[str]) -> str:
    return "_" * len(match.group())


def _strong(cues: str, sentence: str) -> int | None:
    orders = cache(partial(commands, sentence))
    for match in _cues(cues, sentence):
        lead, rest = clause(sentence, match.start())
        if compiled(_FIRST).search(compiled(ru.HELPED_RU).sub("", lead)):
            continue
        if compiled(ru.PAST_RU).search(f"{lead} {rest}") and not orders():
            continue  # it is told how something was
        cue = match.group().lower()
        if cue.startswith(en.DONE_EN) and tells(lead):
            continue
        before = sentence[max(0, match.start() - REACH) : match.start()]
        if cue.startswith("should") and _at(en.BELIEF_EN, before) is not None:
            continue
        return match.start()
    return None


def _command(sentence: str) -> int | None:
    for match in _cues(en.COMMAND_EN, sentence):
        if opens(clause(sentence, match.start())[0]):
            return match.start()
    return None


def _must(sentence: str) -> int | None:
    for match in _cues(en.MUST_EN, sentence):
        lead, _ = clause(sentence, match.start())
        if not compiled(en.FIRST_EN).search(lead) and not lead.endswith(("there", "they", "he", "she")):
            return match.start()
    return None


def _nothing(cues: str, news: str, sentence: str) -> int | None:
    """A ban without a verb: "no emails", «никаких писем». It opens the sentence, or goes on with a command."""
    orders = cache(partial(commands, sentence))
    for match in _cues(cues, sentence):
        said = compiled(en.FURTHER).split(match.group(), maxsplit=1)[0]
        if compiled(news).search(said) or compiled(ru.PAST_RU).search(said):
            continue
        lead, head = _lead(sentence, match.start())
        if not all(word in en.LEAD_IN or word in ru.LEAD_IN_RU for word in lead.split()):
            continue
        if not head or head.endswith((":", ";", "—", "–", "(", " so", "поэтому")):
            return match.start()
        if orders():
            return match.start()
    return None


def _lead(sentence: str, at: int) -> tuple[str, str]:
    """(what stands before `at` in its clause, the end of what stands before that), lower case."""
    lead, _ = clause(sentence, at)
    before = sentence[max(0, at - 2 * REACH) : at].rstrip().lower()
    return lead, before[: len(before) - len(lead)].rstrip()


def _ban(sentence: str) -> int | None:
    for match in compiled(r"\bне\s+(\w{3,})").finditer(sentence):
        if is_imperative(match[1].lower()) and _at(ru.THIRD_RU, clause(sentence, match.start())[0]) is None:
            return match.start()
    return _bare(sentence)


def _never(sentence: str) -> int | None:
    for match in _cues(ru.NEVER_RU, sentence):
        lead, rest = clause(sentence, match.start())
        if compiled(ru.FIRST_RU).search(lead) or compiled(ru.PAST_RU).search(f"{lead} {rest}"):
            continue
        denied = compiled(r"\bне (\w+)").search(rest)
        banned = denied is not None and is_imperative(denied[1])
        if banned or commands(rest) or _at(r"\b\w+(?:ть|ти|чь|ться)\b", rest) is not None:
            return match.start()
    return None


def _obliges(sentence: str) -> int | None:
    for match in _cues(ru.MUST_RU, sentence):
        lead, rest = clause(sentence, match.start())
        told = compiled(ru.FIRST_RU).search(lead) or compiled(ru.PAST_RU).search(f"{lead} {rest}")
        vowed = compiled(r"^обязательно \w+(?:у|ю|ем|им|ём|юсь|усь)\b").search(rest)
        if not told and not vowed and not compiled(ru.FIRST_RU).search(rest[: len(match.group()) + 6]):
            return match.start()
    return None


def _leave(sentence: str) -> int | None:
    at = _at(ru.LEAVE_RU, sentence)
    return at if at is not None and _at(ru.GAINED_RU, sentence) is not None else None


def _bare(sentence: str) -> int | None:
    """An order in the infinitive: «Клиентам не звонить.»"""
    for match in _cues(ru.BARE_RU, sentence):
        rest = clause(sentence, match.start())[1]
        lead, head = _lead(sentence, match.start())
        if head.endswith(("чтобы", "чтоб")):
            continue
        told = compiled(f"{ru.NOT_BARE_RU}|{ru.PAST_RU}")
        if not told.search(lead) and not compiled(f"{ru.HARDLY_RU}|{ru.PAST_RU}").search(rest):
            return match.start()
    return None


def _weak(cues: str, sentence: str) -> int | None:
    orders = cache(partial(commands, sentence))
    for match in _cues(cues, sentence):
        lead, rest = clause(sentence, match.start())
        if compiled(f"{en.FIRST_EN}|{ru.FIRST_RU}").search(lead) and not compiled(r"\byou to\b").search(lead):
            continue
        if match.group().endswith("ing") and not orders():
            continue  # "without training you get an error"
        after = rest[len(match.group()) :]
        if (
            commands(f"{lead} {rest}")
            or (match.group().lower().startswith(("nothing", "ничего", "и ничего")) and orders())
            or (opens(lead) and commands(after))
            or compiled(f"{en.OBLIGED_EN}|{ru.OBLIGED_RU}").search(f"{lead} {rest}")
            or any(map(is_our_deed, compiled(r"\w+м(?:ся)?\b").findall(f"{lead} {rest}")))
        ):
            return match.start()
    return None


_RULES_EN: dict[str, Callable[[str], int | None]] = {
    "plea": partial(_at, en.PLEA_EN),
    "strong": partial(_strong, en.STRONG_EN),
    "command": _command,
    "must": _must,
    "nothing": partial(_nothing, en.NOTHING_EN, en.NO_NEWS_EN),
    "weak": partial(_weak, en.WEAK_EN),
    "limit": _limit,
}
_RULES_RU: dict[str, Callable[[str], int | None]] = {
    "plea": partial(_at, ru.PLEA_RU),
    "strong": partial(_strong, ru.STRONG_RU),
    "ban": _ban,
    "never": _never,
    "must": _obliges,
    "leave": _leave,
    "nothing": partial(_nothing, ru.NOTHING_RU, ru.NO_NEWS_RU),
    "weak": partial(_weak, ru.WEAK_RU),
    "limit": _limit,
}
