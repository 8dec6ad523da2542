"""What the stores share: how versions are numbered."""

from __future__ import annotations

import os

__all__ = ["first_version"]


def first_version() -> int:
    """The number of a state that has no predecessor; later ones count on from it.

    Random (48 bits): after a conversation was deleted and begun anew, a worker that knew the old one cannot take the
    new one's version for its own.
    """
    return 1 + int.from_bytes(os.urandom(6), "big")
