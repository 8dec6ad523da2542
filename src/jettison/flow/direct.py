"""Direct orders that no single word gives away: "tabs, not spaces", "dry run only", «прод не трогаем», a deadline.

Each form is a pattern of the whole sentence or clause; what is told of the past or in the first person binds nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from jettison.flow.clauses import MOST_CUES, REACH, clause, commands, opens
from jettison.flow.cues_en import FIRST_EN, PAST_EN
from jettison.flow.cues_ru import FIRST_RU, HELPED_RU, LEAD_IN_RU, PAST_RU
from jettison.flow.imperatives import is_imperative, is_our_deed
from jettison.flow.patterns import compiled

__all__ = ["STEMS", "STEMS_ASCII", "places"]

_DAY_EN = (
    r"(?:(?:the )?(?:end|close) of|eod\b|eow\b|noon\b|midnight\b|tonight\b|tomorrow\b|today\b|next week\b|"
    r"\d{4}-\d\d-\d\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?!')|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d|\d{1,2}(?::\d\d)? ?[ap]m\b)"
)
_WEEKDAY_RU = (
    r"(?:понедельник\w*|вторник\w*|сред[аыеу]|четверг\w*|пятниц\w+|суббот\w+|воскресень\w+|завтра|послезавтра|"
    r"(?:конц[ау]|середин[ыеу]|начал[ау]) (?:дня|недели|месяца|квартала|года)|обеда|вечера|утра|полуночи)\b"
)
_DATE_RU = rf"(?:{_WEEKDAY_RU}|\d{{1,2}}(?::\d\d|\.\d\d| (?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)\w*))"
_FINITE = (
    r"\b(?:is|are|has|have|does|did|do|can|could|will|would|fail|work|happen|break|crash|fails|works|happens|breaks|"
    r"crashes|shows|occurs?|appears?|affects?|runs|sees|gets|exists?|applies|supports?|uses|means|needs|wants|says|"
    r"comes|looks|seems|takes|knows|\w+n't)\b"
)
_DEEDS = (
    r"(?:changes?|edits?|commits?|push(?:es)?|deploys?|deployments?|writes?|updates?|fixes|code|tests?|work|answers?|"
    r"replies|output|reports?|files?|emails?|refunds?|payments?|bookings?|orders?)"
)
_DEEDS_RU = (
    r"(?:правк|изменени|доступ|режим|деплой|выкатк|релиз|коммит|пуш|мерж|слияни|запис|чтени|вывод|ответ|формат|язык|"
    r"работ|запуск|оплат|возврат|заказ|доставк|отправк|рассылк|письм|звонк|публикаци|миграци|удалени|тест|сборк|"
    r"обращени|связь|общени|переписк|встреч|билет|номер|оплат)\w*"
)
_VERB_RU = r"\w+(?:[её]т|ит|[уюая]т|[тл]ся|[аияуе]л[аио]?)"
_STYLE_RU = r"используй|пиши|называй|ставь|применяй|бери|форматируй|оформляй"
_END = r"(?=\W*$|,? please\W*$|[,;])"

# Binds where the clause has no finite verb: "dry run only", "edits go in src only".
_ONLY_AT_THE_END = (
    rf"^(?!(?:i|we|he|she|it|they|this|that|there|these|those|my|his|her|not|if|when|because|yes|no|maybe|probably|"
    rf"mostly|the (?:bug|error|problem|issue|crash|failure))\b)(?:[\w./'-]+ ){{1,4}}only{_END}|"
    rf"^(?:all |any |your |the )*{_DEEDS}\b[^.;!?]{{0,60}} only{_END}"
)
# What binds unless it is told of the past or in the first person.
_UNTOLD = {
    "fragment": (
        r"^(?!(?:it|this|that|he|she|they|i|we|you|maybe|probably|perhaps|sorry|no|not|yes|sure|well|an?|looks|"
        r"seems|sounds|feels)\b)"
        r"(?!это\b|дело\b|причина\b|виноват\w*|ошибка\b|баг\b|проблема\b|он[аио]?\b|там\b|тут\b|я\b|мы\b|наверно|видимо|может\b|нет\b|да\b)"
        r"[\w./-]+(?: [\w./-]+)?,(?: not| а не) [\w./-]+(?: [\w./-]+)?\W*$"
    ),
    "limit": (
        r"\bno later\b(?! than)|\bnot (?:an?|one) (?:single )?\w+ (?:more|less|over|later)\b|"
        r"^(?:and |also |the |our |my |a |hard |total |overall )*(?:(?:budget|deadline|due(?: date)?|cut-?off)"
        rf"(?: is|:| -| —|,)?|(?:word |time |size )?(?:limit|cap) ?(?:of|:|—)) *(?:up to |at most |by |on |before )*"
        rf"(?:[€$£]? ?\d|{_DAY_EN})|"
        rf"^(?:и |наш |мой |общий |жёсткий )*(?:бюджет|дедлайн|крайний срок)\w*(?: (?:по|на|для) \w+)? ?"
        rf"(?:[—–:-] ?|до |к |в |не больше )*(?:\d|{_DATE_RU})|"
        rf"^(?:и |наш |общий )*(?:срок|лимит|предел|потолок) ?[—–:-] ?(?:до |к )?(?:\d|{_DATE_RU})|"
        rf"^срок до {_DATE_RU}"
    ),
    "deeds": (
        rf"^(?!.*\b{_VERB_RU}\W*$)(?:и |а |но |все |любые |весь )*{_DEEDS_RU}(?: (?!{_VERB_RU}\b)\w+)?,? ?(?:[—–:-] ?)?"
        r"(?:только|лишь|строго|исключительно) (?:в|на|через|из|с|со|по|для|от|вручную|после|dry|[a-z`/])\w*"
    ),
    "no word": r"\b(?:никому|\w{3,}(?:ам|ям|у|ю)) ни (?:слова|звука|полслова)(?=\W*$)",
    "no need": (
        r"\b(?!спешить|торопиться|бояться|волноваться|переживать|беспокоиться|извиняться|благодарить|объяснять|"
        r"говорить|думать|гадать)\w{2,}(?:ть|ти|чь|ться|тись) (?:[^\s.;!?]+ ){0,3}?не (?:надо|нужно|следует|стоит|"
        r"разрешаю|разрешается|рекомендуется)\b"
    ),
    "without": (
        r"^(?:и |но |только |пожалуйста,? )*без (?!проблем|изменени[йя]\W*$|понятия|вопрос|сомнени|шанс|труда|разниц|"
        r"толку|успеха|обид|тебя|вас|меня|нас|него|не[её]|них|этого|того|результат|ответ|паник|спешк|нерв|причин)"
        r"(?!.*\b\w{2,}(?:[её]т|ит|[уюая]т|[тл]ся|ло)\b)(?:[^\s.;!?,]+ ?){1,5}(?:, пожалуйста)?\W*$"
    ),
    "corrected": r"\d\d[^\s.;!?]*(?: [^\s.;!?,]{1,12}){0,2},? (?:and not|not|а не|und nicht) (?=\S*\d)",
    "mandatory": r"\bобязател(?:ен|ьна|ьны)(?=\W*$)",
}
# What binds unless it is in the first person: its participle looks like the past.
_RULED = {
    "may": (
        r"(?:^|[,;:—-] ?)(?:and |but )?only [^;,]{1,60}? (?:(?:may|must|shall|should) (?!have)|(?:is|are) to |can be "
        r"(?:edited|changed|modified|touched|used|merged|deleted|updated)\b)|"
        r"\byou (?:may|can) [^.;]{1,60}?, but only\b|\b(?:it's|it is|this is|it stays) [^.;,]{1,40} only, "
        r"(?:no|not|never) "
    ),
    "outcome": (
        r"\b(?:outside|without|over|above|beyond) [^.;]{1,60}? will be "
        r"(?:rejected|reverted|refused|declined|discarded)\b|"
        r"^(?:and |but )?not a single \w+ (?:\w+ )?(?:goes|leaves|may|is to|gets|should|must|to)\b|"
        r"\bnothing (?:gets|is|goes) \w+ (?:\w+ ){0,3}?(?:without|until|unless|before)\b"
    ),
    "medical": r"\bcontraindicated\b|\bпротивопоказан[аоы]?\b",
}
# What binds in a command.
_ORDERED = {
    "versus": (
        r",(?: and| but)? not (?!yet|sure|only|that|because|if|when|so|really|at all|possible|necessarily|much|many|to "
        r"mention|even|just|now)(?=[\w\"'/`.-])|, (?:а|но) не (?!только|потом|сразу|просто)(?=[\w\"«`])"
    ),
    "everywhere": (
        r"\b(?:use|write|call|name|keep|format|spell|put|set|apply|prefer) [^.;!?]{1,80}?\b(?:everywhere|throughout|"
        r"across the (?:board|codebase|project|repo)|in (?:all|every|each) \w+)\b|"
        rf"\b(?:{_STYLE_RU})(?:те)? [^.;!?]{{1,80}}?\b(?:везде|всюду|повсюду|(?:во|на) (?:всех|всём|всем|каждом|каждой)"
        rf"(?: \w+)?)\b|\b(?:везде|всюду|повсюду|во всех \w+) (?:{_STYLE_RU})"
    ),
    "due": rf"\bby {_DAY_EN}|(?<!период )\b(?:до|к|не позже) {_WEEKDAY_RU}",
    "before": r"\bbefore (?:you \w+|(?:each|every|any) \w+|\w+ing\b)",
}
# Orders by their verb, at the beginning of a clause.
_OPENING = (
    r"\b(?:answer|reply|respond|speak|talk|chat|communicate)(?: to (?:me|us))?(?: only)? in "
    r"(?!detail|full|time|the\b|an?\b|your\b|my\b|this\b|that\b|order\b|case\b|part\b)\w+|"
    r"\bstay inside\b|\b(?:limit|restrict|confine) (?:yourself|(?:your |the |all |any )*(?:changes?|edits?|work|"
    r"modifications?|commits?|search(?:es)?|answers?|replies|scope|writes|access|output)) to\b|"
    r"\b(?:hold|wait|pause|freeze|delay|postpone)(?: [^\s.;,]+){0,5}? (?:until|till)\b|"
    r"\b(?:отвечай|пиши|общайся|говори|комментируй|разговаривай)(?:те)? (?:\w+ ){0,2}?(?:по-[а-яё]+|"
    r"на \w+(?:ом|ем)(?: языке)?)\b|"
    r"\bограничь(?:ся|тесь) |\b(?:держись|держитесь|оставайся|оставайтесь) (?:в|внутри) |"
    r"\b(?:уложи|впиши)(?:сь|тесь) в |\b(?:подожди|погоди|повремени)(?:те)? (?:\w+ )?с(?:о)? \w|"
    rf"\b(?:сделай|сдай|отправь|пришли|закончи|успей|подготовь|выкати|оплати)(?:те)? "
    rf"[^.;!?]{{0,60}}?\b(?:до|к) {_DATE_RU}"
)
_FIRST_THEN = (
    r"\b(?:сначала|сперва) (?:покажи|пришли|предложи|опиши|обсуди|составь)\w*\b[^.;!?]{0,80}?\b(?:потом|затем) (\w+)"
)
_EACH_TIME = (
    r"\bперед [^.;!?]{1,40}? (\w+[аяу]й)(?:те)?\b",
    r"\b(\w+[аяу]й)(?:те)? [^.;!?]{1,40}? перед (?!мной\b|нами\b|глаз)\w",
)
# Nobody is told what happens if, why or when something is (not) done.
_SUPPOSED = ("если", "когда", "почему", "хотя", "раз", "пока", "чтобы", "кажется,", "похоже,", "видимо,")
_IN_FACT = r"\b(?:уже|давно|обычно|иногда|редко|часто|почему|зачем|никак|вроде|похоже|если|когда|раз|до (?:сих|пор))\b"
_FIRST = f"{FIRST_EN}|{FIRST_RU}"
_PAST = f"{PAST_EN}|{PAST_RU}"

STEMS = {
    "only at the end": (" only",),
    "fragment": (", not ", ", а не "),
    "limit": (
        *("no later", "not a", "not one", "budget", "deadline", "due", "cutoff", "cut-off", "limit", "cap", "бюджет"),
        *("дедлайн", "срок", "лимит", "предел", "потолок"),
    ),
    "deeds": ("только ", "лишь ", "строго ", "исключительно "),
    "no word": (" ни ",),
    "no need": ("не надо", "не нужно", "не следует", "не стоит", "не разреш", "не рекоменд"),
    "without": ("без ",),
    "may": ("only ", "only,"),
    "outcome": ("will be", "not a single", "nothing "),
    "medical": ("contraindicated", "противопоказан"),
    "corrected": (" not ", ", а не ", "und nicht "),
    "mandatory": ("обязател",),
    "versus": (" not ", ", а не ", ", но не "),
    "everywhere": (
        *("everywhere", "throughout", "across the", " in all ", " in every ", " in each ", "везде", "всюду", "повсюду"),
        *("во всех", "на всех", "во всём", "во всем", "в каждо"),
    ),
    "due": (" by ", " до ", " к ", "не позже"),
    "before": ("before ",),
    "opening": (
        *("answer", "reply", "respond", "speak", "talk", "chat", "communicate", "stay ", "limit", "restrict"),
        *("confine", "hold ", "wait ", "pause ", "freeze ", "delay ", "postpone ", "отвечай", "пиши", "общайся"),
        *("говори", "комментируй", "разговаривай", "огранич", "держи", "остава", "уложи", "впиши", "подожди", "погоди"),
        *("повремени", "сделай", "сдай", "отправь", "пришли", "закончи", "успей", "подготовь", "выкати", "оплати"),
    ),
    "then": ("сначала", "сперва"),
    "each time": ("перед ",),
    "we": ("не ",),
}
STEMS_ASCII = {
    kind: stems for kind, words in STEMS.items() if (stems := tuple(stem for stem in words if stem.isascii()))
}
"""The stems that a text of ASCII alone can have."""


def places(sentence: str, kinds: set[str]) -> Iterator[int | None]:
    """Where each form is found; only those of these kinds are looked for."""
    said = compiled(HELPED_RU).sub("", sentence)
    first = compiled(_FIRST).search(said) is not None
    if not first:
        yield from _found(_RULED, sentence, kinds)
    if not first and compiled(_PAST).search(said) is None:
        yield from _found(_UNTOLD, sentence, kinds)
        if "only at the end" in kinds and compiled(_FINITE).search(sentence) is None:
            yield _at(_ONLY_AT_THE_END, sentence)
        if not kinds.isdisjoint(_ORDERED) and _orders(sentence):
            yield from _found(_ORDERED, sentence, kinds)
    if "opening" in kinds:
        yield _opening(sentence)
    if "then" in kinds:
        yield _ordered_by(_FIRST_THEN, sentence)
    if "each time" in kinds:
        yield from (_ordered_by(form, sentence) for form in _EACH_TIME)
    if "we" in kinds:
        yield _we(sentence)


def _found(forms: dict[str, str], sentence: str, kinds: set[str]) -> Iterator[int | None]:
    return (_at(form, sentence) for kind, form in forms.items() if kind in kinds)


def _at(form: str, sentence: str) -> int | None:
    match = compiled(form).search(sentence)
    return match.start() if match else None


def _orders(sentence: str) -> bool:
    """Whether a sentence begins with a command."""
    if compiled(r"\W*let (?:me|us)\b").match(sentence):
        return False
    first = compiled(r"\w+").search(sentence)
    return commands(sentence) or (first is not None and is_imperative(first.group().lower()))


def _opening(sentence: str) -> int | None:
    for match in islice(compiled(_OPENING).finditer(sentence), MOST_CUES):
        lead = clause(sentence, match.start())[0]
        if opens(lead) or all(word in LEAD_IN_RU for word in lead.split()):
            return match.start()
    return None


def _ordered_by(form: str, sentence: str) -> int | None:
    for match in islice(compiled(form).finditer(sentence), MOST_CUES):
        if is_imperative(match[1].lower()):
            return match.start()
    return None


def _we(sentence: str) -> int | None:
    """«Прод не трогаем»: what "we" do not do is not done, where no "we" is said of whom it would be told."""
    for match in islice(compiled(r"\bне (?!работаем\b)(\w{3,}м(?:ся)?)\b").finditer(sentence), MOST_CUES):
        lead, rest = clause(sentence, match.start())
        before = sentence[max(0, match.start() - 2 * REACH) : match.start()].rstrip().lower()
        supposed = before[: len(before) - len(lead)].rstrip().endswith(_SUPPOSED)
        told = compiled(f"{FIRST_RU}|{_IN_FACT}").search(lead) or compiled(PAST_RU).search(f"{lead} {rest}")
        if is_our_deed(match[1].lower()) and not supposed and not told:
            return match.start()
    return None
