"""Queries as words, and where they stand in a text."""

import pytest

from jettison.archive.words import MAX_WORDS, excerpt, lowered, root, words_of, worth


def test_a_query_is_its_distinct_words():
    assert words_of('The "tent" (TENT), of ORD-17! 🙂 -- ') == ["the", "tent", "of", "ord-17"]
    assert len(words_of(" ".join(map(str, range(1_000))))) == MAX_WORDS
    assert max(map(len, words_of("x" * 10_000))) == 100


@pytest.mark.parametrize(
    ("word", "expected"),
    [("заказы", "зака"), ("refunds", "refun"), ("tent", None), ("ord-17", None), ("order17", None)],
)
def test_forms_of_a_word_have_a_common_root(word, expected):
    assert root(word) == expected


@pytest.mark.parametrize(
    ("text", "points"),
    [("a tent", 2), ("tents", 0), ("content", 0), ("content, tent", 2), ("tent_2 tent", 2), ("TENT", 2), ("", 0)],
)
def test_a_short_word_counts_where_it_stands_alone(text, points):
    assert worth(text, ["tent"]) == points


def test_other_forms_count_less():
    assert worth("возврат", ["возврат"]) == 2
    assert worth("возврату", ["возвратом"]) == 1
    assert worth("невозврат", ["возврат"]) == 0
    assert worth("ord-178 ord-17", ["ord-17"]) == 2
    assert worth("ord-178", ["ord-17"]) == 0


def test_an_excerpt_is_around_the_first_hit_whatever_lower_case_does_to_lengths():
    assert lowered("İSTANBUL Ⱥ") == "İstanbul ⱥ"
    text = "İ" * 1_000 + " needle " + "İ" * 1_000
    assert "needle" in excerpt(text, ["needle"])
    assert excerpt("short", ["needle"]) == "short"
