"""Cues of other languages than English and Russian: the words that ban or bind in any sentence, and bare orders."""

from __future__ import annotations

from jettison.flow.patterns import compiled

__all__ = ["cue_of_others"]

_FAR_EAST = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_FAR_EASTERN = (
    r"不要|请勿|请不|禁止|必须|不得|不许|不准|不可以|只能|务必|切勿|一定要|ないでください|しないで|てはいけ|必ず|だけに|"
    r"하지 ?마|지 ?마세요|지 ?마십시오|금지|반드시|"
    r"(?:^|[，。；：、\s请])只(?:修改|改动?|用(?!了)|使用|读取?|编辑|更新|提交|动(?!了)|看(?!了))|"
    r"(?:^|[，。；：、\s请])别(?:动|改|删|碰|推|提交|发|再)|のみ(?:を)?(?:変更|編集|修正|使用|更新)|"
    r"만 ?(?:수정|변경|편집|사용|업데이트)(?:하|해)"
)
_ORDERS_DE = (
    "fass|rühr|lösch|änder|verschieb|schick|send|sag|nimm|mach|geh|push|deploy|committ|merg|überschreib|entfern|ruf|kauf|"
    "bestell|buch|stornier|benutz|verwend|nutz|installier|schreib|gib|lass|veröffentlich"
)
_WESTERN = (
    r"\b(?:nunca|no debes?|prohibido|solamente|niemals|auf keinen fall|darf nicht|nur wenn|verboten|unbedingt|jamais|"
    r"interdit|il ne faut pas|uniquement|nur nach|sólo si)\b|"
    # An order: German infinitives, French and Romance imperatives with nobody named before them.
    r"\bbitte (?:[^\s.;!?]+ ){0,4}?(?:nicht|nichts|keine?[nmrs]?)\b|"
    rf"^\W*(?:(?:und|aber|also|dann) )?(?:{_ORDERS_DE})(?:e|t|et|en sie)? (?:[^.;!?]{{0,60}} )?"
    r"(?:nicht|nichts|niemandem|keine?[nmrs]?)\b|"
    r"^\W*(?:de[nrm]|die|das|an) (?![^.;!?]*\b(?:ich|wir|er|man|kann|können|konnten?|wollen|will|wird|werden|würden?|"
    r"lässt|scheint|mag|möchte|darf|lassen)\b)[^.;!?]{1,60} nicht \w+(?:en|ern|eln)(?=\W*$)|"
    r"^\W*nur (?:in|auf|mit|über|an|unter|bei|die|das|den) [^.;!?]{1,60}?\w+(?:en|ern|eln)(?=\W*$)|"
    r"^\W*keine?[nmrs]? (?!ahnung|problem|sorge|frage|idee|zeit|chance|lust|fehler|änderung)[^.;!?]{1,60}(?=[.!]?$)|"
    r"^\W*(?:s'il (?:te|vous) pla[iî]t,? )?n(?:e |')\w{3,}(?:e|ez|s) (?:pas|rien|aucun|jamais|plus)\b|"
    r"^\W*(?:por favor,? )?no (?!es\b|estas\b|estás\b|has\b|tienes\b|puedes\b|eres\b|sabes\b|quieres\b|haces\b|crees\b|"
    r"entiendes\b|debes\b)\w{2,}(?:es|as|éis|áis|en|an) "
    r"(?:el|la|los|las|nada|ning[uú]n\w*|al|una?|mi|mis|est[aeo]s?|eso)\b|"
    r"^\W*(?:por favor,? )?n[ãa]o (?:apagu|envi|alter|mex|toqu|exclu|publi|modifi|delet|us|fa[çc]|mud|remov)\w+|"
    r"^\W*(?:per favore,? )?non \w{3,}(?:are|ere|ire)\b"
)
_STEMS = (
    *("nunca", "no debe", "prohibido", "solamente", "niemals", "auf keinen", "darf nicht", "nur wenn", "verboten"),
    *("unbedingt", "jamais", "interdit", "il ne faut", "uniquement", "nur nach", "sólo si", "bitte ", "nur "),
    *("kein", "nicht"),
    *("ne ", "n'", "no ", "não ", "nao ", "non "),
)
# A ban at the beginning: «الصفحة لا تعمل» says how it is.
_ARABIC = r"^\W*(?:من فضلك\W*|رجاءً?\W*|أرجوك\W*|يرجى\W*)?(?:لا ت\w+|ممنوع|يجب|لا يجوز|عدم )"


def cue_of_others(sentence: str, lower: str) -> int | None:
    """Offset of the first cue of these languages. `lower`: the sentence in lower case."""
    found = compiled(_WESTERN).search(sentence) if any(map(lower.__contains__, _STEMS)) else None
    if found is None and not sentence.isascii():
        if compiled(_FAR_EAST).search(sentence):
            found = compiled(_FAR_EASTERN).search(sentence)
        elif compiled("[\u0600-\u06ff]").search(sentence):
            found = compiled(_ARABIC).search(sentence)
    return found.start() if found else None
