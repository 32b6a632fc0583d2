import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attribution.cli.main import main

ROOT = Path(__file__).parents[2]
ANSWER = "The Eiffel Tower was completed in 1889. Is it tall?"


@pytest.mark.usefixtures("warm_library")
def test_analyze_writes_a_report(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    command = [
        sys.executable,
        "-m",
        "attribution",
        "analyze",
        "--question",
        "When?",
        "--answer",
        "-",
    ]
    command += [
        "--out",
        str(out),
        "--verifier",
        "embedded-small",
        "--set",
        "top_k=1",
        "--set",
        "pages_per_claim=1",
    ]
    done = subprocess.run(command, input=ANSWER.encode(), capture_output=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"" and b"verify" in done.stderr
    assert (
        b"Loading" not in done.stderr and b"%" not in done.stderr
    )  # no progress bars of libraries
    report = json.loads(out.read_text(encoding="utf-8"))
    assert {
        "question",
        "answer",
        "settings",
        "versions",
        "claims",
        "pages",
        "evidence",
        "verdicts",
        "failures",
        "timings",
        "usage",
    } <= set(report)
    claim = report["claims"][0]
    assert [report["answer"][a:b] for a, b in claim["spans"]] == [claim["text"]]
    assert {"id", "text", "spans", "worthiness", "independent", "enriched"} <= set(claim)
    assert {"id", "url", "title", "fetched_at", "sha256"} <= set(report["pages"][0])
    fields = {
        "claim_id",
        "page_id",
        "start",
        "end",
        "text",
        "similarity",
        "relation",
        "probabilities",
    }
    assert fields <= set(report["evidence"][0]) and len(report["evidence"]) == 1
    labels = [v["label"] for v in report["verdicts"]]
    assert labels[1] == "not_checked" and labels[0] not in ("not_checked", "missing")


def test_segment_prints_claims_with_spans(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segment", "--question", "", "--answer", ANSWER, "--segmenter", "sentences"]) == 0
    claims = json.loads(capsys.readouterr().out)
    assert [c["spans"] for c in claims] == [[[0, 39]], [[40, 51]]]


def test_verify_adds_relation_and_probabilities(tmp_path: Path) -> None:
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    pairs = [
        {
            "claim": "The tower was completed in 1889.",
            "evidence": "The tower was completed in 1889.",
            "id": 7,
        },
        {"claim": "The tower was completed in 1889.", "evidence": "Copper prices rose in Chile."},
    ]
    source.write_text("\n".join(json.dumps(p) for p in pairs) + "\n\n", encoding="utf-8")
    assert (
        main(
            ["verify", "--input", str(source), "--verifier", "embedded-small", "--output", str(out)]
        )
        == 0
    )
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [r["relation"] for r in rows] == ["entailed", "no_relation"] and rows[0]["id"] == 7
    assert set(rows[0]["probabilities"]) == {"entailed", "contradicted", "no_relation"}
    assert sum(rows[0]["probabilities"].values()) == pytest.approx(1)


def test_coherence_judges_claims_by_their_sentence(tmp_path: Path) -> None:
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    sentence = "Lena Hart, a local architect, rebuilt the museum in 1921."
    claims = [
        "Lena Hart rebuilt the museum in 1921.",
        "Lena Hart died in 1950.",
    ]
    rows = [{"sentence": sentence, "claim": claim} for claim in claims]
    source.write_text("\n".join(map(json.dumps, [*rows, {"claim": "x"}])), encoding="utf-8")
    command = [
        "coherence",
        "--input",
        str(source),
        "--output",
        str(out),
        "--verifier",
        "embedded-small",
    ]
    assert main(command) == 1  # one row has no sentence
    said, other, bad = (json.loads(line) for line in out.read_text(encoding="utf-8").splitlines())
    assert [said["coherent"], other["coherent"]] == [True, False]
    assert said["coherence"] > 0.9 > other["coherence"]
    assert '"sentence" is missing' in bad["error"]


def test_list_names_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {r["table"] for r in rows} == {
        "segmenters",
        "searchers",
        "chunkers",
        "embedders",
        "verifiers",
        "methods",
    }
    assert all(set(r) == {"table", "name", "label", "note", "ready", "needs"} for r in rows)


def test_compare_names_the_answers_that_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "answers.jsonl", tmp_path / "out"
    source.write_text(
        '{"answer": "I hope this helps!"}\n{"question": "Why?"}\n{"answer": "Thanks!", "question": 5}'
    )
    assert (
        main(
            [
                "compare",
                "--input",
                str(source),
                "--segmenters",
                "sentences",
                "clauses",
                "--out",
                str(out),
            ]
        )
        == 1
    )
    assert "1 compared, 2 failed" in capsys.readouterr().err
    tables = (out / "tables.md").read_text(encoding="utf-8")
    assert (
        '| 2 |  | "answer" is missing' in tables
        and r'| 3 | Thanks\! | "question" is not text' in tables
    )


BAD_ROWS = [
    ("not json", "not JSON"),
    ("[1]", "not an object"),
    ('{"claim": "a"}', '"evidence" is missing'),
    ('{"claim": 1, "evidence": "b"}', '"claim" is not text'),
    ('{"claim": "a", "evidence": " "}', '"evidence" is empty'),
    ('{"claim": "a", "evidence": "\\ud800"}', "surrogate"),
    ("[" * 100_000, "too deeply nested"),
    (json.dumps({"claim": "word " * 5000, "evidence": "b"}), "claim"),
]


def test_a_bad_row_gets_an_error_and_the_others_are_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    good = json.dumps(
        {
            "claim": "The tower is tall.",
            "evidence": "The tower is tall.\u2028It is red.",
            "error": "old",
        }
    )
    lines = [good, "", *(row for row, _ in BAD_ROWS), good]
    source.write_text("\r\n".join(lines), encoding="utf-8")
    assert (
        main(
            ["verify", "--input", str(source), "--output", str(out), "--verifier", "embedded-small"]
        )
        == 1
    )
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").split("\n") if line]
    assert len(rows) == len(BAD_ROWS) + 2
    for number, (row, (_, message)) in enumerate(zip(rows[1:-1], BAD_ROWS, strict=True), 3):
        assert row["line"] == number and message in row["error"] and "relation" not in row
    assert rows[3]["claim"] == "a"
    assert rows[0] == rows[-1] and rows[0]["relation"] == "entailed" and "error" not in rows[0]
    assert f"2 done, {len(BAD_ROWS)} failed" in capsys.readouterr().err


def test_worth_does_the_good_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "claims.jsonl", tmp_path / "out.jsonl"
    rows = [
        {"claim": "Paris is in France."},
        {"claims": []},
        {"claim": "x " * 20_000},
        {"claim": "I hope this helps!"},
    ]
    source.write_text("\n".join(map(json.dumps, rows)))
    assert main(["worth", "--input", str(source), "--output", str(out)]) == 1
    first, second, third, last = (
        json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()
    )
    assert (first["worthiness"], last["worthiness"]) == (
        "factual",
        "not_a_claim",
    ) and '"claim" is missing' in second["error"]
    assert "40,000 characters" in third["error"] and third["line"] == 3
    assert "2 done, 2 failed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("segment --answer=", "The answer is empty"),
        ("segment --answer x --segmenter none", "expected one of"),
        ("analyze --answer x --out o --set top_k", "expected key=value"),
        ("analyze --answer x --out o --set top_k=0", "setting top_k"),
        ("analyze --answer x --out o --set topk=8", "did you mean top_k?"),
        ("analyze --answer x --out o --verifier nope", "verifier 'nope': expected one of"),
        ("analyze --answer x --out o --set embedder=nope", "embedder 'nope': expected one of"),
        ("analyze --answer x --out o --sources no-such-source", "no-such-source"),
        ("analyze --answer x --out missing/o", "the folder missing does not exist"),
        ("analyze --answer x --out .", "is a folder"),
        ("verify --input no-such-file --output o", "no such file: no-such-file"),
        ("verify --input empty --output o", "empty: the file is empty"),
        ("verify --input latin --output o", "latin: not UTF-8"),
        ("verify --input one --output missing/o", "the folder missing does not exist"),
        ("verify --input one --output o --verifier nope", "verifier 'nope': expected one of"),
        ("worth --input no-such-file --output o", "no such file"),
        (
            "compare --input one --out o --segmenters sentences nope",
            "segmenter 'nope': expected one of",
        ),
        ("compare --input one --out o --segmenters sentences", "two to four"),
        ("compare --input no-such-file --out o --segmenters sentences clauses", "no such file"),
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
    errors = capsys.readouterr().err
    assert message in errors and len(errors.strip().splitlines()) == 1
    assert not (tmp_path / "o").exists()


def test_latin_1_on_standard_input_is_said(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "attribution", "segment", "--answer", "-"]
    done = subprocess.run(command, input="café".encode("latin-1"), capture_output=True, cwd=ROOT)
    assert done.returncode == 2 and b"UTF-8" in done.stderr and b"Traceback" not in done.stderr


def test_the_path_of_a_file_is_not_taken_for_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "answer.md").write_text("Paris is in France.")
    assert main(["segment", "--answer", str(tmp_path / "answer.md")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert main(["segment", "--answer", "Paris\0is" + "x" * 5000]) == 0


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("http://no-such-host.invalid/page", "no-such-host.invalid"),
        ("http://127.0.0.1:9/page", "127.0.0.1"),
        ("broken.pdf", "broken.pdf is damaged"),
        ("folder", "contains no articles"),
        ("bad", "fetch: b.pdf: b.pdf is damaged"),
        ("mixed", "b.pdf is damaged"),
    ],
)
def test_a_source_that_cannot_be_read_is_said_and_is_the_exit_status(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    source: str,
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    (tmp_path / "folder").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/b.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    shutil.copytree(tmp_path / "bad", tmp_path / "mixed")
    (tmp_path / "mixed/a.txt").write_text("The Eiffel Tower stands in Paris.")
    (tmp_path / "other.txt").write_text("The Eiffel Tower was completed in 1889.")
    given = f"./{source}" if (tmp_path / source).is_dir() else source
    command = [
        "analyze",
        "--answer",
        ANSWER,
        "--out",
        "r.json",
        "--verifier",
        "embedded-small",
        "--sources",
        given,
    ]
    assert main([*command, "other.txt"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert any(e.startswith("! ") and line in e for e in errors), errors
    assert errors[-1].startswith("attribution: the source ") and "could not be read" in errors[-1]
    report = json.loads((tmp_path / "r.json").read_text())
    assert "supported" in {v["label"] for v in report["verdicts"]}  # by the other one
    assert main([*command[:-1], "other.txt"]) == 0
    capsys.readouterr()
    assert main([*command[:-1], "./no/such/folder"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "./no/such/folder" in said and "no such file or folder" in said


def test_the_exit_statuses_of_the_help_are_those_of_the_documentation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    help_text = " ".join(capsys.readouterr().out.split())
    assert "Exit status: 0 all was done; 1 it was done but for a row, method or source" in help_text
    page = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    for status in (
        "| 0 | all was done",
        "| 1 | it was done but",
        "| 2 | nothing was done",
        "| 130, 143 | ended by",
    ):
        assert status in page


def test_citations_of_a_report_from_elsewhere_lack_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "survey.md").write_text("Cyclists ride 40 kilometres a week.", encoding="utf-8")
    answer, report = (
        "Cyclists ride 40 kilometres a week [1].\n\nSources:\n[1] survey.md",
        tmp_path / "report.json",
    )
    run = [
        "--answer",
        answer,
        "--sources",
        str(tmp_path / "survey.md"),
        "--verifier",
        "embedded-small",
    ]
    assert main(["analyze", *run, "--out", str(report)]) == 0
    monkeypatch.setenv("ATTRIBUTION_DATA", str(tmp_path / "elsewhere"))
    assert main(["citations", str(report), "--out", str(tmp_path / "out.json")]) == 0
    (citation,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["citations"]
    assert (
        citation["outcome"] == "unreachable"
        and "text is not in this database" in citation["reason"]
    )


@pytest.mark.parametrize(
    "command", ["verify", "judge", "worth", "coherence", "calibrate", "batch", "answers"]
)
def test_no_command_replaces_its_input(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, link = tmp_path / "rows.jsonl", tmp_path / "link.jsonl"
    rows.write_text('{"claim": "It is tall."}\n', encoding="utf-8")
    link.symlink_to(rows)
    for output in (rows, link):
        assert main([command, "--input", str(rows), "--output", str(output)]) == 2
        assert (
            f"{output} is read and would be replaced: choose another output"
            in capsys.readouterr().err
        )
    assert rows.read_text(encoding="utf-8") == '{"claim": "It is tall."}\n'
