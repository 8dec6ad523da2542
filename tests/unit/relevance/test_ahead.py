"""The judge asked in the background: before an epoch, beside the calls, and never waited for."""

import asyncio
import threading

import pytest

from jettison import ConfigError
from jettison.call import Call
from jettison.relevance.ahead import Found, TakeIn
from jettison.relevance.effects import Embed, Judging, embedded, judged
from jettison.relevance.limits import JudgeLimits
from unit.relevance.talk import Counting, Scripted, bag, kept, session, talk

LIMITS = JudgeLimits(ahead=0.6, band=1.0)


def live(judge, budget=800, limits=LIMITS, **more):
    return session(budget, relevance="full", judge=judge, judge_limits=limits, **more)


def grown(history, steps=30):
    """The same user turn, with more said since: an epoch is due."""
    more = [
        {"role": "assistant", "content": f"A remark of no weight at all about page {at} of it."} for at in range(steps)
    ]
    return [*history, *more]


def judges(fitted):
    return [row for row in fitted.report.rows if "judge" in row.score.signals]


def test_it_is_asked_between_epochs_and_the_epoch_takes_in_the_answer():
    judge, history = Scripted(), talk()
    one = live(judge)
    fitted = one.fit(history)
    assert fitted.messages == history
    assert one._background.wait(20)
    assert len(judge.questions) == 1
    assert fitted.report.spent.judge_calls == 0
    after = one.fit(grown(history))
    assert after.report.cache.epoch != "none"
    assert judges(after)
    assert kept(after)
    assert after.report.spent.judge_calls == 1
    assert after.report.spent.judge_tokens > 100
    assert len(judge.questions) == 1
    assert one._memory.calls == 1


def test_no_epoch_waits_for_a_judge():
    """It never answers; the call goes on as with embeddings alone."""
    hold = threading.Event()
    one, history = live(lambda question: hold.wait(30)), talk()
    one.fit(history)
    try:
        after = one.fit(grown(history))
        assert not one._background.wait(0)
    finally:
        hold.set()
    assert not judges(after)
    cheap = session(800)
    cheap.fit(history)
    assert after.messages == cheap.fit(grown(history)).messages


def test_what_comes_too_late_is_taken_in_at_the_next_epoch():
    hold, history, judge = threading.Event(), talk(), Scripted()

    def slow(question):
        hold.wait(30)
        return judge(question)

    one = live(slow)
    one.fit(history)
    first = one.fit(grown(history))
    hold.set()
    assert one._background.wait(20)
    second = one.fit(grown(history, 60))
    assert first.report.spent.judge_calls == 0
    assert second.report.spent.judge_calls == 1


def test_an_agents_step_does_not_ask_again_and_a_new_turn_does():
    judge, history = Scripted(), talk()
    one = live(judge, budget=1_000)
    one.fit(history)
    for at in range(3):
        assert one._background.wait(20)
        one.fit(grown(history, at + 1))
    assert len(judge.questions) == 1
    one._background.taken()
    one.fit([*grown(history, 4), {"role": "user", "content": "And which dessert would she like best?"}])
    assert one._background.wait(20)
    assert len(judge.questions) == 2


@pytest.mark.parametrize(
    ("limits", "budget"), [(JudgeLimits(), 800), (LIMITS, 10_000)], ids=["not set", "far from an epoch"]
)
def test_nothing_is_asked(limits, budget):
    judge = Scripted()
    one = live(judge, budget, limits)
    one.fit(talk())
    assert one._background.wait(20)
    assert judge.questions == []


def test_observing_asks_nothing():
    judge = Scripted()
    one = live(judge)
    one.fit(talk(), observe=True)
    assert one._background.wait(20)
    assert judge.questions == []


def test_calls_are_limited_with_those_in_the_background():
    judge, history = Scripted(), talk()
    one = live(judge, 1_000, JudgeLimits(ahead=0.6, band=1.0, calls=1))
    one.fit(history)
    one._background.wait(20)
    one.fit(grown(history))
    for at in range(3):
        one.fit([*grown(history, 31 + at), {"role": "user", "content": f"And what about dessert number {at}?"}])
        one._background.wait(20)
    assert len(judge.questions) == 1


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"judge": lambda question: 1 / 0}, "ahead: judge: ZeroDivisionError"),
        ({"judge": lambda question: "no idea"}, "ahead: judge: the answer is not JSON"),
        ({"judge": Scripted(), "embedder": lambda texts: 1 / 0}, "ahead: embeddings: ZeroDivisionError"),
    ],
)
def test_a_failure_is_a_note_of_the_next_epoch(parts, says):
    judge = parts.pop("judge")
    one = live(judge, **parts)
    one.fit(talk())
    assert one._background.wait(20)
    after = one.fit(grown(talk()))
    assert any(note.startswith(says) for note in after.report.notes), after.report.notes
    assert after.report.ok


