import json
from pathlib import Path

import pytest

from attribution.settings import Settings
from attribution.studies.results import blank_report
from attribution.studies.segmenters.comparison import Column, Comparison, decomposition
from attribution.studies.segmenters.summary_tables import compare_many, tables
from attribution.text_files import Row
from tests.make import claim

pytestmark = pytest.mark.usefixtures("warm_library")

ROWS = [
    Row(
        1, {"question": "Q", "answer": "The Eiffel Tower was finished in 1889 and stands in Paris."}
    ),
    Row(2, {"answer": "x" * 20_001}),
    Row(4, {"answer": "I hope this helps!"}),
    Row(5, {}, "not JSON"),
]
NAMES = ["sentences", "clauses"]


def test_answers_are_kept_as_they_are_made_and_taken_up_again(
    settings: Settings, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    steps = compare_many(ROWS, settings, NAMES, out)
    assert [str(next(steps)), str(next(steps))] == ["1/4: line 5: not JSON", "2/4"]
    steps.close()  # ended in the middle
    first = (out / "comparisons.jsonl").read_text().splitlines()[1]
    with (out / "comparisons.jsonl").open("a") as file:
        file.write('{"key": "cut of')
    done = list(compare_many(ROWS, settings, NAMES, out))
    assert [step.done for step in done] == [1, 2, 3, 4]
    assert done[-1].failed == 2
    assert "line 2: The answer has 20,001 characters" in done[2].problem
    again = (out / "comparisons.jsonl").read_text().splitlines()
    assert again[0] == first
    assert [json.loads(line)["line"] for line in again] == [1, 5, 2, 4]
    assert "| clauses |" in (out / "tables.md").read_text()


def test_a_row_has_its_own_conversation(settings: Settings, tmp_path: Path) -> None:
    turns = "User: What is the Eiffel Tower?"
    fields = {"question": "When was it built?", "answer": "It was finished in 1889."}
    rows = [
        Row(1, fields),
        Row(2, fields | {"turns": turns}),
        Row(3, fields | {"turns": [{"speaker": "nobody"}]}),
    ]
    said = [step.problem for step in compare_many(rows, settings, NAMES, tmp_path)]
    assert said[:2] == ["", ""]
    assert said[2].startswith("line 3: turn 1: expected")
    lines = [json.loads(line) for line in (tmp_path / "comparisons.jsonl").read_text().splitlines()]
    assert lines[0]["key"] != lines[1]["key"]
    assert [line["comparison"]["report"].get("context", []) for line in lines[:2]] == [
        [],
        [["user", "What is the Eiffel Tower?"]],
    ]


def test_failed_answers_are_tried_again_and_kept_once(settings: Settings, tmp_path: Path) -> None:
    for _ in range(2):
        list(compare_many([ROWS[1], ROWS[3]], settings, NAMES, tmp_path))
    assert len((tmp_path / "comparisons.jsonl").read_text().splitlines()) == 2


def test_claims_that_the_filter_leaves_out_are_counted_beside_factscore() -> None:
    claims = (claim("It is old."), claim("It is new.").model_copy(update={"coherent": False}))
    report = blank_report("", "It is old.", Settings(), claims, ())
    column = Column("clauses", report, decomposition((), claims), 0.0)
    factscore = tables([Comparison(report, (column,), ())])[-1]
    place = factscore.columns.index("incoherent, left out")
    assert factscore.rows[0][place] == 1
