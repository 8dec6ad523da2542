"""What a text only repeats: mail, documents, results of tools, code, the words of an error. It binds nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jettison.flow.patterns import compiled

__all__ = ["asides", "maybe_printed", "printed", "repeated", "without_told_words"]

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
# A text that hosts hand over as the user's is a tool's result from here on.
_RESULT = (
    r"\s*(?:observation\s*:|наблюдение\s*:|\[[\w.-]+(?: for '[^'\n]{0,200}')?\] result\s*:|"
    r"(?:tool|function|execution|command) (?:results?|output|response)\b[^\n:]{0,80}:)"
)
# Tags around what is to be worked on; never those around orders, as <rules> or <task>.
_TAG = (
    r"<(?P<close>/?)(?P<tag>(?:tool|function|search|command|api)[_-]?(?:results?|response|output)|documents?|"
    r"document_contents?|files?|file_contents?|e-?mail|letter|article|transcript|web_?page|page|attachment|observation|"
    r"stdout|stderr|output|logs?|diff|code|quote|excerpt|passage|snippet)\b[^<>\n]{0,200}>"
)
# Tags around what a host puts into the user's messages of its own accord: reminders, what is open, where it runs.
_ASIDE = (
    r"<(?P<close>/?)(?P<tag>system[_-]?reminder|reminder(?:_?instructions)?|environment(?:_\w{1,30})?|user_info|"
    r"additional_data|project_layout|open_and_recently_viewed_files|open_files|workspace_info|editor_?context|"
    r"ide_\w{1,40}|command-(?:name|message|args)|local-command-\w{1,20}|runtime_information|turn_aborted)"
    r"\b[^<>\n]{0,200}>"
)
_TRIPLE = r"(?:(?<=\n)|(?<=[:\s])|^)(?P<open>\"\"\"|\'\'\')|(?P<shut>\"\"\"|\'\'\')"
_HEADER = (
    r"(?m)^[ \t]*(?:(?P<from>from|sender|от|отправитель|von|de)|(?P<subject>subject|тема|betreff|objet|asunto)|to|cc|"
    r"date|sent|reply-to|кому|дата|копия|an|datum|gesendet)[ \t]*:[^\n]*$"
)
_RULER = r"(?m)^[ \t]*(?:-{3,}|={3,}|_{3,}|\*{3,})[ \t]*$"
# What a program prints, by the beginning of the line; "Warning:" is a person's word as well, `maybe_printed`.
_PRINTED = re.compile(
    r"^\s*(?:E\s+|[Uu]ncaught |[Cc]aused by: |npm |pnpm |yarn |[\w./\\-]+:\d+(?::\d+)?:\s*)*"
    r"(?:(?:[a-z]\w*[.$])*[A-Z]\w*(?:Error|Exception|Warning|Fault)(?:\s*\(\w*\)|\s*\[\w+\])?\s*:|"
    r"(?i:error|fatal|panic|exception|ошибка|исключение|сбой)(?:\s*\[\w+\]|\s+[A-Z]{1,4}\d+)?\s*:|"
    r"(?<=npm )(?:WARN|ERR!)|(?<=yarn )warn|\[?(?:WARN|ERROR|INFO|DEBUG|FATAL|TRACE|NOTICE)(?:\]|:|\s{2,}|\s\[)|"
    r"(?:HTTP(?:/\d(?:\.\d)?)?|[Ss]tatus(?: code)?)[ :]*[1-5]\d\d\b|(?:Access|Permission) denied\b|"
    r"//|/\*|<!--|assert\s[^,\n]{1,200},\s*f?[\"']|raise\s+\w+\(|throw\s+new\s|"
    r"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP) \S+ (?:FROM|SET|VALUES|TABLE|ADD|ON|WHERE)\b|"
    r"panicked at|thread '|goroutine \d)"
)
_MAYBE_PRINTED = re.compile(r"^\s*(?:(?i:warning|warn|note|hint|help|caution|предупреждение)\s*:|#|--\s|;)")
_REACH = 80
"""Characters before a quotation in which somebody is named who says it."""


def repeated(text: str) -> list[tuple[int, int]]:
    """(start, end) of what is quoted, by start: mail, documents and results in tags, closed fences and triple quotes.

    A fence, a tag or a triple quote that is left open hides nothing.
    """
    handed = compiled(_RESULT).match(text)
    if handed is not None:
        return [(handed.start(), len(text))]
    spans = _marked(text)
    if "</" in text:
        spans += _tagged(text)
    if '"""' in text or "'''" in text:
        spans += _tripled(text)
    if ":" in text:
        spans += _mailed(text)
    return sorted(spans)


def printed(line: str) -> bool:
    """Whether a line is what a program prints, or code and its comments."""
    return _PRINTED.match(line) is not None


def maybe_printed(line: str) -> bool:
    """Whether a line is that beside other lines of the kind; alone "Warning: ..." and "# ..." stress a rule."""
    return _MAYBE_PRINTED.match(line) is not None


def asides(text: str) -> list[tuple[int, int]]:
    """(start, end) of what a host put beside the user's words, in its own tags: it may bind, and asks for nothing."""
    return list(_tagged(text, _ASIDE)) if "</" in text else []


def _tagged(text: str, tags: str = _TAG) -> Iterator[tuple[int, int]]:
    tag, opened = "", 0
    for match in compiled(tags).finditer(text):
        name = match["tag"].lower()
        if not tag and not match["close"]:
            tag, opened = name, match.start()
        elif name == tag and match["close"]:
            yield opened, match.end()
            tag = ""


def _tripled(text: str) -> Iterator[tuple[int, int]]:
    mark, opened = "", 0
    for match in compiled(_TRIPLE).finditer(text):
        if not mark and match["open"]:
            mark, opened = match["open"], match.start()
        elif match.group() == mark:
            yield opened, match.end()
            mark = ""


def _mailed(text: str) -> Iterator[tuple[int, int]]:
    """A mail with its headers, up to a ruler or the end. A sender alone does not make one: trips have "From:" too."""
    first, last, until, sender, subject = 0, -2, 0, False, False
    for match in compiled(_HEADER).finditer(text):
        if match.start() < until:
            continue
        if match.start() != last + 1:
            first, sender, subject = match.start(), False, False
        last = match.end()
        sender = sender or match["from"] is not None
        subject = subject or match["subject"] is not None or (match["from"] is not None and "@" in match.group())
        if sender and subject and match.start() > first:
            ruler = compiled(_RULER).search(text, last)
            until = ruler.start() if ruler else len(text)
            yield first, until


def _marked(text: str) -> list[tuple[int, int]]:
    """(start, end) of lines quoted with `>` and of closed fences with code, in order."""
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
            while spans and spans[-1][0] > opened:
                spans.pop()
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
