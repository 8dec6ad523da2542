"""Law 13 for embedder and judge: the request is sound, the cheaper score stands, and the report says so."""

import json
import threading
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.relevance.limits import EmbedLimits, JudgeLimits
from laws.support import assert_sound, fit_in, fit_once, same, session_for, weight
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, Script, law
from unit.relevance.talk import bag

per_wire = pytest.mark.parametrize("wire", WIRES)

NEVER = threading.Event()
EMBED = {
    "raises": lambda texts: 1 / 0,
    "too few": lambda texts: bag(texts)[:-1],
    "not finite": lambda texts: bag(texts) * float("nan"),
    "words": lambda texts: ["no"] * len(texts),
    "nothing": lambda texts: None,
    "late": lambda texts: NEVER.wait(0.5),
}
JUDGE = {
    "raises": lambda question: [][0],
    "garbled": lambda question: "The first one, I think.",
    "cut": lambda question: '{"p1": {"usefulness": 0.7, "rea',
    "out of range": lambda question: '{"p1": {"usefulness": 1e9}}',
    "of nobody": lambda question: '{"p999": {"usefulness": 1, "reason": ""}}',
    "no text": lambda question: {"p1": 1},
    "deep": lambda question: "[" * 50_000,
    "late": lambda question: NEVER.wait(0.5),
}
SHORT = {"late": 0.02}


SAID = (
    "By the way, my sister is a strict vegetarian and gets upset when people forget it.",
    "Items from the clearance sale are exchanged for store credit only.",
    "The owner likes the replies to be signed with the first name of the manager.",
    "Между прочим, бабушка не выносит громкой музыки за столом.",
    "Мы решили начать с интервью, а цифры оставить на потом.",
    "The calendar shows two free slots in the morning and a longer one after lunch.",
    "Посетители отмечаются на стойке и получают пропуск на день.",
)


@st.composite
def talks(draw, wire):
    """Things said by all sides, and a budget that holds a part of them."""
    some = st.lists(st.sampled_from(SAID), min_size=1, max_size=3).map(" ".join)
    turns = [Say("Plan my sister's party.")]
    for at in range(draw(st.integers(6, 14))):
        if draw(st.booleans()):
            page = "\n".join(f"{line} That is note {at}." for line in draw(some).split(". "))
            turns.append(Act((Call("read_page", {"page": at}, page),)))
        turns.append(Reply(f"{draw(some)} That was part {at}."))
        turns.append(Say(f"{draw(some)} Go on with {at + 1}."))
    history = render(Script("Be exact.", (*turns, Reply("Done."), Say("Now choose a dinner for her."))), wire)
    return history, int(weight(history) * draw(st.integers(25, 80)) / 100)


@dataclass
class Embedding:
    """`bag` that goes wrong from a batch on."""

    wrong: str = ""
    after: int = 0
    asked: int = field(default=0, init=False)
    failed: int = field(default=0, init=False)

    def __call__(self, texts):
        self.asked += 1
        if not self.wrong or self.asked <= self.after:
            return bag(texts)
        self.failed += 1
        return EMBED[self.wrong](texts)


def settings(embedding, seconds=20.0, **more):
    limits = EmbedLimits(batch=8, seconds=seconds)
    return {"relevance": "rules+embeddings", "embedder": embedding, "embed_limits": limits, **more}


def full(judge, seconds=20.0, **more):
    wide = JudgeLimits(seconds=seconds, band=1.0, least=1)
    return settings(Embedding()) | {"relevance": "full", "judge": judge, "judge_limits": wide, **more}


@per_wire
def test_13_an_embedder_that_fails(wire):
    """At its first batch the rules stand; later what has a vector counts, and the report says how many have none."""
    seen = Counter()

    @given(data=st.data())
    @law(12)
    def holds(data):
        history, budget = data.draw(talks(wire))
        wrong, after = data.draw(st.sampled_from(sorted(EMBED))), data.draw(st.sampled_from((0, 1, 3)))
        embedding = Embedding(wrong, after)
        fitted = fit_once(history, budget, **settings(embedding, SHORT.get(wrong, 20.0)))
        by_rules = fit_once(history, budget)
        assert (fitted is None) == (by_rules is None)
        if fitted is None:
            return
        assert_sound(history, fitted, budget)
        said = [note for note in fitted.report.notes if note.startswith("embeddings:")]
        assert bool(said) == bool(embedding.failed) or (wrong == "late" and said)  # a slow machine is late as well
        if embedding.failed and embedding.asked == 1:
            seen["rules stand"] += 1
            assert same(fitted.messages, by_rules.messages)
        seen["partial"] += embedding.failed and embedding.asked > 1

    holds()
    assert seen["rules stand"]
    assert seen["partial"]


@per_wire
def test_13_a_judge_that_fails(wire):
    seen = Counter()

    @given(data=st.data())
    @law(8)
    def holds(data):
        history, budget = data.draw(talks(wire))
        wrong, asked = data.draw(st.sampled_from(sorted(JUDGE))), []

        def judge(question):
            asked.append(question)
            return JUDGE[wrong](question)

        fitted = fit_once(history, budget, **full(judge, SHORT.get(wrong, 20.0)))
        cheap = fit_once(history, budget, **settings(Embedding()))
        assert (fitted is None) == (cheap is None)
        if fitted is None:
            return
        assert_sound(history, fitted, budget)
        assert bool(asked) == any(note.startswith("judge:") for note in fitted.report.notes)
        assert same(fitted.messages, cheap.messages)
        seen[wrong] += bool(asked)

    holds()
    assert len(seen - Counter()) > 3


@per_wire
def test_13_whatever_a_judge_says_no_law_is_broken(wire):
    """Any usefulness, of some passages or all, call after call."""
    seen = Counter()

    @given(data=st.data())
    @law(8)
    def holds(data):
        history, budget = data.draw(talks(wire))
        draw = data.draw(st.randoms(use_true_random=False))

        def judge(question):
            named = [entry.id for entry in question.passages if draw.random() < 0.8]
            seen["partial"] += len(named) < len(question.passages)
            seen["asked"] += 1
            return json.dumps({name: {"usefulness": draw.choice((0, 1, draw.random()))} for name in named})

        session = session_for(history, budget, **full(judge))
        for end in [*history.cuts[::4], len(history.messages)]:
            part = history.messages[:end]
            fitted = fit_in(session, history, part)
            if fitted is not None:
                assert_sound(history, fitted, budget, part)
                for row in fitted.report.rows:
                    signals = row.score.signals
                    if "judge" in signals and "embedding" in signals:
                        assert 0 <= signals["prose"] <= 1

    holds()
    assert seen["asked"]
    assert seen["partial"]
