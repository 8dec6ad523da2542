"""Every case in `data/`, with all its machine-checkable fields, by the default counter and by o200k.

More directories of cases of the same shape can be named in JETTISON_CASES (separated by `:`).
"""

import json
import os
from pathlib import Path

import pytest

from cases.runner import CHECKED, DESCRIPTIVE, Summariser, run_case, violations

IDEALS_MET = 1
"""How many `ideal_contains` texts survive, at least. Not a promise: raised when compression gets better."""

_FOLDERS = [Path(__file__).parent / "data", *map(Path, filter(None, os.environ.get("JETTISON_CASES", "").split(":")))]
CASES = {
    path.stem: json.loads(path.read_text("utf-8")) for folder in _FOLDERS for path in sorted(folder.glob("*.json"))
}


@pytest.mark.parametrize("counter", [None, "o200k"], ids=["default", "o200k"])
@pytest.mark.parametrize("name", CASES)
def test_case(name, counter):
    found = violations(CASES[name], counter)
    assert not found, "\n".join([CASES[name]["kind"], *found])


def test_all_are_here():
    assert len(list(_FOLDERS[0].glob("*.json"))) == 46


@pytest.mark.parametrize("name", CASES)
def test_no_field_is_overlooked(name):
    assert set(CASES[name]) <= DESCRIPTIVE | CHECKED


def test_what_would_be_ideal_does_not_get_worse(record_property):
    met = total = 0
    for case in CASES.values():
        fitted = run_case(case, "o200k").fitted
        for text in case.get("ideal_contains", ()):
            total += 1
            met += fitted is not None and text in json.dumps(fitted.messages, ensure_ascii=False)
    record_property("ideal_contains", f"{met} of {total}")
    assert met >= IDEALS_MET


@pytest.mark.parametrize("fault", ["", *CASES["61-summariser-has-its-own-window"]["summariser_fault_modes"]])
def test_the_summariser_of_a_case_is_asked(fault):
    """Else its window and its faults would be checked by nobody."""
    case = CASES["61-summariser-has-its-own-window"]
    summarizer = Summariser(case["summariser_context_tokens"], fault)
    run_case(case, "o200k", summarizer=summarizer)
    assert summarizer.given
