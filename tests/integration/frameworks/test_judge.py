"""A judge behind Anthropic's own client, sync and async, against a real server on loopback."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from jettison.integrations.judges import AnthropicJudge
from jettison.relevance.limits import JudgeLimits
from unit.integrations.loopback import Server, serving
from unit.relevance.talk import Scripted, session, talk

anthropic = pytest.importorskip("anthropic", reason="needs jettison[anthropic]")


def message(text: str) -> str:
    """A response of the Messages API: what the model thought, and what it said."""
    content = [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": text}]
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "some-model",
            "content": content,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


def clients(server: Server, retries: int = 0):
    settings = {"api_key": "none", "base_url": server.url.removesuffix("/v1"), "max_retries": retries}
    return anthropic.Anthropic(**settings), anthropic.AsyncAnthropic(**settings)


def fitted(server: Server, **limits):
    """Sync with the one client, async with the other."""
    one, two = clients(server)
    settings = {"relevance": "full", "judge_limits": JudgeLimits(**limits)}
    sync = session(judge=AnthropicJudge(one, "some-model", stop_sequences=["\n\n\n"]), **settings).fit(talk())
    later = session(judge=AnthropicJudge(two, "some-model", stop_sequences=["\n\n\n"]), **settings)
    return sync, asyncio.run(later.afit(talk()))


def test_the_answer_moves_scores_as_that_of_any_judge() -> None:
    asked = Scripted()
    expected = session(relevance="full", judge=asked).fit(talk())
    with serving() as server:
        server.script = [(200, message(asked(asked.questions[0])))]
        for found in fitted(server):
            assert found.messages == expected.messages
            assert any("judge" in row.score.signals for row in found.report.rows)
        path, _, body = server.seen[0]
    assert path == "/v1/messages"
    assert body == {
        "model": "some-model",
        "max_tokens": asked.questions[0].max_tokens,
        "messages": [{"role": "user", "content": asked.questions[0].prompt}],
        "stop_sequences": ["\n\n\n"],
    }


@pytest.mark.parametrize(
    ("status", "text", "says"),
    [
        (200, message("I would keep the second one."), "not JSON"),
        (529, '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', "529|Overloaded"),
        (401, '{"type": "error", "error": {"type": "authentication_error", "message": "no"}}', "AuthenticationError"),
        (200, "hang", r"no answer within 0\.5 s"),
    ],
)
def test_what_goes_wrong_leaves_the_cheap_scores(status: int, text: str, says: str) -> None:
    cheap = session().fit(talk()).messages
    with serving() as server:
        server.script = [(status, text)]
        for found in fitted(server, seconds=0.5 if text == "hang" else 30):
            notes = [note for note in found.report.notes if note.startswith("judge:")]
            assert len(notes) == 1
            assert re.search(says, notes[0])
            assert found.messages == cheap