def test_a_job_that_breaks_is_a_note_too():
    one, history = live(Scripted()), talk()
    one.fit(history)
    assert one._background.wait(20)
    one._background.taken()

    def broken():
        raise RuntimeError("a counter of one's own is down")

    from jettison.relevance.ahead import Job

    one._background.start(Job("another", broken, one._memory.copy()))
    assert one._background.wait(20)
    after = one.fit(grown(history))
    assert "ahead: RuntimeError: a counter of one's own is down" in after.report.notes


def test_what_was_embedded_in_the_background_is_not_embedded_again():
    embedder, history = Counting(), talk()
    one = live(Scripted(), embedder=embedder)
    one.fit(history)
    assert one._background.wait(20)
    one.fit(grown(history))
    asked = [text for batch in embedder.asked for text in batch]
    assert len(asked) == len(set(asked))


def test_it_is_kept_in_the_archive_as_well(tmp_path):
    from jettison import Policy, Session

    def opened(embedder):
        policy = Policy(budget=800, relevance="full", embedder=embedder, judge=Scripted(), judge_limits=LIMITS)
        return Session(policy, archive=tmp_path / "a.db")

    embedder, later, history = Counting(), Counting(), talk()
    embedder.identity = later.identity = "bag 1"
    one = opened(embedder)
    one.fit(history)
    assert one._background.wait(20)
    one.fit(grown(history))
    opened(later).fit(grown(history))
    assert later.asked == []


def test_async_the_same_on_the_loop_of_its_own():
    async def judge(question):
        assert asyncio.get_running_loop() is loop[0]
        return Scripted()(question)

    async def embed(texts):
        return bag(texts)

    loop = []

    async def run():
        loop.append(asyncio.get_running_loop())
        one, history = live(judge, embedder=embed), talk()
        await one.afit(history)
        task = one._background._task
        await asyncio.wait_for(task, 20)
        return await one.afit(grown(history))

    after = asyncio.run(run())
    sync = live(Scripted())
    sync.fit(talk())
    assert sync._background.wait(20)
    assert judges(after)
    assert after.messages == sync.fit(grown(talk())).messages


def test_a_loop_that_ends_takes_its_job_with_it():
    """The session goes on in another loop."""
    held = []

    async def judge(question):
        if not held:
            held.append(True)
            await asyncio.sleep(60)
        return Scripted()(question)

    one, history = live(judge, budget=1_000), talk()

    async def first():
        await one.afit(history)
        async with asyncio.timeout(20):
            while not held:
                await asyncio.sleep(0.01)

    asyncio.run(first())
    assert one._background.wait(0)
    after = asyncio.run(one.afit([*history, {"role": "assistant", "content": "I see."}]))
    assert after.report.ok


def test_from_recorded_answers_a_run_is_the_same():
    history = talk()
    one = live(Scripted())
    one.fit(history)
    assert one._background.wait(20)
    recorded, first = played(one, grown(history), lambda effect: carried(one, effect))
    assert any(isinstance(answer, Found) for answer in recorded)

    again = live(lambda question: pytest.fail("asked again"), embedder=lambda texts: pytest.fail("asked again"))
    again._background.start = lambda job: None
    again.fit(history)
    answers = iter(recorded)
    _, second = played(again, grown(history), lambda effect: next(answers))
    assert second.messages == first.messages
    assert second.report.to_dict() == first.report.to_dict()


def carried(one, effect):
    if isinstance(effect, TakeIn):
        return one._background.taken()
    if isinstance(effect, Embed):
        return embedded(effect)
    return judged(effect) if isinstance(effect, Judging) else None


def played(one, history, answer):
    steps, answers, given = one._fitting(Call(history)).steps(), [], None
    while True:
        try:
            effect = steps.send(given)
        except StopIteration as stop:
            return answers, stop.value[0]
        given = answer(effect)
        answers.append(given)


@pytest.mark.parametrize("wrong", [0, 1.5, -1])
def test_a_share_that_cannot_be(wrong):
    with pytest.raises(ConfigError):
        JudgeLimits(ahead=wrong)
