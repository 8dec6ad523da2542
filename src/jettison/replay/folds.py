"""What a gain is judged on: parts of the runs that a choice or a fit did not see."""

from __future__ import annotations

from jettison.errors import ConfigError

__all__ = ["BY", "check_folds"]

BY = ("task", "file")
"""What is held out together."""


def check_folds(by: str, folds: int) -> None:
    """Raises ConfigError, naming the setting, for one that cannot work."""
    if by not in BY:
        raise ConfigError(f"by={by!r} is not known: hold out by 'task' or by 'file'")
    if folds < 2:
        raise ConfigError(f"folds must be 2 or more, not {folds}: each part is judged by the others")
