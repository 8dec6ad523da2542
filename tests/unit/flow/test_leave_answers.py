"""Answers to a request for leave, and turns that only begin like one."""

import pytest

from jettison.flow.answers import LONGEST, answers

REQUEST = 'apr-77c1 {"action": "delete bucket logs-2019"}'


@pytest.mark.parametrize(
    "turn",
    [
        "Approved, go ahead.",
        "Yes, delete it.",
        "Yes delete the bucket",
        "I approve the deletion",
        "No.",
        "Yes. What's next?",
        "Approve apr-77c1",
        "No, leave it",
        "Approved by Anna",
        "Rejected: too risky",
        "Don't delete it",
        "ok",
        "Ok, do it",
        "Да, одобряю.",
        "Нет, не удаляй его.",
        "Да, давай",
        "Разрешаю удалить logs-2019",
        "Можно удалять бакет",
        "Нет, оставь",
        "ОК, удаляй",
        "Согласовано",
        "Одобрено руководителем",
        "Не надо",
        "同意",
        "Ja, bitte",
        "Sí, adelante",
    ],
)
def test_the_answer(turn):
    assert answers(turn, REQUEST)


@pytest.mark.parametrize(
    "turn",
    [
        "Да, кстати, кто владелец бакета?",
        "Можно узнать, кто владелец?",
        "Можно узнать кто владелец",
        "Ok, meanwhile: what is in it?",
        "Нет времени сейчас, вернусь вечером.",
        "Нет денег",
        "No idea yet, let me think.",
        "Ok, show me the weather",
        "Ok. Let me look.",
        "Хорошо. Теперь отчёт.",
        "Да, теперь отчёт по складу.",
        "Да нет, наверное",
        "Yes, the report looks nice, send it to Bob",
        "No, I asked about the invoice",
        "No problem, take your time",
        "No one owns it, I think",
        "Yes I saw that, thinking",
        "Yes, but wait",
        "Confirm the number of objects first",
        "Confirmed bookings: 5",
        "Нет, сначала покажи список",
        "Нет ещё",
        "Not yet",
        "Нет, я про другой бакет",
        "Можно я сначала посмотрю",
        "",
    ],
)
def test_no_answer(turn):
    assert not answers(turn, REQUEST)


def test_an_answer_to_another_request_is_none():
    assert not answers("Yes, approve apr-77c12", REQUEST)
    assert not answers("Approve apr-2", REQUEST)
    assert answers("Yes, approve apr-77c1", REQUEST)


def test_long_turns_are_read_at_once():
    """All ways in which such a turn can be taken apart are never tried: there are millions."""
    for word in ("yes ", "don't do it ", "да, "):
        assert answers(word * 20_000, REQUEST) is answers((word * 20_000)[:LONGEST], REQUEST)
