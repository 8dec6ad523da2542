"""JSON: names and short values say more than long prose, and in a long list of like records only the odd ones do.

`compact` and `restore` are the lossless first step: the same data in fewer characters.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from jettison.compressors.log import FEW, RARE
from jettison.compressors.outline import Outline
from jettison.compressors.tabular import compact, restore
from jettison.compressors.trouble import trouble
from jettison.compressors.unusual import ENOUGH, unusual
from jettison.flow.dependencies import is_keyish
from jettison.flow.segments import Segment, Segmented

__all__ = ["compact", "outline", "restore"]

SHORT, PROSE = 40, 120
"""Characters up to which a value reads like a datum, and above which like prose."""
NAME = 0.6
"""Weight of what names its record."""
EDGE = 2
"""Records shown from the beginning of a long list, besides the last one."""
ROUTINE = 0.25
"""What a leaf of a routine record weighs, of what it would outside the list."""
RARE_KEY = 0.02
"""Share of the records up to which having (or lacking) a key is unusual."""
TOLD = 3
"""Lists that are named when they were cut."""
_INDEX = re.compile(r"\[\d+\]")
_EMPTY = frozenset(("", "null", "false", "[]", "{}"))

MANY = 50
"""Records of a list from which on an error among them stands out. Any error of any JSON as an alarm takes .4 of support
and 1.0 of completeness from mcpmark at 25 %."""


@dataclass(slots=True)
class _List:
    """The records of one list, in order, or its plain values."""

    rows: dict[str, list[int]] = field(default_factory=dict)
    """Path of a record → ordinals of its leaves."""
    columns: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Key, with the path below the record → ordinals of the leaves with it."""
    values: list[int] = field(default_factory=list)
    """Ordinals of the leaves that are values of the list itself."""


def outline(parts: Segmented) -> Outline | None:
    """The outline of a JSON object or list."""
    if not parts.structured:
        return None
    segments = parts.segments
    weights = _bases(segments)
    label: dict[int, int] = {}
    odd_rows: dict[str, set[str]] = {}
    odd_values: dict[str, set[int]] = {}
    lists = _lists(segments)
    for name, found in lists.items():
        odd_rows[name] = _weigh(found, _odd(segments, found), weights, label)
        odd_values[name] = _weigh_values(segments, found.values, weights)
    bad = trouble([segment.text if len(segment.text) <= PROSE * 2 else "" for segment in segments])
    for index, severity in bad.items():
        weights[index] = max(weights[index], severity)
    routine = {
        index for found in lists.values() if len(found.rows) > MANY for row in found.rows.values() for index in row
    }
    few = routine.intersection(bad) if len(bad) <= max(FEW, RARE * len(segments)) else ()
    return Outline("json", weights, label, alarms=frozenset(few), about=_About(lists, odd_rows, odd_values))


def _bases(segments: Sequence[Segment]) -> list[float]:
    """What a leaf says by its key and its size."""
    names: dict[str, bool] = {}
    out = []
    for segment in segments:
        key, size = segment.key, len(segment.text)
        named = key[:1] != "[" and names.get(key)
        if named is None:
            named = names[key] = is_keyish(key)
        if named and size <= PROSE:
            out.append(NAME)
        elif segment.text in _EMPTY:
            out.append(0.1)
        else:
            out.append(0.4 if key and size <= SHORT else 0.3 if size <= PROSE else 0.15)
    return out


def _lists(segments: Sequence[Segment]) -> dict[str, _List]:
    """The long lists, by path with every index open. Of nested ones the outermost long one."""
    runs = _runs(segments)
    sizes = _sizes(segments, runs)
    out: dict[str, _List] = defaultdict(_List)
    shapes: dict[tuple[str, str, tuple[str, ...]], list[int]] = defaultdict(list)
    for start, end in runs:
        record = segments[start].record
        place = _place(record, sizes)
        if place is not None:
            name, row, below = place
            found = out[name]
            found.rows.setdefault(row, []).extend(range(start, end))
            shapes[name, below, tuple([segment.key for segment in segments[start:end]])].append(start)
        elif sizes[record] >= ENOUGH:
            out[record].values += [index for index in range(start, end) if segments[index].key[:1] == "["]
    for (name, below, keys), starts in shapes.items():
        for offset, key in enumerate(keys):
            out[name].columns[f"{below}.{key}" if below else key] += [start + offset for start in starts]
    return {name: found for name, found in out.items() if found.rows or found.values}


def _runs(segments: Sequence[Segment]) -> list[tuple[int, int]]:
    """(first, behind the last) of the leaves that stand together in one record."""
    lines = [segment.line for segment in segments]
    starts = [0, *(index for index in range(1, len(lines)) if lines[index] != lines[index - 1])]
    return list(zip(starts, [*starts[1:], len(lines)], strict=True))


