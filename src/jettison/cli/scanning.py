"""What `scan` does: secrets in files, as counts and places. A value is never printed."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jettison.cli.output import complain
from jettison.errors import ConfigError, InvalidInput
from jettison.vault import Detector

__all__ = ["Place", "detector", "run", "scan_file"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]{0,39}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret is."""

    file: str
    line: int
    """Of the file, from 1."""
    path: str
    """In the JSON of that line, as `messages[3].content`; empty in other text."""
    kind: str


def detector(own: bool) -> Detector:
    """All rules that are installed, or our own alone."""
    if own:
        return Detector(())
    try:
        return Detector()
    except ConfigError as missing:
        complain(f"note: {missing}; scanning with Jettison's own rules")
        return Detector(())


def run(paths: Sequence[str], *, own: bool = False, as_json: bool = False) -> bool:
    """Scan files, and folders with all below them; print what was found, and say whether anything was.

    Raises InvalidInput for a path that cannot be read.
    """
    rules = detector(own)
    files = [file for path in paths for file in _files(path)]
    places = [place for file in files for place in scan_file(file, rules)]
    if as_json:
        print(json.dumps([{name: getattr(place, name) for name in Place.__slots__} for place in places], indent=2))
        return bool(places)
    for place, count in Counter(places).items():
        where = f"{place.file}:{place.line}" + (f" {place.path}" if place.path else "")
        print(f"{where}: {place.kind}" + (f" ×{count}" if count > 1 else ""))
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(place.kind for place in places).most_common())
    print(f"{len(places):,} secrets in {len(files):,} files" + (f": {kinds}" if kinds else ""))
    return bool(places)


def _files(path: str) -> list[Path]:
    root = Path(path)
    if root.is_dir():
        return sorted(file for file in root.rglob("*") if file.is_file() and ".git" not in file.parts)
    if not root.is_file():
        raise InvalidInput(f"cannot read {path}: no such file or folder")
    return [root]


def scan_file(file: Path, rules: Detector) -> Iterator[Place]:
    """Every secret of a file: JSON and JSONL value by value, other text as it is; binaries have none."""
    try:
        data = file.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"cannot read {file}: {type(error).__name__}") from error
    if b"\0" in data[:8000]:
        return
    text = data.decode("utf-8", "replace")
    whole = _parsed(text)
    if whole is not None:
        yield from _values(whole, "", "", str(file), 1, rules)
        return
    lines = text.split("\n")
    parsed = [_parsed(line) for line in lines]
    if any(value is not None for value in parsed):
        for number, (line, value) in enumerate(zip(lines, parsed, strict=True), 1):
            if value is not None:
                yield from _values(value, "", "", str(file), number, rules)
            else:
                yield from (Place(str(file), number, "", span.kind) for span in rules.find(line))
        return
    row, at = 1, 0
    for span in rules.find(text):
        row += text.count("\n", at, span.start)
        at = span.start
        yield Place(str(file), row, "", span.kind)


def _parsed(text: str) -> Any:
    """A JSON object or list, None for anything else."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _values(value: Any, key: str, path: str, file: str, line: int, rules: Detector) -> Iterator[Place]:
    if isinstance(value, str):
        if value.startswith("data:") and ";base64," in value[:200]:
            return
        inner = _parsed(value)
        if inner is not None:
            yield from _values(inner, key, path, file, line, rules)
            return
        spans = rules.find(value)
        yield from (Place(file, line, path, span.kind) for span in spans)
        if not spans and (kind := rules.kind_of_value(key, value)) is not None:
            yield Place(file, line, path, kind)
    elif isinstance(value, dict):
        for name, inner in value.items():
            shown = name if _PLAIN_KEY.fullmatch(name) and not rules.find(name) else "…"
            yield from (Place(file, line, f"{path}.…".lstrip("."), span.kind) for span in rules.find(name))
            yield from _values(inner, name, f"{path}.{shown}" if path else shown, file, line, rules)
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from _values(inner, key, f"{path}[{n}]", file, line, rules)
