"""Vectors: checked when they come from an embedder, compared by cosine. Needs numpy, from `jettison[embeddings]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["centred", "checked", "cosines", "mean", "packed", "unpacked"]


def checked(given: Any, count: int) -> list[Any]:
    """`count` rows of unit length as float16 (a vector of 512 numbers takes 1 KB). Raises ValueError for anything
    that is not `count` rows of one length with finite numbers; a row of zeros stays one."""
    numpy = _numpy()
    try:
        rows = numpy.asarray(given, dtype=numpy.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the embedder gave no rows of numbers: {error}") from None
    if rows.ndim != 2 or rows.shape[0] != count or not rows.shape[1]:
        raise ValueError(f"the embedder gave the shape {rows.shape} for {count} texts")
    if not numpy.isfinite(rows).all():
        raise ValueError("the embedder gave numbers that are not finite")
    norms = numpy.linalg.norm(rows, axis=1, keepdims=True)
    return list((rows / numpy.where(norms > 0, norms, 1)).astype(numpy.float16))


def packed(row: Any) -> bytes:
    """A row of `checked` as bytes: float16, little-endian."""
    return bytes(row.astype("<f2").tobytes())


def unpacked(data: bytes) -> Any:
    """The row again. Raises ValueError for bytes that `packed` did not make."""
    numpy = _numpy()
    row = numpy.frombuffer(data, dtype="<f2").astype(numpy.float16)
    if not len(row) or not numpy.isfinite(row).all():
        raise ValueError("a kept vector is not one")
    return row


def cosines(rows: Sequence[Any], queries: Sequence[Any]) -> list[list[float]]:
    """Cosine of each row with each query. Raises ValueError when their lengths differ."""
    if not rows or not queries:
        return [[] for _ in rows]
    numpy = _numpy()
    left = numpy.asarray(rows, dtype=numpy.float32)
    right = numpy.asarray(queries, dtype=numpy.float32)
    found: list[list[float]] = (left @ right.T).tolist()
    return found


def mean(rows: Sequence[Any]) -> Any:
    """The middle of these rows. Raises ValueError when their lengths differ."""
    numpy = _numpy()
    return numpy.asarray(rows, dtype=numpy.float32).mean(axis=0)


def centred(rows: Sequence[Any], middle: Any) -> list[Any]:
    """Rows seen from `middle`, of unit length: what all texts have in common says nothing of any (Mu, Viswanath: All
    but the top, 2018). Raises ValueError when lengths differ."""
    if not rows:
        return []
    numpy = _numpy()
    apart = numpy.asarray(rows, dtype=numpy.float32) - middle
    norms = numpy.linalg.norm(apart, axis=1, keepdims=True)
    return list(apart / numpy.where(norms > 1e-3, norms, numpy.inf))  # float16 is no finer


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        raise ImportError("embeddings need numpy: pip install 'jettison[embeddings]'") from error
    return numpy
