"""What the command writes: JSON to a file or a stream, errors in plain text."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any, TextIO

from jettison.errors import ConfigError

__all__ = ["check_writable", "complain", "in_options", "to_json", "write", "write_file"]

_OPTIONS = (
    ("pass repair=True to", "add --repair to"),
    ("pass wire=", "pass --wire "),
    ("on_unsafe='degrade'", "--degrade"),
)
"""What errors say of settings, and the option of each."""


def to_json(data: Any) -> bytes:
    """Readable JSON in UTF-8; escaped instead where the text holds what UTF-8 cannot (lone surrogates)."""
    try:
        return (json.dumps(data, ensure_ascii=False, indent=2, default=str) + "\n").encode("utf-8")
    except UnicodeEncodeError:
        return (json.dumps(data, indent=2, default=str) + "\n").encode("ascii")


def write(data: bytes, stream: TextIO) -> None:
    """Bytes to a text stream, whatever encoding the terminal has."""
    stream.flush()
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # somebody put a StringIO there
        stream.write(data.decode("utf-8"))
    else:
        buffer.write(data)
        buffer.flush()


def check_writable(target: str) -> None:
    """Raises ConfigError when `write_file` could not write it: before the work whose result it is to hold."""
    path = Path(os.path.realpath(target))
    try:
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        if not path.exists() or path.is_file():
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            os.close(handle)
            Path(temporary).unlink()
    except OSError as error:
        raise ConfigError(f"cannot write {target}: {error.strerror or error}") from error


def write_file(data: bytes, target: str) -> None:
    """Replace a file as one step: a reader sees the old content or the new one, never half of it.

    Raises ConfigError when the file cannot be written.
    """
    try:
        if os.path.exists(target) and not os.path.isfile(target):  # a pipe or a device must not be replaced by a file
            Path(target).write_bytes(data)
            return
        path = Path(os.path.realpath(target))
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, mode)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(f"cannot write {target}: {error.strerror or error}") from error


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def complain(message: str) -> None:
    """An error in plain text."""
    print(f"jettison: {message}", file=sys.stderr)


def in_options(message: str) -> str:
    """The advice of an error in the words of this command."""
    for setting, option in _OPTIONS:
        message = message.replace(setting, option)
    return message
