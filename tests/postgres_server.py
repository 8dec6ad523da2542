"""A PostgreSQL server of the tests' own: in a temporary folder, on a Unix socket, run by a user that is not root."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Server", "missing", "running"]

REQUIRED = "JETTISON_REQUIRE_POSTGRES"
"""Set by .ci/run: there a missing server fails the tests instead of skipping them."""


def program(name: str) -> str | None:
    """Where a program of the server is: Debian keeps them off the PATH."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    return found[-1] if found else shutil.which(name)


def missing() -> str | None:
    """What these tests need and this machine does not have; None: nothing."""
    if sys.platform == "win32":
        return "these tests talk to PostgreSQL over a Unix socket"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed: pip install 'jettison[postgres]'"
    if program("initdb") is None or program("pg_ctl") is None:
        return "no PostgreSQL server programs: apt-get install postgresql (Debian), brew install postgresql (macOS)"
    if os.geteuid() == 0 and _user() is None:
        return "PostgreSQL refuses to run as root, and there is neither a user `postgres` nor `nobody`"
    return None


def _user() -> Any:
    """The user to run the server as, where the tests run as root."""
    import pwd

    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


class Server:
    """`url` is the address of its database `postgres`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"postgresql://jettison@/postgres?host={folder}"
        self._as: dict[str, object] = {}
        if os.geteuid() == 0:
            user = _user()
            assert user is not None
            os.chown(folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self._run("initdb", "-D", f"{folder}/data", "-U", "jettison", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        self.start()

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c max_connections=30"
        self._run(
            "pg_ctl", "-D", f"{self.folder}/data", "-w", "-t", "120", "-l", f"{self.folder}/log", "-o", options, "start"
        )

    def kill(self) -> None:
        """Stop without a checkpoint, as after a power cut."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", "immediate", "stop")

    def _run(self, name: str, *args: str) -> None:
        path = program(name)
        assert path is not None
        done = subprocess.run(
            [path, *args],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # not a pipe: the server would inherit it and keep it open
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
            **self._as,  # type: ignore[call-overload]
        )
        if done.returncode:
            log = self.folder / "log"
            raise RuntimeError(f"{path} ended with {done.returncode}\n{log.read_text() if log.exists() else ''}")


@contextmanager
def running() -> Iterator[Server]:
    """A server that is gone afterwards, with its files."""
    folder = Path(tempfile.mkdtemp(prefix="jet"))  # short: the path of a socket has 107 bytes at most
    try:
        server = Server(folder)
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
