"""Russian imperatives by their form: "не пушь", "не деплой", "не шли" ban, "не знаю", "не мой", "не люди" do not.

The endings decide, not a list of verbs, so that loanwords and slang are known as well. Where an ending is a noun's or a
past tense's as often as an imperative's, its verbs are listed.
"""

from __future__ import annotations

import re

__all__ = ["is_imperative", "is_our_deed"]

# Nobody is held to "не волнуйся", and these are other parts of speech.
_OTHER_WORDS = (
    "случай май чай край урожай сарай трамвай попугай рай лай китай алтай дубай уй буй юй они одни дни огни сни три "
    "люди наши ваши уши ножи этажи гаражи багажи копи цепи связи такси любви крови брови церкви двери внутри цари "
    "звери площади лошади очереди ради среди впереди сзади позади дети сети части почти пути смерти памяти пяти шести "
    "девяти десяти нити против страсти власти хотите видите слышите помните значите боитесь стоите восемь семь степь "
    "цепь площадь очередь лошадь тетрадь ведь медь связь грязь князь мазь кровь любовь церковь обувь новь вновь бровь "
    "голубь прорубь дробь скорбь глубь ложь рожь молодежь дрожь мышь тишь чушь лишь глушь тушь роскошь брешь лебедь "
    "четверть лошадей си ни"
)
_NEVER = frozenset(_OTHER_WORDS.split())
_IDLE = ("беспоко", "волнуй", "пережива", "сомнева", "стесняй", "извиняй", "парьтесь", "парься", "обижай")
_ENDINGS = ("ай", "яй", "уй", "юй", "би", "ви", "ди", "жи", "зи", "ни", "пи", "ри", "си", "ти", "ши")
_SOFT = ("бь", "вь", "дь", "зь", "жь", "мь", "пь")
_VERBS = (
    "бей разбей убей пробей перебей лей пролей залей вылей пей выпей шей вей клей приклей жалей смей грей сей болей "
    "робей наглей тупей деплой задеплой стой пой рой отстой шли вышли удали вали завали повали свали дели раздели "
    "хвали коли пали спали стели шевели мели моли беги убеги жги сожги лги помоги береги секи пеки волоки включи "
    "подключи отключи исключи переключи выключи заключи кричи молчи учи лечи торчи получи мучи точи топчи шепчи мочи "
    "тащи вытащи ищи прощи запрещи трещи корми жми нажми томи шуми сними прими подними обними займи возьми клейми "
    "экономь позволь уволь мусоль тронь двинь сдвинь кинь скинь закинь выкинь вынь сунь засунь стань встань надень "
    "рань порань обмань глянь сыпь рассыпь насыпь топь копипасть верь проверь спорь жарь шарь порь мусорь ударь "
    "ускорь оспорь мерь парь плачь калечь дурачь морочь ешь съешь доешь трать потрать растрать порть испорть коммить "
    "закоммить чисть мучь брось бросьте трусь морщь"
)
_LISTED = frozenset(_VERBS.split())
_STEMS_IN_OJ = ("строй", "крой", "плой", "спокой", "удвой", "присвой", "усвой")


def is_imperative(word: str) -> bool:
    """Whether a word, lower case, has the form of an imperative that can be denied."""
    word = word.replace("ё", "е")
    if word.startswith(_IDLE) or word in _NEVER:
        return False
    plural = False
    if word.endswith(("йтесь", "итесь", "ьтесь")):
        word, plural = word[:-4], True
    elif word.endswith(("йте", "ите", "ьте")):
        word, plural = word[:-2], True
    elif word.endswith(("йся", "ься", "ись")):
        word = word[:-2]
    if plural and len(word) > 2:
        return True
    if word in _LISTED:
        return True
    if word in _NEVER or len(word) < 3:
        return False
    if word.endswith(("сти", "йти", "зти", "дти")):  # infinitives and nouns, but for a few
        return word.endswith(("усти", "прости", "гости"))
    if word.endswith("шь"):
        return word[-3] not in "еи"
    return word.endswith(_ENDINGS + _SOFT) or word.endswith(_STEMS_IN_OJ)


# Nobody orders to know, to be able or to manage; nouns and adjectives that end as these verbs do.
_STATES = (
    *("зна", "узна", "вид", "пон", "мож", "смож", "хот", "успе", "помн", "вспомн", "име", "получ", "спеш", "торопи"),
    *("дума", "бо", "счита", "ожида", "слыш", "наход", "найд", "встреч", "встрет", "буд", "стои", "жив", "чувств"),
    *(
        "представл",
        "располага",
        "нужда",
        "сомнева",
        "возража",
        "настаива",
        "претенд",
        "теря",
        "сдад",
        "уме",
        "влез",
        "попада",
        "впечатл",
    ),
    *("увер", "спим", "болим", "верим", "едим", "сид", "леж", "начн", "уйд", "прид", "сдела", "дойд", "про", "соглас"),
)
_PROVISO = ("провод", "прописыв", "продолжа", "продл", "прове", "прода", "пробу")
_OTHERS = (
    "всем совсем своем моем твоем нашем вашем чем зачем ничем тем кем нем днем огнем путем конем объем прием заем наем "
    "водоем подъем единым одним синим чужим общим рабочим большим меньшим лучшим худшим хорошим старшим младшим свежим "
    "похожим прошлым любым самим этим своим моим твоим нашим вашим"
)
_OTHER_FORMS = frozenset(_OTHERS.split())
_DONE = re.compile(
    r"(?:с|по|до|пере|об|за|у|от|про|вы|на|раз|под)(?:дела|дума|лома|работа|чита|игра|гада|веща)ем|(?:по|об)меняем"
)
_ADJECTIVE = re.compile(r"\w*(?:[кгх]им|[стджшхврйн]ним|[уюая]щим|вшим|[ае]йшим)")
_PREFIXED = re.compile(r"(?:по|от|за|вы|при|ис|из|до|об|раз|рас|под|пере)\w{3,}")
_GOING = re.compile(r"\w*(?:вод|нос|ход|воз|лаз|езж|став)им")


def is_our_deed(word: str) -> bool:
    """Whether a word, lower case, is a verb of what "we" do: «трогаем», «пишем», not «знаем», «успеем», «сделаем».

    What is done once is no order but a forecast («не закроем»): known by a prefix where the ending does not tell.
    """
    word = word.lower().replace("ё", "е").removesuffix("ся")
    if (
        (len(word) < 5 and not word.endswith(("ьем", "шлем")))
        or word in _OTHER_FORMS
        or (word.startswith(_STATES) and not word.startswith(_PROVISO))
    ):
        return False
    if word.endswith(("аем", "яем", "уем", "юем", "еем")):
        return _DONE.fullmatch(word) is None
    if not word.endswith(("ем", "им")) or _ADJECTIVE.fullmatch(word):
        return False
    return _PREFIXED.fullmatch(word) is None or _GOING.fullmatch(word) is not None
