"""Every format gives the same run; every way a file is packed gives the same rows; bad rows are counted, not fatal."""

from __future__ import annotations

import gzip
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from jettison.errors import ConfigError, InvalidInput
from jettison.replay.files import rows_in
from jettison.replay.formats import Skipped
from jettison.replay.measure.library import Library
from jettison.replay.measure.metrics import summary
from jettison.replay.measure.run import case_of, replay
from jettison.replay.measure.trajectory import Trajectory
from jettison.replay.remote import Remote
from jettison.replay.sources import REASONS, Intake, files_of, trajectories
from unit.replay.samples import DONE, GOAL, NEEDED, SAMPLES, chat, responses


def dump(value: Any) -> bytes:
    """A list of rows as JSON lines, anything else as one value."""
    if isinstance(value, list):
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in value).encode()
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def read(path: Path, **options: Any) -> tuple[list[Trajectory], Intake]:
    intake = Intake()
    return list(trajectories([str(path)], intake, **options)), intake


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_gives_the_same_run(name: str, tmp_path: Path) -> None:
    value, form, wire = SAMPLES[name]
    path = tmp_path / "run.json"
    path.write_bytes(dump(value))
    runs, intake = read(path)
    assert intake.skipped == 0, intake.examples
    assert [(len(runs), dict(intake.formats))] == [(1, {form: 1})]
    run = runs[0]
    assert (run.native.wire if run.native else "openai-chat") == wire
    assert len(run.turns) == 3
    assert run.messages[-1]["content"] == DONE
    assert GOAL in [message["content"] for message in run.messages[: run.head]]
    case = case_of(run)
    assert {t: {need.value for need in needs} for t, needs in case.needs.items()} == {run.turns[1]: NEEDED}
    kept = replay(case, "jettison", 1.0, under=Library(run=run), limit=100_000)
    assert [call.raised for call in kept.calls] == [""] * 3
    assert not any(call.invalid or call.missing for call in kept.calls)
    assert summary(kept.calls)["reuse"] == 1


@pytest.mark.parametrize("name", ["rows", "codex", "swe-agent", "otlp"])
@pytest.mark.parametrize("pack", ["gz", "zst", "utf-16", "crlf"])
def test_packed_files_give_the_same_rows(name: str, pack: str, tmp_path: Path) -> None:
    data = dump(SAMPLES[name][0])
    if pack == "gz":
        data = gzip.compress(data[:50]) + gzip.compress(data[50:])
    elif pack == "zst":
        zstandard = pytest.importorskip("zstandard")
        data = zstandard.compress(data)
    else:
        data = data.decode().encode("utf-16") if pack == "utf-16" else data.replace(b"\n", b"\r\n")
    path = tmp_path / f"run.jsonl.{pack}"
    path.write_bytes(data)
    runs, intake = read(path)
    assert (len(runs), intake.skipped) == (1, 0)


