"""Goals and constraints.

Constraints are measured on the 100 labelled pairs of `labelled.py` (half of them bind). At the time of writing
precision and recall are 1.00 / 1.00 in both languages, but the patterns have seen these sentences. On 36 pairs that
they had not seen: English 0.94 / 0.83, Russian 1.00 / 0.94. The test asks for 0.9 of each.
"""

import pytest
from labelled import BINDING, FREE, LATER, LATER_FREE
from reading import call, join, read, says, user

from jettison.flow.constraints import constraint_cue
from jettison.task import Task

TENT = "Refund the tent of ORD-48213, please."


def goals(*parts, task=None):
    return [span.text for span in read(join(*parts), task)[0].goals]


@pytest.mark.parametrize("language", [0, 1], ids=["English", "Russian"])
def test_constraints_are_told_from_tales_questions_and_wishes(language):
    binding, free = BINDING + LATER, FREE + LATER_FREE
    hits = [pair[language] for pair in binding if constraint_cue(pair[language]) is not None]
    false = [pair[language] for pair in free if constraint_cue(pair[language]) is not None]
    missed = sorted({pair[language] for pair in binding} - set(hits))
    recall, precision = len(hits) / len(binding), len(hits) / max(1, len(hits) + len(false))
    told = f"precision {precision:.2f}, recall {recall:.2f}; false: {false}; missed: {missed}"
    assert precision >= 0.9, told
    assert recall >= 0.9, told


@pytest.mark.parametrize(
    "text",
    [
        "请不要改动支付网关的配置。",
        "必ずテストを実行してください。",
        "결제 게이트웨이를 수정하지 마세요.",
        "Bitte niemals löschen.",
        "Está prohibido borrar.",
    ],
)
def test_cues_of_other_languages(text):
    assert constraint_cue(text) is not None


def test_a_constraint_is_a_verbatim_span_with_its_source():
    messages = [
        {"role": "system", "content": "You sell tents. Never guess a date."},
        *user("Hello. Do not cancel ORD-1. It is a present."),
    ]
    state, items = read(messages)
    assert [(c.role, c.text) for c in state.constraints] == [
        ("system", "Never guess a date."),
        ("user", "Do not cancel ORD-1."),
    ]
    for constraint in state.constraints:
        span = constraint.span
        assert items[span.item].text[span.start : span.end] == constraint.text


@pytest.mark.parametrize(
    ("ban", "leave"),
    [
        ("Do not push to main.", "You may only push to main now."),
        ("Не пушь в main.", "Пушить можно только в main, релиз горит."),
    ],
)
def test_a_ban_said_again_is_held_where_it_was_said_last(ban, leave):
    state, items = read(join(user(ban), says("ok"), user(leave), says("ok"), user(f"{ban.upper()} Thanks.")))
    assert [constraint.text for constraint in state.constraints] == [leave, ban.upper()]
    places = [list(items).index(constraint.span.item) for constraint in state.constraints]
    assert places == [2, 4]


def test_pasted_data_binds_nobody():
    log = "2026-01-01 ERROR you must never see this\n09:00:00 INFO do not retry\n{ only: true }"
    assert not read(user(f"What is this?\n{log}"))[0].constraints


def test_results_bind_nobody_by_themselves():
    messages = join(user("Read it."), call("read_file", {"path": "a.txt"}, "Never delete routes."))
    assert not read(messages)[0].constraints


@pytest.mark.parametrize(
    "text", ["Thanks.", "ok", "Great, thank you!", "Go on.", "Yes please!", "Спасибо!", "Хорошо, продолжай.", "Да."]
)
def test_thanks_and_consent_are_no_goals(text):
    assert goals(user(TENT), says("Done."), user(text)) == [TENT]
    assert goals(user(text), says("Hello."), user(TENT)) == [TENT]


def test_thanks_in_a_goal_are_left_out():
    assert goals(user("Thanks. Refund the tent.")) == ["Refund the tent."]


def test_the_original_stays_and_the_current_follows():
    now = "And check where the sleeping bag is."
    assert goals(user(TENT), says("Done."), user(now)) == [TENT, now]


@pytest.mark.parametrize(
    "change",
    [
        "Instead of the tent, exchange the stove.",
        "Let's do the stove instead.",
        "Вместо этого обменяй плитку.",
        "Теперь займись плиткой.",
    ],
)
def test_a_change_of_course_stays_current_whatever_is_asked_in_between(change):
    asked = "Which colour does it have?"
    assert goals(user(TENT), says("Done."), user(change), says("ok"), user(asked)) == [TENT, change, asked]


