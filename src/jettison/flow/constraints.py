"""Hard constraints: which sentences bind the agent. A stated rule does; a tale, a question or a wish does not."""

from __future__ import annotations

from itertools import chain

from jettison.flow.patterns import compiled

__all__ = ["constraint_cue"]

REACH = 300
"""Characters around a cue in which its clause is looked for: bounds the work on a text without a full stop."""

# What binds wherever it stands, short of a first person: a ban or a reserved decision.
_STRONG_EN = (
    r"\b(?:(?:is|are) not (?:allowed|permitted)|not allowed to|(?:is|are) (?:strictly )?(?:forbidden|prohibited|"
    r"off[- ]limits)|"
    r"under no circumstances|at all costs|(?:is|are) mandatory|ask (?:me |us )?(?:first|before)|"
    r"(?:confirm|check|clear it|agree) (?:\w+ )?with (?:me|us)|until (?:i|we) (?:say|confirm|approve|tell|agree|sign)|"
    r"only (?:after|with|if|when|once) (?:i|we|my|our)\b|before \w[^.;]{0,80}\b(?:ask|confirm with|check with|"
    r"tell) (?:me|us)|"
    r"no \w+(?: \w+)? (?:may|must|shall)|no \w+(?: \w+)? without (?:my|our|asking)|nobody (?:may|must|shall)|"
    r"nothing (?:may|must|shall|leaves|goes))"
)
# What binds as a command or after a modal verb: at the beginning of its clause.
_COMMAND_EN = (
    r"\b(?:never|do not|don['’]t|refrain|leave \w+(?: \w+){0,3} (?:alone|untouched)|keep (?:\w+ ){1,3}(?:untouched|"
    r"unchanged|secret|private))\b"
)
_MUST_EN = (
    r"\b(?:must(?:n['’]t)?|shall(?: not)?|(?:have|has|need|needs) to be|you (?:have|need) to|"
    r"you (?:cannot|can['’]t|can not|may not|may only|can only))\b"
)
# What binds only in a command or an obligation.
_WEAK_EN = (
    r"\b(?:only|always|ensure|make sure|be sure|avoid|exclusively|strictly|"
    r"nothing (?:else|but)|at least|(?:is|are) required|without (?:my|our|asking|approval|permission|confirm\w*|"
    r"changing|touching))\b"
)
# A limit binds unless it is told of the past.
_LIMIT = (
    r"\b(?:no more than|at most|no later than|not more than|under budget|не более|не больше|не позднее|не позже|"
    r"не раньше|"
    r"максимум|не дороже|не дольше)\b"
)
_PAST_EN = r"\b(?:was|were|had|took|did|been|\w{3,}ed)\b"
_VERBS = (
    "accept add adjust allow answer apply archive ask assign attach avoid be begin book build buy call cancel "
    "change charge check "
    "choose clean close commit compare compress consider contact copy count create cut delete deliver deploy "
    "describe do download edit email "
    "ensure enter explain export extract fetch fill filter find finish fix focus follow format generate get give "
    "go group handle hide "
    "ignore implement import include insert install keep leave let limit list load log look mail make mark mention "
    "merge migrate modify "
    "move name notify offer open operate order output pack paste pay pick place post prefer preserve print publish "
    "push put quote read "
    "refund refrain remain rely remove rename replace reply report reserve respond restart restrict retry return "
    "reuse revert review rewrite run save scan "
    "schedule search select sell send set share ship show sign sort speak spend start state stay stick stop store "
    "submit summarise summarize "
    "switch take talk tell test touch transfer translate treat try turn update upgrade upload use verify wait work "
    "wrap write"
)
_IMPERATIVE_EN = frozenset(_VERBS.split())
_LEADS = (
    "please just also again and now kindly absolutely then but so or too however always only never strictly "
    "ok okay note important remember rule first next finally besides actually moreover simply really instead"
)
_LEAD_IN = frozenset(_LEADS.split())
_ADVERBIALS = (
    "in on for with during at to from under while as until before after unless whatever whenever when if where by "
    "regarding about of within outside since throughout no"
)
_PREPOSITIONS = frozenset(_ADVERBIALS.split())
_SELF_EN = r"\b(?:i|we|i['’](?:m|ve|d|ll)|we['’](?:re|ve|d|ll)|he|she|they|it|there|who|that|which)\b"
_OBLIGED_EN = (
    r"\b(?:should|must|shall|ought to|(?:has|have) to|needs? to|(?:is|are) to|supposed to|(?:want|need|ask|expect|"
    r"like) you to|you (?:may|can|will))\b"
)
_FIRST_EN = r"\b(?:i|we|i['’](?:m|ve|d|ll)|we['’](?:re|ve|d|ll))\b"
# Turns of phrase that have a cue and bind nobody.
_IDLE_EN = (
    r"\bnever ?mind\b|\b(?:do not|don['’]t) (?:worry|bother|hesitate|mention it|know|think|have to|need to|"
    r"understand|get me wrong)\b|"
    r"\b(?:that|this) must be (?:the|a|an|it|why|how)\b|\bthere must be (?:some|a |an |any|something|someone)|"
    r"\bmust (?:have|be (?:kidding|joking|wrong|mistaken|"
    r"right))\b|"
    r"\b(?:i|we|you) must (?:say|admit|confess)\b|\b(?:not only|if only|only just|the only|have only|has only|"
    r"had only|was only|were only)\b|"
    r"\b(?:used to always|as always|at most times)\b"
)

