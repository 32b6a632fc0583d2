from __future__ import annotations

import json
from pathlib import Path

import pytest

from attribution.cli.main import main

pytestmark = pytest.mark.usefixtures("warm_library")


def test_tables_and_rows_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out, note = tmp_path / "answers.jsonl", tmp_path / "out", tmp_path / "note.txt"
    note.write_text("The Eiffel Tower in Paris was completed in 1889.")
    source.write_text(json.dumps({"answer": "The Eiffel Tower was completed in 1889."}) + "\n{}\n")
    command = ["factscore", "--input", str(source), "--out", str(out), "--sources", str(note), "--gamma", "0"]
    assert main([*command, "--verifiers", "embedded-small", "--decomposers", "sentences", "clauses"]) == 1
    assert "1 scored, 1 failed" in capsys.readouterr().err
    assert (out / "factscore.csv").read_text().splitlines()[1:] == ["sentences,1.0,1.0", "clauses,1.0,1.0"]


@pytest.mark.parametrize(("options", "message"), [
    (["--gamma", "-1"], "--gamma -1: expected 0"),
    (["--snapshot", "x.zip", "--sources", "library"], "give one of the two"),
    (["--snapshot", "x.zip"], "no such file: x.zip"),
])  # fmt: skip
def test_bad_options_say_what_was_expected(
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers.jsonl").write_text('{"answer": "A tower."}\n')
    assert main(["factscore", "--input", "answers.jsonl", "--out", "out", *options]) == 2
    assert message in capsys.readouterr().err
