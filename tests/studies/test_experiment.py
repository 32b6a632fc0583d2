from __future__ import annotations

import json
from pathlib import Path

import pytest

from attribution.errors import BadInput
from attribution.files import Row
from attribution.settings import Settings
from attribution.studies.experiment import run

pytestmark = pytest.mark.usefixtures("warm_library")

ROWS = [
    Row(1, {"question": "Q", "answer": "The Eiffel Tower was finished in 1889 and stands in Paris."}),
    Row(2, {"answer": "x" * 20_001}),
    Row(4, {"answer": "I hope this helps!"}),
    Row(5, {}, "not JSON"),
]
NAMES = ["sentences", "clauses"]


def test_answers_are_kept_as_they_are_made_and_taken_up_again(settings: Settings, tmp_path: Path) -> None:
    out = tmp_path / "out"
    steps = run(ROWS, settings, NAMES, out)
    assert next(steps) == (1, 4, "")
    steps.close()  # ended in the middle
    lines = (out / "comparisons.jsonl").read_text().splitlines()
    assert len(lines) == 1
    with (out / "comparisons.jsonl").open("a") as file:
        file.write('{"key": "cut of')
    said = list(run(ROWS, settings, NAMES, out))
    assert [s[:2] for s in said] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert "line 2: The answer has 20,001 characters" in said[1][2] and said[3][2] == "line 5: not JSON"
    again = (out / "comparisons.jsonl").read_text().splitlines()
    assert again[0] == lines[0] and len(again) == 4
    assert [json.loads(line).get("line") for line in again] == [None, 2, None, 5]
    tables = (out / "tables.md").read_text()
    assert "### Claims" in tables and "| clauses |" in tables
    assert (out / "claims.csv").read_text().startswith("segmenter,answers,claims")
    assert len(list(out.glob("*.csv"))) == 7
    failed = (out / "failed-answers.csv").read_text().splitlines()
    assert failed[0] == "line,answer,error" and failed[1].startswith("2,xxx") and failed[2] == "5,,not JSON"


def test_other_choices_are_another_comparison(settings: Settings, tmp_path: Path) -> None:
    list(run(ROWS[2:3], settings, NAMES, tmp_path))
    list(run(ROWS[2:3], settings.model_copy(update={"threshold": 0.9}), NAMES, tmp_path))
    keys = [json.loads(line)["key"] for line in (tmp_path / "comparisons.jsonl").read_text().splitlines()]
    assert len(set(keys)) == 2


def test_a_row_has_its_own_conversation(settings: Settings, tmp_path: Path) -> None:
    turns = "User: What is the Eiffel Tower?"
    fields = {"question": "When was it built?", "answer": "It was finished in 1889."}
    rows = [Row(1, fields), Row(2, fields | {"turns": turns}), Row(3, fields | {"turns": [{"speaker": "nobody"}]})]
    said = [problem for *_, problem in run(rows, settings, NAMES, tmp_path)]
    assert said[:2] == ["", ""] and said[2].startswith("line 3: turn 1: expected")
    lines = [json.loads(line) for line in (tmp_path / "comparisons.jsonl").read_text().splitlines()]
    assert lines[0]["key"] != lines[1]["key"]
    assert [line["comparison"]["report"].get("context", []) for line in lines[:2]] == [
        [], [["user", "What is the Eiffel Tower?"]]
    ]  # fmt: skip


def test_failed_answers_are_tried_again_and_listed_once(settings: Settings, tmp_path: Path) -> None:
    for _ in range(2):
        list(run([ROWS[1], ROWS[3]], settings, NAMES, tmp_path))
    assert len((tmp_path / "comparisons.jsonl").read_text().splitlines()) == 2
    assert (tmp_path / "tables.md").read_text().startswith("### Failed answers")


def test_segmenters_are_checked_before_any_work(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected one of"):
        list(run(ROWS, settings, ["sentences", "nope"], tmp_path / "out"))
    assert not (tmp_path / "out").exists()
