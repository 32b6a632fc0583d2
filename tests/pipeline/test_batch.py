"""Many answers: bad rows, kills, and the same file as without them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main
from attribution.errors import BadInput, Unavailable
from attribution.pipeline import batch as batches
from attribution.pipeline.batch import BatchProgress, batch
from attribution.settings import ROOT, Settings
from attribution.text.json_lines import parse_rows

NOTE = "The Eiffel Tower in Paris was completed in 1889. Honey bees dance to show where flowers are."
ANSWERS = [
    "The Eiffel Tower was completed in 1889.",
    "Honey bees dance.",
    "The Eiffel Tower is in Rome.",
    "Bees can fly.",
]
ROWS = [{"id": str(n), "question": "", "answer": a, "documents": [NOTE]} for n, a in enumerate(ANSWERS)]


@pytest.fixture
def own(settings: Settings) -> Settings:
    return settings.model_copy(update={"sources": ("documents",)})


def encoded(rows: list[Any]) -> bytes:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def done(rows: list[Any], settings: Settings, path: Path) -> list[BatchProgress]:
    return list(batch(parse_rows(encoded(rows), ["answer"], ["question"]), settings, path))


def comparable(path: Path) -> list[Any]:
    """The lines without what differs between equal runs."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if report := line.get("report"):
            line["report"] = {n: v for n, v in report.items() if n not in ("id", "created_at", "timings", "usage")}
            line["report"]["pages"] = [{**page, "fetched_at": ""} for page in report["pages"]]
    return lines


def test_every_row_has_its_line_with_its_own_documents_and_bad_ones_cost_themselves(
    own: Settings, tmp_path: Path
) -> None:
    rows = [ROWS[0], "{broken", {"answer": "x", "documents": [3]}, {"answer": " "}, ROWS[1]]
    *_, last = done(rows, own, tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["line"] for line in lines] == [1, 2, 3, 4, 5]
    assert ["error" in line for line in lines] == [False, True, True, True, False]
    assert "documents" in lines[2]["error"] and lines[0]["id"] == "0" and "documents" not in lines[0]
    assert lines[0]["report"]["verdicts"][0]["label"] == "supported"
    assert (last.done, last.failed, last.labels.total()) == (5, 3, 2)


def test_what_is_finished_is_not_analysed_again_unless_row_or_settings_change(
    own: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, analysed = tmp_path / "out.jsonl", []
    real = batches._analyse
    monkeypatch.setattr(batches, "_analyse", lambda row, *rest: analysed.append(row.fields["id"]) or real(row, *rest))
    done(ROWS[:3], own, path)
    before = path.read_bytes()
    done(ROWS[:3], own, path)
    assert path.read_bytes() == before and analysed == ["0", "1", "2"]
    path.write_bytes(before[:-40])  # killed while the last line was written
    done([ROWS[2], ROWS[0]], own, path)  # and the rows have changed
    assert analysed == ["0", "1", "2", "2"] and [json.loads(x)["id"] for x in path.read_text().splitlines()] == [
        "2",
        "0",
    ]
    done(ROWS[:1], own.model_copy(update={"top_k": 2}), path)
    assert analysed[-1] == "0"


def test_a_missing_model_ends_the_batch_before_any_row(own: Settings, tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        done(ROWS, own.model_copy(update={"verifier": "llm"}), tmp_path / "out.jsonl")
    with pytest.raises(BadInput):
        done([], own, tmp_path / "out.jsonl")


def test_killed_at_random_and_resumed_it_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    rows = [
        {**row, "id": f"{n}-{row['id']}", "answer": f"{row['answer']} {n} towers."} for n in range(3) for row in ROWS
    ]
    (tmp_path / "in.jsonl").write_bytes(encoded(rows))
    arguments = [
        "batch",
        "--input",
        str(tmp_path / "in.jsonl"),
        "--sources",
        "documents",
        "--verifier",
        "embedded-small",
    ]
    assert main([*arguments, "--output", str(tmp_path / "whole.jsonl")]) == 0
    command = [sys.executable, "-m", "attribution", *arguments, "--output", str(tmp_path / "killed.jsonl")]
    environment = {**os.environ, "ATTRIBUTION_DATA": str(tmp_path / "other")}
    rng, killed = random.Random(5), tmp_path / "killed.jsonl"
    for wanted in (1, 5):
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        while process.poll() is None and (not killed.exists() or killed.read_bytes().count(b"\n") < wanted):
            time.sleep(0.02)
        time.sleep(rng.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    assert subprocess.run(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL).returncode == 0
    assert comparable(killed) == comparable(tmp_path / "whole.jsonl")
