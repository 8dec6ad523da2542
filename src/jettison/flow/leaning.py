"""Turns that lean on what was said before: "go on", "try again", "fix it". They name nothing of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["named_things", "own_words"]

LONGEST_LEANING = 120
"""Characters of a turn that can lean on another; what is said at more length says something of its own."""

# Words of grammar, and those that say only how to go on with what is at hand.
_GRAMMAR = (
    "a an the this that these those it its them they he she him her i me my we us our you your u there here what which "
    "who where when why how and or but so then if as than of to in on at by for from with about into up down off out "
    "over back is are was were be been being am do does did done have has had will would can could should may might "
    "must let lets let's i'm i'll i've i'd it's that's you're we're we'll not no don't again once more now still just "
    "also too only already yet soon later please pls plz ok okay yes y yep yup k well right all some something "
    "any anything everything thing things one same "
    "я ты вы мы он она оно они меня тебя вас нас мне тебе вам нам его её ее их ему ей им это этого этому этим этом эта "
    "эту этой эти этих тот того том тому тем та ту те тех то всё все всего весь вся сам сама что чего чём как где "
    "когда куда зачем почему и а но или да нет не ни же ли бы б ведь ну вот так там тут здесь в во на с со к ко по за "
    "из от до у о об про для без под над при снова опять ещё еще раз разок раза уже теперь тогда потом сейчас пока "
    "просто только тоже также можно нужно надо буду будет будем если чтобы был была было были"
)
_GOING_ON = (
    "go going continue continued resume proceed carry keep try retry wait waiting start begin restart stopped left "
    "work working task job point step next way rest thanks thank return returned ready help hi hello hey listen look "
    "жду ждём ждем жди ждите подожди подождите делай делайте сделай сделайте давай давайте продолжай продолжайте "
    "продолжаем продолжим продолжить действуй действуйте работай работайте работаем попробуй попробуйте пробуй "
    "повтори повторите поехали погнали вперёд вперед вернулся вернулась вернулись готов готова готово начинай "
    "начинайте начни дальше далее следующий следующее шаг место места месте момента остановился остановились "
    "остановилась закончил закончили задача задачу задаче задачи задачей работа работу работе работы привет помоги "
    "помогите помочь можешь можете могли мог могла сможешь сможете спасибо пожалуйста слушай смотри заново "
    "weiter weitermachen mach machen bitte ja nein nochmal noch einmal los danke continue continuez continuer oui non "
    "merci encore s'il te vous plaît plait vas-y sigue sigan seguir continúa continua por favor sí si otra vez gracias "
    "adelante sim obrigado obrigada avanti prego grazie devam lütfen dalej proszę tak "
    "继续 继续吧 请继续 好 好的 嗯 是 是的 可以 行 下一步 再试一次 続けて 続けてください はい お願いします "
    "네 예 계속 계속해 계속해줘 계속해주세요 نعم استمر تابع أكمل شكرا"
)
_LEANING = frozenset(f"{_GRAMMAR} {_GOING_ON}".split())
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# A number, a path, an address, a quotation, code, a name with a capital inside.
_OWN = re.compile(r"[\d_/\\@#`\"«“<{=]|[^\W\d_]\.[^\W\d_]|[^\W\d_][A-ZА-ЯЁ]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_UNSPACED_WORD = 3
"""Characters of one word where words are not set apart: a Chinese verb has one or two, and a particle may follow."""


def named_things(sentences: Iterable[str]) -> int | None:
    """How many words of these sentences name something of their own; None where that is beyond counting."""
    found = 0
    room = LONGEST_LEANING
    for sentence in sentences:
        room -= len(sentence)
        if room < 0 or _OWN.search(sentence):
            return None
        for word in own_words(sentence):
            found += 2 if len(word) > _UNSPACED_WORD and _UNSPACED.search(word) else 1
    return found


def own_words(sentence: str) -> list[str]:
    """The words of a sentence, lower case, that are no grammar and no "go on"."""
    return [word for word in _WORD.findall(sentence.lower().replace("’", "'")) if word not in _LEANING]
