"""The prose set: histories in which a later step depends on something said in prose, long ago, among distractors."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from bench import prose_cross, prose_en, prose_ru
from bench.traces import Message, tokens

__all__ = ["History", "histories"]

TURNS = 22
"""Distractors: about 2,500 tokens."""
RIVALS = 5
"""Of them, things said in other cases, at the same kind of place: form alone does not lead to what is needed."""
SYSTEM = {"en": "You are an assistant with tools.", "ru": "Ты помощник с инструментами."}
TOOLS = ("open_document", "search_folder", "read_page")


@dataclass(frozen=True)
class History:
    """One labelled history."""

    id: str
    language: str
    kind: str
    """`rule`, `decision` or `fact`."""
    place: str
    """`user`, `assistant` or `tool`: who said it."""
    messages: list[Message]
    needed: str
    """What has to survive, to the letter."""
    at: int
    """Index of the message that holds it."""

    @property
    def head(self) -> int:
        """Messages before the first assistant turn."""
        return next(at for at, message in enumerate(self.messages) if message["role"] == "assistant")

    def budget(self, fraction: float) -> int:
        """Tokens: the head and a share of the rest, as in the recorded sets."""
        sizes = [tokens(message) for message in self.messages]
        return sum(sizes[: self.head]) + int(fraction * sum(sizes[self.head :])) + 3


def histories(which: str = "prose") -> list[History]:
    """`prose`: 30 English and 30 Russian ones. `cross`: 20 whose needed passage is in the other language."""
    if which == "cross":
        return [
            _made(f"cross-{at}", "ru" if at < len(prose_cross.CASES) // 2 else "en", case)
            for at, case in enumerate(prose_cross.CASES)
        ]
    english = [_made(f"en-{at}", "en", case) for at, case in enumerate(prose_en.CASES)]
    return english + [_made(f"ru-{at}", "ru", case) for at, case in enumerate(prose_ru.CASES)]


def _made(name: str, language: str, case: Sequence[str]) -> History:
    kind, place, goal, said, asked = case
    draw = random.Random(zlib.crc32(name.encode()))
    words = prose_ru if language == "ru" else prose_en
    messages: list[Message] = [{"role": "system", "content": SYSTEM[language]}, {"role": "user", "content": goal}]
    messages += _step(words, draw)
    at = len(messages) + (1 if place == "tool" else 0)
    messages += _said(place, said, words, draw)
    # In a history of another language the rivals are in that language too.
    pool = prose_cross.CASES if name.startswith("cross") else words.CASES
    others = [other for other in pool if other[3] != said and other[2] != goal]
    rivals = draw.sample(others, RIVALS)
    rest = [_said(other[1], other[3], words, draw) for other in rivals]
    rest += [_distractor(words, draw) for _ in range(TURNS - RIVALS)]
    draw.shuffle(rest)
    for part in rest:
        messages += part
    messages.append({"role": "user", "content": asked})
    return History(name, language, kind, place, messages, said, at)


def _said(place: str, text: str, words: ModuleType, draw: random.Random) -> list[Message]:
    """One thing said: by the user, by the assistant, or inside a document that a tool returned."""
    if place == "user":
        return [{"role": "user", "content": text}, *_step(words, draw)]
    if place == "assistant":
        return [{"role": "assistant", "content": f"{text} {draw.choice(words.STEPS).split('. ')[0]}."}]
    docs = draw.sample(words.DOCS, 4)
    docs.insert(draw.randrange(5), text)
    return _called("\n".join(docs), draw)


def _distractor(words: ModuleType, draw: random.Random) -> list[Message]:
    kind = draw.random()
    if kind < 0.25:
        return [{"role": "user", "content": draw.choice(words.CHAT)}, *_step(words, draw)]
    if kind < 0.45:
        return _step(words, draw)
    if kind < 0.7:
        return _called("\n".join(draw.sample(words.DOCS, 3)), draw)
    rows = [
        {
            "id": f"R-{draw.randrange(1000, 9999)}",
            "title": draw.choice(words.DOCS).split(". ")[0],
            "pages": draw.randrange(2, 60),
        }
        for _ in range(5)
    ]
    return _called(json.dumps(rows, ensure_ascii=False), draw)


def _step(words: ModuleType, draw: random.Random) -> list[Message]:
    return [{"role": "assistant", "content": draw.choice(words.STEPS)}]


def _called(result: str, draw: random.Random) -> list[Message]:
    name, call = draw.choice(TOOLS), f"call_{draw.randrange(1 << 30):08x}"
    arguments = json.dumps({"page": draw.randrange(1, 400)})
    asked: dict[str, Any] = {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": call, "content": result},
    ]