_STRONG_RU = (
    r"\b(?:нельзя|запрещ(?:[её]н[аоы]?|ается|аю|аем)|воспрещ\w+|недопустим[оаы]?|ни в коем случае|ни при каких|"
    r"ни под каким|"
    r"сначала (?:спроси|согласуй|уточни|подтверди)\w*|спроси(?:те)? (?:меня|у меня|нас|разрешени\w+)|"
    r"согласуй(?:те)? (?:\w+ )?со мной|пока (?:я|мы) не|без (?:моего|нашего|согласования|разрешения|подтверждения|"
    r"спроса) \w*|"
    r"только (?:после|с|при|по) (?:моего|моей|моим|нашего|нашей|моему|согласовани\w+|разрешени\w+|подтверждени\w+)|"
    r"только через (?:меня|нас)|(?:можно|разрешено|допускается) (?:\w+ ){0,2}(?:только|лишь|исключительно)|"
    r"(?:только|лишь) (?:можно|разрешено))"
    r"|\bперед\b[^.;]{0,80}\b(?:спро[сш]\w+|согласу\w+|уточн\w+)|\bбез (?:спроса|согласования|разрешения|"
    r"подтверждения)\b"
    r"|\bне(?: надо| нужно| следует| стоит| должн[аоы]?| должен| смей(?:те)?| вздумай(?:те)?) (?:\w+ ){0,2}\w+(?:ть|"
    r"ти|чь|ться|тись)\b"
)
_BAN_RU = (
    r"\bне\s+(?!случай|май|чай|край|они\b|одни\b|дни\b|три\b|люди\b|наши\b|ваши\b|ножи\b|цели\b|очень\b|беспоко|"
    r"волну|пережива)"
    r"(?:\w+(?:йте|йтесь|йся|ьте|ай|уй|яй|вой|ди|жи|ши|ни|ри|пи|си|вь|дь|жь|зи|(?<!л)ись)|тронь(?:те)?|смей(?:те)?|"
    r"жалей(?:те)?|бей(?:те)?|плати(?:те)?|трать(?:те)?|"
    r"лезь(?:те)?|\w+(?:шите|ните|рите|сите|вите|дите|жите|пите|ките|лите|тите|чите|зите))\b"
)
_NEVER_RU = r"\bникогда\b"
_MUST_RU = r"\b(?:долж(?:ен|на|но|ны)|обязан[аоы]?|необходимо|требуется|обязательно|следует)\b"
_WEAK_RU = (
    r"\b(?:только|лишь|всегда|строго|исключительно|"
    r"убеди(?:сь|тесь)|избегай(?:те)?|воздержи(?:сь|тесь)|следи(?:те)?|проследи(?:те)?|"
    r"позаботься|позаботьтесь|(?:и )?ничего (?:лишнего|другого|кроме)|без (?:изменени\w+|моего|нашего))\b"
)
_STEMS_RU = (
    "бери|возьми|включи|включай|возвращай|верни|выбери|выбирай|выполни|выполняй|группируй|делай|сделай|держи|добавь|"
    "добавляй|жди|дождись|закрой|закрывай|"
    "закажи|заказывай|заменяй|замени|записывай|запиши|запускай|запусти|избегай|измени|изменяй|используй|исправь|"
    "исправляй|ищи|клади|купи|меняй|назови|называй|найди|"
    "начинай|обновляй|обнови|обращайся|общайся|оставь|оставляй|отвечай|ответь|отправь|отправляй|оформи|оформляй|"
    "передай|переводи|переведи|пиши|плати|покажи|показывай|покупай|"
    "положи|правь|предлагай|предложи|присылай|пришли|проверь|проверяй|публикуй|работай|размещай|разрешай|редактируй|"
    "реши|сообщай|сообщи|сохрани|сохраняй|собери|сортируй|ставь|"
    "считай|трогай|трать|убедись|удаляй|удали|укажи|указывай|учти|учитывай|фильтруй|ходи|храни|читай|шли|звони|"
    "пользуйся|ограничься|ориентируйся|соблюдай|следи|проследи|следуй|воздержись|позаботься|бронируй|списывай|"
    "доставляй|веди"
)
_IMPERATIVE_RU = (
    rf"\b(?:(?:{_STEMS_RU})(?:те)?(?:сь)?|\w{{3,}}(?:айте|яйте|уйте|ойте|ейте|ьте|айтесь|яйтесь|уйтесь|шите|рите|"
    rf"дите|жите|ните|лите|вите))\b"
)
_OBLIGED_RU = r"\b(?:долж(?:ен|на|но|ны)|нужно|надо|необходимо|следует|требуется|прошу|обязан\w*|можно)\b"
_FIRST_RU = r"\b(?:я|мы|мне|нам|меня|нас|у меня|у нас)\b"
_THIRD_RU = r"\b(?:я|мы|мне|нам|он|она|оно|они|ему|ей|им|вы|кто|который|которая|которые)\b"
_PAST_RU = (
    r"\b(?!сначала\b|начал[ао]?\b|дел[ао]\b|мало\b|числ|сил[аы]|стол|отдел|раздел|журнал|канал|материал|портал|"
    r"сигнал|персонал)\w+(?:[аяиыеуо]л[аои]?|[аяиыеуо]лся|[аяиыеуо]л[аои]сь|ш[её]л|шл[аои]|мог|могл[аои])\b"
)
_IDLE_RU = (
    r"\b(?:как всегда|не только|только что|только[- ]только|должно быть(?=,)|ничего страшного|лишь бы|если бы только)\b"
)
_INFINITIVE = r"^\W*(?:не |никогда не |всегда )?\w+(?:ть|ти|чь|ться|тись)\b"

