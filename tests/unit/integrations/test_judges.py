"""Judges: an endpoint against a real server on loopback, and a client with the shape of Anthropic's."""

import asyncio
import json
import re
from types import SimpleNamespace

import pytest

from jettison.errors import CompressionFailed, CutAnswer
from jettison.protocols import Question, Quoted
from jettison.relevance.effects import Judging, judged, judged_async
from jettison.relevance.limits import JudgeLimits
from unit.integrations.loopback import completion, serving
from unit.relevance.talk import NEEDED, Scripted, session, talk

pytest.importorskip("httpx", reason="needs jettison[summary]")

from jettison.integrations.judges import AnthropicJudge, AsyncOpenAIJudge, OpenAIJudge

QUESTION = Question((Quoted("p1", "1.0-x", "user", 3, NEEDED),), ("goal: party",), "Judge this.", 48)
ANSWER = '{"p1": {"usefulness": 0.9, "reason": "food"}}'


@pytest.fixture
def server():
    with serving() as made:
        made.script = [(200, completion(ANSWER))]
        yield made


def both(server, **settings):
    one = OpenAIJudge(server.url, "small", "not-a-real-key", **settings)
    two = AsyncOpenAIJudge(server.url, "small", "not-a-real-key", **settings)
    return one, lambda question: asyncio.run(two(question))


def test_the_prompt_is_the_users_turn_and_the_answer_comes_back(server):
    for judge in both(server, response_format={"type": "json_object"}):
        assert judge(QUESTION) == ANSWER
    asked = {
        "model": "small",
        "messages": [{"role": "user", "content": "Judge this."}],
        "max_tokens": 48,
        "temperature": 0,
        "response_format": {"type": "json_object"},
    }
    assert server.seen == [("/v1/chat/completions", "Bearer not-a-real-key", asked)] * 2


@pytest.mark.parametrize(
    ("status", "text", "error"),
    [
        (200, completion('{"p1": {"useful', "length"), CutAnswer),
        (200, completion(None), CompressionFailed),
        (200, "{}", CompressionFailed),
        (200, "<html>", CompressionFailed),
        (503, "busy", CompressionFailed),
    ],
)
def test_a_bad_response_is_an_error(server, status, text, error):
    server.script = [(status, text)]
    for judge in both(server):
        with pytest.raises(error):
            judge(QUESTION)


@pytest.mark.parametrize("text", ["hang", "drip"])
def test_a_slow_endpoint_costs_the_deadline(server, text):
    server.script = [(200, text)]
    one, two = OpenAIJudge(server.url, "small"), AsyncOpenAIJudge(server.url, "small")
    for found in (judged(Judging(one, QUESTION, 0.2)), asyncio.run(judged_async(Judging(two, QUESTION, 0.2)))):
        assert found.failure == "no answer within 0.2 s"
        assert 0.2 <= found.seconds < 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (completion("I find the first passage quite useful."), "not JSON"),
        (completion(ANSWER, "length"), "CutAnswer"),
        ("hang", r"no answer within 0\.3 s"),
    ],
)
def test_in_a_session_the_cheap_scores_stand_and_the_report_says_so(server, text, says):
    server.script = [(200, text)]
    settings = {"relevance": "full", "judge_limits": JudgeLimits(seconds=0.3 if text == "hang" else 20)}
    expected = session().fit(talk()).messages
    sync = session(judge=OpenAIJudge(server.url, "small"), **settings).fit(talk())
    live = session(judge=AsyncOpenAIJudge(server.url, "small"), **settings)
    for fitted in (sync, asyncio.run(live.afit(talk()))):
        assert any(note.startswith("judge:") and re.search(says, note) for note in fitted.report.notes)
        assert fitted.messages == expected


class Client:
    """What of Anthropic's client is used: `messages.create`, sync or async. The real one is in tests/integration."""

    def __init__(self, answer, later=False):
        self.answer, self.later, self.asked = answer, later, []
        self.messages = self

    def create(self, **body):
        self.asked.append(body)
        blocks = [SimpleNamespace(type="thinking", thinking="hm"), SimpleNamespace(type="text", text=self.answer)]
        message = SimpleNamespace(content=blocks)
        return self._later(message) if self.later else message

    async def _later(self, message):
        return message


@pytest.mark.parametrize("later", [False, True])
def test_an_anthropic_client(later):
    client = Client(ANSWER, later)
    judge = AnthropicJudge(client, "some-model", stop_sequences=["x"])
    for found in (judged(Judging(judge, QUESTION, 5)), asyncio.run(judged_async(Judging(judge, QUESTION, 5)))):
        assert (found.text, found.failure) == (ANSWER, "")
    asked = {"model": "some-model", "max_tokens": 48, "stop_sequences": ["x"]}
    assert client.asked == [asked | {"messages": [{"role": "user", "content": "Judge this."}]}] * 2


@pytest.mark.parametrize("answer", [None, 7, b"{}", {"p1": 1}])
def test_an_answer_that_is_no_text_leaves_the_cheap_scores(answer):
    fitted = session(relevance="full", judge=lambda question: answer).fit(talk())
    assert any(note.startswith("judge: the answer is") for note in fitted.report.notes)
    assert fitted.messages == session().fit(talk()).messages


def test_a_good_answer_through_the_endpoint_moves_scores(server):
    judge = OpenAIJudge(server.url, "small")
    asked = Scripted()

    def ask(question):
        server.script = [(200, completion(asked(question)))]
        return judge(question)

    fitted = session(relevance="full", judge=ask).fit(talk())
    assert fitted.messages == session(relevance="full", judge=Scripted()).fit(talk()).messages
    assert json.loads(asked(asked.questions[0]))
    assert any("judge" in row.score.signals for row in fitted.report.rows)
