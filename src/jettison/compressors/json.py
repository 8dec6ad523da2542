"""JSON: names and short values say more than long prose, and in a long list of like records only the odd ones do.

`compact` and `restore` are the lossless first step: the same data in fewer characters.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

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
_INDEX = re.compile(r"\[\d+\]")
_EMPTY = frozenset(("", "null", "false", "[]", "{}"))


@dataclass(slots=True)
class _List:
    """The records of one list, in order."""

    rows: dict[str, list[int]] = field(default_factory=dict)
    """Path of a record → ordinals of its leaves."""
    columns: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Key, with the path below the record → ordinals of the leaves with it."""


def outline(parts: Segmented) -> Outline | None:
    """The outline of a JSON object or list."""
    if not parts.structured:
        return None
    segments = parts.segments
    weights = _bases(segments)
    label: dict[int, int] = {}
    odd_rows: dict[str, set[str]] = {}
    lists = _lists(segments)
    for name, found in lists.items():
        odd = _odd(segments, found)
        odd_rows[name] = _weigh(segments, found, odd, weights, label)
    for index, severity in trouble(
        [segment.text if len(segment.text) <= PROSE * 2 else "" for segment in segments]
    ).items():
        weights[index] = max(weights[index], severity)
    return Outline("json", weights, label, about=_About(lists, odd_rows))


def _bases(segments: Sequence[Segment]) -> list[float]:
    """What a leaf says by its key and its size."""
    names: dict[str, bool] = {}
    out = []
    for segment in segments:
        key, size = segment.key, len(segment.text)
        named = names.get(key)
        if named is None:
            named = names[key] = key[:1] != "[" and is_keyish(key)
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
            indices = [index for index in range(start, end) if segments[index].key[:1] == "["]
            found = out[record]
            found.columns[""] += indices
            found.rows.update({f"{record}{segments[index].key}": [index] for index in indices})
    for (name, below, keys), starts in shapes.items():
        for offset, key in enumerate(keys):
            out[name].columns[f"{below}.{key}" if below else key] += [start + offset for start in starts]
    return {name: found for name, found in out.items() if found.rows}


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


def _weigh(
    segments: Sequence[Segment], found: _List, odd: dict[int, float], weights: list[float], label: dict[int, int]
) -> set[str]:
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
    out: set[str] = set()
    if rows < ENOUGH:
        return out
    for column in found.columns.values():
        if rows > len(column) >= rows - max(1, int(RARE_KEY * rows)):
            have = set(column)
            out |= {row for row, leaves in found.rows.items() if have.isdisjoint(leaves)}
    return out


@dataclass(frozen=True, slots=True)
class _About:
    """How many records of each long list went, and how many unusual ones are left."""

    lists: dict[str, _List]
    odd: dict[str, set[str]]

    def __call__(self, cut: Sequence[int]) -> str:
        gone = set(cut)
        told = []
        for name, found in self.lists.items():
            whole = {row for row, leaves in found.rows.items() if gone.issuperset(leaves)}
            if whole:
                odd = self.odd[name]
                kept = f", {len(odd - whole)} of {len(odd)} unusual kept" if odd else ""
                told.append(f"{len(whole)} of {len(found.rows)} records like {name or ''}[*] cut{kept}")
        return "; ".join(told[:3])
