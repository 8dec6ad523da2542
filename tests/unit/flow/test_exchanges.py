"""What was said to one another and means nothing alone: a short answer and its question, a request and how it ended."""

import json

import pytest

from jettison import BudgetUnreachable, Session, fit
from rendering import render
from strategies import Act, Approval, Call, Reply, Say, Script, log_text, spaced_text


def work(rounds, seed=0):
    made = []
    for at in range(rounds):
        call = {"name": "run", "arguments": json.dumps({"cmd": f"step {at}"})}
        made += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{seed}_{at}", "type": "function", "function": call}],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{seed}_{at}",
                "content": "\n".join(log_text(seed + at, 4_000).split("\n")[:25]),
            },
        ]
    return made


def user(text):
    return [{"role": "user", "content": text}]


def agent(text):
    return [{"role": "assistant", "content": text}]


def sent(fitted):
    return json.dumps(fitted.messages, ensure_ascii=False)


def reasons(fitted):
    return {lock.reason for lock in fitted.report.protections}


QUESTION, ANSWER = "question that the user answered", "the user's answer to a question"

LEANING = [
    ("Options:\n1) KeyDB\n2) Valkey 8 with a replica\n3) Dragonfly\nWhich one?", "The second.", "Valkey 8"),
    ("Options:\n1) KeyDB\n2) Valkey 8 with a replica\n3) Dragonfly\nPick one.", "2", "Valkey 8"),
    ("I would roll pay-gw back to build 2231 and then flush the cache. Shall I?", "Yes, go ahead.", "2231"),
    (
        "Plan:\n1. Collect the changelog\n2. Bump to 4.2.0\n3. Write the letter",
        "yes, exactly like that",
        "Write the letter",
    ),
    ("Do I get it right that we leave category B alone?", "Right.", "category B"),
    ("I can drop the staging schema as well.", "No, leave it.", "staging schema"),
    ("The build fails in parser.py at line 88.", "fix it", "parser.py"),
    ("Варианты:\n1) KeyDB\n2) Valkey 8 с репликой\n3) Dragonfly\nКакой?", "Второй.", "Valkey 8"),
    ("Предлагаю откатить pay-gw на сборку 2231 и почистить кэш. Делать?", "Да, делай.", "2231"),
    ("План:\n1. Собрать чейнджлог\n2. Поднять версию\n3. Разослать письмо", "Да, так и делай.", "Разослать письмо"),
    ("Правильно ли я понимаю, что позиции категории B не трогаем?", "Да, верно.", "категории B"),
    ("要不要把 pay-gw 回滚到 2231 版本？", "好的", "2231"),
]


@pytest.mark.parametrize(("question", "answer", "need"), LEANING)
def test_short_answer_keeps_its_question(question, answer, need):
    history = [*user("Tidy up the services."), *agent(question), *user(answer), *work(6)]
    full = fit(history, budget=100_000).report.before
    for share in (0.8, 0.6, 0.4):
        fitted = fit(history, budget=int(share * full))
        assert {QUESTION, ANSWER} <= reasons(fitted)
        assert need in sent(fitted)
        assert json.dumps(answer, ensure_ascii=False) in sent(fitted)


@pytest.mark.parametrize(
    ("before", "turn"),
    [
        ("The import is done.", "Thanks!"),
        ("The import is done.", "спасибо, отлично"),
        ("Which build?", "Why does it matter which build it is?"),
        (
            "Which build?",
            "Take the one that was released on Monday, unless the tests of the payment gateway fail on it; then wait.",
        ),
    ],
)
def test_turns_that_stand_alone_hold_no_question(before, turn):
    fitted = fit([*user("Tidy up the services."), *agent(before), *user(turn), *work(2)], budget=100_000)
    assert QUESTION not in reasons(fitted)