@pytest.mark.parametrize(
    "change",
    [
        "Forget that, now exchange the stove.",
        "Scrap that. Exchange the stove.",
        "Забудь об этом, теперь обменяй плитку.",
        "Я передумала, обменяйте плитку.",
    ],
)
def test_a_goal_that_was_dropped_is_no_goal(change):
    assert " ".join(goals(user(TENT), says("Done."), user(change))) == change


REPORT = {"ru": "Собери отчёт по складу.", "en": "Compile the stock report."}
GIVEN_UP = {
    "ru": """
Забудь, теперь напиши тест.
Нет, другое: напиши тест.
Новое задание: напиши тест.
Отчёт больше не нужен. Напиши тест.
Отчёт уже не актуален, напиши тест.
Прекрати работу над отчётом, напиши тест.
Останови отчёт и напиши тест.
Забудь про отчёт, напиши тест.
Отмени отчёт, напиши тест.
Отчёт отменяется, напиши тест.""",
    "en": """
New assignment: write a test.
Something else: write a test.
Never mind the report, write a test.
Forget about the report and write a test.
Cancel the report, write a test.
The report is no longer needed. Write a test.
The stock report is not required, write a test.
Stop working on the report and write a test.
No need for the report any more, write a test.
We no longer need the reports, write a test.""",
}
NOT_GIVEN_UP = {
    "ru": """
Забудь, что я говорил про цвет, и поправь шапку.
Отмени заказ ORD-2, потом проверь склад.
Письмо больше не нужно. Напиши тест.
Отчёт по кассе больше не нужен. Напиши тест.
Отчёт больше не нужен.
В отчёте больше не нужен столбец цены, убери его.
Останови сервер и собери логи.""",
    "en": """
Never mind the typo, go on with the totals.
Cancel order ORD-2 and check the stock.
The letter is no longer needed. Write a test.
The cash report is no longer needed. Write a test.
The report is no longer needed.
The price column is no longer needed in the report, drop it.
Stop the server and collect the logs.
Is the report no longer needed? Write a test.""",
}


@pytest.mark.parametrize("language", ["ru", "en"])
def test_a_goal_that_was_given_up_by_its_name_is_no_goal(language):
    goal = REPORT[language]
    kept = [text for text in GIVEN_UP[language].split("\n")[1:] if goal in goals(user(goal), says("ok"), user(text))]
    assert kept == []
    lost = [
        text for text in NOT_GIVEN_UP[language].split("\n")[1:] if goal not in goals(user(goal), says("ok"), user(text))
    ]
    assert lost == []


@pytest.mark.parametrize(
    ("goal", "change"),
    [
        ("Собери отчёт по складу и напиши клиенту.", "Отчёт больше не нужен. Напиши тест."),
        ("Compile the stock report and mail it to the client.", "Never mind the report, write a test."),
        ("Compile the stock report. Then migrate the invoices.", "Cancel the report, write a test."),
    ],
)
def test_a_goal_that_asks_for_more_is_not_given_up_by_one_of_it(goal, change):
    assert " ".join(goals(user(goal), says("ok"), user(change))) == f"{goal} {change}"


def test_giving_up_a_change_of_course_leaves_the_original():
    change, dropped = "Instead draft the stock report.", "Never mind the report, book the van."
    assert goals(user(TENT), says("ok"), user(change), says("ok"), user(dropped)) == [TENT, dropped]


def test_dropping_a_later_request_leaves_the_original():
    asked, change = "And check the sleeping bag.", "Forget that, tell me about stoves."
    assert goals(user(TENT), says("ok"), user(asked), says("ok"), user(change)) == [TENT, change]


NEXT = "Book the van for the tent."
PASSING = [
    *("👍", "👌 !", "lgtm", "hm, why?", "Looks good to me!", "пойдёт", "норм", "отлично, спс", "ага, понял"),
    *("What time is it?", "Which file did you change?", "How are you?", "Как дела?", "Почему упал тест?"),
]
REQUESTS = [
    "Can you book the van?",
    "Could you check the oven?",
    "Можешь перенести счета?",
    "Не мог бы ты проверить оплату?",
]


