"""What a format is, and what reading a file gives: histories, and rows that could not be read, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from jettison.replay.readers import Recorded

__all__ = ["Format", "Row", "Rows", "Skipped", "opened", "text_in", "without_nulls"]

Row = dict[str, Any]
Rows = Iterable[tuple[int, Row]]
"""(number from 1, row) pairs."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row, or a file, that holds no history: where, and why in one line."""

    where: str
    why: str

    def __str__(self) -> str:
        """One line; errors that name the file themselves name it once."""
        return self.why if self.why.startswith(self.where) else f"{self.where}: {self.why}"


class Format(Protocol):
    """One module a format."""

    def claims(self, row: Row) -> bool:
        """Whether the first row of a file says that the file is of this format."""
        ...

    def histories(self, rows: Rows, name: str) -> Iterator[Recorded | Skipped]:
        """Everything in the file; never raises for a bad row."""
        ...


class Named(NamedTuple):
    """A format with the name it is shown by."""

    name: str
    format: Format
    single: bool = False
    """A file is one history."""


def opened(value: Any) -> Any:
    """A value that was stored as JSON text, opened; anything else as it is."""
    from jettison.replay.readers import embedded

    return embedded(value)


def without_nulls(value: Any) -> Any:
    """A value from a table, without the empty fields that its schema put there."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def text_in(content: Any) -> str:
    """The text of a content field: a string, blocks with `text` or `content`, or anything else as JSON."""
    import json

    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        texts = []
        for block in content:
            inner = block.get("text", block.get("content")) if isinstance(block, dict) else block
            if isinstance(inner, str):
                texts.append(inner)
        if texts or not content:
            return "\n".join(texts)
    return json.dumps(content, ensure_ascii=False, default=str)
