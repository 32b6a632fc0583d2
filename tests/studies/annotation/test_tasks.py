"""Tasks from files: each form, and what is wrong with a bad row."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import BadInput
from attribution.studies.annotation.tasks import as_markdown, identity, parse_tasks
from attribution.text.markdown import read


def lines(*rows: object) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def test_a_conversation_a_source_and_what_it_comes_from() -> None:
    row = {"context": ["Who?", "Hitchcock."], "question": "When?", "answer": "In 1960.", "source": ["a", "b"],
           "system": "s", "dataset": "d", "time": "1961-01-01", "unit": "claim"}  # fmt: skip
    (task,), problems = parse_tasks(lines(row), "p")
    assert problems == [] and task.source == "a\n\nb" and task.unit == "claim" and task.time == "1961-01-01"
    assert [(t.speaker, t.text) for t in task.turns] == [("system", "Who?"), ("user", "Hitchcock."), ("user", "When?")]
    named = {"context": [{"speaker": "user", "text": "Who?"}, {"speaker": "system", "text": "He."}], "answer": "x",
             "source": "y"}  # fmt: skip
    (task,), _ = parse_tasks(lines(named), "p")
    assert [t.speaker for t in task.turns] == ["user", "system"]


def test_answers_of_two_systems_to_one_item_share_it() -> None:
    rows = [{"question": "When?", "answer": answer, "source": "s", "system": answer} for answer in "ab"]
    (a, b), _ = parse_tasks(lines(*rows), "p")
    assert a.id != b.id and a.item == b.item and identity(a) == a.id


def test_a_row_of_the_benchmark_is_a_task() -> None:
    row = {"id": 7, "question": "When?", "context": ["One.", "Two."], "response": "In 1960.", "grounded": True}
    (task,), problems = parse_tasks(lines(row), "p")
    assert problems == [] and (task.answer, task.source, task.item) == ("In 1960.", "One.\n\nTwo.", "7")


def test_a_bad_row_costs_itself_and_is_told() -> None:
    good = {"answer": "a", "source": "s"}
    tasks, problems = parse_tasks(
        lines(good, "{", {"answer": "a"}, {"source": "s"}, {**good, "unit": "word"}, {**good, "context": [1]},
              {**good, "context": 3}, {"answer": "a", "table": [1]}, {"answer": "x" * 2_000_001, "source": "s"}),
        "p",
    )  # fmt: skip
    assert len(tasks) == 1
    expected = ("not JSON", '"source" is missing', '"answer" is missing', "answer, sentence, claim", "turn 1 of",
                "not a list of turns", "not a list of rows", "2,000,001 characters")  # fmt: skip
    assert [problem.partition(":")[0] for problem in problems] == [f"line {n}" for n in range(2, 10)]
    assert all(words in problem for words, problem in zip(expected, problems, strict=True)), problems
    with pytest.raises(BadInput, match="the file is empty"):
        parse_tasks(b"", "p")


@given(
    st.lists(st.lists(st.none() | st.integers() | st.text(max_size=8), min_size=1, max_size=4), min_size=1, max_size=4)
)
def test_any_table_is_one_table(rows: list[list[object]]) -> None:
    width = max(map(len, rows))
    text = as_markdown(rows)
    assert text.count("\n") == len(rows) and all(
        line.replace("\\|", "").count("|") == width + 1 for line in text.split("\n")
    )


def test_cells_stay_cells() -> None:
    (table,) = read(as_markdown([["Year", "Film"], [1960, "Psycho | Psycho"]])).children
    assert table.tag == "table"  # type: ignore[union-attr]
