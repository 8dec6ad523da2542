"""Prompts that a program writes as one JSON object: what its fields ask for and forbid was said, the rest is data."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["fields"]

LONGEST = 20_000
"""Characters of an object that is read as a prompt; what is longer is a document."""
_TEXT = r'"(?:[^"\\]|\\.)*+"'
_FIELD = re.compile(
    r'"(?:task|goal|objective|request|query|question|prompt|instructions?|constraints?|rules?|requirements?|guidelines?|'
    r"restrictions?|policy|policies|never|must(?:_not)?|do_not|задача|цель|запрос|вопрос|инструкци[яи]|ограничени[ея]|"
    r'правил[ао]|требовани[ея]|запреты?)"'
    rf"\s*:\s*(?P<value>{_TEXT}|\[\s*(?:{_TEXT}\s*,?\s*)*+\])",
    re.IGNORECASE,
)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"')


def fields(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of the texts in such fields of a JSON object on one line; of other texts none."""
    if len(text) > LONGEST or not text.lstrip().startswith("{") or "\n" in text.strip():
        return
    for field in _FIELD.finditer(text):
        for string in _STRING.finditer(text, *field.span("value")):
            if string[1].strip():
                yield string.span(1)
