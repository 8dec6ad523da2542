"""What is said and what is pasted: figures do not make a sentence data, nor words a row of a log prose."""

import json

import pytest

from jettison import fit
from jettison.flow.prose import is_data
from strategies import log_text

SAID = """
Never charge card 4111-1111-1111-1111.
Do not call +43 660 1234567-89.
Don't delete 3f9c2e1a-77d4-4c0b-9a55-0d1f6f2f9b31.
Не звони +7 916 123-45-67.
Не трогай заказы 5512-8871, 5512-8872.
Never touch 10.0.4.17:5433, 10.0.4.18:5433.
Do not ship ORD-5512-8871, ORD-5512-8872.
Update customer C-88121: phone +43 660 1234567, VAT ATU12345678.
Refund ORD-5512-8871 to IBAN AT61 1904 3002 3457 3201.
Проверь договор № 45-АБ/2026 и счёт 40702810900000012345.
Deploy 3f9c2e1a-77d4-4c0b-9a55-0d1f6f2f9b31 to 10.0.4.17:5433.
请查询订单 DD20260501-7788。
Move meeting 2026-05-04 10:00-11:30 to 2026-05-05 09:00.
Buy 120 AAPL @ 187.50, sell 40 MSFT @ 402.10.
Call +49 30 1234567-89.
Resize 1920x1080 to 1280x720.
Swap ORD-1123-88 for ORD-1123-89.
Compare 10.0.4.17 with 10.0.4.18.
Cancel 5512-8871, 5512-8872 and 5512-8873.
Pay 1,204.50 EUR to DE89 3704 0044 0532 0130 00.
Запиши меня на 04.05.2026 10:00-11:30.
Переведи 12 000 ₽ на 40817810099910004312.
Отправь SMS на +7 916 123-45-67.
Сравни 10.0.4.17 и 10.0.4.18.
删除订单 20260501-7788 和 20260501-7789
注文 DD20260501-7788 を確認してください。
Überweise 120,50 € an DE89 3704 0044 0532 0130 00.
Llama al +34 612 345 678.
The old number 0660 1234567-89 is wrong, use 0660 7654321-98.
- Never 4111-1111-1111-1111.
""".strip().split("\n")

DATA = """
GET /api/v1/items/55121 200 13ms 1123
Total 1234.56 7890.12 5533.11
Anna Smith,4111,1112,11,2026-05-04
ORD-5512-8871 shipped 2026-05-04 12.50
| ORD-5512 | 12.50 | 2026-05-04 |
worker.tick 7 13 25 1123 5512
eth0: 10.0.4.17/24 fe80::1/64
commit 3f9c2e1a77d44c0b9a550d1f6f2f9b31aa
10.0.4.17 5433 open 12
total 48 12 33 41 55
drwxr-xr-x 2 root root 4096 2026-05-04 12:00
-rw-r--r-- 1 root root 4096 2026-05-04 12:00
May 04 12:00:01 host-17 kernel: [12345.678901] 0x00ff
x = 12.5; y = 33.12; z = 55.11
Mem: 16384 12345 4039 12 2300
CPU 12.5% 33.1% 55.0% 0.3%
PASSED 12/55 0.33s 0.12s
заказ 5512-8871 12,50 2026-05-04
Итого 1 234,56 7 890,12
Revenue 2024 1,234 2025 2,345 2026 3,456
name,2024,2025,2026,2027
sha256:3f9c2e1a77d44c0b9a550d1f6f2f9b31aa
Node 12 13 14 55 61 71
Set-Cookie: sid=3f9c2e1a77d44; 12345678
Date 2026-05-04 2026-05-05 2026-05-06
订单 55128871 12.50 2026-05-04
Q1 12.3 Q2 14.5 Q3 16.7
09:00:01 INFO worker.tick batch=13 took=20ms
""".strip().split("\n")


@pytest.mark.parametrize("line", SAID)
def test_a_sentence_about_figures_is_said(line):
    assert not is_data(line)


@pytest.mark.parametrize("line", DATA)
def test_a_row_with_words_is_data(line):
    assert is_data(line)


BANS = [line for line in SAID if line.startswith(("Never", "Do not", "Don't", "Не "))]