# "Клиентам не звонить.": an order in the infinitive, where nobody is said to be able, to want or to decide.
_BARE_RU = (
    r"^\W*(?:(?!(?:мож|мог|смог|хо[тч]|реш|буд|лучше|чтобы|уме|прош|прос|я\b|мы\b|он|мне\b|нам\b))\w+ ){0,3}?"
    r"(не (?!быть)\w+(?:ть|ти|чь|ться|тись))\b"
)

_OTHERS = (
    r"不要|请勿|请不|禁止|必须|不得|不许|只能|务必|切勿|一定要|ないでください|しないで|てはいけ|必ず|だけに|"
    r"하지 ?마|지 ?마세요|지 ?마십시오|금지|반드시|\b(?:nunca|no debes?|prohibido|solamente|niemals|auf keinen fall|"
    r"darf nicht|nur wenn|verboten|unbedingt|jamais|interdit|il ne faut pas|uniquement|nur nach|sólo si)\b"
)
# One of these stands in every ASCII text that has a cue: looked for first, at a twentieth of the price.
_STEMS = (
    *("must", "never", "cannot", "can't", "can not", "may ", "shall", "do not", "don'", "not allowed", "not permitted"),
    *(
        "forbidden",
        "prohibited",
        "off-limits",
        "off limits",
        "circumstances",
        "at all costs",
        "mandatory",
        "required",
        "sure",
    ),
    *(
        "always",
        "only",
        "no more",
        "at most",
        "at least",
        "no later",
        "without",
        "ask ",
        "with me",
        "with us",
        "until i",
    ),
    *("until we", "before", "avoid", "refrain", "leave ", "keep ", "strictly", "exclusively", "nothing", "nobody"),
    *("nunca", "no debe", "prohibido", "solamente", "niemals", "auf keinen", "darf nicht", "nur wenn", "verboten"),
    *("unbedingt", "jamais", "interdit", "il ne faut", "uniquement", "nur nach"),
)
_BORDER = (
    r"[,;:()\[\]–—*•]|(?<!\w)-(?!\w)|^\s*\d+[.)]|\b(?:and|but|so|then|because|that|when|if|и|а|но|чтобы|что|если|"
    r"когда|поэтому|хотя)\b"
)
_TAG = r"[,;]?\s*(?:ok|okay|right|please|alright|yes|ладно|хорошо|да|договорились|пожалуйста)\s*[?？]$"