def _sizes(segments: Sequence[Segment], runs: Sequence[tuple[int, int]]) -> Counter[str]:
    """How many entries each list has: records, or values of its own."""
    sizes: Counter[str] = Counter()
    seen: set[str] = set()
    for start, end in runs:
        record = segments[start].record
        if segments[start].key[:1] == "[":
            sizes[record] += end - start
        if record in seen:
            continue
        at = record.find("[")
        if at >= 0 and record.find("]") == len(record) - 1:  # one index, at the end: nearly all of them
            sizes[record[:at]] += 1
        elif at >= 0:
            for match in _INDEX.finditer(record):
                path = record[: match.end()]
                if path not in seen:
                    seen.add(path)
                    sizes[record[: match.start()]] += 1
        seen.add(record)
    return sizes


def _place(record: str, sizes: Counter[str]) -> tuple[str, str, str] | None:
    """(list, record in it, path below the record) of the outermost long list that a path goes through."""
    at = record.find("[")
    if at < 0:
        return None
    if record.find("]") == len(record) - 1:
        return (record[:at], record, "") if sizes[record[:at]] >= ENOUGH else None
    for match in _INDEX.finditer(record):
        name = record[: match.start()]
        if sizes[name] >= ENOUGH:
            return _open(name), record[: match.end()], _open(record[match.end() :])
    return None


def _open(path: str) -> str:
    return _INDEX.sub("[*]", path) if "[" in path else path


def _odd(segments: Sequence[Segment], found: _List) -> dict[int, float]:
    """Leaf → weight of those that deviate from the others with their key, or have a key that hardly any record has."""
    rows = len(found.rows)
    few = max(1, int(RARE_KEY * rows))
    odd: dict[int, float] = {}
    for key, column in found.columns.items():
        if len(column) <= few and rows >= ENOUGH and key:
            odd.update(dict.fromkeys(column, 0.9))
        elif key.endswith("]"):
            continue  # values of a list inside the record: a set, not a property of it
        else:
            odd.update({column[at]: 0.95 for at in unusual([segments[index].text for index in column])})
    return odd


def _weigh_values(segments: Sequence[Segment], values: Sequence[int], weights: list[float]) -> set[int]:
    """The same for a list of plain values. Returns the odd ones."""
    odd = {values[at] for at in unusual([segments[index].text for index in values])}
    for index in values[EDGE:-1]:
        weights[index] *= ROUTINE
    for index in odd:
        weights[index] = 0.95
    return odd


def _weigh(found: _List, odd: dict[int, float], weights: list[float], label: dict[int, int]) -> set[str]:
    """Weights of a list's leaves: edges whole, of unusual records the odd leaf and the name. Returns those records."""
    lacking = _lacking(found)
    size = len(found.rows)
    unusual_rows: set[str] = set()
    for place, (row, leaves) in enumerate(found.rows.items()):
        name = leaves[0]
        for index in leaves:
            if weights[index] == NAME:
                name = index
                break
        here = [index for index in leaves if index in odd] if odd else []
        special = bool(here) or row in lacking
        if special:
            unusual_rows.add(row)
        edge = place < EDGE or place == size - 1
        if not edge and not special:
            for index in leaves:
                weights[index] *= ROUTINE
        if len(leaves) > 1:
            label.update(dict.fromkeys(leaves, name))
            del label[name]
        for index in here:
            weights[index] = odd[index]
        if special:
            weights[name] = max(weights[name], 0.9)
    return unusual_rows


def _lacking(found: _List) -> set[str]:
    """Records without a key that nearly all others have."""
    rows = len(found.rows)
    nearly = rows - max(1, int(RARE_KEY * rows))
    common = [column for column in found.columns.values() if nearly <= len(column) < rows]
    if rows < ENOUGH or not common:
        return set()
    row_of = {index: row for row, leaves in found.rows.items() for index in leaves}
    out: set[str] = set()
    for column in common:
        out |= found.rows.keys() - {row_of[index] for index in column}
    return out


@dataclass(frozen=True, slots=True)
class _About:
    """How many records of each long list went, and how many unusual ones are left."""

    lists: dict[str, _List]
    odd_rows: dict[str, set[str]]
    odd_values: dict[str, set[int]]

    def __call__(self, cut: Sequence[int]) -> str:
        gone = set(cut)
        told = []
        for name, found in self.lists.items():
            rows = {row for row, leaves in found.rows.items() if gone.issuperset(leaves)}
            told.append(_tell(len(rows), len(found.rows), f"records like {name}[*]", self.odd_rows[name], rows))
            values = gone.intersection(found.values)
            told.append(_tell(len(values), len(found.values), f"values of {name}[*]", self.odd_values[name], values))
        return "; ".join(list(filter(None, told))[:TOLD])


def _tell(cut: int, size: int, what: str, odd: Set[Any], gone: Set[Any]) -> str:
    if not cut:
        return ""
    return f"{cut} of {size} {what} cut" + (f", {len(odd - gone)} of {len(odd)} unusual kept" if odd else "")
