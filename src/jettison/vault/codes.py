"""One-time codes, PINs, recovery codes and seed phrases, told in English and Russian."""

from __future__ import annotations

import re

from jettison.vault.spans import Span

__all__ = ["code_entered", "code_told", "phrase_told"]

_NOUN = re.compile(
    r"(?:passcode|codes?|pin(?:[ -]?code)?|otp|cvv2?|cvc|puk|password|код(?:а|ом|ы)?|пин(?:-?код)?(?:а|ом)?|пук|"
    r"парол(?:ь|я|ем)|"
    r"authenticator)(?![\w=(\[]|\.\w)",
    re.IGNORECASE,
)
# With such a word beside it a code is one that lets somebody in.
_SURE = re.compile(
    r"\b(?:one[ -]?time|verif\w+|security|sms|text(?:ed)?|log[ -]?in|sign[ -]?in|auth\w*|access|2fa|mfa|otp|"
    r"two[ -]factor|"
    r"backup|recovery|confirm\w*|expire[sd]?|door|gate|safe|alarm|lock|unlock|entry|bank|card|phone|sim|valid|"
    r"don'?t share|"
    r"never share|meeting|"
    r"одноразов\w*|проверочн\w*|секретн\w*|смс|sms|письма|приложени\w*|подтвержд\w*|доступа|безопасности|авторизаци\w*|"
    r"вход\w*|вводи\w*|введи\w*|банк\w*|действ\w*|приш[её]л|received|получил\w*|домофон\w*|сейф\w*|замк\w*|"
    r"двер\w*|карт\w*|телефон\w*|сим\w*|"
    r"your \w{0,15} ?code is|ваш\w* \w{0,15} ?код|никому|сообщайте|сигнализаци\w*|подъезд\w*|кабинет\w*)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:error|exit|status|zip|postal|post|country|area|dial\w*|order|product|promo|discount|coupon|source|"
    r"response|return|"
    r"reply|http|qr|bar|currency|item|booking|confirmation|color|language|lang|airport|reason|tracking|gene|charge|"
    r"failed|failure|"
    r"ошибк\w*|товар\w*|заказ\w*|город\w*|страны|валют\w*|ответа|регион\w*|почтов\w*|индекс|скидк\w*|промо\w*|"
    r"артикул\w*|возврата|"
    r"бронирован\w*|вкладк\w*|завершения)\W*(?:code|код\w*)?\W*\Z",
    re.IGNORECASE,
)
_OTHER_AFTER = re.compile(
    r"\s{1,3}(?:ошибки|товара|заказа|города|страны|валюты|ответа|региона|возврата|of the (?:error|order|item)|"
    r"block|review|"
    r"path|point|base|style|size|length|coverage)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.,:/$€£#+-])(?:\d{4,8}|\d{3}[ -]\d{3}|\d{2}[ -]\d{2}[ -]\d{2}|\d{4}[ -]\d{4})(?![\w%]|[.,:/-]\d|"
    r"\s?(?:USD|EUR|руб|ms|px|KB|MB))"
)
_DIGITS = re.compile(r"\d\d[\d -]\d|[A-Z]\d|\d[A-Z]")
_MIXED = re.compile(r"(?<![\w-])(?=[A-Z-]*\d)[A-Z0-9]{4,5}-[A-Z0-9]{4,5}(?![\w-])")
_THEN = re.compile(r"[\"'`»*]{0,2}\s{1,3}(?:is|as|was|—|–|-|это|как)\s|[\"'`»*]{0,2}\s{0,2}[—–-]\s", re.IGNORECASE)
_USED = re.compile(r"\b(?:use|enter|with|type|gave|введи\w*)\s{1,3}[\"'`«*]{0,2}\Z", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_ALWAYS = re.compile(r"pin|otp|cvv|cvc|puk|passcode|пин|пук", re.IGNORECASE)
_OF_PASSWORD = re.compile(
    r"(?:\s{1,2}(?:из|по|для|from|by|via|in|for)\s{1,2}\w{2,20}){0,2}\s{0,3}(?:[:=—–-]|is|was)?\s{0,3}[\"'`«*]{0,2}",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[:=—–-]\s{0,3}[\"'`«*]{0,2}\Z")
_LINKED = re.compile(
    r"(?:\s{0,3}(?::|=|—|–|-)|\s{1,3}(?:is|was|это|такой))?\s{1,3}[\"'`«*]{0,2}\Z|[:=—–-]\s{0,3}[\"'`«*]{0,2}\Z",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"\n|[.!?;](?=\s)")


def code_told(text: str, low: bytes, at: int) -> Span | None:
    """The code that lets somebody in, if the noun at this place speaks of one."""
    if _DIGITS.search(text, max(0, at - 50), at + 80) is None:
        return None
    if at and (text[at - 1].isalnum() or text[at - 1] in "_.$/<{[\"'-"):
        return None
    noun = _NOUN.match(text, at)
    if noun is None:
        return None
    end, word = noun.end(), noun.group().lower()
    numbers = _near(text, at, end)
    if numbers is None or _OTHER_AFTER.match(text, end) or _OTHER.search(text, max(0, at - 24), at):
        return None
    start, stop = numbers
    sure = _SURE.search(text, max(0, at - 60), min(len(text), max(end, stop) + 60)) is not None
    after = start > end
    linked = after and (_LINKED.fullmatch(text, end, start) or _ENDS.search(text, end, start)) is not None
    if word.startswith(("пароль", "парол", "password")) and not (
        sure and linked and _OF_PASSWORD.fullmatch(text, end, start)
    ):
        return None
    if not (sure or (linked and _ALWAYS.match(word))):
        return None
    value = text[start:stop]
    if _YEAR.fullmatch(value) and not (linked and _ALWAYS.match(word)):
        return None
    return Span(start, stop, "one-time-code")


def _near(text: str, at: int, end: int) -> tuple[int, int] | None:
    """The number of the sentence that is nearest to the noun, after it or before it."""
    cut = _SENTENCE.search(text, end, end + 60)
    stop = cut.start() if cut is not None else min(len(text), end + 60)
    found = _NUMBER.search(text, end, min(len(text), stop + 1)) or _MIXED.search(text, end, stop)
    if found is not None:
        return found.span()
    least = max(0, at - 50)
    begin = max(text.rfind("\n", least, at), text.rfind(". ", least, at) + 1, least)
    last = None
    for found in _NUMBER.finditer(text, begin, at):
        if _THEN.match(text, found.end()) or _USED.search(text, max(0, found.start() - 16), found.start()):
            last = found.span()
    if last is None and text[max(0, begin) : at].find("G-") >= 0:
        google = re.compile(r"\bG-(\d{5,8})\b").search(text, begin, at)
        last = google.span(1) if google is not None else None
    return last


_ENTER = re.compile(
    r"\b(?:enter|use|type|введите|введи|укажите)\s{1,3}[\"'`«*]{0,2}(?P<value>\d{4,8}|"
    r"\d{3}[ -]\d{3})[\"'`»*]{0,2}[^.\n\d]{1,24}\Z",
    re.IGNORECASE,
)


def code_entered(text: str, low: bytes, at: int) -> Span | None:
    """`Enter 482913 to confirm your sign-in`: the word at this place says what for."""
    found = _ENTER.search(text, max(0, at - 50), at)
    return None if found is None else Span(found.start("value"), found.end("value"), "one-time-code")


_PHRASE = re.compile(
    r"[^\n:=—–]{0,30}?(?:\b(?:is|are)\b|[:=—–-])\s{0,3}[\"'«`\[]?\s{0,2}(?P<value>"
    r"(?:[a-zа-яё]{3,9}[ ,]{1,3}){11,23}[a-zа-яё]{3,9})\b",
    re.IGNORECASE,
)
_CODES = re.compile(
    r"[^\n:=]{0,30}?(?:\b(?:is|are)\b|[:=—–-])\s{0,6}[\"'«`\[]{0,3}(?P<value>[a-z0-9]{4,10}(?:-[a-z0-9]{4,10}){0,3}"
    r"(?:[\"']?[ ,;\n]{1,4}[\"']?(?:[-*]\s|\d\d?[.)]\s)?(?=[a-z-]*\d)[a-z0-9]{4,10}"
    r"(?:-[a-z0-9]{4,10}){0,3}){1,15})(?![\w-])",
    re.IGNORECASE,
)


def phrase_told(text: str, low: bytes, at: int) -> Span | None:
    """A seed phrase, or a list of recovery codes."""
    if at and (text[at - 1].isalnum() or text[at - 1] in "_./"):
        return None
    head = text[at : at + 24].lower()
    if head.startswith(
        (
            "seed",
            "mnemonic",
            "сид",
            "мнемони",
            "recovery phrase",
            "backup phrase",
            "recover",
            "wallet",
            "кошел",
            "резервная фраза",
        )
    ):
        found = _PHRASE.match(text, at)
        if found is not None:
            return Span(found.start("value"), found.end("value"), "seed-phrase")
    if head.startswith(("recovery", "backup", "резервн")) and ("code" in head or "код" in head):
        found = _CODES.match(text, at)
        if found is not None and any(map(str.isdigit, found.group("value"))):
            return Span(found.start("value"), found.end("value"), "recovery-codes")
    return None