@pytest.mark.parametrize("text", PASSING)
def test_what_is_said_in_passing_does_not_take_the_place_of_the_goal(text):
    found = goals(user(TENT), says("Done."), user(NEXT), says("ok"), user(text))
    assert found[:2] == [TENT, NEXT]
    assert found[2:] in ([], [text]), "a question is one as long as nothing else is said"
    assert goals(user(TENT), says("Done."), user(NEXT), says("ok"), user(text), says("so"), user("Go on.")) == found
    assert text not in goals(user(TENT), says("ok"), user(text), says("ok"), user(NEXT))


@pytest.mark.parametrize("text", ["👍", "How are you?", "Как дела?"])
def test_nor_does_a_greeting_become_the_first_goal(text):
    assert goals(user(text), says("Hello."), user(TENT)) == [TENT]


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_in_the_form_of_a_question_is_a_goal(text):
    assert goals(user(TENT), says("ok"), user(NEXT), says("ok"), user(text)) == [TENT, text]


GREETINGS = ["Привет! Ты умеешь работать с CSV?", "Hello, do you know pandas?", "Можешь помочь?", "你好吗？"]
NUDGES = [
    *("жду", "делай", "Продолжаем.", "Попробуй ещё раз.", "Ну давай, сделай", "Resume the task.", "try again", "y"),
    *(
        "Continue where you left off.",
        "Keep working on it",
        "Weiter bitte",
        "continúa por favor",
        "继续吧",
        "계속해줘",
        "استمر",
    ),
]
LEANING = [
    "Я вернулся.",
    "retest",
    "Fix it.",
    "Could you check it please?",
    "деплой",
    "Исправь это сам",
    "Проверь ещё раз",
]


@pytest.mark.parametrize("greeting", GREETINGS)
def test_a_question_that_came_first_gives_way_to_the_first_request(greeting):
    assert goals(user(greeting), says("Yes."), user(TENT), says("ok"), user(NEXT)) == [TENT, NEXT]
    assert greeting.endswith(goals(user(greeting))[0])


def test_a_first_question_about_a_number_is_the_subject_of_what_follows():
    assert goals(user("Where is order ORD-17?"), says("There."), user(NEXT)) == ["Where is order ORD-17?", NEXT]


@pytest.mark.parametrize("text", NUDGES)
def test_a_go_on_in_any_words_leaves_the_goal_as_it_was(text):
    assert goals(user(TENT), says("ok"), user(NEXT), says("ok"), user(text), says("so"), user(text)) == [TENT, NEXT]
    assert goals(user("Do you know CSV?"), says("Yes."), user(TENT), says("ok"), user(text)) == [TENT]


@pytest.mark.parametrize("text", LEANING)
def test_an_order_that_names_nothing_is_kept_beside_the_goal_it_leans_on(text):
    found = goals(user(TENT), says("ok"), user(NEXT), says("ok"), user(text))
    assert found in ([TENT, NEXT], [TENT, NEXT, text])


def test_the_question_that_an_order_leans_on_is_the_task():
    question, later = "Почему упал тест?", "Перенеси счета клиента в архив."
    found = goals(user(question), says("Там ошибка."), user("Почини."), says("Готово."), user(later))
    assert found == [question, later]


@pytest.mark.parametrize(
    "text", ["Deploy v2", "Fix the tests.", "Напиши тест", "修复登录测试", "Use `main`", "retry billing.py"]
)
def test_a_short_request_that_names_something_is_the_goal(text):
    assert goals(user(TENT), says("ok"), user(NEXT), says("ok"), user(text)) == [TENT, text]


LOG = "\n".join(f"10:00:{n:02} INFO scan id={n} ms={n * 7}" for n in range(30))


@pytest.mark.parametrize("data", [LOG, '{"rows": [1, 2, 3], "of": 17}', "x = f(1);\ny = g(x);", "QUJD" * 40])
def test_pasted_data_is_the_goal_only_until_something_is_said(data):
    assert goals(user(data)) == [data[:1_200]]
    assert goals(user(data), says("noted"), user(TENT)) == [TENT]
    assert goals(user(data), says("noted"), user("Why is it slow?")) == ["Why is it slow?"]
    assert goals(user(TENT), says("ok"), user(data), says("noted"), user(NEXT)) == [TENT, NEXT]


