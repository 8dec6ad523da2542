"""The extractive summary: verbatim, in order, gaps marked, nothing told by halves."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.extractive import GAP, PIECE, extract, unfinished
from jettison.compressors.summary_text import Part, Source, Summary, holds
from jettison.tokens import o200k
from strategies import law


def source(*parts, **more):
    return Source(tuple(Part(who, text) for who, text in parts), len(parts), **more)


def said(text):
    """The lines of a body without their speakers."""
    lines = [re.sub(r"^(?:user|assistant|result \w+|call \w+): |^  ", "", line) for line in text.split("\n")]
    return [line for line in lines if line != GAP]


FILLER = "The weather in the office was discussed at length and nothing came of it. "
BOOKING = source(
    ("user", "Book room 12 and tell me when it is confirmed."),
    ("result run", "09:00:00 INFO session.tick batch=466\n" * 8),
    ("assistant", "I filled in the form. I have not pressed confirm yet. " + FILLER * 6),
    ("user", "fine"),
)


def test_a_claim_comes_with_what_limits_it():
    for tokens in range(10, 120):
        body = extract(BOOKING, tokens, o200k)
        assert ("I filled in the form" in body) <= ("I have not pressed confirm yet" in body)
    assert "I have not pressed confirm yet" in extract(BOOKING, 60, o200k)


def test_the_same_in_russian():
    talk = source(
        ("user", "Забронируйте переговорную 12."),
        ("assistant", "Форму заполнил. Ещё не подтвердил. " + "Погоду обсуждали долго и без толку. " * 8),
        ("user", "Не пишите клиенту без согласования. " + "Погоду обсуждали долго и без толку. " * 8),
    )
    body = extract(talk, 60, o200k)
    assert "Форму заполнил. Ещё не подтвердил." in body
    assert "Не пишите клиенту без согласования." in body


def test_everything_that_fits_is_the_text_itself():
    talk = source(("user", "One.  Two.\nThree."), ("assistant", "Four."))
    assert extract(talk, 100, o200k) == "user: One.  Two.\n  Three.\nassistant: Four."


def test_gaps_are_marked_where_they_are():
    talk = source(("user", "Alpha is decided.\n" + FILLER * 3 + "\nWe agreed on Omega."), ("assistant", FILLER))
    assert extract(talk, 22, o200k) == "user: Alpha is decided.\n…\nuser: We agreed on Omega.\n…"


def test_what_is_done_is_not_told_as_pending():
    talk = source(
        ("result run", "W3 is pending approval"),
        ("assistant", FILLER * 4),
        ("result run", "W3 COMPLETE checksum=3a3f"),
        ("assistant", FILLER * 4),
        done=("W3",),
    )
    body = extract(talk, 40, o200k)
    assert "W3 COMPLETE" in body
    assert "pending" not in body


def test_what_is_open_is_told_as_pending():
    talk = source(
        ("result run", "RF-7 is pending approval"), ("assistant", FILLER * 9 + "We spoke of RF-7."), open=("RF-7",)
    )
    assert "RF-7 is pending approval" in extract(talk, 30, o200k)


def test_words_of_the_task_come_first():
    talk = source(
        ("assistant", f"The kettle is red. {FILLER * 9}The engine is blue. {FILLER * 9}"), about="blue engines?"
    )
    assert "The engine is blue." in extract(talk, 16, o200k)


def test_values_are_never_cut_even_in_one_long_line():
    value = "Anna Maria Petrova de la Cruz"
    talk = source(("result find", "x" * 190 + " " + "padding, " * 3 + value + " and more, " * 60), must_keep=(value,))
    for shift in range(30):
        moved = source(("result find", "y" * shift + talk.parts[0].text), must_keep=(value,))
        assert holds(extract(moved, 200, o200k), value)


def test_what_must_be_kept_and_does_not_fit_gives_nothing():
    assert extract(source(("user", "ORD-1 " + "x y " * 200), must_keep=("ORD-1",)), 10, o200k) == ""


def test_an_earlier_summary_is_read_like_what_was_said():
    earlier = Summary("Done:\n- ORD-1 shipped\nOpen:\n- RF-7 is pending\nuser: Never call me.\n…\nuser: I like tea.", 9)
    talk = Source((Part("assistant", FILLER * 9),), 1, earlier)
    body = extract(talk, 40, o200k)
    assert "Open: - RF-7 is pending" in body
    assert "user: Never call me." in body
    assert f"{GAP}\n{GAP}" not in body


words = ["ORD-1", "is", "not", "yet", "done", "Но", "ещё", "нет", "👩\u200d🚀", "a" * 300, "x, y; z", "user:", "…"]
ends = [" ", ". ", "! ", "\n", "\n\n", "? ", "。", "  "]


def babble(seed):
    dice = random.Random(seed)
    texts = ["".join(dice.choice(words) + dice.choice(ends) for _ in range(dice.randint(1, 40))) for _ in range(4)]
    return source(*[(dice.choice(["user", "assistant", "result find"]), text) for text in texts])


@given(st.integers(0, 2**32), st.integers(5, 300))
@law(80)
def test_every_line_is_a_piece_of_the_source_in_order_and_it_fits(seed, tokens):
    talk = babble(seed)
    body = extract(talk, tokens, o200k)
    assert o200k(body) <= tokens
    whole, at = "\n".join(part.text for part in talk.parts), 0
    for line in said(body) if body else ():
        if line.strip() in ("", GAP):
            continue
        found = whole.find(line, at)
        assert found >= 0, line
        at = found + len(line)


@given(st.integers(0, 2**32))
@law(20)
def test_no_piece_is_endless(seed):
    body = extract(babble(seed), 400, o200k)
    talk = source(("user", "z" * 5_000), ("result find", body or "x"))
    assert all(len(line) <= 3 * PIECE for line in extract(talk, 90, o200k).split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        "I have not pressed confirm yet.",
        "It hasn't been sent yet",
        "Waiting on your go.",
        "status: pending",
        "Ещё не подтверждено.",
        "Жду ответа от банка.",
        "Осталось проверить отчёт.",
    ],
)
def test_unfinished_work_is_recognised(text):
    assert unfinished(text)


@pytest.mark.parametrize("text", ["W1 COMPLETE", "It is done.", "Готово.", "The shop is nice.", "Возврат выполнен."])
def test_finished_work_is_not_unfinished(text):
    assert not unfinished(text)


@given(st.integers(0, 2**32))
@law(30)
def test_the_stems_hide_no_match(seed):
    """What is looked for first never hides what the pattern would find."""
    from jettison.compressors import extractive
    from jettison.flow.patterns import compiled

    dice = random.Random(seed)
    for pattern in extractive._STEMS:
        found = re.findall(r"[^\W\d_]{2,}", pattern)
        text = " ".join(dice.choice([*found, "not", "yet", "не", "ещё", "i", "will", "use", "В"]) for _ in range(6))
        for said in (text, text.upper()):
            if compiled(pattern).search(said):
                assert extractive._says(said, pattern), said
