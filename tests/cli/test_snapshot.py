"""The command line, from a run to its replay in another user's empty folder without a network."""

import json
import socket
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.cli.snapshot import import_run, read
from attribution.reports import report_json
from attribution.settings import Settings
from attribution.store.store import Store
from tests.make import comparable

ANSWER = "The Eiffel Tower was completed in 1889. It was painted green in 2021."


@pytest.mark.usefixtures("warm_library")
def test_export_import_and_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    first, again, frozen = (
        tmp_path / "first.json",
        tmp_path / "again.json",
        tmp_path / "run.jsonl.gz",
    )
    analyze = ["analyze", "--question", "When?", "--answer", ANSWER, "--verifier", "embedded-small"]
    assert main([*analyze, "--out", str(first)]) == 0
    run_id = json.loads(first.read_text("utf-8"))["id"]
    assert main(["snapshot", "export", run_id, "--out", str(frozen)]) == 0
    assert main(["snapshot", "export", run_id, "--out", str(tmp_path / "second.jsonl.gz")]) == 0
    assert frozen.read_bytes() == (tmp_path / "second.jsonl.gz").read_bytes()

    monkeypatch.setenv("ATTRIBUTION_DATA", str(tmp_path / "elsewhere"))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert main(["snapshot", "replay", str(frozen), "--out", str(again)]) == 0
    before, after = (report_json.read(p.read_bytes()).report for p in (first, again))
    assert comparable(before) == comparable(after) and before.evidence
    varied = {"id", "created_at", "timings"}
    assert {k: v for k, v in json.loads(first.read_text()).items() if k not in varied} == {
        k: v for k, v in json.loads(again.read_text()).items() if k not in varied
    }
    assert (
        main(
            [
                "snapshot",
                "replay",
                str(frozen),
                "--set",
                "chunker=sentence",
                "--set",
                "top_k=2",
                "--out",
                str(again),
            ]
        )
        == 0
    )
    changed = report_json.read(again.read_bytes()).report
    assert changed.pages == before.pages and changed.settings["chunker"] == "sentence"

    capsys.readouterr()
    assert main(["snapshot", "import", str(frozen)]) == 0
    imported = json.loads(capsys.readouterr().out)["run"]
    store = Store.open(Settings.from_environment().database_url)
    kept = store.runs.load(imported)
    assert kept is not None and all(p.text for p in kept.pages)
    assert (
        imported != run_id and store.runs.load(run_id) is None
    )  # a deleted link leads to no run of a file

    snapshot = read(frozen)
    foreign = snapshot.report.model_copy(update={"id": imported, "question": "Another?"})
    other = import_run(type(snapshot)(foreign, snapshot.provenance, {}, {}), store)
    assert (
        other != imported and store.runs.load(imported) == kept
    )  # nobody's run is replaced by an import
    assert (
        import_run(type(snapshot)(kept, snapshot.provenance, {}, {}), store) == imported
    )  # it is there already


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["export", "no-such-run", "--out", "x.jsonl.gz"], "no saved run"),
        (["import", "no-such-file"], "no such file"),
        (["replay", "no-such-file", "--out", "x.json"], "no such file"),
    ],
)
def test_bad_input_is_one_line_and_a_status(command: list[str], message: str, capsys) -> None:
    assert main(["snapshot", *command]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
