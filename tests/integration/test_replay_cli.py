"""`jettison replay` and `jettison tune --policy` as people run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from integration.test_cli import run
from integration.test_replay_page import needing
from unit.replay.samples import SAMPLES


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    rows = [{"id": f"r{at}", "task": f"t{at % 4}", "messages": needing(40, at)} for at in range(8)]
    (folder / "runs.jsonl").write_text("\n".join([*map(json.dumps, rows), "{broken"]), encoding="utf-8")
    return folder


def figures(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_replay_prints_the_comparison_and_writes_everything(traces: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "out.json", tmp_path / "page.html"
    done = run("replay", traces, "--baselines", "--json", out, "--html", page, "--losses", 2, "-j", 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 runs from 1 file (messages 8)" in done.stdout
    assert "1 rows or files skipped" in done.stdout
    assert "runs.jsonl row 9" in done.stdout
    for name in ("jettison", "keep-all", "clairvoyant", "random", "window", "clear-results", "plain-formula"):
        assert f"\n{name} " in done.stdout
    assert "needed values gone" in done.stdout
    data = figures(out)
    assert (data["runs"], data["skipped"]["count"]) == (8, 1)
    lines = {line["policy"]: line for line in data["lines"] if line["set"] is None}
    assert lines["keep-all"]["strict"] == 1
    assert lines["clairvoyant"]["strict"] >= lines["jettison"]["strict"] > lines["window"]["strict"]
    assert len(lines["jettison"]["intervals"]["strict"]) == 2
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_several_budgets_policies_and_a_run_that_goes_on(traces: Path, tmp_path: Path) -> None:
    (tmp_path / "quick.toml").write_text('profile = "economy"\ndecay = 0.1\n', encoding="utf-8")
    common = ["replay", traces, "-b", "50%,25%", "--policy", tmp_path / "quick.toml", "--parts", tmp_path / "parts"]
    first = run(*common, "--json", tmp_path / "a.json", "-j", 2)
    assert first.returncode == 0, first.stderr
    again = run(*common, "--json", tmp_path / "b.json", "-j", 1)
    assert again.returncode == 0, again.stderr
    assert figures(tmp_path / "a.json")["lines"] == figures(tmp_path / "b.json")["lines"]
    assert {(line["policy"], line["fraction"]) for line in figures(tmp_path / "a.json")["lines"]} == {
        ("quick", 0.5),
        ("quick", 0.25),
    }
    other = run("replay", traces, "--parts", tmp_path / "parts")
    assert (other.returncode, "another run" in other.stderr) == (64, True)


def test_standard_input_to_standard_output() -> None:
    text = "\n".join(json.dumps(row) for row in SAMPLES["codex"][0])
    done = run("replay", "-", "--budget", "4k", "--json", "-", "-j", 1, text=text)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["formats"] == {"codex": 1}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere/*.jsonl"], 3, "no such file"),
        (["--budget", "8k,9k"], 64, "several budgets"),
        (["--policy", "none.toml"], 64, "cannot read"),
        (["--engine", "spark"], 64, "jettison: --engine spark is not known: replay runs on local or ray"),
        (["--jobs", "0"], 64, "'--jobs'"),
        (["--limit", "0"], 64, "'--limit'"),
        (["--html", "/no/such/folder/page.html"], 64, "cannot write /no/such/folder/page.html"),
        (["--json", "/no/such/folder/out.json"], 64, "cannot write /no/such/folder/out.json"),
        (["--html", "."], 64, "cannot write .: it is a folder"),
        (["--wire", "soap"], 64, "wire"),
    ],
)
def test_mistakes(arguments: list[str], code: int, message: str, traces: Path) -> None:
    paths = [] if "*" in arguments[0] else [str(traces)]
    done = run("replay", *paths, *arguments)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--aim", "cost"], "--aim: of --policy OUT: give it as well"),
        (["--wide", "-j", "1"], "--wide, --jobs: of --policy OUT"),
        (["--policy", "OUT", "--l2", "1"], "--l2: of fitting weights"),
        (["--policy", "OUT", "--aim", "fame"], "aim='fame' is not known: aim at 'support' or 'cost'"),
        (["--by", "moon"], "by='moon' is not known: hold out by 'task' or by 'file'"),
        (["--folds", "1"], "folds must be 2 or more, not 1"),
        (["--l2", "0"], "l2 must be above 0"),
        (["--json", "/no/such/folder/w.json"], "cannot write /no/such/folder/w.json"),
    ],
)
def test_mistakes_of_tune_are_told_before_a_file_is_read(arguments: list[str], message: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out.toml")
    done = run("tune", "no-such-file.jsonl", *(out if each == "OUT" else each for each in arguments))
    assert (done.returncode, message in done.stderr) == (64, True), done.stderr
    assert not (tmp_path / "out.toml").exists()


def test_a_page_alone_prints_no_losses(traces: Path, tmp_path: Path) -> None:
    done = run("replay", traces, "--html", tmp_path / "page.html", "-j", 1)
    assert done.returncode == 0, done.stderr
    assert "needed values gone" not in done.stdout
    assert (tmp_path / "page.html").exists()


def test_a_broken_file_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{oops", encoding="utf-8")
    done = run("replay", tmp_path)
    assert done.returncode == 3
    assert ": bad.json is not JSON" in done.stderr
    assert done.stderr.count("bad.json") == 1


def test_nothing_readable_says_why(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": 1}', encoding="utf-8")
    done = run("replay", tmp_path)
    assert done.returncode == 3
    assert "the keys of its first row are a" in done.stderr


def test_tune_writes_a_policy_that_replay_takes(traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    done = run("tune", traces / "runs.jsonl", "--policy", out, "--aim", "cost", "-j", 2)
    assert done.returncode == 0, done.stderr
    assert "Verdict:" in done.stdout
    assert out.read_text(encoding="utf-8").startswith("# Written by `jettison tune --policy`")
    assert run("replay", traces, "--policy", out, "-j", 1).returncode == 0
