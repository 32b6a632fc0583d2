import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main
from tests.cli.conftest import SMALL, Run
from tests.make import json_lines

ROOT = Path(__file__).parents[2]
ANSWER = "The Eiffel Tower was completed in 1889. Is it tall?"
REPORT_FIELDS = {
    "": "question answer settings versions claims pages evidence verdicts failures timings usage",
    "claims": "id text spans worthiness independent enriched",
    "pages": "id url title fetched_at sha256",
    "evidence": "claim_id page_id start end text similarity relation probabilities",
    "verdicts": "claim_id label confidence reason",
}


def test_analyze_writes_a_report_with_all_its_fields(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    command = [sys.executable, "-m", "attribution", "analyze", "--question", "When?"]
    command += ["--answer", "-", "--out", str(out), *SMALL, "--set", "top_k=1"]
    done = subprocess.run(command, input=ANSWER.encode(), capture_output=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    assert b"verify" in done.stderr
    report = json.loads(out.read_text(encoding="utf-8"))
    for part, fields in REPORT_FIELDS.items():
        row = report[part][0] if part else report
        assert set(fields.split()) <= set(row)
    claim = report["claims"][0]
    assert [report["answer"][a:b] for a, b in claim["spans"]] == [claim["text"]]
    assert report["verdicts"][1]["label"] == "not_checked"


def test_segment_prints_claims_with_spans_and_worthiness(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["segment", "--answer", ANSWER, "--segmenter", "sentences"]) == 0
    claims = json.loads(capsys.readouterr().out)
    assert [claim["spans"] for claim in claims] == [[[0, 39]], [[40, 51]]]
    assert [claim["worthiness"] for claim in claims] == ["factual", "not_a_claim"]


def test_verify_adds_relation_and_probabilities(run: Run) -> None:
    claim = "The tower was completed in 1889."
    same, other = run(
        0,
        "verify",
        {"claim": claim, "evidence": claim, "id": 7},
        {"claim": claim, "evidence": "Copper prices rose in Chile."},
    )
    assert (same["relation"], same["id"]) == ("entailed", 7)
    assert other["relation"] == "no_relation"
    assert set(same["probabilities"]) == {"entailed", "contradicted", "no_relation"}
    assert sum(same["probabilities"].values()) == pytest.approx(1)


def test_coherence_judges_claims_by_their_sentence(run: Run) -> None:
    sentence = "Lena Hart, a local architect, rebuilt the museum in 1921."
    said, other = run(
        0,
        "coherence",
        {"sentence": sentence, "claim": "Lena Hart rebuilt the museum in 1921."},
        {"sentence": sentence, "claim": "Lena Hart died in 1950."},
    )
    assert said["coherent"] is True
    assert other["coherent"] is False
    assert said["coherence"] > other["coherence"]


def test_list_names_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    rows = json.loads(capsys.readouterr().out)
    tables = {"segmenters", "searchers", "chunkers", "embedders", "verifiers", "methods"}
    assert {row["table"] for row in rows} == tables
    assert set(rows[0]) == {"table", "name", "label", "note", "ready", "needs"}


def test_compare_compares_segmenters_on_an_answer(tmp_path: Path) -> None:
    command = ["compare", "--answer", "Thanks!", "--segmenters", "sentences", "clauses"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    (row,) = json_lines(tmp_path / "comparisons.jsonl")
    assert [column["segmenter"] for column in row["comparison"]["columns"]] == [
        "sentences",
        "clauses",
    ]


def test_compare_compares_two_answers(tmp_path: Path) -> None:
    command = ["compare", "--answer", "Thanks!", "--answer", "Hello!", "--out", str(tmp_path)]
    assert main(command) == 0
    compared = json.loads((tmp_path / "answers.json").read_text())
    assert compared["matches"] == []


GOOD: dict[str, dict[str, Any]] = {
    "verify": {"claim": "The tower is tall.", "evidence": "The tower is tall.\u2028It is red."},
    "judge": {"claim": "The tower is tall.", "passages": ["The tower is tall."]},
    "coherence": {"claim": "The tower is tall.", "sentence": "The tower is tall and red."},
}
BAD_ROWS = [
    ([1], "not an object"),
    ({"evidence": "b", "sentence": "b"}, '"claim" is missing'),
    ({"claim": 1, "evidence": "b", "sentence": "b"}, '"claim" is not text'),
    ({"claim": " ", "evidence": "b", "sentence": "b"}, '"claim" is empty'),
    ({"claim": "\ud800", "evidence": "b", "sentence": "b"}, "hex escape"),
]


@pytest.mark.parametrize("command", GOOD)
def test_a_bad_row_gets_an_error_and_the_others_are_done(command: str, run: Run) -> None:
    good = {**GOOD[command], "error": "of an earlier run"}
    first, *bad, last = run(1, command, good, *(row for row, _ in BAD_ROWS), good)
    assert first == last
    assert "error" not in first or command != "verify"
    for number, (row, (_, message)) in enumerate(zip(bad, BAD_ROWS, strict=True), 2):
        assert row["line"] == number
        assert message in row["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("segment --answer=", "The answer is empty"),
        ("segment --answer x --segmenter none", "expected one of"),
        ("analyze --answer x --out o --set top_k", "expected key=value"),
        ("analyze --answer x --out o --set topk=8", "no such setting"),
        ("analyze --answer x --out o --verifier nope", "verifier 'nope': expected one of"),
        ("analyze --answer x --out o --sources no-such-source", "no-such-source"),
        ("analyze --answer x --out missing/o", "the folder missing does not exist"),
        ("analyze --answer x --out .", "is a folder"),
        ("verify --input no-such-file --output o", "no such file: no-such-file"),
        ("verify --input empty --output o", "empty: the file is empty"),
        ("verify --input latin --output o", "latin: not UTF-8"),
        ("compare --input one --out o --segmenters sentences", "two to four"),
        ("compare --answer x --out o", "--answer twice"),
        ("collections add a/b x.txt", "printable characters without /"),
        ("collections add c no-such-file", "no-such-file does not exist"),
        ("collections list c", "collection 'c'"),
        ("export no-such-run --format html", "no saved run"),
    ],
)
def test_bad_input_ends_with_one_line_and_no_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_text("\n \n")
    (tmp_path / "latin").write_bytes('{"claim": "café"}'.encode("latin-1"))
    (tmp_path / "one").write_text('{"claim": "a", "evidence": "b", "answer": "c"}')
    assert main(arguments.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "o").exists()


def test_standard_input_that_is_not_utf_8_is_refused() -> None:
    command = [sys.executable, "-m", "attribution", "segment", "--answer", "-"]
    done = subprocess.run(command, input="café".encode("latin-1"), capture_output=True, cwd=ROOT)
    assert done.returncode == 2
    assert b"UTF-8" in done.stderr
    assert b"Traceback" not in done.stderr


def test_the_path_of_a_file_is_not_taken_for_an_answer(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("Paris is in France.")
    assert main(["segment", "--answer", str(tmp_path / "answer.md")]) == 2
    assert main(["segment", "--answer", "Paris\0is" + "x" * 5000]) == 0


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("http://127.0.0.1:9/page", "127.0.0.1"),
        ("./mixed", "b.pdf is damaged"),
    ],
)
def test_a_source_that_cannot_be_read_is_named_and_sets_the_exit_status(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    source: str,
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed/b.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    (tmp_path / "mixed/a.txt").write_text("The Eiffel Tower stands in Paris.")
    (tmp_path / "other.txt").write_text("The Eiffel Tower was completed in 1889.")
    command = ["analyze", "--answer", ANSWER, "--out", "r.json", *SMALL]
    assert main([*command, "--sources", source, "other.txt"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert any(error.startswith("! ") and line in error for error in errors), errors
    assert "could not be read" in errors[-1]
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["verdicts"][0]["label"] == "supported"  # by the other source


@pytest.mark.parametrize("command", ["verify", "batch"])
def test_no_command_replaces_its_input(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, link = tmp_path / "rows.jsonl", tmp_path / "link.jsonl"
    rows.write_text('{"claim": "It is tall."}\n', encoding="utf-8")
    link.symlink_to(rows)
    for output in (rows, link):
        assert main([command, "--input", str(rows), "--output", str(output)]) == 2
        assert "would be replaced" in capsys.readouterr().err
        assert main(["citations", str(rows), "--out", str(output)]) == 2
        assert "would be replaced" in capsys.readouterr().err
    assert rows.read_text(encoding="utf-8") == '{"claim": "It is tall."}\n'
