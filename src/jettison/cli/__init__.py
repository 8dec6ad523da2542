"""The `jettison` command: `jettison fit FILE --budget 8k`, `jettison demo`, `jettison tune PATH...`.

Exit codes: 0 the result fits, 2 it cannot fit, 3 the input is broken, 64 wrong usage, 70 an error of our own.
Needs the extra `jettison[cli]`; `app` is imported only when the command runs, so that its absence can be told.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's own) and return its exit code."""
    try:
        from jettison.cli.app import run
    except ModuleNotFoundError as missing:
        if missing.name not in ("rich", "typer"):
            raise
        print(f"jettison: the command line needs {missing.name}: pip install 'jettison[cli]'", file=sys.stderr)
        return 70
    return run(argv)