def test_parquet_with_nested_columns_and_with_json_text(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, rows in (
        ("nested", [{"id": "r1", "task": "7", "messages": chat()}] * 3),
        ("text", [{"id": "r1", "messages": json.dumps(chat())}] * 3),
    ):
        path = tmp_path / f"{name}.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        runs, intake = read(path)
        assert (len(runs), intake.skipped) == (3, 0), intake.examples
        assert [{"content": None, **message} for message in runs[0].messages] == chat()


def test_bad_rows_are_counted_named_and_skipped(tmp_path: Path) -> None:
    good = json.dumps({"messages": chat()})
    path = tmp_path / "mixed.jsonl"
    orphan = json.dumps({"messages": [*chat()[:2], {"role": "tool", "tool_call_id": "x", "content": "?"}]})
    path.write_text("\n".join([good, "{broken", "[]", '{"messages": 7}', orphan, "", good]), encoding="utf-8")
    runs, intake = read(path)
    assert (len(runs), intake.histories, intake.skipped) == (2, 2, 4)
    assert [skipped.where for skipped in intake.examples] == [f"mixed.jsonl row {n}" for n in (2, 3, 4, 5)]
    assert all(skipped.why for skipped in intake.examples)
    assert sum(intake.reasons.values()) == 4


def test_reasons_are_one_each_however_many_rows_there_are(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    rows = [{"messages": chat()}]
    rows += [{f"key{at}": at} for at in range(300)]
    rows += [{"messages": [*chat()[:1], *([chat()[0]] * at), 7]} for at in range(200)]
    path.write_bytes(dump(rows))
    _, intake = read(path)
    assert intake.reasons == {"has no messages": 300, "messages[N] is a number, not an object": 200}
    for at in range(1000):
        intake.skip(Skipped("x", f"unlike {chr(0x4E00 + at)}"))
    assert sum(intake.reasons.values()) == intake.skipped == 1500
    assert len(intake.reasons) == REASONS + 1


def test_a_bad_first_row_does_not_hide_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_text("{broken\n" + json.dumps({"messages": chat()}), encoding="utf-8")
    runs, intake = read(path)
    assert (len(runs), intake.skipped) == (1, 1)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\xfa", b"\x1f\x8b\x08oops", b"just words\n", b'{"a": 1}', b"7"])
def test_a_bad_file_is_skipped(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    (tmp_path / "good.json").write_bytes(dump(chat()))
    runs, intake = read(tmp_path)
    assert (len(runs), intake.files, intake.skipped) == (1, 2, 1), intake.examples


@pytest.mark.parametrize("content", [b"PAR1 no table at all", b"\x28\xb5\x2f\xfdoopsoopsoops"])
def test_a_damaged_file_of_other_packages_is_skipped(content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("zstandard")
    (tmp_path / "bad.jsonl").write_bytes(content)
    (tmp_path / "good.json").write_bytes(dump(chat()))
    runs, intake = read(tmp_path)
    assert (len(runs), intake.files, intake.skipped) == (1, 2, 1)
    assert "damaged" in intake.examples[0].why


def test_lines_that_are_message_lists_are_a_history_each(tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    path.write_bytes(dump([chat(), chat()]))
    runs, intake = read(path)
    assert (len(runs), intake.skipped) == (2, 0)
    path.write_text(json.dumps(chat()), encoding="utf-8")
    assert len(read(path)[0]) == 1


def test_folders_globs_and_several_paths(tmp_path: Path) -> None:
    for at in range(3):
        (tmp_path / "deep" / str(at)).mkdir(parents=True)
        (tmp_path / "deep" / str(at) / "s.json").write_bytes(dump(chat()))
    (tmp_path / "deep" / "notes.txt").write_text("no history")
    (tmp_path / "rows.jsonl").write_bytes(dump([{"task": "a", "messages": chat()}] * 2))
    paths = [str(tmp_path / "deep"), str(tmp_path / "*.jsonl"), str(tmp_path / "deep" / "0" / "s.json")]
    runs = list(trajectories(paths, Intake()))
    assert [run.set for run in runs] == ["deep", "deep", "deep", "rows", "rows"]
    assert {run.task for run in runs[3:]} == {"rows/a"}
    assert len(list(trajectories(paths, Intake(), limit=2))) == 2


def test_what_names_nothing_or_no_wire_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        list(trajectories([str(tmp_path / "none*")], Intake()))
    with pytest.raises(ConfigError, match="wire"):
        list(trajectories([str(tmp_path)], Intake(), wire="soap"))


def test_a_log_keeps_the_longest_request_of_each_conversation(tmp_path: Path) -> None:
    first, second = chat(), [{"role": "user", "content": "another"}, {"role": "assistant", "content": "ok"}]
    rows = [
        {"request": {"messages": messages[:end]}, "response": {"choices": [{"message": messages[end]}]}}
        for messages, end in ((first, 2), (second, 1), (first, 4), (first, 6))
    ]
    path = tmp_path / "log.jsonl"
    path.write_bytes(dump(rows))
    runs, _ = read(path)
    assert [len(run.messages) for run in runs] == [2, 7]


def test_codex_compaction_replaces_what_stood_before(tmp_path: Path) -> None:
    rows = SAMPLES["codex"][0]
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "summary"}]}
    compacted = {"type": "compacted", "payload": {"message": "", "replacement_history": [kept]}}
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(dump([*rows, compacted, {"type": "response_item", "payload": responses()[-1]}]))
    runs, _ = read(path)
    assert [message["content"] for message in runs[0].messages[1:]] == ["summary", DONE]
    assert any("compacted" in note for note in runs[0].notes)


def test_actions_in_text_become_calls(tmp_path: Path) -> None:
    history = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "fix it"},
        {"role": "assistant", "content": "look\n```ls```", "thought": "look", "action": "ls\n"},
        {"role": "user", "content": "src/parser_table.py"},
        {"role": "assistant", "content": "", "thought": "open", "action": "cat src/parser_table.py"},
        {"role": "user", "content": "..."},
    ]
    path = tmp_path / "django-1.traj"
    path.write_bytes(dump({"trajectory": [], "history": history, "info": {}}))
    runs, _ = read(path)
    assert runs[0].id == "django-1"
    assert [need.value for need in case_of(runs[0]).needs[4]] == ["src/parser_table.py"]
    assert runs[0].messages[3]["role"] == "tool"
    assert any("bash" in note for note in runs[0].notes)


