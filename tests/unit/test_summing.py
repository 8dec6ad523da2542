"""A rolling summary of what epochs dropped whole, through a session."""

from __future__ import annotations

import asyncio

import pytest

from jettison import Budget, ConfigError, Policy, Session

ANSWER = "Done:\n- none\nOpen:\n- none\nFacts:\n- the office is open\nDecisions:\n- the blue variant stays\n[end]"


class Scripted:
    name = "scripted"

    def __init__(self, answer=ANSWER):
        self.answer, self.prompts = answer, []

    def __call__(self, prompt, max_tokens):
        self.prompts.append(prompt)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Later(Scripted):
    async def __call__(self, prompt, max_tokens):
        await asyncio.sleep(0)
        return super().__call__(prompt, max_tokens)


def talk(turns, wire="openai-chat"):
    """A long chat with a rule in the first turn; the newest turn is the user's."""
    said = [("user", "Sort out order ORD-1001, please. Never refund more than 100 EUR.")]
    for n in range(turns):
        said.append(
            ("assistant", f"Batch B-{n} stays blue. " + "I will go on with the next one and tell you more. " * 10)
        )
        said.append(
            ("user", f"Note {n}: we keep the blue variant for batch B-{n}. " + "The office is open as usual. " * 14)
        )
    if wire == "gemini":
        roles = {"user": "user", "assistant": "model"}
        return [{"role": roles[role], "parts": [{"text": text}]} for role, text in said]
    return [{"role": role, "content": text} for role, text in said]


def run(session, turns=24, wire="openai-chat"):
    """What is sent at each call, and the report."""
    for n in range(1, turns):
        fitted = session.fit(talk(n, wire))
        yield fitted


def summaries(messages):
    return [text for message in messages if (text := str(message)).find("[summary of ") >= 0]


@pytest.mark.parametrize("summarizer", ["extractive", Scripted(), Later()])
def test_one_summary_rolls_and_its_handle_resolves(summarizer):
    session = Session(Policy(budget=2_500, summarizer=summarizer, recall=True))
    counts, first, last = [], None, None
    for fitted in run(session):
        found = summaries(fitted.messages)
        assert len(found) <= 1
        assert fitted.report.after <= 2_500
        if found and found != last:
            counts.append(int(found[0].split("[summary of ")[1].split()[0]))
            handle = found[0].split("ref ")[1].split("]")[0]
            assert "Batch B-" in session.recall(handle)
            assert "Never refund more than 100 EUR." in str(fitted.messages)
            assert any(entry.why == "summary" for entry in fitted.report.inserted)
            first, last = first or len(found[0]), found
    assert len(counts) > 2
    assert counts == sorted(set(counts))  # it stands for more and more,
    assert len(last[0]) < 3 * first  # and does not grow with it


def test_between_epochs_the_output_only_grows():
    session, before = Session(Policy(budget=2_500, summarizer="extractive")), []
    for fitted in run(session):
        if fitted.report.cache.epoch == "none":
            assert fitted.messages[: len(before)] == before
        before = fitted.messages


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_every_wire_takes_it(wire):
    session = Session(Policy(budget=Budget(2_500), summarizer="extractive"), wire=wire)
    seen = 0
    for fitted in run(session, wire=wire):
        assert session.wire.check(fitted.messages) == []
        assert fitted.report.ok if hasattr(fitted.report, "ok") else fitted.report.sendable
        seen += bool(summaries(fitted.messages))
    assert seen


@pytest.mark.parametrize("fault", [ValueError("context_length_exceeded"), ""])
def test_a_fault_is_reported_and_the_text_is_extracted(fault):
    session = Session(Policy(budget=2_500, summarizer=Scripted(fault)))
    notes = [note for fitted in run(session) for note in fitted.report.notes]
    assert any("scripted" in note for note in notes), notes
    assert summaries(session.fit(talk(24)).messages)


def test_async_gives_the_same():
    async def all_calls(session):
        return [(await session.afit(talk(n))).messages for n in range(1, 16)]

    later = asyncio.run(all_calls(Session(Policy(budget=2_500, summarizer=Later()))))
    assert later == [fitted.messages for fitted in run(Session(Policy(budget=2_500, summarizer=Scripted())), 16)]


def test_a_saved_session_goes_on_with_it():
    policy = Policy(budget=2_500, summarizer="extractive")
    one, outputs = Session(policy), []
    for n in range(1, 20):
        outputs.append(one.fit(talk(n)).messages)
    two = Session(policy)
    for n in range(1, 20):
        two = Session.load(two.save(), policy)
        assert two.fit(talk(n)).messages == outputs[n - 1]


def test_a_fork_before_it_forgets_it():
    session = Session(Policy(budget=2_500, summarizer="extractive"))
    assert [fitted for fitted in run(session) if summaries(fitted.messages)]
    fitted = session.fit([*talk(2)[:-1], {"role": "user", "content": "Something else altogether."}])
    assert not summaries(fitted.messages)
    assert fitted.report.after == Session(Policy(budget=2_500)).fit(fitted.messages).report.before


def test_observing_asks_nobody():
    summarizer = Scripted()
    session = Session(Policy(budget=2_500, summarizer=summarizer))
    for n in range(1, 20):
        session.fit(talk(n), observe=True)
    assert not summarizer.prompts


def test_an_unknown_name_is_refused():
    with pytest.raises(ConfigError, match="extractive"):
        Policy(summarizer="gpt")
