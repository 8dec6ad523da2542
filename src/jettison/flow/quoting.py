"""What a text only repeats: mail that is quoted, code in a fence, the words of an error. It binds nobody."""

from __future__ import annotations

from jettison.flow.patterns import compiled

__all__ = ["repeated", "without_told_words"]

_MARKED = r"(?m)^[ \t]*(?:(?P<fence>```+|~~~+)(?P<info>[^\n`]*)|>[^\n]*)$"
# "> **Important:** never ..." and "> [!WARNING]" are how instructions stress a rule, not mail.
_CALLOUT = r"\s*>\s*(?:\[!|\*\*|__|⚠|❗|(?:note|important|warning|caution|rule|attention|важно|внимание|правило)\b)"
_QUOTE = (
    r"\"[^\"\n]{1,300}\"|«[^»\n]{1,300}»|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|"
    r"(?<!\w)'[^'\n]{1,300}'(?!\w)"
)
_CODE = r"(?<!`)`[^`\n]{1,300}`(?!`)"
# Who says what is not an order: programs and what they print, and texts that are to be worked on.
_TELLERS = (
    r"\b(?:errors?|exceptions?|warnings?|logs?|traceback|compiler|linter|validator|console|messages?|output|form|"
    r"screen|fail(?:s|ed|ing)?|crash\w*|complain\w*|prints?|throws?|raises?|shows?|displays?|translate|proofread|"
    r"paraphrase|ошибк\w+|лог\w{0,3}|исключени\w+|предупреждени\w+|компилятор\w*|линтер\w*|валидатор\w*|консол\w+|"
    r"сообщени\w+|форма|экран\w*|пада\w+|упал\w*|руга\w+|пиш[еу]т|написано|выда[её]т|показыва\w+|переведи\w*|"
    r"переводи\w*)\b"
)
_REACH = 80
"""Characters before a quotation in which somebody is named who says it."""


def repeated(text: str) -> list[tuple[int, int]]:
    """(start, end) of quoted lines and of closed fences with code, in order; a fence left open hides nothing."""
    if "\n>" not in text and not text.startswith(">") and "```" not in text and "~~~" not in text:
        return []
    spans: list[tuple[int, int]] = []
    fence, opened = "", 0
    last, called = -2, False
    for match in compiled(_MARKED).finditer(text):
        mark, start, end = match["fence"], match.start(), match.end()
        if not mark:
            if start != last + 1:
                called = compiled(_CALLOUT).match(text, start, end) is not None
            last = end
            if not called:
                spans.append((start, end))
        elif not fence:
            fence, opened = mark, start
        elif mark.startswith(fence) and not match["info"].strip():
            spans = [span for span in spans if span[0] < opened] if spans and spans[-1][0] > opened else spans
            spans.append((opened, end))
            fence = ""
    return spans


def without_told_words(sentence: str) -> str:
    """The sentence, as long as before, with filler where it shows code or repeats what a program says."""
    if "`" in sentence:
        sentence = compiled(_CODE).sub(lambda match: "x" * len(match.group()), sentence)
    if not any(mark in sentence for mark in "\"'«“„"):
        return sentence
    tellers, out = compiled(_TELLERS), sentence
    for match in compiled(_QUOTE).finditer(sentence):
        start, end = match.span()
        if tellers.search(sentence, max(0, start - _REACH), start):
            out = f"{out[:start]}{'_' * (end - start)}{out[end:]}"
    return out
