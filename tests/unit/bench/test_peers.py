"""The protocol of the peers, with a peer of our own in a real child process; no peer is installed here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trivial_peer
from bench.metrics import Call, summary
from bench.peers import run as runs
from bench.peers.catalog import PEERS, SETTINGS, Peer, peer_of
from bench.peers.contract import Counter, Given, Message, Table, arguments, split_system
from bench.peers.environments import NotInstalled, install, python_of
from bench.peers.extractive import Extractive
from bench.peers.process import OutOfTime, PeerFailed, PeerPolicy, PeerProcess
from bench.peers.run import Job, Outcome, in_order, read
from bench.peers.speed import Timing
from bench.peers.speed import table as speed_table
from bench.peers.tables import notes, tables
from bench.synthetic import history
from bench.traces import Trajectory, tokens
from bench.units import Case, Raised

from jettison.replay.measure.run import case_of, replay

HERE = Path(__file__).resolve().parent


def started(setting: str = "fair") -> PeerProcess:
    return PeerProcess(Path(sys.executable), "trivial_peer", setting, ["bpe-openai", "no-such-thing"], [HERE])


@pytest.fixture(scope="module")
def children() -> Iterator[list[PeerProcess]]:
    made = [started()]
    yield made
    for child in made:
        child.close()


@pytest.fixture
def process(children: list[PeerProcess]) -> PeerProcess:
    """A child that lives: one serves many tests, as it serves many trajectories."""
    if not children[-1].alive:
        children.append(started())
    return children[-1]


@pytest.fixture(scope="module")
def case() -> Case:
    return case_of(Trajectory("run", "made-up", "task", history(24, seed=3)))


def here(case: Case, fraction: float) -> list[list[Message]]:
    """The requests of the same peer in this process."""
    run = case.trajectory
    head = run.messages[: run.head]
    given = Given(run.budget(fraction), Counter(), run.head, sum(map(tokens, head)))
    peer = trivial_peer.Newest(given)
    return [peer.fit(run.messages[:t]) for t in run.turns]


def test_a_peer_answers_through_its_process_what_it_answers_in_ours(process: PeerProcess, case: Case) -> None:
    sent: list[list[Message]] = []
    policy = PeerPolicy(process, 60)
    found = replay(case, "peer", 0.3, under=policy, seen=lambda call, request: sent.append(list(request)))
    assert sent == here(case, 0.3)
    assert (summary(found.calls)["pressured"] or 0) > 0
    assert policy.spent == 7 * len(case.trajectory.turns)


def test_messages_of_the_history_come_back_as_themselves(process: PeerProcess, case: Case) -> None:
    messages = case.trajectory.messages[:8]
    policy = PeerPolicy(process, 60)
    policy.start(messages[:2])
    request = policy.fit(messages, 100_000)
    assert [id(message) for message in request[:-1]] == [id(message) for message in messages]


def test_a_conversation_starts_anew(process: PeerProcess, case: Case) -> None:
    messages = case.trajectory.messages
    for end in (8, 6):
        policy = PeerPolicy(process, 60)
        policy.start(messages[:2])
        assert policy.fit(messages[:end], 100_000)[:-1] == messages[:end]
        assert policy.spent == 7


def test_it_tells_the_versions_that_are_installed(process: PeerProcess) -> None:
    assert list(process.versions) == ["bpe-openai"]


def fitted(process: PeerProcess, budget: int, seconds: float = 60) -> list[Message]:
    messages = history(6)
    policy = PeerPolicy(process, seconds)
    policy.start(messages[:2])
    return policy.fit(messages, budget)


def test_what_a_peer_prints_does_not_reach_the_protocol(process: PeerProcess) -> None:
    assert fitted(process, trivial_peer.PRINTS)[:2] == history(6)[:2]


def test_an_error_of_the_peer_is_its_answer(process: PeerProcess) -> None:
    with pytest.raises(Raised, match="ValueError: not today"):
        fitted(process, trivial_peer.RAISES)
    assert fitted(process, trivial_peer.PRINTS)  # and the process lives


def test_a_peer_that_dies_leaves_its_last_words(process: PeerProcess) -> None:
    with pytest.raises(PeerFailed, match="last words"):
        fitted(process, trivial_peer.DIES)
    assert not process.alive


def test_a_peer_that_does_not_start_says_why() -> None:
    with pytest.raises(PeerFailed, match="No module named"):
        PeerProcess(Path(sys.executable), "bench.peers.adapters.no_such_adapter", "fair")


def test_an_answer_that_does_not_come_ends_the_process(process: PeerProcess) -> None:
    question = {"start": {"budget": trivial_peer.SLEEPS, "head": 0, "head_tokens": 0}}
    assert process.ask(question, 60) == {"ok": True}
    with pytest.raises(OutOfTime):
        process.ask({"more": history(3)}, 0.2)
    assert not process.alive


def test_more_processor_time_than_allowed_is_out_of_time(process: PeerProcess) -> None:
    with pytest.raises(OutOfTime):
        fitted(process, trivial_peer.WORKS, seconds=0.1)


def test_a_cold_call_is_timed_by_the_child(process: PeerProcess) -> None:
    messages = history(30)
    start = {"budget": 2_000, "head": 2, "head_tokens": sum(map(tokens, messages[:2]))}
    timed = {"time": messages, "start": start, "remember": True, "limit": 60}
    answer = process.ask(timed, 60)
    assert answer["wall"] > 0
    assert 0 < answer["tokens"] < 2_100
    failed = process.ask({**timed, "start": {**start, "budget": trivial_peer.RAISES}, "remember": False}, 60)
    assert failed["error"] == "ValueError"
    with pytest.raises(OutOfTime):
        process.ask({**timed, "start": {**start, "budget": trivial_peer.SPINS}, "limit": 1}, 120)


def test_the_counter_counts_as_the_measure_does() -> None:
    messages = [*history(20), {"role": "user", "content": [{"type": "text", "text": "Привет, 世界"}]}]
    for remember in (True, False):
        assert [Counter(remember=remember).message(m) for m in messages] == [tokens(m) for m in messages]


def test_a_table_gives_back_the_message_that_reads_the_same() -> None:
    table = Table(lambda one: [{"role": one[0], "content": one[1]}])
    original: Message = {"role": "user", "content": "x", "name": "someone"}
    table.learn(original, [("user", "x")])
    assert table.read([("user", "x")])[0] is original
    assert table.read([("user", "shorter")]) == [{"role": "user", "content": "shorter"}]


def test_a_table_keeps_messages_apart_that_read_the_same_but_have_names() -> None:
    table = Table(lambda one: [{"role": "user", "content": one[1]}])
    first, second = {"role": "user", "content": "x", "n": 1}, {"role": "user", "content": "x", "n": 2}
    table.learn(first, [("a", "x")], "a")
    table.learn(second, [("b", "x")], "b")
    assert table.read([("b", "x"), ("a", "x")], lambda one: str(one[0])) == [second, first]


@pytest.mark.parametrize(("text", "parsed"), [('{"a": 1}', {"a": 1}), ("", {}), ("[1]", {}), ("{", {})])
def test_arguments_that_do_not_parse_are_empty(text: str, parsed: dict[str, int]) -> None:
    assert arguments({"function": {"name": "f", "arguments": text}}) == parsed


def test_the_system_prompt_is_split_off() -> None:
    system, user = {"role": "system", "content": "s"}, {"role": "user", "content": "u"}
    assert split_system([system, user, system]) == ([system], [user, system])
    assert split_system([system]) == ([system], [])


def test_the_extract_stays_small_and_keeps_identifiers() -> None:
    extract = Extractive(Given(2_000, Counter(), 0, 0))
    text = "\n".join(
        f"well then, let us see what there is to see {i:03}\nорder ORD-{i:05} is at src/a_{i:03}.py" for i in range(200)
    )
    summary_text = extract(text)
    assert 400 < len(summary_text) <= 3 * 0.1 * 2_000
    assert "ORD-00199" in summary_text
    assert "well then" not in summary_text
    assert extract.spent == Counter().text(text) + Counter().text(summary_text)
    assert extract("") == "(nothing to keep)"


def test_a_peer_without_an_environment_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="make bench-peers"):
        python_of(PEERS[0], tmp_path)


def test_a_peer_that_cannot_be_installed_says_why(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match=r"Python 3\.99"):
        install(Peer("future", "future", "future", ("future==1",), python=(3, 99)), tmp_path)


def test_every_peer_of_the_catalogue_has_an_adapter_and_pins() -> None:
    adapters = HERE.parents[2] / "bench" / "peers" / "adapters"
    shared = {"__init__", "langchain_messages", "converse", "jettison_session"}
    assert {peer.adapter for peer in PEERS} == {path.stem for path in adapters.glob("*.py")} - shared
    assert all("==" in part for peer in PEERS for part in peer.requires)
    by_environment = {(peer.environment, peer.requires) for peer in PEERS}
    assert len(by_environment) == len({peer.environment for peer in PEERS})
    assert all(peer_of(f"{peer.name} ({setting})") == (peer, setting) for peer in PEERS for setting in SETTINGS)
    with pytest.raises(KeyError):
        peer_of("nobody (fair)")


@pytest.fixture
def trivial(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    """The trivial peer in place of one of the catalogue, and a made-up set."""
    peer = Peer("trivial", "none", "none", ("bpe-openai==0",), budgeted=False)
    monkeypatch.setattr(runs, "peer_of", lambda name: (peer, name.partition("(")[2][:-1]))
    monkeypatch.setattr(runs, "python_of", lambda peer, folder: Path(sys.executable))
    monkeypatch.setattr(runs, "PeerProcess", lambda python, module, setting, distributions: started(setting))
    monkeypatch.setattr(runs, "_cases", {"made-up": [case, case]})


@pytest.mark.usefixtures("trivial")
def test_a_row_is_the_sum_of_its_trajectories(case: Case) -> None:
    outcomes = runs._work(Job("trivial (fair)", "made-up", (0.5, 0.2), "."))
    for outcome, fraction in zip(outcomes, (0.5, 0.2), strict=True):
        assert (outcome.fraction, outcome.runs, outcome.late, outcome.failed) == (fraction, 2, 0, "")
        assert len(outcome.calls) == len(outcome.tasks) == 2 * len(case.trajectory.turns)
        assert outcome.headless == 0
        assert outcome.spent == 14 * len(case.trajectory.turns)
        assert outcome.versions
    assert sum(c.kept for c in outcomes[1].calls) < sum(c.kept for c in outcomes[0].calls)


@pytest.mark.usefixtures("trivial")
def test_a_default_that_looks_at_no_budget_is_asked_once(case: Case) -> None:
    first, second = runs._work(Job("trivial (default)", "made-up", (0.5, 0.2), "."))
    assert [c.sent for c in first.calls] == [c.sent for c in second.calls]
    assert [c.limit for c in first.calls] != [c.limit for c in second.calls]
    assert first.seconds == second.seconds


@pytest.mark.usefixtures("trivial")
def test_a_row_without_time_left_says_so() -> None:
    (outcome,) = runs._work(Job("trivial (fair)", "made-up", (0.5,), ".", row_seconds=0))
    assert (outcome.runs, outcome.late, outcome.calls) == (0, 2, [])
    table = tables([outcome, baseline("keep-all")])
    assert "| trivial (fair) | – (out of time)" in table


def test_a_peer_that_is_not_installed_is_a_row_that_says_so(tmp_path: Path) -> None:
    (outcome,) = runs._work(Job("strands (fair)", "made-up", (0.5,), str(tmp_path)))
    assert "make bench-peers" in outcome.failed
    assert "– (strands is not installed" in tables([outcome, baseline("keep-all")])
    assert "**strands**: not installed" in notes([outcome])


def baseline(name: str, case: Case | None = None) -> Outcome:
    calls = [Call(t=2, limit=100, full=200, full_hit=100, sent=200, hit=100, before=100, needed=4, kept=3, bound=2)]
    return Outcome(name, "made-up", 0.5, calls, ["task"], headless=1, spent=45, seconds=0.5, runs=1)


def test_the_table_adds_the_summariser_to_the_cost() -> None:
    (row,) = [line for line in tables([baseline("window")]).splitlines() if line.startswith("| window")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1].startswith("75.0 [")
    full = 0.1 * 100 + 1.25 * 100
    assert cells[2:5] == ["50.0", "0.0", f"{(full + 45) / full:.2f}"]
    assert cells[5:] == ["1.00", "1", "0", "1", "0", "1", "500.0"]


def test_the_head_that_is_gone_is_counted(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    class Headless:
        def start(self, head: list[Message]) -> None: ...

        def fit(self, messages: list[Message], budget: int) -> list[Message]:
            return messages[1:]

    monkeypatch.setattr(runs, "_cases", {"made-up": [case]})
    monkeypatch.setattr(runs, "make", lambda name, case: Headless())
    (outcome,) = runs._work(Job("window", "made-up", (0.5,), "."))
    assert outcome.headless == len(case.trajectory.turns)


def test_results_are_read_back_in_order(tmp_path: Path) -> None:
    from dataclasses import asdict

    old, new, first = baseline("window"), baseline("window"), baseline("keep-all")
    new.runs = 9
    for name, rows in (("a.jsonl", [old]), ("b.jsonl", [new, first])):
        (tmp_path / name).write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    assert read([tmp_path / "a.jsonl", tmp_path / "b.jsonl"]) == in_order([new, first]) == [first, new]


def test_the_speed_table_is_sorted_and_says_what_is_missing() -> None:
    rows = [Timing("slow", "own", 9.0, 99_000), Timing("gone", "own", problem="why"), Timing("fast", "o200k", 1, 9)]
    lines = speed_table(rows, 32_000).splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines] == ["fast", "slow", "gone"]
    assert "(budget 32,000)" in lines[1]
    assert "– (why)" in lines[2]
