"""Embedders: local, behind an OpenAI-compatible endpoint, or a model of sentence-transformers. Any callable is one."""

from __future__ import annotations

import json
from typing import Any

from jettison.errors import CompressionFailed
from jettison.integrations.endpoint import Endpoint
from jettison.relevance.local import LocalEmbedder

__all__ = ["AsyncOpenAIEmbedder", "LocalEmbedder", "OpenAIEmbedder", "SentenceTransformerEmbedder"]


class _Embedding(Endpoint):
    path = "/embeddings"
    extra = "summary,embeddings"

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, *, timeout: float = 30.0, **settings: Any
    ) -> None:
        super().__init__(base_url, model, api_key, timeout=timeout, **settings)
        self.identity = f"{model} of {self._url} {json.dumps(settings, sort_keys=True, default=str)}"


class OpenAIEmbedder(_Embedding):
    """An `Embedder`: `OpenAIEmbedder("http://localhost:8000/v1", "some-embedding-model")`.

    Arguments and errors are those of `OpenAISummarizer`; other keywords go into the body (`dimensions=256`).
    """

    def __call__(self, texts: list[str]) -> list[Any]:
        return _rows(self.post({"input": texts}), len(texts))


class AsyncOpenAIEmbedder(_Embedding):
    """`OpenAIEmbedder` for an event loop."""

    async def __call__(self, texts: list[str]) -> list[Any]:
        return _rows(await self.apost({"input": texts}), len(texts))


class SentenceTransformerEmbedder:
    """An `Embedder` of a `SentenceTransformer`, or of its name: then sentence-transformers loads it, from the net if
    it is not there yet. Keywords go to `encode`. `identity`: under which name vectors may be kept in an archive; by
    default that of a model given by name, and none for an object, of which nobody knows what it is."""

    def __init__(self, model: Any, *, identity: str = "", **settings: Any) -> None:
        self.identity = identity
        if isinstance(model, str):
            self.name = model
            self.identity = identity or f"{model} {json.dumps(settings, sort_keys=True, default=str)}"
            model = _loaded(model)
        else:
            self.name = type(model).__name__
        self.model, self.settings = model, settings

    def __call__(self, texts: list[str]) -> Any:
        return self.model.encode(texts, show_progress_bar=False, **self.settings)


def _loaded(name: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ImportError("a model by name needs the package: pip install sentence-transformers") from error
    return SentenceTransformer(name)


def _rows(value: Any, count: int) -> list[Any]:
    """Vectors in the order of the texts: the response says which is which."""
    try:
        found = {entry["index"]: entry["embedding"] for entry in value["data"]}
        return [found[at] for at in range(count)]
    except (LookupError, TypeError) as error:
        raise CompressionFailed(f"the response holds no vectors of {count} texts: {str(value)[:120]}") from error