@pytest.mark.parametrize("text", ["Where is order ORD-17?", "Почему упал тест?"])
def test_a_question_is_the_goal_where_there_was_none(text):
    assert goals(user("Hi!"), says("Hello."), user(text), says("Here."), user("ok")) == [text]


@pytest.mark.parametrize("text", ["Now migrate the invoices.", "ok, now deploy it", "Теперь перенеси счета клиента."])
def test_now_do_is_a_change_of_course(text):
    assert goals(user(TENT), says("ok"), user(text), says("ok"), user(NEXT)) == [TENT, text, NEXT]


@pytest.mark.parametrize("text", ["Now it works.", "Now the test fails.", "Теперь сломалось.", "теперь всей командой"])
def test_now_it_is_so_is_none(text):
    assert goals(user(TENT), says("ok"), user(text), says("ok"), user(NEXT)) == [TENT, NEXT]


def test_a_declared_goal_is_found_in_the_history_or_noted():
    task = Task(goal="check where the sleeping bag is")
    parts = (user(TENT), says("Done."), user("Then check where the sleeping bag is."), says("ok"), user("Is it warm?"))
    assert goals(*parts, task=task) == [TENT, "check where the sleeping bag is"]
    task.goal = "something that nobody said"
    state, _ = read(join(*parts), task)
    assert [span.text for span in state.goals] == [TENT, "Then check where the sleeping bag is.", "Is it warm?"]
    assert any("declared goal" in note for note in state.notes)


def test_declared_constraints_are_found_or_noted():
    task = Task()
    task.constrain("PayPal only")
    state, items = read(join(user("Refund it, PayPal only, thanks.")), task)
    assert items[state.constraints[-1].span.item].text.startswith("Refund it")
    assert not state.notes
    task.constrain("never said")
    assert any("'never said'" in note for note in read(join(user("PayPal only")), task)[0].notes)


def test_a_released_constraint_is_gone():
    task = Task()
    task.release("Do not cancel ORD-1.")
    assert not read(user("Do not cancel ORD-1."), task)[0].constraints


def test_pins_end_by_steps_or_by_a_call():
    task = Task()
    task.pin("RF-20931", steps=2)
    task.pin("ORD-1", call="refund")
    steps = [message for n in range(3) for message in call("look", {"n": n}, f"nothing {n}", number=n)]
    state, _ = read(join(user("RF-20931 and ORD-1"), steps), task)
    assert [(pin.what, pin.until) for pin in state.pins] == [("ORD-1", "refund has answered")]
    done = join(user("RF-20931 and ORD-1"), steps, call("refund", {}, "ok", number=9))
    assert not read(done, task)[0].pins
    task.unpin("ORD-1")
    task.pin("ORD-1")
    assert [pin.until for pin in read(done, task)[0].pins] == ["unpinned by the caller"]


@pytest.mark.parametrize(
    "beside",
    [
        "<system-reminder>\nThe list of todos was not used of late. Use it where it helps.\n</system-reminder>",
        "<environment_details>\nCurrent time: 10:00\nCurrent mode: ACT\n</environment_details>",
        "<ide_opened_file>The user opened src/close.py.</ide_opened_file>\n<system-reminder>x</system-reminder>",
    ],
)
def test_what_a_host_puts_into_the_users_messages_is_no_goal(beside):
    asked = "Fix the flaky test in tests/test_cart.py."
    turns = [user("Look at build 17."), says("It failed."), user(asked), says("Looking."), user(beside), says("On it.")]
    state, _ = read(join(*turns))
    assert [span.text for span in state.goals] == ["Look at build 17.", asked]
    state, _ = read(join(user(beside), says("Yes?"), user(asked)))
    assert [span.text for span in state.goals] == [asked]
    state, _ = read(join(user("Look at build 17."), says("It failed."), user(f"{beside}\n{asked}")))
    assert [span.text for span in state.goals] == ["Look at build 17.", asked]


def test_rules_in_what_a_host_puts_there_bind():
    rules = "<system-reminder>\n# Project\nNever push to main.\n</system-reminder>"
    state, _ = read(join(user(rules), user("Fix the flaky test.")))
    assert [one.text for one in state.constraints] == ["Never push to main."]


def test_tags_around_what_the_user_asks_are_the_users():
    state, _ = read(join(user("<task>Fix the flaky test in tests/test_cart.py.</task>")))
    assert "Fix the flaky test" in state.goals[0].text
