"""Judge and summariser with a real small model behind a real server: plumbing, limits and fall-backs, not quality.

`make test-llm` runs it. Its answers are poor, so nothing is asserted of what they say: only that each is either used
within its bounds or refused with a note, and that the request is sound in any case.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from jettison import Policy, Session
from jettison.compressors.asking import summarised
from jettison.compressors.summary import Limits, summarise
from jettison.compressors.summary_text import Part, Refused, Source
from jettison.integrations.judges import AsyncOpenAIJudge, OpenAIJudge
from jettison.integrations.openai_summarizer import OpenAISummarizer
from jettison.relevance.limits import JudgeLimits
from jettison.tokens import o200k
from llm.server import ModelServer, weights
from unit.relevance.talk import bag, talk

pytest.importorskip("ik_llama_cpp", reason="make test-llm installs it")
if weights() is None:
    pytest.skip("the model is not installed: make test-llm", allow_module_level=True)


@pytest.fixture(scope="module")
def server():
    made = ModelServer()
    yield made
    made.stop()


def session(judge, **limits):
    limits = JudgeLimits(**{"passages": 1, "seconds": 100, **limits})
    return Session(Policy(budget=260, relevance="full", embedder=bag, judge=judge, judge_limits=limits))


def assert_sound(fitted):
    assert fitted.report.ok
    assert fitted.report.after <= 260
    said = [note for note in fitted.report.notes if note.startswith("judge:")]
    judged = [row for row in fitted.report.rows if "judge" in row.score.signals]
    assert said or judged, "the answer was neither used nor refused"
    for row in judged:
        signals = row.score.signals
        assert 0 <= signals["judge"] <= 1
        assert abs(signals["prose"] - signals["embedding"]) <= JudgeLimits().bound + 1e-9


def test_the_judge_is_asked_and_its_answer_used_or_refused(server):
    before = server.seen
    fitted = session(OpenAIJudge(server.url, "smollm2", timeout=90)).fit(talk())
    assert server.seen == before + 1
    assert fitted.report.spent.judge_tokens > 100
    assert_sound(fitted)


def test_a_model_slower_than_the_deadline_is_left(server):
    began = time.monotonic()
    # One passage: the server goes on to the end of the answer, and the next test waits for that.
    fitted = session(OpenAIJudge(server.url, "smollm2", timeout=90), seconds=0.3).fit(talk())
    assert time.monotonic() - began < 10
    assert any("no answer within 0.3 s" in note for note in fitted.report.notes)
    assert_sound(fitted)


def test_the_async_judge(server):
    fitted = asyncio.run(session(AsyncOpenAIJudge(server.url, "smollm2", timeout=90)).afit(talk()))
    assert_sound(fitted)


def test_the_summariser_answers_or_the_text_is_extracted(server):
    parts = (Part("user", "Refund the order ORD-1 of Tuesday."), Part("assistant", "It rains in this town. " * 30))
    summarizer = OpenAISummarizer(server.url, "smollm2", window=700, timeout=60)
    steps = summarise(
        Source(parts, 2, must_keep=("ORD-1",)),
        max_tokens=60,
        count=o200k,
        summarizer=summarizer,
        limits=Limits(seconds=40),
    )
    made = summarised(steps)
    assert made.calls >= 1
    if isinstance(made, Refused):
        assert made.reason
    else:
        assert made.tokens <= 60
        assert "ORD-1" in made.text
        assert made.by == "smollm2" or made.notes
