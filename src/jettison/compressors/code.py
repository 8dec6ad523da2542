"""Source code: its skeleton. Definitions say most, bodies little; every line comes with what it is defined in.

Nesting is read from indentation in every language (braces agree with it in all code that people and formatters
write). Two things stand against indentation and are followed: text in triple quotes, and parameter lists over lines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from jettison.compressors.code_lines import NUMBERED, kind_of, strong
from jettison.compressors.outline import Outline
from jettison.compressors.sampling import sample
from jettison.flow.segments import Segmented

__all__ = ["WEIGHTS", "outline"]

WEIGHTS = {
    "class": 1.0,
    "def": 0.9,
    "decorator": 0.6,
    "signature": 0.6,
    "const": 0.5,
    "doc": 0.45,
    "field": 0.4,
    "return": 0.35,
    "note": 0.3,
    "import": 0.25,
    "control": 0.2,
    "body": 0.15,
    "modifier": 0.1,
    "sign": 0.1,
    "comment": 0.1,
    "prose": 0.05,
    "directive": 0.05,
    "bare": 0.0,
    "blank": 0.0,
}
"""What a line of each kind says: by judgement, in the order in which a reader of an unknown file looks."""
LEAST = 4
"""Lines that are not blank, below which nothing is told."""
SIGNATURE = 40
"""Lines after which a parameter list that never closes is given up."""
_OPENS = (")", ",", "(", "const", "override", "noexcept")
"""How the first line of a definition ends when its brace stands on a line of its own."""
_ENDS = ("end", "begin", "fi", "done", "esac")
_STAYS = ("bare", "sign", "directive")
"""Lines that may stand at the indentation of a definition and are still part of it."""


def outline(parts: Segmented) -> Outline | None:
    """The skeleton of source code, None where the text is not (mostly) code. Linear."""
    numbered = _numbered(parts)
    if numbered is None:
        return None
    walk = _Walk(parts, numbered)
    walk.run()
    return Outline("code", walk.weight, walk.label, walk.near, partial(_about, parts, walk.owner))


def _numbered(parts: Segmented) -> bool | None:
    """Whether the lines carry numbers; None: the text is not code. Looks at 400 lines at most."""
    if parts.structured or "\n@@ -" in parts.text or parts.text.startswith("diff --git"):
        return None
    lines = [part.text for part in sample(parts)]
    if len(lines) < LEAST:
        return None
    head = "\n".join(lines[:8]).lower()
    if "<html" in head or "<!doctype" in head or "<?xml" in head:
        return None
    numbered = sum(NUMBERED.match(line) is not None for line in lines) > 0.7 * len(lines)
    if numbered:
        lines = [line[match.end() :] if (match := NUMBERED.match(line)) else "" for line in lines]
        lines = [line for line in lines if line and not line.isspace()]
    if not lines:
        return None
    found = [strong(line.strip()) for line in lines]
    sure, likely = found.count(2), found.count(1)
    if sure + likely < (0.35 if sure >= 0.03 * len(lines) else 0.5) * len(lines):
        return None
    # Numbered lines are a file; a short window of one may hold no line that only code has.
    return numbered if numbered or sure >= max(1, 0.01 * len(lines)) else None


@dataclass(slots=True)
class _Walk:
    """One pass over the lines, with the definitions that are open."""

    parts: Segmented
    numbered: bool
    weight: list[float] = field(default_factory=list)
    label: dict[int, int] = field(default_factory=dict)
    near: dict[int, int] = field(default_factory=dict)
    owner: list[int] = field(default_factory=list)
    """The innermost definition of each segment, -1 outside any."""
    stack: list[tuple[int, int, bool]] = field(default_factory=list)
    """(indentation, segment, is a class) of each open definition."""
    quote: str = ""
    """The triple quote that is open."""
    quoted: int = 0
    """Indentation where it was opened."""
    open: int = 0
    """Brackets that are open in a parameter list."""
    since: int = 0
    """Lines since that list was opened."""
    doc: bool = False
    """The next line of text says what the definition does."""
    decorators: list[int] = field(default_factory=list)
    before: deque[tuple[int, int, str]] = field(default_factory=lambda: deque(maxlen=6))
    """Segment, indentation and text of the last lines that were not blank."""

    def run(self) -> None:
        last = -1
        for index, part in enumerate(self.parts.segments):
            if part.line == last:
                self._continued(index)
                continue
            last, text = part.line, part.text
            if self.numbered:
                match = NUMBERED.match(text)
                text = text[match.end() :] if match else text
            line = text.strip()
            if not line:
                self._put(index, 0.0)
                continue
            indent = len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip()) if text[0] in "\t " else 0
            self._line(index, line, indent)
            self.before.append((index, indent, line))

    def _line(self, index: int, line: str, indent: int) -> None:
        if self.quote and not self._reopened(line, indent):
            self._quoted(index, line)
            return
        if self.open > 0:
            self._signature(index, line)
            return
        opened = self._quotes(line, indent)
        kind = kind_of(line, indent == 0)
        if opened or line.startswith(('"""', "'''", 'r"""')):
            kind = self._docstring(line) if kind != "return" else kind
        stays = (kind in _STAYS and (not line[0].isalpha() or line[:5].lower() in _ENDS)) or kind == "modifier"
        while self.stack and (self.stack[-1][0] > indent or (self.stack[-1][0] == indent and not stays)):
            self.stack.pop()
        if line == "{" or line == "begin":
            self._allman(indent)
        if kind == "body" and self.stack and self.stack[-1][2]:
            kind = "field"
        self._put(index, WEIGHTS[kind])
        if kind in ("def", "class"):
            self._define(index, indent, kind, line)
        elif kind == "decorator":
            self.decorators.append(index)
            self.doc = False
        elif kind not in ("comment", "prose", "doc"):
            self.doc = False
            self.decorators.clear()

    def _put(self, index: int, weight: float) -> None:
        self.weight.append(weight)
        owner = self.stack[-1][1] if self.stack else -1
        self.owner.append(owner)
        if owner >= 0:
            self.label[index] = owner

    def _continued(self, index: int) -> None:
        """A further piece of a long line: it belongs to what the line belongs to."""
        self._put(index, min(self.weight[-1], WEIGHTS["body"]))

    def _define(self, index: int, indent: int, kind: str, line: str) -> None:
        for at in self.decorators:
            self.near[at] = index
        self.decorators.clear()
        self.stack.append((indent, index, kind == "class" or line[:6].lower() == "create"))
        self.owner[index] = index
        self.open, self.since = max(0, line.count("(") - line.count(")")), 0
        if self.stack[-1][2] and line[:6].lower() == "create":
            self.open = 0
        self.doc = True

    def _signature(self, index: int, line: str) -> None:
        """A line of a parameter list."""
        self._put(index, WEIGHTS["bare"] if len(line) < 3 else WEIGHTS["signature"])
        self.near[index] = self.stack[-1][1]
        self.open += line.count("(") - line.count(")")
        self.since += 1
        if self.since > SIGNATURE or line.endswith((";", "{")):
            self.open = 0

    def _allman(self, indent: int) -> None:
        """A brace on its own line opens the body of the line before, when that reads like a definition."""
        for index, at, line in reversed(self.before):
            if at != indent:
                continue
            if line.endswith(_OPENS) and kind_of(line + " {", False) == "def" and self.owner[index] != index:
                self._restack(index, indent)
            return

    def _restack(self, index: int, indent: int) -> None:
        """What was read as a statement is a definition; so are the lines up to here its parameters."""
        self.weight[index] = WEIGHTS["def"]
        for at in range(index + 1, len(self.weight)):
            self.weight[at] = min(WEIGHTS["signature"], self.weight[at] + 1)
            self.label[at] = self.owner[at] = self.near[at] = index
        self.owner[index] = index
        self.stack.append((indent, index, False))

    def _quotes(self, line: str, indent: int) -> bool:
        """Whether a triple quote opens on this line and stays open."""
        if '"""' not in line and "'''" not in line:
            return False
        double, single = line.find('"""'), line.find("'''")
        quote = '"""' if single < 0 or 0 <= double < single else "'''"
        if line.count(quote) % 2 == 0:
            return False
        self.quote, self.quoted = quote, indent
        return True

    def _docstring(self, line: str) -> str:
        """The kind of a line on which a docstring opens."""
        if not (self.doc or not self.before):
            return "body"
        said = len(line.strip("rR'\"")) > 0
        self.doc = self.doc and not said
        if not said and not self.doc:
            self.doc = True
        return "doc" if said else "bare"

    def _quoted(self, index: int, line: str) -> None:
        """A line inside triple quotes."""
        closes = self.quote in line
        self._put(index, WEIGHTS["doc"] if self.doc and not closes else 0.0 if len(line) == 3 else WEIGHTS["prose"])
        self.doc = False
        if closes:
            self.quote = ""

    def _reopened(self, line: str, indent: int) -> bool:
        """Whether the quote was taken for open wrongly: the text began inside one, and here a definition begins."""
        if indent < self.quoted or indent == 0 == self.quoted:
            word = line.split(" ", 1)[0]
            if word in ("def", "class", "async") and line.endswith((":", "(", ",")):
                self.quote = ""
        return not self.quote


def _about(parts: Segmented, owner: Sequence[int], cut: Sequence[int]) -> str:
    """What was cut, in lines and definitions."""
    lines = len({parts.segments[index].line for index in cut})
    if not lines:
        return ""
    inside = len({owner[index] for index in cut} - {-1})
    of = f" of {inside} definition{'s' * (inside > 1)}" if inside else ""
    return f"{lines} line{'s' * (lines > 1)}{of} cut"
