from typing import Any

import pytest

from attribution.llm.client import Llm
from attribution.studies.groundedness.evoke import Evoked, evoke
from attribution.studies.groundedness.labelled_set import labelled_set
from attribution.text_files import Row
from tests.llm_server import llm_server, llm_settings

RESPONSE = "The tower dates from 1889. It is 330 m high."
ALTERED = "The tower dates from 1898. It is 330 m high."
ROW = {
    "question": "When?",
    "context": "The tower was finished in 1889. It is 330 m high.",
    "response": RESPONSE,
}


def evoked(reply: str, *rows: dict[str, Any], prompts: list[str] | None = None) -> list[Evoked]:
    def answer(body: dict[str, Any]) -> str:
        if prompts is not None:
            prompts.append(body["messages"][-1]["content"])
        return reply

    with llm_server(answer) as server:
        given = [Row(number, row) for number, row in enumerate(rows, 1)]
        return list(evoke(given, Llm(llm_settings(server))))


def test_an_answer_and_its_twin_are_a_labelled_set_in_one_split() -> None:
    (made,) = evoked(ALTERED, ROW)
    rows = labelled_set([Row(n, dict(fields)) for n, fields in enumerate(made, 1)]).rows
    assert [(row.response, row.grounded) for row in rows] == [(RESPONSE, True), (ALTERED, False)]
    assert len({row.group for row in rows}) == 1


@pytest.mark.parametrize(
    ("error_type", "words"),
    [
        ("reasoning_error", "A cause or a conclusion does not follow"),
        ("terminological_error", "A term is used in another sense"),
    ],
)
def test_an_error_of_a_type_is_asked_for(error_type: str, words: str) -> None:
    prompts: list[str] = []
    (made,) = evoked(ALTERED, {**ROW, "error_type": error_type}, prompts=prompts)
    assert words in prompts[0]
    assert made[1]["error_type"] == error_type


def test_without_a_type_the_error_is_free() -> None:
    prompts: list[str] = []
    (made,) = evoked(ALTERED, ROW, prompts=prompts)
    assert "The error:" not in prompts[0]
    assert made[1]["error_type"] == ""


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (f"  {RESPONSE.upper()}", "changed nothing"),
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
    unknown = {**ROW, "error_type": "typo"}
    *refused, last = evoked(ALTERED, ungrounded, without_context, unknown, ROW)
    assert all("error" in one[0] for one in refused)
    assert len(last) == 2
