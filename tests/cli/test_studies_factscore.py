import json
from pathlib import Path

import pytest

from attribution.cli.main import main

pytestmark = pytest.mark.usefixtures("warm_library")


def test_tables_and_rows_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out, note = tmp_path / "answers.jsonl", tmp_path / "out", tmp_path / "note.txt"
    note.write_text("The Eiffel Tower in Paris was completed in 1889.")
    rows = [{"answer": "The Eiffel Tower was completed in 1889.", "system": "a"}, {},
            {"question": "What?", "answer": "It was built in 1925.", "system": "b",
             "turns": [{"role": "user", "text": "What is the Eiffel Tower?"}]}]  # fmt: skip
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["factscore", "--input", str(source), "--out", str(out), "--sources", str(note), "--gamma", "0"]
    assert main([*command, "--verifiers", "embedded-small", "--decomposers", "sentences", "clauses"]) == 1
    assert "2 scored, 1 failed" in capsys.readouterr().err
    before = (out / "embedded-small.jsonl").read_text()
    assert (out / "factscore.csv").read_text().splitlines() == [
        "decomposer,embedded-small", "sentences,50.0", "clauses,50.0",
    ]  # fmt: skip
    assert (out / "systems-by-embedded-small.csv").read_text().splitlines()[1:] == [
        "a,100.0,100.0", "b,0.0,0.0", "Macro-average,50.0,50.0",
    ]  # fmt: skip
    assert (out / "decompscore.csv").is_file() and "Failed answers" in (out / "tables.md").read_text()
    assert main([*command, "--verifiers", "embedded-small", "--decomposers", "sentences", "clauses"]) == 1
    assert (out / "embedded-small.jsonl").read_text() == before  # nothing is scored again


@pytest.mark.parametrize(("options", "message"), [
    (["--gamma", "-1"], "--gamma -1: expected 0"),
    (["--snapshot", "x.zip", "--sources", "library"], "give one of the two"),
    (["--snapshot", "x.zip"], "no such file: x.zip"),
    (["--verifiers", "nope"], "expected one of"),
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
