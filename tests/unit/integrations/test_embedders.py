"""Embedders: an endpoint against a real server on loopback, objects like those of sentence-transformers, callables."""

import asyncio
import json

import numpy as np
import pytest

from jettison import Policy, Session
from jettison.errors import CompressionFailed, ConfigError
from jettison.relevance.effects import Embed, embedded, embedded_async
from unit.integrations.loopback import serving
from unit.relevance.talk import bag, kept, session, talk

pytest.importorskip("httpx", reason="needs jettison[summary]")

from jettison.integrations.embedders import AsyncOpenAIEmbedder, OpenAIEmbedder, SentenceTransformerEmbedder

TEXTS = ["The garden gate is painted green.", "Ворота в саду покрашены зелёной краской.", "庭の門は緑です。"]
ROWS = [[1.0, 0.0], [0.6, 0.8], [0.0, -2.0]]


def response(rows, order=None):
    entries = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
    return json.dumps({"object": "list", "data": [entries[at] for at in order or range(len(rows))]})


@pytest.fixture
def server():
    with serving() as made:
        made.script = [(200, response(ROWS))]
        yield made


def both(server, **settings):
    one = OpenAIEmbedder(server.url, "some-model", "not-a-real-key", **settings)
    two = AsyncOpenAIEmbedder(server.url, "some-model", "not-a-real-key", **settings)
    return one, lambda texts: asyncio.run(two(texts))


def test_texts_are_sent_as_they_are_and_rows_come_back(server):
    for embed in both(server, dimensions=2):
        assert embed(TEXTS) == ROWS
    asked = {"model": "some-model", "input": TEXTS, "dimensions": 2}
    assert server.seen == [("/v1/embeddings", "Bearer not-a-real-key", asked)] * 2


def test_rows_are_put_in_the_order_of_the_texts(server):
    server.script = [(200, response(ROWS, (2, 0, 1)))]
    for embed in both(server):
        assert embed(TEXTS) == ROWS


@pytest.mark.parametrize(
    ("status", "text", "says"),
    [
        (200, response(ROWS[:2]), "no vectors of 3 texts"),
        (200, '{"data": [{"embedding": [1]}]}', "no vectors"),
        (200, '{"error": "model not loaded"}', "model not loaded"),
        (200, "[]", "no vectors"),
        (200, "null", "no vectors"),
        (200, "<html>gateway</html>", "gateway"),
        (500, "out of memory", "500: out of memory"),
        (401, "no such key", "401"),
    ],
)
def test_a_bad_response_says_what_came(server, status, text, says):
    server.script = [(status, text)]
    for embed in both(server):
        with pytest.raises(CompressionFailed, match=says):
            embed(TEXTS)


@pytest.mark.parametrize("text", ["hang", "drip"])
def test_a_slow_endpoint_is_left(server, text):
    server.script = [(200, text)]
    for embed in both(server, timeout=0.2):
        with pytest.raises(TimeoutError, match=r"within 0\.2 s"):
            embed(TEXTS)
    one, two = OpenAIEmbedder(server.url, "m"), AsyncOpenAIEmbedder(server.url, "m")
    assert embedded(Embed(one, tuple(TEXTS), 0.2)).failure == "no answer within 0.2 s"
    assert asyncio.run(embedded_async(Embed(two, tuple(TEXTS), 0.2))).failure == "no answer within 0.2 s"


@pytest.mark.parametrize(
    "row", [[float("nan"), 1.0], [], ["a", "b"], [1.0, 2.0, 3.0], None], ids=["nan", "empty", "words", "longer", "null"]
)
def test_rows_that_are_none_are_a_failure_of_the_embedder_alone(server, row):
    server.script = [(200, response([row, *ROWS[1:]]))]
    found = embedded(Embed(OpenAIEmbedder(server.url, "m"), tuple(TEXTS), 5))
    assert found.rows == []
    assert "embedder gave" in found.failure


def test_a_session_through_the_endpoint_gives_what_the_embedder_itself_gives(server):
    """The server is a real one, its vectors are those of `bag`."""
    server.embed = bag
    expected = session().fit(talk())
    for kind, fit in ((OpenAIEmbedder, Session.fit), (AsyncOpenAIEmbedder, lambda s, h: asyncio.run(s.afit(h)))):
        live = session(embedder=kind(server.url, "m"))
        fitted = fit(live, talk())
        assert kept(fitted)
        assert fitted.messages == expected.messages
        assert fitted.report.spent.embedded == expected.report.spent.embedded


def test_settings_that_cannot_work():
    with pytest.raises(ConfigError):
        OpenAIEmbedder("localhost", "m")
    with pytest.raises(ConfigError):
        OpenAIEmbedder("http://localhost", "m", timeout=0)


def test_what_identifies_the_vectors():
    names = {
        OpenAIEmbedder("http://a/v1", "m").identity,
        OpenAIEmbedder("http://b/v1", "m").identity,
        OpenAIEmbedder("http://a/v1", "n").identity,
        OpenAIEmbedder("http://a/v1", "m", dimensions=64).identity,
    }
    assert len(names) == 4
    assert OpenAIEmbedder("http://a/v1", "m", "key", timeout=9).identity in names
    assert SentenceTransformerEmbedder(Transformer()).identity == ""
    assert SentenceTransformerEmbedder(Transformer(), identity="mine 3").identity == "mine 3"


def test_the_key_is_not_shown():
    assert "not-a-real-key" not in repr(OpenAIEmbedder("http://localhost", "m", "not-a-real-key"))


class Transformer:
    """What of `SentenceTransformer` is used: `encode` with its keywords."""

    def __init__(self):
        self.asked = []

    def encode(self, sentences, show_progress_bar=None, normalize_embeddings=False):
        self.asked.append((list(sentences), show_progress_bar, normalize_embeddings))
        return bag(sentences)


def test_an_object_like_a_sentence_transformer():
    model = Transformer()
    embed = SentenceTransformerEmbedder(model, normalize_embeddings=True)
    assert np.array_equal(embed(TEXTS), bag(TEXTS))
    assert model.asked == [(TEXTS, False, True)]
    fitted = session(embedder=SentenceTransformerEmbedder(model)).fit(talk())
    assert fitted.messages == session().fit(talk()).messages


def test_a_model_by_name_names_the_package_that_it_needs(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match="pip install sentence-transformers"):
        SentenceTransformerEmbedder("some-model")


@pytest.mark.parametrize(
    "embed",
    [
        lambda texts: bag(texts).tolist(),
        lambda texts: [tuple(row) for row in bag(texts)],
        lambda texts: bag(texts).astype(np.float64),
        type("Callable", (), {"__call__": lambda self, texts: bag(texts)})(),
    ],
    ids=["lists", "tuples", "float64", "object"],
)
def test_any_callable_will_do(embed):
    fitted = Session(Policy(budget=260, relevance="rules+embeddings", embedder=embed)).fit(talk())
    assert fitted.messages == session().fit(talk()).messages
