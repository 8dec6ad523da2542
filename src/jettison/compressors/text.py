"""Prose in any language: headings, rules, definitions and what the text keeps coming back to say most.

The weight of a sentence is a sum of plain signs and of how common its words are in this text (term frequency). Words
of English and Russian are folded by their first letters, Chinese and Japanese are counted by character: no dictionary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain

from jettison.compressors.outline import Outline
from jettison.compressors.sampling import sample
from jettison.flow.segments import Segmented

__all__ = ["outline"]

HEADING, BASE, CENTRAL, FIRST, BINDING, NUMBER, NAME, ITEM = 0.55, 0.1, 0.3, 0.15, 0.25, 0.1, 0.05, 0.05
"""Weights, by judgement: a heading finds the rest; a rule binds; then what the text is about, and facts."""
DULL = 0.3
"""What is left of the weight of boilerplate."""
STEM = 6
"""First letters by which forms of a word are held together: covers the endings of Russian and English words."""
MOST = 50
"""Times after which a word gains nothing more: else one word would decide."""
COUNTED = 40_000
"""Characters of a text without spaces that are counted, spread over it: what it comes back to shows in so many. All
of 200,000 take three times as long as counting the text's tokens."""
_WORD = re.compile(r"[^\W\d_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DIGIT = re.compile(r"\d")
_NAMED = re.compile(r"[A-ZА-ЯЁ`](?<=[a-zа-яё,;:)] .)")
_HEADING = re.compile(
    r"(#{1,6}) +\S|((?:\d{1,2}\.){1,4}\d{0,2}) *[A-ZА-ЯЁ\u3400-\u9fff][^.!?;]{1,80}$|(?:Chapter|Section|Article|Part|"
    r"Appendix|Annex|Глава|Раздел|Статья|Часть|Приложение|Пункт)\s+[\dIVXLА-ЯA-Z]+|第[\d一二三四五六七八九十百]+[章节条款]",
)
_OPENERS = frozenset("#0123456789CSAPГРСЧП第")
"""First characters of what `_HEADING` matches."""
_ITEM = re.compile(r"\s*(?:[-*+•–—] |\d{1,3}[.)] |[^\W\d_]\) |\([^\W_]{1,3}\) )")
_SAYS = (
    *("不得", "必须", "禁止", "应当", "不能", "严禁", "不可", "务必", "不准", "ません", "なければ", "필수", "금지"),
    *(
        " means ",
        " is defined as ",
        " refers to ",
        " is called ",
        " stands for ",
        " — это ",
        " называется ",
        " называются ",
    ),
    *(" означает ", " понимается ", "是指", "定义为", "とは"),
)
"""Phrases that bind or define. Looked for in the whole text at once, which is ten times as fast as one pattern."""
_BINDING_WORDS = (
    "not no never must shall should cannot only unless except without required prohibited forbidden mandatory may "
    "always don doesn won isn can't failed failure error warning important deadline until limit decided agreed "
    "не ни нет нельзя никогда запрещено запрещается обязан обязана обязаны обязано обязуется обязуются должен должна "
    "должны должно только кроме необходимо следует требуется вправе исключением важно ошибка срок решено договорились "
    "поздне лимит обязательно"
)
_BINDING = frozenset(word[:STEM] for word in _BINDING_WORDS.split())
_COMMON_WORDS = (
    "the a an of to in and or is are was were be been for on with as by at from that this it its which will would can "
    "has have had do does if than then so their there these those they we you he she his her our your all any each "
    "such also into out up more most other some about when who what how but "
    "и в во на с со по к ко о об от до из за у для при как что это то так же бы ли или а но его ее её их он она они мы "
    "вы я ее быть был была были есть будет все всех том этом этого который которая которые которых также если чтобы "
    "的 了 是 在 和 有 这 那 与 及 或 也 之 为 以 于 等 一 不 の に は を た が で て と し れ さ る い も な"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_DULL = (
    *(
        "cookie",
        "all rights reserved",
        "copyright",
        "©",
        "subscribe",
        "newsletter",
        "privacy policy",
        "terms of service",
    ),
    *("terms of use", "sign in", "log in", "share this", "click here", "read more", "skip to", "back to top"),
    *("advertisement", "все права защищены", "подписаться", "подпишитесь", "политика конфиденциальности"),
    *("читать далее", "поделиться", "версия для печати", "版权所有", "登录", "注册", "隐私政策"),
)


def outline(parts: Segmented) -> Outline | None:
    """The outline of prose, None where the text is mostly something else. Linear."""
    if parts.structured or not _is_prose(parts):
        return None
    levels = _headings(parts)
    weight = _weights(parts, levels)
    return Outline("text", weight, _labels(parts, levels), {}, partial(_about, parts))


def _is_prose(parts: Segmented) -> bool:
    """Whether most characters of a sample stand in lines of words. Looks at 200 segments at most."""
    lines = [part.text for part in sample(parts, 200)]
    wordy = sum(len(line) for line in lines if _wordy(line))
    total = sum(map(len, lines))
    return total >= 80 and wordy >= 0.5 * total


def _wordy(line: str) -> bool:
    said = sum(map(str.isalpha, line)) + line.count(" ")
    if said < 0.75 * len(line.strip()):
        return False
    return len(_CJK.findall(line)) >= 6 or line.count(" ") >= 3 or _HEADING.match(line) is not None


def _headings(parts: Segmented) -> dict[int, int]:
    """Level of each segment that is a heading: 1 the highest."""
    segments = parts.segments
    levels: dict[int, int] = {}
    fenced, alone, before = False, True, -1
    for index, (text, _, _, _, line) in enumerate(segments):
        after, alone = alone, not text or text.isspace()
        starts, before = line != before, line
        if alone or not starts or text[0] in " \t" or len(text) > 120:
            continue
        if text.startswith("```"):
            fenced = not fenced
        elif not fenced:
            if text[0] in _OPENERS and (match := _HEADING.match(text)) is not None:
                levels[index] = len(match[1]) if match[1] else match[2].rstrip(".").count(".") + 2 if match[2] else 2
            elif text[:3] in ("===", "---") and not text.strip("=-") and not after and index - 1 not in levels:
                if len(segments[index - 1].text) <= 120:
                    levels[index - 1] = 1 if text[0] == "=" else 2
            elif after and _titled(text, segments[index + 1].text if index + 1 < len(segments) else ""):
                levels[index] = 3
    return levels


def _titled(text: str, follows: str) -> bool:
    """A short line alone between blank ones that no mark ends, or one in capitals."""
    if len(text) > 80 or not text[0].isalpha():
        return False
    if text.isupper() and len(text) > 3:
        return True
    return text[0].isupper() and not follows.strip() and text[-1].isalnum() and text.count(" ") < 9 and "," not in text


def _weights(parts: Segmented, levels: dict[int, int]) -> list[float]:
    segments = parts.segments
    by_character = _by_character(parts)
    bags: list[Sequence[str]] = [part.text if by_character else _WORD.findall(part.text.lower()) for part in segments]
    score, binding = _scores(bags)
    rough = [sum(map(score.__getitem__, bag)) / (len(bag) + 4) for bag in bags]
    top = max(rough, default=0.0) or 1.0
    lower = parts.text.lower()
    says, dull = _holding(lower, parts, _SAYS), _holding(lower, parts, _DULL)
    weight: list[float] = []
    opens, last = True, -1
    binds = binding.isdisjoint if binding else _never
    for index, (text, _, _, _, line) in enumerate(segments):
        if not text or text.isspace():
            weight.append(0.0)
            opens = True
            continue
        if index in levels:
            weight.append(HEADING)
            opens = True
            continue
        worth = BASE + CENTRAL * rough[index] / top
        fresh = line != last
        if fresh and (not text[0].isalpha() or text[1:2] == ")") and _ITEM.match(text) is not None:
            worth += FIRST + ITEM
        elif opens or (fresh and len(text) > 100):
            worth += FIRST
        if index in says or not binds(bags[index]):
            worth += BINDING
        if _DIGIT.search(text):
            worth += NUMBER
        if _NAMED.search(text):
            worth += NAME
        weight.append(worth * DULL if index in dull else worth)
        opens, last = False, line
    return weight


def _by_character(parts: Segmented) -> bool:
    """Whether the text is written without spaces. Its words are then counted by character: a string is a bag."""
    some = "".join(part.text for part in sample(parts, 40))
    return 3 * len(_CJK.findall(some)) > len(some)


def _never(bag: Sequence[str]) -> bool:
    """In place of `isdisjoint` of an empty set, which looks at every word."""
    return True


def _scores(bags: Sequence[Sequence[str]]) -> tuple[Counter[str], set[str]]:
    """How often the text has each word in any of its forms (at most `MOST`, 0 for common words); words that bind.

    Of a long text without spaces a part is counted.
    """
    by_character = bool(bags) and isinstance(bags[0], str)
    stride = 1 + sum(map(len, bags)) // COUNTED if by_character else 1
    words = Counter(chain.from_iterable(bags[::stride]))
    stems: Counter[str] = Counter()
    for word, times in words.items():
        stems[word[:STEM]] += times
    score = Counter({word: min(stems[word[:STEM]], MOST) for word in words})
    for word in words:
        if word in _COMMON or score[word] < 2 or (len(word) < 2 and not _CJK.match(word)):
            score[word] = 0
    return score, {word for word in words if word[:STEM] in _BINDING}


def _holding(lower: str, parts: Segmented, phrases: Sequence[str]) -> set[int]:
    """Segments in which one of the phrases begins."""
    places = []
    for phrase in phrases:
        at = lower.find(phrase)
        while at >= 0:
            places.append(at)
            at = lower.find(phrase, at + len(phrase))
    found: set[int] = set()
    segments, index = parts.segments, 0
    for place in sorted(places):
        while index + 1 < len(segments) and segments[index + 1].start <= place:
            index += 1
        found.add(index)
    return found


def _labels(parts: Segmented, levels: dict[int, int]) -> dict[int, int]:
    """Each segment → the heading it stands under; a heading → the one above it."""
    out: dict[int, int] = {}
    stack: list[int] = []
    for index in range(len(parts.segments)):
        level = levels.get(index)
        if level is not None:
            while stack and levels[stack[-1]] >= level:
                stack.pop()
        if stack:
            out[index] = stack[-1]
        if level is not None:
            stack.append(index)
    return out


def _about(parts: Segmented, cut: Sequence[int]) -> str:
    """What was cut, in paragraphs or, of a text without line breaks, in characters."""
    if not cut:
        return ""
    if parts.segments[-1].line == 0:
        return f"{sum(len(parts.segments[index].text) for index in cut)} characters of text cut"
    lines = len({parts.segments[index].line for index in cut if parts.segments[index].text.strip()})
    return f"{lines} line{'s' * (lines != 1)} of text cut" if lines else ""
