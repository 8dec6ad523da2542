"""The command line, run as people run it: files, pipes, exit codes, broken input."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jettison.cli import main
from jettison.cli.budget import Wanted, parse_budget
from jettison.errors import ConfigError

WORDS = "the parcel was scanned in the depot and went on to the next one without any further remark "


def call(index: int, result: str) -> list[dict[str, Any]]:
    function = {"name": "read_log", "arguments": json.dumps({"page": index})}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{index}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"c{index}", "content": result},
    ]


def history(calls: int = 12) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a careful clerk."},
        {"role": "user", "content": "Find out where parcel PX-4471 is. Never open it."},
    ]
    for index in range(calls):
        messages += call(index, f"page {index}: " + WORDS * 20)
    return [*messages, {"role": "user", "content": "So, where is it?"}]


TOOLS = [{"type": "function", "function": {"name": "read_log", "parameters": {"type": "object", "properties": {}}}}]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "history.json"
    path.write_text(json.dumps(history()), encoding="utf-8")
    return path


def run(*args: object, text: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FORCE_COLOR")}
    command = [sys.executable, "-m", "jettison.cli", *map(str, args)]
    return subprocess.run(
        command, input=text, capture_output=True, encoding="utf-8", timeout=120, env=inherited | env, check=False
    )


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def jettison(capsys: pytest.CaptureFixture[str]) -> Any:
    """The command in this process: the same as `run`, without a second for each."""

    def go(*args: object) -> Ran:
        code = main(list(map(str, args)))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err + captured.out
        return Ran(code, captured.out, captured.err)

    return go


# --- as a process ------------------------------------------------------------------------------------------


def test_fit_from_a_file_and_from_a_pipe(file: Path) -> None:
    ran = run("fit", file, "--budget", "2k")
    assert ran.returncode == 0, ran.stderr
    assert "Fits:" in ran.stdout
    assert "\x1b" not in ran.stdout
    assert max(map(len, ran.stdout.split("\n"))) <= 80
    piped = run("fit", "-", "--budget", "2k", text=file.read_text())
    assert (piped.returncode, piped.stdout) == (0, ran.stdout)


def test_a_reader_that_stops_early(file: Path) -> None:
    command = f"{sys.executable} -m jettison.cli fit {file} -b 2k --json | head -c 10"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stderr == ""


def test_version_and_help() -> None:
    assert run("--version").stdout.startswith("jettison 0.")
    ran = run("fit", "--help")
    assert ran.returncode == 0
    for option in ("--budget", "--wire", "--model", "--json", "--output", "--explain", "--row", "--repair", "--steps"):
        assert option in ran.stdout


def test_demo() -> None:
    ran = run("demo")
    assert ran.returncode == 0, ran.stderr
    assert "Try next" in ran.stdout
    assert "This one has no such tool" in " ".join(ran.stdout.split()), "the example's tools hold no recall tool"
    assert "recall_context" not in EXAMPLE.read_text("utf-8")
    assert "Fits:" in ran.stdout
    assert "RF-20931" not in ran.stderr


def test_without_the_extra(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('no typer', name='typer')")
    ran = run("demo", PYTHONPATH=str(tmp_path))
    assert ran.returncode == 70
    assert ran.stderr == "jettison: the command line needs typer: pip install 'jettison[cli]'\n"


# --- exit codes --------------------------------------------------------------------------------------------


def test_2_cannot_fit(jettison: Any, file: Path, tmp_path: Path) -> None:
    ran = jettison("fit", file, "--budget", "20", "-o", tmp_path / "out.json")
    assert ran.code == 2
    assert ran.out == ""
    assert "cannot fit: the smallest safe request needs" in ran.err
    assert "--degrade for a best effort" in ran.err
    assert "✓" not in ran.err
    assert not (tmp_path / "out.json").exists()


def test_degrade_says_what_is_lost(jettison: Any, file: Path) -> None:
    assert jettison("fit", file, "--budget", "30").code == 2
    ran = jettison("fit", file, "--budget", "30", "--degrade")
    assert ran.code == 0, ran.err
    assert "degraded (" in ran.out
    assert "Fits: 23 of 30 tokens (77 %), with losses" in ran.out
    assert jettison("fit", file, "--budget", "20", "--degrade").code == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{oops", "line 1, column 2: not JSON"),
        (b"\xff\xfe\xfa", "not UTF-8"),
        (b"", "is empty"),
        (b'{"no": "messages"}', "its keys: no"),
        (b'[{"role": "wizard", "content": "x"}]', "messages[0]"),
        (json.dumps([{"role": "tool", "tool_call_id": "c1", "content": "orphan"}]).encode(), "messages[0]"),
        (
            json.dumps(
                [{"role": "user", "content": "x"}, *call(1, "r")[:1], {"role": "user", "content": "y"}]
            ).encode(),
            "--repair",
        ),
    ],
)
@pytest.mark.parametrize("steps", [(), ("--steps",)])
def test_3_invalid_input(jettison: Any, tmp_path: Path, content: bytes, says: str, steps: tuple[str, ...]) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    ran = jettison("fit", path, "--budget", "8k", *steps)
    assert ran.code == 3, ran.err
    assert says in ran.err
    assert ran.out == ""


def test_3_missing_file(jettison: Any, tmp_path: Path) -> None:
    ran = jettison("fit", tmp_path / "none.json", "--budget", "8k")
    assert ran.code == 3
    assert "cannot read" in ran.err


@pytest.mark.parametrize(
    "args",
    [
        ("fit",),
        ("fit", "FILE"),
        ("fit", "FILE", "--budget", "lots"),
        ("fit", "FILE", "--budget", "0"),
        ("fit", "FILE", "--budget", "8k", "--wire", "telegram"),
        ("fit", "FILE", "--budget", "8k", "--row", "7"),
        ("fit", "FILE", "--budget", "8k", "--row", "x"),
        ("fit", "FILE", "--budget", "8k", "--explain", "no such item"),
        ("fit", "FILE", "--budget", "8k", "--nonsense"),
        ("fit", "FILE", "--budget", "8k", "-o", "/no/such/folder/out.json"),
        ("frobnicate",),
        (),
    ],
)
def test_64_usage(jettison: Any, file: Path, args: tuple[str, ...]) -> None:
    ran = jettison(*(file if arg == "FILE" else arg for arg in args))
    assert ran.code == 64, ran.err
    assert ran.out == ""
    assert ran.err.strip()


# --- options -----------------------------------------------------------------------------------------------


def test_output_is_what_fits(jettison: Any, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("old")
    out.chmod(0o640)
    ran = jettison("fit", file, "--budget", "2k", "--output", out, "--json")
    assert ran.code == 0, ran.err
    fitted = json.loads(out.read_bytes())
    report = json.loads(ran.out)
    assert fitted[1] == history()[1]
    assert fitted[-1] == history()[-1]
    assert report["after"] <= 2_000 < report["before"]
    assert out.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["history.json", "out.json"]
    again = json.loads(jettison("fit", out, "--budget", "2k", "--json").out)
    assert again["before"] == again["after"] == report["after"]


def test_output_to_standard_output(jettison: Any, file: Path) -> None:
    ran = jettison("fit", file, "--budget", "100k", "-o", "-")
    assert json.loads(ran.out) == history()
    assert "Fits:" in ran.err


def test_output_follows_links_and_does_not_replace_devices(jettison: Any, file: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    assert jettison("fit", file, "--budget", "100k", "-o", link).code == 0
    assert link.is_symlink()
    assert json.loads(target.read_bytes()) == history()
    assert jettison("fit", file, "--budget", "100k", "-o", os.devnull).code == 0
    assert Path(os.devnull).is_char_device()
    assert jettison("fit", file, "--budget", "100k", "-o", tmp_path).code == 64


def test_a_body_stays_a_body(jettison: Any, tmp_path: Path) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"model": "gpt-5", "temperature": 0, "tools": TOOLS, "messages": history()}))
    for steps in ((), ("--steps",)):
        ran = jettison("fit", path, "--budget", "2k", "-o", "-", *steps)
        body = json.loads(ran.out)
        assert (body["model"], body["temperature"], body["tools"]) == ("gpt-5", 0, TOOLS)
        assert len(json.dumps(body["messages"])) < len(json.dumps(history())) / 2


def test_rows_of_trajectories(jettison: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl.gz"
    rows = [{"id": str(n), "messages": history(n)} for n in (1, 9)]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    first, second = (jettison("fit", path, "--budget", "1m", "--json", "--row", n) for n in (1, 2))
    assert json.loads(first.out)["before"] < json.loads(second.out)["before"]
    assert "holds 2 histories" in jettison("fit", path, "--budget", "1m").err


def test_percent_is_of_the_whole_request(jettison: Any, file: Path) -> None:
    report = json.loads(jettison("fit", file, "--budget", "50%", "--json").out)
    assert report["limit"] == report["before"] // 2


def test_observe_changes_nothing(jettison: Any, file: Path) -> None:
    ran = jettison("fit", file, "--budget", "2k", "--observe", "-o", "-")
    assert json.loads(ran.out) == history()
    assert "Observed only" in ran.err


EXAMPLE = Path(__file__).parents[2] / "examples" / "support_refund.json"


@pytest.mark.parametrize("steps", [(), ("--steps",)])
def test_explain_speaks_of_the_run_that_the_table_shows(jettison: Any, steps: tuple[str, ...]) -> None:
    shown = json.loads(jettison("fit", EXAMPLE, "--budget", "25%", "--json", *steps).out)
    rows = {row["item"]: row for row in (shown[-1] if steps else shown)["rows"]}
    told = json.loads(jettison("fit", EXAMPLE, "--budget", "25%", "--explain", "43.0", "--json", *steps).out)
    last = told[-1]
    assert (last["decision"], last["after"]) == (rows[last["item"]]["decision"], rows[last["item"]]["after"])
    words = " ".join(jettison("fit", EXAMPLE, "--budget", "25%", "--explain", "43.0", *steps).out.split())
    assert ("With --steps: call by call" in words) == (not steps)


def test_explain_tells_one_call_or_with_steps_every_call(jettison: Any, file: Path) -> None:
    ran = jettison("fit", file, "--budget", "2k", "--explain", "3")
    assert ran.code == 0, ran.err
    assert ran.out.count("\n  call ") == 1
    ran = jettison("fit", file, "--budget", "2k", "--explain", "3", "--steps")
    assert "  now: " in ran.out
    assert "no change" in ran.out
    told = json.loads(jettison("fit", file, "--budget", "2k", "--explain", "page 0", "--steps", "--json").out)
    assert len(told) == 12
    assert [entry["call"] for entry in told] == sorted(entry["call"] for entry in told)
    assert told[-1]["message"] == 3


def test_explain_of_what_cannot_fit_goes_to_standard_error(jettison: Any, file: Path) -> None:
    ran = jettison("fit", file, "--budget", "20", "--explain", "1")
    assert (ran.code, ran.out) == (2, "")
    assert "1.0-" in ran.err


def test_explain_tells_the_chain_of_values(jettison: Any) -> None:
    told = jettison("fit", EXAMPLE, "--budget", "25%", "--explain", "26").out
    assert "value “rf-20931” → here → get_refund(ticket)" in told
    assert "needed by create_refund" in told
    rows = json.loads(jettison("fit", EXAMPLE, "--budget", "25%", "--explain", "26", "--json").out)
    assert "rf-20931" in [edge["value"] for edge in rows[-1]["dependencies"]]


def test_steps_has_a_row_a_call(jettison: Any, file: Path) -> None:
    ran = jettison("fit", file, "--budget", "2k", "--steps")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("call")
    assert len(json.loads(jettison("fit", file, "--budget", "2k", "--steps", "--json").out)) == 13


def test_repair_is_reported(jettison: Any, tmp_path: Path) -> None:
    path = tmp_path / "dead.json"
    path.write_text(json.dumps([{"role": "user", "content": "x"}, *call(1, "r")[:1], {"role": "user", "content": "y"}]))
    ran = jettison("fit", path, "--budget", "8k", "--repair", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["repaired"]


def test_lone_surrogates_do_not_break_the_output(jettison: Any, tmp_path: Path) -> None:
    path = tmp_path / "surrogate.json"
    path.write_text('[{"role": "user", "content": "half an emoji: \\ud83d"}]')
    for options in ((), ("--json",), ("-o", "-"), ("--observe", "-o", "-"), ("--explain", "0")):
        assert jettison("fit", path, "--budget", "8k", *options).code == 0


# --- the budget --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("8k", Wanted(8_000)),
        ("8_000", Wanted(8_000)),
        ("8,000", Wanted(8_000)),
        ("200K", Wanted(200_000)),
        ("1.5m", Wanted(1_500_000)),
        (" 32000 ", Wanted(32_000)),
        ("25%", Wanted(share=0.25)),
        ("12.5 %", Wanted(share=0.125)),
    ],
)
def test_budget(text: str, wanted: Wanted) -> None:
    assert parse_budget(text) == wanted


@pytest.mark.parametrize("text", ["", "k", "-5", "8kb", "1.5", "0", "0%", "0.0001k", "25%%", "١٢x", "1e5"])
def test_wrong_budget(text: str) -> None:
    with pytest.raises(ConfigError, match="budget"):
        parse_budget(text)
