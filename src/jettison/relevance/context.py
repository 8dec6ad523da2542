"""What the rules look things up in: made once for all items of a call, in one pass over them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable
from functools import lru_cache
from sys import intern
from zlib import crc32

from jettison.flow.dependencies import Flow
from jettison.flow.needs import declared_arguments
from jettison.items import Item, Kind, Unit
from jettison.plan import View

__all__ = ["Context", "keys_of", "numbers_of", "words_of"]

SAMPLE = 4_000
"""Characters of an item that are compared with the task: its first and last half of that. Enough to see what it
is about; overlap alone has an AUC of .45–.63 (algorithm.md), so more of it is not worth its time."""
CHOICES = 3
"""Records from which on a result is a list to choose from."""

_WORD = re.compile(r"[^\W_]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
_KEY = re.compile(r'"([\w.-]{2,40})"\s*:')
_PATH = re.compile(r'"(?:path|file_path|filename|file|filepath|uri|url|notebook_path)"\s*:\s*"([^"]+)"')
_WRITES = re.compile(r"write|edit|replace|patch|update|create|insert|delete|move|append|push", re.IGNORECASE)
_WRITE_COMMAND = re.compile(r'"command"\s*:\s*"(?:create|str_replace|insert|undo_edit|write)"')
_FAILED = re.compile(r"^\W*(?:error|traceback|exception|failed|failure|fatal|ошибка|не удалось)\b", re.IGNORECASE)


def words_of(text: str) -> frozenset[str]:
    """Words of a text, cut to six letters: a crude stem that serves English and Russian endings alike."""
    sample = text if len(text) <= SAMPLE else text[: SAMPLE // 2] + text[-SAMPLE // 2 :]
    return frozenset(word[:6] for word in _WORD.findall(sample.lower()))


@lru_cache(maxsize=8_192)
def numbers_of(text: str) -> array[int]:
    """The words of a text as 32-bit numbers. All that overlap asks for, in four bytes a word: as sets of strings they
    took three times the memory of the messages themselves."""
    return array("I", sorted(set(map(crc32, map(str.encode, words_of(text))))))


@lru_cache(maxsize=8_192)
def keys_of(text: str) -> frozenset[str]:
    """Keys of a JSON text (of its beginning), lower case."""
    return frozenset(intern(key.lower()) for key in _KEY.findall(text[:SAMPLE])) if text[:1] in "{[" else frozenset()


class Context:
    """Lookups over one view: words of the task, argument names, uses, and which results were overtaken."""

    def __init__(self, view: View, flow: Flow, asked: Collection[int] | None = None) -> None:
        """`asked`: numbers of the units to look at; None: all."""
        goals = [span.text for span in view.task.goals]
        if view.task.declared_goal:
            goals.append(view.task.declared_goal)
        self.goal: frozenset[int] = frozenset().union(*map(numbers_of, goals))
        """Words of the goal, as numbers."""
        latest = [item.text for unit in view.units[-2:] for item in unit.items if item.kind is not Kind.INSTRUCTION]
        self.latest: frozenset[int] = frozenset().union(*map(numbers_of, latest))
        self._task = self.goal | self.latest
        self._shared: tuple[str, frozenset[int]] = "", frozenset()
        declared = [declared_arguments(schema) for _, schema in view.tools]
        self.needed = frozenset(map(str.lower, flow.arguments.union(view.policies.needed(), *declared)))
        """Kinds of values that some call needs: names of arguments seen or declared."""
        users = {edge.consumer for edge in flow.edges}
        steps = {item.id: item.step for item in view.items if item.id in users} if users else {}
        self.last_use: dict[str, int] = {edge.producer: steps.get(edge.consumer, 0) for edge in flow.edges}
        """By producer: step of the newest call that used a value of it."""
        self.superseded: set[str] = set()
        """Results that the same call gave anew, or of files that were written since."""
        self.resolved: set[str] = set()
        """Errors after which the same tool succeeded on the same target."""
        self._overtaken([unit for unit in view.units if asked is None or unit.index in asked])

    def shared(self, text: str) -> frozenset[int]:
        """Words that a text has in common with the goal or the latest turns, as numbers; looked up once for both."""
        if self._shared[0] is not text:
            self._shared = text, self._task.intersection(numbers_of(text))
        return self._shared[1]

    def _overtaken(self, units: Iterable[Unit]) -> None:
        same: dict[tuple[str, str], str] = {}
        read: dict[str, list[str]] = {}
        failed: dict[tuple[str, str], list[str]] = {}
        for unit in units:
            calls = {item.call_id: item for item in unit.items if item.kind is Kind.CALL}
            for item in unit.items:
                call = calls.get(item.call_id) if item.kind is Kind.RESULT else None
                if call is None:
                    continue
                name, key = call.name or "", (call.name or "", call.text)
                if key in same:
                    self.superseded.add(same[key])
                same[key] = item.id
                path = target(call.text)
                if is_failure(item):
                    failed.setdefault((name, path), []).append(item.id)
                    continue
                self.resolved.update(failed.pop((name, path), ()))
                if path and (_writes(name) or ('"command"' in call.text and _WRITE_COMMAND.search(call.text))):
                    self.superseded.update(read.pop(path, ()))
                elif path:
                    read.setdefault(path, []).append(item.id)


@lru_cache(maxsize=2_048)
def _writes(tool: str) -> bool:
    return _WRITES.search(tool) is not None


@lru_cache(maxsize=8_192)
def target(arguments: str) -> str:
    """The file or address that a call is about, empty where it names none."""
    match = _PATH.search(arguments[:2_000])
    return match.group(1) if match else ""


def is_failure(item: Item) -> bool:
    """Whether a result is an error, by its flag or its first word."""
    return item.is_error or _FAILED.match(item.text[:40]) is not None
