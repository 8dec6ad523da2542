"""Results on disk, or on any path fsspec knows, as Parquet: a part a chunk, written in one step.

A part's name is its chunk's number: measured again it replaces itself. `run.json` says what the parts belong to, so
that a folder is never continued with other traces or another policy. Needs the extra `jettison[replay]`.
"""

from __future__ import annotations

import io
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from jettison.errors import ConfigError
from jettison.replay.measure.tally import Tally
from jettison.replay.remote import filesystem
from jettison.replay.totals import Result, Totals

__all__ = ["Parts"]

_LABELS = ("set", "task", "id", "policy", "fraction")
_SUMS = tuple(field.name for field in fields(Tally))


def _extra(name: str) -> ModuleNotFoundError:
    return ModuleNotFoundError("results in parts need pip install 'jettison[replay]'", name=name)


class Parts:
    """The parts of one run under a folder or URL (`s3://bucket/run`, `memory://run`).

    `run`: what identifies the run, as plain data. Raises ConfigError when the folder holds the parts of another run.
    """

    def __init__(self, url: str, run: Any) -> None:
        try:
            import fsspec  # noqa: F401
            import pyarrow  # noqa: F401 - asked for here, so that it is missed before hours of work and not after
        except ModuleNotFoundError as missing:
            raise _extra(missing.name or "pyarrow") from missing
        self.url = url
        self.files, self.root = filesystem(url)
        self.root = self.root.rstrip("/")
        self.files.makedirs(self.root, exist_ok=True)
        mine, label = json.dumps(run, sort_keys=True, default=str), f"{self.root}/run.json"
        if not self.files.exists(label):
            self._put(label, mine.encode())
        elif self.files.cat_file(label).decode() != mine:
            raise ConfigError(
                f"{url} holds the parts of another run (other traces, policies or budgets): use a new one"
            )

    def read(self, chunk: int) -> list[Result] | None:
        """The results of a chunk that is done; None when it is not."""
        path = self._path(chunk)
        if not self.files.exists(path):
            return None
        import pyarrow.parquet as parquet

        table = parquet.read_table(io.BytesIO(self.files.cat_file(path)))
        return [_result(row) for row in table.to_pylist()]

    def write(self, chunk: int, results: Sequence[Result]) -> None:
        """Store the results of a chunk in one step: whole or not at all, and once however often it is done."""
        import pyarrow
        import pyarrow.parquet as parquet

        rows = [{**{name: getattr(result, name) for name in _LABELS}, **asdict(result.tally)} for result in results]
        buffer = io.BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist(rows), buffer)
        self._put(self._path(chunk), buffer.getvalue())

    def totals(self) -> Totals:
        """The sums of all parts by task, added up by duckdb."""
        try:
            import duckdb
        except ModuleNotFoundError as missing:
            raise _extra("duckdb") from missing
        sums = ", ".join(f'sum("{name}") AS "{name}"' for name in _SUMS)
        where = self.files.unstrip_protocol(f"{self.root}/part-*.parquet")
        local = self.files.protocol in ("file", ("file", "local"))
        with duckdb.connect() as base:
            if not local:
                base.register_filesystem(self.files)
            query = f'SELECT policy, fraction, "set", task, {sums} FROM read_parquet(?) GROUP BY ALL'
            found = base.execute(query, [f"{self.root}/part-*.parquet" if local else where])
            names = [column[0] for column in found.description or ()]
            totals, first = Totals(), None
            for row in found.fetchall():
                entry = dict(zip(names, row, strict=True))
                key = (entry["policy"], entry["fraction"], entry["set"], entry["task"])
                totals.put(key, [entry[name] for name in _SUMS])
                first = first or key[:2]
                totals.trajectories += entry["trajectories"] if key[:2] == first else 0
        return totals

    def done(self) -> Iterator[int]:
        """Numbers of the chunks that are done."""
        for path in self.files.glob(f"{self.root}/part-*.parquet"):
            yield int(path.rsplit("part-", 1)[1].split(".")[0])

    def _path(self, chunk: int) -> str:
        return f"{self.root}/part-{chunk:08d}.parquet"

    def _put(self, path: str, data: bytes) -> None:
        if "file" not in self.files.protocol:  # an object store has an object whole or not at all
            self.files.pipe_file(path, data)
            return
        temporary = f"{path}.{uuid.uuid4().hex}"
        self.files.pipe_file(temporary, data)
        os.replace(temporary, path)


def _tally(entry: dict[str, Any]) -> Tally:
    tally = Tally()
    for name in _SUMS:
        setattr(tally, name, type(getattr(tally, name))(entry[name]))
    return tally


def _result(row: dict[str, Any]) -> Result:
    return Result(**{name: row[name] for name in _LABELS}, tally=_tally(row))
