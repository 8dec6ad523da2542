"""Goals: which user turns say what is wanted, which change it, and which only say thanks."""

from __future__ import annotations

from enum import IntEnum

from jettison.flow.clauses import commands
from jettison.flow.imperatives import is_imperative
from jettison.flow.leaning import named_things, own_words
from jettison.flow.patterns import compiled

__all__ = ["Turn", "acknowledges", "asks_for", "dropped", "is_only_about", "turn_of"]


class Turn(IntEnum):
    """What a user turn does to the goal."""

    EMPTY = 0
    """Thanks, a greeting, "go on": the goal is what it was."""
    PASTED = 1
    """Data without a word: it stands for the goal only until something is said."""
    NUDGES = 2
    """ "Try again", "where you left off": names nothing, as `EMPTY`, but stands for the goal where there was none."""
    ASKS = 3
    """A question in passing ("which file did you change?"): the goal is what it was, if there was one."""
    LEANS = 4
    """An order that names nothing of its own ("fix it"): the goal is what it was, and what it leans on is one."""
    SAYS = 5
    CHANGES = 6
    """A change of course ("instead ..."): current until the next one, whatever is said in between."""
    REPLACES = 7
    """The goal so far is dropped ("forget that, now ...")."""


_WORDS = (
    r"ok(?:ay)?|yes|yep|yeah|no|nope|sure|fine|right|great|good|nice|perfect|wonderful|awesome|excellent|cool|super|"
    r"lovely|amazing|brilliant|"
    r"thanks?(?: you)?(?: so much| very much| a lot| again)?|thx|ty|many|cheers|got it|understood|i see|alright|"
    r"all right|noted|very|much|so|"
    r"hi|hello|hey|there|good (?:morning|day|evening|afternoon)|bye|goodbye|see you|please|and|that(?:['’]s| is|"
    r" was| works| helps)|it|for|your|help|quick|all|"
    r"go on|go ahead|continue|proceed|carry on|keep going|next|start|do it|go for it|ship it|"
    r"lgtm|looks (?:good|fine|right)(?: to me)?|sounds (?:good|fine)|works for me|makes sense|well done|correct|"
    r"exactly|agreed|approved|confirmed|deal|of course|absolutely|h+m+|ah+|oh|lol|wow|why|"
    r"how are you(?: doing| today)?|"
    r"да|нет|ок|окей|хорошо|ладно|отлично|супер|прекрасно|замечательно|класс|понятно|понял[аи]?|ясно|спасибо|"
    r"большое|огромное|вам|тебе|благодарю|спс|пасиб\w*|ага|угу|норм\w*|пойд[её]т|годится|подходит|соглас[её]н|согласна|"
    r"верно|точно|договорились|принято|одобряю|подтверждаю|конечно|разумеется|вс[её]|так|молодец|круто|х+м+|почему|"
    r"зачем|как дела|как ты|"
    r"здравствуй(?:те)?|привет|добр(?:ый|ое|ого) (?:день|вечер|утро|дня)|до свидания|пока|пожалуйста|за|помощь|и|"
    r"продолжай(?:те)?|дальше|давай(?:те)?|начинай(?:те)?|поехали|继续|好的?|谢谢|続けて|ありがとう(?:ございます)?|계속|감사합니다"
)
_ACKNOWLEDGES = rf"^\W*(?:(?:{_WORDS})(?:\W+|$))+$"
_LEAD = (
    r"^(?:\W|ok(?:ay)?\b|actually\b|no\b|wait\b|hmm\b|well\b|sorry\b|hold on\b|stop\b|please\b|так\b|стоп\b|нет\b|"
    r"ладно\b|хорошо\b|слушай\b)*"
)
_REPLACES = (
    rf"{_LEAD}(?:(?:forget|scrap|drop|abandon|skip|ignore|never ?mind|cancel) (?:(?:about )?(?:that|it|this|"
    rf"all that|everything|all of (?:it|that))\b|what i (?:said|asked))|"
    r"change of plans?\b|(?:new|different) (?:task|plan|goal|assignment)\b|something else ?[:—-]|"
    r"the plan (?:has )?changed\b|i(?:['’]ve| have)? changed my mind\b|"
    r"забудь(?:те)? (?:об этом|про это|это|вс[её]|о ней|о н[её]м|о них)|отбой\b|(?:я )?передумал[аи]?\b|"
    r"забудь(?:те)?(?! *,? *(?:что|как)\b)(?= *[,.!;:—-]| и )|"
    r"(?:нов|друг)(?:ая|ое|ой) (?:задача|задание|цель|план)\b|другое ?[:—-]|смена планов\b|"
    r"планы (?:из|по)менялись\b|оставим это\b|брось(?:те)? это\b)"
)
_WHAT = r"(?P<what>(?:(?!\b(?:and|и)\b)[^,.;:!?\n—]){3,60}"
# What is given up by its name: "never mind the report", «отчёт больше не нужен».
_DROPS = (
    rf"{_LEAD}(?:(?:forget|scrap|abandon|never ?mind|cancel)(?: about)?|(?:stop|quit|cease) (?:working on|with)|"
    r"(?:no (?:more |longer any )?need for)|(?:i|we) no longer (?:need|want)|"
    r"(?:забудь|забей|забудем)(?:те)? (?:про|об?)|отбой по|"
    r"(?:отмени|отменяй|отменяем|брось|бросай|бросаем|прекрати|прекращай|прекращаем|останови|останавливай)(?:те)?"
    rf"(?: работ[уы])?(?: (?:над|с|по))?) {_WHAT})",
    rf"{_LEAD}(?!(?:in|on|for|at|в|на|из|для|по|с|к|у|об?) ){_WHAT}?) (?:(?:is|are) "
    r"(?:no longer|not) (?:needed|required|necessary|relevant|wanted)\b|"
    r"(?:больше|уже|теперь) не (?:нуж[енан]\w*|актуал\w+|требу\w+|надо)|отменяется\b|отменяются\b)",
)
_AND = r"[,;:—]|\b(?:and|then|also|и|а|потом|затем|ещё|также)\b"
_CHANGES = (
    r"\binstead\b|\brather than\b|\bon second thought\b|\bfrom now on\b|\bswitch (?:over )?to\b|\bnext task\b|"
    rf"{_LEAD}(?:now|let['’]s) (?:let['’]s|please|do|work|i (?:want|need|would)|you|we|move)\b|"
    rf"{_LEAD}now,? (?!(?:it|the|that|this|these|those|i|you|we|he|she|they|there|here|what|why|how|who|where|when|"
    r"which|is|are|was|my|your|our|all|everything|nothing|a|an|of|in|on|for|and|or|but|only|just|also|not|no|with|without|\w+ed"
    r"|\w+ing|\w+ly)\b)[a-z]{2,}\b|"
    r"\bвместо (?:этого|того|него|не[её]|них)\b|\bлучше (?:сделай|давай|займись|возьми)\w*|\bотныне\b|"
    r"\bследующая задача\b|\bпереключ(?:ись|итесь|имся)\b|"
    rf"{_LEAD}(?:а )?теперь (?:давай|сделай|займись|нужно|надо|мне|хочу|я хочу|пожалуйста)\w*"
)
_NOW = rf"{_LEAD}(?:а )?теперь,? (\w+)"
# A request that only has the form of a question.
_REQUEST = (
    r"\b(?:can|could|would|will|won['’]t) (?:you|we|u)\b|\bplease\b|\bplz\b|\bpls\b|\bwould it be possible\b|"
    r"\bmay i ask you to\b|\b(?:не )?мо(?:г|же)(?:ли|шь|те|ла)?\b|\bсможе(?:шь|те)\b|\bпожалуйста\b|\bне затруднит\b|"
    r"\bможно\b|\bесть возможность\b"
)
LONGEST_QUESTION = 200
"""Characters of a question in passing; what is asked at more length is work."""
# One of these stands in every ASCII text that `_CHANGES` finds: looked for first, at a fraction of the price.
_CHANGE_STEMS = ("instead", "rather", "second thought", "from now", "switch", "next task", "now", "let")


