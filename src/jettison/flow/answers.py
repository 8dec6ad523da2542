"""Answers: whether a user turn gives or refuses the leave that was asked for, and says nothing else."""

from __future__ import annotations

import re

from jettison.flow.borders import holds
from jettison.flow.clauses import commands
from jettison.flow.patterns import compiled

__all__ = ["answers", "says_yes_or_no"]

FEW = 6
"""Words up to which a clause with "it" or «его» is about what was asked, and not a story."""
LONGEST = 400
"""Characters of a turn in which its answer is looked for: it comes first."""
STEM = 5
"""Letters by which words are compared: Russian endings are up to four letters long."""

_STRONG = (
    r"yes|yep|yeah|approved?|granted|confirm(?:ed)?|no|nope|reject(?:ed)?|deny|denied|refused?|"
    r"permission (?:granted|denied)|"
    r"(?:i|we) (?:approve|confirm|agree|reject|refuse|decline|consent|allow)|agreed|"
    r"да|нет|одобр(?:яю|яем|ено|ил|ила)|подтвержд(?:аю|аем|ено|ена|[её]н)|соглас(?:ен|на|ны|ован[оа]?)|"
    r"отклон(?:яю|яем|ено)|разреш(?:аю|аем|ено|ил)|запрещ(?:аю|ено)|отказ(?:ываю|ано)?|"
    r"(?:я )?не (?:одобряю|разрешаю|согласен|согласна|подтверждаю|надо|нужно)|"
    r"ja|nein|genehmigt|abgelehnt|s[ií]|aprobado|oui|non|approuvé|是的?|同意|批准|不同意|拒绝|はい|いいえ|承認します|네|아니요"
)
_ALSO = (
    r"ok(?:ay)?|sure|fine|right|go ahead|go for it|do it|do not|don['’]t(?: do (?:it|that|this))?|proceed|continue|"
    r"please|thanks?|thank you|of course|absolutely|by all means|it|that|this|them|all|both|you (?:may|can)|"
    r"you have my (?:ok|approval|permission)|lgtm|looks good|sounds good|let['’]s(?: do (?:it|that))?|ship it|"
    r"never|stop|not allowed|"
    r"ок|окей|хорошо|ладно|можно|нельзя|давай(?:те)?|делай(?:те)?|действуй(?:те)?|валяй|конечно|разумеется|пожалуйста|"
    r"спасибо|это|его|е[её]|их|вс[её]|оба|обе|не делай(?:те)?|не стоит|продолжай(?:те)?|вперёд|вперед|поехали|точно|"
    r"可以|好的?|行|不行|gerne|bitte|vale|d['’]accord|adelante"
)
_ANSWER = rf"^\W*(?:{_STRONG}|{_ALSO})(?!\w)"
# Atomic: "don't do it" can be read in two ways, and twenty of them in a million.
_ONLY = rf"^\W*(?:(?>(?:{_STRONG}|{_ALSO})(?!\w))\W*)++$"
_STRONG_WORD = rf"(?<!\w)(?:{_STRONG})(?!\w)"
_WORDS = rf"(?<!\w)(?:{_STRONG}|{_ALSO})(?!\w)"
# Decided by somebody, with who or why: "approved by Anna", "rejected: too risky".
_DECIDED = (
    r"^\W*(?:approved|granted|confirmed|rejected|denied|refused|declined|одобрен[оа]?|согласован[оа]?|разрешен[оа]?|"
    r"подтвержден[оа]?|отклонен[оа]?|запрещен[оа]?|отказано)(?:\s*[.,:;!—-]|\s+(?:by|with|from|as)\b|"
    r"\s+[а-яё]+(?:ом|ем|ой|ью|им|ым)\b)"
)
_MAY = (
    r"^\W*(?:да\W+)?(?:можно|нельзя|разрешаю|не надо|не нужно|не стоит) (?:его |е[её] |их |это )?[а-яё]+(?:ть|ти|чь)\b"
)
_ELSEWHERE = (
    r"\b(?:meanwhile|by the way|btw|also|but|first|now|next|later|yet|before|wait|hold on|let me|idea|time|think\w*|"
    r"not sure|another|problem|worries|one|nobody|see|saw|know|understand|"
    r"кстати|между прочим|сначала|но|пока|подожди\w*|погоди\w*|теперь|потом|позже|сейчас|дай\w*|времени|подума\w+|"
    r"ещ[её]|не знаю|не уверен\w*|другой|другое|наверное?|вижу|понимаю|знаю|помню|я|узнать|спросить|посмотреть|"
    r"уточнить|проверить)\b"
)
_OBJECT = r"\b(?:it|that|this|them|those|его|е[её]|их|это|эту|этот|эти|them all)\b"
_WHETHER = r"^\W*(?:can|could|may|is|are|do|does|what|who|why|when|how|which|можно ли|кто|что|как|когда|почему|зачем)\b"
_MARKS = " \t,;:.!…—–-\"'«»()"
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+|(?<=[。！？])")
_WORD = re.compile(r"[^\W\d_]{3,}")
_NUMBERED = re.compile(r"\w[\w-]*\d[\w-]*|\d[\w-]+")


def answers(text: str, request: str) -> bool:
    """Whether the first sentence of a turn is the answer to a request for leave. `request`: what it was about.

    The sentence must begin with the answer and be nothing but it, or go on about the request: "yes, by the way, who
    owns it?", "no time now" and "can I see it first" leave the request open.
    """
    turn = text.strip()[:LONGEST]
    sentence = next((part for part in _SENTENCE.split(turn) if part.strip()), "")
    if sentence.rstrip(" \"'»)").endswith(("?", "？")) or compiled(_WHETHER).match(sentence):
        return False
    strong = compiled(_STRONG_WORD).search(sentence) is not None
    if compiled(_ONLY).match(sentence):
        return strong or not compiled(_ELSEWHERE).search(turn)
    match = compiled(_ANSWER).match(sentence)
    if match is None or compiled(_ELSEWHERE).search(sentence):
        return False
    if not all(holds(request, word) for word in _NUMBERED.findall(sentence)):
        return False  # it speaks of another request, by its id
    if compiled(_DECIDED).match(sentence) or compiled(_MAY).match(sentence):
        return True
    rest = compiled(_WORDS).sub(" ", sentence[match.end() :]).strip(_MARKS)
    if not rest or _is_about(rest, request):
        return True
    if len(rest.split()) == 1:  # "yes, delete", «нет, оставь»
        return commands(rest)
    return strong and len(rest.split()) <= FEW and compiled(_OBJECT).search(sentence, match.end()) is not None


def says_yes_or_no(text: str) -> bool:
    """Whether a turn begins with a yes or a no, whatever follows."""
    return compiled(rf"^\W*(?:{_STRONG})(?!\w)").match(text) is not None


def _is_about(text: str, request: str) -> bool:
    """Whether a text shares a word or an id with the request."""
    if _NUMBERED.search(text):
        return True  # of the request: other ids were refused before
    asked = {word.lower()[:STEM] for word in _WORD.findall(request)}
    return any(word.lower()[:STEM] in asked for word in _WORD.findall(text))