def test_the_newest_three_are_held_and_none_after_the_task_is_dropped():
    asked = [message for at in range(5) for message in (*agent(f"Take host h-{at}?"), *user("yes"))]
    history = [*user("Move the hosts."), *asked, *work(1)]
    held = [lock.text for lock in fit(history, budget=100_000).report.protections if lock.reason == QUESTION]
    assert held == ["Take host h-4?", "Take host h-3?", "Take host h-2?"]
    dropped = [*history, *agent("Done."), *user("Forget that, now write the report on July."), *work(1)]
    assert QUESTION not in reasons(fit(dropped, budget=100_000))


@pytest.mark.parametrize(
    ("first", "done", "then"),
    [
        (
            "Delete bucket logs-2019 and rotate key K1.",
            "Done: bucket logs-2019 is deleted and K1 rotated.",
            "Write a README for the report module.",
        ),
        (
            "Удали бакет logs-2019 и перевыпусти ключ K1.",
            "Готово: бакет logs-2019 удалён, ключ K1 перевыпущен.",
            "Теперь напиши README для модуля отчётов.",
        ),
    ],
)
def test_a_request_that_is_held_keeps_the_word_of_how_it_ended(first, done, then):
    history = [*user(first), *work(1), *agent(done), *user(then), *work(7, 20)]
    full = fit(history, budget=100_000).report.before
    seen = 0
    for share in (0.8, 0.6, 0.4, 0.3):
        text = sent(fit(history, budget=int(share * full)))
        if first in text:
            seen += 1
            assert done in text
    assert seen == 4


def test_a_long_report_of_how_it_ended_is_held_by_its_beginning():
    done = "Both buckets are gone. " + "Then I looked at the other ones. " * 60
    history = [
        *user("Delete both buckets."),
        *work(1),
        *agent(done),
        *user("Write a README for the reports."),
        *work(2, 20),
    ]
    fitted = fit(history, budget=100_000)
    held = next(lock.text for lock in fitted.report.protections if lock.reason == "how a request ended")
    assert held.startswith("Both buckets are gone.")
    assert len(held) <= 240
    assert held.endswith(".")


def test_it_gives_way_where_what_is_protected_does_not_fit():
    history = [*user("Tidy up."), *agent("x" * 90 + " option B2? " * 50), *user("yes"), *work(1)]
    fitted = fit(history, budget=100_000)
    assert QUESTION in reasons(fitted)
    room = fitted.report.before
    while True:  # down to the smallest that works
        try:
            fitted = fit(history, budget=room)
        except BudgetUnreachable:
            break
        room -= 20
    assert QUESTION not in reasons(fitted)


def test_one_by_one_as_at_once():
    history = [
        *user("Tidy up."),
        *agent("Roll back to 2231?"),
        *user("yes"),
        *work(4),
        *agent("Done."),
        *user("Now write a README."),
        *work(2, 30),
    ]
    session = Session(100_000)
    for end in range(1, len(history) + 1):
        if history[end - 1]["role"] != "assistant":
            stepwise = session.fit(history[:end])
    assert stepwise.report.protections == fit(history, budget=100_000).report.protections


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "gemini"])
def test_empty_lines_that_are_cut_in_any_case_are_not_held(wire):
    """Of a run of empty lines a cut keeps three: a span that had more of them inside could not be kept."""
    asked = "Which module is slowest?"
    order = Call("get_order", {"order_id": "ORD-9913"}, "")
    refund = Call("refund", {"order_id": "ORD-9913", "amount": 1}, log_text(0, 2_000))
    turns = [
        Say(asked),
        Act((order,)),
        Act((order,)),
        Act((refund,)),
        Reply(asked),
        Say(asked),
        Say(asked),
        Reply(asked),
    ]
    turns += [Say(spaced_text(8, 793)), Say("Go on."), Approval("delete_bucket", {"cmd": "ls"}, False), Say(asked)]
    history = render(Script(asked, (*turns, Act((order,)), Reply(asked), Say(asked))), wire)
    for budget in range(580, 900, 40):
        fitted = fit(history.messages, system=history.system, tools=history.tools, budget=budget, wire=wire)
        assert ANSWER in reasons(fitted)
        assert fitted.report.ok