def acknowledges(sentence: str) -> bool:
    """Whether a sentence only greets, thanks, agrees or says "go on"."""
    if len(sentence) > 120:
        return False
    return not any(map(str.isalnum, sentence)) or compiled(_ACKNOWLEDGES).match(sentence) is not None


def turn_of(sentences: list[str]) -> Turn:
    """What a user turn of these sentences does to the goal."""
    said = [sentence for sentence in sentences if not acknowledges(sentence)]
    if not said:
        return Turn.EMPTY
    if any(compiled(_REPLACES).search(sentence) for sentence in said):
        rest = [compiled(_REPLACES).sub("", sentence) for sentence in said]
        return Turn.REPLACES if any(len(text.strip(" .,!;:—-")) > 3 for text in rest) else Turn.SAYS
    asks = all(map(_asks, said))
    named = named_things(said)
    if named == 0 and not asks:
        return Turn.NUDGES
    if any(map(_changes, said)):
        return Turn.CHANGES
    if asks:
        return Turn.ASKS
    return Turn.LEANS if named == 1 else Turn.SAYS


def dropped(sentences: list[str]) -> frozenset[str]:
    """Words that name what a turn gives up while it asks for something else; none, where it gives up nothing."""
    for place, sentence in enumerate(sentences):
        for form in _DROPS:
            match = compiled(form).match(sentence)
            words = own_words(match["what"]) if match is not None else ()
            if match is not None and words:
                rest = [sentence[match.end() :], *sentences[:place], *sentences[place + 1 :]]
                return frozenset(words) if any(map(own_words, rest)) else frozenset()
    return frozenset()


