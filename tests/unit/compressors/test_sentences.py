"""Sentence spans: abbreviations, initials, decimals, versions and wrapped lines end nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.sentences import sentences
from strategies import law


def cut(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "said",
    [
        ["Use e.g. Redis 7.2.", "It costs $3.14 per month.", "Dr. Smith agreed."],
        ["Version 1.2.3 is out.", "Really?!", "See Fig. 3 and Sec. 2 of J. R. Miller et al. before that."],
        ["It is sold in the U.S. and abroad by Acme Inc. for little.", "Then it was closed."],
        ["В 2020 г.", "Завод закрыли.", "Он жил в г. Москва, т.е. далеко."],
        ["Цена 5 тыс. руб. за шт.", "Дальше см. рис. 3.", "А. С. Пушкин писал."],
        ["В XIX в.", "Всё было иначе, т.к. дорог не было."],
        ["«Как?» — спросил он.", "«Так!»", "Он ушёл."],
        ['He said "Stop!" and left.', "Nobody came…"],
    ],
)
def test_sentences_of_one_paragraph(said):
    assert cut(" ".join(said)) == said


def test_chinese_needs_no_spaces():
    assert cut("本协议有效。任何一方不得泄露！好吗？“是的。”他说") == [
        "本协议有效。",
        "任何一方不得泄露！",
        "好吗？",
        "“是的。”",
        "他说",
    ]


def test_wrapped_lines_are_joined_and_items_are_not():
    text = (
        "# Title\nFirst line of text that is wrapped at about sixty-five characters\nand goes on here. Next one.\n\n"
        "- item one\n- item two\n1. first thing\n2. second"
    )
    assert cut(text) == [
        "# Title",
        "First line of text that is wrapped at about sixty-five characters\nand goes on here.",
        "Next one.",
        "- item one",
        "- item two",
        "1. first thing",
        "2. second",
    ]


@given(st.text(st.sampled_from('aA яЯ。1.!?…\n\t"»-—e.g т.е'), max_size=300))
@law(300)
def test_spans_are_in_order_trimmed_and_miss_nothing(text):
    spans = sentences(text)
    last = 0
    for start, end in spans:
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()


@pytest.mark.parametrize("piece", ["1. ", "e.g. ", "\n", ". ", "A.", "a\n", "。", "г. Я ", ".", "-\n "])
def test_long_runs_are_read_to_the_end(piece):
    """600,000 characters: a quadratic splitter would take hours."""
    text = piece * (600_000 // len(piece)) + "end"
    assert sentences(text)[-1][1] == len(text)
