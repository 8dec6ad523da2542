"""Files and folders by URL (`s3://bucket/traces/*.parquet`, `memory://run`), on whatever fsspec knows.

Needs the extra `jettison[replay]`, and the package of the protocol itself (s3fs, gcsfs), which fsspec names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from jettison.errors import ConfigError

__all__ = ["Remote", "filesystem", "found_at", "is_url"]


@dataclass(frozen=True, slots=True)
class Remote:
    """A file on a filesystem of fsspec; opened, and named, as a `Path` is."""

    url: str
    files: Any = field(compare=False, repr=False)
    path: str = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def folder(self) -> str:
        """Name of the folder it lies in; empty at the top."""
        return self.path.rsplit("/", 2)[-2] if self.path.count("/") else ""

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.files.size(self.path))

    def open(self, mode: str = "rb") -> IO[bytes]:
        opened: IO[bytes] = self.files.open(self.path, mode)
        return opened


def is_url(given: str) -> bool:
    """Whether fsspec is asked, and not the local file system."""
    return "://" in given


def filesystem(url: str) -> tuple[Any, str]:
    """(filesystem, path on it). Raises ConfigError for a protocol nobody knows or whose package is not installed, and
    ModuleNotFoundError, naming the extra, without fsspec."""
    try:
        import fsspec
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(f"{url} needs pip install 'jettison[replay]'", name="fsspec") from missing
    try:
        files, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{url} cannot be reached: {error}") from error
    return files, str(path)


def found_at(url: str) -> Iterator[tuple[Remote, bool]]:
    """(file, whether it was named itself and not only its folder) pairs, in order: a file, a folder, or a glob."""
    files, path = filesystem(url)
    folder = files.isdir(path)
    paths = files.find(path) if folder else [path] if files.exists(path) else files.glob(path)
    for name in sorted(paths):
        if not files.isdir(name):
            yield Remote(files.unstrip_protocol(name), files, name), not folder
