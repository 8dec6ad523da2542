"""Words of trouble, and columns with odd values."""

import random

import pytest

from jettison.compressors.trouble import ERROR, WARNING, trouble
from jettison.compressors.unusual import unusual

DICE = random.Random(6)


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("java.lang.NullPointerException: null", ERROR),
        ("2 tests FAILED", ERROR),
        ('"GET /x HTTP/1.1" 502 17', ERROR),
        ("permission denied", ERROR),
        ("Отказано в доступе", ERROR),
        ("КРИТИЧЕСКАЯ нагрузка", ERROR),
        ("DeprecationWarning: old", WARNING),
        ("request timed out", WARNING),
        ("внимание: мало места", WARNING),
        ("DRY RUN: 30 rows would go", WARNING),
        ("ROLLED BACK: all of the above was undone", WARNING),
        ("ПРОБНЫЙ ЗАПУСК, изменения не сохранены", WARNING),
        ("all is well", None),
        ("0 errors, 0 warnings", None),
        ("errors: none", None),
        ('"error": null', None),
        ("completed without errors", None),
        ("без ошибок", None),
        ("failover is on", None),
        ('"GET /x HTTP/1.1" 200 5021', None),
    ],
)
def test_severity(text, severity):
    assert trouble(["before", text, "after"]).get(1) == severity
    assert set(trouble(["before", text, "after"])) <= {1}


def test_a_real_error_after_a_denied_one_is_found():
    assert trouble(["0 errors before, then an error"]) == {0: ERROR}


def test_a_letter_that_grows_when_lowered_moves_nothing():
    assert trouble(["İ" * 50, "fine", "an error"]) == {2: ERROR}


@pytest.mark.parametrize(
    ("column", "odd"),
    [
        (["a", "b"] * 50 + ["c"], {100}),
        ([str(DICE.randint(1, 50)) for _ in range(100)] + ["9999"], {100}),
        ([str(DICE.random()) for _ in range(100)] + ["n/a"], {100}),
        ([f"name {n}" for n in range(100)] + [""], {100}),
        ([f"name {n}" for n in range(100)] + ["x" * 400], {100}),
        (["same"] * 100, set()),
        ([str(n) for n in range(100)], set()),
        ([f"name {n}" for n in range(100)], set()),
        (["a", "b", "c"], set()),
        (["a"] * 50 + ["b"] * 50, set()),
        (["inf", "nan", "1"] * 40, set()),
        ([], set()),
    ],
)
def test_unusual(column, odd):
    assert unusual(column) == odd
