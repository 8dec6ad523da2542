"""Settings from a TOML file: `jettison.toml` beside this module lists all of them with their evidence."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar

from jettison.budget import Budget
from jettison.errors import ConfigError
from jettison.tool_policy import ToolPolicy

__all__ = ["CODE_ONLY", "made_from", "read_settings"]

P = TypeVar("P")

CODE_ONLY = ("scorers", "protectors", "checks", "embedder", "judge", "embed_limits", "judge_limits", "prices")
"""Fields of a policy that hold functions or objects: they cannot stand in a file."""


def made_from(kind: Callable[..., P], path: str | PathLike[str], names: Iterable[str], changes: Mapping[str, Any]) -> P:
    """A policy (`kind`) of a file, with `changes` from code on top. Raises ConfigError that names the file."""
    values = {**read_settings(path, names), **changes}
    where = fspath(path)
    if values.get("relevance") == "full" and values.get("judge") is None:
        raise ConfigError(
            f"{where}: relevance = 'full' asks a judge, which only code can give: "
            f"Policy.from_file({where!r}, judge=…); or write 'rules+embeddings'"
        )
    try:
        return kind(**values)
    except (ConfigError, TypeError) as error:
        given = f" with {', '.join(changes)} from code" if changes else ""
        raise ConfigError(f"{where}{given}: {error}") from error


def read_settings(path: str | PathLike[str], names: Iterable[str]) -> dict[str, Any]:
    """Keyword arguments for `Policy`, whose field names are `names`.

    Raises ConfigError for a file that cannot be read, an unknown setting (with the nearest known one), and settings
    that only code can give.
    """
    where = fspath(path)
    try:
        found = tomllib.loads(Path(where).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {where}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{where} is not TOML: {error}") from error
    known = [name for name in names if name not in CODE_ONLY]
    _known(found, known, where)
    if isinstance(found.get("budget"), dict):
        found["budget"] = _made(Budget, found["budget"], f"{where}: [budget]")
    if "tools" in found:
        if not isinstance(found["tools"], list):
            raise ConfigError(f"{where}: tools are written as [[tools]], a table each")
        made = (_made(ToolPolicy, table, f"{where}: [[tools]] {at}") for at, table in enumerate(found["tools"], 1))
        found["tools"] = tuple(made)
    return found


def _made(kind: Any, table: Any, where: str) -> Any:
    if not isinstance(table, dict):
        raise ConfigError(f"{where} is a table")
    _known(table, [field.name for field in fields(kind)], where)
    for field in fields(kind):
        if field.name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise ConfigError(f"{where}: it needs `{field.name} = …`")
    try:
        return kind(**table)
    except (ConfigError, TypeError) as error:
        raise ConfigError(f"{where}: {error}") from error


def _known(found: Mapping[str, Any], known: list[str], where: str) -> None:
    for name in found:
        if name in CODE_ONLY:
            raise ConfigError(f"{where}: {name} is no plain value: give it in code, Policy.from_file(path, {name}=…)")
        if name in ("worth", "shapes"):
            raise ConfigError(
                f"{where}: [{name}] are weights that `jettison tune --toml` fitted, and no settings of a policy: "
                f"`jettison tune PATH... --policy {where}` writes a file of settings"
            )
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f", did you mean {near[0]!r}?" if near else f": there are {', '.join(known)}"
            raise ConfigError(f"{where}: there is no setting {name!r}{hint}")
