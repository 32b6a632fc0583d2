"""The command line, as a process where exit status and streams matter."""

from __future__ import annotations

import json
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
        "--out",
        str(out),
        "--set",
        "top_k=1",
    ]
    done = subprocess.run(command, input=ANSWER.encode(), capture_output=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"" and b"verify" in done.stderr
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
    fields = {"claim_id", "page_id", "start", "end", "text", "similarity", "relation", "probabilities"}
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
        {"claim": "The tower was completed in 1889.", "evidence": "The tower was completed in 1889.", "id": 7},
        {"claim": "The tower was completed in 1889.", "evidence": "Copper prices rose in Chile."},
    ]
    source.write_text("\n".join(json.dumps(p) for p in pairs) + "\n\n", encoding="utf-8")
    assert main(["verify", "--input", str(source), "--verifier", "embedded", "--output", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [r["relation"] for r in rows] == ["entailed", "no_relation"] and rows[0]["id"] == 7
    assert set(rows[0]["probabilities"]) == {"entailed", "contradicted", "no_relation"}
    assert sum(rows[0]["probabilities"].values()) == pytest.approx(1)


def test_worth_adds_worthiness(tmp_path: Path) -> None:
    source, out = tmp_path / "claims.jsonl", tmp_path / "out.jsonl"
    source.write_text(
        '{"claim": "Paris is the capital of France."}\n{"claim": "I hope this helps!"}\n', encoding="utf-8"
    )
    assert main(["worth", "--input", str(source), "--output", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [r["worthiness"] for r in rows] == ["factual", "not_a_claim"]


def test_list_names_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {r["table"] for r in rows} == {"segmenters", "searchers", "chunkers", "embedders", "verifiers"}
    assert all(set(r) == {"table", "name", "label", "note", "ready", "needs"} for r in rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"claim": "a"}', "line 1: expected an object with text in claim, evidence"),
        ("not json", "line 1: not JSON"),
        ('{"claim": "a", "evidence": ""}', "evidence is empty"),
        ("[1]", "line 1: expected"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    source.write_text(content, encoding="utf-8")
    assert main(["verify", "--input", str(source), "--output", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.glob("out*")) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["segment", "--answer", ""], "The answer is empty"),
        (["segment", "--answer", "x", "--segmenter", "none"], "expected one of"),
        (["analyze", "--answer", "x", "--out", "o", "--set", "top_k"], "expected key=value"),
        (["analyze", "--answer", "x", "--out", "o", "--set", "top_k=0"], "setting top_k"),
        (["verify", "--input", "no-such-file", "--output", "o"], "no-such-file"),
        (["analyze", "--answer", "x", "--out", "o", "--sources", "no-such-source"], "no-such-source"),
    ],
)
def test_bad_input_ends_with_one_line_and_no_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert message in errors and len(errors.strip().splitlines()) == 1
    assert not (tmp_path / "o").exists()


def test_latin_1_on_standard_input_is_said(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "attribution", "segment", "--answer", "-"]
    done = subprocess.run(command, input="café".encode("latin-1"), capture_output=True, cwd=ROOT)
    assert done.returncode == 2 and b"UTF-8" in done.stderr and b"Traceback" not in done.stderr


def test_a_taken_port_is_left_alone() -> None:
    import socket

    from attribution.cli.serve import free_port

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert free_port(taken.getsockname()[1]) != taken.getsockname()[1]
