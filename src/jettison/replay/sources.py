"""Histories from paths and URLs: files, folders, globs, any format, one at a time; what cannot be read is counted."""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from jettison.errors import ConfigError, InvalidInput
from jettison.replay.chat import trajectory_of
from jettison.replay.files import SUFFIXES, Numbered, rows_in
from jettison.replay.formats import Named, Skipped, format_of
from jettison.replay.formats.base import Row
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.readers import Recorded
from jettison.replay.remote import Remote, found_at, is_url
from jettison.wire.guess import WIRES

__all__ = ["Found", "Intake", "files_of", "trajectories"]

EXAMPLES = 20
"""Skipped rows that are kept with their names; all are counted."""
REASONS = 100
"""Reasons that are counted by themselves: some name what stood in the row, and a broken file has millions of those."""
_NUMBER = re.compile(r"\d+")


@dataclass
class Intake:
    """What reading gave so far."""

    histories: int = 0
    files: int = 0
    skipped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    examples: list[Skipped] = field(default_factory=list)
    formats: Counter[str] = field(default_factory=Counter)

    def skip(self, skipped: Skipped) -> None:
        """Count a row that could not be read."""
        self.skipped += 1
        reason = _NUMBER.sub("N", skipped.why.removeprefix(skipped.where).lstrip(": "))
        reason = reason.split(":")[0].split("(")[0].split(";")[0].strip()[:80]
        self.reasons[reason if reason in self.reasons or len(self.reasons) < REASONS else "other reasons"] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(skipped)


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read."""

    path: Path | Remote
    folder: str
    """Name of the set for files that hold one history: where they lie."""

    @property
    def identity(self) -> tuple[str, int]:
        """(where it is, bytes): the file of another run has other ones."""
        if isinstance(self.path, Remote):
            return self.path.url, self.path.size
        return str(self.path.resolve()), self.path.stat().st_size


def files_of(paths: Sequence[str]) -> list[Found]:
    """The files that paths or URLs name: a file, a folder (all below it), a glob. Raises InvalidInput for none."""
    found: dict[Path | Remote, Found] = {}
    for given in paths:
        path = Path(given).expanduser()
        if is_url(given):
            every = [(remote, named) for remote, named in found_at(given) if named or _readable(remote)]
            top = given.rstrip("/").rsplit("/", 1)[-1]
            matches = [Found(remote, remote.folder if named else top) for remote, named in every]
        elif path.is_dir():
            inside = [p for p in sorted(path.rglob("*")) if p.is_file() and _readable(p)]
            matches = [Found(p, path.resolve().name) for p in inside]
        elif path.exists():
            matches = [Found(path, path.resolve().parent.name)]
        else:
            names = sorted(glob.glob(str(path), recursive=True))
            matches = [Found(Path(name), Path(name).resolve().parent.name) for name in names if Path(name).is_file()]
        if not matches:
            raise InvalidInput(
                f"{given}: no such file, or a folder without {', '.join(SUFFIXES)} files (.gz, .zst too)"
            )
        for match in matches:
            found.setdefault(match.path, match)
    return list(found.values())


def _readable(path: Path | Remote) -> bool:
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    return name.endswith(SUFFIXES) and not name.startswith(".")


def trajectories(
    paths: Sequence[str], intake: Intake, *, wire: str | None = None, limit: int | None = None
) -> Iterator[Trajectory]:
    """The recorded runs, in order. `wire` overrides what the content says. `limit`: at most so many, the first ones.

    Raises InvalidInput for a path that names nothing; a file or row that cannot be read is counted in `intake`.
    """
    if wire is not None and wire not in WIRES:
        raise ConfigError(f"wire {wire!r} is not known: use one of {', '.join(WIRES)}")
    for found in files_of(paths):
        intake.files += 1
        for recorded, named in _histories(found, intake):
            if limit is not None and intake.histories >= limit:
                return
            made = replace(recorded, wire=wire) if wire and recorded.wire != wire else recorded
            try:
                run = trajectory_of(made, found.folder if named.single else _stem(found.path), intake.histories + 1)
            except InvalidInput as error:
                intake.skip(Skipped(recorded.name, str(error)))
                continue
            intake.histories += 1
            intake.formats[named.name] += 1
            yield run


def _stem(path: Path | Remote) -> str:
    return path.name.removesuffix(".gz").removesuffix(".zst").rsplit(".", 1)[0]


def _histories(found: Found, intake: Intake) -> Iterator[tuple[Recorded, Named]]:
    rows, before = rows_in(found.path), intake.skipped
    name = found.path.name
    try:
        first = _first(rows, name, intake)
        if first is None:
            if intake.skipped == before:
                intake.skip(Skipped(name, "the file is empty"))
            return
        named = format_of(first[1])
        if named is None:
            keys = ", ".join(sorted(map(str, first[1]))[:8]) or "none"
            intake.skip(Skipped(name, f"no known format: the keys of its first row are {keys}"))
            return
        for entry in named.format.histories(_objects(chain([first], rows), name, intake), name):
            if isinstance(entry, Skipped):
                intake.skip(entry)
            else:
                yield entry, named
    except InvalidInput as error:
        intake.skip(Skipped(name, str(error)))


def _first(rows: Iterator[Numbered], name: str, intake: Intake) -> tuple[int, Row] | None:
    return next(_objects(rows, name, intake), None)


def _objects(rows: Iterable[Numbered], name: str, intake: Intake) -> Iterator[tuple[int, Row]]:
    """The rows that are objects; lists of messages are taken as rows of `messages`."""
    for entry in rows:
        if isinstance(entry, Skipped):
            intake.skip(entry)
        elif isinstance(entry[1], dict):
            yield entry
        elif isinstance(entry[1], list) and entry[1] and isinstance(entry[1][0], dict):
            yield entry[0], {"messages": entry[1]}
        else:
            intake.skip(Skipped(f"{name} row {entry[0]}", f"{type(entry[1]).__name__}: not an object"))
