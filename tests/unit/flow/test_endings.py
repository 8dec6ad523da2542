"""What a poll, another result or a user says of work: over, or not."""

import json

import pytest

from jettison.flow.endings import ended


def text(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


POLL = {"asked": True, "polled": True}


@pytest.mark.parametrize(
    "result",
    [
        "exp-1: done",
        "Done",
        "Готово",
        "exp-1: 10 of 10 parts done",
        "exp-1: 100% done",
        "Job exp-1 failed: connection refused",
        "<status>completed</status>",
        "exit code: 0",
        "任务exp-1已完成",
        "exp-1 ist fertig",
        {"status": "success"},
        {"status": "ok", "result": {"status": "done"}},
        {"id": "exp-1", "status": "error"},
        {"id": "exp-1", "done": True},
        {"jobId": "exp-1", "jobStatus": "SUCCEEDED"},
        {"job": {"id": "exp-1"}, "status": "done"},
        {"статус": "выполнено", "номер": "exp-1"},
        "[INFO] exp-1 done",
    ],
)
def test_a_poll_that_says_it_is_over(result):
    assert ended(text(result), "exp-1", **POLL)


@pytest.mark.parametrize(
    "result",
    [
        "exp-12: done",
        "exp-1: 3 of 10 parts done",
        "exp-1: 7/10 completed",
        "exp-1: done 40%",
        "exp-1 is not done yet",
        "exp-1 hasn't finished",
        "exp-1 is almost done",
        "exp-1 will be ready in 5 minutes",
        "exp-1: step 1 done",
        "exp-1: 2 files done",
        "exp-1: failed 0, done 3, total 10",
        "Выгрузка exp-1 пока не готова",
        "Задача exp-1 готова на 40%",
        "exp-1 ist noch nicht fertig",
        "任务exp-1未完成",
        "exp-1: retrying after error 503",
        "503 Service Unavailable: request failed",
        "Request timed out",
        "Failed to fetch exp-1: 503",
        "Не удалось узнать статус exp-1",
        "<status>running</status>",
        {"status": "success", "data": {"progress": 40, "eta": "5m"}},
        {"status": "success", "data": {"state": "running"}},
        {"status": "error", "message": "upstream 503"},
        {"id": "exp-1", "done": False},
        {"id": "exp-1", "status": "partially_completed"},
        {"id": "exp-1", "status": "not_ready"},
        {"id": "exp-1", "status": "done: 3 of 10"},
        {"id": "exp-12", "status": "done"},
        [{"id": "exp-12", "status": "done"}, {"id": "exp-1", "status": "running"}],
    ],
)
def test_a_poll_that_does_not(result):
    assert not ended(text(result), "exp-1", **POLL)


@pytest.mark.parametrize(
    ("said", "over"),
    [
        ("exp-1 was cancelled yesterday", True),
        ("By the way, exp-1 failed", True),
        ("exp-1 and exp-2 are done", True),
        ("Update on exp-1. It was approved.", True),
        ("I cancelled exp-1", True),
        ("Выгрузка exp-1 готова", True),
        ("выгрузка exp-1 завершилась", True),
        ("Руководитель одобрил exp-1", True),
        ("Возврат exp-1 ещё не одобрен", False),
        ("Я не отменил exp-1", False),
        ("I didn't cancel exp-1", False),
        ("Is exp-1 done?", False),
        ("exp-1 done yet?", False),
        ("Did exp-1 finish or was it cancelled", False),
        ("If exp-1 failed, restart it.", False),
        ("Tell me when exp-1 is ready", False),
        ("Make sure exp-1 is completed before Friday", False),
        ("We need exp-1 done by 5", False),
        ("exp-2 is done, exp-1 is next", False),
        ("exp-1 waits for exp-2, which failed", False),
        ("exp-12 was cancelled yesterday", False),
        ("Готова ли exp-1?", False),
        ("Готово ли exp-1", False),
        ("Скажи, когда exp-1 будет готова.", False),
        ("Если exp-1 готова, пришли файл", False),
        ("exp-1 не отменена, ждём.", False),
        ("Отмени exp-1", False),
    ],
)
def test_what_a_user_says(said, over):
    assert ended(said, "exp-1", False, spoken=True) is over


@pytest.mark.parametrize(
    "line",
    ["exp-1 done ", "exp-12 ", "a", "exp-1 not ", "-a1", "1/2 ", "Job ", "status: ", "exp-1 step ", "выполняется "],
)
def test_a_line_without_a_stop_is_read_as_a_short_one(line):
    """It comes to an end: in squares of its length it would not."""
    long = line * (100_000 // len(line))
    for asked, polled, spoken in ((True, True, False), (False, False, True)):
        over = [ended(text, "exp-1", asked, polled=polled, spoken=spoken) for text in (long, line * 3)]
        assert over[0] is over[1] is line.startswith("exp-1 done")
