"""Output of test runners: the failures with their reasons and the summary stay, tests that passed go first."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import fit
from jettison.compressors.kinds import outline_of
from jettison.compressors.testrun import outline
from jettison.flow.segments import segment
from outlines import lawful, view
from strategies import law, log_text

WORDS = ["worker", "router", "ledger", "mailer", "billing", "invoice", "parser", "quota", "index", "session"]
NAMES = [f"{WORDS[at % 10]}_{at}" for at in range(60)]

PYTEST = "\n".join(
    [
        "============ test session starts ============",
        *(f"tests/test_{name}.py::test_total PASSED [{at}%]" for at, name in enumerate(NAMES)),
        "tests/test_tax.py::test_round FAILED [100%]",
        "================ FAILURES ================",
        "________ test_round ________",
        "    def test_round():",
        ">       assert round_tax(1.005) == 1.01",
        "E       AssertionError: assert 1.0 == 1.01",
        "tests/test_tax.py:44: AssertionError",
        "=========== 1 failed, 60 passed in 3.2s ===========",
    ]
)
UNITTEST = "\n".join(
    [
        *(f"test_{name} (tests.test_all.All.test_{name}) ... ok" for name in NAMES),
        "test_round (tests.test_tax.Tax.test_round) ... FAIL",
        "======================================================================",
        "FAIL: test_round (tests.test_tax.Tax.test_round)",
        "Traceback (most recent call last):",
        '  File "/app/tests/test_tax.py", line 44, in test_round',
        "    self.assertEqual(round_tax(1.005), 1.01)",
        "AssertionError: 1.0 != 1.01",
        "Ran 61 tests in 0.031s",
        "FAILED (failures=1)",
    ]
)
GO = "\n".join(
    [
        *(line for name in NAMES for line in (f"=== RUN   Test{name}", f"--- PASS: Test{name} (0.00s)")),
        "=== RUN   TestRound",
        "    tax_test.go:44: got 1.0, want 1.01",
        "--- FAIL: TestRound (0.00s)",
        "FAIL",
        "FAIL\tshop/tax\t0.012s",
    ]
)
CARGO = "\n".join(
    [
        "running 61 tests",
        *(f"test {name}::total ... ok" for name in NAMES),
        "test tax::round ... FAILED",
        "failures:",
        "---- tax::round stdout ----",
        "thread 'tax::round' panicked at src/tax.rs:44:9:",
        "assertion `left == right` failed",
        "  left: 1.0",
        " right: 1.01",
        "test result: FAILED. 60 passed; 1 failed; 0 ignored",
    ]
)
JEST = "\n".join(
    [
        "FAIL src/tax.test.js",
        *(f"  ✓ {name} adds up ({at} ms)" for at, name in enumerate(NAMES)),
        "  ✕ rounds the tax (5 ms)",
        "  ● rounds the tax",
        "    Expected: 1.01",
        "    Received: 1",
        "      at Object.<anonymous> (src/tax.test.js:44:5)",
        "Tests:       1 failed, 60 passed, 61 total",
    ]
)
MOCHA = "\n".join(
    [
        *(f"    ✔ {name} adds up" for name in NAMES),
        "    1) rounds the tax",
        "  60 passing (31ms)",
        "  1 failing",
        "  1) rounds the tax:",
        "      AssertionError: expected 1 to equal 1.01",
        "      at Context.<anonymous> (test/tax.js:44:12)",
    ]
)
TAP = "\n".join(
    [
        "TAP version 13",
        *(f"ok {at + 1} - {name} adds up" for at, name in enumerate(NAMES)),
        "not ok 61 - rounds the tax",
        "  expected: 1.01",
        "  actual: 1",
        "1..61",
        "# fail 1",
    ]
)
MAVEN = "\n".join(
    [
        *(f"[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0 - in shop.{name}Test" for name in NAMES),
        "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! - in shop.TaxTest",
        "[ERROR]   shop.TaxTest.round:44 expected:<1.01> but was:<1.0>",
        "[INFO] BUILD FAILURE",
    ]
)
RUNS = {
    "pytest": (PYTEST, ["test_round FAILED", "E       AssertionError", "1 failed, 60 passed"]),
    "unittest": (UNITTEST, ["... FAIL", "AssertionError: 1.0 != 1.01", "FAILED (failures=1)"]),
    "go": (GO, ["--- FAIL: TestRound", "got 1.0, want 1.01"]),
    "cargo": (CARGO, ["tax::round ... FAILED", "left: 1.0", "right: 1.01"]),
    "jest": (JEST, ["✕ rounds the tax", "Expected: 1.01", "Received: 1"]),
    "mocha": (MOCHA, ["1) rounds the tax", "expected 1 to equal 1.01"]),
    "tap": (TAP, ["not ok 61", "expected: 1.01", "actual: 1"]),
    "maven": (MAVEN, ["<<< FAILURE!", "TaxTest.round:44"]),
}


@pytest.mark.parametrize("runner", RUNS)
def test_failures_and_their_reasons_outweigh_what_passed(runner):
    text, heavy = RUNS[runner]
    assert outline_of(segment(text)).kind == "tests"
    shown = view(text, outline, 0.25)
    for word in heavy:
        assert word in shown


@pytest.mark.parametrize("runner", RUNS)
@pytest.mark.parametrize("share", [0.6, 0.45, 0.35])
def test_they_stay_in_a_cut_result(runner, share):
    text, heavy = RUNS[runner]
    call = {
        "id": "t",
        "type": "function",
        "function": {"name": "run", "arguments": json.dumps({"cmd": "run the tests"})},
    }
    history = [
        {"role": "user", "content": "Run the tests and look at what fails."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t", "content": text},
        {"role": "user", "content": "Which test failed?"},
    ]
    full = fit(history, budget=100_000).report.before
    kept = fit(history, budget=int(share * full)).messages[2]["content"]
    assert heavy[0] in kept


def test_what_was_cut_is_told_in_tests():
    parts = segment(PYTEST)
    assert outline(parts).about([1, 2, 3]) == "3 tests that passed cut; 1 of 1 failures kept"
    assert outline(parts).about([]) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        log_text(3, 4_000),
        "All checks passed.\n" + "1) KeyDB\n2) Valkey\n3) Dragonfly\n" * 4,
        "The tests passed yesterday, and failed today.\n" * 20,
        "def test_total():\n    assert total(3) == 4\n" * 20,
        '{"results": [{"test": "a", "outcome": "PASSED"}, {"test": "b", "outcome": "FAILED"}]}',
    ],
)
def test_other_texts_are_no_test_run(text):
    assert outline(segment(text)) is None


@law(60)
@given(st.lists(st.sampled_from([line for text, _ in RUNS.values() for line in text.split("\n")]), max_size=60))
def test_laws_of_an_outline(lines):
    lawful("\n".join(lines), outline)