@pytest.mark.parametrize("ban", BANS)
def test_a_ban_of_identifiers_binds(ban):
    talk = [{"role": role, "content": log_text(at, 900)} for at in range(6) for role in ("user", "assistant")]
    history = [
        {"role": "user", "content": f"Clean up the accounts.\n{ban}"},
        {"role": "assistant", "content": "Noted."},
        *talk,
    ]
    history += [{"role": "user", "content": "Go on."}]
    full = fit(history, budget=100_000).report.before
    for share in (0.6, 0.3):
        fitted = fit(history, budget=int(share * full))
        assert any(ban in constraint.text for constraint in fitted.report.task.constraints)
        assert any(ban in message["content"] for message in fitted.messages)


def test_a_request_of_identifiers_is_the_goal():
    request = "Refund ORD-5512-8871 to IBAN AT61 1904 3002 3457 3201."
    log = "Log:\n" + log_text(3, 600)
    history = [{"role": "user", "content": request}, {"role": "assistant", "content": "Noted."}]
    history += [{"role": role, "content": log} for _ in range(3) for role in ("user", "assistant")]
    history += [{"role": "user", "content": "Go on."}]
    fitted = fit(history, budget=500)
    assert request in [span.text for span in fitted.report.task.goals]
    assert fitted.messages[0]["content"] == request


@pytest.mark.parametrize(
    "label", ["More noise: ", "Log:\n", "Here is the log:\n", "Вот лог:\n", "Ещё вывод: ", "日志: "]
)
@pytest.mark.parametrize(
    "request_", ["Deploy build A-77 to prod.", "Refund order ORD-5512 to Anna.", "Разверни сборку A-77 на прод."]
)
def test_a_label_with_data_takes_no_request_from_its_place(label, request_):
    pasted = [{"role": role, "content": label + log_text(at, 600)} for at in range(3) for role in ("user", "assistant")]
    history = [
        {"role": "user", "content": "Clean up the wiki."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": request_},
        {"role": "assistant", "content": "Working on it."},
        *pasted,
        {"role": "user", "content": "Go on."},
    ]
    fitted = fit(history, budget=600)
    assert [span.text for span in fitted.report.task.goals] == ["Clean up the wiki.", request_]


@pytest.mark.parametrize(
    "order",
    [
        "Fix this error:\n",
        "Explain the following log:\n",
        "What does this mean:\n",
        "Never print this:\n",
        "Исправь ошибку:\n",
    ],
)
def test_an_order_before_data_is_no_label(order):
    fitted = fit(
        [{"role": "user", "content": "Clean up the wiki."}, {"role": "user", "content": order + log_text(3, 600)}],
        budget=5_000,
    )
    assert order.strip() in [span.text for span in fitted.report.task.goals]


@pytest.mark.parametrize(
    "first",
    [
        "Refactor everything.",
        "Do the migration.",
        "Fix everything.",
        "Tidy the repo.",
        "Выполни миграцию.",
        "Почини всё.",
    ],
)
@pytest.mark.parametrize(
    "second", ["Wait: only touch src/api, nothing else.", "Use tabs.", "Пиши с табами, а не с пробелами."]
)
def test_a_first_order_does_not_give_way_to_what_is_said_next(first, second):
    history = [
        {"role": "user", "content": first},
        {"role": "assistant", "content": "Starting."},
        {"role": "user", "content": second},
    ]
    assert first in [span.text for span in fit(history, budget=5_000).report.task.goals]


@pytest.mark.parametrize("first", ["I am Ann", "This is Ann", "Try again", "Продолжай"])
def test_what_asks_for_nothing_gives_way(first):
    history = [
        {"role": "user", "content": first},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Refund order ORD-5512 to my card."},
    ]
    assert [span.text for span in fit(history, budget=5_000).report.task.goals] == ["Refund order ORD-5512 to my card."]


@pytest.mark.parametrize(
    ("task", "rule"),
    [("Write the product page.", "never mention prices"), ("Напиши страницу товара.", "цены не упоминать")],
)
@pytest.mark.parametrize("key", ["constraints", "rules"])
def test_a_prompt_that_is_a_json_object_asks_and_binds(task, rule, key):
    prompt = json.dumps(
        {"task": task, key: [rule], "rows": [{"id": at, "note": "no"} for at in range(9)]}, ensure_ascii=False
    )
    state = fit([{"role": "user", "content": prompt}], budget=5_000).report.task
    assert [span.text for span in state.goals] == [task, rule]
    assert [constraint.text for constraint in state.constraints] == [rule]


def test_other_json_neither_asks_nor_binds():
    data = json.dumps({"items": [{"name": "never mention prices"}], "note": "do not delete"})
    assert fit([{"role": "user", "content": data}], budget=5_000).report.task.constraints == ()
