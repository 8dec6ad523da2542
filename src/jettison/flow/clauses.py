"""Clauses: what stands around a cue, and whether it commands somebody."""

from __future__ import annotations

from jettison.flow.cues_en import IMPERATIVE_EN, LEAD_IN, OBLIGED_EN, PREPOSITIONS, SELF_EN
from jettison.flow.cues_ru import IMPERATIVE_RU, INFINITIVE
from jettison.flow.patterns import compiled

__all__ = ["MOST_CUES", "REACH", "clause", "commands", "opens", "tells"]

REACH = 300
"""Characters around a cue in which its clause is looked for: bounds the work on a text without a full stop."""

MOST_CUES = 16
"""Cues of one kind that are looked at in a sentence: bounds the work on a text of nothing else. In the recorded sets
and in our lists of phrasings the first cue of its kind decided each of 679 times."""

_BORDER = (
    r"[,;:()\[\]–—*•]|(?<!\w)-(?!\w)|^\s*\d+[.)]|\b(?:and|but|so|then|because|that|when|if|и|а|но|чтобы|что|если|"
    r"когда|поэтому|хотя)\b"
)

_PLEASE = ("please", "pls", "plz", "kindly")


def clause(sentence: str, at: int) -> tuple[str, str]:
    """(what stands before `at` in its clause, what of the clause follows), lower case."""
    start, end = max(0, at - REACH), min(len(sentence), at + REACH)
    for border in compiled(_BORDER).finditer(sentence, start, end):
        if border.end() <= at:
            start = border.end()
        elif border.start() > at:
            end = border.start()
            break
    return sentence[start:at].strip().lower(), sentence[at:end].strip().lower()


def tells(lead: str) -> bool:
    """Whether what stands before a cue makes a statement of somebody, not a command."""
    return bool(compiled(SELF_EN).search(lead)) and not compiled(OBLIGED_EN).search(lead)


def opens(lead: str) -> bool:
    """Whether a command can begin after this: nothing, a lead-in, an adverbial, or a modal verb."""
    words = lead.strip(" \"'*_#>`").split()
    if not words or all(word in LEAD_IN for word in words) or words[-1] in _PLEASE:
        return True
    if compiled(OBLIGED_EN).search(lead) and not compiled(r"^(?:i|we)\b(?!.*you to)").search(lead):
        return True
    if compiled(SELF_EN).search(lead):
        return False
    return words[0] in PREPOSITIONS or words[0] in IMPERATIVE_EN or (words[0] in LEAD_IN and opens(" ".join(words[1:])))


def commands(clause: str) -> bool:
    """Whether a clause is a command: it begins with a verb in its bare form, or has a Russian imperative."""
    words = clause.strip(" \"'*_#>`-").lower().split()
    while words and words[0].strip(",:") in LEAD_IN:
        words = words[1:]
    first = words[0].strip("*_`.,:") if words else ""
    if first in IMPERATIVE_EN or clause.lower().startswith(("make sure", "be sure")):
        return True
    if clause.isascii():
        return False
    return bool(compiled(IMPERATIVE_RU).search(clause) or compiled(INFINITIVE).search(clause))
