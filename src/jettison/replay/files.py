"""Files as rows: JSON and JSON lines, plain, gzipped or zstandard, and Parquet; a row at a time.

Lines are cut at "\\n" only (tool output holds U+2028). A file that is one JSON value is read whole; everything else is
never in memory as a whole.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import IO, Any

from jettison.errors import InvalidInput
from jettison.replay.formats.base import Skipped, opened, without_nulls
from jettison.replay.remote import Remote

__all__ = ["SUFFIXES", "rows_in"]

SUFFIXES = (".json", ".jsonl", ".ndjson", ".traj", ".parquet", ".log")
"""What is looked for in a folder, with `.gz` or `.zst` behind it too."""
BATCH = 64
"""Rows of a Parquet file that are held at a time."""

Numbered = tuple[int, Any] | Skipped


def rows_in(path: Path | Remote) -> Iterator[Numbered]:
    """(number from 1, value) of each row; a row that is not JSON as Skipped. Raises InvalidInput for the file."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
            file.seek(0)
            if start == b"PAR1":
                yield from _parquet(file, path.name)
            else:
                with closing(_unpacked(file, start, path.name)) as text:
                    yield from _json(text, path.name)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path.name} is not UTF-8 ({error.reason}); save it as UTF-8") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{path.name} is not a whole gzip file ({error}); copy it again") from error
    except _foreign() as error:
        raise InvalidInput(f"{path.name} is damaged ({error}); copy it again") from error
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}; check the path") from error


def _foreign() -> tuple[type[Exception], ...]:
    """What the packages of `jettison[replay]` raise for bytes they cannot make sense of: those that are in use."""
    known = (("zstandard", "ZstdError"), ("pyarrow", "ArrowException"))
    return tuple(getattr(sys.modules[module], name) for module, name in known if module in sys.modules)


def _unpacked(file: IO[bytes], start: bytes, name: str) -> io.TextIOWrapper:
    binary: Any = file
    if start[:2] == b"\x1f\x8b":
        binary = gzip.GzipFile(fileobj=file)
    elif start == b"\x28\xb5\x2f\xfd":
        try:
            import zstandard
        except ModuleNotFoundError as missing:
            text = f"{name} is compressed with zstandard: pip install 'jettison[replay]'"
            raise ModuleNotFoundError(text, name="zstandard") from missing
        binary = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True))
    elif not isinstance(file, io.BufferedIOBase):  # fsspec's own files have no `read1`
        binary = io.BufferedReader(binary)
    utf16 = start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return io.TextIOWrapper(binary, encoding="utf-16" if utf16 else "utf-8-sig", newline="\n")


def _json(text: io.TextIOWrapper, name: str) -> Iterator[Numbered]:
    """One JSON value, or lines of them: told from whether the first line is a value by itself."""
    first = ""
    for line in text:
        first = line
        if line.strip():
            break
    try:
        value = json.loads(first) if first.strip() else None
    except (ValueError, RecursionError):
        yield from _whole(first, text, name)
        return
    following = ((number, line) for number, line in enumerate(text, 2) if line.strip())
    second = next(following, None)
    if isinstance(value, list) and second is None:  # one line that is a list: the file is that list
        yield from _entries(value)
    elif value is not None:
        yield 1, value
    for number, line in following if second is None else chain([second], following):
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Skipped(f"{name} row {number}", f"not JSON ({error})")


def _whole(first: str, text: io.TextIOWrapper, name: str) -> Iterator[Numbered]:
    """A value over several lines; where there is none, lines of which the first is broken."""
    rest = text.read()
    try:
        value = json.loads(first + rest)
    except (ValueError, RecursionError) as error:
        lines = [line for line in rest.split("\n") if line.strip()]
        if not lines or not lines[0].lstrip().startswith(("{", "[")):
            raise InvalidInput(f"{name} is not JSON ({error})") from error
        yield Skipped(f"{name} row 1", f"not JSON ({error})")
        for number, line in enumerate(lines, 2):
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as bad:
                yield Skipped(f"{name} row {number}", f"not JSON ({bad})")
        return
    if isinstance(value, list):
        yield from _entries(value)
    else:
        yield 1, value


def _entries(values: list[Any]) -> Iterator[Numbered]:
    yield from enumerate(values, 1)


def _parquet(file: IO[bytes], name: str) -> Iterator[Numbered]:
    try:
        import pyarrow.parquet as parquet
    except ModuleNotFoundError as missing:
        text = f"{name} is a Parquet table: pip install 'jettison[replay]'"
        raise ModuleNotFoundError(text, name="pyarrow") from missing
    number = 0
    with parquet.ParquetFile(file) as table:
        for batch in table.iter_batches(batch_size=BATCH):
            for row in batch.to_pylist():
                number += 1
                yield number, {key: opened(value) for key, value in without_nulls(row).items()}