def constraint_cue(sentence: str) -> int | None:
    """Offset of the first cue that binds the agent, None without one.

    A ban binds anywhere but in the first person; "only", "always" and their like bind in a command or an obligation;
    a question binds nobody.
    """
    if sentence.isascii() and not any(map(sentence.lower().__contains__, _STEMS)):
        return None
    if sentence.rstrip("\"') ").endswith(("?", "？")):
        tag = compiled(_TAG).search(sentence)
        if tag is None:
            return None
        sentence = sentence[: tag.start()]
    idle = compiled(f"{_IDLE_EN}|{_IDLE_RU}")
    sentence = idle.sub(lambda match: "_" * len(match.group()), sentence)
    found = [at for rule in (_strong, _english, _russian, _weak) if (at := rule(sentence)) is not None]
    other = compiled(_OTHERS).search(sentence)
    if other is not None:
        found.append(other.start())
    return min(found, default=None)


def _clause(sentence: str, at: int) -> tuple[str, str]:
    """(what stands before `at` in its clause, what of the clause follows), lower case."""
    start, end = max(0, at - REACH), min(len(sentence), at + REACH)
    for border in compiled(_BORDER).finditer(sentence, start, end):
        if border.end() <= at:
            start = border.end()
        elif border.start() > at:
            end = border.start()
            break
    return sentence[start:at].strip().lower(), sentence[at:end].strip().lower()


def _strong(sentence: str) -> int | None:
    for match in chain(compiled(_STRONG_EN).finditer(sentence), compiled(_STRONG_RU).finditer(sentence)):
        lead, rest = _clause(sentence, match.start())
        if compiled(f"{_FIRST_EN}|{_FIRST_RU}").search(lead):
            continue
        if compiled(_PAST_RU).search(f"{lead} {rest}") and not _commands(sentence):
            continue  # it is told how something was
        if match.group().lower().startswith(("ask ", "until ", "confirm", "check")) and _tells(lead):
            continue
        return match.start()
    return None


def _tells(lead: str) -> bool:
    """Whether what stands before a cue makes a statement of somebody, not a command."""
    return bool(compiled(_SELF_EN).search(lead)) and not compiled(_OBLIGED_EN).search(lead)


