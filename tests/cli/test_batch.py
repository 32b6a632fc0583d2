"""`batch` as a user meets it: progress, summary, exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attribution.cli.main import main

LABELLED = {
    "answer": "The Eiffel Tower was completed in 1889. I hope this helps!",
    "documents": ["The Eiffel Tower in Paris was completed in 1889."],
    "claims": [{"claim": "The Eiffel Tower was completed in 1889.", "label": "Complete"}],
}
COMMON = ["--sources", "documents", "--verifier", "embedded-small"]


def test_it_prints_progress_a_summary_and_the_tables_of_labelled_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [json.dumps(LABELLED | {"id": n}) for n in range(2)]
    given.write_text("\n".join([*rows, "{broken"]))
    command = ["batch", "--input", str(given), "--output", str(output), *COMMON]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert "batch 1/3: line 3: not JSON" in said and " answers a minute, 0 s left" in said
    assert [line.split() for line in said.splitlines() if line.startswith(("rows", "failed", "claims"))] == [
        ["rows", "3"], ["failed", "1"], ["claims", "4"],
    ]  # fmt: skip
    assert "| Complete | 2 | 2 | 1.00 |" in said and "### Check-worthiness" in said
    given.write_text("\n".join(rows))
    assert main(command) == 0
    assert "minute" not in capsys.readouterr().err  # nothing was left to analyse


def test_workers_without_a_cluster_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(LABELLED))
    command = ["batch", "--input", str(tmp_path / "in.jsonl"), "--output", str(tmp_path / "out.jsonl")]
    assert main([*command, "--workers", "2"]) == 2
    assert "--engine ray" in capsys.readouterr().err and not (tmp_path / "out.jsonl").exists()
    with pytest.raises(SystemExit):
        main([*command, "--engine", "ray", "--workers", "0"])
    assert "0: expected a number from 1" in capsys.readouterr().err
