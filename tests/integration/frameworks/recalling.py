"""A script that asks for what was cut."""

from __future__ import annotations

import re
from collections.abc import Sequence

from integration.frameworks.task import Call, Script


class Recalling(Script):
    """Asks for the first mark it sees once something was cut, and goes on."""

    answer: str = ""

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        if self.answer == "asked":
            self.answer = seen[-1]
        if not self.answer and (match := re.search(r"ref ([a-z]{10,})", "\n".join(seen[2:]))):
            self.answer = "asked"
            self._count(list(seen))
            return [Call("recall_context", {"handle": match.group(1)})]
        return super().next(seen)

    @property
    def recalled(self) -> bool:
        """Whether the tool gave a page of the case file back."""
        return "page" in self.answer and "Nothing is kept" not in self.answer
