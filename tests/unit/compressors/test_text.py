"""Outline of prose: headings find the rest, rules and facts weigh most, boilerplate least. In any language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.text import outline
from jettison.flow.segments import segment
from outlines import lawful, view
from strategies import law

ENGLISH = """# Return policy

This page describes how returns work. It was last changed in May.

## Time limit

Goods can be returned within 30 days. Electronics must be returned within 14 days.
The team looks forward to meeting every customer in one of the shops soon.

## Exceptions

- Gift cards cannot be returned.
- We like fast returns.

© The shop, all rights reserved. Privacy policy.
"""
RUSSIAN = """# Правила возврата

На этой странице описано, как работает возврат. Она обновлена в мае.

## Сроки

Товар можно вернуть в течение 30 дней. Электронику необходимо вернуть за 14 дней.
Наша команда всегда рада видеть каждого покупателя в одном из магазинов.

## Исключения

- Подарочные карты вернуть нельзя.
- Нам нравятся быстрые возвраты.

© Магазин, все права защищены. Политика конфиденциальности.
"""
CHINESE = """第一章 退货政策

本页说明如何办理退货，最近一次更新是在五月份，请顾客仔细阅读。

第二章 期限

商品必须在30天内退回，电子产品必须在14天内退回，逾期不予受理。
我们的团队期待着在商店里见到每一位顾客，祝您购物愉快。

第三章 例外

礼品卡不得退回，已拆封的软件不得退回，定制商品不得退回。
我们喜欢快速退货，也欢迎顾客再次光临我们的商店。

版权所有，隐私政策，欢迎登录并注册成为我们的会员。
"""


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN, CHINESE])
def test_rules_and_facts_outweigh_talk_and_boilerplate(text):
    weight = outline(segment(text)).weight
    rule, talk, ban, like, dull = (weight[at] for at in (6, 7, 11, 12, 14))
    assert rule > talk > dull > 0
    assert ban > like
    assert weight[1] == 0
    assert weight[0] == weight[4] == weight[9] > talk


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN])
def test_a_line_comes_with_its_heading_and_that_with_the_one_above(text):
    label = outline(segment(text)).label
    assert label[11] == 9
    assert label[9] == label[4] == 0
    assert 0 not in label


def test_headings_of_all_kinds():
    text = (
        "Title of it\n===========\n\nSome words of text stand here today.\n\nINTRODUCTION\n\n"
        "More words of text stand here.\n\n"
        "2.1 Details of it\nAnd words of text stand here.\n\nСтатья 5. Ответственность\n"
        "Стороны несут ответственность по договору.\n"
    )
    parts = segment(text)
    label = outline(parts).label
    heads = {parts.segments[at].text for at in label.values()}
    assert heads == {"Title of it", "INTRODUCTION", "2.1 Details of it", "Статья 5. Ответственность"}


def test_words_that_come_back_outweigh_those_that_do_not():
    text = "\n".join(
        ["the invoice names the customer"] * 4 + ["some clouds drift over hills"] + ["an invoice has the customer"] * 4
    )
    weight = outline(segment(text)).weight
    assert weight[4] < min(weight[1:4])


def test_a_cut_document_has_headings_with_text():
    assert view(ENGLISH, outline, 0.4).split("\n") == [
        "[partial 6/16 lines, …n = n cut, ref badugisona]",
        "# Return policy",
        "…3",
        "## Time limit",
        "",
        "Goods can be returned within 30 days. Electronics must be returned within 14 days.",
        "…2",
        "## Exceptions",
        "…2",
        "- We like fast returns.",
        "…3",
    ]


def test_what_was_cut_is_told_in_the_unit_of_the_source():
    assert outline(segment(ENGLISH)).about([6, 7, 8]) == "2 lines of text cut"
    assert outline(segment("Some words are said here, and again. " * 30)).about([0]).endswith("characters of text cut")


@pytest.mark.parametrize(
    "text", ["", "1,2,3\n" * 50, '{"a": "some words of text in a leaf"}', "a\nb\nc\n" * 40, "=" * 300]
)
def test_other_types_are_not_prose(text):
    assert outline(segment(text)) is None


lines = st.sampled_from(
    [
        *ENGLISH.split("\n"),
        *RUSSIAN.split("\n"),
        *CHINESE.split("\n"),
        "===",
        "---",
        "```",
        "İİ" * 60,
        "word " * 99,
        " ",
        "1) x",
    ]
)


@given(st.lists(lines, max_size=50))
@law(250)
def test_laws_of_an_outline(drawn):
    lawful("\n".join(drawn), outline)


@given(st.text(max_size=400))
@law(100)
def test_any_text_is_taken(text):
    lawful(text + " and some words that anybody can read in a text of this size, which is long enough", outline)
