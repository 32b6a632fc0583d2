"""From a run to its replay in another user's empty folder, without a network."""

import json
import socket
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.cli.snapshot import import_run, read
from attribution.reports import report_json
from attribution.settings import Settings
from attribution.store.store import Store
from tests.cli.conftest import SMALL
from tests.make import comparable

ANSWER = "The Eiffel Tower was completed in 1889. It was painted green in 2021."


@pytest.mark.usefixtures("warm_library")
def test_a_snapshot_is_replayed_and_imported_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, again, frozen = (tmp_path / name for name in ("a.json", "b.json", "run.jsonl.gz"))
    analyze = ["analyze", "--question", "When?", "--answer", ANSWER, "--out", str(first), *SMALL]
    assert main(analyze) == 0
    before = report_json.read(first.read_bytes()).report
    assert main(["snapshot", "export", before.id, "--out", str(frozen)]) == 0

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setenv("ATTRIBUTION_DATA", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    replay = ["snapshot", "replay", str(frozen), "--out", str(again)]
    assert main(replay) == 0
    assert before.evidence
    assert comparable(report_json.read(again.read_bytes()).report) == comparable(before)
    assert main([*replay, "--set", "chunker=sentence", "--set", "top_k=2"]) == 0
    changed = report_json.read(again.read_bytes()).report
    assert changed.pages == before.pages
    assert changed.settings["chunker"] == "sentence"

    capsys.readouterr()
    assert main(["snapshot", "import", str(frozen)]) == 0
    imported = json.loads(capsys.readouterr().out)["run"]
    store = Store.open(Settings.from_environment().database_url)
    saved = store.runs.load(imported)
    assert saved is not None
    assert all(page.text for page in saved.pages)
    assert imported != before.id  # a deleted link leads to no run of a file

    snapshot = read(frozen)
    foreign = saved.model_copy(update={"question": "Another?"})
    other = import_run(type(snapshot)(foreign, snapshot.provenance, {}, {}), store)
    assert other != imported
    assert store.runs.load(imported) == saved  # no run is replaced
    assert import_run(type(snapshot)(saved, snapshot.provenance, {}, {}), store) == imported
