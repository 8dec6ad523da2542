"""The trace of a run: what it says of each item and call agrees with the session's own reports."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from bench.synthetic import history

from jettison import Budget, Policy, Session
from jettison.replay.chat import trajectory_of
from jettison.replay.engine import Setup
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.readers import Recorded
from jettison.replay.trace import Trace, traced
from unit.replay.samples import anthropic, responses


def run() -> Trajectory:
    messages = history(40, seed=3)
    results = [m["content"] for m in messages if m["role"] == "tool" and '"id": "' in m["content"]]
    wanted = results[0].split('"id": "')[1].split('"')[0]
    for message in [m for m in messages if m.get("tool_calls")][-6:]:
        message["tool_calls"][0]["function"]["arguments"] = json.dumps({"id": wanted})
    return Trajectory("run", "made-up", "made-up/t", messages)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return traced(run(), Setup(("jettison", "window", "keep-all")), "jettison", 0.3)


@pytest.fixture(scope="module")
def reports(trace: Trace) -> list[Any]:
    session = Session(Policy(budget=Budget(trace.limit)))
    return [session.fit(run().messages[: call.t]).report for call in trace.calls]


def test_every_item_is_at_every_call_what_the_report_says(trace: Trace, reports: list[Any]) -> None:
    assert any(len(item.life) > 1 for item in trace.items), "the budget is small enough to cut something"
    for at, report in enumerate(reports):
        said = {row.item: (row.decision, row.after) for row in report.rows}
        drawn = {item.id: tuple(item.at(at)[1:3]) for item in trace.items if item.born <= at}
        assert drawn == said


def test_bands_are_the_tokens_by_kind(trace: Trace, reports: list[Any]) -> None:
    for call, report in zip(trace.calls, reports, strict=True):
        assert call.bands == {kind: after for kind, (_, after) in report.by_kind().items() if after}
        assert call.epoch == report.cache.epoch


def test_reasons_are_those_of_the_decisions(trace: Trace, reports: list[Any]) -> None:
    said = {row.item: row.reason for row in reports[-1].rows if row.decision != "full"}
    assert {item.id: item.life[-1][3] for item in trace.items if item.life[-1][1] != "full"} == said


def test_needed_values_lead_to_the_items_that_hold_them(trace: Trace) -> None:
    assert trace.needs
    texts = trace.items
    for need in trace.needs:
        assert need.sources
        assert all(texts[source].born <= need.call for source in need.sources)
        assert all(texts[source].kind in ("result", "user", "document") for source in need.sources)
        assert need.kept == (need.value not in trace.calls[need.call].missing)
    assert sum(call.needed for call in trace.calls) == len(trace.needs)


def test_others_stand_beside_it_and_all_is_plain_data(trace: Trace) -> None:
    assert set(trace.others) == {"window", "keep-all"}
    assert all(len(calls) == len(trace.calls) for calls in trace.others.values())
    assert json.loads(json.dumps(trace.to_dict()))["id"] == "run"


def test_text_that_comes_again_after_it_was_cut_is_recalled() -> None:
    given = run()
    first = next(at for at, m in enumerate(given.messages) if m["role"] == "tool")
    last = max(at for at, m in enumerate(given.messages) if m["role"] == "tool")
    messages = [dict(message) for message in given.messages]
    messages[last]["content"] = messages[first]["content"]
    messages.append({"role": "assistant", "content": "done"})
    trace = traced(replace(given, messages=messages), Setup(), "jettison", 0.2)
    old = next(item for item in trace.items if item.message == first)
    assert [entry[1] for entry in old.life][-2:] != ["full", "full"]
    assert old.life[-1][1] == "recalled"
    assert trace.items[-1].message >= last


@pytest.mark.parametrize(
    "recorded",
    [
        Recorded("anthropic", anthropic(), "You are a careful clerk.", name="a"),
        Recorded("openai-responses", responses(), "You are a careful clerk.", name="r"),
    ],
    ids=lambda recorded: recorded.wire,
)
def test_other_wires_keep_their_own_items(recorded: Recorded) -> None:
    trace = traced(trajectory_of(recorded, "s"), Setup(tokens=5000), "jettison")
    assert trace.wire == recorded.wire
    assert {"instruction", "user", "call", "result"} == {item.kind for item in trace.items}
    assert [(need.value, len(need.sources), need.kept) for need in trace.needs] == [("ord-77310", 1, True)]


def test_only_a_policy_of_the_library_has_a_trace() -> None:
    with pytest.raises(TypeError, match="library"):
        traced(run(), Setup(("window",)), "window")


def test_secrets_of_the_run_are_not_shown() -> None:
    token = "ghp_" + "x7Kq9Lm2Zp4Rt6Vb8Nw1Yc3Df5Gh0Jk2Ls4a"[:36]
    password = "Tr4vel-Sunday-91"
    reply = {"role": "tool", "tool_call_id": "c1", "content": f'{{"repo": "acme/site-7041", "token": "{token}"}}'}
    use = {"repo": "acme/site-7041", "auth": token}
    messages: list[Any] = [
        {"role": "user", "content": "Open the repository."},
        _turn("c1", {}),
        reply,
        _turn("c2", use),
        {"role": "tool", "tool_call_id": "c2", "content": f"the password is {password}"},
        _turn("c3", {"login": password}),
        {"role": "tool", "tool_call_id": "c3", "content": "done " * 400},
        _turn("c4", use),
    ]
    made = traced(Trajectory("r", "s", "t", messages), Setup(policies=("jettison",), tokens=150), "jettison")
    shown = json.dumps(made.to_dict())
    assert token.lower() not in shown.lower()
    assert password.lower() not in shown.lower()
    assert "acme/site-7041" in shown
    assert "[secret]" in shown


def _turn(name: str, arguments: dict[str, str]) -> dict[str, Any]:
    function = {"name": "open", "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }
