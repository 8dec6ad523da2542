"""The endpoint adapter against a real server on loopback that does what it is told, wrong things too."""

import asyncio

import pytest

from jettison.compressors.asking import answered, answered_async, summarised, summarised_async
from jettison.compressors.summary import Ask, summarise
from jettison.compressors.summary_text import Part, Source
from jettison.errors import CompressionFailed, ConfigError, CutAnswer
from jettison.tokens import o200k
from unit.integrations.loopback import Server, completion, serving

pytest.importorskip("httpx", reason="needs jettison[summary]")

from jettison.integrations.openai_summarizer import AsyncOpenAISummarizer, OpenAISummarizer

BODY = "Done:\n- none\nOpen:\n- ORD-1 is to be refunded\nFacts:\n- none\nDecisions:\n- none\n[end]"
SOURCE = Source((Part("user", "Refund ORD-1. " + "It rains a lot in this town. " * 40),), 1, must_keep=("ORD-1",))
KEY = "not-a-real-key"


@pytest.fixture
def server():
    with serving() as made:
        made.script = [(200, completion(BODY))]
        yield made


def both(server, **settings):
    """The sync and the async one as plain functions."""
    one = OpenAISummarizer(server.url, "small", KEY, **settings)
    two = AsyncOpenAISummarizer(server.url, "small", KEY, **settings)
    return one, lambda prompt, tokens: asyncio.run(two(prompt, tokens))


def test_an_answer_comes_back(server):
    for ask in both(server, top_p=0.5, temperature=None):
        assert ask("say something", 77) == BODY
    asked = {
        "model": "small",
        "messages": [{"role": "user", "content": "say something"}],
        "max_tokens": 77,
        "top_p": 0.5,
    }
    assert server.seen == [("/v1/chat/completions", f"Bearer {KEY}", asked)] * 2


def test_without_a_key_none_is_sent(server):
    OpenAISummarizer(server.url + "/", "small")("x", 5)
    assert server.seen[0][:2] == ("/v1/chat/completions", None)


@pytest.mark.parametrize(
    ("status", "text", "error", "says"),
    [
        (200, completion("Done", "length"), CutAnswer, "length"),
        (200, completion("", "content_filter"), CompressionFailed, "content_filter"),
        (200, completion(None), CompressionFailed, "no text"),
        (200, "<html>gateway</html>", CompressionFailed, "no chat completion: <html>"),
        (200, "", CompressionFailed, "no chat completion"),
        (200, "[]", CompressionFailed, "no chat completion"),
        (200, '{"choices": []}', CompressionFailed, "no chat completion"),
        (200, '{"choices": [{"message": "x"}]}', CompressionFailed, "no chat completion"),
        (200, "[" * 100_000, CompressionFailed, "no chat completion"),
        (500, '{"error": "context_length_exceeded"}', CompressionFailed, "500: .*context_length_exceeded"),
        (429, "slow down", CompressionFailed, "429"),
        (200, " " * 4_000_001, CompressionFailed, "larger than"),
    ],
)
def test_a_bad_response_is_an_error_that_says_what_came(server, status, text, error, says):
    server.script = [(status, text)]
    for ask in both(server):
        with pytest.raises(error, match=says) as raised:
            ask("x", 5)
        assert KEY not in str(raised.value)


@pytest.mark.parametrize("text", ["hang", "drip"])
def test_a_server_that_never_ends_is_left(server, text):
    server.script = [(200, text)]
    for ask in both(server, timeout=0.2):
        with pytest.raises(TimeoutError, match=r"within 0\.2 s"):
            ask("x", 5)


@pytest.mark.parametrize("text", ["hang", "drip"])
def test_the_drivers_own_limit_holds_too(server, text):
    server.script = [(200, text)]
    one, two = (kind(server.url, "small") for kind in (OpenAISummarizer, AsyncOpenAISummarizer))
    assert answered(Ask(one, "x", 5, 0.2)).failure == "no answer within 0.2 s"
    assert asyncio.run(answered_async(Ask(two, "x", 5, 0.2))).failure == "no answer within 0.2 s"


def test_a_summary_through_the_endpoint(server):
    def steps(kind):
        return summarise(SOURCE, max_tokens=80, count=o200k, summarizer=kind(server.url, "small"))

    server.script = [(200, completion("Done", "length")), (200, completion(BODY))]
    found = summarised(steps(OpenAISummarizer))
    assert (found.by, found.calls, found.text) == ("small", 2, "Open:\n- ORD-1 is to be refunded")
    assert "the answer is cut" in server.seen[1][2]["messages"][0]["content"]
    assert asyncio.run(summarised_async(steps(AsyncOpenAISummarizer))).text == found.text


@pytest.mark.parametrize(("status", "text"), [(500, "broken"), (200, "{]"), (200, completion("Done", "length"))])
def test_a_broken_endpoint_means_extraction(server, status, text):
    server.script = [(status, text)]
    found = summarised(summarise(SOURCE, max_tokens=80, count=o200k, summarizer=OpenAISummarizer(server.url, "small")))
    assert found.by == "extractive"
    assert "ORD-1" in found.text
    assert "no summary by small" in found.notes[-1]


def test_nobody_listens():
    closed = Server()
    closed.server_close()
    gone = OpenAISummarizer(f"http://127.0.0.1:{closed.server_port}", "small")
    found = summarised(summarise(SOURCE, max_tokens=80, count=o200k, summarizer=gone))
    assert "ConnectError" in found.notes[-1]


def test_settings_that_cannot_work_are_refused():
    for wrong in ({"base_url": "localhost"}, {"timeout": 0}, {"window": 0}):
        with pytest.raises(ConfigError):
            OpenAISummarizer(**{"base_url": "http://localhost/v1", "model": "m", **wrong})
    assert KEY not in repr(OpenAISummarizer("http://localhost/v1", "m", KEY))


def test_without_httpx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    with pytest.raises(ImportError, match=r"jettison\[summary\]"):
        OpenAISummarizer("http://localhost/v1", "m")
