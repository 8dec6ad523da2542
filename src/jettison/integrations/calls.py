"""Ids for calls, where a framework leaves them out or gives one to several calls of a turn: the wires refuse both.

They are for deciding alone; what is sent keeps the ids that it has.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BLANK", "CallIds"]

BLANK = " "
"""Stands for text that is empty: frameworks keep it, and wires refuse it."""


class CallIds:
    """Go through a history in order: `calls` for each turn of the model, `answer` for each result."""

    def __init__(self) -> None:
        self._turn = 0
        self._open: list[tuple[str, str, str]] = []

    def calls(self, named: Sequence[tuple[str | None, str]]) -> list[str]:
        """An id for each call of a turn, by (its own id, its tool): its own, where that is one."""
        self._turn += 1
        given: list[str] = []
        for own, _ in named:
            given.append(own if own and own not in given else f"call_{self._turn}_{len(given)}")
        self._open = [(own or "", name, ident) for (own, name), ident in zip(named, given, strict=True)]
        return given

    def answer(self, own: str | None, name: str = "") -> str:
        """The id of the call that a result answers: of the open ones the first with its id, else of its tool (some
        take the tool's name for the id), else the first where it has no id. Its own, where there is none."""
        found = next((call for call in self._open if own and call[0] == own), None)
        found = found or next((call for call in self._open if not call[0] and call[1] == (name or own)), None)
        if found is None and not own:
            found = next(iter(self._open), None)
        if found is None:
            return own or name
        self._open.remove(found)
        return found[2]