def test_traces_by_url(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    rows = dump([{"task": "a", "messages": chat()}] * 2)
    store.pipe_file("/bucket/deep/one/rows.jsonl.gz", gzip.compress(rows))
    store.pipe_file("/bucket/deep/two/s.json", dump(chat()))
    store.pipe_file("/bucket/deep/notes.txt", b"no history")
    (tmp_path / "here.jsonl").write_bytes(rows)
    paths = [
        "memory://bucket/deep",
        "memory://bucket/deep/**/*.json",
        "memory://bucket/deep/one/rows.jsonl.gz",
        f"file://{tmp_path}/*.jsonl",
    ]
    intake = Intake()
    runs = list(trajectories(paths, intake))
    assert [run.set for run in runs] == ["rows", "rows", "deep", "here", "here"]
    assert (intake.files, intake.skipped) == (3, 0)
    assert files_of(paths)[0].identity == ("memory:///bucket/deep/one/rows.jsonl.gz", len(gzip.compress(rows)))
    assert [found.folder for found in files_of(paths[1:2])] == ["two"]
    for url, kind in (("memory://bucket/none*", InvalidInput), ("zog://x", ConfigError), ("s3://x/y", ConfigError)):
        if url[:2] == "s3" and find_spec("s3fs"):
            continue
        with pytest.raises(kind, match=url[:4]):
            files_of([url])


def test_a_parquet_table_by_url() -> None:
    fsspec = pytest.importorskip("fsspec")
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    with fsspec.open("memory://tables/t.parquet", "wb") as file:
        parquet.write_table(
            pyarrow.Table.from_pylist([{"id": f"r{at}", "messages": chat()} for at in range(100)]), file
        )
    assert [run.id for run in trajectories(["memory://tables/t.parquet"], Intake())] == [f"r{at}" for at in range(100)]


@pytest.mark.parametrize("pack", ["plain", "gz", "zst"])
def test_files_that_are_fetched_in_blocks(pack: str) -> None:
    """Object stores give a file of this class: without `read1`, a block at a time."""
    fsspec = pytest.importorskip("fsspec")
    data = dump([{"id": f"r{at}", "messages": chat()} for at in range(50)])
    if pack == "gz":
        data = gzip.compress(data)
    elif pack == "zst":
        data = pytest.importorskip("zstandard").compress(data)

    class Blocks(fsspec.spec.AbstractBufferedFile):  # type: ignore[misc, name-defined]
        def _fetch_range(self, start: int, end: int) -> bytes:
            return data[start:end]

    class Store(fsspec.AbstractFileSystem):  # type: ignore[misc, name-defined]
        protocol = "blocks"

        def info(self, path: str, **options: Any) -> dict[str, Any]:
            return {"name": path, "size": len(data), "type": "file"}

        def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            return Blocks(self, path, mode, block_size=1000, size=len(data))

    remote = Remote("blocks://a.jsonl", Store(), "a.jsonl")
    assert [value["id"] for _, value in rows_in(remote)] == [f"r{at}" for at in range(50)]