def is_only_about(sentences: list[str], words: frozenset[str]) -> bool:
    """Whether a goal asks for one thing, which has these words: a goal that asks for more is not given up by one."""
    said = [sentence for sentence in sentences if not acknowledges(sentence)]
    if len(said) != 1 or any(map(_orders, compiled(_AND).split(said[0])[1:])):
        return False
    named = own_words(said[0])
    return all(any(_same(word, other) for other in named) for word in words)


def asks_for(sentence: str) -> bool:
    """Whether a sentence that names one thing asks for it: "do the migration", "refactor it all"; not "I am Ann"."""
    words = sentence.lower().split()
    return _orders(sentence) or (len(words) > 1 and own_words(words[0]) != [])


def _orders(piece: str) -> bool:
    """Whether a sentence begins with a command."""
    first = piece.lower().split(maxsplit=1)[:1]
    return commands(piece) or any(map(is_imperative, first))


def _same(one: str, other: str) -> bool:
    """Whether two words differ in their endings at most: a plural's s, or three letters of a Russian case."""
    short, long = sorted((one, other), key=len)
    if one.isascii():
        return long in (short, f"{short}s", f"{short}es")
    return len(long) - len(short) <= 3 and len(short) > 3 and long.startswith(short[: max(4, len(short) - 2)])


def _asks(sentence: str) -> bool:
    """Whether a sentence only wants to know something."""
    asked = sentence.rstrip(" \t\"'»)]}").endswith(("?", "？"))
    return asked and len(sentence) <= LONGEST_QUESTION and compiled(_REQUEST).search(sentence) is None


def _changes(sentence: str) -> bool:
    low = sentence.lower()
    if low.isascii() and not any(map(low.__contains__, _CHANGE_STEMS)):
        return False
    if compiled(_CHANGES).search(sentence):
        return True
    now = compiled(_NOW).match(sentence)
    return now is not None and is_imperative(now.group(1).lower())