def _english(sentence: str) -> int | None:
    for match in compiled(_COMMAND_EN).finditer(sentence):
        if _opens(_clause(sentence, match.start())[0]):
            return match.start()
    for match in compiled(_MUST_EN).finditer(sentence):
        lead, _ = _clause(sentence, match.start())
        if not compiled(_FIRST_EN).search(lead) and not lead.endswith(("there", "they", "he", "she")):
            return match.start()
    return None


def _opens(lead: str) -> bool:
    """Whether a command can begin after this: nothing, a lead-in, an adverbial, or a modal verb."""
    words = lead.strip(" \"'*_#>`").split()
    if not words or all(word in _LEAD_IN for word in words):
        return True
    if compiled(_OBLIGED_EN).search(lead) and not compiled(r"^(?:i|we)\b(?!.*you to)").search(lead):
        return True
    if compiled(_SELF_EN).search(lead):
        return False
    return (
        words[0] in _PREPOSITIONS
        or words[0] in _IMPERATIVE_EN
        or (words[0] in _LEAD_IN and _opens(" ".join(words[1:])))
    )


def _russian(sentence: str) -> int | None:
    for match in compiled(_BAN_RU).finditer(sentence):
        lead, _ = _clause(sentence, match.start())
        if not compiled(_THIRD_RU).search(lead):
            return match.start()
    for match in compiled(_NEVER_RU).finditer(sentence):
        lead, rest = _clause(sentence, match.start())
        if compiled(_FIRST_RU).search(lead) or compiled(_PAST_RU).search(rest) or compiled(_PAST_RU).search(lead):
            continue
        if _commands(rest) or compiled(r"\b\w+(?:ть|ти|чь|ться|й|йте|ите|ь|ьте)\b").search(rest[7:]):
            return match.start()
    for match in compiled(_MUST_RU).finditer(sentence):
        lead, rest = _clause(sentence, match.start())
        told = compiled(_FIRST_RU).search(lead) or compiled(_PAST_RU).search(f"{lead} {rest}")
        vowed = compiled(r"^обязательно \w+(?:у|ю|ем|им|ём|юсь|усь)\b").search(rest)
        if not told and not vowed and not compiled(_FIRST_RU).search(rest[: len(match.group()) + 6]):
            return match.start()
    bare = compiled(_BARE_RU).search(sentence)
    return bare.start(1) if bare else None


def _weak(sentence: str) -> int | None:
    limit = compiled(_LIMIT).search(sentence)
    if limit is not None and not compiled(f"{_FIRST_EN}|{_FIRST_RU}|{_PAST_EN}|{_PAST_RU}").search(sentence):
        return limit.start()
    for match in chain(compiled(_WEAK_EN).finditer(sentence), compiled(_WEAK_RU).finditer(sentence)):
        lead, rest = _clause(sentence, match.start())
        if compiled(f"{_FIRST_EN}|{_FIRST_RU}").search(lead) and not compiled(r"\byou to\b").search(lead):
            continue
        after = rest[len(match.group()) :]
        if (
            _commands(f"{lead} {rest}")
            or (match.group().lower().startswith(("nothing", "ничего", "и ничего")) and _commands(sentence))
            or (_opens(lead) and _commands(after))
            or compiled(f"{_OBLIGED_EN}|{_OBLIGED_RU}").search(f"{lead} {rest}")
        ):
            return match.start()
    return None


def _commands(clause: str) -> bool:
    """Whether a clause is a command: it begins with a verb in its bare form, or has a Russian imperative."""
    words = clause.strip(" \"'*_#>`-").lower().split()
    while words and words[0].strip(",:") in _LEAD_IN:
        words = words[1:]
    first = words[0].strip("*_`.,:") if words else ""
    if first in _IMPERATIVE_EN or clause.lower().startswith(("make sure", "be sure")):
        return True
    return bool(compiled(_IMPERATIVE_RU).search(clause) or compiled(_INFINITIVE).search(clause))
