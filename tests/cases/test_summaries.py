"""The cases about summaries, given to `summarise` itself: window, faults, what is done and what is open."""

import json
from pathlib import Path

import pytest

from jettison.compressors.asking import summarised
from jettison.compressors.summary import summarise
from jettison.compressors.summary_text import Source, Summary, parts_of, render
from jettison.errors import CutAnswer
from jettison.plan import Locks
from jettison.tokens import o200k
from jettison.wire import wire_named

DATA = Path(__file__).parent / "data"


def source_of(name, **more):
    """All of a case's history but its instructions and last turn."""
    case = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    items = [item for group in wire_named(case["format"]).parse(case["messages"][1:-1])[0] for item in group]
    return case, Source(parts_of(items, Locks(())), len(case["messages"]) - 2, **more)


def run(source, max_tokens, summarizer=None):
    return summarised(summarise(source, max_tokens=max_tokens, count=o200k, summarizer=summarizer))


class Faulty:
    """Reads at most its window, and fails in one of the case's ways."""

    name = "faulty"

    def __init__(self, window, fault=""):
        self.window, self.fault, self.calls = window, fault, 0

    def __call__(self, prompt, max_tokens):
        self.calls += 1
        assert o200k(prompt) <= self.window - max_tokens
        if self.fault == "context_length_exceeded":
            raise ValueError("context_length_exceeded")
        if self.fault == "cut at max_tokens":
            raise CutAnswer("length")
        if self.fault == "empty string":
            return ""
        return "Done:\n- chunks were read\nOpen:\n- none\nFacts:\n- INFO lines only\nDecisions:\n- none\n[end]"


def test_the_summariser_is_never_given_more_than_it_can_read():
    case, source = source_of("61-summariser-has-its-own-window")
    faulty = Faulty(case["summariser_context_tokens"])
    found = run(source, 120, faulty)
    assert found.by == "faulty"
    assert faulty.calls > 1
    assert found.messages == 20


@pytest.mark.parametrize("fault", ["context_length_exceeded", "empty string", "cut at max_tokens"])
def test_its_faults_are_reported_and_the_text_is_extracted(fault):
    case, source = source_of("61-summariser-has-its-own-window")
    assert fault in case["summariser_fault_modes"]
    found = run(source, 120, Faulty(case["summariser_context_tokens"], fault))
    assert "[summary of 20 earlier messages" in render(found, "badugisona")
    assert "Chunk 9 ok." in found.text
    assert len(found.notes) >= 1
    if fault == "context_length_exceeded":
        assert fault in found.notes[-1]


def test_what_is_complete_and_what_must_not_start_stay_apart():
    case, source = source_of(
        "32-done-and-pending-stay-apart", must_keep=("W4 is for next week, do not start it",), done=("W1", "W2", "W3")
    )
    found = run(source, 130)
    assert isinstance(found, Summary)
    assert all(text in found.text for text in case["must_contain_all_if_summarised"])
    for wave in ("W1", "W2", "W3"):
        assert f"{wave} COMPLETE" in found.text or "W1, W2 and W3 are complete." in found.text
    active = "Done:\n- W1, W2, W3\nOpen:\n- W3\nFacts:\n- W4 is for next week, do not start it\nDecisions: none\n[end]"
    assert run(source, 130, lambda prompt, n: active).by == "extractive"


def test_a_claim_does_not_lose_its_reservation():
    case, source = source_of("36-claims-need-their-evidence")
    made = [found for room in range(45, 200, 5) if isinstance(found := run(source, room), Summary)]
    assert any("I filled in the form" in found.text for found in made)
    for found in made:
        for claim, others in case["if_contains"].items():
            assert claim not in found.text or all(other in found.text for other in others)
