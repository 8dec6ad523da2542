"""The recipe of the study as a row of the bench."""

from __future__ import annotations

from bench.policies import make
from bench.recipe import Recipe
from bench.recipe_parts import Text, Unit, companions
from bench.replay import Job, _work
from bench.synthetic import history
from bench.traces import Trajectory, tokens
from bench.units import Case
from bench.validity import broken_rules

from jettison.replay.measure.run import case_of

RESULT = '{"flights": [{"number": "HAT045", "price": 120}, {"number": "HAT046", "price": 130}, {"seats": 4}]}'


def _case() -> Case:
    return case_of(Trajectory("run", "made-up", "task", history(60, seed=5)))


def test_requests_are_valid_within_budget_and_begin_with_the_head() -> None:
    case = _case()
    run = case.trajectory
    policy, limit = make("recipe", case), run.budget(0.25)
    policy.start(run.messages[: run.head])
    for t in run.turns:
        request = policy.fit(run.messages[:t], limit)
        assert sum(map(tokens, request)) <= limit
        assert not broken_rules(request, run.messages[:t])
        assert request[: run.head] == run.messages[: run.head]


def test_a_history_that_fits_is_sent_as_it_is() -> None:
    run = _case().trajectory
    policy = Recipe()
    policy.start(run.messages[: run.head])
    assert all(policy.fit(run.messages[:t], 1 << 30) == run.messages[:t] for t in run.turns)


def test_fidelity_only_goes_down() -> None:
    run = _case().trajectory
    policy, before = Recipe(), dict[int, int]()
    policy.start(run.messages[: run.head])
    for t in run.turns:
        policy.fit(run.messages[:t], run.budget(0.25))
        left = {unit.index: sum(len(text.kept) for text in unit.texts) for unit in policy.units}
        assert all(left[index] <= count for index, count in before.items())
        before = left


def test_a_cut_record_keeps_its_path_and_keys_and_marks_gaps() -> None:
    text = Text.of({"role": "tool", "content": RESULT})
    assert text.rendered({2, 3}) == "…\nflights[1]: number: HAT046, price: 130\n…"
    assert list(companions(text, 3)) == [2]
    assert list(companions(text, 4)) == []


def test_a_cut_text_keeps_its_lines_in_order_and_the_heading_above_one() -> None:
    text = Text.of({"role": "tool", "content": "import os\n\ndef run():\n    a = 1\n    return a"})
    assert text.rendered({2, 4}) == "…\ndef run():\n…\n    return a"
    assert list(companions(text, 4)) == [2]


def test_a_stub_keeps_the_call_and_marks_its_result() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": "{}"}}]}
    unit = Unit.of(0, [call, {"role": "tool", "tool_call_id": "1", "content": RESULT}])
    unit.reduce("stub", {})
    assert [message.get("content") for message in unit.out] == [None, "[cut]"]
    assert unit.size == unit.overhead


def test_it_is_a_row_of_the_quality_run() -> None:
    made = _work(Job(_case().trajectory, ("window", "recipe"), (0.25,)))
    assert [replay.policy for replay in made] == ["window", "recipe"]
