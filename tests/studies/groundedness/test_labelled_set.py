import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import BadInput
from attribution.llm.client import Llm
from attribution.settings import ROOT
from attribution.studies.groundedness.labelled_set import (
    OPTIONAL,
    REQUIRED,
    Evoked,
    LabelledSet,
    evoke,
    labelled_set,
)
from attribution.text_files import Row, parse_rows, read_rows
from tests.llm_server import llm_server, llm_settings


def read(*rows: dict[str, Any] | str) -> LabelledSet:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
    return labelled_set(parse_rows("\n".join(lines).encode(), REQUIRED, OPTIONAL))


def one(number: int, **more: Any) -> dict[str, Any]:
    return {
        "question": f"q{number}",
        "context": "the context",
        "response": f"r{number}",
        "grounded": True,
        **more,
    }


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ('{"context": "c", "grounded": true}', '"response" is missing'),
        (one(1, response="  "), '"response" is empty'),
        (one(1, grounded="yes"), "\"grounded\" is 'yes'; expected true or false"),
        (one(1, context=[]), '"context" is empty'),
        (one(1, context=[1]), "neither text nor texts"),
        (one(2), "in line 1"),
    ],
)
def test_a_bad_row_costs_itself_and_says_why(bad: dict[str, Any] | str, said: str) -> None:
    found = read(one(2), bad, one(3))
    assert [r.response for r in found.rows] == ["r2", "r3"]
    ((line, problem),) = found.problems
    assert line == 2
    assert said in problem


def test_a_file_without_a_usable_row_is_refused() -> None:
    with pytest.raises(BadInput, match=r"found no labelled response.*line 1: \"grounded\""):
        read(one(1, grounded="no"))


def test_the_fields_of_a_row_are_read() -> None:
    fields = {"id": 7, "context": ["a", " ", "b"], "response": "r", "grounded": 0}
    (row,) = read({**fields, "error_type": " a  number "}).rows
    assert (row.id, row.context, row.grounded) == ("7", ("a", "b"), False)
    assert row.error_type == "a number"
    assert not hasattr(row.given, "grounded")  # a method never sees the label


def test_a_split_that_is_given_is_kept_and_must_be_whole() -> None:
    found = read(
        one(1, split="development"), one(2, split="test"), one(3), one(4, split="training")
    )
    splits = [(row.response, row.split) for row in found.rows]
    assert splits == [("r1", "development"), ("r2", "test"), ("r4", "training")]
    ((line, problem),) = found.problems
    assert line == 3
    assert problem.startswith("\"split\" is ''; expected one of")


@given(st.lists(st.integers(0, 5), min_size=2, max_size=40))
def test_groups_are_never_divided_and_the_division_does_not_depend_on_the_order(
    groups: list[int],
) -> None:
    rows = [one(g, response=f"r{i}") for i, g in enumerate(groups)]
    splits = {r.response: r.split for r in read(*rows).rows}
    for g in set(groups):
        assert len({splits[f"r{i}"] for i, other in enumerate(groups) if other == g}) == 1
    assert {r.response: r.split for r in read(*reversed(rows)).rows} == splits


def test_rows_without_a_question_are_grouped_by_their_context_and_a_group_can_be_given() -> None:
    rows = [
        {"context": c, "response": r, "grounded": True}
        for c, r in (("a", "1"), ("a", "2"), ("b", "3"))
    ]
    groups = [r.group for r in read(*rows).rows]
    assert groups[0] == groups[1] != groups[2]
    assert {r.group for r in read(*(one(n, group="g") for n in range(4))).rows} == {"g"}


def test_the_example_set_is_whole_and_quotes_the_library() -> None:
    found = labelled_set(read_rows(ROOT / "examples" / "groundedness.jsonl", REQUIRED, OPTIONAL))
    assert len(found.rows) == 28
    assert not found.problems
    library = [path.read_text("utf-8") for path in (ROOT / "examples" / "library").glob("*.md")]
    for row in found.rows:
        assert all(any(text in article for article in library) for text in row.context)
        assert bool(row.error_type) != row.grounded
    for split in ("development", "test"):
        assert {r.grounded for r in found.of(split)} == {True, False}


def test_the_conversation_stands_before_the_question() -> None:
    line = {"question": "And how high?", "context": "c", "response": "r", "grounded": True}
    turns = [
        {"speaker": "user", "text": "What is the tower?"},
        {"speaker": "system", "text": "Iron."},
    ]
    rows = [
        Row(1, line),
        Row(2, line | {"turns": turns, "id": "b"}),
        Row(3, line | {"turns": 7, "id": "c"}),
    ]
    found = labelled_set(rows)
    assert [row.question for row in found.rows] == [
        "And how high?",
        "User: What is the tower?\nAssistant: Iron.\nUser: And how high?",
    ]
    assert found.rows[0].group != found.rows[1].group
    assert found.problems[0][0] == 3


RESPONSE = "The tower dates from 1889. It is 330 m high."
ALTERED = "The tower dates from 1898. It is 330 m high."
ROW = {
    "question": "When?",
    "context": "The tower was finished in 1889. It is 330 m high.",
    "response": RESPONSE,
}


def evoked(reply: str, *rows: dict[str, Any]) -> list[Evoked]:
    with llm_server(lambda body: reply) as server:
        given = [Row(number, row) for number, row in enumerate(rows, 1)]
        return list(evoke(given, Llm(llm_settings(server))))


def test_an_answer_and_its_twin_are_a_labelled_set_in_one_split() -> None:
    (made,) = evoked(ALTERED, ROW)
    rows = labelled_set([Row(n, dict(fields)) for n, fields in enumerate(made, 1)]).rows
    assert [(row.response, row.grounded) for row in rows] == [(RESPONSE, True), (ALTERED, False)]
    assert len({row.group for row in rows}) == 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (f"  {RESPONSE.upper()}", "changed nothing"),
        (f"The answer:\n<data>\n{RESPONSE}\n</data>", "changed nothing"),
        ("Here is a poem about towers instead.", "another text"),
    ],
)
def test_an_unusable_reply_is_an_error_of_its_row_alone(reply: str, problem: str) -> None:
    (made,) = evoked(reply, ROW)
    grounded, failed = made
    assert grounded["grounded"] is True
    assert problem in str(failed["error"])


def test_lines_that_are_not_grounded_answers_leave_the_others_alone() -> None:
    ungrounded = {**ROW, "grounded": False}
    without_context = {**ROW, "context": []}
    *refused, last = evoked(ALTERED, ungrounded, without_context, ROW)
    assert all("error" in one[0] for one in refused)
    assert len(last) == 2
